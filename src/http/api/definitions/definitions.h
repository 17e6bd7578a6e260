// Definitions: everything that was declared, as one JSON document, and back. Used by the API and at
// boot. management 4.26, 4.27
#pragma once

#include "auth/password_rules.h"
#include "base/result.h"
#include "http/api/json.h"
#include "runtime/broker.h"

#include <string>
#include <string_view>

namespace revenant::http {

// Who wrote the document; stands at its top.
struct DefinitionsHead {
    std::string rabbitmq_version;
    std::string product_name;
    std::string product_version;
    std::string cluster_name;
};

json::object export_definitions(runtime::Broker& broker, const DefinitionsHead& head);
// Of one vhost: its queues, exchanges, bindings, policies and parameters. It must exist.
json::object export_definitions_of(runtime::Broker& broker, const std::string& vhost,
                                   const DefinitionsHead& head);

// Merges the document into what is there. Users, permissions, policies and parameters are set; a
// queue or exchange that exists stays as it is. Never from a reactor. The error names the object
// that is wrong; what stands before it in the order of importing has been done.
Result<void, std::string> import_definitions(runtime::Broker& broker, std::string_view document,
                                             const std::string& acting_user,
                                             const PasswordRules& rules);
// The same for a document of one vhost, whose objects name none. The vhost must exist.
Result<void, std::string> import_definitions_into(runtime::Broker& broker, const std::string& vhost,
                                                  std::string_view document,
                                                  const std::string& acting_user);

}  // namespace revenant::http
