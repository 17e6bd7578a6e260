#include "amqp10/delivery.h"

#include "amqp10/added_annotations.h"
#include "amqp10/descriptors.h"
#include "amqp10/foreign_delivery.h"
#include "amqp10/map_walk.h"
#include "amqp10/message_format.h"
#include "amqp10/performatives.gen.h"
#include "amqp10/short_bytes.h"

#include <algorithm>
#include <limits>

namespace revenant::amqp10 {
namespace {

// A dead letter was acquired before (DL-96), and its own time to live is over (DL-70, DL-104).
template <std::size_t size_max>
void write_header(ShortBytes<size_max>& out, const Message& message, bool died,
                  const DeliveryFacts& facts) {
    constexpr std::int64_t ttl_most = std::numeric_limits<std::uint32_t>::max();
    out.put(0x00);
    out.put(0x53);
    out.put(Header::descriptor_code);
    out.put(0xc0);
    const std::size_t size_at = out.size();
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
    out.boolean(!facts.redelivered && facts.failed_deliveries == 0 && !died);
    out.uint(facts.failed_deliveries);
    out.patch(size_at, out.size() - size_at - 1);
}

// The first of the kept sections, if it is there.
std::string_view own_annotations(const Message& message) {
    TypeReader in(message.properties());
    if (in.at_end()) return {};
    TypeReader peek(message.properties());
    return peek.descriptor() == descriptor::message_annotations ? in.raw() : Raw{};
}

void write_native(TypeWriter& out, const Message& message, std::string_view annotations,
                  const AddedAnnotations& added) {
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
    entries += added.write(out);
    map.count = entries * 2;
    out.end(map);
    out.raw(message.properties().substr(annotations.size()));
}

// What most messages get: two annotations of ours and none of their own.
constexpr std::size_t usual_names_max = 255;
constexpr std::size_t usual_head_max = 24 + 12 + 14 + 17 + 2 * usual_names_max;

bool is_usual(const Message& message, const Envelope* envelope, const DeliveryFacts& facts) {
    return envelope == nullptr && facts.counts.delivery == 0 && facts.counts.acquired == 0 &&
           message.exchange().size() <= usual_names_max &&
           message.routing_key().size() <= usual_names_max;
}

void write_usual(ShortBytes<usual_head_max>& out, const Message& message) {
    constexpr std::string_view exchange_key = "\xa3\x0ax-exchange";
    constexpr std::string_view routing_key_key = "\xa3\x0dx-routing-key";
    out.put(0x00);
    out.put(0x53);
    out.put(descriptor::message_annotations);
    out.put(0xd1);
    out.put_u32(static_cast<std::uint32_t>(4 + exchange_key.size() + 2 + message.exchange().size() +
                                           routing_key_key.size() + 2 +
                                           message.routing_key().size()));
    out.put_u32(4);
    out.append(exchange_key);
    out.short_string(message.exchange());
    out.append(routing_key_key);
    out.short_string(message.routing_key());
}

}  // namespace

std::string_view render_delivery(const Message& message, const Envelope* envelope,
                                 const DeliveryFacts& facts, std::string& head,
                                 std::string& converted) {
    const bool native = message.format().number == message_format().number;
    const std::string_view annotations = native ? own_annotations(message) : std::string_view{};
    const bool died = envelope != nullptr && !envelope->history.deaths.empty();
    ShortBytes<usual_head_max> first;
    write_header(first, message, died, facts);
    if (native && annotations.empty() && is_usual(message, envelope, facts)) {
        write_usual(first, message);
        head.append(first.bytes());
        head.append(message.properties());
        return message.body();
    }
    head.append(first.bytes());
    TypeWriter out(head);
    const AddedAnnotations added(message, envelope, facts.counts);
    if (!native) return write_foreign(out, message, added, converted);
    write_native(out, message, annotations, added);
    return message.body();
}

}  // namespace revenant::amqp10
