#include "amqp091/delivery_writer.h"

#include "amqp091/codec/errors.h"
#include "amqp091/codec/frame.h"
#include "amqp091/codec/put_bytes.h"
#include "amqp091/message/foreign_content.h"
#include "amqp091/message/spliced_properties.h"

#include <string>

namespace revenant::amqp091 {
namespace {

using protocol::Output;

// The exchange of the last publish or dead-lettering.
std::string_view exchange_of(const Message& message, const EnvelopeRef& envelope) {
    return envelope ? std::string_view(envelope->exchange) : message.exchange();
}
std::string_view routing_key_of(const Message& message, const EnvelopeRef& envelope) {
    return envelope ? std::string_view(envelope->routing_keys.front()) : message.routing_key();
}

constexpr std::size_t content_header_bytes = 12;

char* put_frame_header(char* at, FrameType type, std::uint16_t channel, std::size_t payload) {
    at = put_u8(at, static_cast<std::uint8_t>(type));
    at = put_u16(at, channel);
    return put_u32(at, static_cast<std::uint32_t>(payload));
}

// The same deaths with their routing keys omitted and counted.
EnvelopeRef without_keys(const Envelope& envelope) {
    auto* const shorter = new Envelope(envelope);
    for (Death& death : shorter->history.deaths) {
        death.routing_keys_omitted += static_cast<std::uint32_t>(death.routing_keys.size());
        death.routing_keys.clear();
    }
    return EnvelopeRef::adopt(shorter);
}

EnvelopeRef with_latest_deaths(const Envelope& envelope, std::size_t count) {
    auto* const shorter = new Envelope(envelope);
    shorter->history.deaths.resize(count);
    return EnvelopeRef::adopt(shorter);
}

// A content header must fit in one frame of the negotiated size. The broker's additions are
// shortened to fit: first the routing keys of the deaths are removed, then the oldest deaths. The
// publisher's properties are never shortened. Calls use(spliced, added).
template <typename Use>
void splice_fitting(std::string_view properties, const EnvelopeRef& envelope,
                    engine::ShownCounts counts, std::uint32_t frame_max, Use use) {
    const auto fits = [&](const SplicedProperties& spliced) {
        return frame_max == 0 ||
               content_header_bytes + spliced.size() + frame_overhead_bytes <= frame_max;
    };
    {
        AddedHeadersRef scratch;
        const AddedHeadersRef& added = added_headers(envelope, scratch);
        const SplicedProperties spliced(properties, *added, counts);
        if (fits(spliced) || !added->died) return use(spliced, added);
    }
    EnvelopeRef shorter = without_keys(*envelope);
    while (true) {
        const AddedHeadersRef added = render_added_headers(*shorter);
        const SplicedProperties spliced(properties, *added, counts);
        const std::size_t deaths = shorter->history.deaths.size();
        if (fits(spliced) || deaths <= 1) return use(spliced, added);
        shorter = with_latest_deaths(*shorter, deaths / 2);
    }
}

}  // namespace

void DeliveryWriter::write(const engine::Deliver& effect, std::string_view consumer_tag) {
    const Message& message = *effect.message;
    if (is_foreign(message)) [[unlikely]]
        return write_foreign(effect, consumer_tag);
    const std::string_view properties = message.properties();
    if (!effect.envelope && !effect.counts.any()) {
        return write_native(effect, consumer_tag, properties.size(),
                            [&](char* at) { return put_bytes(at, properties); });
    }
    splice_fitting(properties, effect.envelope, effect.counts, frame_max_,
                   [&](const SplicedProperties& spliced, const AddedHeadersRef& added) {
                       if (added->bytes.size() >= Output::common_bytes_min) {
                           return write_long(effect, consumer_tag, spliced, added);
                       }
                       write_native(effect, consumer_tag, spliced.size(),
                                    [&](char* at) { return spliced.write(at); });
                   });
}

namespace {

// The frame of basic.deliver and the start of the content header, up to the properties.
class DeliveryStart {
  public:
    DeliveryStart(const engine::Deliver& effect, std::string_view consumer_tag)
        : effect_(effect),
          consumer_tag_(consumer_tag),
          exchange_(exchange_of(*effect.message, effect.envelope)),
          key_(routing_key_of(*effect.message, effect.envelope)) {}

    std::size_t size() const {
        return method_payload() + content_header_bytes + 2 * frame_overhead_bytes - 1;
    }
    char* put(char* at, std::uint16_t channel, std::size_t properties_size) const {
        at = put_frame_header(at, FrameType::method, channel, method_payload());
        at = put_u16(at, BasicDeliver::class_id);
        at = put_u16(at, BasicDeliver::method_id);
        at = put_short_string(at, consumer_tag_);
        at = put_u64(at, effect_.delivery.value);
        at = put_u8(at, effect_.redelivered ? 1 : 0);
        at = put_short_string(at, exchange_);
        at = put_short_string(at, key_);
        at = put_u8(at, frame_end);
        at = put_frame_header(at, FrameType::header, channel,
                              content_header_bytes + properties_size);
        at = put_u16(at, BasicDeliver::class_id);
        at = put_u16(at, 0);
        return put_u64(at, effect_.message->body_size());
    }

  private:
    std::size_t method_payload() const {
        return 4 + 1 + consumer_tag_.size() + 8 + 1 + 1 + exchange_.size() + 1 + key_.size();
    }

    const engine::Deliver& effect_;
    std::string_view consumer_tag_;
    std::string_view exchange_;
    std::string_view key_;
};

}  // namespace

template <typename PutProperties>
void DeliveryWriter::write_native(const engine::Deliver& effect, std::string_view consumer_tag,
                                  std::size_t properties_size, PutProperties put_properties) {
    const DeliveryStart start(effect, consumer_tag);
    const std::string_view body = effect.message->body();

    // The common case, written in one piece: a body in a single small frame.
    const bool one_piece = body.size() < Output::shared_bytes_min &&
                           (frame_max_ == 0 || body.size() + frame_overhead_bytes <= frame_max_);
    const std::size_t body_frame =
        one_piece && !body.empty() ? body.size() + frame_overhead_bytes : 0;
    char* at = output_.extend(start.size() + properties_size + 1 + body_frame);
    at = start.put(at, channel_, properties_size);
    at = put_properties(at);
    at = put_u8(at, frame_end);
    if (body_frame != 0) {
        at = put_frame_header(at, FrameType::body, channel_, body.size());
        at = put_bytes(at, body);
        put_u8(at, frame_end);
    } else if (!body.empty()) {
        write_body(effect.message);
    }
}

void DeliveryWriter::write_long(const engine::Deliver& effect, std::string_view consumer_tag,
                                const SplicedProperties& spliced, const AddedHeadersRef& added) {
    const DeliveryStart start(effect, consumer_tag);
    start.put(output_.extend(start.size()), channel_, spliced.size());
    const std::string& bytes = added->bytes;
    const auto is_added = [&](std::string_view piece) {
        return piece.data() >= bytes.data() && piece.data() < bytes.data() + bytes.size();
    };
    for (const std::string_view piece : spliced.pieces()) {
        if (piece.size() >= Output::common_bytes_min && is_added(piece)) {
            output_.append_common(added, piece);
        } else {
            output_.buffer().append(piece);
        }
    }
    output_.buffer().push_back(static_cast<char>(frame_end));
    if (effect.message->body_size() > 0) write_body(effect.message);
}

void DeliveryWriter::write_foreign(const engine::Deliver& effect, std::string_view consumer_tag) {
    BasicDeliver deliver;
    deliver.consumer_tag = consumer_tag;
    deliver.delivery_tag = effect.delivery.value;
    deliver.redelivered = effect.redelivered;
    deliver.exchange = exchange_of(*effect.message, effect.envelope);
    deliver.routing_key = routing_key_of(*effect.message, effect.envelope);
    append_method(output_.buffer(), channel_, deliver);
    write_content(effect.message, effect.envelope, effect.counts);
}

void DeliveryWriter::write(const engine::GetAnswer& answer) {
    BasicGetOk ok;
    ok.delivery_tag = answer.delivery.value;
    ok.redelivered = answer.redelivered;
    ok.exchange = exchange_of(*answer.message, answer.envelope);
    ok.routing_key = routing_key_of(*answer.message, answer.envelope);
    ok.message_count = shown_count(answer.messages_left);
    append_method(output_.buffer(), channel_, ok);
    write_content(answer.message, answer.envelope, answer.counts);
}

void DeliveryWriter::write(const engine::ReturnUnroutable& effect) {
    BasicReturn returned;
    returned.reply_code = static_cast<std::uint16_t>(ReplyCode::no_route);
    returned.reply_text = "NO_ROUTE";
    returned.exchange = effect.message->exchange();
    returned.routing_key = effect.message->routing_key();
    append_method(output_.buffer(), channel_, returned);
    write_content(effect.message, {}, {});
}

void DeliveryWriter::write_content(const MessageRef& message, const EnvelopeRef& envelope,
                                   engine::ShownCounts counts) {
    std::string& out = output_.buffer();
    if (is_foreign(*message)) {
        const ForeignContent content = convert_foreign(*message);
        splice_fitting(content.properties, envelope, counts, frame_max_,
                       [&](const SplicedProperties& spliced, const AddedHeadersRef&) {
                           append_content_header(out, channel_, content.body.size(),
                                                 spliced.text());
                       });
        append_body_frames(out, channel_, content.body, frame_max_);
        return;
    }
    if (envelope || counts.any()) {
        splice_fitting(message->properties(), envelope, counts, frame_max_,
                       [&](const SplicedProperties& spliced, const AddedHeadersRef&) {
                           append_content_header(out, channel_, message->body_size(),
                                                 spliced.text());
                       });
    } else {
        append_content_header(out, channel_, message->body_size(), message->properties());
    }
    if (message->body_size() > 0) write_body(message);
}

void DeliveryWriter::write_body(const MessageRef& message) {
    const std::string_view body = message->body();
    if (body.size() < Output::shared_bytes_min) {
        append_body_frames(output_.buffer(), channel_, body, frame_max_);
        return;
    }
    const std::size_t part_max = frame_max_ == 0 ? body.size() : frame_max_ - frame_overhead_bytes;
    for (std::size_t at = 0; at < body.size(); at += part_max) {
        const std::string_view part = body.substr(at, part_max);
        append_frame_header(output_.buffer(), FrameType::body, channel_,
                            static_cast<std::uint32_t>(part.size()));
        output_.append_shared(message, part);
        output_.buffer().push_back(static_cast<char>(frame_end));
    }
}

}  // namespace revenant::amqp091
