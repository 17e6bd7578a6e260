// The global parameters that every node has.
#pragma once

#include <string_view>

namespace revenant::http {

constexpr std::string_view cluster_name_parameter = "cluster_name";
constexpr std::string_view cluster_id_parameter = "internal_cluster_id";

}  // namespace revenant::http
