#include "journal/scratch.h"

#include "tests/sim/sim_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace revenant::journal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Pages {
    Pages() { open(); }
    void open() { scratch = Scratch::open(disk, directory, /*file_bytes=*/100).value(); }
    std::uint64_t keep(const std::string& bytes) { return scratch->keep(bytes).value(); }
    std::string fetch(std::uint64_t at, std::size_t size) {
        auto fetched = scratch->fetch(at, static_cast<std::uint32_t>(size));
        return fetched ? *fetched : fetched.error().text;
    }
    std::vector<std::string> files() { return disk.list(directory).value(); }

    const std::string directory = "/data/vhost/scratch";
    sim::SimDisk disk{1};
    std::unique_ptr<Scratch> scratch;
};

TEST(Scratch, GivesBackWhatItKept) {
    Pages p;
    const auto first = p.keep("first");
    const auto second = p.keep("the second");
    EXPECT_EQ(p.fetch(first, 5), "first");
    EXPECT_EQ(p.fetch(second, 10), "the second");
    EXPECT_EQ(p.fetch(first, 5), "first");
}

TEST(Scratch, ClearsAwayWhatAnEarlierProcessLeft) {
    Pages p;
    p.keep("old");
    EXPECT_THAT(p.files(), ElementsAre("1.pages"));
    p.open();
    EXPECT_THAT(p.files(), IsEmpty());
    EXPECT_EQ(p.scratch->file_count(), 0U);
}

TEST(Scratch, BeginsAnotherFileWhenOneIsFull) {
    Pages p;
    std::vector<std::uint64_t> places;
    for (int i = 0; i < 5; ++i)
        places.push_back(p.keep(std::string(60, static_cast<char>('a' + i))));
    EXPECT_EQ(p.scratch->file_count(), 3U);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(p.fetch(places[i], 60), std::string(60, static_cast<char>('a' + i)));
    }
}

TEST(Scratch, AFileGoesWithItsLastPage) {
    Pages p;
    const auto first = p.keep(std::string(60, 'a'));
    const auto second = p.keep(std::string(60, 'b'));
    const auto third = p.keep(std::string(60, 'c'));
    p.scratch->drop(first);
    EXPECT_THAT(p.files(), ElementsAre("1.pages", "2.pages"));
    EXPECT_EQ(p.fetch(second, 60), std::string(60, 'b'));
    p.scratch->drop(second);
    EXPECT_THAT(p.files(), ElementsAre("2.pages"));
    EXPECT_EQ(p.fetch(third, 60), std::string(60, 'c'));
}

TEST(Scratch, TheFileInUseIsWrittenFromItsBeginningAgain) {
    Pages p;
    for (int i = 0; i < 50; ++i) p.scratch->drop(p.keep(std::string(60, 'x')));
    EXPECT_THAT(p.files(), ElementsAre("1.pages"));
    EXPECT_EQ(p.disk.contents(p.directory + "/1.pages").size(), 60U);
}

TEST(Scratch, NeverSyncsAnything) {
    Pages p;
    const auto before = p.disk.counts().syncs;
    for (int i = 0; i < 10; ++i) p.keep(std::string(60, 'x'));
    EXPECT_EQ(p.disk.counts().syncs, before);
}

TEST(Scratch, AFullDiskIsAnErrorAndNoHarm) {
    Pages p;
    const auto kept = p.keep("before");
    p.disk.set_capacity(p.disk.used_bytes() + 10);
    const auto refused = p.scratch->keep(std::string(50, 'x'));
    ASSERT_FALSE(refused.has_value());
    EXPECT_TRUE(refused.error().disk_full);
    p.disk.set_capacity(std::nullopt);
    const auto later = p.keep("after");
    EXPECT_EQ(p.fetch(kept, 6), "before");
    EXPECT_EQ(p.fetch(later, 5), "after");
}

TEST(Scratch, AFullDiskThatTakesNoNewFileIsAnErrorAndNoHarm) {
    Pages p;
    const auto kept = p.keep(std::string(100, 'x'));
    p.disk.set_capacity(p.disk.used_bytes());
    EXPECT_FALSE(p.scratch->keep("more").has_value());
    p.disk.set_capacity(std::nullopt);
    EXPECT_EQ(p.fetch(p.keep("more"), 4), "more");
    EXPECT_EQ(p.fetch(kept, 100), std::string(100, 'x'));
    EXPECT_EQ(p.scratch->file_count(), 2U);
}

TEST(Scratch, AFileThatLostItsEndIsAnErrorThatNamesIt) {
    Pages p;
    const auto kept = p.keep("some bytes");
    ASSERT_TRUE(p.disk.create(p.directory + "/1.pages").has_value());
    EXPECT_THAT(p.fetch(kept, 10),
                AllOf(HasSubstr(p.directory + "/1.pages"), HasSubstr("shorter")));
}

TEST(Scratch, AReadThatFailsIsAnError) {
    Pages p;
    const auto kept = p.keep("some bytes");
    p.disk.fail_reads(true);
    EXPECT_THAT(p.fetch(kept, 10), HasSubstr("1.pages"));
}

}  // namespace
}  // namespace revenant::journal
