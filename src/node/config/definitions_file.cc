#include "node/config/definitions_file.h"

#include "base/base64.h"
#include "base/check.h"
#include "node/config/config_file.h"

#include <boost/json/parse.hpp>
#include <openssl/evp.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

namespace revenant::node {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t definitions_bytes_max = 256U << 20;

Result<DefinitionsFile, std::string> read_one(const std::string& path) {
    auto text = read_text_file(path, definitions_bytes_max);
    if (!text) return Unexpected{path + ": " + text.error()};
    boost::system::error_code error;
    const boost::json::value value = boost::json::parse(*text, error);
    if (error) return Unexpected{path + ": invalid JSON: " + error.message()};
    if (!value.is_object()) return Unexpected{path + ": not a JSON object"};
    const auto has = [&](std::string_view kind) {
        const boost::json::value* const list = value.get_object().if_contains(kind);
        return list != nullptr && list->is_array() && !list->get_array().empty();
    };
    return DefinitionsFile{path, std::move(text).value(), has("users"), has("vhosts")};
}

}  // namespace

Result<std::vector<DefinitionsFile>, std::string> read_definitions(const std::string& path) {
    std::error_code error;
    std::vector<std::string> paths;
    if (fs::is_directory(path, error)) {
        for (fs::directory_iterator entry(path, error), end; !error && entry != end;
             entry.increment(error)) {
            if (entry->path().extension() == ".json") paths.push_back(entry->path().string());
        }
        if (error) return Unexpected{path + ": cannot read directory: " + error.message()};
        std::sort(paths.begin(), paths.end());
    } else {
        paths.push_back(path);
    }
    std::vector<DefinitionsFile> files;
    for (const std::string& one : paths) {
        REVENANT_TRY(DefinitionsFile file, read_one(one));
        files.push_back(std::move(file));
    }
    return files;
}

std::string digest_of(const std::vector<DefinitionsFile>& files) {
    const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> digest(EVP_MD_CTX_new(),
                                                                    EVP_MD_CTX_free);
    CHECK(EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) == 1);
    for (const DefinitionsFile& file : files) {
        // The size precedes the text, so that moving text between files changes the digest.
        const std::string size = std::to_string(file.json.size()) + ' ';
        CHECK(EVP_DigestUpdate(digest.get(), size.data(), size.size()) == 1);
        CHECK(EVP_DigestUpdate(digest.get(), file.json.data(), file.json.size()) == 1);
    }
    std::string bytes(EVP_MAX_MD_SIZE, '\0');
    unsigned int size = 0;
    CHECK(EVP_DigestFinal_ex(digest.get(), reinterpret_cast<unsigned char*>(bytes.data()), &size) ==
          1);
    bytes.resize(size);
    return '"' + base64_encode(bytes) + '"';
}

}  // namespace revenant::node
