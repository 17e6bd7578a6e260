// The command tables, each defined in the file of its group.
#pragma once

#include "cli/console/command.h"

#include <span>

namespace revenant::cli {

std::span<const Command> program_commands();
std::span<const Command> user_commands();
std::span<const Command> vhost_commands();
std::span<const Command> permission_commands();
std::span<const Command> policy_commands();
std::span<const Command> object_commands();
std::span<const Command> connection_commands();
std::span<const Command> node_commands();
std::span<const Command> parameter_commands();
std::span<const Command> limit_commands();
std::span<const Command> definition_commands();
std::span<const Command> cluster_commands();
std::span<const Command> diagnostic_commands();
std::span<const Command> check_commands();
std::span<const Command> maintenance_commands();
std::span<const Command> report_commands();
std::span<const Command> unsupported_commands();
std::span<const Command> plugin_commands();

}  // namespace revenant::cli
