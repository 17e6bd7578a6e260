// AMQP 1.0 messages: an accepted message can be stored, delivered, converted and inspected. Its
// bare message is delivered unchanged, also after it was republished.
#include "amqp091/message/foreign_content.h"
#include "amqp10/codec/sections.h"
#include "amqp10/message/delivery.h"
#include "amqp10/message/message_format.h"
#include "base/check.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

using namespace revenant;

namespace {

EnvelopeRef dead_letter() {
    auto* const envelope = new Envelope;
    envelope->exchange = "dlx";
    envelope->routing_keys = {"dead"};
    Death death;
    death.queue = "q";
    death.ttl_ms = 1;
    death.routing_keys = {"k"};
    envelope->history = with_death(nullptr, death);
    envelope->annotations = {{"x-a", "\x41", Value::boolean(true)}};
    envelope->error = DeathError{"c", "d"};
    return EnvelopeRef::adopt(envelope);
}

std::string delivered(const Message& message, const Envelope* envelope) {
    amqp10::DeliveryHead head;
    std::string converted;
    const std::string_view body =
        amqp10::render_delivery(message, envelope, {.counts = {1, 1}}, head, converted);
    return head.text().append(body);
}

// Every delivery is a valid message.
MessageRef published(std::string_view bytes) {
    auto read = amqp10::read_published(bytes);
    CHECK(read.has_value());
    return make_message("x", "k", read->properties, read->body, std::move(read->head));
}

void convert(const Message& message, const EnvelopeRef& envelope) {
    const auto shown = amqp091::render_foreign(message, envelope, {});
    auto read = amqp091::read_published(shown.properties, "nobody");
    // A published list of keys is read as a list of keys.
    if (!read.has_value()) return;
    const MessageRef there =
        make_message("x", "k", shown.properties, shown.body, std::move(read->head));
    const std::string bytes = delivered(*there, envelope.get());
    const auto back = amqp10::read_published(bytes);
    // Additional keys may have any type in 0-9-1, but only strings in 1.0.
    CHECK(back.has_value() || back.error().condition == "amqp:invalid-field");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    auto read = amqp10::read_published(bytes);
    if (!read.has_value()) {
        CHECK(!read.error().text.empty());
        return 0;
    }
    const MessageRef message =
        make_message("x", "k", read->properties, read->body, std::move(read->head));
    const auto sections = amqp10::split_message(bytes);
    CHECK(sections.has_value());
    const std::size_t bare_size =
        read->properties.size() - sections->message_annotations.size() + read->body.size();
    const std::string_view bare = bytes.substr(bytes.size() - bare_size);
    const EnvelopeRef envelope = dead_letter();
    for (const EnvelopeRef& befell : {EnvelopeRef(), envelope}) {
        const std::string out = delivered(*message, befell.get());
        CHECK(std::string_view(out).ends_with(bare));
        const MessageRef again = published(out);
        CHECK(again->body() == message->body());
        convert(*message, befell);
        convert(*again, befell);
    }
    (void)message->headers();
    (void)message->format().property(*message, "message_id");
    (void)message->format().claimed_history(*message);
    return 0;
}
