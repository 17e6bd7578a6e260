// FuzzedConnections: two clients whose words a fuzzer chooses, and what must hold whatever they
// are: the engine stays sound, the clients get well-formed frames only, and how the bytes were cut
// makes no difference. Each protocol brings its vocabulary.
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

// Takes the input apart; yields zeros when it is used up.
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
    // Not so many that deliveries pause, because when they go on depends on how the bytes were cut.
    bool take_large_body() { return large_bodies_ > 0 && large_bodies_-- > 0; }
    template <typename Choices>
    auto one_of(const Choices& choices) {
        return choices[octet() % std::size(choices)];
    }

  private:
    std::string_view bytes_;
    int large_bodies_ = 8;
};

// Time, alarms, letters that arrive late, a client that does not read or is gone.
void add_world_step(FuzzInput& input, std::vector<Step>& steps);

// What a protocol brings along.
struct FuzzedProtocol {
    Protocol protocol;
    // Before anybody connects.
    void (*prepare)(World& world);
    // What the client of this wire says first, to cut which would take most of the time: inputs
    // that bring a handshake of their own have it cut.
    std::string (*handshake)(std::size_t wire);
    // At most this many steps, until the input is used up.
    std::vector<Step> (*script)(FuzzInput& input, std::size_t steps_max);
    // Whether the answers may depend on how the bytes were cut.
    bool (*cut_matters)(const std::vector<Step>& steps);
    // Of tests/support/frame_reader.h or frame_reader10.h.
    std::vector<std::string> (*transcript)(std::string_view received);
    std::string (*difference)(std::string_view received, std::string_view wanted);
};

// Aborts if anything of it does not hold.
void fuzz_connections(const FuzzedProtocol& fuzzed, std::string_view bytes);

}  // namespace revenant::protocol
