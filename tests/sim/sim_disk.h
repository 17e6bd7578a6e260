// SimDisk: a disk in memory that distinguishes written and synced data, and loses power on request.
// All random behaviour is determined by its seed.
//
// After a power loss, each sector of an unsynced write either contains the new data or keeps its
// old contents. A file has grown by all, some or none of these writes, with zeros where nothing
// survived. Of the creations, renames and removals in an unsynced directory, the first few
// happened. Directories themselves are created and removed durably, and files are renamed only
// within their directory.
#pragma once

#include "journal/disk.h"
#include "tests/sim/dice.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::sim {

using journal::DirectoryLock;
using journal::File;
using journal::IoError;

constexpr std::size_t sector_bytes = 512;

struct DiskCounts {
    std::uint64_t opens = 0;
    std::uint64_t creates = 0;
    std::uint64_t reads = 0;
    std::uint64_t failed_reads = 0;  // on request
    std::uint64_t writes = 0;
    std::uint64_t bytes_written = 0;
    std::uint64_t syncs = 0;
    std::uint64_t renames = 0;
    std::uint64_t removes = 0;
    std::uint64_t lists = 0;
    std::uint64_t directory_syncs = 0;
};

class SimDisk final : public journal::Disk {
  public:
    explicit SimDisk(std::uint64_t seed) : dice_(seed) {}

    Result<std::shared_ptr<File>, IoError> open(const std::string& path) override;
    std::shared_ptr<const File> open_when_read(const std::string& path) override;
    Result<std::shared_ptr<File>, IoError> create(const std::string& path) override;
    Result<void, IoError> rename(const std::string& from, const std::string& to) override;
    Result<void, IoError> remove(const std::string& path) override;
    Result<void, IoError> make_directory(const std::string& path) override;
    Result<void, IoError> remove_directory(const std::string& path, std::string_view last) override;
    Result<std::vector<std::string>, IoError> list(const std::string& path) override;
    Result<void, IoError> sync_directory(const std::string& path) override;
    Result<std::unique_ptr<DirectoryLock>, IoError> lock(const std::string& path) override;
    Result<std::uint64_t, IoError> free_bytes(const std::string& path) override;
    std::uint32_t draw_secret() override {
        return static_cast<std::uint32_t>(dice_.below(UINT32_MAX));
    }

    // --- crashes ---

    // Every operation is a step, counted from 1, except size queries and hints.
    std::uint64_t steps() const { return steps_; }
    // This step fails completely or in part, as does every later one until restart().
    void crash_at_step(std::uint64_t step) { crash_at_ = step; }
    // This step fails completely or in part; later steps succeed.
    void fail_at_step(std::uint64_t step) { fail_at_ = step; }
    bool crashed() const { return crashed_; }
    void crash() { crashed_ = true; }
    enum class Loss : std::uint8_t { power, process };  // the end of a process loses no write
    // Open files stay unusable.
    void restart(Loss loss);

    // --- failures ---

    void fail_next_write() { fail_write_ = true; }
    void fail_next_sync() { fail_sync_ = true; }
    // Like fail_next_sync(), with the error of a full disk, as on some file systems.
    void fail_next_sync_as_full() { fail_sync_as_full_ = true; }
    void fail_reads(bool failing) { fail_reads_ = failing; }
    bool fails_reads() const { return fail_reads_; }
    // Cancels pending failures.
    void heal() { fail_write_ = fail_sync_ = fail_sync_as_full_ = false; }
    // Syncs report success without syncing.
    void lie_on_sync(bool lying) { lying_ = lying; }
    // Limits the total size of all files; absent: unlimited.
    void set_capacity(std::optional<std::uint64_t> bytes) { capacity_ = bytes; }
    void flip_bit(const std::string& path, std::uint64_t offset, unsigned bit);

    // --- inspection, without steps ---

    const DiskCounts& counts() const { return counts_; }
    std::uint64_t used_bytes() const;
    bool exists(const std::string& path) const;
    std::string contents(const std::string& path) const;
    // The synced names and contents.
    std::map<std::string, std::string> certain_files() const;

  private:
    friend class SimFile;
    friend class SimReadFile;
    struct Change {
        std::uint64_t offset = 0;
        std::string bytes;
        bool truncates = false;
    };
    struct Node {
        std::string live;
        std::string certain;
        std::vector<Change> unsynced;
    };
    using Names = std::map<std::string, std::shared_ptr<Node>>;
    struct NameChange {
        enum class What : std::uint8_t { create, rename, remove };
        What what;
        std::string name;
        std::string to;
        std::shared_ptr<Node> node;
    };
    struct Directory {
        Names live;
        Names certain;
        std::vector<NameChange> unsynced;
    };
    enum class Step : std::uint8_t { happens, fails, happens_unanswered };
    struct Place {
        std::string directory;
        std::string name;
    };

    static Place split_path(const std::string& path);
    static void apply(Names& names, const NameChange& change);
    std::shared_ptr<Node> find(const std::string& path) const;
    Step step();
    std::optional<IoError> failure_of(Step step, std::string_view what, const std::string& path);
    void change_names(Directory& directory, NameChange change);
    void write_to(Node& node, std::uint64_t offset, std::string_view bytes);
    static void make_durable(Node& node);
    std::string_view part_of(std::string_view bytes);
    void lose_power(Node& node);
    void lose_power(Directory& directory);
    std::uint64_t room() const;

    Dice dice_;
    std::map<std::string, Directory> directories_;
    std::set<std::string> locked_;
    std::uint64_t steps_ = 0;
    std::uint64_t crash_at_ = 0;
    std::uint64_t fail_at_ = 0;
    std::uint64_t generation_ = 0;
    std::uint64_t survival_percent_ = 50;
    bool crashed_ = false;
    bool fail_write_ = false;
    bool fail_sync_ = false;
    bool fail_sync_as_full_ = false;
    bool fail_reads_ = false;
    bool lying_ = false;
    std::optional<std::uint64_t> capacity_;
    DiskCounts counts_;
};

}  // namespace revenant::sim
