// A journal with events that were accepted under older rules and would be refused today. It must
// always open.
//
// tests/golden/earlier_rules is the directory of such a virtual host and its expected contents:
// bindings, queues, exchanges and policies that are refused if a client declares them now. It was
// written event by event, with REVENANT_WRITE_GOLDEN=1. A rule that becomes stricter adds an event
// here.

#include "amqp091/message/properties.h"
#include "engine/codec/event_codec.h"
#include "engine/words/policy.h"
#include "journal/disk_posix.h"
#include "journal/journal.h"
#include "tests/golden/golden_properties.h"
#include "tests/golden/golden_vhost.h"
#include "tests/support/folder.h"
#include "tests/support/inline_worker.h"
#include "tests/support/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace revenant::golden {
namespace {

namespace fs = std::filesystem;

using engine::arguments;
using engine::Bound;
using engine::DestinationKind;
using engine::Enqueued;
using engine::Event;
using engine::ExchangeDeclared;
using engine::ExchangeType;
using engine::PolicyScope;
using engine::PolicySet;
using engine::QueueDeclared;
using engine::QueueKind;

const fs::path earlier_rules = fs::path(REVENANT_SOURCE_DIR) / "tests/golden/earlier_rules";

Event message_to(std::uint64_t queue, std::size_t level, std::string_view body) {
    const std::string properties = persistent();
    auto read = amqp091::read_published(properties, "").value();
    return Enqueued{make_message("", "kept", properties, body, std::move(read.head)),
                    {{queue}, engine::Position::of(level, 0), never}};
}

Event binding(std::string source, std::string to, std::string key, Table given = {}) {
    return Bound{std::move(source), DestinationKind::queue, std::move(to), std::move(key),
                 std::move(given)};
}

std::vector<Event> facts_of_earlier_rules() {
    std::vector<Event> facts{
        ExchangeDeclared{{.name = "topic", .type = ExchangeType::topic, .durable = true}},
        ExchangeDeclared{{.name = "headers", .type = ExchangeType::headers, .durable = true}},
        ExchangeDeclared{
            {.name = "hash",
             .type = ExchangeType::consistent_hash,
             .durable = true,
             .arguments = arguments({{"hash-header", 5}, {"hash-property", "colour"}})}},
        ExchangeDeclared{{.name = "amq.of-a-client", .durable = true}},
        QueueDeclared{{.id = {1},
                       .name = "kept",
                       .durable = true,
                       .arguments = arguments({{"x-max-priority", 1000},
                                               {"x-message-ttl", "soon"},
                                               {"x-overflow", "sideways"},
                                               {"x-queue-mode", 7},
                                               {"x-max-age", "1D"},
                                               {"x-dead-letter-routing-key", "without exchange"},
                                               {"x-dead-letter-exchange", true}})},
                      {}},
        QueueDeclared{{.id = {2},
                       .name = "amq.quorum",
                       .durable = true,
                       .auto_delete = true,
                       .arguments = arguments({{"x-queue-type", "quorum"},
                                               {"x-delivery-limit", "many"},
                                               {"x-delayed-retry-type", "now and then"},
                                               {"x-single-active-consumer", 1}}),
                       .kind = QueueKind::quorum},
                      {}},
        binding("topic", "kept", "#.a.#.b.#.c.#.d.#"),
        binding("headers", "kept", "", arguments({{"x-match", "sometimes"}, {"a", 1}})),
        binding("headers", "kept", "", arguments({{"x-match", 7}, {"b", 2}})),
        PolicySet{PolicyScope::user,
                  {.name = "wrong type",
                   .pattern = ".*",
                   .apply_to = engine::ApplyTo::queues,
                   .definition = arguments({{"max-length", "ten"}})}},
        PolicySet{PolicyScope::operator_only,
                  {.name = "ceiling",
                   .pattern = ".*",
                   .apply_to = engine::ApplyTo::queues,
                   .definition = arguments({{"max-length", 10}})}},
        PolicySet{PolicyScope::user, {.name = "no pattern", .pattern = "(", .definition = {}}},
        PolicySet{PolicyScope::operator_only,
                  {.name = "unknown key",
                   .pattern = "^a",
                   .definition = arguments({{"shape", "round"}})}},
        message_to(1, 255, "in a level that a client cannot ask for any more"),
        message_to(2, 4, "in a queue with a reserved name"),
    };
    for (const char* const weight : {"heavy", "0", "-5", "10001", "4000000000"}) {
        facts.push_back(binding("hash", "kept", weight));
    }
    return facts;
}

// One record each, as if each were the result of one command.
void write_facts(journal::Disk& disk, const std::string& directory) {
    InlineWorker worker;
    journal::JournalSettings settings;
    settings.segments.fill_bytes = 512;
    auto journal = journal::Journal::open(disk, worker, directory, settings).value();
    engine::EventWriter writer;
    for (const Event& fact : facts_of_earlier_rules()) {
        std::string& record = journal->begin_record();
        record.push_back(static_cast<char>(engine::RecordKind::events));
        writer.write({record, journal->position(), journal->batch_position()}, fact);
        journal->end_record();
        journal->flush(journal::Journal::SyncMode::immediate);
    }
}

struct EarlierRules : ::testing::Test {
    EarlierRules() {
        if (std::getenv("REVENANT_WRITE_GOLDEN") != nullptr) {
            fs::remove_all(earlier_rules);
            write_facts(disk, earlier_rules / "vhost");
        }
        fs::copy(earlier_rules / "vhost", directory, fs::copy_options::recursive);
    }
    Folder folder;
    const std::string directory = folder / "vhost";
    journal::PosixDisk disk;
};

TEST_F(EarlierRules, TheJournalOpens) {
    GoldenVhost vhost(disk, directory);
    ASSERT_EQ(vhost.start(), std::nullopt);
    if (std::getenv("REVENANT_WRITE_GOLDEN") != nullptr) {
        write_file(earlier_rules / "vhost.txt", vhost.description());
    }
    EXPECT_EQ(vhost.description(), file_contents(earlier_rules / "vhost.txt"));
}

TEST_F(EarlierRules, TheSnapshotOfItOpens) {
    GoldenVhost vhost(disk, directory);
    ASSERT_EQ(vhost.start(), std::nullopt);
    vhost.stop();
    const auto files = all_files(directory);
    EXPECT_TRUE(std::any_of(files.begin(), files.end(),
                            [](const auto& file) { return file.first.ends_with(".snapshot"); }));
    ASSERT_EQ(vhost.start(), std::nullopt);
    EXPECT_EQ(vhost.description(), file_contents(earlier_rules / "vhost.txt"));
}

// Otherwise this test would prove nothing.
TEST_F(EarlierRules, TodayTheSameIsRefused) {
    engine::State state;
    std::size_t refused = 0;
    for (const Event& fact : facts_of_earlier_rules()) {
        if (const auto* const bound = std::get_if<Bound>(&fact)) {
            const engine::Exchange& source = *state.find_exchange(bound->source);
            if (engine::check_binding(source, bound->routing_key, bound->arguments)) refused += 1;
        } else if (const auto* const set = std::get_if<PolicySet>(&fact)) {
            if (engine::check_policy(set->scope, set->policy)) refused += 1;
        }
        state.apply(fact);
    }
    EXPECT_GE(refused, 10U);
}

}  // namespace
}  // namespace revenant::golden
