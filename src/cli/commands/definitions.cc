// Export and import of definitions, as one JSON document.
#include "cli/commands/command_tables.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <fstream>
#include <iostream>
#include <iterator>
#include <sys/stat.h>

namespace revenant::cli {
namespace {

namespace json = boost::json;

std::string definitions_path(const Options& options) {
    return options.vhost_given ? "/definitions/" + escape(options.vhost) : "/definitions";
}

Unexpected<Failure> file_failure(const std::string& path, const char* what) {
    return Unexpected{
        Failure{ExitCode::data_error, "cannot " + std::string(what) + " file " + path}};
}

Outcome check_format(const Options& options) {
    if (options.format == "json") return {};
    return Unexpected{Failure{ExitCode::usage, "Formatter should be json"}};
}

// The file contains password hashes, so only its owner may read it.
Outcome write_file(const std::string& path, const std::string& text) {
    const mode_t before = ::umask(077);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    ::umask(before);
    file << text << '\n';
    file.close();
    if (!file) return file_failure(path, "write");
    return {};
}

Outcome export_definitions(const Invocation& invocation) {
    const std::string path = invocation.arguments.empty() ? "-" : invocation.argument(0);
    REVENANT_TRY_VOID(check_format(invocation.options));
    if (path != "-") {
        invocation.banner("Exporting definitions in JSON to a file at " + quoted(path) + " ...");
    }
    REVENANT_TRY(const json::value definitions,
                 invocation.get(definitions_path(invocation.options)));
    const std::string text = json::serialize(definitions);
    if (path == "-") {
        std::cout << text << '\n';
        return {};
    }
    return write_file(path, text);
}

Result<std::string, Failure> read_definitions(const std::string& path) {
    if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
    std::ifstream file(path, std::ios::binary);
    if (!file) return file_failure(path, "read");
    return std::string(std::istreambuf_iterator<char>(file), {});
}

Outcome import_definitions(const Invocation& invocation) {
    const std::string path = invocation.arguments.empty() ? "-" : invocation.argument(0);
    REVENANT_TRY_VOID(check_format(invocation.options));
    invocation.banner("Importing definitions in JSON from " +
                      (path == "-" ? "standard input" : "a file at " + quoted(path)) + " ...");
    REVENANT_TRY(const std::string text, read_definitions(path));
    REVENANT_TRY(const json::value definitions, parse_json(text));
    if (!definitions.is_object()) {
        return Unexpected{Failure{ExitCode::data_error, "the definitions are not a JSON object"}};
    }
    REVENANT_TRY(const Reply reply,
                 invocation.ask("POST", definitions_path(invocation.options), definitions));
    if (reply.status == 404 && invocation.options.vhost_given) {
        return no_such_vhost(invocation.options.vhost);
    }
    if (reply.status >= 300) return refused(reply);
    invocation.hint(
        "Successfully started definition import. This process is asynchronous and can "
        "take some time.");
    return {};
}

}  // namespace

std::span<const Command> definition_commands() {
    static constexpr Command commands[] = {
        {"export_definitions", 0, 1, "[-p VHOST] [FILE|-] [--format json]",
         "Writes all definitions, or those of one virtual host, to a file or standard output.",
         "export_definitions definitions.json", export_definitions},
        {"import_definitions", 0, 1, "[-p VHOST] [FILE|-] [--format json]",
         "Imports definitions; nothing is deleted.", "import_definitions definitions.json",
         import_definitions},
    };
    return commands;
}

}  // namespace revenant::cli
