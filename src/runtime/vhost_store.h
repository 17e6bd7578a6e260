// VhostStore: the storage of a virtual host. It has a journal for events and pages, which are
// recovered after a restart, and a scratch directory for pages that are not.
#pragma once

#include "base/result.h"
#include "engine/chain/cold_store.h"
#include "engine/recovery/durable_recorder.h"
#include "engine/recovery/snapshot_codec.h"
#include "journal/disk.h"
#include "journal/disk_worker.h"
#include "journal/journal.h"
#include "journal/scratch.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace revenant::runtime {

struct StoreSettings {
    journal::JournalSettings journal;
    // A snapshot is taken after this many bytes. It bounds the time of a restart.
    std::uint64_t snapshot_after_bytes = 64 * 1024 * 1024;
    // The same limit while the vhost is idle.
    std::uint64_t idle_snapshot_after_bytes = 1024 * 1024;
    // Adjacent files are compacted if that frees this many bytes. A snapshot is taken early if it
    // frees this many.
    std::uint64_t compact_for_bytes = 8 * 1024 * 1024;
    std::size_t compact_for_files = 16;  // or if there are this many files
};

class VhostStore final : public engine::ColdStore, public engine::RecordSink {
  public:
    // Called when the disk fails; ends the node and must not return. An unreadable message is not
    // fatal unless recover() needs it.
    using FatalHandler = std::function<void(const std::string&)>;

    static Result<std::unique_ptr<VhostStore>, std::string> open(
        journal::Disk& disk, std::unique_ptr<journal::DiskWorker> worker,
        const std::string& directory, StoreSettings settings, FatalHandler fatal);

    journal::Journal& journal() { return *journal_; }
    // Restores durable state into a new engine. Must be called first. An error leaves the disk
    // unchanged.
    Result<void, std::string> recover(engine::State& state);
    // take_snapshot_if_due() takes one after enough bytes were written; take_snapshot() always
    // does.
    void take_snapshot_if_due(engine::State& state);
    void take_snapshot(engine::State& state, engine::Shutdown stop);
    // Called while nothing is written. Takes a snapshot for a fast restart or to free disk space.
    void compact_when_idle(engine::State& state);
    // Takes a snapshot if that frees enough disk space. Checks only if a message was removed or a
    // record was written since the last check.
    void free_space(engine::State& state);

    // --- ColdStore ---
    engine::ColdPage write_page(std::string_view page, engine::Durability durability) override;
    Result<std::string, std::string> read_page(engine::ColdPage page,
                                               engine::Durability durability) override;
    void drop_transient(engine::ColdPage page) override { scratch_->drop(page.at.value); }
    Result<void, std::string> read(Lsn at, std::span<char> into) override;
    std::string fail_damaged(Lsn at) override;
    Lsn contiguous_end(Lsn at) override { return journal_->contiguous_end(at); }
    void will_need(const engine::ColdBlock& block) override;

    // --- RecordSink ---
    std::string& begin_record() override { return journal_->begin_record(); }
    void end_record() override { journal_->end_record(); }
    Lsn position() const override { return journal_->position(); }
    Lsn batch_position() const override { return journal_->batch_position(); }

  private:
    VhostStore(journal::Disk& disk, std::unique_ptr<journal::DiskWorker> worker,
               std::string directory, StoreSettings settings, FatalHandler fatal)
        : disk_(disk),
          worker_(std::move(worker)),
          directory_(std::move(directory)),
          settings_(settings),
          fatal_(std::move(fatal)) {}
    Result<engine::Shutdown, std::string> recover_snapshot(engine::State& state);
    Result<void, std::string> check_files(engine::State& state) const;
    using BytesInUse = std::map<Lsn, std::uint64_t>;  // by segment
    BytesInUse bytes_by_segment(const std::vector<engine::JournalRange>& journal_ranges) const;
    std::uint64_t closed_bytes() const;
    std::uint64_t freeable_bytes(const BytesInUse& bytes_in_use) const;
    bool is_busy() const;
    void plan_compactions(engine::State& state, const BytesInUse& bytes_in_use);
    std::uint64_t bytes_since_snapshot() const;
    void compact_if_planned();
    MessageRef find_message(Lsn at, const engine::MessageFormats& formats);
    Result<std::string, std::string> read_page_bytes(engine::ColdPage page,
                                                     engine::Durability durability);
    std::string unreadable(std::string why) const;

    journal::Disk& disk_;
    std::unique_ptr<journal::DiskWorker> worker_;
    const std::string directory_;
    const StoreSettings settings_;
    FatalHandler fatal_;
    std::unique_ptr<journal::Journal> journal_;
    std::unique_ptr<journal::Scratch> scratch_;  // set after recovery
    struct PlannedCompaction {
        Lsn start;
        Lsn end;
        std::vector<journal::Extent> in_use;
    };
    std::vector<PlannedCompaction> planned_;
    Lsn planned_with_;  // position of the snapshot that must be synced first
    // Segments that an unreadable page refers to. The bytes in use are unknown, so they are kept
    // completely.
    std::set<Lsn> kept_whole_;
    // State at the last check by free_space().
    Lsn looked_at_;
    std::uint64_t ended_when_looked_ = UINT64_MAX;  // number of messages
};

}  // namespace revenant::runtime
