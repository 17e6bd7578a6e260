// Definitions that a node is to have from its start: one file, or a directory of files that end in
// .json and are taken in the order of their names.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace revenant::node {

struct DefinitionsFile {
    std::string path;
    std::string json;  // an object
    bool has_users = false;
    bool has_vhosts = false;
};

// The error names the file and what is wrong with it.
Result<std::vector<DefinitionsFile>, std::string> read_definitions(const std::string& path);

// The global parameter that holds the digest of what the last start imported, as in RabbitMQ.
constexpr std::string_view imported_definitions_parameter = "imported_definition_hash_value";
// Of the texts in their order; a JSON string.
std::string digest_of(const std::vector<DefinitionsFile>& files);

}  // namespace revenant::node
