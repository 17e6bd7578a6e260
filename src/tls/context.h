// TlsContext: certificate, key and settings of the TLS listeners, checked when they are loaded. A
// ReloadableTlsContext contains the current one and can load the files again; existing connections
// keep the context they started with.
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
    std::string certificate_file;  // with its chain
    std::string key_file;
    std::string key_password;
    std::string ca_file;  // CAs of client certificates
    Verify verify = Verify::none;
    bool fail_if_no_peer_certificate = false;
    int depth = 1;  // maximum number of intermediate certificates
    std::vector<std::string> versions = {"tlsv1.3", "tlsv1.2"};
    std::string ciphers;              // for TLS 1.2; empty: the library's default
    std::string cipher_suites;        // for TLS 1.3
    bool prefers_own_ciphers = true;  // ignores the client's order
};

// Whether the name is a TLS 1.2 cipher or a TLS 1.3 cipher suite.
bool knows_cipher(const std::string& name);
// TLS 1.3 suites have their own names and are configured separately.
bool is_cipher_suite(std::string_view name);

// The TLS versions that the library offers a server, newest first: "tlsv1.3".
std::vector<std::string> available_versions();

class TlsContext {
  public:
    // An error names the file.
    static Result<std::shared_ptr<const TlsContext>, std::string> load(const TlsSettings& settings);

    SSL_CTX* native() const { return context_.get(); }
    // When the first certificate of the chain expires, in seconds since 1970.
    std::int64_t expires_at() const { return expires_at_; }
    // When the first CA certificate expires; absent if clients are not verified.
    std::optional<std::int64_t> authorities_expire_at() const { return authorities_expire_at_; }

  private:
    TlsContext() = default;
    std::shared_ptr<SSL_CTX> context_;
    std::int64_t expires_at_ = 0;
    std::optional<std::int64_t> authorities_expire_at_;
};

// Thread-safe.
class ReloadableTlsContext {
  public:
    static Result<std::shared_ptr<ReloadableTlsContext>, std::string> open(TlsSettings settings);

    std::shared_ptr<const TlsContext> current() const;
    // If the files cannot be loaded, the current context is kept.
    Result<void, std::string> reload();
    const TlsSettings& settings() const { return settings_; }

  private:
    explicit ReloadableTlsContext(TlsSettings settings) : settings_(std::move(settings)) {}
    const TlsSettings settings_;
    mutable std::mutex mutex_;  // guards current_
    std::shared_ptr<const TlsContext> current_;
};

}  // namespace revenant::tls
