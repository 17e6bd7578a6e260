// MemoryStore: a journal and a cold store in memory, for engines under test. It stores the records
// in order, so that a test can replay them into a new state, as a restart would.
#pragma once

#include "base/check.h"
#include "engine/chain/cold_store.h"
#include "engine/recovery/durable_recorder.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace revenant::engine {

class MemoryStore final : public ColdStore, public RecordSink {
  public:
    ColdPage write_page(std::string_view page, Durability durability) override;
    Result<std::string, std::string> read_page(ColdPage page, Durability durability) override;
    void drop_transient(ColdPage page) override;
    Result<void, std::string> read(Lsn at, std::span<char> into) override;
    std::string fail_damaged(Lsn at) override { return "damaged at " + std::to_string(at.value); }
    Lsn contiguous_end(Lsn) override { return position(); }
    void will_need(const ColdBlock&) override { blocks_expected_ += 1; }

    std::string& begin_record() override;
    void end_record() override;
    Lsn position() const override { return {stream_.size()}; }
    Lsn batch_position() const override { return {batch_at_}; }

    // The next record starts a new batch, as after a write to disk.
    void begin_batch() { batch_at_ = stream_.size(); }
    // Applies every record to the state. False: a record is unreadable.
    bool replay(State& state, const MessageFormats& formats);
    // Of events, not of pages.
    std::size_t largest_record() const { return largest_record_; }
    std::size_t transient_pages() const { return transient_.size(); }
    // Changes a byte in the store; a second call restores it.
    void flip(Lsn at) { stream_.at(at.value) = static_cast<char>(stream_.at(at.value) ^ 1); }
    void flip_passing(ColdPage page) { transient_.at(page.at.value).back() ^= 1; }
    // Reads that include this byte fail.
    void fail_reads_of(std::optional<Lsn> at) { unreadable_ = at; }

    // The number of reads of message bytes.
    std::uint64_t message_reads() const { return message_reads_; }
    std::uint64_t blocks_expected() const { return blocks_expected_; }

  private:
    struct Record {
        std::size_t at = 0;
        std::size_t end = 0;
        std::size_t batch = 0;
    };
    std::string stream_;
    std::size_t record_at_ = 0;
    std::size_t batch_at_ = 0;
    std::vector<Record> records_;
    std::map<std::uint64_t, std::string> transient_;
    std::uint64_t last_passing_ = 0;
    std::size_t largest_record_ = 0;
    std::uint64_t message_reads_ = 0;
    std::optional<Lsn> unreadable_;
    std::uint64_t blocks_expected_ = 0;
};

}  // namespace revenant::engine
