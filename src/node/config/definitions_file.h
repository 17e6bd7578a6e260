// Definitions to import at startup: one file, or a directory of .json files in the order of their
// names.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace revenant::node {

struct DefinitionsFile {
    std::string path;
    std::string json;  // a JSON object
    bool has_users = false;
    bool has_vhosts = false;
};

// The error names the file.
Result<std::vector<DefinitionsFile>, std::string> read_definitions(const std::string& path);

// The global parameter with the digest of the last import, as in RabbitMQ.
constexpr std::string_view imported_definitions_parameter = "imported_definition_hash_value";
// The digest of the files in order, as a JSON string.
std::string digest_of(const std::vector<DefinitionsFile>& files);

}  // namespace revenant::node
