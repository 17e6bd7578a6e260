#include "protocol/output.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

namespace revenant::protocol {
namespace {

std::string unsent(const Output& output) {
    std::array<std::string_view, 256> parts;
    std::string bytes;
    for (std::size_t i = 0, count = output.gather(parts); i < count; ++i) bytes += parts[i];
    return bytes;
}

TEST(Output, SaysEverythingInOrderHoweverLittleIsSentAtATime) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        std::mt19937 random(seed);
        const MessageRef message = make_message("", "", "", "the body of a message", {});
        Output output;
        std::string expected;
        for (int step = 0; step < 100; ++step) {
            const std::string text = std::to_string(random());
            if (random() % 3 == 0) {
                output.append_shared(message, message->body());
                expected += message->body();
            } else {
                text.copy(output.extend(text.size()), text.size());
                expected += text;
            }
            if (random() % 2 == 0) continue;
            const std::size_t count = random() % (expected.size() + 1);
            output.consume(count);
            expected.erase(0, count);
            ASSERT_EQ(output.unsent_bytes(), expected.size());
            ASSERT_EQ(unsent(output), expected) << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace revenant::protocol
