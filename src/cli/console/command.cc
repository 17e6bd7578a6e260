#include "cli/console/command.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <iostream>
#include <utility>

namespace revenant::cli {
namespace {

bool is_human_readable(const Options& options) {
    return !options.quiet && !options.silent && options.formatter != "json" &&
           options.formatter != "csv";
}

std::vector<std::string> split_words(const std::vector<std::string>& arguments) {
    std::vector<std::string> words;
    for (const std::string& argument : arguments) {
        std::string_view rest = argument;
        while (!rest.empty()) {
            const std::size_t comma = rest.find(',');
            if (comma != 0) words.emplace_back(rest.substr(0, comma));
            rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
        }
    }
    return words;
}

}  // namespace

void Invocation::banner(std::string_view line) const {
    if (is_human_readable(options)) std::cout << line << '\n';
}

void Invocation::say(std::string_view line) const {
    if (options.formatter == "json") {
        std::cout << boost::json::serialize(
                         boost::json::object{{"result", "ok"}, {"message", line}})
                  << '\n';
    } else if (!line.empty()) {
        std::cout << line << '\n';
    }
}

void Invocation::hint(std::string_view line) const {
    say(options.formatter == "json" || is_human_readable(options) ? line : "");
}

void Invocation::print(const Table& table) const {
    // Without rows, a script would take the header for one.
    const bool with_header = !options.silent && !options.no_table_headers && !table.rows.empty();
    if (table.rows.empty() && options.formatter == "pretty_table") return;
    if (options.formatter == "json") {
        std::cout << to_json(table);
    } else if (options.formatter == "csv") {
        std::cout << to_csv(table, with_header);
    } else if (options.formatter == "pretty_table") {
        std::cout << to_boxes(table, with_header);
    } else if (options.formatter == "erlang") {
        std::cout << to_erlang(table);
    } else {
        std::cout << to_tabs(table, with_header);
    }
}

bool Invocation::is_machine_readable() const {
    return options.formatter == "json" || options.formatter == "csv";
}

void Invocation::print(const boost::json::object& object) const {
    if (options.formatter == "json") {
        std::cout << boost::json::serialize(object) << '\n';
        return;
    }
    Table table;
    table.columns = {"key", "value"};
    for (const auto& [key, value] : object) {
        table.rows.push_back({boost::json::value(key), value});
    }
    print(table);
}

Result<std::vector<Column>, Failure> Invocation::columns(
    const std::vector<Column>& known, const std::vector<std::string>& otherwise) const {
    std::vector<std::string> words = split_words(arguments);
    if (words.empty()) words = otherwise;
    std::vector<Column> chosen;
    std::string unknown;
    for (const std::string& word : words) {
        const auto found = std::find_if(known.begin(), known.end(),
                                        [&](const Column& one) { return one.name == word; });
        if (found != known.end()) {
            chosen.push_back(*found);
        } else {
            unknown += (unknown.empty() ? "" : ", ") + word;
        }
    }
    if (!unknown.empty()) {
        return Unexpected{Failure{ExitCode::usage, "Info key(s) " + unknown + " are not supported",
                                  /*shows_usage=*/true}};
    }
    return chosen;
}

Outcome Invocation::list(const boost::json::value& objects, const std::vector<Column>& known,
                         const std::vector<std::string>& otherwise) const {
    REVENANT_TRY(const std::vector<Column> chosen, columns(known, otherwise));
    if (!objects.is_array()) {
        return Unexpected{Failure{ExitCode::software, "the node's response is not a list"}};
    }
    print(make_table(objects.get_array(), chosen));
    return {};
}

Result<Reply, Failure> Invocation::ask(std::string_view method, const std::string& path,
                                       const boost::json::value& body,
                                       const Client::Headers& headers) const {
    const std::string text = body.is_null() ? std::string() : boost::json::serialize(body);
    auto reply = client.send(method, path, text, headers);
    if (!reply) {
        return no_answer(
            "unable to perform an operation on the node at " + client.settings().url + ": ",
            reply.error());
    }
    if (reply->status == 404 && reply->body.find("Object Not Found") != std::string::npos &&
        method == "GET" && path.find('/', 1) == std::string::npos) {
        return Unexpected{Failure{ExitCode::unavailable,
                                  "the node at " + client.settings().url + " has no " + path}};
    }
    if (reply->status == 401) {
        return Unexpected{
            Failure{ExitCode::unavailable,
                    "the node rejected user '" + client.settings().user + "': " + reply->reason()}};
    }
    return std::move(reply).value();
}

Result<boost::json::value, Failure> Invocation::get(const std::string& path) const {
    REVENANT_TRY(const Reply reply, ask("GET", path));
    if (reply.status != 200) return refused(reply);
    return reply.json();
}

Outcome Invocation::require_vhost() const {
    REVENANT_TRY(const Reply reply, ask("GET", "/vhost-limits/" + escape(options.vhost)));
    if (reply.status == 404) return no_such_vhost(options.vhost);
    if (reply.status != 200) return refused(reply);
    return {};
}

Result<boost::json::value, Failure> parse_json(const std::string& text) {
    boost::system::error_code error;
    boost::json::value value = boost::json::parse(text, error);
    if (!error) return value;
    return Unexpected{
        Failure{ExitCode::unavailable, "Could not parse JSON document: " + error.message()}};
}

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

Unexpected<Failure> no_such_vhost(std::string_view vhost) {
    return Unexpected{
        Failure{ExitCode::data_error, "Virtual host '" + std::string(vhost) + "' does not exist"}};
}

Unexpected<Failure> no_such_user(std::string_view user) {
    return Unexpected{
        Failure{ExitCode::no_such_user, "User \"" + std::string(user) + "\" does not exist"}};
}

Unexpected<Failure> operation_failed(std::string text) {
    return Unexpected{Failure{ExitCode::unavailable, std::move(text)}};
}

Unexpected<Failure> no_answer(std::string_view what, const NoResponse& silence) {
    const bool timeout = silence.reason == NoResponse::Reason::timeout;
    return Unexpected{Failure{timeout ? ExitCode::temporary : ExitCode::unavailable,
                              std::string(what) + silence.text}};
}

Unexpected<Failure> refused(const Reply& reply) {
    const bool bad_input = reply.status >= 400 && reply.status < 500;
    return Unexpected{
        Failure{bad_input ? ExitCode::data_error : ExitCode::software, reply.reason()}};
}

}  // namespace revenant::cli
