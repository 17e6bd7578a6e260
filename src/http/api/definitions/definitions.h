// Definitions: export to one JSON document, and import. Used by the API and at startup.
// management 4.26, 4.27
#pragma once

#include "auth/password_rules.h"
#include "base/result.h"
#include "http/api/json.h"
#include "runtime/broker.h"

#include <string>
#include <string_view>

namespace revenant::http {

// The fields at the top of the document.
struct DefinitionsHead {
    std::string rabbitmq_version;
    std::string product_name;
    std::string product_version;
    std::string cluster_name;
};

json::object export_definitions(runtime::Broker& broker, const DefinitionsHead& head);
// Exports the queues, exchanges, bindings, policies and parameters of one virtual host, which must
// exist.
json::object export_definitions_of(runtime::Broker& broker, const std::string& vhost,
                                   const DefinitionsHead& head);

// Merges the document into the existing definitions. Users, permissions, policies and parameters
// are set; existing queues and exchanges are not changed. Must not be called from a reactor thread.
// The error names the invalid object. Objects that precede it in the import order are imported.
Result<void, std::string> import_definitions(runtime::Broker& broker, std::string_view document,
                                             const std::string& acting_user,
                                             const PasswordRules& rules);
// Imports a document of one virtual host, whose objects have no vhost field. The virtual host must
// exist.
Result<void, std::string> import_definitions_into(runtime::Broker& broker, const std::string& vhost,
                                                  std::string_view document,
                                                  const std::string& acting_user);

}  // namespace revenant::http
