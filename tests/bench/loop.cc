#include "loop.h"

#include "clock.h"
#include "failure.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>
#include <sys/epoll.h>

namespace bench {

namespace {

constexpr uint64_t idle_ns = 2'000'000;

}  // namespace

Loop::Loop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) throw Failure(std::string("epoll: ") + std::strerror(errno));
}

Loop::~Loop() { ::close(epoll_); }

void Loop::add(Connection& peer) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = members_.size();
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, peer.descriptor(), &event) != 0) {
        throw Failure(std::string("epoll: ") + std::strerror(errno));
    }
    members_.push_back({.peer = &peer});
}

void Loop::run_until(const std::function<bool()>& done, std::chrono::seconds limit,
                     const char* what) {
    const auto end = Clock::now() + limit;
    for (size_t index = 0; index < members_.size(); ++index) flush(index);
    while (!done()) {
        if (Clock::now() > end) {
            throw Failure(std::string("not done within ") + std::to_string(limit.count()) +
                          " s: " + what);
        }
        turn();
    }
    for (size_t index = 0; index < members_.size(); ++index) flush(index);
}

void Loop::turn() {
    std::array<epoll_event, 64> events{};
    const int count = wait(events.data(), static_cast<int>(events.size()));
    for (int each = 0; each < count; ++each) {
        const epoll_event& event = events.at(static_cast<size_t>(each));
        Member& member = members_.at(event.data.u64);
        if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) member.peer->receive();
        if ((event.events & EPOLLOUT) != 0) member.writable = true;
    }
    if (count == 0 && on_idle) on_idle();
    if (on_turn) on_turn();
    for (size_t index = 0; index < members_.size(); ++index) flush(index);
}

void Loop::flush(size_t index) {
    Member& member = members_[index];
    if (!member.writable) return;
    const Flushed flushed = member.peer->flush();
    member.writable = flushed == Flushed::all;
    if (flushed == member.flushed) return;
    member.flushed = flushed;
    epoll_event event{};
    event.events = EPOLLIN;
    if (flushed == Flushed::blocked) event.events |= EPOLLOUT;
    event.data.u64 = index;
    ::epoll_ctl(epoll_, EPOLL_CTL_MOD, member.peer->descriptor(), &event);
}

int Loop::wait(epoll_event* events, int events_max) const {
    uint64_t wait_ns = idle_ns;
    if (wake_at_ns) {
        const uint64_t now = now_ns();
        const uint64_t wake = wake_at_ns();
        wait_ns = wake > now ? std::min(wake - now, idle_ns) : 0;
    }
    const timespec timeout{0, static_cast<long>(wait_ns)};
    const int count = ::epoll_pwait2(epoll_, events, events_max, &timeout, nullptr);
    if (count < 0 && errno != EINTR) throw Failure(std::string("epoll: ") + std::strerror(errno));
    return std::max(count, 0);
}

}  // namespace bench
