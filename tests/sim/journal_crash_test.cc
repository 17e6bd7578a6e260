// A journal on the simulated disk, crashed at every step of many histories.
//
// REVENANT_HISTORIES=n runs n histories instead of the usual number; REVENANT_SEED=s runs only the
// one with this seed.

#include "base/byte_writer.h"
#include "base/probe.h"
#include "journal/batch_format.h"
#include "journal/journal.h"
#include "journal/snapshot_file.h"
#include "tests/sim/sim_disk.h"
#include "tests/sim/sim_worker.h"
#include "tests/sim/violation.h"
#include "tests/support/seeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace revenant::sim {
namespace {

using journal::Journal;
using journal::JournalSettings;

const std::string journal_directory = "/data/journal";

struct Appended {
    std::string bytes;
    Lsn at;
    Lsn batch;
    Lsn end;
};

struct TakenSnapshot {
    std::string bytes;
    Lsn at;
    std::size_t covered = 0;  // records before it
    std::vector<Appended> kept;
};

JournalSettings settings_from(Dice& dice, bool uniform) {
    constexpr std::uint64_t segments[] = {1024, 2048, 4096};
    constexpr std::uint64_t fills[] = {0, 256, 1024, 3000};
    constexpr std::uint64_t smalls[] = {64, 300, 1000, 100'000};
    JournalSettings settings;
    settings.segments.segment_bytes = segments[dice.below(3)];
    settings.segments.fill_bytes = fills[dice.below(4)];
    settings.segments.small_batch_bytes = uniform ? 0 : smalls[dice.below(4)];
    settings.segments.spares_max = dice.below(3);
    return settings;
}

std::string text_of(Lsn at) { return std::to_string(at.value); }

// The worst that a client can put in a message if it knows the message's position: batches that are
// valid at their position, or at the position they will have after a rewrite of the file.
class Forger {
  public:
    explicit Forger(std::uint64_t segment_bytes) : segment_bytes_(segment_bytes) {}

    void fill(std::string& body, Lsn at, Dice& dice) const {
        constexpr std::size_t step = 64;
        std::size_t offset = (step - at.value % step) % step;
        for (; offset + journal::batch_header_bytes < body.size(); offset += step) {
            const std::string batch = forged({at.value + offset}, dice);
            if (offset + batch.size() <= body.size()) body.replace(offset, batch.size(), batch);
        }
    }

  private:
    std::string forged(Lsn place, Dice& dice) const {
        if (dice.one_in(3)) place.value += segment_bytes_ * (1 + dice.below(4));
        std::string batch(journal::batch_header_bytes, '\0');
        ByteWriter(batch).long_string("forged");
        const Lsn synced = dice.one_in(3) ? Lsn{0} : place;
        const auto epoch = static_cast<std::uint32_t>(dice.one_in(3) ? UINT32_MAX : dice.below(9));
        const auto secret = static_cast<journal::Secret>(dice.below(4));
        journal::finish_batch(batch, place, synced, epoch, secret);
        if (dice.one_in(8)) batch[11] = '7';  // the version
        return batch;
    }

    const std::uint64_t segment_bytes_;
};

enum class Trouble : std::uint8_t { crash, crash_and_lying_syncs, error };

// The operations on a journal, what it reported as durable, and a check of this when it is opened.
class History {
  public:
    History(std::uint64_t seed, std::uint64_t step, Trouble trouble)
        : dice_(seed * 2 + 1),
          later_dice_(seed * 1'000'003 + step),
          disk_(seed * 1'000'033 + step),
          step_(step),
          trouble_(trouble),
          fills_up_(dice_.one_in(4)),
          uniform_(dice_.one_in(4)),
          settings_(settings_from(dice_, uniform_)),
          forges_(seed % 3 == 0),
          forger_(settings_.segments.segment_bytes) {
        disk_.lie_on_sync(trouble == Trouble::crash_and_lying_syncs);
        make_trouble_at(step);
    }

    // The first process is the same for every step until its failure; the later ones differ.
    Violation run() {
        live(dice_, 30 + dice_.below(70));
        trouble_in_first_ = disk_.steps() >= step_;
        if (later_dice_.one_in(2)) {
            restart();
            make_trouble_at(disk_.steps() + 1 + later_dice_.below(40));
            live(later_dice_, 20);
        }
        restart();
        live_quietly();
        restart();
        live_quietly();
        return violation_;
    }

    bool had_trouble_in_the_first_life() const { return trouble_in_first_; }

  private:
    void make_trouble_at(std::uint64_t step) {
        trouble_at_ = step;
        if (trouble_ == Trouble::error) return disk_.fail_at_step(step);
        disk_.crash_at_step(step);
    }
    // An error of the disk does not violate an invariant.
    bool is_excused() const {
        return disk_.crashed() || (trouble_ == Trouble::error && disk_.steps() >= trouble_at_);
    }

    void complain(const std::string& what) {
        if (!violation_) violation_ = what;
    }
    bool is_over() const { return violation_ || disk_.crashed() || !journal_; }

    void restart() {
        journal_.reset();
        worker_.forget_all();
        failed_ = false;
        trouble_at_ = no_step;
        disk_.set_capacity(std::nullopt);
        disk_.restart(later_dice_.one_in(3) ? SimDisk::Loss::process : SimDisk::Loss::power);
    }

    // --- lifetime of a process ---

    void live(Dice& dice, std::uint64_t actions) {
        open();
        for (std::uint64_t i = 0; i < actions && !is_over(); ++i) act(dice);
    }

    // Appends records until they are reported as durable.
    void live_quietly() {
        if (violation_) return;
        open();
        if (is_over()) return complain("the journal could not be opened again");
        append(later_dice_);
        journal_->flush(Journal::SyncMode::immediate);
        worker_.run_all();
        if (journal_->durable() < records_.back().end) {
            complain("a journal that was opened again makes nothing durable");
        }
    }

    void act(Dice& dice) {
        const std::uint64_t what = dice.below(100);
        if (what < 33) return append(dice);
        if (what < 43) return journal_->flush(Journal::SyncMode::deferred);
        if (what < 53) return flush_now(dice);
        if (what < 63) return do_some_work();
        if (what < 85) return tell_something();
        if (what < 88) return read_something(dice);
        if (what < 96) return take_snapshot(dice);
        fill_or_empty_the_disk(dice);
    }

    // Rarely, if many records should stay unsynced.
    void flush_now(Dice& dice) {
        if (!uniform_ || dice.one_in(4)) journal_->flush(Journal::SyncMode::immediate);
    }

    void do_some_work() { worker_.work_one(); }

    void tell_something() {
        if (worker_.untold() == 0) worker_.work_one();
        if (disk_.crashed()) return;
        worker_.tell_one();
        settle_snapshot();
    }

    // Few sizes, so that a batch often ends where an earlier one did.
    std::size_t size_from(Dice& dice) const {
        constexpr std::size_t sizes[] = {1, 20, 20, 84, 84, 84, 468, 468, 700, 2000};
        if (uniform_) return 468;
        return dice.one_in(40) ? 5000 : sizes[dice.below(std::size(sizes))];
    }

    void append(Dice& dice) {
        Appended record;
        record.bytes = dice.bytes(size_from(dice));
        record.batch = journal_->batch_position();
        std::string& out = journal_->begin_record();
        record.at = journal_->position();
        if (forges_) forger_.fill(record.bytes, record.at, dice);
        out += record.bytes;
        record.end = journal_->end_record();
        records_.push_back(std::move(record));
        if (!uniform_) return;
        journal_->flush(Journal::SyncMode::deferred);
        tell_something();
    }

    void fill_or_empty_the_disk(Dice& dice) {
        if (!fills_up_) return;
        if (dice.one_in(2)) return disk_.set_capacity(disk_.used_bytes() + dice.below(600));
        disk_.set_capacity(std::nullopt);
        journal_->retry();
    }

    // --- snapshots ---

    const TakenSnapshot& newest() const { return under_way_ ? *under_way_ : safe_; }

    void take_snapshot(Dice& dice) {
        if (failed_ || journal_->is_writing_snapshot()) return;
        TakenSnapshot next;
        std::set<Lsn> in_use;
        const auto keep = [&](const Appended& record) {
            if (!dice.one_in(3)) return;
            next.kept.push_back(record);
            in_use.insert(journal_->segment_of(record.at));
        };
        for (const Appended& record : safe_.kept) keep(record);
        for (std::size_t i = safe_.covered; i < records_.size(); ++i) keep(records_[i]);
        next.bytes = dice.bytes(1 + dice.below(1500));
        next.covered = records_.size();
        journal_->write_snapshot(next.bytes, std::move(in_use));
        next.at = journal_->batch_position();
        under_way_ = std::move(next);
    }

    void settle_snapshot() {
        if (failed_ || !under_way_ || journal_->is_writing_snapshot()) return;
        if (is_in_place(*under_way_)) safe_ = std::move(*under_way_);
        under_way_.reset();
    }

    // A snapshot that fails on a full disk leaves the previous one, which may have the same
    // position.
    bool is_in_place(const TakenSnapshot& snapshot) const {
        const std::string path = journal_directory + "/" + journal::snapshot_name(snapshot.at);
        return journal_->snapshot_position() == snapshot.at && disk_.exists(path) &&
               disk_.contents(path).ends_with(snapshot.bytes);
    }

    // --- reading ---

    void check_read(const Appended& record) {
        std::string bytes(record.bytes.size(), '\0');
        const auto outcome = journal_->read(record.at, bytes);
        if (!outcome && is_excused()) return;
        if (!outcome) return complain("a record cannot be read: " + outcome.error().text);
        if (bytes != record.bytes) complain("a record is read wrongly at " + text_of(record.at));
    }

    void read_something(Dice& dice) {
        const std::vector<Appended>& kept = newest().kept;
        const std::size_t behind = records_.size() - newest().covered;
        if (kept.size() + behind == 0) return;
        const std::size_t which = dice.below(kept.size() + behind);
        check_read(which < kept.size() ? kept[which]
                                       : records_[newest().covered + which - kept.size()]);
    }

    // --- opening ---

    void open() {
        if (violation_) return;
        auto opened = Journal::open(disk_, worker_, journal_directory, settings_);
        if (!opened && is_excused()) return;
        if (!opened) return complain("refused: " + opened.error().text);
        journal_ = std::move(opened).value();
        listen();
        find_snapshot();
        if (!compare_records()) journal_.reset();
        if (is_over()) return;
        for (const Appended& kept : safe_.kept) check_read(kept);
        for (std::size_t i = safe_.covered; i < records_.size(); ++i) check_read(records_[i]);
    }

    void listen() {
        journal_->listen({.durable =
                              [this](Lsn at) {
                                  if (at < durable_) complain("durable fell to " + text_of(at));
                                  if (failed_) complain("a promise after a failure");
                                  durable_ = at;
                              },
                          .failed =
                              [this](const std::string& text) {
                                  if (std::exchange(failed_, true))
                                      complain("failed twice: " + text);
                                  if (!is_excused()) complain("failed: " + text);
                              },
                          .disk_full = [](bool) {}});
    }

    // The newest one reported, or the one in progress.
    void find_snapshot() {
        const std::string& found = journal_->snapshot();
        if (under_way_ && found == under_way_->bytes) safe_ = std::move(*under_way_);
        under_way_.reset();
        if (found != safe_.bytes)
            complain("a snapshot of " + std::to_string(found.size()) +
                     " bytes is not the newest one");
    }

    bool compare_records() {
        std::size_t count = safe_.covered;
        const auto replayed = journal_->replay([&](const Journal::Record& record) {
            compare(record, count++);
            return Result<void, IoError>{};
        });
        if (!replayed && !is_excused()) complain("refused: " + replayed.error().text);
        if (!replayed || violation_) return false;
        if (count < records_.size() && records_[count].end <= durable_) {
            complain("a durable record is lost, at " + text_of(records_[count].at));
        }
        records_.resize(count);
        durable_ = journal_->durable();
        return true;
    }

    void compare(const Journal::Record& record, std::size_t index) {
        if (index >= records_.size())
            return complain("a record too many, at " + text_of(record.at));
        const Appended& expected = records_[index];
        if (record.bytes != expected.bytes) complain("a wrong record, at " + text_of(record.at));
        if (record.at != expected.at || record.batch != expected.batch) {
            complain("a record at " + text_of(record.at) + " instead of " + text_of(expected.at));
        }
    }

    static constexpr std::uint64_t no_step = ~std::uint64_t{0};

    Dice dice_;
    Dice later_dice_;
    SimDisk disk_;
    const std::uint64_t step_;
    const Trouble trouble_;
    std::uint64_t trouble_at_ = no_step;
    SimWorker worker_;
    const bool fills_up_;
    const bool uniform_;  // every record is a batch of the same size, and no space is zeroed ahead
    const JournalSettings settings_;
    const bool forges_;  // the records are full of forged batches
    const Forger forger_;
    std::unique_ptr<Journal> journal_;
    std::vector<Appended> records_;
    TakenSnapshot safe_;
    std::optional<TakenSnapshot> under_way_;
    Lsn durable_;
    bool trouble_in_first_ = false;
    bool failed_ = false;
    Violation violation_;
};

struct Tally {
    std::uint64_t runs = 0;
    std::uint64_t violations = 0;
    std::string first;
};

// The failure comes one step later each time, until the first process ends before it.
void trouble_everywhere(std::uint64_t seed, Trouble trouble, Tally& tally) {
    for (std::uint64_t step = 1;; ++step) {
        History history(seed, step, trouble);
        const Violation violation = history.run();
        tally.runs += 1;
        if (violation) {
            tally.violations += 1;
            if (tally.first.empty()) {
                tally.first = "seed " + std::to_string(seed) + ", trouble at step " +
                              std::to_string(step) + ": " + *violation;
            }
        }
        if (!history.had_trouble_in_the_first_life()) return;
    }
}

#ifdef REVENANT_SANITIZED
constexpr std::uint64_t usual_histories = 60;
#else
constexpr std::uint64_t usual_histories = 1000;
#endif

void run_quarter(std::uint64_t first_seed, Trouble trouble) {
    SeedWatch watch("journal_crash");
    const std::uint64_t only = number_from_environment("REVENANT_SEED", 0);
    const std::uint64_t histories =
        std::max(only, number_from_environment("REVENANT_HISTORIES", usual_histories));
    Tally tally;
    for (std::uint64_t seed = first_seed; seed <= histories && tally.violations < 3; seed += 4) {
        if (only != 0 && seed != only) continue;
        watch.begin(seed);
        trouble_everywhere(seed, trouble, tally);
    }
    std::printf("%llu runs\n", static_cast<unsigned long long>(tally.runs));
    EXPECT_EQ(tally.violations, 0U) << tally.first;
}

TEST(JournalCrashes, FirstQuarterOfTheHistoriesLosesNothing) { run_quarter(1, Trouble::crash); }
TEST(JournalCrashes, SecondQuarterOfTheHistoriesLosesNothing) { run_quarter(2, Trouble::crash); }
TEST(JournalCrashes, ThirdQuarterOfTheHistoriesLosesNothing) { run_quarter(3, Trouble::crash); }
TEST(JournalCrashes, LastQuarterOfTheHistoriesLosesNothing) { run_quarter(4, Trouble::crash); }

// One operation fails, the others succeed: everything reported later must be true, too.
TEST(JournalCrashes, AnErrorOfTheDiskLosesNothing) { run_quarter(1, Trouble::error); }

TEST(JournalCrashes, ADiskThatLiesIsFoundOut) {
    Tally tally;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        trouble_everywhere(seed, Trouble::crash_and_lying_syncs, tally);
    }
    EXPECT_GT(tally.violations, tally.runs / 2) << "of " << tally.runs;
}

TEST(JournalCrashes, HistoriesReachTheRareBranches) {
    for (const char* const name :
         {"journal.tried_again", "segments.tail_cut", "segments.spare_used"}) {
        const std::uint64_t before = Probe::hits(name);
        Tally tally;
        for (std::uint64_t seed = 1; seed <= 100 && Probe::hits(name) == before; ++seed) {
            trouble_everywhere(seed, Trouble::crash, tally);
        }
        EXPECT_GT(Probe::hits(name), before) << name;
    }
}

}  // namespace
}  // namespace revenant::sim
