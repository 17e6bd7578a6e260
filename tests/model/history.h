// A history: a random sequence of commands to a small broker with many conflicts. It is data, so
// that it can be run on the engine, run on the model, printed and reduced.
#pragma once

#include "base/time.h"
#include "engine/words/command.h"
#include "tests/support/scenario.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace revenant::model {

enum class Do {
    declare_queue,
    declare_exchange,
    bind,
    unbind,
    delete_queue,
    delete_exchange,
    purge,
    publish,
    get,
    consume,
    cancel,
    qos,
    settle,
    recover,
    close,
    set_policy,
    clear_policy,
    advance,
    let_pass,
};

struct Step {
    Do what = Do::advance;
    std::size_t channel = 0;
    std::string name;         // of a queue, exchange or policy; the source of a binding
    std::string destination;  // of a binding
    std::string key;
    std::string type;  // of an exchange
    std::string body;
    Table arguments;
    bool to_exchange = false;
    bool durable = false;
    bool no_ack = false;
    bool multiple = false;
    bool if_unused = false;
    bool if_empty = false;
    // A prefetch. For settle and cancel, first a random value, then the tag or consumer it
    // selected.
    std::uint64_t number = 0;
    engine::PublishOptions publishing;
    engine::Outcome outcome;
    engine::Policy policy;
    engine::PolicyScope scope = engine::PolicyScope::user;
    Duration by;
};
using History = std::vector<Step>;

constexpr std::size_t history_channels = 3;

History make_history(std::uint64_t seed);
std::string describe(const Step& step);

}  // namespace revenant::model
