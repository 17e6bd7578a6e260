#include "options.h"

#include "failure.h"

#include <charconv>
#include <functional>
#include <map>

namespace bench {

namespace {

uint64_t number_from(const std::string& text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        throw Failure("not a number: " + text);
    return value;
}

using Setter = std::function<void(const std::string&)>;

Setter number(uint64_t& target) {
    return [&target](const std::string& text) { target = number_from(text); };
}

Setter text(std::string& target) {
    return [&target](const std::string& value) { target = value; };
}

Setter yes_or_no(bool& target) {
    return [&target](const std::string& value) { target = number_from(value) != 0; };
}

Protocol protocol_from(const std::string& name) {
    if (name == "0-9-1") return Protocol::amqp091;
    if (name == "1.0") return Protocol::amqp10;
    throw Failure("--protocol is 0-9-1 or 1.0");
}

std::map<std::string, Setter> setters(Options& options) {
    Endpoint& endpoint = options.endpoint;
    return {
        {"host", text(endpoint.host)},
        {"port",
         [&](const std::string& value) {
             endpoint.port = static_cast<uint16_t>(number_from(value));
         }},
        {"user", text(endpoint.login.user)},
        {"password", text(endpoint.login.password)},
        {"vhost", text(endpoint.login.vhost)},
        {"timeout",
         [&](const std::string& value) {
             endpoint.timeout = std::chrono::seconds(number_from(value));
         }},
        {"broker-pid",
         [&](const std::string& value) {
             options.broker = static_cast<pid_t>(number_from(value));
         }},
        {"data-dir", text(options.data_dir)},
        {"queue", text(options.queue)},
        {"protocol", [&](const std::string& value) { options.protocol = protocol_from(value); }},
        {"messages", number(options.messages)},
        {"body-bytes", number(options.body_bytes)},
        {"publishers", number(options.publishers)},
        {"window", number(options.window)},
        {"prefetch", number(options.prefetch)},
        {"settle-every", number(options.settle_every)},
        {"confirms", yes_or_no(options.confirms)},
        {"in-flight", number(options.in_flight)},
        {"persistent", yes_or_no(options.persistent)},
        {"keep", yes_or_no(options.keep)},
        {"rate", number(options.rate)},
        {"seconds", number(options.seconds)},
        {"via", text(options.via)},
        {"connections", number(options.connections)},
        {"ttl-ms", number(options.ttl_ms)},
        {"deadline", text(options.deadline)},
        {"hops", number(options.hops)},
        {"retries", number(options.retries)},
        {"quorum", yes_or_no(options.quorum)},
        {"as-long", yes_or_no(options.as_long)},
        {"headers", number(options.headers)},
        {"letters", number(options.letters)},
        {"letter-bytes", number(options.letter_bytes)},
        {"started-ns", number(options.started_ns)},
    };
}

void check(const Options& options) {
    if (options.endpoint.port == 0) throw Failure("--port is missing");
    for (const uint64_t value :
         {options.messages, options.publishers, options.window, options.settle_every,
          options.in_flight, options.rate, options.seconds, options.hops}) {
        if (value == 0) throw Failure("a count of 0 makes no load");
    }
    if (options.prefetch > 65535) throw Failure("--prefetch is at most 65535");
    if (options.prefetch != 0 && options.prefetch < options.settle_every) {
        throw Failure("a prefetch below --settle-every would never be settled");
    }
    if (options.protocol == Protocol::amqp10 && options.prefetch == 0)
        throw Failure("a consumer without credit gets nothing");
    if (options.in_flight < options.settle_every)
        throw Failure("--in-flight is below --settle-every");
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
    Options options;
    if (arguments.empty()) throw Failure("no case given");
    options.case_name = arguments.front();
    auto known = setters(options);
    for (size_t index = 1; index < arguments.size(); index += 2) {
        const std::string& name = arguments[index];
        const auto setter = name.rfind("--", 0) == 0 ? known.find(name.substr(2)) : known.end();
        if (setter == known.end()) throw Failure("unknown option " + name);
        if (index + 1 == arguments.size()) throw Failure("no value for " + name);
        setter->second(arguments[index + 1]);
    }
    check(options);
    return options;
}

}  // namespace bench
