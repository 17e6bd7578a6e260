#include "amqp10/delivery.h"

#include "amqp10/added_annotations.h"
#include "amqp10/descriptors.h"
#include "amqp10/foreign_delivery.h"
#include "amqp10/map_walk.h"
#include "amqp10/message_format.h"
#include "amqp10/performatives.gen.h"

#include <algorithm>
#include <limits>

namespace revenant::amqp10 {
namespace {

void write_ttl(TypeWriter& out, const Message& message, bool died) {
    if (died || !message.ttl_ms()) return out.null();
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    out.uint(static_cast<std::uint32_t>(std::min(*message.ttl_ms(), most)));
}

// A dead letter was acquired before (DL-96), and its own time to live is over (DL-70, DL-104).
void write_header(TypeWriter& out, const Message& message, bool died, const DeliveryFacts& facts) {
    constexpr std::uint8_t short_list = 0xc0;
    constexpr char fields = 5;
    out.descriptor(Header::descriptor_code);
    std::string& head = out.target();
    head.push_back(static_cast<char>(short_list));
    const std::size_t size_at = head.size();
    head.push_back(0);
    head.push_back(fields);
    out.boolean(message.persistent());
    message.priority() ? out.ubyte(*message.priority()) : out.null();
    write_ttl(out, message, died);
    out.boolean(!facts.redelivered && facts.failed_deliveries == 0 && !died);
    out.uint(facts.failed_deliveries);
    head[size_at] = static_cast<char>(head.size() - size_at - 1);
}

// The first of the kept sections, if it is there.
std::string_view own_annotations(const Message& message) {
    TypeReader in(message.properties());
    if (in.at_end()) return {};
    TypeReader peek(message.properties());
    return peek.descriptor() == descriptor::message_annotations ? in.raw() : Raw{};
}

void write_native(TypeWriter& out, const Message& message, const AddedAnnotations& added) {
    const std::string_view annotations = own_annotations(message);
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

}  // namespace

std::string_view render_delivery(const Message& message, const Envelope* envelope,
                                 const DeliveryFacts& facts, std::string& head,
                                 std::string& converted) {
    const AddedAnnotations added(message, envelope, facts.counts);
    TypeWriter out(head);
    write_header(out, message, added.died(), facts);
    if (message.format().number != message_format().number) {
        return write_foreign(out, message, added, converted);
    }
    write_native(out, message, added);
    return message.body();
}

}  // namespace revenant::amqp10
