#include "runtime/vhost_store.h"

#include "base/probe.h"
#include "engine/chain/page_codec.h"
#include "engine/view/describe.h"
#include "journal/segments.h"
#include "journal/snapshot_file.h"
#include "tests/sim/sim_disk.h"
#include "tests/sim/sim_worker.h"
#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace revenant::runtime {
namespace {

using engine::Position;
using sim::BorrowedWorker;
using sim::SimDisk;
using sim::SimWorker;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

struct Ended {
    std::string why;
};

// A state whose events the store writes, one turn each.
class Kept {
  public:
    Kept() {
        settings.journal.segments = {
            .segment_bytes = 4096, .fill_bytes = 512, .small_batch_bytes = 256, .spares_max = 1};
        settings.snapshot_after_bytes = 3000;
        EXPECT_EQ(start(), "");
    }

    // The error of the startup, or an empty string.
    std::string start() {
        facts.reset();
        state.reset();
        store.reset();
        worker.forget_all();
        auto opened = VhostStore::open(disk, std::make_unique<BorrowedWorker>(worker), directory,
                                       settings, [](const std::string& why) { throw Ended{why}; });
        if (!opened) return opened.error();
        store = std::move(opened).value();
        state = std::make_unique<engine::State>();
        state->paging().formats = {&engine::test_message_format()};
        state->paging().store = store.get();
        if (auto recovered = store->recover(*state); !recovered) return recovered.error();
        facts = std::make_unique<engine::DurableRecorder>(*store);
        facts->observe(*state);
        return "";
    }
    std::string start_after(SimDisk::Loss loss) {
        disk.restart(loss);
        return start();
    }

    void apply(const engine::Event& fact) {
        facts->record(fact);
        state->apply(fact);
        facts->turn_ended();
    }
    void declare(std::uint64_t id, const std::string& name) {
        apply(engine::QueueDeclared{{.id = {id}, .name = name, .durable = true}, {}});
    }
    void enqueue(std::uint64_t queue, const std::string& body) {
        const Position at = state->find_queue(QueueId{queue})->next_in(0);
        apply(engine::Enqueued{engine::make_test_message("q", body), {{queue}, at, never}});
    }
    void make_safe() {
        store->journal().flush(journal::Journal::SyncMode::immediate);
        worker.run_all();
    }
    std::string description() { return describe(*state, engine::DescribeScope::durable); }
    std::string last_file(const std::string& ending) {
        std::string last;
        const auto names = disk.list(directory).value();
        for (const std::string& name : names) {
            if (name.ends_with(ending)) last = directory + "/" + name;
        }
        return last;
    }
    void append_record(const std::string& bytes) {
        store->journal().begin_record() += bytes;
        store->journal().end_record();
        make_safe();
    }

    // Called twice, it restores the original bytes.
    void damage(Lsn at) {
        const Lsn segment = store->journal().segment_of(at);
        disk.flip_bit(directory + "/" + journal::segment_name(segment), at.value - segment.value,
                      0);
    }

    const std::string directory = "/data/vhosts/v";
    StoreSettings settings;
    SimDisk disk{1};
    SimWorker worker;
    std::unique_ptr<VhostStore> store;
    std::unique_ptr<engine::State> state;
    std::unique_ptr<engine::DurableRecorder> facts;
};

TEST(VhostStore, AFreshOneIsEmpty) {
    Kept k;
    EXPECT_EQ(k.state->queue_count(), 0U);
    EXPECT_EQ(k.start(), "");
    EXPECT_EQ(k.state->queue_count(), 0U);
}

TEST(VhostStore, WhatWasMadeSafeIsFoundAgain) {
    Kept k;
    k.declare(1, "q");
    for (int i = 0; i < 10; ++i) k.enqueue(1, "body " + std::to_string(i));
    k.apply(engine::Removed{{1}, Position::of(0, 3), engine::Ending::acknowledged});
    k.make_safe();
    const std::string before = k.description();
    k.enqueue(1, "never written");
    EXPECT_EQ(k.start_after(SimDisk::Loss::power), "");
    EXPECT_EQ(k.description(), before);
}

TEST(VhostStore, ASnapshotIsTakenWhenEnoughWasWritten) {
    Kept k;
    k.declare(1, "q");
    k.make_safe();
    k.store->take_snapshot_if_due(*k.state);
    k.worker.run_all();
    EXPECT_EQ(k.last_file(".snapshot"), "");
    k.enqueue(1, std::string(3000, 'x'));
    k.make_safe();
    k.store->take_snapshot_if_due(*k.state);
    k.worker.run_all();
    EXPECT_NE(k.last_file(".snapshot"), "");
    EXPECT_EQ(k.store->journal().snapshot_position(), k.store->journal().durable());
    k.enqueue(1, "behind the snapshot");
    k.make_safe();
    const std::string before = k.description();
    EXPECT_EQ(k.start_after(SimDisk::Loss::power), "");
    EXPECT_EQ(k.description(), before);
}

TEST(VhostStore, NoSecondSnapshotBeginsBeforeTheFirstIsOver) {
    Kept k;
    k.declare(1, "q");
    k.enqueue(1, std::string(4000, 'x'));
    k.store->take_snapshot_if_due(*k.state);
    EXPECT_TRUE(k.store->journal().is_writing_snapshot());
    k.enqueue(1, std::string(4000, 'y'));
    k.store->take_snapshot_if_due(*k.state);
    k.worker.run_all();
    EXPECT_FALSE(k.store->journal().is_writing_snapshot());
}

TEST(VhostStore, SegmentsWithMessagesStayWhenASnapshotIsTaken) {
    Kept k;
    k.declare(1, "q");
    for (int i = 0; i < 8; ++i) {
        k.enqueue(1, "body " + std::to_string(i) + std::string(2000, 'x'));
        k.make_safe();
    }
    k.apply(engine::Removed{{1}, Position::of(0, 0), engine::Ending::acknowledged});
    k.make_safe();
    k.store->take_snapshot(*k.state, engine::Shutdown::none);
    k.worker.run_all();
    const std::string before = k.description();
    EXPECT_EQ(k.start_after(SimDisk::Loss::power), "");
    EXPECT_EQ(k.description(), before);
}

TEST(VhostStore, AfterACrashEverythingMayHaveBeenSeen) {
    Kept k;
    k.declare(1, "q");
    k.enqueue(1, "a");
    k.make_safe();
    EXPECT_EQ(k.start_after(SimDisk::Loss::process), "");
    EXPECT_TRUE(k.state->find_queue(QueueId{1})->at(Position::of(0, 0)).is_redelivered());
}

TEST(VhostStore, AfterACleanStopNothingWasSeenThatWasNotDelivered) {
    Kept k;
    k.declare(1, "q");
    k.enqueue(1, "a");
    k.store->take_snapshot(*k.state, engine::Shutdown::clean);
    k.worker.run_all();
    EXPECT_EQ(k.start_after(SimDisk::Loss::power), "");
    EXPECT_FALSE(k.state->find_queue(QueueId{1})->at(Position::of(0, 0)).is_redelivered());
}

std::string some_page(engine::Durability durability) {
    engine::Block block;
    engine::Entry entry;
    entry.message = engine::make_test_message("q", "body");
    entry.durable = durability == engine::Durability::durable;
    block.push(0, std::move(entry), never);
    return engine::encode_page(block, durability).bytes;
}

TEST(VhostStore, PagesComeBackWhetherTheyAreToSurviveOrNot) {
    Kept k;
    const std::string page = some_page(engine::Durability::durable);
    const auto durable = k.store->write_page(page, engine::Durability::durable);
    const auto transient = k.store->write_page(page, engine::Durability::transient);
    EXPECT_EQ(k.store->read_page(durable, engine::Durability::durable).value(), page)
        << "not yet written";
    k.make_safe();
    EXPECT_EQ(k.store->read_page(durable, engine::Durability::durable).value(), page);
    EXPECT_EQ(k.store->read_page(transient, engine::Durability::transient).value(), page);
    k.store->drop_transient(transient);
}

TEST(VhostStore, APassingPageThatFindsNoRoomStaysWithItsOwner) {
    Kept k;
    k.disk.set_capacity(k.disk.used_bytes());
    EXPECT_FALSE(k.store->write_page("a page", engine::Durability::transient));
}

TEST(VhostStore, AReadThatFailsIsToldToWhoeverReads) {
    Kept k;
    const std::string page = some_page(engine::Durability::durable);
    const auto durable = k.store->write_page(page, engine::Durability::durable);
    const auto transient = k.store->write_page(page, engine::Durability::transient);
    k.make_safe();
    k.disk.fail_reads(true);
    EXPECT_THAT(k.store->read_page(durable, engine::Durability::durable).error(),
                HasSubstr(".segment"));
    EXPECT_THAT(k.store->read_page(transient, engine::Durability::transient).error(),
                HasSubstr(".pages"));
    std::string bytes(4, '\0');
    EXPECT_THAT(k.store->read(durable.at, bytes).error(), HasSubstr(".segment"));
}

TEST(VhostStore, ADamagedPageIsNotGivenOut) {
    Kept k;
    const std::string page = some_page(engine::Durability::durable);
    const auto durable = k.store->write_page(page, engine::Durability::durable);
    const auto transient = k.store->write_page(page, engine::Durability::transient);
    k.make_safe();
    k.disk.flip_bit(k.last_file(".segment"), durable.at.value + 9, 0);
    k.disk.flip_bit(k.directory + "/scratch/1.pages", 9, 0);
    EXPECT_THAT(k.store->read_page(durable, engine::Durability::durable).error(),
                AllOf(HasSubstr("damaged"), HasSubstr(".segment, offset 45")));
    EXPECT_THAT(k.store->read_page(transient, engine::Durability::transient).error(),
                HasSubstr("scratch"));
}

TEST(VhostStore, APageWhereNoneCanBeIsNotGivenOut) {
    Kept k;
    k.declare(1, "q");
    k.make_safe();
    const engine::ColdPage nonsense{{48}, UINT32_MAX};
    EXPECT_THAT(k.store->read_page(nonsense, engine::Durability::durable).error(),
                AllOf(HasSubstr("damaged"), HasSubstr(".segment, offset 48")));
}

// A queue with two blocks on disk in the snapshot, without their messages.
class Paged : public ::testing::Test {
  protected:
    Paged() {
        k.declare(1, "q");
        for (int i = 0; i < messages; ++i) {
            k.enqueue(1, std::to_string(i));
            if (i % 20 == 0) k.make_safe();
        }
        queue().level(0).page_out_all();
        k.make_safe();
        cold_page_ = cold().durable_page;
        // Startup reads the last segment.
        k.declare(2, "filler");
        for (int i = 0; i < 20; ++i) {
            k.enqueue(2, std::string(500, 'x'));
            k.make_safe();
        }
        k.store->take_snapshot(*k.state, engine::Shutdown::clean);
        k.worker.run_all();
    }
    engine::Queue& queue() { return *k.state->find_queue("q"); }
    const engine::ColdBlock& cold() { return *queue().level(0).view(0).cold; }
    int drain() {
        int count = 0;
        while (const auto head = queue().head()) {
            if (!queue().load_message(*head)) continue;
            k.apply(engine::Removed{{1}, *head, engine::Ending::acknowledged});
            ++count;
        }
        k.make_safe();
        return count;
    }

    static constexpr int messages = 400;
    Kept k;
    engine::ColdPage cold_page_;
};

TEST_F(Paged, ADamagedMessageIsParkedAfterEachStart) {
    k.damage({cold().journal_ranges.front().first.value + 25});
    for (int start = 0; start < 2; ++start) {
        EXPECT_EQ(k.start(), "");
        EXPECT_EQ(drain(), start == 0 ? messages - 1 : 0);
        EXPECT_EQ(queue().parked().count, 1U);
    }
}

TEST_F(Paged, ADamagedPageIsParkedAndItsMessagesAreKeptForTheNextStart) {
    const Lsn page{cold().durable_page.at.value + 9};
    k.damage(page);
    EXPECT_EQ(k.start(), "");
    EXPECT_EQ(drain(), messages - static_cast<int>(engine::block_entries));
    EXPECT_EQ(queue().parked().count, engine::block_entries);
    k.store->take_snapshot(*k.state, engine::Shutdown::clean);
    k.worker.run_all();
    k.damage(page);  // restores the page
    EXPECT_EQ(k.start(), "");
    EXPECT_EQ(drain(), static_cast<int>(engine::block_entries));
    EXPECT_EQ(queue().parked().count, 0U);
}

TEST_F(Paged, WhatAReplayNeedsMustBeReadable) {
    k.apply(engine::Removed{{1}, Position::of(0, 0), engine::Ending::acknowledged});
    k.make_safe();
    k.damage({cold_page_.at.value + 9});
    try {
        EXPECT_NE(k.start(), "");
    } catch (const Ended& ended) {
        EXPECT_THAT(ended.why, HasSubstr("damaged"));
    }
}

// ------------------------------------------------------------------------- disk space

// A queue of messages over several segments, with a snapshot taken while all were present.
class Settled : public ::testing::Test {
  protected:
    Settled() {
        k.settings.compact_for_bytes = segment_bytes;
        k.settings.idle_snapshot_after_bytes = 3000;
        EXPECT_EQ(k.start(), "");
        k.declare(1, "q");
        for (std::uint64_t i = 0; i < messages; ++i) {
            k.enqueue(1, std::string(body_bytes, 'x'));
            k.make_safe();
        }
        k.store->compact_when_idle(*k.state);
        k.worker.run_all();
        EXPECT_EQ(bytes_since_snapshot(), 0U);
    }
    void remove(std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t i = from; i < to; ++i) {
            k.apply(engine::Removed{{1}, Position::of(0, i), engine::Ending::acknowledged});
        }
        k.make_safe();
    }
    // Ticks as the broker does while it is idle.
    void rest() {
        for (int i = 0; i < 20; ++i) {
            k.store->take_snapshot_if_due(*k.state);
            k.store->compact_when_idle(*k.state);
            k.worker.run_all();
        }
    }
    std::uint64_t bytes_since_snapshot() {
        journal::Journal& journal = k.store->journal();
        return journal.batch_position().value - journal.snapshot_position().value;
    }
    std::uint64_t snapshots() { return k.store->journal().counters().snapshots; }
    // Bytes of segments and compacted files.
    std::uint64_t bytes_on_disk() {
        std::uint64_t bytes = 0;
        const auto names = k.disk.list(k.directory).value();
        for (const std::string& name : names) {
            if (!name.ends_with(".segment") && !name.ends_with(".compacted")) continue;
            bytes += k.disk.contents(k.directory + "/" + name).size();
        }
        return bytes;
    }

    static constexpr std::uint64_t messages = 80;
    static constexpr std::uint64_t body_bytes = 500;
    static constexpr std::uint64_t segment_bytes = 4096;
    Kept k;
};

TEST_F(Settled, MessagesGiveTheirSpaceBackThoughLittleIsWritten) {
    EXPECT_GT(bytes_on_disk(), messages * body_bytes);
    remove(0, messages);
    EXPECT_LT(bytes_since_snapshot(), k.settings.snapshot_after_bytes);
    rest();
    EXPECT_LE(bytes_on_disk(), segment_bytes);
    const std::string before = k.description();
    EXPECT_EQ(k.start_after(SimDisk::Loss::power), "");
    EXPECT_EQ(k.description(), before);
}

TEST_F(Settled, APurgeGivesTheSpaceBack) {
    k.apply(engine::Purged{{1}, {}});
    k.make_safe();
    rest();
    EXPECT_LE(bytes_on_disk(), segment_bytes);
}

TEST_F(Settled, AfterACrashTheSpaceIsGivenBackAsWell) {
    remove(0, messages);
    EXPECT_EQ(k.start_after(SimDisk::Loss::process), "");
    rest();
    EXPECT_LE(bytes_on_disk(), segment_bytes);
    EXPECT_GT(Probe::hits("vhost_store.freed_space"), 0U);
}

TEST_F(Settled, WhatIsLeftOfManyFilesIsPutIntoOne) {
    remove(0, 20);
    remove(21, 40);
    remove(41, messages);
    rest();
    EXPECT_LE(bytes_on_disk(), segment_bytes + 3 * body_bytes);
    EXPECT_NE(k.last_file(".compacted"), "");
}

TEST_F(Settled, FilesThatAnUnreadablePageRefersToAreLeftAlone) {
    remove(0, 20);
    remove(21, 40);
    remove(41, messages);
    engine::Queue& queue = *k.state->find_queue("q");
    queue.level(0).page_out_all();
    k.make_safe();
    const Lsn page{queue.level(0).view(0).cold->durable_page.at.value + 9};
    k.damage(page);
    rest();
    EXPECT_EQ(k.last_file(".compacted"), "");
    EXPECT_THAT(Probe::reached(), Contains("vhost_store.kept_whole"));
    k.damage(page);
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(queue.load_message(*queue.head()));
        queue.take(*queue.head());
    }
    EXPECT_EQ(queue.message_count(), 0U);
}

TEST_F(Settled, ItIsNotLookedForAgainBeforeSomethingHasHappened) {
    remove(0, messages);
    rest();
    const std::uint64_t before = snapshots();
    rest();
    k.store->free_space(*k.state);
    EXPECT_FALSE(k.store->journal().is_writing_snapshot());
    EXPECT_EQ(snapshots(), before);
}

TEST_F(Settled, NoSnapshotIsTakenForNothing) {
    const std::uint64_t before = snapshots();
    remove(0, 2);
    rest();
    EXPECT_EQ(snapshots(), before);
}

TEST_F(Settled, SpaceComesBackWhileOthersGoOnWriting) {
    remove(0, messages);
    k.declare(2, "busy");
    k.store->free_space(*k.state);
    k.worker.run_all();
    EXPECT_LE(bytes_on_disk(), 2 * segment_bytes);
}

TEST_F(Settled, AFullDiskIsTriedAgain) {
    remove(0, messages);
    k.disk.set_capacity(k.disk.used_bytes());
    rest();
    EXPECT_GT(bytes_on_disk(), messages * body_bytes);
    k.disk.set_capacity(std::nullopt);
    k.store->free_space(*k.state);
    k.worker.run_all();
    EXPECT_LE(bytes_on_disk(), segment_bytes);
}

// ------------------------------------------------------------------------- errors

TEST(VhostStore, ARecordOfAnUnknownKindIsRefusedByItsPlace) {
    Kept k;
    k.append_record("\x07something new");
    EXPECT_THAT(k.start(),
                AllOf(HasSubstr(k.last_file(".segment") + ", offset 44"), HasSubstr("kind 7")));
}

TEST(VhostStore, AFactThatContradictsTheOthersIsRefused) {
    Kept k;
    k.declare(1, "q");
    k.make_safe();
    // Removed: queue 9, level 0, sequence 0, acknowledged.
    k.append_record(std::string("\x01\x08\x09\0\0\0", 6));
    EXPECT_THAT(k.start(), AllOf(HasSubstr(".segment"), HasSubstr("contradicts")));
}

TEST(VhostStore, AReferenceToNoMessageIsRefused) {
    Kept k;
    k.declare(1, "q");
    k.make_safe();
    for (const char* at : {"\x00", "\x30", "\x7f"}) {
        Kept other;
        other.declare(1, "q");
        // Enqueued: queue 1, level 0, sequence 0, no deadline, the message elsewhere.
        other.append_record(std::string("\x01\x07\x01\0\0\0\x01", 7) + std::string(at, 1));
        EXPECT_THAT(other.start(), AllOf(HasSubstr(".segment"), HasSubstr("event")));
    }
}

TEST(VhostStore, ASnapshotOfAnotherVersionIsRefusedByNameAndNumber) {
    Kept k;
    k.declare(1, "q");
    k.store->take_snapshot(*k.state, engine::Shutdown::none);
    k.worker.run_all();
    const Lsn at = k.store->journal().snapshot_position();
    auto snapshot = journal::read_snapshot_file(k.disk, k.directory, at).value();
    snapshot.bytes.front() = 5;
    ASSERT_TRUE(journal::write_snapshot_file(k.disk, k.directory, at, 1, snapshot.bytes));
    EXPECT_THAT(k.start(), AllOf(HasSubstr(k.last_file(".snapshot")), HasSubstr("version 5")));
}

TEST(VhostStore, ASnapshotThatMakesNoSenseIsRefused) {
    Kept k;
    k.declare(1, "q");
    k.store->take_snapshot(*k.state, engine::Shutdown::none);
    k.worker.run_all();
    const Lsn at = k.store->journal().snapshot_position();
    auto snapshot = journal::read_snapshot_file(k.disk, k.directory, at).value();
    snapshot.bytes.pop_back();
    ASSERT_TRUE(journal::write_snapshot_file(k.disk, k.directory, at, 1, snapshot.bytes));
    EXPECT_THAT(k.start(), AllOf(HasSubstr(k.last_file(".snapshot")), HasSubstr("invalid")));
}

}  // namespace
}  // namespace revenant::runtime
