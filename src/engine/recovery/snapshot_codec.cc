#include "engine/recovery/snapshot_codec.h"

#include "base/check.h"
#include "engine/chain/page_codec.h"
#include "engine/codec/event_fields.h"
#include "engine/recovery/event_check.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace revenant::engine {

constexpr Shutdown last_of(Shutdown) { return Shutdown::none; }

template <typename Archive>
void fields(Archive& a, ColdPage& page) {
    a(page.at);
    a(page.size);
}
template <typename Archive>
void fields(Archive& a, BlockTotals& sum) {
    a(sum.live);
    a(sum.body_bytes);
    a(sum.properties_bytes);
}
template <typename Archive>
void fields(Archive& a, JournalRange& use) {
    a(use.first);
    a(use.last);
    a(use.bytes);
}
template <typename Archive>
void fields(Archive& a, OutboxEntry& letter) {
    a(letter.reason);
    a(letter.died_at);
    a(letter.reached);
}

namespace {

// The fields of a level in a snapshot.
struct LevelShape {
    std::uint8_t level = 0;
    std::uint64_t next = 0;
    std::uint64_t suspect_below = 0;
    std::uint64_t blocks = 0;
};
template <typename Archive>
void fields(Archive& a, LevelShape& shape) {
    a(shape.level);
    a(shape.next);
    a(shape.suspect_below);
    a(shape.blocks);
}

enum class BlockForm : std::uint8_t { in_memory, on_disk };
constexpr BlockForm last_of(BlockForm) { return BlockForm::on_disk; }

// The durable part of a cold block.
template <typename Archive>
void cold_fields(Archive& a, ColdBlock& block) {
    a(block.durable_page);
    a(block.durable);
    a(block.durable_earliest);
    a(block.journal_ranges);
    std::uint64_t first = block.durable_first;
    a(first);
    block.durable_first = static_cast<std::uint16_t>(std::min<std::uint64_t>(first, UINT16_MAX));
}

void add_uses(const Block& block, std::vector<JournalRange>& journal_ranges) {
    for (const Entry& entry : block.entries) {
        if (entry.state == EntryState::gone || !entry.message->stored_at()) continue;
        const Lsn at = *entry.message->stored_at();
        journal_ranges.push_back({at, at, stored_size(*entry.message)});
    }
}

void add_pages(const ColdBlock& cold, std::vector<JournalRange>& journal_ranges) {
    const ColdPage& page = cold.durable_page;
    if (page) journal_ranges.push_back({page.at, page.at, page.size});
}

// The part of journal_ranges_in_use() for one queue.
void add_uses(const Queue& queue, std::vector<JournalRange>& journal_ranges) {
    queue.for_each_level([&](std::size_t, const Chain& chain) {
        for (std::uint64_t number = chain.first_block(); number < chain.end_block(); ++number) {
            const Chain::View view = chain.view(number);
            if (view.hot != nullptr) add_uses(*view.hot, journal_ranges);
            for (const ColdBlock* const paged : {view.cold, view.parked}) {
                if (paged == nullptr) continue;
                journal_ranges.insert(journal_ranges.end(), paged->journal_ranges.begin(),
                                      paged->journal_ranges.end());
                add_pages(*paged, journal_ranges);
            }
        }
    });
}

class SnapshotWriter {
  public:
    explicit SnapshotWriter(State& state) : state_(state), out_(snapshot_.bytes) {}

    EncodedSnapshot write(Shutdown stop) {
        out_(snapshot_version);
        out_(stop);
        out_(state_.last_queue_id());
        out_(CompatibilitySet{state_.compatibility()});
        write_policies();
        write_exchanges();
        write_queues();
        write_bindings();
        return std::move(snapshot_);
    }

  private:
    void write_policies() {
        std::vector<PolicySet> policies;
        for (const PolicyScope scope : {PolicyScope::user, PolicyScope::operator_only}) {
            for (const Policy* policy : state_.policies().list(scope)) {
                policies.push_back({scope, *policy});
            }
        }
        out_(policies);
    }
    // Writes all members of a roster in the order of their creation: nothing has to be sorted, and
    // order-dependent state, such as the buckets of a consistent hash, is the same after a restart.
    // One walk is enough: with 100,000 members, a second one would take milliseconds. The count
    // precedes the members, so these are written to a separate buffer. `write_one` returns false,
    // and writes nothing, for a member that is not durable.
    template <typename Member, typename Write>
    void write_all(const Roster<Member>& roster, Write write_one) {
        std::string members;
        WriteArchive archive(members);
        std::uint64_t count = 0;
        roster.walk(0, SIZE_MAX, [&](const Member& member) {
            if (write_one(archive, member)) count += 1;
            return true;
        });
        out_(count);
        out_.bytes().bytes(members);
    }
    void write_exchanges() {
        write_all(state_.exchanges(), [](WriteArchive& out, const Exchange& exchange) {
            if (!exchange.declaration.durable || is_predeclared(exchange.name())) return false;
            out(exchange.declaration);
            return true;
        });
    }
    void write_bindings() {
        write_all(state_.bindings(), [](WriteArchive& out, const Binding& binding) {
            if (!survives(binding)) return false;
            write_binding(out, binding);
            return true;
        });
    }
    static bool survives(const Binding& binding) {
        const Destination& to = binding.destination;
        return binding.is_live() && binding.source->declaration.durable &&
               (to.queue != nullptr ? to.queue->survives_restart()
                                    : to.exchange->declaration.durable);
    }
    static void write_binding(WriteArchive& out, const Binding& binding) {
        // The same fields as Bound.
        const Destination& to = binding.destination;
        out(binding.source->name());
        out(to.queue != nullptr ? DestinationKind::queue : DestinationKind::exchange);
        out(to.queue != nullptr ? to.queue->name() : to.exchange->name());
        out(binding.routing_key);
        out(binding.arguments);
    }
    void write_queues() {
        write_all(state_.queues(), [this](WriteArchive& out, const Queue& queue) {
            add_uses(queue, snapshot_.journal_ranges);
            if (!queue.survives_restart()) return false;
            write_queue(out, queue);
            return true;
        });
    }
    static void write_queue(WriteArchive& out, const Queue& queue) {
        out(queue.declaration);
        out(queue.counts_properties());
        out(std::uint64_t{queue.level_count()});
        for (std::size_t level = 0; level < queue.level_count(); ++level) {
            write_level(out, queue.level(level), static_cast<std::uint8_t>(level));
        }
        out(std::uint64_t{queue.deadlines_of_delayed().size()});
        for (const auto& [sequence, deadline] : queue.deadlines_of_delayed()) {
            out(sequence);
            out(deadline);
        }
        out(std::uint64_t{queue.outbox_entries.size()});
        for (const auto& [sequence, letter] : queue.outbox_entries) {
            out(sequence);
            out(letter);
        }
    }
    static void write_level(WriteArchive& out, const Chain& chain, std::uint8_t level) {
        std::string blocks;
        WriteArchive archive(blocks);
        LevelShape shape{level, chain.next_sequence(), chain.suspect_below(), 0};
        for (std::uint64_t number = chain.first_block(); number < chain.end_block(); ++number) {
            if (write_block(archive, chain.view(number), number)) shape.blocks += 1;
        }
        out(shape);
        out.bytes().bytes(blocks);
    }
    static bool write_block(WriteArchive& out, const Chain::View& view, std::uint64_t number) {
        // All durable entries of a block are in one page: if it is parked, the others are not
        // durable. The next startup tries to read it again.
        const bool is_parked = view.parked != nullptr && view.parked->durable.live > 0;
        const ColdBlock* const cold = is_parked ? view.parked : view.cold;
        if (cold != nullptr) {
            if (cold->durable.live == 0) return false;
            out(number);
            out(BlockForm::on_disk);
            cold_fields(out, const_cast<ColdBlock&>(*cold));
            return true;
        }
        if (view.hot == nullptr) return false;
        const EncodedPage page = encode_page(*view.hot, Durability::durable);
        if (page.sum.live == 0) return false;
        out(number);
        out(BlockForm::in_memory);
        out(page.bytes);
        return true;
    }

    State& state_;
    EncodedSnapshot snapshot_;
    WriteArchive out_;
};

class SnapshotReader {
  public:
    SnapshotReader(std::string_view bytes, State& state, std::uint64_t gap_max)
        : in_(bytes), state_(state), gap_max_(gap_max) {}

    std::optional<DecodedSnapshot> read() {
        std::uint8_t version = 0;
        DecodedSnapshot decoded;
        std::uint64_t last_queue_id = 0;
        in_(version);
        if (version != snapshot_version) return std::nullopt;
        in_(decoded.stop);
        in_(last_queue_id);
        state_.restore_last_queue_id(last_queue_id);
        CompatibilitySet compatibility;
        in_(compatibility);
        state_.apply(compatibility);
        read_facts<PolicySet>();
        read_facts<ExchangeDeclared>();
        if (!read_queues()) return std::nullopt;
        read_facts<Bound>();
        if (in_.failed() || !in_.at_end()) return std::nullopt;
        return decoded;
    }

  private:
    template <typename Fact>
    void read_facts() {
        std::vector<Fact> facts;
        in_(facts);
        if (in_.failed()) return;
        for (Fact& fact : facts) {
            const Event event(std::move(fact));
            if (!can_apply(state_, event)) return in_.fail();
            state_.apply(event);
        }
    }
    bool read_queues() {
        std::uint64_t count = 0;
        in_(count);
        for (std::uint64_t i = 0; i < count && !in_.failed(); ++i) {
            if (!read_queue()) return false;
        }
        return !in_.failed();
    }
    bool read_queue() {
        QueueDeclaration declaration;
        bool count_properties = false;
        std::uint64_t levels = 0;
        in_(declaration);
        in_(count_properties);
        in_(levels);
        const QueueId id = declaration.id;
        if (in_.failed() || !can_apply(state_, declaration)) return false;
        state_.restore_queue(std::move(declaration), count_properties);
        Queue& queue = *state_.find_queue(id);
        if (levels != queue.level_count()) return false;
        for (std::uint64_t i = 0; i < levels; ++i) {
            if (!read_level(queue)) return false;
        }
        read_delayed(queue);
        read_letters(queue);
        if (in_.failed() || !letters_agree(queue)) return false;
        state_.finish_restore(queue);
        return true;
    }
    bool read_level(Queue& queue) {
        LevelShape shape;
        in_(shape);
        if (in_.failed() || shape.level >= queue.level_count()) return false;
        if (!is_sequence(shape.next)) return false;
        for (std::uint64_t i = 0; i < shape.blocks; ++i) {
            if (!read_block(queue, shape.level)) return false;
        }
        if (shape.next > 0 || shape.suspect_below > 0) {
            queue.level(shape.level).restore_next(shape.next);
            queue.level(shape.level).restore_suspect_below(shape.suspect_below);
        }
        return !in_.failed();
    }
    bool read_block(Queue& queue, std::size_t level) {
        std::uint64_t number = 0;
        BlockForm form = BlockForm::in_memory;
        in_(number);
        in_(form);
        if (in_.failed() || !can_follow(std::as_const(queue).level(level), number, gap_max_))
            return false;
        // Entries that are never served are not paged out.
        if (form == BlockForm::on_disk && level >= queue.served_levels()) return false;
        if (form == BlockForm::on_disk) {
            ColdBlock cold;
            cold_fields(in_, cold);
            cold.all = cold.durable;
            cold.earliest = cold.durable_earliest;
            cold.first = cold.durable_first;
            if (in_.failed() || !cold.durable_page || cold.all.live == 0) return false;
            if (cold.all.live > block_entries || cold.first >= block_entries) return false;
            queue.restore(level, number, std::move(cold));
            return true;
        }
        std::string page;
        in_(page);
        auto block = std::make_unique<Block>();
        if (!decode_page(page, Durability::durable, state_.paging().formats, *block)) return false;
        if (block->live == 0) return false;
        queue.restore(Position::of(level, number * block_entries), std::move(block));
        return true;
    }
    void read_delayed(Queue& queue) {
        std::uint64_t count = 0;
        in_(count);
        for (std::uint64_t i = 0; i < count && !in_.failed(); ++i) {
            std::uint64_t sequence = 0;
            Timestamp deadline;
            in_(sequence);
            in_(deadline);
            queue.restore_delayed(sequence, deadline);
        }
    }
    void read_letters(Queue& queue) {
        std::uint64_t count = 0;
        in_(count);
        for (std::uint64_t i = 0; i < count && !in_.failed(); ++i) {
            std::uint64_t sequence = 0;
            OutboxEntry letter;
            in_(sequence);
            in_(letter);
            if (!in_.failed()) state_.restore_outbox_entry(queue, sequence, std::move(letter));
        }
    }

    // Whether the outbox entries match the entries on the outbox level.
    static bool letters_agree(const Queue& queue) {
        if (!queue.is_quorum()) return queue.outbox_entries.empty();
        for (const auto& [sequence, letter] : queue.outbox_entries) {
            if (!queue.contains(Position::of(outbox_level, sequence))) return false;
        }
        return queue.outbox_entries.size() == queue.level(outbox_level).live_count();
    }

    ReadArchive in_;
    State& state_;
    const std::uint64_t gap_max_;
};

}  // namespace

std::string encode_snapshot(State& state, Shutdown stop) {
    return encode_snapshot_with_uses(state, stop).bytes;
}

EncodedSnapshot encode_snapshot_with_uses(State& state, Shutdown stop) {
    return SnapshotWriter(state).write(stop);
}

std::optional<DecodedSnapshot> decode_snapshot(std::string_view bytes, State& state,
                                               std::uint64_t gap_max) {
    return SnapshotReader(bytes, state, gap_max).read();
}

namespace {

template <typename Visit>
void for_each_block(State& state, Visit visit) {
    state.queues().walk(0, SIZE_MAX, [&](Queue& queue) {
        queue.for_each_level([&](std::size_t, const Chain& chain) {
            for (std::uint64_t number = chain.first_block(); number < chain.end_block(); ++number) {
                visit(chain.view(number));
            }
        });
        return true;
    });
}

}  // namespace

std::vector<JournalRange> journal_ranges_in_use(State& state) {
    std::vector<JournalRange> journal_ranges;
    state.queues().walk(0, SIZE_MAX, [&](const Queue& queue) {
        add_uses(queue, journal_ranges);
        return true;
    });
    return journal_ranges;
}

ExactUse journal_ranges_in_use(State& state, Lsn start, Lsn end) {
    const Paging& paging = state.paging();
    ExactUse found;
    std::vector<JournalRange>& journal_ranges = found.exact;
    const auto look_into = [&](const ColdBlock& cold) {
        Block block;
        const auto look_at = [&](ColdPage page, Durability durability) {
            if (!page) return true;
            const auto bytes = paging.store->read_page(page, durability);
            return bytes && decode_page(*bytes, durability, paging.formats, block);
        };
        const bool all = look_at(cold.durable_page, Durability::durable) &&
                         look_at(cold.transient_page, Durability::transient);
        if (all) return add_uses(block, journal_ranges);
        found.somewhere.insert(found.somewhere.end(), cold.journal_ranges.begin(),
                               cold.journal_ranges.end());
    };
    for_each_block(state, [&](const Chain::View& view) {
        if (view.hot != nullptr) add_uses(*view.hot, journal_ranges);
        for (const ColdBlock* const paged : {view.cold, view.parked}) {
            if (paged == nullptr) continue;
            add_pages(*paged, journal_ranges);
            // Only pages that refer to this range are read.
            const bool refers = std::any_of(
                paged->journal_ranges.begin(), paged->journal_ranges.end(),
                [&](const JournalRange& use) { return use.first < end && use.last >= start; });
            if (refers) look_into(*paged);
        }
    });
    std::erase_if(journal_ranges,
                  [&](const JournalRange& use) { return use.first < start || use.first >= end; });
    return found;
}

}  // namespace revenant::engine
