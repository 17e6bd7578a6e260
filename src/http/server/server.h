// Server: one HTTP listener with its own threads. Reads complete requests, calls the Responder and
// writes its response. All resources that a client can use are bounded: connections, time for
// headers and bodies, their sizes, and the total size of large bodies. At the connection limit, the
// longest-idle connection is closed.
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
    std::uint16_t port = 0;                                    // 0: any free port
    std::shared_ptr<tls::ReloadableTlsContext> tls = nullptr;  // null: plain HTTP
    unsigned threads = 2;
    std::size_t connections_max = 512;
    std::uint32_t header_bytes_max = 16 * 1024;
    std::uint64_t body_bytes_max = 20'000'000;
    // A body up to this size is read before the client is authenticated.
    std::uint64_t small_body_bytes_max = 64 * 1024;
    // Total size of the larger bodies that are read concurrently.
    std::uint64_t large_bodies_bytes_max = 100'000'000;
    Duration idle_timeout = seconds(60);    // between two requests
    Duration header_timeout = seconds(10);  // for the first byte of a new connection, and from the
                                            // first byte to the end of the headers
    Duration body_timeout = seconds(60);
    Duration write_timeout = seconds(60);
    // Called on a server thread if the responder threw an exception.
    std::function<void(const Request&, std::string_view what)> note_failure = {};
};

class Server {
  public:
    // Binds and listens. Connections are queued by the system until start().
    static Result<std::unique_ptr<Server>, std::string> open(const ServerSettings& settings);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    std::uint16_t port() const;
    // The responder must outlive the server.
    void start(Responder& responder);
    // Waits for running responders. Drops everything else.
    void stop();

  private:
    class Core;
    explicit Server(std::unique_ptr<Core> core);
    std::unique_ptr<Core> core_;
};

}  // namespace revenant::http
