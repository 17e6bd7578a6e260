// The command line of the load programs: a case, then --name value pairs.
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
    std::string data_dir;  // of the broker; never written to
    std::string queue = "bench.queue.0";
    Protocol protocol = Protocol::amqp091;

    uint64_t messages = 100'000;
    uint64_t body_bytes = 100;
    uint64_t publishers = 1;
    uint64_t window = 1000;       // unconfirmed messages per publisher
    uint64_t prefetch = 1000;     // per consumer; credit in AMQP 1.0
    bool confirms = false;        // through: wait for confirms, with --window
    uint64_t settle_every = 100;  // deliveries per ack or nack
    uint64_t in_flight = 20'000;  // published but not delivered, if both happen concurrently
    bool persistent = false;
    bool keep = false;  // do not delete the queues

    uint64_t rate = 2000;  // latency: messages per second
    uint64_t seconds = 4;
    std::string via = "direct";  // path of a message: direct, ttl, reject and others

    uint64_t connections = 1000;  // load_connections: simultaneous connections

    uint64_t ttl_ms = 1;
    std::string deadline =
        "queue";  // expire: by the queue's TTL, or at one `common` time for all messages
    uint64_t hops = 5;
    uint64_t retries = 3;
    bool quorum = false;   // drain: use quorum queues
    bool as_long = false;  // drain: also a live backlog of the same size on the wire
    uint64_t headers = 0;  // headers per message; AMQP 0-9-1 only

    uint64_t letters = 1000;       // letters: number of --messages that are rejected and stay,
    uint64_t letter_bytes = 1024;  // with bodies of this size
    uint64_t started_ns = 0;       // recovered: start time of the broker's process

    uint64_t all_body_bytes() const { return messages * body_bytes; }
    Durability durability() const {
        return persistent ? Durability::durable : Durability::transient;
    }
};

// Throws Failure on unknown options.
Options parse_options(const std::vector<std::string>& arguments);

}  // namespace bench
