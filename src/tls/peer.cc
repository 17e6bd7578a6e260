#include "tls/peer.h"

#include <openssl/bio.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string_view>

namespace revenant::tls {
namespace {

using Certificate = std::unique_ptr<X509, void (*)(X509*)>;

Certificate peer_certificate(SSL& connection) {
    return {SSL_get1_peer_certificate(&connection), X509_free};
}

std::string text_in(BIO& memory) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(&memory, &data);
    return {data, static_cast<std::size_t>(size)};
}

template <typename Print>
std::string printed(Print print) {
    const std::unique_ptr<BIO, void (*)(BIO*)> memory(BIO_new(BIO_s_mem()), BIO_free_all);
    print(memory.get());
    return text_in(*memory);
}

// Most specific part first, as in RabbitMQ: "CN=bunny,O=client".
std::string distinguished_name(const X509_NAME* name) {
    return printed([&](BIO* out) {
        X509_NAME_print_ex(out, name, 0,
                           (XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) | ASN1_STRFLGS_UTF8_CONVERT);
    });
}

std::optional<std::string> utf8_text(const ASN1_STRING* string) {
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, string);
    if (size < 0) return std::nullopt;
    std::string result(reinterpret_cast<char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
    // A name with a NUL would be a different name when read as a C string.
    if (result.empty() || result.find('\0') != std::string::npos) return std::nullopt;
    return result;
}

std::optional<std::string> common_name(const X509& certificate) {
    const X509_NAME* const name = X509_get_subject_name(&certificate);
    const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    if (at < 0) return std::nullopt;
    return utf8_text(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
}

int general_name_type(AlternativeName kind) {
    switch (kind) {
        case AlternativeName::dns:
            return GEN_DNS;
        case AlternativeName::email:
            return GEN_EMAIL;
        case AlternativeName::uri:
            return GEN_URI;
        case AlternativeName::ip:
            break;
    }
    return GEN_IPADD;
}

std::optional<std::string> address_text(const ASN1_OCTET_STRING& address) {
    const unsigned char* const bytes = ASN1_STRING_get0_data(&address);
    const int size = ASN1_STRING_length(&address);
    if (size != 4 && size != 16) return std::nullopt;
    std::string text;
    for (int i = 0; i < size; ++i) {
        std::array<char, 8> part{};
        const bool v4 = size == 4;
        std::snprintf(part.data(), part.size(), v4 ? "%u" : "%02x", bytes[i]);
        if (i > 0 && (v4 || i % 2 == 0)) text += v4 ? '.' : ':';
        text += part.data();
    }
    return text;
}

std::optional<std::string> alternative_name(const X509& certificate, AlternativeName kind,
                                            unsigned index) {
    const std::unique_ptr<GENERAL_NAMES, void (*)(GENERAL_NAMES*)> names(
        static_cast<GENERAL_NAMES*>(
            X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)),
        GENERAL_NAMES_free);
    if (!names) return std::nullopt;
    unsigned seen = 0;
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
        if (name->type != general_name_type(kind) || seen++ != index) continue;
        return kind == AlternativeName::ip ? address_text(*name->d.iPAddress)
                                           : utf8_text(name->d.ia5);
    }
    return std::nullopt;
}

std::string name_of(int nid) {
    const char* const name = nid == NID_undef ? nullptr : OBJ_nid2ln(nid);
    return name == nullptr ? "" : name;
}

std::string validity(const X509& certificate) {
    return printed([&](BIO* out) {
        ASN1_TIME_print_ex(out, X509_get0_notBefore(&certificate), ASN1_DTFLGS_ISO8601);
        BIO_puts(out, " - ");
        ASN1_TIME_print_ex(out, X509_get0_notAfter(&certificate), ASN1_DTFLGS_ISO8601);
    });
}

}  // namespace

TlsView view(SSL& connection) {
    TlsView shown;
    shown.protocol = SSL_get_version(&connection);
    if (const SSL_CIPHER* const cipher = SSL_get_current_cipher(&connection)) {
        shown.cipher = SSL_CIPHER_get_name(cipher);
        shown.key_exchange = name_of(SSL_CIPHER_get_kx_nid(cipher));
        shown.hash = name_of(SSL_CIPHER_get_digest_nid(cipher));
    }
    if (const Certificate certificate = peer_certificate(connection)) {
        shown.peer_subject = distinguished_name(X509_get_subject_name(certificate.get()));
        shown.peer_issuer = distinguished_name(X509_get_issuer_name(certificate.get()));
        shown.peer_validity = validity(*certificate);
    }
    return shown;
}

std::optional<std::string> certificate_user(SSL& connection, const CertificateLogin& login) {
    const Certificate certificate = peer_certificate(connection);
    const bool verified = (SSL_get_verify_mode(&connection) & SSL_VERIFY_PEER) != 0 &&
                          SSL_get_verify_result(&connection) == X509_V_OK;
    if (!certificate || !verified) return std::nullopt;
    switch (login.from) {
        case LoginFrom::distinguished_name:
            return distinguished_name(X509_get_subject_name(certificate.get()));
        case LoginFrom::common_name:
            return common_name(*certificate);
        case LoginFrom::subject_alternative_name:
            break;
    }
    return alternative_name(*certificate, login.kind, login.index);
}

}  // namespace revenant::tls
