#include "cli/commands/alarms.h"

#include "cli/console/table.h"

#include <boost/json/object.hpp>

namespace revenant::cli {

namespace json = boost::json;

json::array alarms_of(const json::value& node) {
    json::array alarms;
    const auto add = [&](const char* field, const char* resource) {
        if (node.at(field) != json::value(true)) return;
        alarms.push_back(json::object{
            {"type", "resource_limit"}, {"resource", resource}, {"node", node.at("name")}});
    };
    add("mem_alarm", "memory");
    add("disk_free_alarm", "disk");
    return alarms;
}

std::string alarm_line(const json::value& alarm) {
    const bool memory = alarm.at("resource") == json::value("memory");
    return (memory ? "Memory" : "Free disk space") + std::string(" alarm on node ") +
           plain_text(alarm.at("node"));
}

}  // namespace revenant::cli
