// Routing: exchange, keys and headers to queues.
#pragma once

#include "engine/state/state.h"
#include "message/death.h"
#include "message/message.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::engine {

// The parts of a message that routing uses.
class RoutingInput {
  public:
    // A message as its client published it: its routing key, then CC, then BCC (DL-61).
    explicit RoutingInput(const Message& message);
    // A message that the broker sends on: with the keys and, for a headers exchange, the death
    // annotations of its envelope (DL-52).
    RoutingInput(const Message& message, const Envelope& envelope, const State& state);

    std::span<const std::string_view> keys() const { return keys_; }
    // Without the message's own headers if it cannot be read.
    const Table& headers() const;
    std::string property(std::string_view name) const;
    // Why the message could not be read, if that was tried.
    const std::string& unreadable() const { return unreadable_; }

  private:
    // With properties and body; nullptr if they cannot be read.
    const Message* whole() const;

    const Message& message_;
    const Envelope* envelope_ = nullptr;
    const State* state_ = nullptr;  // set if the message may be a stub
    mutable MessageRef whole_;
    mutable std::string unreadable_;
    std::vector<std::string_view> keys_;
    mutable std::optional<Table> headers_;
};

struct RoutingResult {
    std::vector<Queue*> queues;  // each once
    bool by_key_only = true;     // no exchange on the path used more than the key
};

// Follows exchange-to-exchange bindings and alternate exchanges; visits every exchange once.
void route(State& state, Exchange& exchange, const RoutingInput& input, RoutingResult& result);

}  // namespace revenant::engine
