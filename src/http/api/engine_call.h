// Commands of API users to the engine of a virtual host, and the responses to refusals of the
// engine or the catalog.
#pragma once

#include "base/result.h"
#include "catalog/catalog.h"
#include "engine/view/query.h"
#include "http/api/responses.h"
#include "http/api/router.h"
#include "http/server/request.h"
#include "protocol/user_permissions.h"
#include "runtime/broker.h"
#include "runtime/engine_call.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::http {

using runtime::await_answer;
using runtime::disk_is_full;
using runtime::execute;
using runtime::execute_all;
using runtime::vhost_is_gone;

// management 1.7
Response response_to(const engine::Refusal& refusal);
// 404 if the object does not exist, otherwise 400.
Response response_to(const CatalogRefusal& refusal);
// The response to a command that changes or removes an existing object.
template <typename Outcome>
Response change_response(const Outcome& outcome) {
    return outcome ? no_content() : response_to(outcome.error());
}

// The caller's AMQP permissions in a virtual host. amqp091 15
inline protocol::UserPermissions permissions_of(const Call& call, std::string_view vhost) {
    return {*call.access, call.user->name, vhost};
}

// The response to every missing AMQP permission: "Access refused."
Response access_refused();

// Names and routing keys are AMQP short strings.
constexpr std::size_t short_string_bytes_max = 255;

// A name in a path as an AMQP name: without line breaks; absent if longer than 255 bytes.
std::optional<std::string> amqp_name(std::string_view name);
// The name of an exchange; amq.default is the default exchange, whose name is empty.
std::optional<std::string> exchange_name(std::string_view name);

}  // namespace revenant::http
