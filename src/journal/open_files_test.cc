#include "journal/open_files.h"

#include "base/probe.h"
#include "journal/disk_posix.h"
#include "journal/scratch.h"
#include "tests/support/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace revenant::journal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::size_t descriptors_of_this_process() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator("/proc/self/fd")) {
        count += 1;
    }
    return count;
}

std::string name_of(std::size_t number) { return "file" + std::to_string(number); }

// Files that contain their names, and a disk that keeps a few of them open.
struct ManyFiles {
    explicit ManyFiles(std::size_t count, std::size_t open_max = 3) : disk(open_max) {
        for (std::size_t i = 0; i < count; ++i) {
            write_file(folder / name_of(i), name_of(i));
            files.push_back(disk.open_when_read(folder / name_of(i)));
        }
    }
    std::string read(std::size_t number) {
        std::string bytes(name_of(number).size(), '\0');
        const auto got = files[number]->read(0, bytes);
        return got ? bytes.substr(0, *got) : got.error().text;
    }

    Folder folder;
    PosixDisk disk;
    std::vector<std::shared_ptr<const File>> files;
};

TEST(OpenFiles, ManyAreReadWithFewDescriptors) {
    ManyFiles m(50);
    const std::size_t before = descriptors_of_this_process();
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < m.files.size(); ++i) {
            EXPECT_EQ(m.read(i), name_of(i));
            EXPECT_EQ(m.files[i]->size().value(), name_of(i).size());
            m.files[i]->will_need(0, 3);
            EXPECT_LE(descriptors_of_this_process(), before + 3);
        }
    }
    m.files.clear();
    EXPECT_EQ(descriptors_of_this_process(), before);
    EXPECT_GT(Probe::hits("open_files.closed_one"), 0U);
}

TEST(OpenFiles, OneThatIsMissingIsNoticedWhenItIsRead) {
    ManyFiles m(1);
    std::filesystem::remove(m.folder / name_of(0));
    EXPECT_THAT(m.read(0), AllOf(HasSubstr("open " + m.folder.path()), HasSubstr("No such file")));
    EXPECT_FALSE(m.files[0]->size().has_value());
    m.files[0]->will_need(0, 3);
}

TEST(OpenFiles, ANameThatHasComeToMeanAnotherFileIsNotRead) {
    ManyFiles m(5);
    EXPECT_EQ(m.read(0), name_of(0));
    write_file(m.folder / "another", "strange bytes");
    std::filesystem::rename(m.folder / "another", m.folder / name_of(0));
    EXPECT_EQ(m.read(0), name_of(0)) << "it is open";
    for (std::size_t i = 1; i < 5; ++i) m.read(i);
    EXPECT_THAT(m.read(0), HasSubstr("another file"));
}

TEST(OpenFiles, OneThatIsKeptOpenStaysTheSame) {
    ManyFiles m(5);
    auto kept = m.files[0]->keep_open().value();
    write_file(m.folder / "another", "strange bytes");
    std::filesystem::rename(m.folder / "another", m.folder / name_of(0));
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 1; i < 5; ++i) m.read(i);
        EXPECT_EQ(m.read(0), name_of(0));
    }
    kept.reset();
    for (std::size_t i = 1; i < 5; ++i) m.read(i);
    EXPECT_THAT(m.read(0), HasSubstr("another file"));
}

TEST(OpenFiles, TheyAreNotForWriting) {
    ManyFiles m(1);
    auto& file = const_cast<File&>(*m.files[0]);
    EXPECT_FALSE(file.write(0, "x").has_value());
    EXPECT_FALSE(file.allocate(100).has_value());
    EXPECT_FALSE(file.sync().has_value());
    EXPECT_EQ(m.read(0), name_of(0));
}

// Lowers the limit for its lifetime.
class FewDescriptors {
  public:
    explicit FewDescriptors(std::size_t more) {
        getrlimit(RLIMIT_NOFILE, &before_);
        rlimit few = before_;
        // The lowest free number is assigned first.
        const int next = ::dup(0);
        ::close(next);
        few.rlim_cur = static_cast<rlim_t>(next) + more;
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    }
    ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;

  private:
    rlimit before_{};
};

TEST(OpenFiles, GiveTheirDescriptorsToAFileThatIsWritten) {
    ManyFiles m(5, 5);
    for (std::size_t i = 0; i < 5; ++i) m.read(i);
    const std::uint64_t before = Probe::hits("open_files.used_up");
    {
        const FewDescriptors few(0);
        EXPECT_TRUE(m.disk.create(m.folder / "written").has_value());
        EXPECT_TRUE(m.disk.sync_directory(m.folder.path()).has_value());
        EXPECT_EQ(m.read(4), name_of(4));
    }
    EXPECT_EQ(Probe::hits("open_files.used_up"), before + 1);
}

TEST(OpenFiles, ManyThreadsMayReadThem) {
    ManyFiles m(8);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (std::size_t i = 0; i < 500; ++i) {
                const std::size_t number = (i * (t + 1)) % 8;
                if (m.read(number) != name_of(number)) wrong += 1;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong.load(), 0);
}

TEST(OpenFiles, PagesOfTransientMessagesNeedFewDescriptors) {
    Folder folder;
    PosixDisk disk(3);
    auto scratch = Scratch::open(disk, folder / "scratch", /*file_bytes=*/100).value();
    const std::size_t before = descriptors_of_this_process();
    std::vector<std::uint64_t> places;
    for (int i = 0; i < 100; ++i) places.push_back(scratch->keep(std::string(60, 'a')).value());
    EXPECT_EQ(scratch->file_count(), 50U);
    for (const std::uint64_t at : places) {
        EXPECT_EQ(scratch->fetch(at, 60).value(), std::string(60, 'a'));
    }
    EXPECT_LE(descriptors_of_this_process(), before + 4);
}

}  // namespace
}  // namespace revenant::journal
