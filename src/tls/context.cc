#include "tls/context.h"

#include "tls/failure.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace revenant::tls {
namespace {

struct Version {
    std::string_view name;
    int number;
};
constexpr std::array<Version, 2> known_versions{
    {{"tlsv1.2", TLS1_2_VERSION}, {"tlsv1.3", TLS1_3_VERSION}}};

using Step = Result<void, std::string>;

Step set_versions(SSL_CTX& context, const std::vector<std::string>& names) {
    int lowest = 0;
    int highest = 0;
    for (const std::string& name : names) {
        int number = 0;
        for (const Version& version : known_versions) {
            if (version.name == name) number = version.number;
        }
        if (number == 0) {
            return Unexpected{"TLS version '" + name +
                              "' is not supported: must be 'tlsv1.2' or 'tlsv1.3'"};
        }
        lowest = lowest == 0 ? number : std::min(lowest, number);
        highest = std::max(highest, number);
    }
    if (highest == 0) return Unexpected{std::string("no TLS version enabled")};
    SSL_CTX_set_min_proto_version(&context, lowest);
    SSL_CTX_set_max_proto_version(&context, highest);
    return {};
}

Step set_ciphers(SSL_CTX& context, const TlsSettings& settings) {
    if (!settings.ciphers.empty() &&
        SSL_CTX_set_cipher_list(&context, settings.ciphers.c_str()) != 1) {
        return Unexpected{"no known cipher in '" + settings.ciphers + "'"};
    }
    if (!settings.cipher_suites.empty() &&
        SSL_CTX_set_ciphersuites(&context, settings.cipher_suites.c_str()) != 1) {
        return Unexpected{"no known cipher suite in '" + settings.cipher_suites + "'"};
    }
    return {};
}

int provide_password(char* buffer, int size, int, void* settings) {
    const std::string& password = static_cast<const TlsSettings*>(settings)->key_password;
    if (password.size() > static_cast<std::size_t>(size)) return 0;
    std::memcpy(buffer, password.data(), password.size());
    return static_cast<int>(password.size());
}

Step set_certificate(SSL_CTX& context, const TlsSettings& settings) {
    if (settings.certificate_file.empty())
        return Unexpected{std::string("no certificate file configured")};
    if (settings.key_file.empty()) return Unexpected{std::string("no key file configured")};
    if (SSL_CTX_use_certificate_chain_file(&context, settings.certificate_file.c_str()) != 1) {
        return Unexpected{"cannot load certificate " + settings.certificate_file + ": " +
                          last_failure()};
    }
    SSL_CTX_set_default_passwd_cb(&context, provide_password);
    SSL_CTX_set_default_passwd_cb_userdata(&context, const_cast<TlsSettings*>(&settings));
    const int loaded =
        SSL_CTX_use_PrivateKey_file(&context, settings.key_file.c_str(), SSL_FILETYPE_PEM);
    // The settings may be destroyed before the context.
    SSL_CTX_set_default_passwd_cb_userdata(&context, nullptr);
    SSL_CTX_set_default_passwd_cb(&context, nullptr);
    if (loaded != 1) {
        return Unexpected{"cannot load key " + settings.key_file + ": " + last_failure()};
    }
    if (SSL_CTX_check_private_key(&context) != 1) {
        return Unexpected{"key " + settings.key_file + " does not match certificate " +
                          settings.certificate_file};
    }
    return {};
}

Step set_verification(SSL_CTX& context, const TlsSettings& settings) {
    if (settings.verify == Verify::none) {
        SSL_CTX_set_verify(&context, SSL_VERIFY_NONE, nullptr);
        return {};
    }
    if (settings.ca_file.empty()) {
        return Unexpected{std::string("client verification requires a CA file")};
    }
    if (SSL_CTX_load_verify_file(&context, settings.ca_file.c_str()) != 1) {
        return Unexpected{"cannot load CA file " + settings.ca_file + ": " + last_failure()};
    }
    SSL_CTX_set_client_CA_list(&context, SSL_load_client_CA_file(settings.ca_file.c_str()));
    SSL_CTX_set_verify_depth(&context, settings.depth);
    const int demand = settings.fail_if_no_peer_certificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
    SSL_CTX_set_verify(&context, SSL_VERIFY_PEER | demand, nullptr);
    return {};
}

std::int64_t expiry_of(const X509* certificate) {
    std::tm end{};
    if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1) {
        return 0;
    }
    return timegm(&end);
}

std::optional<std::int64_t> earliest_expiry(const STACK_OF(X509) * certificates) {
    std::optional<std::int64_t> first;
    for (int i = 0; i < sk_X509_num(certificates); ++i) {
        const std::int64_t end = expiry_of(sk_X509_value(certificates, i));
        first = first ? std::min(*first, end) : end;
    }
    return first;
}

std::int64_t chain_expiry(SSL_CTX& context) {
    STACK_OF(X509)* issuers = nullptr;
    SSL_CTX_get0_chain_certs(&context, &issuers);
    const std::int64_t own = expiry_of(SSL_CTX_get0_certificate(&context));
    return std::min(own, earliest_expiry(issuers).value_or(own));
}

std::optional<std::int64_t> authorities_expiry(const SSL_CTX& context) {
    STACK_OF(X509)* const trusted = X509_STORE_get1_all_certs(SSL_CTX_get_cert_store(&context));
    const auto first = earliest_expiry(trusted);
    sk_X509_pop_free(trusted, X509_free);
    return first;
}

}  // namespace

std::vector<std::string> available_versions() {
    constexpr std::array<Version, 4> versions{{{"tlsv1.3", TLS1_3_VERSION},
                                               {"tlsv1.2", TLS1_2_VERSION},
                                               {"tlsv1.1", TLS1_1_VERSION},
                                               {"tlsv1", TLS1_VERSION}}};
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(
        SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    if (!context) return {};
    // Respects versions disabled by the system's OpenSSL configuration.
    const auto lowest = SSL_CTX_get_min_proto_version(context.get());
    const auto highest = SSL_CTX_get_max_proto_version(context.get());
    // Before TLS 1.2 a server signs with SHA-1, which the library permits only at level 0.
    const bool may_sign_with_sha1 = SSL_CTX_get_security_level(context.get()) == 0;
    std::vector<std::string> available;
    for (const Version& version : versions) {
        if (version.number < TLS1_2_VERSION && !may_sign_with_sha1) continue;
        if (version.number < lowest || (highest != 0 && version.number > highest)) continue;
        SSL_CTX_set_min_proto_version(context.get(), version.number);
        SSL_CTX_set_max_proto_version(context.get(), version.number);
        const std::unique_ptr<SSL, decltype(&SSL_free)> session(SSL_new(context.get()), SSL_free);
        if (!session) continue;
        // A version may have no ciphers at the current security level.
        STACK_OF(SSL_CIPHER)* const ciphers = SSL_get1_supported_ciphers(session.get());
        if (sk_SSL_CIPHER_num(ciphers) > 0) available.emplace_back(version.name);
        sk_SSL_CIPHER_free(ciphers);
    }
    return available;
}

bool is_cipher_suite(std::string_view name) { return name.starts_with("TLS_"); }

bool knows_cipher(const std::string& name) {
    const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()),
                                                               SSL_CTX_free);
    const int known = is_cipher_suite(name) ? SSL_CTX_set_ciphersuites(context.get(), name.c_str())
                                            : SSL_CTX_set_cipher_list(context.get(), name.c_str());
    ERR_clear_error();
    return known == 1 && !name.empty();
}

Result<std::shared_ptr<const TlsContext>, std::string> TlsContext::load(
    const TlsSettings& settings) {
    std::shared_ptr<TlsContext> loaded(new TlsContext());
    loaded->context_ = {SSL_CTX_new(TLS_server_method()), SSL_CTX_free};
    SSL_CTX& context = *loaded->context_;
    REVENANT_TRY_VOID(set_versions(context, settings.versions));
    REVENANT_TRY_VOID(set_ciphers(context, settings));
    REVENANT_TRY_VOID(set_certificate(context, settings));
    REVENANT_TRY_VOID(set_verification(context, settings));
    SSL_CTX_set_options(&context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    if (settings.prefers_own_ciphers) {
        SSL_CTX_set_options(&context, SSL_OP_CIPHER_SERVER_PREFERENCE);
    }
    // Output that was not accepted is offered again from another address, possibly with more data.
    SSL_CTX_set_mode(&context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                   SSL_MODE_RELEASE_BUFFERS);
    static constexpr std::string_view session_name = "revenant";
    SSL_CTX_set_session_id_context(&context,
                                   reinterpret_cast<const unsigned char*>(session_name.data()),
                                   static_cast<unsigned>(session_name.size()));
    loaded->expires_at_ = chain_expiry(context);
    loaded->authorities_expire_at_ = authorities_expiry(context);
    return std::shared_ptr<const TlsContext>(std::move(loaded));
}

Result<std::shared_ptr<ReloadableTlsContext>, std::string> ReloadableTlsContext::open(
    TlsSettings settings) {
    std::shared_ptr<ReloadableTlsContext> keeper(new ReloadableTlsContext(std::move(settings)));
    REVENANT_TRY_VOID(keeper->reload());
    return keeper;
}

std::shared_ptr<const TlsContext> ReloadableTlsContext::current() const {
    const std::lock_guard lock(mutex_);
    return current_;
}

Result<void, std::string> ReloadableTlsContext::reload() {
    REVENANT_TRY(auto loaded, TlsContext::load(settings_));
    const std::lock_guard lock(mutex_);
    current_ = std::move(loaded);
    return {};
}

}  // namespace revenant::tls
