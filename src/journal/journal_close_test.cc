// A closed journal: its directory may be removed and replaced by another.
#include "journal/journal.h"
#include "tests/sim/journal_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::journal {
namespace {

using sim::JournalStage;
using sim::long_record;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using SyncMode = Journal::SyncMode;

// Regression test: without close(), a batch that waited for the previous one was written after the
// directory had been removed and created again.
TEST(ClosedJournal, WritesNothingIntoTheDirectoryOfAnother) {
    JournalStage s;
    s.open();
    s.append(long_record('a'));
    s.journal->flush(SyncMode::immediate);
    const Lsn second = s.append(long_record('b'));
    s.journal->flush(SyncMode::immediate);
    s.journal->close();
    s.worker.run_all();
    ASSERT_TRUE(s.disk.remove_directory(s.directory, ""));
    ASSERT_TRUE(s.disk.make_directory(s.directory));
    s.append(long_record('c'));
    s.journal->flush(SyncMode::immediate);
    s.journal->retry();
    s.worker.run_all();
    EXPECT_THAT(s.disk.list(s.directory).value(), IsEmpty());
    EXPECT_THAT(s.durable, IsEmpty()) << "nobody is told any more";
    EXPECT_EQ(s.read(second, 600), long_record('b')) << "what is in memory can still be read";
}

TEST(ClosedJournal, FinishesWhatTheDiskHasBegun) {
    JournalStage s;
    s.open();
    const Lsn at = s.append(long_record('a'));
    s.journal->flush(SyncMode::immediate);
    s.journal->close();
    s.worker.run_all();
    EXPECT_THAT(s.files(".segment"), SizeIs(1));
    EXPECT_EQ(s.read(at, 600), long_record('a'));
    EXPECT_EQ(s.journal->waiting_bytes(), s.journal->gathered_bytes());
}

TEST(ClosedJournal, TakesNoSnapshot) {
    JournalStage s;
    s.open();
    s.append(long_record('a'));
    s.journal->write_snapshot("everything", {});
    s.journal->close();
    s.worker.run_all();
    EXPECT_THAT(s.files(".snapshot"), IsEmpty());
    EXPECT_EQ(s.worker.waiting(), 0U);
}

TEST(ClosedJournal, RemovesAndCompactsNothing) {
    JournalStage s;
    s.open();
    for (const char letter : {'a', 'b', 'c'}) s.append_safely(long_record(letter));
    s.journal->write_snapshot("everything", {});
    s.worker.work_one();
    s.journal->close();
    s.worker.run_all();
    EXPECT_EQ(s.worker.waiting(), 0U);
    EXPECT_THAT(s.files(".segment"), SizeIs(3)) << "they go with the directory";
}

// A publisher that waits for space would wait forever.
TEST(ClosedJournal, IsNotFull) {
    JournalStage s;
    s.open();
    s.disk.set_capacity(0);
    s.append_safely(long_record('a'));
    ASSERT_THAT(s.full, ElementsAre(true));
    s.journal->close();
    EXPECT_THAT(s.full, ElementsAre(true, false));
    EXPECT_FALSE(s.journal->is_disk_full());
    s.journal->close();
    EXPECT_THAT(s.full, ElementsAre(true, false));
}

}  // namespace
}  // namespace revenant::journal
