// Checks that the code writes and reads the example in docs/formats/journal.md.

#include "amqp091/message/properties.h"
#include "engine/codec/event_codec.h"
#include "engine/codec/message_codec.h"
#include "tests/golden/golden_properties.h"
#include "tests/support/folder.h"
#include "tests/support/hex.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <variant>
#include <vector>

namespace revenant::golden {
namespace {

bool is_hex_pair(const std::string& word) {
    return word.size() == 2 && word.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// The pairs of digits at the start of each line of the last code block; the rest explains them.
std::string example_bytes() {
    const std::string document =
        file_contents(std::string(REVENANT_SOURCE_DIR) + "/docs/formats/journal.md");
    std::istringstream lines(document.substr(document.find("\n## Example\n")));
    std::string bytes;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("    ")) continue;
        std::istringstream words(line);
        for (std::string word; words >> word && is_hex_pair(word);) bytes += from_hex(word);
    }
    return bytes;
}

MessageRef example_message() {
    const std::string properties = persistent();
    auto read = amqp091::read_published(properties, "").value();
    return make_message("", "q", properties, "hi", std::move(read.head));
}

TEST(DocumentedExample, IsWhatIsWritten) {
    std::string record(1, static_cast<char>(engine::RecordKind::events));
    engine::EventWriter writer;
    writer.write({record, {1}, {0}},
                 engine::Enqueued{example_message(), {{1}, engine::Position::of(0, 0), never}});
    EXPECT_EQ(record, example_bytes());
}

TEST(DocumentedExample, IsRead) {
    const std::string bytes = example_bytes();
    ASSERT_GT(bytes.size(), 2U);
    ASSERT_EQ(bytes.front(), static_cast<char>(engine::RecordKind::events));
    const engine::MessageFormats formats{&amqp091::message_format()};
    engine::EventReader reader(formats, [](Lsn) { return MessageRef{}; });
    std::vector<engine::Event> facts;
    ASSERT_TRUE(reader.read(std::string_view(bytes).substr(1), {1}, {0}, facts));
    ASSERT_EQ(facts.size(), 1U);
    const auto* const fact = std::get_if<engine::Enqueued>(&facts.front());
    ASSERT_NE(fact, nullptr);
    EXPECT_EQ(fact->placement.queue, QueueId{1});
    EXPECT_EQ(fact->placement.position, engine::Position::of(0, 0));
    EXPECT_EQ(fact->placement.deadline, never);
    const Lsn at = *fact->message->stored_at();
    const MessageRef whole =
        engine::decode_message(std::string_view(bytes).substr(at.value), formats, at);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->exchange(), "");
    EXPECT_EQ(whole->routing_key(), "q");
    EXPECT_EQ(whole->properties(), persistent());
    EXPECT_EQ(whole->body(), "hi");
    EXPECT_TRUE(whole->persistent());
}

}  // namespace
}  // namespace revenant::golden
