// Information about the peer and the protection of a TLS connection.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <optional>
#include <string>

namespace revenant::tls {

// As shown in listings.
struct TlsView {
    std::string protocol;  // "TLSv1.3"
    std::string cipher;
    std::string key_exchange;
    std::string hash;
    std::string peer_subject;  // of the client's certificate; empty without one
    std::string peer_issuer;
    std::string peer_validity;
};
TlsView view(SSL& connection);

// The certificate field that is the user name (SASL EXTERNAL).
enum class LoginFrom : std::uint8_t { distinguished_name, common_name, subject_alternative_name };
enum class AlternativeName : std::uint8_t { dns, email, uri, ip };
struct CertificateLogin {
    LoginFrom from = LoginFrom::distinguished_name;
    AlternativeName kind = AlternativeName::dns;
    unsigned index = 0;
};

// The user named by the client's verified certificate; absent without a certificate.
std::optional<std::string> certificate_user(SSL& connection, const CertificateLogin& login);

}  // namespace revenant::tls
