// Metrics that RabbitMQ does not have: counters of all queue entries, deaths by outcome, delay of
// expiry, and the journal. docs/metrics.md lists them.
#include "http/api/process.h"
#include "http/metrics/metrics_page.h"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace revenant::http {
namespace {

using Kind = PrometheusText::Kind;
using engine::DeathOutcome;

// One line per virtual host, or one line without labels for all.
using Lines = std::vector<std::pair<std::string, const VhostCounters*>>;

Lines lines_of(const NodeCounters& sums, Aggregation grain) {
    Lines lines;
    if (grain == Aggregation::whole_node) {
        lines.emplace_back("", &sums.all);
        return lines;
    }
    for (const auto& [vhost, one] : sums.by_vhost) {
        lines.emplace_back(PrometheusText::render({{"vhost", vhost}}), &one);
    }
    return lines;
}

std::string with(const std::string& labels, PrometheusText::Labels more) {
    const std::string rendered = PrometheusText::render(more);
    return labels.empty() ? rendered : labels + "," + rendered;
}

void write_each(PrometheusText& text, std::string_view name, Kind kind, std::string_view help,
                const Lines& lines,
                const std::function<std::uint64_t(const VhostCounters&)>& value) {
    text.family(name, kind, help);
    for (const auto& [labels, sums] : lines) text.sample_of(labels, value(*sums));
}

// Every entry of a queue is accounted for: entered = sum of ended + sum of present.
void write_accounts(PrometheusText& text, const Lines& lines) {
    write_each(text, "revenant_entries_entered_total", Kind::counter,
               "Queue entries created; a message routed to three queues counts three times", lines,
               [](const VhostCounters& sums) { return sums.totals.accounts.entered; });
    text.family("revenant_entries_ended_total", Kind::counter, "Queue entries removed, by ending");
    for (const auto& [labels, sums] : lines) {
        for (std::size_t i = 0; i < engine::ending_count; ++i) {
            const auto ending = static_cast<engine::Ending>(i);
            text.sample_of(with(labels, {{"ending", engine::to_string(ending)}}),
                           sums->totals.accounts.of(ending));
        }
    }
    text.family("revenant_entries_present", Kind::gauge, "Current queue entries, by state");
    for (const auto& [labels, sums] : lines) {
        const engine::Totals& totals = sums->totals;
        text.sample_of(with(labels, {{"state", "ready"}}), totals.ready);
        text.sample_of(with(labels, {{"state", "unacked"}}), totals.unacked);
        text.sample_of(with(labels, {{"state", "delayed"}}), totals.delayed);
        text.sample_of(with(labels, {{"state", "dead_letter_waiting"}}),
                       totals.dead_letters_waiting);
        text.sample_of(with(labels, {{"state", "parked"}}), totals.parked.count);
    }
    text.family("revenant_entries_unaccounted", Kind::gauge,
                "Entries created minus entries removed and present: always 0");
    for (const auto& [labels, sums] : lines) {
        const engine::EntryCounters& accounts = sums->totals.accounts;
        text.sample_of(labels, static_cast<double>(accounts.entered) -
                                   static_cast<double>(accounts.ended_total()) -
                                   static_cast<double>(sums->totals.messages()));
    }
}

template <typename Visit>
void for_each_reason_and_outcome(Visit visit) {
    for (std::size_t reason = 0; reason < death_reason_count; ++reason) {
        for (std::size_t outcome = 0; outcome < engine::death_outcome_count; ++outcome) {
            visit(static_cast<DeathReason>(reason), static_cast<DeathOutcome>(outcome));
        }
    }
}

constexpr std::string_view deaths_help =
    "Messages that died in a queue, by reason and immediate outcome";

void write_deaths(PrometheusText& text, const engine::DeathOutcomes& deaths) {
    text.family("revenant_deaths_total", Kind::counter, deaths_help);
    for_each_reason_and_outcome([&](DeathReason reason, DeathOutcome outcome) {
        text.sample({{"reason", to_string(reason)}, {"outcome", engine::to_string(outcome)}},
                    deaths.of(reason, outcome));
    });
}

void write_waiting(PrometheusText& text, const std::string& prefix, const MetricRows& rows) {
    text.family(prefix + "queue_dead_letters_waiting", Kind::gauge,
                "Dead letters in the outbox of a queue, which have not reached all their targets");
    for (const auto& row : rows.queues) {
        text.sample_of(row.labels, row.values.dead_letters_waiting);
    }
    text.family(prefix + "queue_messages_delayed", Kind::gauge, "Delayed messages in a queue");
    for (const auto& row : rows.queues) text.sample_of(row.labels, row.values.delayed);
    text.family(prefix + "queue_messages_parked", Kind::gauge,
                "Messages in a queue that cannot be read from disk and are skipped");
    for (const auto& row : rows.queues) text.sample_of(row.labels, row.values.parked.count);
}

void write_lateness(PrometheusText& text, const Lines& lines) {
    text.family("revenant_expiry_lateness_seconds", Kind::histogram,
                "Delay between a message's deadline and its expiry");
    for (const auto& [labels, sums] : lines) {
        const engine::Lateness& lateness = sums->totals.traffic.lateness;
        text.histogram(labels, {engine::lateness_limits_us, lateness.counts, lateness.sum, 1e6});
    }
}

void write_refusals(PrometheusText& text, const Lines& lines) {
    write_each(text, "revenant_publishes_refused_by_queue_total", Kind::counter,
               "Publishes that a full queue refused", lines,
               [](const VhostCounters& sums) { return sums.totals.traffic.refused_by_queue; });
    write_each(
        text, "revenant_refusals_cut_total", Kind::counter,
        "Messages dropped after too many full queues in a row refused them", lines,
        [](const VhostCounters& sums) { return sums.totals.traffic.refusal_chains_dropped; });
}

void write_journal(PrometheusText& text, const Lines& lines) {
    text.family("revenant_journal_sync_seconds", Kind::histogram,
                "Time to sync a batch of the journal");
    for (const auto& [labels, sums] : lines) {
        const auto& syncs = sums->journal.counters.syncs;
        text.histogram(labels, {runtime::sync_limits_us, syncs.counts, syncs.sum, 1e6});
    }
    const auto each = [&](std::string_view name, Kind kind, std::string_view help,
                          const std::function<std::uint64_t(const runtime::JournalView&)>& value) {
        write_each(text, name, kind, help, lines,
                   [&](const VhostCounters& sums) { return value(sums.journal); });
    };
    each("revenant_journal_batches_total", Kind::counter, "Batches of journal records written",
         [](const auto& journal) { return journal.counters.batches; });
    // The bytes of the batches are not exported. They would reveal the journal position of the next
    // message to everyone who can read this page.
    each("revenant_journal_snapshots_total", Kind::counter, "Snapshots written and synced",
         [](const auto& journal) { return journal.counters.snapshots; });
    each("revenant_journal_snapshot_bytes_total", Kind::counter,
         "Bytes of snapshots written and synced",
         [](const auto& journal) { return journal.counters.snapshot_bytes; });
    each("revenant_journal_compactions_total", Kind::counter, "Journal compactions",
         [](const auto& journal) { return journal.counters.compactions; });
    each("revenant_journal_compacted_bytes_total", Kind::counter,
         "Bytes rewritten by journal compactions",
         [](const auto& journal) { return journal.counters.compacted_bytes; });
    each("revenant_journal_files", Kind::gauge, "Journal files",
         [](const auto& journal) { return journal.files; });
    each("revenant_journal_waiting_bytes", Kind::gauge, "Bytes waiting to be written",
         [](const auto& journal) { return journal.waiting_bytes; });
}

}  // namespace

void write_deaths_of_queues(PrometheusText& text, const std::string& prefix,
                            const MetricRows& rows) {
    text.family(prefix + "deaths_total", Kind::counter, deaths_help);
    for (const auto& row : rows.queues) {
        for_each_reason_and_outcome([&](DeathReason reason, DeathOutcome outcome) {
            const std::uint64_t count = row.values.deaths.of(reason, outcome);
            if (count == 0) return;
            text.sample_of(with(row.labels, {{"reason", to_string(reason)},
                                             {"outcome", engine::to_string(outcome)}}),
                           count);
        });
    }
    write_waiting(text, prefix, rows);
}

namespace {

constexpr double us_per_second = 1'000'000;

void write_turns(PrometheusText& text, const runtime::TurnTimes::Summary& turns) {
    text.family("revenant_long_turns_total", Kind::counter,
                "Reactor turns that took more CPU time than the label's value");
    for (std::size_t i = 0; i < turns.longer_than.size(); ++i) {
        const double seconds =
            static_cast<double>(runtime::TurnTimes::limits_us[i]) / us_per_second;
        text.sample({{"longer_than_seconds", fmt::format("{}", seconds)}}, turns.longer_than[i]);
    }
    text.family("revenant_longest_turn_seconds", Kind::gauge,
                "CPU time of the longest turn so far, by command");
    if (turns.longest_us.empty()) text.sample({{"command", "none"}}, 0.0);
    for (const auto& [command, us] : turns.longest_us) {
        text.sample({{"command", command}}, static_cast<double>(us) / us_per_second);
    }
}

}  // namespace

void write_own(PrometheusText& text, const NodeCounters& sums, const MetricRows& rows,
               Aggregation grain) {
    const Lines lines = lines_of(sums, grain);
    write_accounts(text, lines);
    if (grain == Aggregation::whole_node) {
        write_deaths(text, sums.all.totals.traffic.death_outcomes);
        write_waiting(text, "revenant_", rows);
    } else {
        write_deaths_of_queues(text, "revenant_", rows);
    }
    write_lateness(text, lines);
    write_refusals(text, lines);
    write_journal(text, lines);
    write_turns(text, sums.turns);
    text.family("revenant_log_lines_dropped_total", Kind::counter,
                "Log lines dropped because an output was too slow or failed");
    text.sample({}, sums.log_lines_dropped);
    text.family("revenant_process_cpu_seconds_total", Kind::counter, "CPU time used");
    text.sample({}, view_process().processor_seconds);
}

}  // namespace revenant::http
