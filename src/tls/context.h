// TlsContext: certificate, key and rules of the TLS listeners, checked when they are loaded. A
// ReloadableTlsContext holds the one in force and can load the files again while connections go on
// with what they began with.
#pragma once

#include "base/result.h"

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::tls {

enum class Verify : std::uint8_t { none, peer };

struct TlsSettings {
    std::string certificate_file;  // with the chain behind it
    std::string key_file;
    std::string key_password;
    std::string ca_file;  // who signs the certificates of clients
    Verify verify = Verify::none;
    bool fail_if_no_peer_certificate = false;
    int depth = 1;  // certificates between a client's and a trusted one
    std::vector<std::string> versions = {"tlsv1.3", "tlsv1.2"};
    std::string ciphers;              // of TLS 1.2; empty: the library's choice
    std::string cipher_suites;        // of TLS 1.3
    bool prefers_own_ciphers = true;  // to the order of the client
};

// Whether this names ciphers of TLS 1.2 or a cipher suite of TLS 1.3.
bool knows_cipher(const std::string& name);
// Suites of TLS 1.3 are named and set apart from all others.
bool is_cipher_suite(std::string_view name);

// The versions of TLS that the library lets a server speak, the newest first: "tlsv1.3".
std::vector<std::string> available_versions();

class TlsContext {
  public:
    // What is wrong is said with the name of the file.
    static Result<std::shared_ptr<const TlsContext>, std::string> load(const TlsSettings& settings);

    SSL_CTX* native() const { return context_.get(); }
    // When the first certificate of the chain ends, in seconds since 1970.
    std::int64_t expires_at() const { return expires_at_; }
    // The same of those that sign the certificates of clients; none if nobody is verified.
    std::optional<std::int64_t> authorities_expire_at() const { return authorities_expire_at_; }

  private:
    TlsContext() = default;
    std::shared_ptr<SSL_CTX> context_;
    std::int64_t expires_at_ = 0;
    std::optional<std::int64_t> authorities_expire_at_;
};

// May be asked from any thread.
class ReloadableTlsContext {
  public:
    static Result<std::shared_ptr<ReloadableTlsContext>, std::string> open(TlsSettings settings);

    std::shared_ptr<const TlsContext> current() const;
    // If the files cannot be used, what was in force stays so.
    Result<void, std::string> reload();
    const TlsSettings& settings() const { return settings_; }

  private:
    explicit ReloadableTlsContext(TlsSettings settings) : settings_(std::move(settings)) {}
    const TlsSettings settings_;
    mutable std::mutex mutex_;  // guards current_
    std::shared_ptr<const TlsContext> current_;
};

}  // namespace revenant::tls
