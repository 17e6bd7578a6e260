#include "tests/model/history.h"

#include <random>
#include <utility>

namespace revenant::model {
namespace {

using engine::OutcomeKind;

class Maker {
  public:
    explicit Maker(std::uint64_t seed) : random_(seed) {
        for (int i = 0; i < 5; ++i) queue_arguments_.push_back(new_queue_arguments());
        for (int i = 0; i < 4; ++i) exchange_types_.push_back(any(types()));
    }

    History make() {
        for (int i = 0; i < 5; ++i) declare_queue(i);
        for (int i = 0; i < 4; ++i) declare_exchange(i);
        for (std::uint64_t i = 0, count = 3 + below(6); i < count; ++i) binding(Do::bind);
        for (std::uint64_t i = 0, count = below(3); i < count; ++i) set_policy();
        for (std::uint64_t i = 0, count = 20 + below(40); i < count; ++i) command();
        return std::move(history_);
    }

  private:
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    bool one_in(std::uint64_t chances) { return below(chances) == 0; }
    template <typename T>
    const T& any(const std::vector<T>& choices) {
        return choices[below(choices.size())];
    }
    int number_below(std::uint64_t bound) { return static_cast<int>(below(bound)); }
    std::string queue() { return "q" + std::to_string(below(5)); }
    std::string exchange() { return "x" + std::to_string(below(4)); }
    std::string exchange_or_default() { return one_in(3) ? "" : exchange(); }
    std::string key() { return one_in(3) ? "k." + std::to_string(below(3)) : queue(); }
    static const std::vector<std::string>& types() {
        static const std::vector<std::string> all{"direct", "fanout", "topic", "headers"};
        return all;
    }
    Step& add(Do what) {
        Step step;
        step.what = what;
        step.channel = below(history_channels);
        history_.push_back(std::move(step));
        return history_.back();
    }

    // --- settings: few and small, so that conflicts are frequent ---

    void add_common(Table& table, const std::string& prefix, std::uint64_t chances) {
        const auto put = [&](const char* name, Value value) {
            table.push_back({prefix + name, std::move(value)});
        };
        // With a TTL of 0 in all queues, a single message would die dozens of times at one instant,
        // in an order that is open at every step.
        const int least = prefix.empty() ? 1 : 0;
        if (one_in(chances)) put("message-ttl", Value::int64((least + number_below(4)) * 5));
        if (one_in(chances)) put("max-length", Value::int64(number_below(4)));
        if (one_in(chances * 2)) put("max-length-bytes", Value::int64(number_below(24)));
        if (one_in(chances * 3)) put("expires", Value::int64(20 + number_below(60)));
        if (one_in(chances)) {
            put("overflow",
                Value::string(any<std::string>(
                    {"drop-head", "reject-publish", "reject-publish", "reject-publish-dlx"})));
        }
    }
    void add_dead_letters(Table& table, const std::string& prefix) {
        table.push_back({prefix + "dead-letter-exchange", Value::string(exchange_or_default())});
        if (!one_in(3)) {
            table.push_back(
                {prefix + "dead-letter-routing-key", Value::string(one_in(4) ? key() : queue())});
        }
    }
    void add_quorum(Table& table, const std::string& prefix) {
        const auto put = [&](const char* name, Value value) {
            table.push_back({prefix + name, std::move(value)});
        };
        if (one_in(2)) put("delivery-limit", Value::int64(number_below(4) - 1));
        if (one_in(3)) {
            put("delayed-retry-type",
                Value::string(any<std::string>({"all", "failed", "returned", "disabled"})));
            put("delayed-retry-min", Value::int64(1 + number_below(6)));
            if (one_in(2)) put("delayed-retry-max", Value::int64(7 + number_below(10)));
        }
    }
    Table new_queue_arguments() {
        Table table;
        const bool quorum = one_in(2);
        add_common(table, "x-", 3);
        if (!one_in(4)) add_dead_letters(table, "x-");
        if (quorum) {
            table.push_back({"x-queue-type", Value::string("quorum")});
            add_quorum(table, "x-");
            if (one_in(2)) {
                table.push_back({"x-dead-letter-strategy",
                                 Value::string(one_in(4) ? "at-most-once" : "at-least-once")});
            }
        } else if (one_in(3)) {
            table.push_back({"x-max-priority", Value::int32(number_below(4))});
        }
        return table;
    }

    // --- commands ---

    void declare_queue(int index) {
        Step& step = add(Do::declare_queue);
        step.name = "q" + std::to_string(index);
        step.arguments =
            one_in(25) ? new_queue_arguments() : queue_arguments_[static_cast<std::size_t>(index)];
        const Value* const type = revenant::find(step.arguments, "x-queue-type");
        step.durable = type != nullptr;
    }
    void declare_exchange(int index) {
        Step& step = add(Do::declare_exchange);
        step.name = "x" + std::to_string(index);
        step.type = one_in(12) ? any(types()) : exchange_types_[static_cast<std::size_t>(index)];
        if (index == 1) step.arguments = engine::arguments({{"alternate-exchange", "x2"}});
    }
    void binding(Do what) {
        Step& step = add(what);
        step.name = one_in(30) ? "" : exchange();
        step.to_exchange = one_in(5);
        step.destination = step.to_exchange ? exchange() : queue();
        step.key = one_in(4) ? any<std::string>({"#", "k.*", "k.#", "*"}) : key();
        if (one_in(3)) {
            step.arguments = engine::arguments({{"a", number_below(2)}});
        } else if (one_in(3)) {
            step.arguments = engine::arguments(
                {{"x-match", any<std::string>({"all-with-x", "any-with-x", "any", "all"})},
                 {"x-first-death-reason",
                  any<std::string>({"expired", "rejected", "maxlen", "delivery_limit"})},
                 {"x-last-death-queue", queue()}});
        }
    }
    void set_policy() {
        const std::uint64_t index = below(3);
        Step& step = add(Do::set_policy);
        step.channel = 0;
        step.scope = one_in(3) ? engine::PolicyScope::operator_only : engine::PolicyScope::user;
        step.name = "p" + std::to_string(index);
        step.policy.name = step.name;
        step.policy.pattern = any<std::string>({"^q[0-2]$", "^q", "q[34]", "1", "^q0$|^q3$", ".*"});
        step.policy.priority = static_cast<std::int64_t>(index + 3 * below(3));
        Table& definition = step.policy.definition;
        step.policy.apply_to =
            any<engine::ApplyTo>({engine::ApplyTo::all, engine::ApplyTo::queues,
                                  engine::ApplyTo::classic_queues, engine::ApplyTo::quorum_queues});
        while (definition.empty()) fill_policy(step);
    }
    void fill_policy(Step& step) {
        Table& definition = step.policy.definition;
        add_common(definition, "", 3);
        if (one_in(3)) {
            add_quorum(definition, "");
            if (one_in(2) && step.scope == engine::PolicyScope::user) {
                definition.push_back({"dead-letter-strategy", Value::string("at-least-once")});
            }
            if (!one_in(4)) step.policy.apply_to = engine::ApplyTo::quorum_queues;
        }
        if (step.scope == engine::PolicyScope::operator_only) return;
        if (one_in(2)) add_dead_letters(definition, "");
        if (one_in(5)) definition.push_back({"ttl-mode", Value::string("head")});
        if (one_in(6)) {
            definition.push_back({"alternate-exchange", Value::string(exchange())});
            step.policy.apply_to = engine::ApplyTo::all;
            step.policy.pattern = any<std::string>({"[qx][0-2]", "x", ".*"});
        }
    }
    void clear_policy() {
        Step& step = add(Do::clear_policy);
        step.channel = 0;
        step.scope = one_in(3) ? engine::PolicyScope::operator_only : engine::PolicyScope::user;
        step.name = "p" + std::to_string(below(3));
    }

    void publish() {
        Step& step = add(Do::publish);
        engine::PublishOptions& options = step.publishing;
        options.exchange = one_in(2) ? "" : exchange();
        step.key = key();
        if (one_in(4)) options.ttl_ms = number_below(4) * 4;
        if (one_in(3)) options.priority = static_cast<std::uint8_t>(below(6) * (one_in(8) ? 9 : 1));
        if (one_in(3)) options.headers = engine::arguments({{"a", number_below(2)}});
        if (one_in(6)) options.cc = {key()};
        if (one_in(6)) options.bcc = {key()};
        options.mandatory = one_in(4);
        options.confirm = one_in(2);
        step.body = std::string(1, static_cast<char>('a' + published_ % 26)) +
                    std::to_string(published_ / 26) + std::string(below(8), '.');
        published_ += 1;
    }
    void settle() {
        Step& step = add(Do::settle);
        step.number = below(1000);
        step.multiple = one_in(4);
        static const std::vector<OutcomeKind> kinds{OutcomeKind::accepted, OutcomeKind::rejected,
                                                    OutcomeKind::rejected, OutcomeKind::released,
                                                    OutcomeKind::released};
        step.outcome = {any(kinds), one_in(2)};
        if (step.outcome.kind == OutcomeKind::accepted) step.outcome.delivery_failed = false;
    }
    void on_queue(Do what) {
        Step& step = add(what);
        step.name = queue();
        step.no_ack = one_in(5);
        step.if_unused = one_in(4);
        step.if_empty = one_in(4);
    }
    void pass_time() {
        Step& step = add(one_in(4) ? Do::let_pass : Do::advance);
        step.by = one_in(2) ? milliseconds(number_below(12)) : microseconds(number_below(9000));
    }

    void command() {
        const std::uint64_t chosen = below(100);
        if (chosen < 32) return publish();
        if (chosen < 46) return pass_time();
        if (chosen < 62) return settle();
        if (chosen < 70) return on_queue(Do::get);
        if (chosen < 77) return on_queue(Do::consume);
        if (chosen < 79) return static_cast<void>(add(Do::cancel).number = below(1000));
        if (chosen < 81) return static_cast<void>(add(Do::qos).number = below(3));
        if (chosen < 82) return static_cast<void>(add(Do::recover));
        if (chosen < 83) return static_cast<void>(add(Do::close));
        if (chosen < 86) return set_policy();
        if (chosen < 88) return clear_policy();
        if (chosen < 91) return declare_queue(number_below(5));
        if (chosen < 92) return declare_exchange(number_below(4));
        if (chosen < 95) return binding(Do::bind);
        if (chosen < 97) return binding(Do::unbind);
        if (chosen < 98) return on_queue(Do::delete_queue);
        if (chosen < 99) return on_queue(Do::purge);
        Step& step = add(Do::delete_exchange);
        step.name = exchange();
        step.if_unused = one_in(3);
    }

    std::mt19937_64 random_;
    std::vector<Table> queue_arguments_;
    std::vector<std::string> exchange_types_;
    History history_;
    std::uint64_t published_ = 0;
};

std::string name_of(Do what) {
    static const char* const names[] = {
        "declare_queue", "declare_exchange", "bind",     "unbind",
        "delete_queue",  "delete_exchange",  "purge",    "publish",
        "get",           "consume",          "cancel",   "qos",
        "settle",        "recover",          "close",    "set_policy",
        "clear_policy",  "advance",          "let_pass",
    };
    return names[static_cast<std::size_t>(what)];
}

std::string describe(const Table& table) {
    std::string all;
    for (const Field& field : table) {
        all += (all.empty() ? "" : " ") + field.name + '=' + display(field.value);
    }
    return '{' + all + '}';
}

std::string list(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) all += ' ' + word;
    return all;
}

std::string details_of_publish(const Step& step) {
    const engine::PublishOptions& options = step.publishing;
    std::string line = " '" + options.exchange + "' '" + step.key + "' " + step.body;
    if (options.ttl_ms) line += " ttl " + std::to_string(*options.ttl_ms);
    if (options.priority) line += " priority " + std::to_string(*options.priority);
    if (!options.cc.empty()) line += " cc" + list(options.cc);
    if (!options.bcc.empty()) line += " bcc" + list(options.bcc);
    if (!options.headers.empty()) line += ' ' + describe(options.headers);
    if (options.mandatory) line += " mandatory";
    if (options.confirm) line += " confirm";
    return line;
}

std::string details_of_settle(const Step& step) {
    static const char* const kinds[] = {"accepted", "rejected", "released"};
    return " #" + std::to_string(step.number) + (step.multiple ? " multiple " : " ") +
           kinds[static_cast<std::size_t>(step.outcome.kind)] +
           (step.outcome.delivery_failed ? " failed" : "");
}

}  // namespace

History make_history(std::uint64_t seed) { return Maker(seed).make(); }

std::string describe(const Step& step) {
    std::string line = "ch" + std::to_string(step.channel) + ' ' + name_of(step.what);
    const auto flag = [&](bool set, const char* name) {
        if (set) line += std::string(" ") + name;
    };
    switch (step.what) {
        case Do::publish:
            return line + details_of_publish(step);
        case Do::settle:
            return line + details_of_settle(step);
        case Do::cancel:
        case Do::qos:
            return line + ' ' + std::to_string(step.number);
        case Do::advance:
        case Do::let_pass:
            return line + ' ' + std::to_string(step.by.us) + " us";
        case Do::set_policy:
            flag(step.scope == engine::PolicyScope::operator_only, "operator");
            return line + ' ' + step.name + " '" + step.policy.pattern + "' " +
                   std::string(to_string(step.policy.apply_to)) + " priority " +
                   std::to_string(step.policy.priority) + ' ' + describe(step.policy.definition);
        case Do::clear_policy:
            flag(step.scope == engine::PolicyScope::operator_only, "operator");
            return line + ' ' + step.name;
        case Do::bind:
        case Do::unbind:
            return line + ' ' + step.name + (step.to_exchange ? " -> exchange " : " -> ") +
                   step.destination + " '" + step.key + "' " + describe(step.arguments);
        case Do::declare_queue:
        case Do::declare_exchange:
            return line + ' ' + step.name + ' ' + step.type + ' ' + describe(step.arguments);
        case Do::delete_queue:
        case Do::delete_exchange:
            flag(step.if_unused, "if-unused");
            flag(step.if_empty, "if-empty");
            return line + ' ' + step.name;
        default:
            flag(step.no_ack, "no-ack");
            return line + ' ' + step.name;
    }
}

}  // namespace revenant::model
