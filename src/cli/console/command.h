// Command: one word of the command line and what it does. The tables of commands are in
// cli/commands/command_tables.h.
#pragma once

#include "base/result.h"
#include "cli/console/client.h"
#include "cli/console/table.h"

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::cli {

// As rabbitmqctl ends. management 5.9
enum class ExitCode : std::uint8_t {
    ok = 0,
    usage = 64,
    data_error = 65,
    no_such_user = 67,
    unavailable = 69,
    software = 70,
    temporary = 75,
};

struct Failure {
    ExitCode code = ExitCode::software;
    std::string text;
    bool shows_usage = false;
};
using Outcome = Result<void, Failure>;

struct Options {
    ClientSettings client;
    std::string vhost = "/";
    bool vhost_given = false;
    std::string formatter = "table";
    bool quiet = false;
    bool silent = false;
    bool no_table_headers = false;
    bool offline = false;  // queues of nodes that are away
    bool if_empty = false;
    bool if_unused = false;
    // Of a virtual host; absent: not given.
    std::optional<std::string> description;
    std::optional<std::string> tags;
    std::optional<std::string> default_queue_type;
    std::optional<std::string> compat;
    std::string user = "guest";  // whose limits are listed
    bool global = false;         // not one virtual host, but all
    std::int64_t limit = 0;      // of connections to close; 0: all
    std::string unit = "gb";
    bool unit_given = false;
    std::int64_t within = 0;   // units of time
    std::int64_t number = 50;  // of lines of a log
    bool only_used = false;    // deprecated features
    bool across_all_vhosts = false;
    bool only_enabled = false;
    bool only_names = false;
    std::string format = "json";
    // Of a policy.
    std::int64_t priority = 0;
    std::string apply_to = "all";
};

struct Invocation {
    const Options& options;
    const Client& client;
    std::vector<std::string> arguments;
    std::string program = "revenantctl";  // the name it was called by

    const std::string& argument(std::size_t index) const { return arguments[index]; }
    // "Adding user ..." unless it is to be quiet or a program reads the output.
    void banner(std::string_view line) const;
    // The result of a command that lists nothing; nothing to say is said to programs only.
    void say(std::string_view line) const;
    // The last word of a command that was done; a quiet one has none.
    void hint(std::string_view line) const;
    void print(const Table& table) const;
    // One thing, not a list: JSON, or its fields by name.
    void print(const boost::json::object& object) const;
    bool is_machine_readable() const;
    // Lists the columns named by the arguments, or the default ones.
    Outcome list(const boost::json::value& objects, const std::vector<Column>& known,
                 const std::vector<std::string>& otherwise) const;
    // Programs get arguments with their types, as rabbitmqctl prints them: a query, or nothing.
    std::string_view typed_arguments() const {
        return options.formatter == "json" ? "?arguments=typed" : "";
    }
    // Known columns only. Checked before anything is asked.
    Result<std::vector<Column>, Failure> columns(const std::vector<Column>& known,
                                                 const std::vector<std::string>& otherwise) const;

    // Sends; an unreachable node and refused credentials are failures of their own.
    Result<Reply, Failure> ask(std::string_view method, const std::string& path,
                               const boost::json::value& body = nullptr,
                               const Client::Headers& headers = {}) const;
    // The JSON of a GET that should succeed.
    Result<boost::json::value, Failure> get(const std::string& path) const;
    // For a command about one vhost: fails if it does not exist.
    Outcome require_vhost() const;
};

struct Command {
    std::string_view name;
    std::size_t arguments_min;
    std::size_t arguments_max;
    std::string_view usage;    // its arguments and options
    std::string_view summary;  // one sentence
    std::string_view example;
    Outcome (*run)(const Invocation& invocation);
};

// An argument that should be JSON; rabbitmqctl's words if it is not.
Result<boost::json::value, Failure> parse_json(const std::string& text);
std::string quoted(std::string_view text);

Unexpected<Failure> no_such_vhost(std::string_view vhost);
Unexpected<Failure> no_such_user(std::string_view user);
Unexpected<Failure> operation_failed(std::string text);
Unexpected<Failure> no_answer(std::string_view what, const NoResponse& silence);
// Any answer that is not a success.
Unexpected<Failure> refused(const Reply& reply);

}  // namespace revenant::cli
