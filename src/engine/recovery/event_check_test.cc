#include "engine/recovery/event_check.h"

#include "engine/chain/page_codec.h"
#include "engine/recovery/snapshot_codec.h"
#include "tests/support/scenario.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace revenant::engine {
namespace {

bool reads(const std::string& bytes) {
    State state;
    state.paging().formats = {&test_message_format()};
    return decode_snapshot(bytes, state, /*gap_max=*/100).has_value();
}

// Queue 1 is classic and contains 0/0 and 0/1; queue 2 is a quorum queue and contains 4/0.
struct Checked : ::testing::Test {
    Checked() {
        state.paging().formats = {&test_message_format()};
        declare(1, "classic", QueueKind::classic);
        declare(2, "quorum", QueueKind::quorum);
        apply(Bound{"amq.topic", DestinationKind::queue, "classic", "a.*", {}});
        apply(Enqueued{message, {{1}, Position::of(0, 0), never}});
        apply(Enqueued{message, {{1}, Position::of(0, 1), never}});
        apply(Enqueued{message, {{2}, Position::of(4, 0), never}});
    }
    void declare(std::uint64_t id, const std::string& name, QueueKind kind) {
        apply(QueueDeclared{{.id = {id}, .name = name, .durable = true, .kind = kind}, {}});
    }
    void apply(const Event& fact) {
        ASSERT_TRUE(can_apply(state, fact));
        state.apply(fact);
    }
    bool fits_here(const Event& fact) { return can_apply(state, fact, /*gap_max=*/100); }

    const MessageRef message = make_test_message("q", "body");
    State state;
};

TEST_F(Checked, DefinitionsComeOnceAndGoOnce) {
    EXPECT_TRUE(fits_here(ExchangeDeclared{{.name = "new"}}));
    EXPECT_FALSE(fits_here(ExchangeDeclared{{.name = "amq.topic"}}));
    EXPECT_FALSE(fits_here(ExchangeDeleted{"missing"}));
    EXPECT_TRUE(fits_here(ExchangeDeleted{"amq.topic"})) << "its bindings go with it";
    EXPECT_FALSE(fits_here(QueueDeclared{{.id = {1}, .name = "other"}, {}}));
    EXPECT_FALSE(fits_here(QueueDeclared{{.id = {3}, .name = "classic"}, {}}));
    EXPECT_FALSE(fits_here(QueueDeleted{{3}}));
    EXPECT_TRUE(fits_here(QueueDeleted{{1}})) << "its bindings go with it";
    EXPECT_TRUE(fits_here(QueueDeleted{{2}}));
    EXPECT_FALSE(fits_here(Purged{{3}, {}}));
}

TEST_F(Checked, BindingsLeadFromOneThingToAnother) {
    const auto bound = [](std::string source, DestinationKind kind, std::string to,
                          std::string key) {
        return Bound{std::move(source), kind, std::move(to), std::move(key), {}};
    };
    EXPECT_TRUE(fits_here(bound("amq.topic", DestinationKind::queue, "quorum", "a")));
    EXPECT_FALSE(fits_here(bound("missing", DestinationKind::queue, "quorum", "a")));
    EXPECT_FALSE(fits_here(bound("amq.topic", DestinationKind::queue, "missing", "a")));
    EXPECT_FALSE(fits_here(bound("amq.topic", DestinationKind::exchange, "classic", "a")));
    EXPECT_FALSE(fits_here(bound("amq.topic", DestinationKind::queue, "classic", "a.*")));
    EXPECT_FALSE(fits_here(Unbound{"amq.topic", DestinationKind::queue, "classic", "other", {}}));
    EXPECT_TRUE(fits_here(Unbound{"amq.topic", DestinationKind::queue, "classic", "a.*", {}}));
}

// Accepted bindings stay readable: today's rules do not apply to events from disk.
TEST_F(Checked, ABindingThatTodayWouldBeRefusedFits) {
    apply(ExchangeDeclared{{.name = "hash", .type = ExchangeType::consistent_hash}});
    const auto heads = std::vector<Table>{
        arguments({{"x-match", "sometimes"}, {"a", 1}}),
        arguments({{"x-match", 7}, {"a", 1}}),
    };
    std::vector<Bound> accepted_once;
    for (const char* const weight :
         {"many", "", "0", "-1", "10001", "4000000000", "99999999999999999999999999999"}) {
        accepted_once.push_back({"hash", DestinationKind::queue, "classic", weight, {}});
        accepted_once.push_back({"hash", DestinationKind::exchange, "amq.topic", weight, {}});
    }
    for (const Table& given : heads) {
        accepted_once.push_back({"amq.headers", DestinationKind::queue, "classic", "", given});
    }
    accepted_once.push_back(
        {"amq.topic", DestinationKind::queue, "classic", "#.a.#.b.#.c.#.d.#", {}});
    for (const Bound& fact : accepted_once) {
        ASSERT_NO_THROW(apply(fact)) << fact.routing_key;
    }
    const auto& buckets =
        std::get<ConsistentHashRoutes>(state.find_exchange("hash")->routes).buckets;
    EXPECT_EQ(buckets.size(), 40'000U)
        << "memory is limited by the largest weight of a new binding";
    EXPECT_TRUE(reads(encode_snapshot(state, Shutdown::none)));
    for (const Bound& fact : accepted_once) {
        apply(Unbound{fact.source, fact.destination_kind, fact.destination, fact.routing_key,
                      fact.arguments});
    }
    EXPECT_TRUE(buckets.empty());
}

// A value of the wrong type is not a number when it is merged with an operator policy.
TEST_F(Checked, APolicyThatTodayWouldBeRefusedFits) {
    Policy odd{.name = "odd", .pattern = "(", .definition = arguments({{"max-length", "ten"}})};
    apply(PolicySet{PolicyScope::user, odd});
    odd.pattern = ".*";
    apply(PolicySet{PolicyScope::user, odd});
    apply(PolicySet{
        PolicyScope::operator_only,
        {.name = "ceiling", .pattern = ".*", .definition = arguments({{"max-length", 10}})}});
    state.configure_rest();
    EXPECT_EQ(state.find_queue("classic")->settings.max_length, 10);
    EXPECT_TRUE(reads(encode_snapshot(state, Shutdown::none)));
}

TEST_F(Checked, AMessageEntersAtAPlaceThatIsFree) {
    const auto enqueued = [&](std::uint64_t queue, std::size_t level, std::uint64_t sequence) {
        return Enqueued{message, {{queue}, Position::of(level, sequence), never}};
    };
    EXPECT_TRUE(fits_here(enqueued(1, 0, 2)));
    EXPECT_TRUE(fits_here(enqueued(1, 0, 100 * block_entries))) << "numbers may be skipped";
    EXPECT_FALSE(fits_here(enqueued(1, 0, 200 * block_entries))) << "but not that many";
    EXPECT_FALSE(fits_here(enqueued(1, 0, 1)));
    EXPECT_FALSE(fits_here(enqueued(1, 1, 0))) << "the queue has no such level";
    EXPECT_FALSE(fits_here(enqueued(1, 60'000, 0)));
    EXPECT_FALSE(fits_here(enqueued(9, 0, 0)));
    EXPECT_FALSE(fits_here(enqueued(2, outbox_level, 0))) << "not a level for publishes";
    EXPECT_FALSE(fits_here(Enqueued{{}, {{1}, Position::of(0, 2), never}}));
}

TEST_F(Checked, AnEntryInABlockThatTodayHasEndedFits) {
    apply(Enqueued{make_test_message("q", std::string(block_bytes_max, 'x')),
                   {{1}, Position::of(0, 2), never}});
    EXPECT_TRUE(fits_here(Enqueued{message, {{1}, Position::of(0, 3), never}}));
    EXPECT_FALSE(fits_here(Enqueued{message, {{1}, Position::of(0, 2), never}}));
}

TEST_F(Checked, WhatLeavesWasThere) {
    EXPECT_TRUE(fits_here(Removed{{1}, Position::of(0, 1)}));
    EXPECT_FALSE(fits_here(Removed{{1}, Position::of(0, 2)}));
    EXPECT_FALSE(fits_here(Removed{{1}, Position::of(77, 0)}));
    EXPECT_FALSE(fits_here(Removed{{9}, Position::of(0, 0)}));
}

TEST_F(Checked, OnlyQuorumQueuesDelayAndKeepLetters) {
    const Position in_classic = Position::of(0, 0);
    const Position in_quorum = Position::of(4, 0);
    EXPECT_TRUE(fits_here(Requeued{{1}, in_classic, in_classic, {}}));
    EXPECT_TRUE(fits_here(Requeued{{2}, in_quorum, Position::of(requeued_level, 0), {}}));
    EXPECT_FALSE(fits_here(Requeued{{2}, in_quorum, Position::of(outbox_level, 0), {}}));
    EXPECT_TRUE(fits_here(Delayed{{2}, in_quorum, Position::of(delayed_level, 0), {}, {}}));
    EXPECT_FALSE(fits_here(Delayed{{2}, in_quorum, Position::of(5, 0), {}, {}}));
    EXPECT_FALSE(fits_here(Delayed{{1}, in_classic, Position::of(delayed_level, 0), {}, {}}));
    const Position letter = Position::of(outbox_level, 0);
    EXPECT_FALSE(fits_here(MovedToOutbox{{1}, in_classic, letter, DeathReason::rejected, {}, {}}));
    EXPECT_FALSE(fits_here(ForwardedFromOutbox{{2}, letter, {}, {}, true}));
    apply(MovedToOutbox{{2}, in_quorum, letter, DeathReason::rejected, {}, {}});
    EXPECT_TRUE(fits_here(ForwardedFromOutbox{{2}, letter, {}, {}, true}));
}

TEST_F(Checked, ALetterReachesAQueueOnce) {
    const Placement to_classic{{1}, Position::of(0, 2), never};
    const Placement to_quorum{{2}, Position::of(4, 1), never};
    const Placement to_quorum_again{{2}, Position::of(4, 2), never};
    EXPECT_TRUE(fits_here(DeadLettered{{1}, Position::of(0, 0), {}, {to_classic, to_quorum}}));
    EXPECT_FALSE(
        fits_here(DeadLettered{{1}, Position::of(0, 0), {}, {to_quorum, to_quorum_again}}));
    EXPECT_FALSE(fits_here(RefusedAndDeadLettered{{}, {}, {to_quorum}}));
    EXPECT_FALSE(fits_here(DeadLettered{{1}, Position::of(0, 5), {}, {to_quorum}}));
}

// ------------------------------------------------------------------------- snapshots

TEST_F(Checked, ASnapshotIsReadWholeOrNotAtAll) {
    const std::string snapshot = encode_snapshot(state, Shutdown::none);
    EXPECT_TRUE(reads(snapshot));
    for (std::size_t size = 0; size < snapshot.size(); ++size) {
        EXPECT_FALSE(reads(snapshot.substr(0, size))) << size << " bytes";
    }
    EXPECT_FALSE(reads(snapshot + '\0'));
}

TEST_F(Checked, ASnapshotWithAByteChangedIsReadOrRefused) {
    const std::string snapshot = encode_snapshot(state, Shutdown::none);
    std::size_t refused = 0;
    for (std::size_t at = 0; at < snapshot.size(); ++at) {
        for (const int change : {1, 2, 0x40, 0x80, 0xff}) {
            std::string changed = snapshot;
            changed[at] = static_cast<char>(changed[at] ^ change);
            if (!reads(changed)) refused += 1;
        }
    }
    EXPECT_GT(refused, snapshot.size());
}

TEST_F(Checked, TwoQueuesOfOneNameAreNoSnapshot) {
    std::string snapshot = encode_snapshot(state, Shutdown::none);
    for (std::size_t at = snapshot.find("quorum"); at != std::string::npos;
         at = snapshot.find("quorum", at)) {
        snapshot.replace(at - 1, 7, "\7classic");
    }
    EXPECT_FALSE(reads(snapshot));
}

}  // namespace
}  // namespace revenant::engine
