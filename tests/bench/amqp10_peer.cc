#include "amqp10_peer.h"

#include "amqp10/codec/descriptors.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace bench {

namespace amqp10 = revenant::amqp10;

namespace {

constexpr bool receiving = true;

std::string_view encoded(Outcome outcome) {
    return outcome == Outcome::accepted ? std::string_view{"\x00\x53\x24\x45", 4}
                                        : std::string_view{"\x00\x53\x25\x45", 4};
}

bool is_accepted(amqp10::Raw state) {
    return amqp10::TypeReader(state).descriptor() == amqp10::Accepted::descriptor_code;
}

std::string sections_of(const TransferShape& shape) {
    std::string bytes;
    amqp10::TypeWriter writer(bytes);
    // Without this field the broker chooses.
    writer.descriptor(amqp10::Header::descriptor_code);
    auto header = writer.begin_list();
    header.count = 1;
    writer.boolean(shape.durable);
    writer.end(header);
    writer.descriptor(amqp10::descriptor::data);
    writer.binary(std::string(shape.body_bytes, 'x'));
    return bytes;
}

void write_u32(std::string& bytes, size_t offset, uint32_t value) {
    revenant::ByteWriter(bytes).patch_u32(offset, value);
}

}  // namespace

// ------------------------------------------------------------------------- both

size_t Peer10::handle(std::string_view input) {
    std::string_view rest = input;
    while (true) {
        const auto outcome = amqp10::read_frame(rest, frame10_bytes_max, amqp10::FrameType::amqp);
        if (std::holds_alternative<amqp10::FrameIncomplete>(outcome)) break;
        if (const auto* const error = std::get_if<amqp10::FrameError>(&outcome))
            throw Failure("the broker sent a bad frame: " + error->text);
        const auto& frame = std::get<amqp10::Frame>(outcome);
        if (!frame.body.empty()) handle(read_performative(frame.body));
        rest.remove_prefix(amqp10::frame_size(rest));
    }
    return input.size() - rest.size();
}

void Peer10::handle(const Performed& performed) {
    switch (performed.code) {
        case amqp10::Transfer::descriptor_code:
            return on_transfer(fields_of<amqp10::Transfer>(performed));
        case amqp10::Disposition::descriptor_code:
            return on_disposition(fields_of<amqp10::Disposition>(performed));
        case amqp10::Flow::descriptor_code:
            return on_flow(fields_of<amqp10::Flow>(performed));
        default:
            check_end(performed);
    }
}

void Peer10::ask_depth(const std::string& /*queue*/) {
    throw Failure("a sender of AMQP 1.0 cannot ask for a depth");
}

// ------------------------------------------------------------------------- publisher

PreparedTransfer prepare_transfer(const TransferShape& shape) {
    constexpr uint32_t placeholder = 0xFFFFFFFF;  // forces the widest encoding
    constexpr std::string_view tag = "\xFE\xFE\xFE\xFE";
    constexpr size_t transfer_bytes_max = 64;
    const std::string sections = sections_of(shape);
    const size_t part_bytes_max = shape.frame_bytes_max - transfer_bytes_max;

    PreparedTransfer message;
    for (size_t done = 0; done < sections.size(); ++message.frame_count) {
        const size_t part_bytes = std::min(part_bytes_max, sections.size() - done);
        amqp10::Transfer transfer;
        transfer.handle = link_handle;
        if (done == 0) {
            transfer.delivery_id = placeholder;
            transfer.delivery_tag = tag;
            transfer.message_format = 0;
            transfer.settled = false;
        }
        transfer.more = done + part_bytes < sections.size();
        const size_t frame =
            amqp10::begin_frame(message.bytes, amqp10::FrameType::amqp, session_channel);
        amqp10::TypeWriter writer(message.bytes);
        transfer.encode(writer);
        if (done == 0) {
            message.id_offset = message.bytes.find("\x70\xFF\xFF\xFF\xFF") + 1;
            message.tag_offset = message.bytes.find(tag);
        }
        message.bytes.append(sections, done, part_bytes);
        amqp10::end_frame(message.bytes, frame);
        done += part_bytes;
    }
    return message;
}

Publisher10::Publisher10(Session10 session, PreparedTransfer message, uint64_t count)
    : Peer10(std::move(session)), Publishing(count), message_(std::move(message)) {}

uint64_t Publisher10::send_limit() const {
    return std::min({limit(), credit_limit_, frame_limit_ / message_.frame_count});
}

Flushed Publisher10::flush() {
    for (const uint64_t end = send_limit(); sent_count_ < end;) append_message();
    return Connection::flush();
}

void Publisher10::append_message() {
    std::string& bytes = output();
    const size_t begin = bytes.size();
    const auto number = static_cast<uint32_t>(sent_count_);
    bytes += message_.bytes;
    write_u32(bytes, begin + message_.id_offset, number);
    write_u32(bytes, begin + message_.tag_offset, number);
    ++sent_count_;
}

void Publisher10::on_flow(const amqp10::Flow& flow) {
    // The broker counts frames and messages from 0; a load is too short to wrap around.
    frame_limit_ = uint64_t{flow.next_incoming_id.value_or(0)} + flow.incoming_window;
    if (flow.link_credit)
        credit_limit_ = uint64_t{flow.delivery_count.value_or(0)} + *flow.link_credit;
}

void Publisher10::on_disposition(const amqp10::Disposition& disposition) {
    if (!disposition.settled) throw Failure("the broker left a message unsettled");
    const uint64_t last = disposition.last.value_or(disposition.first);
    confirm(uint64_t{disposition.first} + 1, last + 1,
            is_accepted(disposition.state) ? Outcome::accepted : Outcome::rejected);
}

// ------------------------------------------------------------------------- consumer

Consumer10::Consumer10(Session10 session, uint64_t settle_every, uint32_t credit)
    : Peer10(std::move(session)), Consuming(settle_every), credit_(credit) {}

void Consumer10::on_transfer(const amqp10::Transfer& transfer) {
    ++received_frames_;
    if (transfer.delivery_id) delivery_id_ = *transfer.delivery_id;
    if (transfer.more) return;
    ++received_count_;
    if (credit_left_ == 0) throw Failure("the broker sent a message without credit");
    --credit_left_;
    on_delivered(delivery_id_);
    if (credit_left_ <= credit_ / 2) grant_credit(/*echo=*/false);
}

void Consumer10::settle(uint64_t first, uint64_t last, Outcome outcome) {
    amqp10::Disposition disposition;
    disposition.role = receiving;
    disposition.first = static_cast<uint32_t>(first);
    if (last != first) disposition.last = static_cast<uint32_t>(last);
    disposition.settled = true;
    disposition.state = encoded(outcome);
    append_performative(output(), disposition);
}

void Consumer10::grant_credit(bool echo) {
    credit_left_ = credit_;
    amqp10::Flow flow;
    flow.next_incoming_id = received_frames_;
    flow.incoming_window = session_window;
    flow.outgoing_window = session_window;
    flow.handle = link_handle;
    flow.delivery_count = received_count_;
    flow.link_credit = credit_left_;
    flow.echo = echo;
    append_performative(output(), flow);
}

// The broker's reply contains the number of messages available to the link.
void Consumer10::ask_depth(const std::string& /*queue*/) {
    expect_depth();
    grant_credit(/*echo=*/true);
}

void Consumer10::on_flow(const amqp10::Flow& flow) {
    if (flow.available) note_depth(*flow.available);
}

}  // namespace bench
