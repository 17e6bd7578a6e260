// Wishes of users of the API: how they are carried to the engine of a vhost, and the responses to
// what the engine or the catalog says.
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
// The same of the catalog: 404 for what does not exist.
Response response_to(const CatalogRefusal& refusal);
// To a wish to change or remove something that must be there.
template <typename Outcome>
Response change_response(const Outcome& outcome) {
    return outcome ? no_content() : response_to(outcome.error());
}

// What the caller may do in a vhost by its AMQP permissions. amqp091 15
inline protocol::UserPermissions permissions_of(const Call& call, std::string_view vhost) {
    return {*call.access, call.user->name, vhost};
}

// "Access refused.", as HTTP tells every lack of AMQP permissions.
Response access_refused();

// Names and routing keys are short strings of AMQP.
constexpr std::size_t short_string_bytes_max = 255;

// A name in a path as AMQP would take it: at most 255 bytes, without line breaks.
std::optional<std::string> amqp_name(std::string_view name);
// The same for an exchange: amq.default means the one without a name.
std::optional<std::string> exchange_name(std::string_view name);

}  // namespace revenant::http
