#include "tests/sim/sim_disk.h"

#include "journal/disk_posix.h"
#include "tests/support/seeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace revenant::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

struct World {
    explicit World(std::uint64_t seed = 1) : disk(seed) {
        EXPECT_TRUE(disk.make_directory("/d").has_value());
    }
    std::shared_ptr<File> file(const std::string& path, std::string_view bytes) {
        auto made = disk.create(path).value();
        EXPECT_TRUE(made->write(0, bytes).has_value());
        return made;
    }
    SimDisk disk;
};

// ------------------------------------------------------------------------- durability

TEST(SimDisk, WhatWasSyncedSurvivesEveryPowerLoss) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        World w(seed);
        ASSERT_TRUE(w.file("/d/a", "synced")->sync().has_value());
        ASSERT_TRUE(w.disk.sync_directory("/d").has_value());
        ASSERT_TRUE(w.disk.open("/d/a").value()->write(6, "not synced").has_value());
        w.disk.crash();
        w.disk.restart(SimDisk::Loss::power);
        EXPECT_EQ(w.disk.contents("/d/a").substr(0, 6), "synced");
    }
}

TEST(SimDisk, WhatWasNotSyncedSurvivesNowAndThen) {
    std::set<std::string> outcomes;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        World w(seed);
        const auto file = w.file("/d/a", std::string(2 * sector_bytes, 'o'));
        ASSERT_TRUE(file->sync().has_value());
        ASSERT_TRUE(w.disk.sync_directory("/d").has_value());
        ASSERT_TRUE(file->write(0, std::string(3 * sector_bytes, 'n')).has_value());
        w.disk.restart(SimDisk::Loss::power);
        std::string outcome;
        const std::string left = w.disk.contents("/d/a");
        for (std::size_t at = 0; at < left.size(); at += sector_bytes) {
            const std::string sector = left.substr(at, sector_bytes);
            EXPECT_EQ(sector, std::string(sector_bytes, sector[0])) << "half a sector";
            outcome += sector[0] == '\0' ? '0' : sector[0];
        }
        outcomes.insert(outcome);
    }
    EXPECT_THAT(outcomes, ElementsAre("nn", "nn0", "nnn", "no", "no0", "non", "on", "on0", "onn",
                                      "oo", "oo0", "oon"));
}

TEST(SimDisk, OfTheChangesOfADirectoryAFirstPartHappened) {
    std::set<std::string> outcomes;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        World w(seed);
        ASSERT_TRUE(w.file("/d/a", "a")->sync().has_value());
        ASSERT_TRUE(w.disk.rename("/d/a", "/d/b").has_value());
        ASSERT_TRUE(w.file("/d/c", "c")->sync().has_value());
        ASSERT_TRUE(w.disk.remove("/d/b").has_value());
        w.disk.restart(SimDisk::Loss::power);
        std::string outcome;
        const auto names = w.disk.list("/d").value();
        for (const std::string& name : names) outcome += name;
        outcomes.insert(outcome);
    }
    EXPECT_THAT(outcomes, ElementsAre("", "a", "b", "bc", "c"));
}

TEST(SimDisk, AProcessThatEndsLosesNothingWritten) {
    World w;
    w.file("/d/a", "written");
    w.disk.restart(SimDisk::Loss::process);
    EXPECT_EQ(w.disk.contents("/d/a"), "written");
    EXPECT_THAT(w.disk.certain_files(), IsEmpty());
}

TEST(SimDisk, FilesThatWereOpenBeforeARestartAreNot) {
    World w;
    const auto file = w.file("/d/a", "written");
    w.disk.restart(SimDisk::Loss::process);
    char byte = 0;
    EXPECT_FALSE(file->read(0, {&byte, 1}).has_value());
    EXPECT_FALSE(file->write(0, "x").has_value());
    EXPECT_FALSE(file->sync().has_value());
    EXPECT_FALSE(file->size().has_value());
    EXPECT_EQ(w.disk.contents("/d/a"), "written");
}

// ------------------------------------------------------------------------- steps

TEST(SimDisk, AfterACrashNothingHappensUntilTheRestart) {
    World w;
    const auto file = w.file("/d/a", "written");
    w.disk.crash_at_step(w.disk.steps() + 1);
    EXPECT_FALSE(w.disk.crashed());
    EXPECT_FALSE(w.disk.sync_directory("/d").has_value());
    EXPECT_TRUE(w.disk.crashed());
    EXPECT_FALSE(file->write(0, "changed").has_value());
    EXPECT_FALSE(w.disk.create("/d/b").has_value());
    EXPECT_FALSE(w.disk.list("/d").has_value());
    w.disk.restart(SimDisk::Loss::process);
    EXPECT_THAT(w.disk.list("/d").value(), ElementsAre("a"));
    EXPECT_EQ(w.disk.contents("/d/a"), "written");
}

TEST(SimDisk, AStepThatFailsIsFollowedByOnesThatDoNot) {
    World w;
    const auto file = w.file("/d/a", "written");
    w.disk.fail_at_step(w.disk.steps() + 1);
    EXPECT_FALSE(file->sync().has_value());
    EXPECT_TRUE(file->sync().has_value());
    EXPECT_FALSE(w.disk.crashed());
}

TEST(SimDisk, TheSameSeedLeavesTheSame) {
    const auto left_by = [](std::uint64_t seed) {
        World w(seed);
        for (const char* name : {"/d/a", "/d/b", "/d/c"}) {
            w.file(name, std::string(5000, name[3]));
        }
        w.disk.restart(SimDisk::Loss::power);
        return w.disk.certain_files();
    };
    EXPECT_EQ(left_by(7), left_by(7));
    std::set<std::map<std::string, std::string>> outcomes;
    for (std::uint64_t seed = 0; seed < 20; ++seed) outcomes.insert(left_by(seed));
    EXPECT_GT(outcomes.size(), 5U);
}

// ------------------------------------------------------------------------- faults

TEST(SimDisk, ASyncThatLiesMakesNothingCertain) {
    World w;
    w.disk.lie_on_sync(true);
    EXPECT_TRUE(w.file("/d/a", "written")->sync().has_value());
    EXPECT_TRUE(w.disk.sync_directory("/d").has_value());
    EXPECT_THAT(w.disk.certain_files(), IsEmpty());
}

TEST(SimDisk, WhatAFailedSyncDroppedIsNotWrittenByTheNextOne) {
    World w;
    const auto file = w.file("/d/a", "written");
    ASSERT_TRUE(w.disk.sync_directory("/d").has_value());
    w.disk.fail_next_sync();
    EXPECT_FALSE(file->sync().has_value());
    w.disk.restart(SimDisk::Loss::power);
    EXPECT_THAT(w.disk.certain_files(), ElementsAre(Pair("/d/a", "")));
}

TEST(SimDisk, AFullDiskTakesOverwritesOnly) {
    World w;
    const auto file = w.file("/d/a", "12345678");
    w.disk.set_capacity(8);
    EXPECT_TRUE(file->write(0, "abcdefgh").has_value());
    const auto grown = file->write(6, "GHIJ");
    ASSERT_FALSE(grown.has_value());
    EXPECT_TRUE(grown.error().disk_full);
    EXPECT_THAT(grown.error().text, HasSubstr("/d/a at offset 8: No space left on device"));
    EXPECT_EQ(w.disk.contents("/d/a"), "abcdefGH");
    EXPECT_TRUE(w.disk.create("/d/b").error().disk_full);
    EXPECT_EQ(w.disk.free_bytes("/d").value(), 0U);
    w.disk.set_capacity(20);
    EXPECT_TRUE(file->write(6, "GHIJ").has_value());
    EXPECT_EQ(w.disk.free_bytes("/d").value(), 10U);
}

TEST(SimDisk, ReadsAndWritesFailWhenTold) {
    World w;
    const auto file = w.file("/d/a", "12345678");
    char byte = 0;
    w.disk.fail_reads(true);
    EXPECT_THAT(file->read(3, {&byte, 1}).error().text, HasSubstr("read /d/a at offset 3"));
    w.disk.fail_reads(false);
    EXPECT_TRUE(file->read(3, {&byte, 1}).has_value());
    w.disk.fail_next_write();
    EXPECT_FALSE(file->write(0, "x").error().disk_full);
    EXPECT_TRUE(file->write(0, "x").has_value());
}

TEST(SimDisk, ABitThatFlipsStaysSo) {
    World w;
    ASSERT_TRUE(w.file("/d/a", "aaa")->sync().has_value());
    ASSERT_TRUE(w.disk.sync_directory("/d").has_value());
    w.disk.flip_bit("/d/a", 1, 1);
    EXPECT_EQ(w.disk.contents("/d/a"), "aca");
    w.disk.restart(SimDisk::Loss::power);
    EXPECT_EQ(w.disk.contents("/d/a"), "aca");
}

TEST(SimDisk, ALockIsHeldUntilItsObjectIsGoneOrTheProcessIs) {
    World w;
    auto held = w.disk.lock("/d").value();
    EXPECT_FALSE(w.disk.lock("/d").has_value());
    held.reset();
    held = w.disk.lock("/d").value();
    w.disk.restart(SimDisk::Loss::process);
    auto next = w.disk.lock("/d").value();
    held.reset();
    EXPECT_FALSE(w.disk.lock("/d").has_value());
}

// ------------------------------------------------------------------------- comparison with a real
// disk

// Performs the same random operations on both disks and describes the results as lines.
class Twins {
  public:
    Twins(journal::Disk& disk, const std::string& root, std::uint64_t seed)
        : disk_(disk), root_(root), dice_(seed) {}

    std::vector<std::string> run(int operations) {
        tell("make", disk_.make_directory(root_ + "/d0/inner"));
        tell("make", disk_.make_directory(root_ + "/d1"));
        for (int i = 0; i < operations; ++i) operate();
        return told_;
    }

  private:
    std::string directory() { return root_ + "/d" + std::to_string(dice_.below(3)); }
    std::string path(const std::string& in) { return in + "/f" + std::to_string(dice_.below(4)); }

    void operate() {
        const std::string in = directory();
        const std::string one = path(in);
        switch (dice_.below(10)) {
            case 0:
                return keep("create", disk_.create(one));
            case 1:
                return keep("open", disk_.open(one));
            case 2:
                return tell("rename", disk_.rename(one, path(in)));
            case 3:
                return tell("remove", disk_.remove(one));
            case 4:
                return list(in);
            case 5:
                return tell("sync directory", disk_.sync_directory(in));
            case 6:
                return dice_.one_in(10) ? remove_and_make(in) : list(root_);
            default:
                return use_a_file();
        }
    }

    void keep(const std::string& what, Result<std::shared_ptr<File>, IoError> outcome) {
        if (!outcome) return tell_error(what, outcome.error());
        told_.push_back(what + " ok");
        files_.push_back(std::move(outcome).value());
        if (files_.size() > 5) files_.erase(files_.begin());
    }

    void list(const std::string& in) {
        const auto names = disk_.list(in);
        if (!names) return tell_error("list", names.error());
        std::string line = "list";
        for (const std::string& name : *names) line += ' ' + name;
        told_.push_back(line);
    }

    void remove_and_make(const std::string& in) {
        tell("remove directory", disk_.remove_directory(in, ""));
        if (dice_.one_in(2)) tell("make directory", disk_.make_directory(in));
    }

    void use_a_file() {
        if (files_.empty()) return;
        File& file = *files_[dice_.below(files_.size())];
        const std::uint64_t offset = dice_.below(3000);
        std::string bytes = dice_.bytes(dice_.below(1500));
        switch (dice_.below(4)) {
            case 0:
                return tell("sync", file.sync());
            case 1:
                told_.push_back("size " + std::to_string(file.size().value()));
                return;
            case 2:
                return tell("write", file.write(offset, bytes));
            default:
                break;
        }
        const std::size_t got = file.read(offset, bytes).value();
        told_.push_back("read " + bytes.substr(0, got));
    }

    void tell(const std::string& what, const Result<void, IoError>& outcome) {
        if (!outcome) return tell_error(what, outcome.error());
        told_.push_back(what + " ok");
    }
    void tell_error(const std::string& what, const IoError& error) {
        told_.push_back(what + " failed: " + error.text + (error.disk_full ? ", full" : ""));
    }

    journal::Disk& disk_;
    const std::string root_;
    Dice dice_;
    std::vector<std::shared_ptr<File>> files_;
    std::vector<std::string> told_;
};

TEST(SimDisk, AnswersAsTheRealOneDoesWhileNothingCrashes) {
    SeedWatch watch("sim_disk");
    const std::uint64_t only = number_from_environment("REVENANT_SEED", 0);
    std::string root = ::testing::TempDir() + "revenant-twins-XXXXXX";
    ASSERT_NE(::mkdtemp(root.data()), nullptr);
    for (std::uint64_t seed = std::max<std::uint64_t>(only, 1); seed <= (only ? only : 20);
         ++seed) {
        watch.begin(seed);
        journal::PosixDisk real;
        SimDisk simulated(seed);
        const std::string place = root + "/" + std::to_string(seed);
        EXPECT_EQ(Twins(simulated, place, seed).run(120), Twins(real, place, seed).run(120))
            << "seed " << seed;
    }
    std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace revenant::sim
