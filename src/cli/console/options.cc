#include "cli/console/options.h"

#include "cli/console/information_unit.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>

namespace revenant::cli {
namespace {

constexpr double timeout_seconds_max = 86'400;

double parse_timeout(const std::string& text) {
    if (text == "infinity") return timeout_seconds_max;
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size() || !(seconds > 0)) {
        throw CLI::ValidationError("--timeout", "'" + text + "' is not a number of seconds");
    }
    return std::min(seconds, timeout_seconds_max);
}

// Reads the variables that configure the node's default user, which are also set for revenantctl in
// the node's container. Files take precedence over values, and REVENANT_ over RABBITMQ_. Fails if a
// file cannot be read.
Result<std::optional<std::string>, std::string> first_user_variable(const std::string& name) {
    const auto find = [](const std::string& whole) -> const char* {
        const char* const value = std::getenv(whole.c_str());
        return value == nullptr || *value == '\0' ? nullptr : value;
    };
    for (const bool in_file : {true, false}) {
        for (const char* prefix : {"REVENANT_", "RABBITMQ_"}) {
            const std::string variable = prefix + name + (in_file ? "_FILE" : "");
            const char* const value = find(variable);
            if (value == nullptr) continue;
            if (!in_file) return std::optional<std::string>(value);
            std::ifstream file(value);
            std::string line;
            if (!std::getline(file, line) && !file.eof()) {
                return Unexpected{variable + ": cannot read " + value};
            }
            return std::optional<std::string>(line.substr(0, line.find('\r')));
        }
    }
    return std::optional<std::string>();
}

std::optional<std::string> take_first_user(const CLI::App& app, ClientSettings& client) {
    const auto take = [&](const char* option, const char* variable, std::string& field) {
        if (app.count(option) > 0) return std::optional<std::string>();
        auto found = first_user_variable(variable);
        if (!found) return std::optional<std::string>(found.error());
        if (*found) field = **found;
        return std::optional<std::string>();
    };
    if (auto mistake = take("--username", "DEFAULT_USER", client.user)) return mistake;
    return take("--password", "DEFAULT_PASS", client.password);
}

void add_connection_options(CLI::App& app, Options& options) {
    app.add_option("--url", options.client.url, "URL of the node's HTTP API, http or https")
        ->envname("REVENANT_URL")
        ->capture_default_str();
    app.add_option("--username", options.client.user, "User to log in as")
        ->envname("REVENANT_USER")
        ->capture_default_str();
    app.add_option("--password", options.client.password,
                   "Password; prefer REVENANT_PASSWORD, which process listings do not show")
        ->envname("REVENANT_PASSWORD");
    app.add_option("--cacert", options.client.trust.ca_file,
                   "CA certificate file for https, instead of the system's")
        ->envname("REVENANT_CACERT");
    app.add_flag_callback(
        "--insecure", [&options] { options.client.trust.verifies = false; },
        "Accept any certificate");
    app.add_option_function<std::string>(
        "-t,--timeout",
        [&options](const std::string& text) {
            options.client.timeout_seconds = parse_timeout(text);
        },
        "Seconds to wait for a response, or infinity [60]");
    // Options of rabbitmqctl that have no effect, because the URL identifies the node.
    static std::string ignored_text;
    static bool ignored = false;
    for (const char* name : {"-n,--node", "--erlang-cookie"}) {
        app.add_option(name, ignored_text, "Ignored; accepted for rabbitmqctl compatibility")
            ->take_last();
    }
    app.add_flag("-l,--longnames,--online,--local,--force,--script-mode,--dry-run", ignored,
                 "Ignored; accepted for rabbitmqctl compatibility");
}

void add_output_options(CLI::App& app, Options& options) {
    app.add_option("--formatter", options.formatter, "Output format of lists")
        ->check(CLI::IsMember({"table", "json", "csv", "pretty_table", "erlang"}))
        ->capture_default_str();
    app.add_flag("-q,--quiet", options.quiet, "Suppress informational messages");
    app.add_flag("-s,--silent", options.silent,
                 "Suppress informational messages and table headers");
    app.add_flag("--no-table-headers", options.no_table_headers, "Suppress table headers");
    app.add_option("--unit", options.unit, "memory_breakdown, status: bytes, kb, mb, gb, tb")
        ->check([](const std::string& unit) {
            for (const std::string_view time : {"days", "weeks", "months", "years"}) {
                if (unit == time) return std::string();
            }
            if (bytes_of_unit(unit)) return std::string();
            return "unit '" + unit + "' is not supported. Please use one of: bytes, mb, gb";
        });
}

void add_object_options(CLI::App& app, Options& options) {
    app.add_flag("--offline", options.offline,
                 "list_queues: queues of unavailable nodes; is_enabled: do not contact the node");
    app.add_flag("-e,--if-empty", options.if_empty, "delete_queue: only if it is empty");
    app.add_flag("-u,--if-unused", options.if_unused, "delete_queue: only if it has no consumer");
    app.add_option("--description", options.description, "add_vhost: a description");
    app.add_option("--tags", options.tags, "add_vhost: comma-separated tags");
    app.add_option("--default-queue-type", options.default_queue_type,
                   "add_vhost: classic or quorum");
    app.add_option("--compat", options.compat,
                   "add_vhost: RabbitMQ version whose behaviour is followed, 4.3 or 3.12");
    app.add_option("--priority", options.priority,
                   "set_policy: the matching policy with the highest priority applies")
        ->capture_default_str();
    app.add_option("--apply-to", options.apply_to,
                   "set_policy: all, queues, classic_queues, quorum_queues, streams, exchanges")
        ->capture_default_str();
    app.add_option("--user", options.user, "list_user_limits: user name")->capture_default_str();
    app.add_flag("--global", options.global,
                 "list_vhost_limits, list_user_limits, close_all_connections: all of them");
    app.add_option("--limit", options.limit, "close_all_connections: maximum number")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--format", options.format, "export_definitions, import_definitions: json");
    app.add_option("--within", options.within, "check_certificate_expiration: number of units")
        ->check(CLI::NonNegativeNumber);
    app.add_option("-N,--number", options.number, "log_tail: number of lines")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{100'000}))
        ->capture_default_str();
    app.add_flag("--used", options.only_used, "list_deprecated_features: only those in use");
    app.add_flag("--across-all-vhosts", options.across_all_vhosts,
                 "check_for_quorum_queues_without_an_elected_leader: in all virtual hosts");
    app.add_flag("-E,--enabled", options.only_enabled, "rabbitmq-plugins list: enabled plugins");
    app.add_flag("-m,--minimal", options.only_names, "rabbitmq-plugins list: names only");
}

// Takes the words that are not options. After `--`, everything is an argument.
std::optional<std::string> take_words(const CLI::App& app, std::vector<std::string>& words) {
    bool literal = false;
    for (const std::string& word : app.remaining()) {
        if (!literal && word == "--") {
            literal = true;
            continue;
        }
        const bool option =
            !literal && word.size() > 1 && word.front() == '-' && (word[1] < '0' || word[1] > '9');
        if (option) return "Invalid options for this command:\n\n" + word + " : unrecognised";
        words.push_back(word);
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> parse_command_line(int argc, char** argv, CommandLine& into) {
    CLI::App app{
        "Manages a Revenant node, with the commands, arguments and exit codes of rabbitmqctl.",
        into.program};
    const CLI::Option* const vhost =
        app.add_option("-p,--vhost", into.options.vhost, "Virtual host")->capture_default_str();
    add_connection_options(app, into.options);
    add_output_options(app, into.options);
    add_object_options(app, into.options);
    app.allow_extras();
    app.set_help_flag();
    app.add_flag("-V,--version", into.version, "Same as the version command");
    app.add_flag("-h,--help", into.help, "Show this help, or help for a command");
    into.options_help = app.help();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return error.what();
    }
    into.options.vhost_given = vhost->count() > 0;
    into.options.unit_given = app.count("--unit") > 0;
    if (auto mistake = take_first_user(app, into.options.client)) return mistake;
    return take_words(app, into.words);
}

}  // namespace revenant::cli
