#include "node/definitions_file.h"

#include "node/config_file.h"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <filesystem>
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
    if (error) return Unexpected{path + ": is not JSON: " + error.message()};
    if (!value.is_object()) return Unexpected{path + ": is not a JSON object"};
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
        if (error) return Unexpected{path + ": cannot be read: " + error.message()};
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

}  // namespace revenant::node
