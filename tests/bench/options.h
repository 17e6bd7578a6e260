// The command line of the load programs: a word, then --name value pairs.
#pragma once

#include "session.h"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace bench {

enum class Protocol { amqp091, amqp10 };

struct Options {
    std::string case_name;
    Endpoint endpoint;
    pid_t broker = 0;
    std::string data_dir;  // Of the broker; looked at, never written to.
    std::string queue = "bench.queue.0";
    Protocol protocol = Protocol::amqp091;

    uint64_t messages = 100'000;
    uint64_t body_bytes = 100;
    uint64_t publishers = 1;
    uint64_t window = 1000;       // Unconfirmed messages per publisher.
    uint64_t prefetch = 1000;     // Of each consumer; its credit over AMQP 1.0.
    bool confirms = false;        // through: the publisher waits for them, --window open.
    uint64_t settle_every = 100;  // One ack or nack for so many deliveries.
    uint64_t in_flight = 20'000;  // Published and not yet delivered, where both happen at once.
    bool persistent = false;
    bool keep = false;  // Leave the queues behind.

    uint64_t rate = 2000;  // Messages per second of the latency case.
    uint64_t seconds = 4;
    std::string via = "direct";  // The way of a message: direct, ttl, reject and the like.

    uint64_t connections = 1000;  // load_connections: how many are open at the same time.

    uint64_t ttl_ms = 1;
    std::string deadline =
        "queue";  // expire: from the queue's TTL, or one `common` moment for all messages.
    uint64_t hops = 5;
    uint64_t retries = 3;
    bool quorum = false;   // drain: both queues that are emptied are quorum queues.
    bool as_long = false;  // drain: also a live backlog that is as long on the wire.
    uint64_t headers = 0;  // Of the publisher, in every message; over AMQP 0-9-1 only.

    uint64_t letters = 1000;       // letters: so many of --messages are rejected and stay,
    uint64_t letter_bytes = 1024;  // with bodies of this size.
    uint64_t started_ns = 0;       // recovered: when the broker's process was started.

    uint64_t all_body_bytes() const { return messages * body_bytes; }
    Durability durability() const {
        return persistent ? Durability::durable : Durability::transient;
    }
};

// Throws Failure on anything it does not know.
Options parse_options(const std::vector<std::string>& arguments);

}  // namespace bench
