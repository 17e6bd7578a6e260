#include "amqp091/codec/errors.h"

#include "base/check.h"

namespace revenant::amqp091 {
namespace {

constexpr std::size_t reply_text_bytes_max = 255;

}  // namespace

ReplyCode reply_code(engine::RefusalKind kind) {
    switch (kind) {
        case engine::RefusalKind::not_found:
            return ReplyCode::not_found;
        case engine::RefusalKind::precondition_failed:
        case engine::RefusalKind::limit_reached:
        case engine::RefusalKind::unknown_exchange_type:
            return ReplyCode::precondition_failed;
        case engine::RefusalKind::access_refused:
        case engine::RefusalKind::not_permitted:
            return ReplyCode::access_refused;
        case engine::RefusalKind::resource_locked:
            return ReplyCode::resource_locked;
        case engine::RefusalKind::not_allowed:
            return ReplyCode::not_allowed;
        case engine::RefusalKind::not_implemented:
            return ReplyCode::not_implemented;
        case engine::RefusalKind::feature_denied:
            return ReplyCode::internal_error;
    }
    UNREACHABLE();
}

std::string reply_text(ReplyCode code, std::string_view explanation) {
    std::string text(reply_name(code));
    if (!explanation.empty()) {
        text += " - ";
        text += explanation;
    }
    if (text.size() <= reply_text_bytes_max) return text;
    text.resize(reply_text_bytes_max - 3);
    // Truncates between characters, because clients decode the text as UTF-8.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80)
        text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0) text.pop_back();
    return text + "...";
}

}  // namespace revenant::amqp091
