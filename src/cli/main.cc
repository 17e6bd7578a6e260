// revenantctl: rabbitmqctl's commands, spoken to a node over HTTP. Called by the name rabbitmqctl
// it calls itself so.
#include "cli/command.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

namespace {

using namespace revenant::cli;

int exit_status(ExitCode code) { return static_cast<int>(code); }

std::vector<Command> all_commands() {
    std::vector<Command> all;
    for (const auto& group :
         {node_commands(), user_commands(), vhost_commands(), permission_commands(),
          policy_commands(), object_commands(), connection_commands()}) {
        all.insert(all.end(), group.begin(), group.end());
    }
    return all;
}

void add_options(CLI::App& app, Options& options) {
    app.add_option("--url", options.client.url, "Where the node's HTTP API is")
        ->envname("REVENANT_URL")
        ->capture_default_str();
    app.add_option("--username", options.client.user, "User to log in as")
        ->envname("REVENANT_USER")
        ->capture_default_str();
    app.add_option("--password", options.client.password,
                   "Its password; better given in the environment, where no process list shows it")
        ->envname("REVENANT_PASSWORD");
    app.add_option("-t,--timeout", options.client.timeout_seconds, "Seconds to wait for an answer")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("-p,--vhost", options.vhost, "Virtual host")->capture_default_str();
    app.add_option("--formatter", options.formatter, "How lists are printed")
        ->check(CLI::IsMember({"table", "json", "csv"}))
        ->capture_default_str();
    app.add_flag("-q,--quiet", options.quiet, "Without informational messages");
    app.add_flag("-s,--silent", options.silent, "Without these and without table headers");
    app.add_flag("--no-table-headers", options.no_table_headers, "Without table headers");
    app.add_flag("-e,--if-empty", options.if_empty, "delete_queue: only if it is empty");
    app.add_flag("-u,--if-unused", options.if_unused, "delete_queue: only if it has no consumer");
    app.add_option("--description", options.description, "add_vhost: a description");
    app.add_option("--tags", options.tags, "add_vhost: tags with commas between them");
    app.add_option("--default-queue-type", options.default_queue_type,
                   "add_vhost: classic or quorum");
    app.add_option("--compat", options.compat,
                   "add_vhost: which RabbitMQ to follow where they differ, 4.3 or 3.12");
    app.add_option("--priority", options.priority, "set_policy: the highest one that matches wins")
        ->capture_default_str();
    app.add_option("--apply-to", options.apply_to,
                   "set_policy: all, queues, classic_queues, quorum_queues, streams, exchanges")
        ->capture_default_str();
    // rabbitmqctl has these; there is one node here, found by its URL.
    static std::string ignored_node;
    static bool ignored = false;
    app.add_option("-n,--node", ignored_node, "Ignored, as rabbitmqctl has it");
    app.add_flag("-l,--longnames,--online,--offline,--local,--force", ignored,
                 "Ignored, as rabbitmqctl has it");
}

int usage_error(const std::string& program, const std::string& text, const Command* command) {
    std::cerr << "Error (argument validation): " << text << '\n';
    if (command != nullptr) {
        std::cerr << "\nUsage: " << program << ' ' << command->name << ' ' << command->usage
                  << '\n';
    } else {
        std::cerr << "\n'" << program << " help' lists the commands.\n";
    }
    return exit_status(ExitCode::usage);
}

int print_help(const std::string& program, const CLI::App& app, const std::vector<Command>& all,
               const std::string& name) {
    if (name.empty()) {
        std::cout << app.help() << "\nCommands:\n";
        for (const Command& command : all) {
            std::cout << "  " << command.name << ' ' << command.usage << '\n'
                      << "      " << command.summary << '\n';
        }
        return 0;
    }
    for (const Command& command : all) {
        if (command.name != name) continue;
        std::cout << "Usage: " << program << ' ' << command.name << ' ' << command.usage << "\n\n"
                  << command.summary << "\n\nExample:\n  " << program << ' ' << command.example
                  << '\n';
        return 0;
    }
    return usage_error(program, "Command '" + name + "' not found.", nullptr);
}

// What is left of the command line when the options are taken: the command and its arguments.
// Behind `--` everything is an argument.
std::optional<std::string> take_words(const CLI::App& app, std::vector<std::string>& words) {
    bool literal = false;
    for (const std::string& word : app.remaining()) {
        if (!literal && word == "--") {
            literal = true;
            continue;
        }
        const bool option =
            !literal && word.size() > 1 && word.front() == '-' && (word[1] < '0' || word[1] > '9');
        if (option) return word;
        words.push_back(word);
    }
    return std::nullopt;
}

int run_command(const Command& command, const Options& options,
                std::vector<std::string> arguments) {
    const auto client = Client::make(options.client);
    if (!client) {
        std::cerr << "Error (argument validation): " << client.error() << '\n';
        return exit_status(ExitCode::usage);
    }
    const Outcome outcome = command.run(Invocation{options, *client, std::move(arguments)});
    std::cout.flush();
    if (outcome) return exit_status(ExitCode::ok);
    std::cerr << "Error:\n" << outcome.error().text << '\n';
    return exit_status(outcome.error().code);
}

int run(int argc, char** argv) {
    const std::string program = std::filesystem::path(argc > 0 ? argv[0] : "").filename();
    CLI::App app{"Manages a Revenant node. Commands, arguments and exit codes are rabbitmqctl's.",
                 program};
    Options options;
    add_options(app, options);
    app.allow_extras();
    app.set_help_flag();
    bool help = false;
    app.add_flag("-h,--help", help, "This text, or that of a command");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return usage_error(program, error.what(), nullptr);
    }
    std::vector<std::string> words;
    if (const auto unknown = take_words(app, words)) {
        return usage_error(program, "Invalid option '" + *unknown + "'", nullptr);
    }
    const std::vector<Command> all = all_commands();
    const bool asks_help = !words.empty() && words.front() == "help";
    if (words.empty() || help || asks_help) {
        if (asks_help) words.erase(words.begin());
        if (words.empty() && !help && !asks_help) {
            print_help(program, app, all, "");
            return exit_status(ExitCode::usage);
        }
        return print_help(program, app, all, words.empty() ? "" : words.front());
    }
    const auto command = std::find_if(
        all.begin(), all.end(), [&](const Command& one) { return one.name == words.front(); });
    if (command == all.end()) {
        return usage_error(program, "Command '" + words.front() + "' not found.", nullptr);
    }
    words.erase(words.begin());
    if (words.size() < command->arguments_min) {
        return usage_error(program, "not enough arguments.", &*command);
    }
    if (words.size() > command->arguments_max) {
        return usage_error(program, "too many arguments.", &*command);
    }
    return run_command(*command, options, std::move(words));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& failure) {
        std::cerr << "Error:\n" << failure.what() << '\n';
        return exit_status(ExitCode::software);
    }
}
