// A scenario about dead letters, and the arguments of its queues.
#pragma once

#include "message/death.h"
#include "message/value.h"
#include "tests/support/scenario.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace revenant::engine {

// Arguments of a queue that dead-letters to a queue or through an exchange.
inline Table dead_to(const char* queue, std::initializer_list<Argument> more = {}) {
    Table table = arguments(more);
    table.push_back({"x-dead-letter-exchange", Value::string("")});
    table.push_back({"x-dead-letter-routing-key", Value::string(queue)});
    return table;
}
inline Table dead_through(const char* exchange, std::initializer_list<Argument> more = {}) {
    Table table = arguments(more);
    table.push_back({"x-dead-letter-exchange", Value::string(exchange)});
    return table;
}

struct Cemetery {
    void declare(const char* queue, Table given = {}) {
        ch.declare_queue(queue, QueueOptions{.arguments = std::move(given)});
    }
    void reject_head(const char* queue) { ch.nack(ch.get(queue)->tag); }
    Delivery take(const char* queue) {
        auto got = ch.get(queue, /*no_ack=*/true);
        EXPECT_TRUE(got) << queue << " is empty";
        return got ? *got : Delivery{0, 0, false, 0, make_test_message("", "nothing"), {}};
    }
    const Death& death(const Delivery& delivery) {
        return delivery.envelope->history.deaths.front();
    }

    Scenario s;
    ScenarioChannel& ch = s.open_channel();
};

}  // namespace revenant::engine
