#include "amqp10/message/delivery.h"

#include "amqp10/codec/descriptors.h"
#include "amqp10/codec/map_walk.h"
#include "amqp10/codec/performatives.gen.h"
#include "amqp10/codec/value_cursor.h"
#include "amqp10/message/added_annotations.h"
#include "amqp10/message/foreign_delivery.h"
#include "amqp10/message/message_format.h"

#include <algorithm>
#include <array>
#include <limits>

namespace revenant::amqp10 {
namespace {

// A dead letter was acquired before (DL-96), and its own TTL no longer applies (DL-70, DL-104).
ValueCursor write_header(ValueCursor out, const Message& message, bool died,
                         const DeliveryInfo& info) {
    constexpr std::int64_t ttl_most = std::numeric_limits<std::uint32_t>::max();
    out.append({"\x00\x53\x70\xc0", 4});
    static_assert(Header::descriptor_code == 0x70);
    char* const size = out.at();
    out.put(0);
    out.put(5);
    out.boolean(message.persistent());
    if (message.priority()) {
        out.put(0x50);
        out.put(*message.priority());
    } else {
        out.null();
    }
    if (message.ttl_ms() && !died) {
        out.uint(static_cast<std::uint32_t>(std::min(*message.ttl_ms(), ttl_most)));
    } else {
        out.null();
    }
    out.boolean(!info.redelivered && info.failed_deliveries == 0 && !died);
    out.uint(info.failed_deliveries);
    *size = static_cast<char>(out.distance_from(size) - 1);
    return out;
}

// The first stored section, if it is message-annotations.
std::string_view own_annotations(const Message& message) {
    TypeReader in(message.properties());
    if (in.at_end()) return {};
    TypeReader peek(message.properties());
    return peek.descriptor() == descriptor::message_annotations ? in.raw() : Raw{};
}

void write_native(DeliveryHead& head, const Message& message, std::string_view annotations,
                  const AddedAnnotations& added) {
    TypeWriter out(head.bytes);
    out.descriptor(descriptor::message_annotations);
    TypeWriter::Open map = out.begin_map();
    std::uint32_t entries = 0;
    MapWalk walk(annotations);
    while (const auto entry = walk.next()) {
        if (added.replaces(symbol_in(entry->key).value_or(""))) continue;
        out.raw(entry->key);
        out.raw(entry->value);
        entries += 1;
    }
    entries += added.write(head);
    map.count = entries * 2;
    out.end(map, head.common.size());
    out.raw(message.properties().substr(annotations.size()));
}

// The common case: two added annotations and none from the publisher.
constexpr std::size_t usual_names_max = 255;
constexpr std::size_t usual_head_max = 24 + 12 + 14 + 17 + 2 * usual_names_max;

bool is_common_case(const Message& message, const Envelope* envelope, const DeliveryInfo& info) {
    return envelope == nullptr && info.counts.delivery == 0 && info.counts.acquired == 0 &&
           message.exchange().size() <= usual_names_max &&
           message.routing_key().size() <= usual_names_max;
}

ValueCursor write_common_case(ValueCursor out, const Message& message) {
    constexpr std::string_view exchange_key = "\xa3\x0ax-exchange";
    constexpr std::string_view routing_key_key = "\xa3\x0dx-routing-key";
    out.append({"\x00\x53\x72\xd1", 4});
    static_assert(descriptor::message_annotations == 0x72);
    out.u32(static_cast<std::uint32_t>(4 + exchange_key.size() + 2 + message.exchange().size() +
                                       routing_key_key.size() + 2 + message.routing_key().size()));
    out.u32(4);
    out.append(exchange_key);
    out.short_string(message.exchange());
    out.append(routing_key_key);
    out.short_string(message.routing_key());
    return out;
}

}  // namespace

std::string_view render_delivery(const Message& message, const Envelope* envelope,
                                 const DeliveryInfo& info, DeliveryHead& head,
                                 std::string& converted) {
    const bool native = message.format().number == message_format().number;
    const std::string_view annotations = native ? own_annotations(message) : std::string_view{};
    const bool died = envelope != nullptr && !envelope->history.deaths.empty();
    std::array<char, usual_head_max> first;  // deliberately not initialized
    ValueCursor cursor = write_header(ValueCursor(first.data()), message, died, info);
    const bool usual = native && annotations.empty() && is_common_case(message, envelope, info);
    if (usual) cursor = write_common_case(cursor, message);
    head.bytes.append(first.data(), cursor.distance_from(first.data()));
    if (usual) {
        head.bytes.append(message.properties());
        return message.body();
    }
    const AddedAnnotations added(message, envelope, info.counts);
    if (!native) return write_foreign(head, message, added, converted);
    write_native(head, message, annotations, added);
    return message.body();
}

}  // namespace revenant::amqp10
