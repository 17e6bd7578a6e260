// Certificates for tests: a CA and certificates signed by it, written as PEM files.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace revenant {

class CertificateAuthority {
  public:
    explicit CertificateAuthority(std::string directory, std::string_view name = "Test CA");

    struct Part {
        std::string type;  // "CN", "O"
        std::string value;
    };
    struct Files {
        std::string certificate;
        std::string key;
    };
    struct Wishes {
        std::vector<Part> subject;
        std::string alternative_names;  // "DNS:a,email:b@c"
        std::string key_password;
    };
    // `file` is the common stem of the two file names.
    Files issue(std::string_view file, const Wishes& wishes);
    std::string ca_file() const { return directory_ + "/ca.pem"; }

  private:
    std::string directory_;
    std::shared_ptr<EVP_PKEY> key_;
    std::shared_ptr<X509> certificate_;
    long serial_ = 1;
};

}  // namespace revenant
