#include "peer.h"

#include "clock.h"
#include "failure.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <sys/uio.h>
#include <utility>

namespace bench {

namespace {

constexpr size_t block_bytes = size_t{256} * 1024;
constexpr size_t expiring_block_bytes =
    size_t{16} * 1024;  // short, so that the remaining time is accurate
// One peer must not delay reading from the others.
constexpr size_t flush_bytes_max = size_t{1024} * 1024;

}  // namespace

size_t Peer::handle(std::string_view input) {
    std::string_view rest = input;
    while (const auto frame = next_frame(rest)) {
        handle(*frame);
        rest.remove_prefix(frame->wire_bytes());
    }
    return input.size() - rest.size();
}

void Peer::handle(const Frame& frame) {
    switch (frame.type) {
        case FrameType::method:
            return on_method(frame.method(), frame.arguments());
        case FrameType::header:
            return on_header(frame.payload);
        case FrameType::body:
            return on_body(frame.payload);
        case FrameType::heartbeat:
            return;
    }
    throw Failure("the broker sent a frame of an unknown type");
}

void Peer::on_method(MethodId id, std::string_view arguments) {
    if (id == queue_declare_ok) {
        note_depth(depth_answer(arguments));
    } else if (id == connection_close || id == channel_close) {
        throw Failure("the broker closed: " + close_reason(arguments));
    } else if (id == basic_cancel) {
        throw Failure("the broker cancelled the consumer");
    }
    // All other methods are irrelevant to a load: connection.blocked, channel.flow and the like.
}

void Peer::ask_depth(const std::string& queue) {
    expect_depth();
    output() += depth_question(queue);
}

Publisher::Publisher(Session session, PreparedMessage message, uint64_t count)
    : Peer(std::move(session)), Publishing(count), message_(std::move(message)) {
    const size_t wanted = message_.expiration_offset != 0 ? expiring_block_bytes : block_bytes;
    const size_t copies = std::max<size_t>(1, wanted / message_.bytes.size());
    block_.reserve(copies * message_.bytes.size());
    for (size_t copy = 0; copy < copies; ++copy) block_ += message_.bytes;
}

Flushed Publisher::flush() {
    const uint64_t limit_bytes = limit() * message_.bytes.size();
    const uint64_t flush_end = sent_bytes_ + flush_bytes_max;
    while (sent_bytes_ < limit_bytes) {
        if (sent_bytes_ >= flush_end) return Flushed::blocked;
        if (deadline_ns_ != 0) write_remaining_time();
        std::array<iovec, 4> parts{};
        int part_count = 0;
        for (uint64_t at = sent_bytes_; at < limit_bytes && part_count < 4; ++part_count) {
            const size_t offset = at % block_.size();
            const size_t size = std::min<uint64_t>(block_.size() - offset, limit_bytes - at);
            parts.at(static_cast<size_t>(part_count)) = {block_.data() + offset, size};
            at += size;
            if (deadline_ns_ != 0)
                at = limit_bytes;  // the next copy of the block needs a new expiration
        }
        const ssize_t count = ::writev(descriptor(), parts.data(), part_count);
        if (must_wait(count, "send")) return Flushed::blocked;
        if (count > 0) sent_bytes_ += static_cast<uint64_t>(count);
    }
    return Connection::flush();
}

void Publisher::write_remaining_time() {
    const uint64_t now = now_ns();
    const unsigned long left_ms = deadline_ns_ > now ? (deadline_ns_ - now) / 1'000'000 : 0;
    std::array<char, 24> digits{};
    const size_t width = expiration_placeholder.size();
    std::snprintf(digits.data(), digits.size(), "%0*lu", static_cast<int>(width), left_ms);
    // A partly sent message keeps its expiration.
    const size_t message_bytes = message_.bytes.size();
    const size_t partly_sent = sent_bytes_ % block_.size() / message_bytes;
    for (size_t index = 0; index * message_bytes < block_.size(); ++index) {
        if (index == partly_sent && sent_bytes_ % message_bytes != 0) continue;
        std::memcpy(&block_[index * message_bytes + message_.expiration_offset], digits.data(),
                    width);
    }
}

void Publisher::on_method(MethodId id, std::string_view arguments) {
    if (id == basic_ack || id == basic_nack) {
        if (arguments.size() < 9) throw Failure("the broker sent a short confirm");
        const uint64_t tag = load_u64(arguments.data());
        const bool alone = (arguments[8] & 1) == 0;
        confirm(alone ? tag : std::min(lowest_unconfirmed(), tag), tag,
                id == basic_ack ? Outcome::accepted : Outcome::rejected);
        return;
    }
    Peer::on_method(id, arguments);
}

StampedPublisher::StampedPublisher(Session session, PreparedMessage message)
    : Peer(std::move(session)), message_(std::move(message)) {}

void StampedPublisher::publish(uint64_t stamp) {
    std::memcpy(&message_.bytes[message_.body_offset], &stamp, sizeof stamp);
    output() += message_.bytes;
}

void StampedPublisher::publish(uint64_t stamp, uint64_t ttl_ms) {
    for (size_t digit = 5; digit-- > 0; ttl_ms /= 10) {
        message_.bytes[message_.expiration_offset + digit] = static_cast<char>('0' + ttl_ms % 10);
    }
    publish(stamp);
}

Consumer::Consumer(Session session, uint64_t settle_every, std::string queue)
    : Peer(std::move(session)), Consuming(settle_every), queue_(std::move(queue)) {}

void Consumer::start() {
    if (!queue_.empty()) output() += consume_question(queue_);
}

void Consumer::on_method(MethodId id, std::string_view arguments) {
    if (id == basic_deliver) {
        const size_t consumer_tag_bytes =
            arguments.empty() ? 0 : static_cast<uint8_t>(arguments[0]);
        if (arguments.size() < 1 + consumer_tag_bytes + 8)
            throw Failure("the broker sent a short basic.deliver");
        delivery_tag_ = load_u64(arguments.data() + 1 + consumer_tag_bytes);
        return;
    }
    Peer::on_method(id, arguments);
}

void Consumer::on_header(std::string_view payload) {
    if (payload.size() < 12) throw Failure("the broker sent a short content header");
    body_bytes_ = body_bytes_left_ = load_u64(payload.data() + 4);
    body_started_ = false;
    if (body_bytes_left_ == 0) on_delivered(delivery_tag_);
}

void Consumer::on_body(std::string_view payload) {
    if (payload.size() > body_bytes_left_)
        throw Failure("the broker sent more body than it announced");
    if (!body_started_ && on_first_body) on_first_body(payload);
    body_started_ = true;
    body_bytes_left_ -= payload.size();
    if (body_bytes_left_ == 0) on_delivered(delivery_tag_);
}

void Consumer::settle(uint64_t first, uint64_t last, Outcome outcome) {
    append_settlement(output(), last, outcome, first == last ? Reach::one : Reach::all_up_to);
}

}  // namespace bench
