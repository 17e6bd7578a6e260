// Data of a newer version is refused, with the version in the error, and left unchanged.

#include "engine/recovery/snapshot_codec.h"
#include "journal/disk_posix.h"
#include "journal/journal.h"
#include "journal/snapshot_file.h"
#include "runtime/catalog_store.h"
#include "tests/golden/golden_vhost.h"
#include "tests/support/folder.h"
#include "tests/support/inline_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

namespace revenant::golden {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;

const fs::path version_1 = fs::path(REVENANT_SOURCE_DIR) / "tests/golden/v1";

struct Version : ::testing::Test {
    Version() {
        fs::copy(version_1 / "vhosts/%2F", vhost, fs::copy_options::recursive);
        fs::copy(version_1 / "catalog", catalog, fs::copy_options::recursive);
        // Files that a successful startup would remove.
        fs::create_directories(vhost + "/scratch");
        write_file(vhost + "/scratch/1.pages", "of another process");
        write_file(vhost + "/0000000000000008.snapshot.new", "never finished");
    }

    static std::string last_file(const std::string& directory, const std::string& ending) {
        std::string last;
        for (const auto& entry : fs::directory_iterator(directory)) {
            if (entry.path().string().ends_with(ending))
                last = std::max(last, entry.path().string());
        }
        EXPECT_NE(last, "");
        return last;
    }
    static void patch(const std::string& path, std::size_t offset, char byte) {
        std::string contents = file_contents(path);
        ASSERT_LT(offset, contents.size());
        contents[offset] = byte;
        write_file(path, contents);
    }
    void append_record(const std::string& directory, const std::string& record) {
        InlineWorker worker;
        auto journal = journal::Journal::open(disk, worker, directory, {}).value();
        journal->begin_record() += record;
        journal->end_record();
        journal->flush(journal::Journal::SyncMode::immediate);
    }
    std::string refusal_of_vhost() {
        const auto before = all_files(vhost);
        GoldenVhost refused(disk, vhost);
        const auto error = refused.start();
        EXPECT_TRUE(all_files(vhost) == before) << "the refusal changed the directory";
        return error.value_or("accepted");
    }
    std::string refusal_of_catalog() {
        const auto before = all_files(catalog);
        std::string error = "accepted";
        Catalog loaded;
        if (auto store = runtime::CatalogStore::open(disk, catalog); !store) {
            error = store.error();
        } else if (const auto found = (*store)->load(loaded); !found) {
            error = found.error();
        }
        if (error != "accepted") {
            EXPECT_TRUE(all_files(catalog) == before) << "the refusal changed the directory";
        }
        return error;
    }

    Folder folder;
    const std::string vhost = folder / "vhost";
    const std::string catalog = folder / "catalog";
    journal::PosixDisk disk;
};

TEST_F(Version, TheGoldenOnesAreAccepted) {
    GoldenVhost accepted(disk, vhost);
    EXPECT_EQ(accepted.start(), std::nullopt);
    EXPECT_FALSE(fs::exists(vhost + "/0000000000000008.snapshot.new"));
    EXPECT_FALSE(fs::exists(vhost + "/scratch/1.pages"));
    EXPECT_EQ(refusal_of_catalog(), "accepted");
}

TEST_F(Version, ANewerSegmentIsRefused) {
    const std::string path = last_file(vhost, ".segment");
    patch(path, 11, '2');
    EXPECT_THAT(refusal_of_vhost(), AllOf(HasSubstr(path), HasSubstr("version 2")));
}

TEST_F(Version, ANewerBatchBehindKnownOnesIsRefused) {
    const std::string path = last_file(vhost, ".segment");
    const std::string contents = file_contents(path);
    const std::size_t last = contents.rfind("RVB1");
    ASSERT_NE(last, std::string::npos);
    ASSERT_GT(last, 8U);
    patch(path, last + 3, '3');
    EXPECT_THAT(refusal_of_vhost(), AllOf(HasSubstr(path), HasSubstr("version 3")));
}

// The newer broker crashed: its first batch is torn, but a later one exists.
TEST_F(Version, ANewerBatchBehindATornOneIsRefused) {
    const std::string path = last_file(vhost, ".segment");
    const std::string contents = file_contents(path);
    const std::size_t last = contents.rfind("RVB1");
    const std::size_t before = contents.rfind("RVB1", last - 1);
    ASSERT_NE(before, std::string::npos);
    patch(path, last + 3, '2');
    patch(path, before, 'x');
    EXPECT_THAT(refusal_of_vhost(), AllOf(HasSubstr(path), HasSubstr("version 2")));
}

TEST_F(Version, ANewerSnapshotFileIsRefused) {
    const std::string path = last_file(vhost, ".snapshot");
    patch(path, 3, '2');
    EXPECT_THAT(refusal_of_vhost(), AllOf(HasSubstr(path), HasSubstr("version 2")));
}

TEST_F(Version, ANewerStateInASnapshotIsRefused) {
    const std::string path = last_file(vhost, ".snapshot");
    const Lsn at = *journal::parse_snapshot_name(fs::path(path).filename().string());
    auto snapshot = journal::read_snapshot_file(disk, vhost, at).value();
    snapshot.bytes.front() = engine::snapshot_version + 1;
    ASSERT_TRUE(
        journal::write_snapshot_file(disk, vhost, at, snapshot.epoch, snapshot.bytes).has_value());
    EXPECT_THAT(refusal_of_vhost(), AllOf(HasSubstr(path), HasSubstr("version 2")));
}

TEST_F(Version, AnUnknownKindOfRecordIsRefused) {
    append_record(vhost, "\x09what a newer broker has to say");
    const std::string path = last_file(vhost, ".segment");
    EXPECT_THAT(refusal_of_vhost(),
                AllOf(HasSubstr(path), HasSubstr("offset"), HasSubstr("kind 9")));
}

TEST_F(Version, AnUnknownFactIsRefused) {
    append_record(vhost, "\x01\xfa");
    const std::string path = last_file(vhost, ".segment");
    EXPECT_THAT(refusal_of_vhost(), AllOf(HasSubstr(path), HasSubstr("event")));
}

TEST_F(Version, ANewerRecordOfTheCatalogIsRefused) {
    append_record(catalog, std::string("\x02\0\0\0\0", 5));
    const std::string path = last_file(catalog, ".segment");
    EXPECT_THAT(refusal_of_catalog(), AllOf(HasSubstr(path), HasSubstr("version 2")));
}

TEST_F(Version, AnUnknownFactOfTheCatalogIsRefused) {
    append_record(catalog, std::string("\x01\0\0\0\x01\xc8", 6));
    const std::string path = last_file(catalog, ".segment");
    EXPECT_THAT(refusal_of_catalog(), AllOf(HasSubstr(path), HasSubstr("event")));
}

}  // namespace
}  // namespace revenant::golden
