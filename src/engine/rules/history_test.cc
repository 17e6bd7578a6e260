// Random histories: clients send arbitrary commands in arbitrary order, and the scenario checks the
// invariants after every few commands. A failure prints its seed, which reproduces it.

#include "base/probe.h"
#include "tests/support/scenario.h"
#include "tests/support/seeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::engine {
namespace {

class History {
  public:
    explicit History(std::uint64_t seed, Portion::Size portion = {})
        : seed_(seed), random_(seed), scenario_(EngineSettings{.portion = portion}) {
        for (int i = 0; i < 2; ++i) connections_.push_back(scenario_.connect());
        for (int i = 0; i < 4; ++i)
            clients_.emplace_back(&scenario_.open_channel(any(connections_)));
        for (const Action action :
             {&History::declare_queue, &History::declare_exchange, &History::bind}) {
            for (int i = 0; i < 6; ++i) {
                (this->*action)();
                gather();
            }
        }
    }

    void run(int commands) {
        for (int i = 0; i < commands && !::testing::Test::HasFailure(); ++i) {
            step();
            if (i % 20 == 19) {
                scenario_.advance({0});
                gather();
                scenario_.check();
            }
        }
        scenario_.advance({0});
        gather();
        scenario_.finish();
    }

  private:
    struct Client {
        explicit Client(ScenarioChannel* opened) : channel(opened) {}
        ScenarioChannel* channel;
        std::vector<std::uint64_t> tags;  // possibly unsettled
        std::vector<std::uint32_t> consumers;
    };
    using Action = void (History::*)();
    struct Weighted {
        int weight;
        Action action;
    };

    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    bool one_in(std::uint64_t chances) { return below(chances) == 0; }
    template <typename T>
    const T& any(const std::vector<T>& choices) {
        return choices[below(choices.size())];
    }
    std::string queue() { return "q" + std::to_string(below(6)); }
    std::string exchange() {
        static const std::vector<std::string> names{
            "", "", "x0", "x1", "x2", "amq.fanout", "amq.topic", "amq.headers", "hash"};
        return any(names);
    }
    std::string key() { return one_in(4) ? "k." + std::to_string(below(3)) : queue(); }
    ScenarioChannel& channel() { return *clients_[current_].channel; }

    void step() {
        static const std::vector<Weighted> actions{
            {30, &History::publish},
            {12, &History::get},
            {16, &History::settle},
            {6, &History::consume},
            {4, &History::cancel},
            {6, &History::set_credit},
            {10, &History::pass_time},
            {3, &History::declare_queue},
            {2, &History::declare_exchange},
            {4, &History::bind},
            {2, &History::unbind},
            {1, &History::delete_queue},
            {1, &History::delete_exchange},
            {1, &History::purge},
            {2, &History::qos},
            {2, &History::recover},
            {1, &History::select},
            {3, &History::commit},
            {1, &History::rollback},
            {1, &History::close_channel},
            {1, &History::close_connection},
            {3, &History::fill_connection},
            {4, &History::resume_connection},
            {1, &History::consume_replies},
            {2, &History::set_policy},
            {2, &History::clear_policy},
            {1, &History::change_compatibility},
        };
        static const int total = [] {
            int sum = 0;
            for (const Weighted& one : actions) sum += one.weight;
            return sum;
        }();
        current_ = below(clients_.size());
        auto chosen = static_cast<int>(below(total));
        for (const Weighted& one : actions) {
            chosen -= one.weight;
            if (chosen >= 0) continue;
            (this->*one.action)();
            break;
        }
        gather();
    }

    // The deliveries determine which commands are possible next.
    void gather() {
        for (Client& client : clients_) {
            for (const Delivery& delivery : client.channel->take_deliveries()) {
                client.tags.push_back(delivery.tag);
            }
            client.channel->take_transcript();
            client.channel->take_confirms();
            client.channel->take_returns();
            client.channel->take_cancelled();
            client.channel->take_timed_out();
            client.channel->take_credit_states();
            client.channel->take_publish_refusals();
            client.channel->take_refusal();
            if (client.channel->is_open()) continue;
            client.tags.clear();
            client.consumers.clear();
        }
    }

    bool is_quorum(const std::string& name) const {
        return (seed_ + static_cast<unsigned char>(name.back())) % 3 == 0;
    }

    // In some histories the classic queues are usually full and dead-letter what they refuse:
    // otherwise a dead letter rarely meets two of them.
    bool is_crowded() const { return seed_ % 16 == 0; }

    // A name usually has the same arguments, so that redeclaring usually succeeds.
    Table arguments_of(const std::string& name) {
        std::mt19937_64 fixed(seed_ * 1000 + static_cast<unsigned char>(name.back()) +
                              (one_in(8) ? 100 + below(100) : 0));
        const auto chance = [&](std::uint64_t in) { return fixed() % in == 0; };
        Table table;
        const auto add = [&](const char* argument, Value value) {
            table.push_back({argument, std::move(value)});
        };
        if (chance(3)) add("x-message-ttl", Value::int32(static_cast<int>(fixed() % 5) * 20));
        if (chance(3)) add("x-max-length", Value::int32(static_cast<int>(fixed() % 4)));
        if (chance(4)) add("x-max-length-bytes", Value::int32(static_cast<int>(fixed() % 12)));
        if (chance(6)) add("x-expires", Value::int32(100 + static_cast<int>(fixed() % 400)));
        if (is_quorum(name)) {
            add("x-queue-type", Value::string("quorum"));
            if (chance(3)) add("x-delivery-limit", Value::int32(static_cast<int>(fixed() % 4) - 1));
            if (chance(3)) add("x-dead-letter-strategy", Value::string("at-least-once"));
            if (chance(3)) {
                static const char* const types[] = {"all", "failed", "returned"};
                add("x-delayed-retry-type", Value::string(types[fixed() % 3]));
                add("x-delayed-retry-min", Value::int32(1 + static_cast<int>(fixed() % 40)));
                add("x-delayed-retry-max", Value::int32(1 + static_cast<int>(fixed() % 80)));
            }
        } else if (chance(4)) {
            add("x-max-priority", Value::int32(static_cast<int>(fixed() % 4)));
        }
        if (chance(5)) add("x-single-active-consumer", Value::boolean(true));
        if (is_crowded() && !is_quorum(name)) {
            if (!find(table, "x-max-length")) add("x-max-length", Value::int32(1));
            add("x-overflow", Value::string("reject-publish-dlx"));
        } else if (chance(2)) {
            static const char* const modes[] = {"drop-head", "reject-publish",
                                                "reject-publish-dlx"};
            add("x-overflow", Value::string(modes[fixed() % 3]));
        }
        if (!chance(3)) {
            static const char* const exchanges[] = {"", "", "x0", "amq.fanout", "missing"};
            add("x-dead-letter-exchange", Value::string(exchanges[fixed() % 5]));
            if (!chance(3)) {
                add("x-dead-letter-routing-key", Value::string("q" + std::to_string(fixed() % 6)));
            }
        }
        if (is_quorum(name) && chance(4)) {
            add("x-consumer-timeout", Value::int32(static_cast<int>(fixed() % 200)));
        }
        return table;
    }

    void declare_queue() {
        const std::string name = queue();
        const bool quorum = is_quorum(name);
        channel().declare_queue(name, QueueOptions{.passive = one_in(6),
                                                   .durable = quorum,
                                                   .exclusive = one_in(12) && !quorum,
                                                   .auto_delete = one_in(8) && !quorum,
                                                   .arguments = arguments_of(name)});
    }
    Table policy_definition(PolicyScope scope) {
        Table table;
        const auto add = [&](const char* key, Value value) {
            table.push_back({key, std::move(value)});
        };
        if (one_in(3)) add("message-ttl", Value::int64(static_cast<std::int64_t>(below(50))));
        if (one_in(3)) add("max-length", Value::int64(static_cast<std::int64_t>(below(4))));
        if (one_in(5)) add("expires", Value::int64(50 + static_cast<std::int64_t>(below(200))));
        if (one_in(4)) add("overflow", Value::string(one_in(2) ? "reject-publish" : "drop-head"));
        if (one_in(4)) add("delivery-limit", Value::int64(static_cast<std::int64_t>(below(4)) - 1));
        if (scope == PolicyScope::operator_only) return table;
        if (one_in(2)) add("dead-letter-exchange", Value::string(exchange()));
        if (one_in(3)) add("dead-letter-routing-key", Value::string(queue()));
        if (one_in(5)) add("dead-letter-strategy", Value::string("at-least-once"));
        if (one_in(6)) add("ttl-mode", Value::string("head"));
        if (one_in(8)) add("consumer-timeout", Value::int64(static_cast<int>(below(100))));
        if (one_in(6)) add("alternate-exchange", Value::string(exchange()));
        return table;
    }
    void set_policy() {
        const PolicyScope scope = one_in(4) ? PolicyScope::operator_only : PolicyScope::user;
        static const std::vector<std::string> patterns{".*", "^q", "q[0-2]$", "^x", "3"};
        channel().set_policy({"p" + std::to_string(below(3)), any(patterns), ApplyTo::all,
                              static_cast<std::int64_t>(below(3)), policy_definition(scope)},
                             scope);
    }
    void clear_policy() {
        channel().clear_policy("p" + std::to_string(below(3)),
                               one_in(4) ? PolicyScope::operator_only : PolicyScope::user);
    }
    void change_compatibility() {
        scenario_.be_compatible_with(one_in(3) ? Compatibility::v3_12 : Compatibility::v4_3);
    }
    void declare_exchange() {
        static const std::vector<std::string> types{"direct", "fanout", "topic", "headers"};
        if (one_in(4)) {
            channel().declare_exchange("hash", "x-consistent-hash");
            return;
        }
        Table table;
        if (one_in(3)) table = arguments({{"alternate-exchange", exchange()}});
        channel().declare_exchange("x" + std::to_string(below(3)), any(types),
                                   {.auto_delete = one_in(3), .arguments = table});
    }
    struct Ends {
        std::string source;
        std::string destination;
        std::string key;
        BindOptions options;
    };
    Ends ends() {
        Ends made{exchange(), "", one_in(3) ? "#" : key(), {}};
        if (made.source == "hash") made.key = std::to_string(1 + below(5));
        if (made.source == "amq.headers")
            made.options.arguments = arguments({{"a", int(below(3))}});
        if (one_in(4)) made.options.to = DestinationKind::exchange;
        made.destination =
            made.options.to == DestinationKind::exchange ? "x" + std::to_string(below(3)) : queue();
        return made;
    }
    void bind() {
        Ends made = ends();
        channel().bind(made.source, made.destination, made.key, made.options);
    }
    void unbind() {
        Ends made = ends();
        channel().unbind(made.source, made.destination, made.key, made.options);
    }
    void delete_queue() {
        const std::string name = queue();
        const bool quorum = is_quorum(name);
        channel().delete_queue(name, one_in(3) && !quorum, one_in(3) && !quorum);
    }
    void delete_exchange() { channel().delete_exchange(exchange(), one_in(3)); }
    void purge() { channel().purge(queue()); }

    void publish() {
        PublishOptions options{.exchange = exchange()};
        if (one_in(4)) options.ttl_ms = below(5) * 15;
        if (one_in(3)) options.priority = static_cast<std::uint8_t>(below(5));
        if (one_in(3)) options.headers = arguments({{"a", int(below(3))}});
        if (one_in(8)) options.cc = {key()};
        if (one_in(8)) options.bcc = {key()};
        options.mandatory = one_in(4);
        options.confirm = !channel().is_transactional() && one_in(2);
        options.single_outcome = !channel().is_transactional() && one_in(5);
        const std::string body = std::to_string(++published_) + std::string(below(6), '.');
        if (one_in(15)) {
            options.exchange = "";
            channel().publish("amq.rabbitmq.reply-to." + std::to_string(below(4)), body, options);
        } else {
            channel().publish(key(), body, options);
        }
    }
    void get() {
        if (const auto got = channel().get(queue(), one_in(5))) {
            clients_[current_].tags.push_back(got->tag);
        }
    }
    void settle() {
        static const std::vector<OutcomeKind> kinds{OutcomeKind::accepted, OutcomeKind::rejected,
                                                    OutcomeKind::rejected, OutcomeKind::released};
        const auto& tags = clients_[current_].tags;
        const Outcome outcome{any(kinds), one_in(2)};
        if (tags.empty() || one_in(12)) {
            channel().settle(0, outcome, true);
            return;
        }
        // Usually a recent one: old ones are settled already, and settling them again closes the
        // channel.
        const std::uint64_t tag =
            one_in(20) ? any(tags)
                       : tags[tags.size() - 1 - below(std::min<std::size_t>(tags.size(), 3))];
        if (one_in(6) && !channel().is_transactional()) {
            channel().settle(tag, outcome, some_details());
        } else {
            channel().settle(tag, outcome, one_in(3));
        }
        if (!one_in(10)) std::erase(clients_[current_].tags, tag);
    }
    OutcomeDetails some_details() {
        OutcomeDetails details;
        if (one_in(2)) details.error = DeathError{"app:" + std::to_string(below(3)), "why"};
        if (one_in(3)) {
            const auto ms = static_cast<std::int64_t>(below(100)) - 20;
            details.delivery_time = scenario_.now() + milliseconds(ms);
        }
        while (one_in(2)) {
            details.annotations.push_back({"x-" + std::to_string(below(4)),
                                           std::string(below(20), 'v'),
                                           Value::string(std::to_string(below(3)))});
        }
        return details;
    }
    void recover() { channel().recover(); }
    void set_credit() {
        const auto& consumers = clients_[current_].consumers;
        if (consumers.empty() || !channel().is_open()) return;
        channel().set_credit(any(consumers), below(published_ + 3),
                             {.drain = one_in(3), .echo = one_in(4)});
    }
    void consume() {
        ConsumeOptions options{
            .no_ack = one_in(4), .exclusive = one_in(10), .uses_credit = one_in(3)};
        if (one_in(3)) options.arguments = arguments({{"x-priority", int(below(4))}});
        static const std::vector<TimeoutAction> consequences{TimeoutAction::channel_closed,
                                                             TimeoutAction::consumer_cancelled,
                                                             TimeoutAction::consumer_suspended};
        options.on_timeout = any(consequences);
        clients_[current_].consumers.push_back(channel().consume(queue(), options));
    }
    void consume_replies() {
        clients_[current_].consumers.push_back(channel().consume(
            "amq.rabbitmq.reply-to",
            {.no_ack = true, .reply_name = "amq.rabbitmq.reply-to." + std::to_string(below(4))}));
    }
    void cancel() {
        auto& consumers = clients_[current_].consumers;
        if (consumers.empty()) return;
        const std::uint32_t consumer = any(consumers);
        std::erase(consumers, consumer);
        channel().cancel(consumer);
    }
    void qos() { channel().qos(static_cast<std::uint16_t>(below(4)), one_in(2)); }
    void select() { channel().select(); }
    void commit() {
        if (channel().is_transactional()) channel().commit();
    }
    void rollback() {
        if (channel().is_transactional()) channel().rollback();
    }
    void close_channel() { one_in(2) ? channel().close() : channel().detach(); }
    void close_connection() {
        const ConnectionId leaving = channel().connection();
        if (connections_.size() < 2) return;
        std::erase(connections_, leaving);
        scenario_.close(leaving);
        connections_.push_back(scenario_.connect());
        for (Client& client : clients_) {
            if (client.channel->connection() != leaving) continue;
            client = Client(&scenario_.open_channel(any(connections_)));
        }
    }
    void fill_connection() { scenario_.take_only(any(connections_), 1 + below(4)); }
    void resume_connection() { scenario_.resume(any(connections_)); }
    void pass_time() {
        const Duration by = milliseconds(static_cast<std::int64_t>(below(60)));
        if (one_in(4)) {
            scenario_.let_pass(by);
            scenario_.advance({0});
        } else {
            scenario_.advance(by);
        }
    }

    std::uint64_t seed_;
    std::mt19937_64 random_;
    Scenario scenario_;
    std::vector<ConnectionId> connections_;
    std::vector<Client> clients_;
    std::size_t current_ = 0;
    std::uint64_t published_ = 0;
};

// True on success.
bool run_histories(std::uint64_t first_seed, std::uint64_t last_seed, int commands,
                   Portion::Size portion = {}) {
    SeedWatch watch("history");
    for (std::uint64_t seed = first_seed; seed <= last_seed; ++seed) {
        watch.begin(seed);
        History(seed, portion).run(commands);
        if (!::testing::Test::HasFailure()) continue;
        ADD_FAILURE() << "seed " << seed;
        break;
    }
    return !::testing::Test::HasFailure();
}

TEST(RandomHistory, ShortOnesKeepEveryPromise) { run_histories(1, 2000, 40); }

TEST(RandomHistory, LongOnesKeepEveryPromise) { run_histories(10'001, 10'020, 1500); }

// Nearly all work is left for later Ticks and can be interrupted by any command.
TEST(RandomHistory, InSmallPortionsTheyKeepThemAsWell) {
    run_histories(30'001, 31'000, 60, {.steps = 1});
    run_histories(31'001, 32'000, 60, {.steps = 3});
    run_histories(32'001, 32'500, 150, {.steps = 8, .bytes = 500});
    const std::vector<std::string_view> rare{"closing.in_portions",      "expiry.in_portions",
                                             "expiry.heads_in_portions", "overflow.in_portions",
                                             "settle.in_portions",       "worklist.left"};
    EXPECT_THAT(Probe::reached(), ::testing::IsSupersetOf(rare));
}

TEST(Probes, EveryRareBranchOfTheEngineIsReached) {
    ASSERT_TRUE(run_histories(20'001, 20'800, 200));
    const std::vector<std::string_view> rare{
        "consumer_timeout.cancelled",
        "consumer_timeout.suspended",
        "consumers.auto_delete_queue",
        "credit.drain_waits_for_socket",
        "dead_letter.cycle",
        "dead_letter.dlx_missing",
        "dead_letter.refused_again",
        "expiry.queue",
        "expiry.while_delayed",
        "outbox.letter_kept",
        "outbox.room_again",
        "overflow.quorum_resumes",
        "overflow.serve_before_refusing",
        "returning.delayed",
        "returning.delivery_limit",
        "returning.too_late",
        "settle.too_late",
        "topology.auto_delete_exchange",
    };
    EXPECT_THAT(Probe::reached(), ::testing::IsSupersetOf(rare));
}

}  // namespace
}  // namespace revenant::engine
