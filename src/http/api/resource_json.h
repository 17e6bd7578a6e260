// Conversion of objects of the catalog and the engine to JSON and back. HTTP requests and
// definitions are parsed by the same functions.
#pragma once

#include "auth/access.h"
#include "auth/password_rules.h"
#include "base/result.h"
#include "catalog/catalog.h"
#include "engine/view/query.h"
#include "http/api/json.h"
#include "http/server/request.h"

#include <string>
#include <string_view>

namespace revenant::http {

json::object view_user(const User& user);
json::object view_permissions(const UserAndVhost& of, const Permissions& permissions);
json::object view_permissions(const TopicKey& of, const TopicPermissions& permissions);
json::object view_limits(const VhostLimits& limits);
json::object view_limits(const UserLimits& limits);
json::object view_policy(std::string_view vhost, const engine::Policy& policy);

Result<PutUser, Response> user_from_json(const std::string& name, const json::object& body,
                                         const PasswordRules& rules);
Result<PutVhost, Response> vhost_from_json(const std::string& name, const json::object& body);
Result<Permissions, Response> permissions_from_json(const json::object& body);
Result<SetTopicPermissions, Response> topic_permissions_from_json(const std::string& user,
                                                                  const std::string& vhost,
                                                                  const json::object& body);
Result<VhostLimits, Response> vhost_limits_from_json(const json::object& body);
Result<engine::Policy, Response> policy_from_json(const std::string& name,
                                                  const json::object& body);
Result<engine::DeclareQueue, Response> queue_from_json(const std::string& name,
                                                       const json::object& body);
Result<engine::DeclareExchange, Response> exchange_from_json(const std::string& name,
                                                             const json::object& body);

// The form of all errors in policies and parameters. management 4.12
Response validation_failed(std::string_view text);

Salt random_salt();

}  // namespace revenant::http
