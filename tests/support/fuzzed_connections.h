// FuzzedConnections: two clients whose input a fuzzer chooses, and checks of the invariants: the
// engine stays consistent, the clients receive only well-formed frames, and the way the bytes are
// split makes no difference. Each protocol provides its vocabulary.
//
// The first octet of the input chooses: near or far, with or without a handshake, raw bytes or a
// script.
#pragma once

#include "tests/support/world.h"

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::protocol {

// Reads values from the input; returns zeros when it is used up.
class FuzzInput {
  public:
    explicit FuzzInput(std::string_view bytes) : bytes_(bytes) {}
    bool empty() const { return bytes_.empty(); }
    std::uint8_t octet() {
        if (bytes_.empty()) return 0;
        const auto first = static_cast<std::uint8_t>(bytes_.front());
        bytes_.remove_prefix(1);
        return first;
    }
    bool flag() { return octet() % 2 == 1; }
    std::string_view take(std::size_t size) {
        const std::string_view taken = bytes_.substr(0, size);
        bytes_.remove_prefix(taken.size());
        return taken;
    }
    std::string_view rest() { return take(bytes_.size()); }
    // Limited so that deliveries do not pause, because the time of resuming depends on how bytes
    // are split.
    bool take_large_body() { return large_bodies_ > 0 && large_bodies_-- > 0; }
    template <typename Choices>
    auto one_of(const Choices& choices) {
        return choices[octet() % std::size(choices)];
    }

  private:
    std::string_view bytes_;
    int large_bodies_ = 8;
};

// Time, alarms, mailbox items that arrive late, clients that do not read or have disconnected.
void add_world_step(FuzzInput& input, std::vector<Step>& steps);

// The protocol-specific part of the fuzzer.
struct FuzzedProtocol {
    Protocol protocol;
    // Called before any client connects.
    void (*prepare)(World& world);
    // The handshake of this wire's client. It is not split, which would take most of the time;
    // inputs that contain their own handshake have it split.
    std::string (*handshake)(std::size_t wire);
    // At most this many steps, until the input is used up.
    std::vector<Step> (*script)(FuzzInput& input, std::size_t steps_max);
    // Whether the replies may depend on how the bytes are split.
    bool (*cut_matters)(const std::vector<Step>& steps);
    // From tests/support/frame_reader.h or frame_reader10.h.
    std::vector<std::string> (*transcript)(std::string_view received);
    std::string (*difference)(std::string_view received, std::string_view wanted);
};

// Aborts if an invariant is violated.
void fuzz_connections(const FuzzedProtocol& fuzzed, std::string_view bytes);

}  // namespace revenant::protocol
