// Who is at the other end of a TLS connection, and how it is protected.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <optional>
#include <string>

namespace revenant::tls {

// As listings show it.
struct TlsView {
    std::string protocol;  // "TLSv1.3"
    std::string cipher;
    std::string key_exchange;
    std::string hash;
    std::string peer_subject;  // of the client's certificate; empty if it sent none
    std::string peer_issuer;
    std::string peer_validity;
};
TlsView view(SSL& connection);

// Which part of a certificate names the user (SASL EXTERNAL).
enum class LoginFrom : std::uint8_t { distinguished_name, common_name, subject_alternative_name };
enum class AlternativeName : std::uint8_t { dns, email, uri, ip };
struct CertificateLogin {
    LoginFrom from = LoginFrom::distinguished_name;
    AlternativeName kind = AlternativeName::dns;
    unsigned index = 0;
};

// The user whom the verified certificate of the client names; nothing without one.
std::optional<std::string> certificate_user(SSL& connection, const CertificateLogin& login);

}  // namespace revenant::tls
