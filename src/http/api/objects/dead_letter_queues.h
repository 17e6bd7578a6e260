// The queues that contain dead letters.
#pragma once

#include "http/api/context.h"

#include <set>
#include <string>

namespace revenant::http {

// The non-empty queues of a virtual host that are targets of dead letters.
std::set<std::string> queues_with_dead_letters(Context& context, const std::string& vhost);

}  // namespace revenant::http
