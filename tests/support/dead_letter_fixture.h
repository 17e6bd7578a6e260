// DeadLetterFixture: an engine with one client and queues of one kind, for RabbitMQ's dead-letter
// test cases. Also contains the test suites that several files share.
#pragma once

#include "engine/state/queue.h"
#include "tests/support/scenario.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace revenant::engine {

// The kinds of source queues with which RabbitMQ runs its cases.
enum class Group { classic, quorum, at_least_once };

// Bodies "1", "2" and so on.
std::vector<std::string> numbers(int first, int last);

class DeadLetterFixture {
  protected:
    explicit DeadLetterFixture(Group group) : group_(group), ch(s.open_channel()) {}

    void declare(const char* name, std::initializer_list<Argument> given = {}) {
        Table table = arguments(given);
        const auto add = [&](const Argument& argument) { table.push_back(argument.field); };
        if (group_ != Group::classic) add({"x-queue-type", "quorum"});
        if (group_ == Group::at_least_once) {
            add({"x-dead-letter-strategy", "at-least-once"});
            add({"x-overflow", "reject-publish"});
        }
        ch.declare_queue(name, {.durable = true, .arguments = table});
    }
    // Declares the dead-letter exchange and the dead-letter queue.
    void declare_dlx() {
        ch.declare_exchange("dlx", "direct");
        declare("dead");
        ch.bind("dlx", "dead", "dead");
    }
    void declare_with_grave() {
        declare_dlx();
        declare("q", {{"x-dead-letter-exchange", "dlx"}, {"x-dead-letter-routing-key", "dead"}});
    }
    void declare_with_grave(const Argument& more) {
        declare_dlx();
        declare("q",
                {{"x-dead-letter-exchange", "dlx"}, {"x-dead-letter-routing-key", "dead"}, more});
    }
    void publish(const std::vector<std::string>& bodies, const PublishOptions& options = {}) {
        for (const std::string& body : bodies) ch.publish("q", body, options);
    }
    // Whether the publish is confirmed.
    bool is_taken(const char* body, const char* queue = "q") {
        ch.publish(queue, body, {.confirm = true});
        return ch.take_confirms().at(0).accepted;
    }
    // A quorum queue accepts one message beyond its limit before it refuses (DL-140).
    bool refuses_soon(const char* body) {
        return !is_taken(body) || !is_taken(body) || !is_taken(body);
    }
    // Gets `count` messages and leaves them unsettled.
    std::vector<std::uint64_t> get(int count, const char* queue = "q") {
        std::vector<std::uint64_t> tags;
        for (int i = 0; i < count; ++i) tags.push_back(ch.get(queue)->tag);
        return tags;
    }
    void nack_head(const char* queue = "q") { ch.nack(ch.get(queue)->tag); }
    Delivery take(const char* queue) { return ch.get(queue, /*no_ack=*/true).value(); }
    void set_policy(std::initializer_list<Argument> definition, const char* pattern = "^q$",
                    PolicyScope scope = PolicyScope::user) {
        ch.set_policy({"p", pattern, ApplyTo::queues, 0, arguments(definition)}, scope);
    }

    DeathStrategy strategy() const {
        return group_ == Group::at_least_once ? DeathStrategy::at_least_once
                                              : DeathStrategy::at_most_once;
    }
    std::uint64_t died(DeathReason reason) { return died(reason, strategy()); }
    std::uint64_t died(DeathReason reason, DeathStrategy strategy) {
        const QueueKind kind = group_ == Group::classic ? QueueKind::classic : QueueKind::quorum;
        return s.engine().state().traffic().deaths.of(kind, strategy, reason);
    }
    std::uint64_t confirmed() { return s.engine().state().traffic().dead_letters_confirmed; }
    std::uint64_t waiting() { return s.queue("q").outbox().count; }
    bool is_at_least_once() const { return group_ == Group::at_least_once; }
    bool is_classic() const { return group_ == Group::classic; }

    Group group_;
    Scenario s;
    ScenarioChannel& ch;
};

// Runs with every kind of source queue.
class EveryGroup : public ::testing::TestWithParam<Group>, protected DeadLetterFixture {
  protected:
    EveryGroup() : DeadLetterFixture(GetParam()) {}
};

// Runs with classic and quorum queues, both at-most-once.
class EveryKind : public ::testing::TestWithParam<Group>, protected DeadLetterFixture {
  protected:
    EveryKind() : DeadLetterFixture(GetParam()) {}
};

class ClassicCases : public ::testing::Test, protected DeadLetterFixture {
  protected:
    ClassicCases() : DeadLetterFixture(Group::classic) {}
    void publish_with_priorities(std::initializer_list<int> priorities) {
        for (const int priority : priorities) {
            ch.publish("q", std::to_string(priority),
                       {.priority = static_cast<std::uint8_t>(priority)});
        }
    }
};

class QuorumCases : public ::testing::Test, protected DeadLetterFixture {
  protected:
    QuorumCases() : DeadLetterFixture(Group::quorum) {}

    // A consumer with this prefetch receives what it can and is lost with its connection.
    std::vector<std::string> crash(std::uint16_t prefetch = 0) {
        const ConnectionId connection = s.connect();
        ScenarioChannel& lost = s.open_channel(connection);
        lost.qos(prefetch);
        lost.consume("q");
        auto bodies = lost.take_bodies();
        s.close(connection);
        return bodies;
    }
    // The number of failures up to and including the one that exceeds the limit.
    int failures_until_death() {
        publish({"m"});
        int failures = 0;
        while (s.queue("q").ready_count() > 0 && failures < 100) {
            ch.fail(get(1).front());
            ++failures;
        }
        return failures;
    }
};

}  // namespace revenant::engine
