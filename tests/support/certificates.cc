#include "tests/support/certificates.h"

#include "base/check.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <utility>

namespace revenant {
namespace {

using Key = std::shared_ptr<EVP_PKEY>;
using Certificate = std::shared_ptr<X509>;
using Part = CertificateAuthority::Part;

constexpr long valid_seconds = 3600;

Key make_key() { return {EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), EVP_PKEY_free}; }

void add_extension(X509& certificate, X509& issuer, int nid, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
    CHECK(extension != nullptr);
    X509_add_ext(&certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

Certificate make_certificate(long serial, const std::vector<Part>& subject, EVP_PKEY& key) {
    Certificate certificate(X509_new(), X509_free);
    X509_set_version(certificate.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), valid_seconds);
    X509_NAME* const name = X509_get_subject_name(certificate.get());
    for (const Part& part : subject) {
        const auto* const text = reinterpret_cast<const unsigned char*>(part.value.data());
        CHECK(X509_NAME_add_entry_by_txt(name, part.type.c_str(), MBSTRING_UTF8, text,
                                         static_cast<int>(part.value.size()), -1, 0) == 1);
    }
    X509_set_pubkey(certificate.get(), &key);
    return certificate;
}

template <typename Write>
void write_file(const std::string& path, Write write) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"),
                                                               std::fclose);
    CHECK(file != nullptr && write(file.get()) == 1);
}

}  // namespace

CertificateAuthority::CertificateAuthority(std::string directory, std::string_view name)
    : directory_(std::move(directory)), key_(make_key()) {
    certificate_ = make_certificate(serial_, {{"CN", std::string(name)}}, *key_);
    X509_set_issuer_name(certificate_.get(), X509_get_subject_name(certificate_.get()));
    add_extension(*certificate_, *certificate_, NID_basic_constraints, "critical,CA:TRUE");
    CHECK(X509_sign(certificate_.get(), key_.get(), EVP_sha256()) > 0);
    write_file(ca_file(),
               [&](std::FILE* file) { return PEM_write_X509(file, certificate_.get()); });
}

CertificateAuthority::Files CertificateAuthority::issue(std::string_view file,
                                                        const Wishes& wishes) {
    const Key key = make_key();
    const Certificate certificate = make_certificate(++serial_, wishes.subject, *key);
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate_.get()));
    if (!wishes.alternative_names.empty()) {
        add_extension(*certificate, *certificate_, NID_subject_alt_name, wishes.alternative_names);
    }
    CHECK(X509_sign(certificate.get(), key_.get(), EVP_sha256()) > 0);
    const std::string stem = directory_ + "/" + std::string(file);
    Files files{stem + ".pem", stem + ".key"};
    write_file(files.certificate,
               [&](std::FILE* out) { return PEM_write_X509(out, certificate.get()); });
    const std::string& password = wishes.key_password;
    write_file(files.key, [&](std::FILE* out) {
        return PEM_write_PrivateKey(out, key.get(), password.empty() ? nullptr : EVP_aes_256_cbc(),
                                    reinterpret_cast<const unsigned char*>(password.data()),
                                    static_cast<int>(password.size()), nullptr, nullptr);
    });
    return files;
}

}  // namespace revenant
