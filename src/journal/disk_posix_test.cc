#include "journal/disk_posix.h"

#include "tests/support/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace revenant::journal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string read_all(const File& file) {
    std::string bytes(file.size().value() + 10, '\0');
    bytes.resize(file.read(0, bytes).value());
    return bytes;
}

struct Real {
    std::shared_ptr<File> file(const std::string& name, std::string_view bytes) {
        auto made = disk.create(folder / name).value();
        EXPECT_TRUE(made->write(0, bytes).has_value());
        return made;
    }
    Folder folder;
    PosixDisk disk;
};

TEST(PosixDisk, WhatIsWrittenIsRead) {
    Real r;
    const auto file = r.file("a", "some bytes");
    ASSERT_TRUE(file->write(20, "more").has_value());
    ASSERT_TRUE(file->sync().has_value());
    EXPECT_EQ(file->size().value(), 24U);
    EXPECT_EQ(read_all(*r.disk.open(r.folder / "a").value()),
              "some bytes" + std::string(10, '\0') + "more");
    file->will_need(0, 24);
    char letters[4];
    EXPECT_EQ(file->read(22, letters).value(), 2U) << "fewer bytes at the end";
    EXPECT_EQ(file->read(100, letters).value(), 0U);
}

TEST(PosixDisk, WhatIsCreatedIsEmptyInThePlaceOfAnyOther) {
    Real r;
    r.file("a", "old");
    EXPECT_EQ(r.disk.create(r.folder / "a").value()->size().value(), 0U);
}

TEST(PosixDisk, ARenamedFileTakesThePlaceOfTheOther) {
    Real r;
    r.file("a", "new");
    r.file("b", "old");
    ASSERT_TRUE(r.disk.rename(r.folder / "a", r.folder / "b").has_value());
    ASSERT_TRUE(r.disk.sync_directory(r.folder.path()).has_value());
    EXPECT_THAT(r.disk.list(r.folder.path()).value(), ElementsAre("b"));
    EXPECT_EQ(read_all(*r.disk.open(r.folder / "b").value()), "new");
}

TEST(PosixDisk, ARemovedFileIsGoneAndMayBeGoneBefore) {
    Real r;
    const auto file = r.file("a", "still open");
    EXPECT_TRUE(r.disk.remove(r.folder / "a").has_value());
    EXPECT_TRUE(r.disk.remove(r.folder / "a").has_value());
    EXPECT_THAT(r.disk.list(r.folder.path()).value(), IsEmpty());
    EXPECT_EQ(read_all(*file), "still open");
}

TEST(PosixDisk, DirectoriesAreMadeWithThoseAboveAndRemovedWithAllInThem) {
    Real r;
    const std::string inner = r.folder / "x/y/z";
    ASSERT_TRUE(r.disk.make_directory(inner).has_value());
    EXPECT_TRUE(r.disk.make_directory(inner).has_value()) << "no error if it is there";
    ASSERT_TRUE(r.disk.create(inner + "/a").has_value());
    EXPECT_THAT(r.disk.list(r.folder / "x").value(), ElementsAre("y"));
    EXPECT_TRUE(r.disk.remove_directory(r.folder / "x", "").has_value());
    EXPECT_THAT(r.disk.list(r.folder.path()).value(), IsEmpty());
    EXPECT_TRUE(r.disk.remove_directory(r.folder / "x", "").has_value());
}

TEST(PosixDisk, DirectoriesAreForTheOwnerAndTheGroupWhateverTheUmask) {
    using std::filesystem::perms;
    for (const mode_t mask : {0000, 0022, 0077, 0777}) {
        Real r;
        const mode_t before = ::umask(mask);
        const auto made = r.disk.make_directory(r.folder / "x/y");
        ::umask(before);
        ASSERT_TRUE(made.has_value()) << made.error().text;
        for (const char* const name : {"x", "x/y"}) {
            EXPECT_EQ(std::filesystem::status(r.folder / name).permissions(), perms{0750})
                << name << " with umask " << mask;
        }
    }
}

// An administrator may have changed the mode on purpose.
TEST(PosixDisk, TheModeOfADirectoryThatIsThereStays) {
    Real r;
    ASSERT_TRUE(r.disk.make_directory(r.folder / "x").has_value());
    std::filesystem::permissions(r.folder / "x", std::filesystem::perms{0700});
    ASSERT_TRUE(r.disk.make_directory(r.folder / "x/y").has_value());
    EXPECT_EQ(std::filesystem::status(r.folder / "x").permissions(), std::filesystem::perms{0700});
}

TEST(PosixDisk, DirectoriesAreMadeWhereTheProcessIsToo) {
    Real r;
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(r.folder.path());
    EXPECT_TRUE(r.disk.make_directory("here").has_value());
    EXPECT_TRUE(r.disk.make_directory("there/inside/").has_value());
    std::filesystem::current_path(before);
    EXPECT_THAT(r.disk.list(r.folder.path()).value(), ElementsAre("here", "there"));
    EXPECT_THAT(r.disk.list(r.folder / "there").value(), ElementsAre("inside"));
}

TEST(PosixDisk, NamesAreListedInOrder) {
    Real r;
    for (const char* name : {"c", "a", "b", "B"}) r.file(name, "");
    EXPECT_THAT(r.disk.list(r.folder.path()).value(), ElementsAre("B", "a", "b", "c"));
    EXPECT_THAT(r.disk.list(r.folder / "nowhere").value(), IsEmpty());
}

TEST(PosixDisk, FreeBytesAreThoseOfTheFileSystem) {
    Real r;
    EXPECT_GT(r.disk.free_bytes(r.folder.path()).value(), 0U);
}

TEST(PosixDisk, ErrorsNameWhatWasTriedOnWhichPath) {
    Real r;
    const std::string missing = r.folder / "missing/a";
    const std::string plain = r.folder / "plain";
    r.file("plain", "a file");
    const auto says = [](const auto& outcome) { return outcome ? "" : outcome.error().text; };
    const auto no_such = HasSubstr("No such file or directory");
    EXPECT_THAT(says(r.disk.open(missing)), AllOf(HasSubstr("open " + missing), no_such));
    EXPECT_THAT(says(r.disk.create(missing)), AllOf(HasSubstr("create " + missing), no_such));
    EXPECT_THAT(says(r.disk.rename(missing, plain)),
                AllOf(HasSubstr("rename " + missing), HasSubstr("to " + plain), no_such));
    EXPECT_THAT(says(r.disk.sync_directory(missing)), AllOf(HasSubstr(missing), no_such));
    EXPECT_THAT(says(r.disk.lock(missing)), AllOf(HasSubstr("open " + missing + "/lock"), no_such));
    EXPECT_THAT(says(r.disk.free_bytes(missing)), AllOf(HasSubstr("stat " + missing), no_such));
    EXPECT_THAT(says(r.disk.remove(r.folder.path())), HasSubstr("remove " + r.folder.path()));
    EXPECT_THAT(says(r.disk.make_directory(plain + "/d")),
                AllOf(HasSubstr("create directory " + plain + "/d"), HasSubstr("Not a directory")));
    const std::string too_long = r.folder / (std::string(200, 'x') + "/" + std::string(300, 'x'));
    EXPECT_THAT(says(r.disk.make_directory(too_long)),
                AllOf(HasSubstr("create directory " + too_long), HasSubstr("too long")));
    EXPECT_THAT(says(r.disk.list(plain)),
                AllOf(HasSubstr("list directory " + plain), HasSubstr("Not a directory")));
    EXPECT_FALSE(r.disk.open(missing).error().disk_full);
}

TEST(PosixDisk, AFullDiskIsToldApart) {
    if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
    PosixDisk disk;
    const auto written = disk.open("/dev/full").value()->write(0, "a byte too many");
    EXPECT_TRUE(written.error().disk_full);
    EXPECT_THAT(written.error().text, AllOf(HasSubstr("write /dev/full at offset 0"),
                                            HasSubstr("No space left on device")));
}

// Files cannot grow in the child; its exit status is the result.
TEST(PosixDisk, AWriteThatStopsHalfwaySaysWhere) {
    Real r;
    const auto file = r.file("a", "");
    const ::pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const struct ::rlimit limit { 1000, 1000 };
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const auto written = file->write(600, std::string(600, 'x'));
        const bool right = !written && !written.error().disk_full &&
                           written.error().text.find("at offset 1000: ") != std::string::npos;
        ::_exit(right ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(file->size().value(), 1000U);
}

TEST(PosixDisk, ALockedDirectoryIsRefusedToEveryoneElse) {
    Real r;
    auto held = r.disk.lock(r.folder.path());
    ASSERT_TRUE(held.has_value());
    PosixDisk other;
    const auto refused = other.lock(r.folder.path());
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().text,
                AllOf(HasSubstr(r.folder.path()),
                      HasSubstr("process " + std::to_string(::getpid())), Not(HasSubstr("\n"))));
    held = Unexpected{IoError{}};
    EXPECT_TRUE(other.lock(r.folder.path()).has_value());
}

TEST(PosixDisk, ALockIsHeldAgainstOtherProcessesAndDiesWithItsOwn) {
    Real r;
    int ready[2];
    int leave[2];
    ASSERT_EQ(::pipe(ready), 0);
    ASSERT_EQ(::pipe(leave), 0);
    const ::pid_t child = ::fork();
    if (child == 0) {
        ::close(leave[1]);
        const auto held = r.disk.lock(r.folder.path());
        char byte = held ? 'y' : 'n';
        (void)!::write(ready[1], &byte, 1);
        (void)!::read(leave[0], &byte, 1);
        ::_exit(0);  // without releasing the lock
    }
    ::close(leave[0]);
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
    const auto refused = r.disk.lock(r.folder.path());
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().text, HasSubstr("process " + std::to_string(child)));
    ::close(leave[1]);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_TRUE(r.disk.lock(r.folder.path()).has_value());
    ::close(ready[0]);
    ::close(ready[1]);
}

}  // namespace
}  // namespace revenant::journal
