// Command: the name of a command and its implementation. The command tables are in
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

// The exit codes of rabbitmqctl. management 5.9
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
    bool offline = false;  // list queues of unavailable nodes
    bool if_empty = false;
    bool if_unused = false;
    // Metadata of a virtual host; absent if not given.
    std::optional<std::string> description;
    std::optional<std::string> tags;
    std::optional<std::string> default_queue_type;
    std::optional<std::string> compat;
    std::string user = "guest";  // for list_user_limits
    bool global = false;         // all virtual hosts instead of one
    std::int64_t limit = 0;      // maximum number of connections to close; 0: all
    std::string unit = "gb";
    bool unit_given = false;
    std::int64_t within = 0;   // in time units
    std::int64_t number = 50;  // log lines
    bool only_used = false;    // deprecated features in use
    bool across_all_vhosts = false;
    bool only_enabled = false;
    bool only_names = false;
    std::string format = "json";
    // Policies.
    std::int64_t priority = 0;
    std::string apply_to = "all";
};

struct Invocation {
    const Options& options;
    const Client& client;
    std::vector<std::string> arguments;
    std::string program = "revenantctl";  // the name of the executable

    const std::string& argument(std::size_t index) const { return arguments[index]; }
    // Prints "Adding user ..." unless the output is quiet or machine-readable.
    void banner(std::string_view line) const;
    // Prints the result of a command that lists nothing. An empty line is printed as JSON only.
    void say(std::string_view line) const;
    // Prints a final line after a successful command, unless the output is quiet.
    void hint(std::string_view line) const;
    void print(const Table& table) const;
    // Prints one object: as JSON, or as a table of its fields.
    void print(const boost::json::object& object) const;
    bool is_machine_readable() const;
    // Prints the columns named by the arguments, or those in `otherwise`.
    Outcome list(const boost::json::value& objects, const std::vector<Column>& known,
                 const std::vector<std::string>& otherwise) const;
    // The query string that adds types to arguments, as rabbitmqctl prints them in JSON.
    std::string_view typed_arguments() const {
        return options.formatter == "json" ? "?arguments=typed" : "";
    }
    // Fails if an argument is not a known column.
    Result<std::vector<Column>, Failure> columns(const std::vector<Column>& known,
                                                 const std::vector<std::string>& otherwise) const;

    // Sends a request. Fails if the node is unreachable or rejects the credentials; other error
    // statuses are left to the caller.
    Result<Reply, Failure> ask(std::string_view method, const std::string& path,
                               const boost::json::value& body = nullptr,
                               const Client::Headers& headers = {}) const;
    // The JSON response to a GET request. Any status other than 200 is a failure.
    Result<boost::json::value, Failure> get(const std::string& path) const;
    // Fails if the virtual host of the options does not exist.
    Outcome require_vhost() const;
};

struct Command {
    std::string_view name;
    std::size_t arguments_min;
    std::size_t arguments_max;
    std::string_view usage;    // arguments and options
    std::string_view summary;  // one sentence
    std::string_view example;
    Outcome (*run)(const Invocation& invocation);
};

// Fails with rabbitmqctl's error text.
Result<boost::json::value, Failure> parse_json(const std::string& text);
std::string quoted(std::string_view text);

Unexpected<Failure> no_such_vhost(std::string_view vhost);
Unexpected<Failure> no_such_user(std::string_view user);
Unexpected<Failure> operation_failed(std::string text);
Unexpected<Failure> no_answer(std::string_view what, const NoResponse& silence);
// Converts any error response.
Unexpected<Failure> refused(const Reply& reply);

}  // namespace revenant::cli
