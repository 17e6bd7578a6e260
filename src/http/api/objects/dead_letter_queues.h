// Which queues hold dead letters.
#pragma once

#include "http/api/context.h"

#include <set>
#include <string>

namespace revenant::http {

// Queues of a vhost that dead letters end in and that are not empty.
std::set<std::string> queues_with_dead_letters(Context& context, const std::string& vhost);

}  // namespace revenant::http
