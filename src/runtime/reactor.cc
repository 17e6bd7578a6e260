#include "runtime/reactor.h"

#include "base/check.h"
#include "runtime/system_clock.h"
#include "runtime/vhost.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <utility>

namespace revenant::runtime {
namespace {

constexpr std::size_t mailbox_items_max = 64 * 1024;
constexpr std::size_t congested_items = 16 * 1024;
constexpr std::size_t congested_bytes = 4 * 1024 * 1024;
constexpr std::size_t read_buffer_bytes = 256 * 1024;
constexpr int events_per_turn = 256;
constexpr Duration tick_interval = milliseconds(250);
// Slices of a turn. One command, one socket or one portion may exceed its slice.
constexpr Duration letters_slice{1'000};
constexpr Duration vhosts_slice{1'000};
constexpr Duration sockets_slice{2'000};
constexpr Duration flush_slice{1'000};
constexpr std::size_t letters_between_looks = 64;
constexpr std::size_t flushes_between_looks = 8;

}  // namespace

Reactor::Reactor(std::uint8_t index)
    : index_(index),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      now_(system_now()),
      wall_ahead_(wall_ahead()),
      next_tick_(now_ + tick_interval),
      mailbox_(mailbox_items_max),
      read_buffer_(read_buffer_bytes),
      busy_since_(now_) {
    CHECK(epoll_ >= 0 && wakeup_ >= 0);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = nullptr;  // marks the wake-up descriptor
    CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, wakeup_, &event) == 0);
}

Reactor::~Reactor() {
    join();
    ::close(epoll_);
    ::close(wakeup_);
}

void Reactor::start() {
    thread_ = std::thread([this] { run(); });
}

void Reactor::stop() {
    stopping_.store(true);
    wake();
}

void Reactor::join() {
    if (thread_.joinable()) thread_.join();
}

void Reactor::wake() {
    const std::uint64_t one = 1;
    // A full counter means that the reactor is already awake.
    [[maybe_unused]] const ssize_t written = ::write(wakeup_, &one, sizeof one);
}

void Reactor::post(Task task) {
    if (mailbox_.post_always(std::move(task)) == Mailbox<MailboxItem>::Posted::first) wake();
}

void Reactor::run() {
    while (!stopping_.load(std::memory_order_relaxed)) turn();
}

Timestamp Reactor::refresh_now() {
    now_ = system_now();
    return now_;
}

void Reactor::wait() {
    Timestamp until = next_tick_;
    for (const auto& vhost : vhosts_) {
        if (vhost->runs_timers()) until = std::min(until, vhost->engine().next_deadline());
    }
    // Batches that a full mailbox refused are retried soon.
    const bool stuck = std::any_of(outgoing_.begin(), outgoing_.end(),
                                   [](const auto& batch) { return !batch.empty(); });
    if (stuck) until = std::min(until, now_ + milliseconds(1));
    if (!flushing_.empty() || !flushing_now_.empty() || !letters_.empty()) until = now_;
    const std::int64_t left_us = std::max<std::int64_t>(0, until.us - now_.us);
    const timespec timeout{left_us / 1'000'000, (left_us % 1'000'000) * 1000};
    std::array<epoll_event, events_per_turn> events{};
    int count =
        epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &timeout, nullptr);
    if (count < 0 && errno == ENOSYS) {
        // Old kernels and valgrind support whole milliseconds only. Rounds up so that no timer is
        // early.
        count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                           static_cast<int>((left_us + 999) / 1000));
    }
    CHECK(count >= 0 || errno == EINTR);
    ready_.clear();
    next_ready_ = 0;
    for (int i = 0; i < count; ++i) {
        if (events[static_cast<std::size_t>(i)].data.ptr == nullptr) {
            std::uint64_t ignored = 0;
            [[maybe_unused]] const ssize_t got = ::read(wakeup_, &ignored, sizeof ignored);
            continue;
        }
        ready_.push_back({events[static_cast<std::size_t>(i)].events,
                          static_cast<Source*>(events[static_cast<std::size_t>(i)].data.ptr)});
    }
}

void Reactor::turn() {
    // Sources left over from the last turn are served before newly ready ones.
    if (next_ready_ == ready_.size()) wait();
    const Timestamp begin = refresh_now();
    turn_times_.begin(begin);
    longest_part_ = {};
    part_began_ = begin;
    read_mailbox();
    end_part("letters");
    run_due_vhosts();
    end_part("timers");
    serve_ready();
    end_part("sockets");
    if (now_ >= next_tick_) tick_all();
    for (const auto& vhost : vhosts_) vhost->flush();
    end_part("journal");
    flush_all();
    send_outgoing();
    disposed_.clear();
    end_part("flushes");
    const Timestamp end = now_;
    if (turn_times_.was_long(begin, end)) turn_times_.note_long(heaviest_command(begin));
    busy_us_ += (end - begin).us;
    if ((end - busy_since_).us >= 1'000'000) {
        busy_percent_.store(static_cast<unsigned>(busy_us_ * 100 / (end - busy_since_).us),
                            std::memory_order_relaxed);
        busy_us_ = 0;
        busy_since_ = end;
    }
}

void Reactor::end_part(std::string_view name) {
    const Timestamp began = std::exchange(part_began_, refresh_now());
    if (now_ - began > longest_part_.took) longest_part_ = {name, now_ - began};
}

std::string_view Reactor::heaviest_command(Timestamp since) const {
    engine::Engine::Heaviest heaviest;
    for (const auto& vhost : vhosts_) {
        const auto& one = vhost->engine().heaviest();
        if (one.at >= since && one.steps > heaviest.steps) heaviest = one;
    }
    return heaviest.steps == 0 ? longest_part_.name : engine::command_name(heaviest.command);
}

void Reactor::read_mailbox() {
    slice_end_ = now_ + letters_slice;
    if (letters_.empty()) letters_ = mailbox_.take();
    std::size_t before_look = letters_between_looks;
    for (; next_batch_ < letters_.size(); ++next_batch_, next_item_ = 0) {
        auto& batch = letters_[next_batch_];
        while (next_item_ < batch.items.size()) {
            MailboxItem& item = batch.items[next_item_++];
            before_look = read_item(std::move(item)) == Took::little ? before_look - 1 : 0;
            if (before_look > 0) continue;
            if (slice_is_over()) return;
            before_look = letters_between_looks;
        }
        mailbox_.was_read(batch);
    }
    letters_.clear();
    next_batch_ = 0;
}

Reactor::Took Reactor::read_item(MailboxItem&& item) {
    if (auto* command = std::get_if<VhostCommand>(&item)) {
        engine::Engine& engine = command->vhost->engine();
        const std::uint64_t heavy_steps = engine.heavy_steps();
        const bool is_frequent = std::holds_alternative<engine::Publish>(command->command) ||
                                 std::holds_alternative<engine::Settle>(command->command);
        engine.handle(std::move(command->command), now_);
        return is_frequent && engine.heavy_steps() == heavy_steps ? Took::little : Took::much;
    }
    if (auto* effect = std::get_if<engine::Effect>(&item)) {
        dispatch_effect(std::move(*effect));
        return Took::little;
    }
    std::get<Task>(item)(*this);
    return Took::much;
}

void Reactor::dispatch_effect(engine::Effect&& effect) {
    engine::EffectSink* const sink = find_sink(engine::addressee(effect));
    if (sink == nullptr) return;  // the connection ended before the effect arrived
    if (auto* deliver = std::get_if<engine::Deliver>(&effect)) {
        sink->deliver(std::move(*deliver));
    } else if (const auto* confirm = std::get_if<engine::Confirm>(&effect)) {
        sink->confirm(*confirm);
    } else {
        sink->request(std::move(effect));
    }
}

// Expirations are written like all other changes, so they wait while the disk is behind.
bool Reactor::is_due(Vhost& vhost) const {
    return vhost.engine().next_deadline() <= now_ && vhost.runs_timers();
}

void Reactor::run_due_vhosts() {
    slice_end_ = now_ + vhosts_slice;
    for (std::size_t left = vhosts_.size(); left > 0; --left) {
        if (next_vhost_ >= vhosts_.size()) next_vhost_ = 0;
        const std::shared_ptr<Vhost> vhost = vhosts_[next_vhost_++];
        if (!is_due(*vhost)) continue;
        vhost->engine().handle(engine::Tick{}, now_);
        if (slice_is_over()) return;
    }
}

void Reactor::serve_ready() {
    slice_end_ = now_ + sockets_slice;
    while (next_ready_ < ready_.size()) {
        const Event event = ready_[next_ready_++];
        if (event.source == nullptr) continue;
        event.source->ready(event.events);
        // A source that reads from its socket also updates the clock.
        if (now_ >= slice_end_) return;
    }
}

void Reactor::tick_all() {
    next_tick_ = now_ + tick_interval;
    // A tick may end a connection, which removes itself from the list.
    const std::vector<Tickable*> ticking = ticking_;
    for (Tickable* one : ticking) one->tick(now_);
    wall_ahead_ = wall_ahead();
    for (const auto& vhost : vhosts_) {
        vhost->engine().set_wall_ahead(wall_ahead_);
        vhost->tick();
    }
}

void Reactor::flush_all() {
    slice_end_ = now_ + flush_slice;
    // Flushing a socket may allow more deliveries to it. They are sent in the next turn, so that
    // one fast reader with a long backlog does not delay the others.
    if (flushing_now_.empty()) std::swap(flushing_, flushing_now_);
    while (next_flush_ < flushing_now_.size()) {
        if (Flushable* const socket = flushing_now_[next_flush_++]) socket->flush();
        if (next_flush_ % flushes_between_looks == 0 && slice_is_over()) break;
    }
    if (next_flush_ < flushing_now_.size()) return;
    flushing_now_.clear();
    next_flush_ = 0;
}

void Reactor::forget(Flushable& socket) {
    for (auto* list : {&flushing_, &flushing_now_}) {
        std::replace(list->begin(), list->end(), &socket, static_cast<Flushable*>(nullptr));
    }
}

void Reactor::send(std::uint8_t reactor, MailboxItem item) {
    outgoing_[reactor].items.push_back(std::move(item));
}

void Reactor::note_sent(std::uint8_t reactor, std::size_t bytes) {
    outgoing_[reactor].bytes += bytes;
}

bool Reactor::congested(std::uint8_t reactor) const {
    return outgoing_[reactor].items.size() > congested_items ||
           outgoing_[reactor].bytes + all_[reactor]->mailbox_.bytes() > congested_bytes;
}

void Reactor::send_outgoing() {
    for (std::size_t i = 0; i < outgoing_.size(); ++i) {
        if (outgoing_[i].empty()) {
            outgoing_[i].bytes = 0;  // bytes of heartbeats, or of parts that are not an item yet
            continue;
        }
        if (all_[i]->mailbox_.post(outgoing_[i]) == Mailbox<MailboxItem>::Posted::first)
            all_[i]->wake();
    }
}

void Reactor::watch(int descriptor, std::uint32_t events, Source& source) {
    epoll_event event{};
    event.events = events;
    event.data.ptr = &source;
    CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0);
}

void Reactor::rewatch(int descriptor, std::uint32_t events, Source& source) {
    epoll_event event{};
    event.events = events;
    event.data.ptr = &source;
    CHECK(epoll_ctl(epoll_, EPOLL_CTL_MOD, descriptor, &event) == 0);
}

void Reactor::unwatch(int descriptor, Source& source) {
    epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
    for (Event& event : ready_) {
        if (event.source == &source) event.source = nullptr;
    }
}

void Reactor::add_ticking(Tickable& ticking) { ticking_.push_back(&ticking); }

void Reactor::remove_ticking(Tickable& ticking) {
    const auto place = std::find(ticking_.begin(), ticking_.end(), &ticking);
    if (place == ticking_.end()) return;
    *place = ticking_.back();
    ticking_.pop_back();
}

std::uint64_t Reactor::register_sink(engine::EffectSink& sink) {
    if (free_sinks_.empty()) {
        free_sinks_.push_back(static_cast<std::uint32_t>(sinks_.size()));
        sinks_.emplace_back();
    }
    const std::uint32_t slot = free_sinks_.back();
    free_sinks_.pop_back();
    sinks_[slot].sink = &sink;
    sinks_[slot].generation += 1;
    CHECK(slot < (1U << 24));
    return (std::uint64_t{index_} << 56) | (std::uint64_t{sinks_[slot].generation} << 24) | slot;
}

void Reactor::release_sink(std::uint64_t id) {
    if (find_sink(id) == nullptr) return;
    const auto slot = static_cast<std::uint32_t>(id & 0xFFFFFF);
    sinks_[slot].sink = nullptr;
    free_sinks_.push_back(slot);
}

engine::EffectSink* Reactor::find_sink(std::uint64_t id) {
    const std::size_t slot = id & 0xFFFFFF;
    const auto generation = static_cast<std::uint32_t>(id >> 24);
    if (slot >= sinks_.size() || sinks_[slot].generation != generation) return nullptr;
    return sinks_[slot].sink;
}

void Reactor::adopt_vhost(std::shared_ptr<Vhost> vhost) {
    vhost->engine().set_wall_ahead(wall_ahead_);
    vhosts_.push_back(std::move(vhost));
}

void Reactor::drop_vhost(const Vhost& vhost) {
    std::erase_if(vhosts_, [&](const auto& owned) { return owned.get() == &vhost; });
}

}  // namespace revenant::runtime
