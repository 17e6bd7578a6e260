#include "runtime/vhost.h"

#include "base/check.h"

#include <utility>

namespace revenant::runtime {
namespace {

// Deliveries to a channel on another reactor are sent in portions of about this size. The next
// portion is sent when the other reactor has written the last one to its socket.
constexpr std::uint64_t far_portion_bytes = 256 * 1024;
constexpr std::uint64_t delivery_overhead_bytes = 128;
// Entries of closed channels are removed when they are the majority.
constexpr std::size_t far_channels_before_sweep = 64;
// Records that no reply depends on are written when this many bytes are gathered, or at the next
// tick.
constexpr std::size_t gathered_bytes_max = 512 * 1024;
// With more bytes than this waiting to be written, writers must pause.
constexpr std::size_t behind_bytes = 8 * 1024 * 1024;
// The limit on a full disk, which is lower because nothing is written for a while.
constexpr std::size_t behind_full_disk_bytes = 4 * 1024 * 1024;
// Bytes of deliveries that a channel may hold after a reply that waits for the disk.
constexpr std::uint64_t held_deliveries_bytes_max = 256 * 1024;

std::uint64_t travelling_bytes(const engine::Deliver& delivery) {
    return delivery.message->body_size() + delivery_overhead_bytes;
}

// Two seconds without an event.
constexpr unsigned ticks_before_tidying = 8;
// Ten seconds between checks for disk space to free while events are written.
constexpr unsigned ticks_between_looks = 40;

engine::EngineSettings with_store_and_others(engine::EngineSettings settings, VhostStore* store,
                                             const engine::OtherVhosts& other_vhosts) {
    settings.cold_store = store;
    settings.other_vhosts = &other_vhosts;
    return settings;
}

}  // namespace

Vhost::Vhost(engine::EngineSettings settings, Reactor& home, NoticeSink notice,
             std::unique_ptr<VhostStore> store, std::shared_ptr<NodeObjectCounts> node_counts)
    : home_(home),
      notice_(std::move(notice)),
      store_(std::move(store)),
      node_counts_(std::move(node_counts)),
      recorder_(store_ ? std::make_unique<engine::DurableRecorder>(*store_) : nullptr),
      engine_(with_store_and_others(std::move(settings), store_.get(), *this), *this,
              recorder_.get()) {
    if (recorder_) recorder_->observe(engine_.state());
    report_counts({engine_.state().queue_count(), engine_.state().exchange_count()});
}

Vhost::~Vhost() { report_counts({}); }

void Vhost::report_counts(const engine::ObjectCounts& now) {
    if (!node_counts_) return;
    // The common case. The shared counters are only touched on a change.
    if (now.queues == reported_.queues && now.exchanges == reported_.exchanges) return;
    node_counts_->change(reported_, now);
    reported_ = now;
}

engine::ObjectCounts Vhost::object_counts() const {
    return node_counts_ ? node_counts_->without(reported_) : engine::ObjectCounts{};
}

Result<void, std::string> Vhost::recover(Timestamp now) {
    if (!store_) return {};
    REVENANT_TRY_VOID(store_->recover(engine_.state()));
    engine_.finish_recovery(now);
    report_counts({engine_.state().queue_count(), engine_.state().exchange_count()});
    return {};
}

void Vhost::listen(journal::Journal::Listener listener) {
    if (!store_) return;
    listener.durable = [this](Lsn durable) { on_durable(durable); };
    store_->journal().listen(std::move(listener));
}

// ------------------------------------------------------------------------- disk

JournalView& JournalView::operator+=(const JournalView& other) {
    counters += other.counters;
    files += other.files;
    waiting_bytes += other.waiting_bytes;
    return *this;
}

JournalView Vhost::journal_view() const {
    if (!store_) return {};
    const journal::Journal& journal = store_->journal();
    return {journal.counters(), journal.segment_count(), journal.waiting_bytes()};
}

void Vhost::flush() {
    report_counts({engine_.state().queue_count(), engine_.state().exchange_count()});
    if (!store_) return;
    journal::Journal& journal = store_->journal();
    if (!deferred_effects_.empty()) {
        journal.flush(journal::Journal::SyncMode::immediate);
    } else if (journal.gathered_bytes() >= gathered_bytes_max) {
        journal.flush(journal::Journal::SyncMode::deferred);
    }
    const bool disk_full = journal.is_disk_full();
    const std::size_t waiting_max = disk_full ? behind_full_disk_bytes : behind_bytes;
    behind_.store(journal.waiting_bytes() > waiting_max, std::memory_order_relaxed);
    disk_full_.store(disk_full, std::memory_order_relaxed);
    // During shutdown, the last snapshot waits until no other is being written.
    if (!stopping_) store_->take_snapshot_if_due(engine_.state());
}

void Vhost::tick() {
    if (!store_) return;
    journal::Journal& journal = store_->journal();
    journal.retry();
    journal.flush(journal::Journal::SyncMode::immediate);
    if (closed_) return finish_closing();
    idle_ticks_ = journal.position() == position_at_tick_ ? idle_ticks_ + 1 : 0;
    position_at_tick_ = journal.position();
    if (idle_ticks_ >= ticks_before_tidying) store_->compact_when_idle(engine_.state());
    if (++ticks_since_look_ < ticks_between_looks) return;
    ticks_since_look_ = 0;
    store_->free_space(engine_.state());
    journal.trim_spares();
}

void Vhost::on_durable(Lsn durable) {
    deferred_effects_.release_answers(durable, [this](engine::Effect&& effect) {
        if (auto* deliver = std::get_if<engine::Deliver>(&effect)) {
            const ChannelId channel = deliver->channel;
            if (!send_deliver(std::move(*deliver))) engine_.pause(channel);
        } else {
            send(std::move(effect));
        }
    });
    deferred_effects_.release_confirms(
        durable, [this](const engine::Confirm& confirm) { send_confirm(confirm); });
}

void Vhost::close(std::function<void()> closed) {
    if (!store_) return closed();
    closed_ = std::move(closed);
    stopping_ = true;
    finish_closing();
}

// A snapshot in progress is of an earlier state, so it must finish before the last one is taken.
// Called again at every tick.
void Vhost::finish_closing() {
    journal::Journal& journal = store_->journal();
    // A full disk takes no snapshot; the next startup has more to replay.
    if (journal.is_disk_full()) return std::exchange(closed_, nullptr)();
    if (journal.is_writing_snapshot() || journal.is_compacting()) return;
    if (!closing_) {
        closing_ = true;
        store_->take_snapshot(engine_.state(), engine::Shutdown::clean);
        return;
    }
    std::exchange(closed_, nullptr)();
}

void Vhost::retire() {
    report_counts({});
    behind_.store(false, std::memory_order_relaxed);
    disk_full_.store(false, std::memory_order_relaxed);
    if (!store_) return;
    store_->journal().close();
    // Nothing is written any more, so nothing has to wait. Replies are sent because the changes
    // ended with the vhost; confirms become negative because the messages cannot become durable.
    const Lsn everything{UINT64_MAX};
    deferred_effects_.release_answers(everything, [this](engine::Effect&& effect) {
        if (!std::holds_alternative<engine::Deliver>(effect)) send(std::move(effect));
    });
    deferred_effects_.release_confirms(everything, [this](engine::Confirm confirm) {
        confirm.accepted = false;
        send_confirm(confirm);
    });
}

// ------------------------------------------------------------------------- effects

bool Vhost::deliver(engine::Deliver&& effect) {
    if (!deferred_effects_.has_answers_for(effect.channel.value))
        return send_deliver(std::move(effect));
    const ChannelId channel = effect.channel;
    const std::uint64_t held =
        deferred_effects_.hold_behind(std::move(effect), travelling_bytes(effect));
    if (held < held_deliveries_bytes_max) return true;
    // When this effect reaches the channel, its connection asks for more.
    deferred_effects_.hold_behind(engine::Effect(engine::DeliveriesPaused{channel}));
    return false;
}

void Vhost::confirm(const engine::Confirm& effect) {
    if (recorder_ && recorder_->has_begun()) {
        deferred_effects_.hold(effect, store_->batch_position());
    } else if (deferred_effects_.has_confirms_for(effect.channel)) {
        deferred_effects_.hold_behind(effect);
    } else {
        send_confirm(effect);
    }
}

namespace {

// The reply to basic.get is a delivery and does not report a durable change.
bool must_wait_for_sync(const engine::Effect& effect) {
    // After a queue is deleted, consumers and senders are notified after the reply to the deletion.
    if (std::holds_alternative<engine::CancelConsumer>(effect) ||
        std::holds_alternative<engine::TargetGone>(effect)) {
        return true;
    }
    const auto* const done = std::get_if<engine::Done>(&effect);
    return done != nullptr && !std::holds_alternative<engine::GetAnswer>(done->answer);
}

}  // namespace

void Vhost::request(engine::Effect&& effect) {
    if (const auto* notice = std::get_if<engine::Notice>(&effect)) {
        if (notice_) notice_(*notice);
        return;
    }
    if (recorder_ && recorder_->has_begun() && must_wait_for_sync(effect)) {
        deferred_effects_.hold(std::move(effect), store_->batch_position());
    } else if (deferred_effects_.has_answers_for(engine::addressee(effect))) {
        deferred_effects_.hold_behind(std::move(effect));
    } else {
        send(std::move(effect));
    }
}

bool Vhost::send_deliver(engine::Deliver&& effect) {
    const std::uint64_t id = effect.channel.value;
    const std::uint8_t reactor = Reactor::reactor_of(id);
    if (reactor == home_.index()) {
        engine::EffectSink* const sink = home_.find_sink(id);
        return sink == nullptr || sink->deliver(std::move(effect));
    }
    const ChannelId channel = effect.channel;
    if (remote_bytes_.size() >=
        far_channels_before_sweep + 2 * engine_.attached().channel_count()) {
        erase_if(remote_bytes_, [&](const auto& line) {
            return engine_.attached().find_channel(line.first) == nullptr;
        });
    }
    std::uint64_t& sent = remote_bytes_[channel];
    sent += travelling_bytes(effect);
    home_.send(reactor, engine::Effect(std::move(effect)));
    if (sent < far_portion_bytes) return true;
    remote_bytes_.erase(channel);
    home_.send(reactor, engine::Effect(engine::DeliveriesPaused{channel}));
    return false;
}

void Vhost::send_confirm(const engine::Confirm& effect) {
    const std::uint64_t id = effect.channel.value;
    const std::uint8_t reactor = Reactor::reactor_of(id);
    if (reactor != home_.index()) {
        home_.send(reactor, engine::Effect(effect));
    } else if (engine::EffectSink* const sink = home_.find_sink(id)) {
        sink->confirm(effect);
    }
}

void Vhost::send(engine::Effect&& effect) {
    const std::uint64_t id = engine::addressee(effect);
    const std::uint8_t reactor = Reactor::reactor_of(id);
    if (reactor != home_.index()) {
        home_.send(reactor, std::move(effect));
    } else if (engine::EffectSink* const sink = home_.find_sink(id)) {
        sink->request(std::move(effect));
    }
}

}  // namespace revenant::runtime
