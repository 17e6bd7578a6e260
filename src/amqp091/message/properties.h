// Properties of a 0-9-1 message: read once when it is published, rendered again only if the broker
// adds something.
#pragma once

#include "amqp091/message/content.h"
#include "base/result.h"
#include "engine/words/effect.h"
#include "message/death.h"
#include "message/message.h"

#include <optional>
#include <string>
#include <string_view>

namespace revenant::amqp091 {

// The engine's access to 0-9-1 properties.
const MessageFormat& message_format();
constexpr std::uint8_t message_format_number = 1;

// The values from the properties of a publish, and the bytes to store (without BCC, with reply-to
// replaced).
struct PublishedProperties {
    MessageHead head;
    std::optional<std::string> rewritten;  // set if the bytes differ from those received
    std::string_view user_id;              // valid only if has_user_id
    bool has_user_id = false;
};

struct PropertiesError {
    enum class Kind : std::uint8_t { malformed, refused };
    Kind kind = Kind::malformed;
    std::string text;
};

// The form in which consumers receive an expiration: RabbitMQ 4.3 sends the number, 3.12 the
// published text.
enum class ExpirationForm : std::uint8_t { number, as_published };
constexpr ExpirationForm expiration_form_of(std::string_view compat) {
    return compat == "3.12" ? ExpirationForm::as_published : ExpirationForm::number;
}

// `reply_name` replaces the reply-to of a direct reply-to request; empty if there is no consumer
// for replies (amqp091 14.2). Returns the first error in the order of amqp091 9.2.
Result<PublishedProperties, PropertiesError> read_published(
    std::string_view properties, std::string_view reply_name,
    ExpirationForm form = ExpirationForm::number);

// The property bytes of a 0-9-1 message with the additions of its envelope: x-death,
// x-first-death-*, x-last-death-* (DL-85 to DL-90), without expiration (DL-70) and, if keys were
// replaced, without CC (DL-66); x-delivery-count, x-acquired-count (DL-152); the error of a
// rejection and annotations by 1.0 consumers (DL-100).
std::string render_properties(const Message& message, const EnvelopeRef& envelope,
                              engine::ShownCounts counts);

}  // namespace revenant::amqp091
