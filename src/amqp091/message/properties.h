// Properties of a message in 0-9-1's dialect: read once when it comes in, rendered again only when
// the broker has something to add.
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

// How the engine asks about 0-9-1 properties.
const MessageFormat& message_format();
constexpr std::uint8_t message_format_number = 1;

// What a publish's properties say, and the bytes to keep (without BCC, with reply-to rewritten).
struct PublishedProperties {
    MessageHead head;
    std::optional<std::string> rewritten;  // set when the bytes differ from what arrived
    std::string_view user_id;              // valid only if has_user_id
    bool has_user_id = false;
};

struct PropertiesError {
    enum class Kind : std::uint8_t { malformed, refused };
    Kind kind = Kind::malformed;
    std::string text;
};

// How consumers get an expiration: RabbitMQ 4.3 sends the number, 3.12 the text as published.
enum class ExpirationForm : std::uint8_t { number, as_published };
constexpr ExpirationForm expiration_form_of(std::string_view compat) {
    return compat == "3.12" ? ExpirationForm::as_published : ExpirationForm::number;
}

// `reply_name` replaces the reply-to of a direct reply-to request; empty if there is nobody to
// reply to (amqp091 14.2). The first fault is told, in the order of amqp091 9.2.
Result<PublishedProperties, PropertiesError> read_published(
    std::string_view properties, std::string_view reply_name,
    ExpirationForm form = ExpirationForm::number);

// The property bytes of a message of 0-9-1 with what befell it: x-death, x-first-death-*,
// x-last-death-* (DL-85 to DL-90), without expiration (DL-70) and, once keys were replaced, without
// CC (DL-66); x-delivery-count, x-acquired-count (DL-152); the error of a rejection and what
// consumers of 1.0 added (DL-100).
std::string render_properties(const Message& message, const EnvelopeRef& envelope,
                              engine::ShownCounts counts);

}  // namespace revenant::amqp091
