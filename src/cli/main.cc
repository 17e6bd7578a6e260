// revenantctl: rabbitmqctl's commands, sent to a node over HTTP. Started under the name
// rabbitmqctl, rabbitmq-diagnostics, rabbitmq-queues, rabbitmq-plugins or rabbitmq-upgrade, it uses
// that name in its texts.
#include "cli/commands/help.h"
#include "cli/console/command.h"
#include "cli/console/options.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

namespace {

using namespace revenant::cli;

int exit_status(ExitCode code) { return static_cast<int>(code); }

int fail(const Failure& failure, const std::string& program, const Command* command) {
    std::cout.flush();
    if (!failure.shows_usage) {
        std::cerr << "Error:\n" << failure.text << '\n';
    } else {
        std::cerr << "Error (argument validation): " << failure.text << '\n';
        std::cerr << (command != nullptr ? usage_of(program, *command)
                                         : "\n'" + program + " help' lists the commands.\n");
    }
    return exit_status(failure.code);
}

Failure wrong_usage(std::string text) {
    return {ExitCode::usage, std::move(text), /*shows_usage=*/true};
}

int not_found(const CommandLine& line, const std::string& name) {
    std::cerr << "\nCommand '" << name << "' not found.\n";
    const std::string near = nearest_command(line.program, name);
    if (!near.empty()) std::cerr << "Did you mean '" << near << "'?\n";
    std::cerr << "\n'" << line.program << " help' lists the commands.\n";
    return exit_status(ExitCode::usage);
}

int run_command(const Command& command, const CommandLine& line) {
    const std::size_t count = line.words.size() - 1;
    if (count < command.arguments_min) {
        return fail(wrong_usage("not enough arguments."), line.program, &command);
    }
    if (count > command.arguments_max) {
        return fail(wrong_usage("too many arguments."), line.program, &command);
    }
    const auto client = Client::make(line.options.client);
    if (!client) return fail(wrong_usage(client.error()), line.program, nullptr);
    const Outcome outcome = command.run(Invocation{
        line.options, *client, {line.words.begin() + 1, line.words.end()}, line.program});
    if (!outcome) return fail(outcome.error(), line.program, &command);
    std::cout.flush();
    if (std::cout) return exit_status(ExitCode::ok);
    return fail({ExitCode::software, "cannot write the output"}, line.program, nullptr);
}

int run(int argc, char** argv) {
    CommandLine line;
    line.program = std::filesystem::path(argc > 0 ? argv[0] : "revenantctl").filename();
    if (const auto mistake = parse_command_line(argc, argv, line)) {
        return fail(wrong_usage(*mistake), line.program, nullptr);
    }
    std::vector<std::string>& words = line.words;
    if (words.empty() && line.version) words.emplace_back("version");
    if (words.empty() && !line.help) {
        std::cout << help_on_all(line);
        return exit_status(ExitCode::usage);
    }
    if (line.help || words.front() == "help") {
        if (!words.empty() && words.front() == "help") words.erase(words.begin());
        const std::optional<std::string> text =
            words.empty() ? help_on_all(line) : help_on(line, words.front());
        if (!text) return not_found(line, words.front());
        std::cout << *text;
        return 0;
    }
    const Command* const command = find_command(line.program, words.front());
    if (command == nullptr) {
        return not_found(line, words.front());
    }
    return run_command(*command, line);
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
