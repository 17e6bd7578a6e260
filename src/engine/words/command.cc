#include "engine/words/command.h"

#include <array>
#include <variant>

namespace revenant::engine {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<Command>> names{"open_connection",
                                                                           "close_connection",
                                                                           "resume_connection",
                                                                           "pause_channel",
                                                                           "resume_channel",
                                                                           "open_channel",
                                                                           "close_channel",
                                                                           "declare_exchange",
                                                                           "delete_exchange",
                                                                           "declare_queue",
                                                                           "delete_queue",
                                                                           "purge_queue",
                                                                           "discard_parked",
                                                                           "bind",
                                                                           "unbind",
                                                                           "check_target",
                                                                           "describe_queue",
                                                                           "list_bindings",
                                                                           "publish",
                                                                           "set_qos",
                                                                           "consume",
                                                                           "set_credit",
                                                                           "cancel",
                                                                           "get",
                                                                           "settle",
                                                                           "recover",
                                                                           "set_policy",
                                                                           "clear_policy",
                                                                           "set_compatibility",
                                                                           "select_transaction",
                                                                           "commit",
                                                                           "rollback",
                                                                           "tick"};
static_assert(!names.back().empty(), "a command without a name");

}  // namespace

std::string_view command_name(std::size_t place) { return names[place]; }

}  // namespace revenant::engine
