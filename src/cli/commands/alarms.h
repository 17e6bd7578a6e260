// The alarms of a node, read from the response of /nodes.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <string>

namespace revenant::cli {

// One object per alarm, as in rabbitmqctl's JSON: type, resource, node.
boost::json::array alarms_of(const boost::json::value& node);
// "Memory alarm on node rabbit@host"
std::string alarm_line(const boost::json::value& alarm);

}  // namespace revenant::cli
