// The routes of each resource.
#pragma once

#include "http/api/context.h"
#include "http/api/router.h"

namespace revenant::http {

void add_auth_routes(Router& router, Context& context);
void add_binding_routes(Router& router, Context& context);
void add_channel_routes(Router& router, Context& context);
void add_connection_routes(Router& router, Context& context);
void add_consumer_routes(Router& router, Context& context);
void add_dead_letter_routes(Router& router, Context& context);
void add_definition_routes(Router& router, Context& context);
void add_exchange_routes(Router& router, Context& context);
void add_feature_routes(Router& router, Context& context);
void add_health_routes(Router& router, Context& context);
void add_limit_routes(Router& router, Context& context);
void add_message_routes(Router& router, Context& context);
void add_node_routes(Router& router, Context& context);
void add_overview_routes(Router& router, Context& context);
void add_parameter_routes(Router& router, Context& context);
void add_permission_routes(Router& router, Context& context);
void add_policy_routes(Router& router, Context& context);
void add_queue_routes(Router& router, Context& context);
void add_user_routes(Router& router, Context& context);
void add_vhost_routes(Router& router, Context& context);

}  // namespace revenant::http
