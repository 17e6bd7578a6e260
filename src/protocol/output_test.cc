#include "protocol/output.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
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
            if (random() % 5 == 0) {
                const auto common = std::make_shared<const std::string>("common to many " + text);
                output.append_common(common, *common);
                expected += *common;
            } else if (random() % 3 == 0) {
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

TEST(Output, LetsGoOfWhatIsWhollySent) {
    Output output;
    auto first = std::make_shared<const std::string>("first");
    auto second = std::make_shared<const std::string>("second");
    const std::weak_ptr<const std::string> watched_first = first;
    const std::weak_ptr<const std::string> watched_second = second;
    output.buffer().append("ab");
    output.append_common(first, *first);
    output.buffer().append("cd");
    output.append_common(second, *second);
    first.reset();
    second.reset();
    output.consume(6);
    EXPECT_EQ(unsent(output), "tcdsecond");
    EXPECT_FALSE(watched_first.expired());
    output.consume(1);
    EXPECT_EQ(unsent(output), "cdsecond");
    EXPECT_TRUE(watched_first.expired());
    output.consume(7);
    EXPECT_EQ(unsent(output), "d");
    EXPECT_FALSE(watched_second.expired());
    output.consume(1);
    EXPECT_TRUE(output.empty());
    EXPECT_TRUE(watched_second.expired());
}

// Sent bytes are removed from the buffer even if the peer never takes all of it.
TEST(Output, DoesNotGrowWhileAsMuchIsSentAsIsSaid) {
    Output output;
    std::string expected;
    for (int step = 0; step < 1000; ++step) {
        const auto common = std::make_shared<const std::string>(100, 'c');
        const std::string text(1000, static_cast<char>('a' + step % 26));
        output.buffer().append(text);
        output.append_common(common, *common);
        expected += text + *common;
        if (step == 0) continue;
        output.consume(1100);
        expected.erase(0, 1100);
        ASSERT_EQ(unsent(output), expected);
        ASSERT_LT(output.buffer().size(), 10'000U);
    }
}

}  // namespace
}  // namespace revenant::protocol
