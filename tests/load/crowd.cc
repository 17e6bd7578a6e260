#include "crowd.h"

#include "clock.h"
#include "failure.h"

#include <unistd.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <utility>

namespace load {

using bench::Failure;
using bench::Frame;
using bench::FrameType;
using bench::MethodId;
using bench::Writer;

namespace {

constexpr uint64_t opening_count_max = 100;  // below the usual listener backlog of 128
constexpr uint32_t last_source_address = INADDR_LOOPBACK + 200;

std::string system_error(const char* what) {
    return std::string(what) + ": " + std::strerror(errno);
}

}  // namespace

Member::Member(int descriptor, uint64_t index, const bench::Login& login)
    : descriptor_(descriptor),
      index_(index),
      handshake_(login),
      output_(bench::Handshake::greeting()) {}

Member::~Member() { ::close(descriptor_); }

void Member::start_work(uint64_t messages) {
    constexpr uint8_t exclusive_bit = 4;
    message_count_ = messages;
    phase_ = Phase::declaring;
    Writer arguments;
    arguments.u16(0).short_string(queue()).u8(exclusive_bit).raw(bench::Table().encoded());
    output_ += bench::method_frame(1, bench::queue_declare, arguments.bytes());
}

void Member::on_readable() {
    std::array<char, 16384> part{};
    const ssize_t count = ::recv(descriptor_, part.data(), part.size(), 0);
    if (count == 0) throw Failure("the broker closed connection " + std::to_string(index_));
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count < 0) throw Failure(system_error("receive"));
    input_.append(part.data(), static_cast<size_t>(count));
    std::string_view rest = input_;
    while (const auto frame = bench::next_frame(rest)) {
        handle(*frame);
        rest.remove_prefix(frame->wire_bytes());
    }
    input_.erase(0, input_.size() - rest.size());
}

bool Member::flush() {
    while (!output_.empty()) {
        const ssize_t count = ::send(descriptor_, output_.data(), output_.size(), MSG_NOSIGNAL);
        if (count < 0 && (errno == EAGAIN || errno == ENOTCONN)) return false;
        if (count < 0 && errno != EINTR) throw Failure(system_error("send"));
        if (count > 0) output_.erase(0, static_cast<size_t>(count));
    }
    return true;
}

bool Member::is_disturbed() const {
    char byte = 0;
    return ::recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

void Member::handle(const Frame& frame) {
    if (phase_ == Phase::opening) {
        output_ += handshake_.answer(frame);
        if (handshake_.complete()) phase_ = Phase::open;
    } else if (frame.type == FrameType::method) {
        handle_method(frame.method(), frame.arguments());
    } else if (frame.type == FrameType::body) {
        on_body(frame.payload);
    }
}

void Member::handle_method(MethodId id, std::string_view arguments) {
    if (id == bench::connection_close || id == bench::channel_close) {
        throw Failure("the broker closed: " + bench::close_reason(arguments));
    }
    if (id == bench::basic_deliver) {
        const size_t consumer_tag_bytes =
            arguments.empty() ? 0 : static_cast<uint8_t>(arguments[0]);
        if (arguments.size() < consumer_tag_bytes + 9)
            throw Failure("the broker sent a short basic.deliver");
        delivery_tag_ = bench::load_u64(arguments.data() + 1 + consumer_tag_bytes);
    } else if (id == bench::queue_declare_ok && phase_ == Phase::declaring) {
        phase_ = Phase::consuming;
        Writer consume;
        consume.u16(0).short_string(queue()).short_string("").u8(0).raw(bench::Table().encoded());
        output_ += bench::method_frame(1, bench::basic_consume, consume.bytes());
    } else if (id == bench::basic_consume_ok && phase_ == Phase::consuming) {
        phase_ = Phase::working;
        publish_all();
    } else if (id == bench::queue_declare_ok && phase_ == Phase::checking) {
        if (bench::depth_answer(arguments) != 0) throw Failure("messages are left in " + queue());
        phase_ = Phase::finished;
    } else {
        throw Failure("unexpected method " + std::to_string(id.class_id) + "." +
                      std::to_string(id.method_id));
    }
}

std::string Member::body_of(uint64_t ordinal) const {
    return "connection " + std::to_string(index_) + " message " + std::to_string(ordinal);
}

void Member::publish_all() {
    for (uint64_t ordinal = 0; ordinal < message_count_; ++ordinal) {
        const std::string body = body_of(ordinal);
        auto message = bench::prepare_publish({.routing_key = queue(), .body_bytes = body.size()});
        message.bytes.replace(message.body_offset, body.size(), body);
        output_ += message.bytes;
    }
}

void Member::on_body(std::string_view body) {
    if (body != body_of(received_count_)) {
        throw Failure("expected '" + body_of(received_count_) + "', got '" + std::string(body) +
                      "'");
    }
    bench::append_settlement(output_, delivery_tag_, bench::Outcome::accepted, bench::Reach::one);
    if (++received_count_ < message_count_) return;
    phase_ = Phase::checking;
    output_ += bench::depth_question(queue());
}

Crowd::Crowd(bench::Endpoint endpoint)
    : endpoint_(std::move(endpoint)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      source_address_(INADDR_LOOPBACK) {
    if (epoll_ < 0) throw Failure(system_error("epoll"));
}

Crowd::~Crowd() { ::close(epoll_); }

void Crowd::open(uint64_t count) {
    const auto end = bench::Clock::now() + endpoint_.timeout;
    uint64_t open = 0;
    while (open < count) {
        while (members_.size() < count && members_.size() - open < opening_count_max) add_member();
        turn();
        open = count_in(Member::Phase::open);
        if (bench::Clock::now() < end) continue;
        throw Failure("only " + std::to_string(open) + " of " + std::to_string(count) +
                      " connections opened in time");
    }
}

void Crowd::work(uint64_t messages) {
    const auto end = bench::Clock::now() + endpoint_.timeout;
    for (size_t index = 0; index < members_.size(); ++index) {
        step(index, [&](Member& member) { member.start_work(messages); });
    }
    while (count_in(Member::Phase::finished) < members_.size()) {
        turn();
        if (bench::Clock::now() < end) continue;
        throw Failure("only " + std::to_string(count_in(Member::Phase::finished)) + " of " +
                      std::to_string(members_.size()) + " connections finished in time, " +
                      std::to_string(received_count()) + " messages received");
    }
}

uint64_t Crowd::disturbed_count() const {
    return static_cast<uint64_t>(std::count_if(
        members_.begin(), members_.end(), [](const auto& each) { return each->is_disturbed(); }));
}

uint64_t Crowd::received_count() const {
    uint64_t sum = 0;
    for (const auto& member : members_) sum += member->received_count();
    return sum;
}

void Crowd::step(size_t index, const std::function<void(Member&)>& action) {
    Member& member = *members_.at(index);
    --phase_counts_.at(static_cast<size_t>(member.phase()));
    action(member);
    ++phase_counts_.at(static_cast<size_t>(member.phase()));
    flush(index);
}

void Crowd::add_member() {
    const size_t index = members_.size();
    members_.push_back(std::make_unique<Member>(connect_next(), index, endpoint_.login));
    ++phase_counts_.at(static_cast<size_t>(Member::Phase::opening));
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT;
    event.data.u64 = index;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, members_[index]->descriptor(), &event) != 0) {
        throw Failure(system_error("epoll"));
    }
}

// One source address has about 28,000 ports. All addresses in 127.0.0.0/8 are local, so more are
// available.
int Crowd::connect_next() {
    sockaddr_in target{};
    target.sin_family = AF_INET;
    target.sin_port = htons(endpoint_.port);
    inet_pton(AF_INET, endpoint_.host.c_str(), &target.sin_addr);
    for (; source_address_ <= last_source_address; ++source_address_) {
        const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (descriptor < 0) throw Failure(system_error("socket"));
        const int on = 1;
        ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        ::setsockopt(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
        sockaddr_in source{};
        source.sin_family = AF_INET;
        source.sin_addr.s_addr = htonl(source_address_);
        const bool bound =
            ::bind(descriptor, reinterpret_cast<const sockaddr*>(&source), sizeof source) == 0;
        if (bound && (::connect(descriptor, reinterpret_cast<const sockaddr*>(&target),
                                sizeof target) == 0 ||
                      errno == EINPROGRESS)) {
            return descriptor;
        }
        const int reason = errno;
        ::close(descriptor);
        errno = reason;
        if (reason != EADDRNOTAVAIL) throw Failure(system_error("connect"));
    }
    throw Failure("no source address has a free port");
}

void Crowd::turn() {
    constexpr int wait_ms = 100;
    std::array<epoll_event, 256> events{};
    const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), wait_ms);
    for (int each = 0; each < count; ++each) {
        const epoll_event& event = events.at(static_cast<size_t>(each));
        const bool readable = (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
        step(event.data.u64, [&](Member& member) {
            if (readable) member.on_readable();
        });
    }
}

void Crowd::flush(size_t index) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (!members_.at(index)->flush()) event.events |= EPOLLOUT;
    event.data.u64 = index;
    ::epoll_ctl(epoll_, EPOLL_CTL_MOD, members_[index]->descriptor(), &event);
}

void raise_open_files_limit(uint64_t count) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= count) return;
    rlimit wanted{count, std::max<rlim_t>(count, limit.rlim_max)};
    if (::setrlimit(RLIMIT_NOFILE, &wanted) == 0) return;
    wanted = {std::min<rlim_t>(count, limit.rlim_max), limit.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &wanted);
}

}  // namespace load
