// Server: one HTTP listener with its own few threads. It reads whole requests, asks the Responder
// and writes what that says. Everything a client can stretch is bounded: connections, time for
// headers and bodies, their sizes, and the bytes of all large bodies together. When there are as
// many connections as may be, the one that has waited for its client longest makes room.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "http/server/request.h"
#include "tls/context.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace revenant::http {

struct ServerSettings {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;                                    // 0: a free one
    std::shared_ptr<tls::ReloadableTlsContext> tls = nullptr;  // without: plain HTTP
    unsigned threads = 2;
    std::size_t connections_max = 512;
    std::uint32_t header_bytes_max = 16 * 1024;
    std::uint64_t body_bytes_max = 20'000'000;
    // A body up to this size is read before anybody is asked who sent it.
    std::uint64_t small_body_bytes_max = 64 * 1024;
    // Of all larger ones being read at the same time.
    std::uint64_t large_bodies_bytes_max = 100'000'000;
    Duration idle_timeout = seconds(60);    // between two requests
    Duration header_timeout = seconds(10);  // of a new connection for its first byte, and from
                                            // the first byte on
    Duration body_timeout = seconds(60);
    Duration write_timeout = seconds(60);
    // Told of a responder that threw an exception, by one of the threads that answer.
    std::function<void(const Request&, std::string_view what)> note_failure = {};
};

class Server {
  public:
    // Binds and listens: from now on connections wait, though nobody answers them yet.
    static Result<std::unique_ptr<Server>, std::string> open(const ServerSettings& settings);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    std::uint16_t port() const;
    // The responder must outlive the server.
    void start(Responder& responder);
    // Requests being answered are finished, everything else is dropped.
    void stop();

  private:
    class Core;
    explicit Server(std::unique_ptr<Core> core);
    std::unique_ptr<Core> core_;
};

}  // namespace revenant::http
