// Users: accounts, passwords, tags.
#include "cli/commands/command_tables.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <iostream>
#include <optional>

namespace revenant::cli {
namespace {

namespace json = boost::json;

std::string user_path(const std::string& user) { return "/users/" + escape(user); }

// Reads the password from the argument or, to keep it out of process listings, standard input.
Result<std::string, Failure> read_password(const Invocation& invocation, std::size_t index) {
    if (invocation.arguments.size() > index) return invocation.argument(index);
    invocation.banner("Password:");
    std::string password;
    if (!std::getline(std::cin, password)) {
        return Unexpected{Failure{ExitCode::usage, "no password given"}};
    }
    return password;
}

Result<json::object, Failure> find_user(const Invocation& invocation, const std::string& user) {
    REVENANT_TRY(const Reply reply, invocation.ask("GET", user_path(user)));
    if (reply.status == 404) return no_such_user(user);
    const json::value found = reply.json();
    if (reply.status != 200 || !found.is_object()) return refused(reply);
    return found.get_object();
}

Outcome put_user(const Invocation& invocation, const std::string& user, const json::object& body) {
    REVENANT_TRY(const Reply reply, invocation.ask("PUT", user_path(user), body));
    if (reply.status >= 300) return refused(reply);
    return {};
}

Outcome add_user(const Invocation& invocation) {
    const std::string& user = invocation.argument(0);
    invocation.banner("Adding user \"" + user + "\" ...");
    REVENANT_TRY(const Reply existing, invocation.ask("GET", user_path(user)));
    if (existing.status == 200) {
        return Unexpected{Failure{ExitCode::software, "User \"" + user + "\" already exists"}};
    }
    REVENANT_TRY(const std::string password, read_password(invocation, 1));
    if (password.empty()) {
        return Unexpected{Failure{ExitCode::data_error, "user name or password is blank"}};
    }
    REVENANT_TRY_VOID(put_user(invocation, user, {{"password", password}, {"tags", ""}}));
    invocation.hint(
        "Done. Don't forget to grant the user permissions to some virtual hosts! See '" +
        invocation.program + " help set_permissions' to learn more.");
    return {};
}

Outcome delete_user(const Invocation& invocation) {
    const std::string& user = invocation.argument(0);
    invocation.banner("Deleting user \"" + user + "\" ...");
    REVENANT_TRY(const Reply reply, invocation.ask("DELETE", user_path(user)));
    // rabbitmqctl also succeeds if the user does not exist.
    if (reply.status >= 300 && reply.status != 404) return refused(reply);
    invocation.say("");
    return {};
}

Outcome change_password(const Invocation& invocation) {
    const std::string& user = invocation.argument(0);
    invocation.banner("Changing password for user \"" + user + "\" ...");
    REVENANT_TRY(const json::object found, find_user(invocation, user));
    REVENANT_TRY(const std::string password, read_password(invocation, 1));
    if (password.empty()) {
        return Unexpected{Failure{ExitCode::data_error, "the password is blank"}};
    }
    REVENANT_TRY_VOID(
        put_user(invocation, user, {{"password", password}, {"tags", found.at("tags")}}));
    invocation.say("");
    return {};
}

Outcome clear_password(const Invocation& invocation) {
    const std::string& user = invocation.argument(0);
    invocation.banner("Clearing password for user \"" + user + "\" ...");
    REVENANT_TRY(const json::object found, find_user(invocation, user));
    REVENANT_TRY_VOID(
        put_user(invocation, user, {{"password_hash", ""}, {"tags", found.at("tags")}}));
    invocation.say("");
    return {};
}

// The API returns not_authorised to users without management access, but only after it has
// accepted the password.
Outcome authenticate_user(const Invocation& invocation) {
    const std::string& user = invocation.argument(0);
    invocation.banner("Authenticating user \"" + user + "\" ...");
    REVENANT_TRY(const std::string password, read_password(invocation, 1));
    const auto reply = invocation.client.as(user, password).send("GET", "/whoami");
    if (!reply) return no_answer("", reply.error());
    const json::value body = reply->json();
    const bool known =
        reply->status == 200 || (body.is_object() && body.get_object().contains("error") &&
                                 body.get_object().at("error") == json::value("not_authorised"));
    if (!known) {
        return Unexpected{Failure{ExitCode::data_error, "Error: failed to authenticate user \"" +
                                                            user + "\"\nuser '" + user +
                                                            "' - invalid credentials"}};
    }
    invocation.say("Success");
    return {};
}

Outcome set_user_tags(const Invocation& invocation) {
    const std::string& user = invocation.argument(0);
    json::array tags;
    for (std::size_t i = 1; i < invocation.arguments.size(); ++i) {
        tags.emplace_back(invocation.argument(i));
    }
    invocation.banner("Setting tags for user \"" + user + "\" to " + plain_text(tags) + " ...");
    REVENANT_TRY(const json::object found, find_user(invocation, user));
    REVENANT_TRY_VOID(put_user(invocation, user,
                               {{"password_hash", found.at("password_hash")},
                                {"hashing_algorithm", found.at("hashing_algorithm")},
                                {"tags", tags}}));
    invocation.say("");
    return {};
}

Outcome list_users(const Invocation& invocation) {
    invocation.banner("Listing users ...");
    REVENANT_TRY(const json::value users, invocation.get("/users"));
    return invocation.list(users, {{"user", "name"}, {"tags", "tags"}}, {"user", "tags"});
}

// Prints the salted hash in the form that definitions contain.
Outcome hash_password(const Invocation& invocation) {
    REVENANT_TRY(const std::string password, read_password(invocation, 0));
    invocation.banner("Will hash password");
    REVENANT_TRY(const Reply reply,
                 invocation.ask("GET", "/auth/hash_password/" + escape(password)));
    const json::value body = reply.json();
    if (reply.status != 200 || !body.is_object() || !body.get_object().contains("ok")) {
        return refused(reply);
    }
    std::cout << plain_text(body.at("ok")) << '\n';
    return {};
}

}  // namespace

std::span<const Command> user_commands() {
    static constexpr Command commands[] = {
        {"add_user", 1, 2, "USERNAME [PASSWORD]",
         "Creates a user; reads the password from standard input if it is missing.",
         "add_user janeway s3cret", add_user},
        {"delete_user", 1, 1, "USERNAME", "Removes a user and closes its connections.",
         "delete_user janeway", delete_user},
        {"change_password", 1, 2, "USERNAME [PASSWORD]",
         "Changes a password; reads it from standard input if it is missing.",
         "change_password janeway n3w", change_password},
        {"clear_password", 1, 1, "USERNAME", "Disables password logins for a user.",
         "clear_password janeway", clear_password},
        {"authenticate_user", 1, 2, "USERNAME [PASSWORD]", "Checks a user's password.",
         "authenticate_user janeway s3cret", authenticate_user},
        {"set_user_tags", 1, SIZE_MAX, "USERNAME [TAG ...]",
         "Sets a user's tags: administrator, monitoring, policymaker, management or others.",
         "set_user_tags janeway monitoring", set_user_tags},
        {"hash_password", 0, 1, "[PASSWORD]", "Prints a password hash for use in definitions.",
         "hash_password s3cret", hash_password},
        {"list_users", 0, 0, "", "Lists users and their tags.", "list_users --formatter json",
         list_users},
    };
    return commands;
}

}  // namespace revenant::cli
