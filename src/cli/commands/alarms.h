// The alarms of a node, out of what /nodes tells.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <string>

namespace revenant::cli {

// One object each, as rabbitmqctl's JSON has them: type, resource, node.
boost::json::array alarms_of(const boost::json::value& node);
// "Memory alarm on node rabbit@host"
std::string alarm_line(const boost::json::value& alarm);

}  // namespace revenant::cli
