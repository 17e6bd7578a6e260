#include "engine/policy.h"

#include <algorithm>
#include <array>
#include <string>

namespace revenant::engine {
namespace {

constexpr std::int64_t ttl_ms_max = 315'360'000'000;  // ten years (DL-40)
constexpr std::int64_t max_priority_max = 255;

// Arguments a classic queue understands (amqp091 8.13).
constexpr std::array classic_arguments = {
    std::string_view{"x-expires"},
    std::string_view{"x-message-ttl"},
    std::string_view{"x-dead-letter-exchange"},
    std::string_view{"x-dead-letter-routing-key"},
    std::string_view{"x-max-length"},
    std::string_view{"x-max-length-bytes"},
    std::string_view{"x-max-priority"},
    std::string_view{"x-overflow"},
    std::string_view{"x-queue-mode"},
    std::string_view{"x-queue-version"},
    std::string_view{"x-single-active-consumer"},
    std::string_view{"x-queue-type"},
    std::string_view{"x-queue-master-locator"},
    std::string_view{"x-queue-leader-locator"},
};
// Known to other queue types, refused by a classic one (DL-43).
constexpr std::array foreign_arguments = {
    std::string_view{"x-dead-letter-strategy"},
    std::string_view{"x-delivery-limit"},
    std::string_view{"x-quorum-initial-group-size"},
    std::string_view{"x-max-in-memory-length"},
    std::string_view{"x-max-in-memory-bytes"},
    std::string_view{"x-delayed-retry-type"},
    std::string_view{"x-delayed-retry-min"},
    std::string_view{"x-delayed-retry-max"},
    std::string_view{"x-consumer-timeout"},
    std::string_view{"x-consumer-disconnected-timeout"},
    std::string_view{"x-member-placement-tag"},
    std::string_view{"x-max-age"},
    std::string_view{"x-stream-max-segment-size-bytes"},
    std::string_view{"x-stream-filter-size-bytes"},
    std::string_view{"x-initial-cluster-size"},
};

std::optional<std::int64_t> integer(const Table& arguments, std::string_view name) {
    const Value* const value = find(arguments, name);
    if (value == nullptr || value->as_integer() == nullptr) return std::nullopt;
    return *value->as_integer();
}

std::optional<std::string> text(const Table& arguments, std::string_view name) {
    const Value* const value = find(arguments, name);
    if (value == nullptr || value->as_string() == nullptr) return std::nullopt;
    return *value->as_string();
}

std::string with_number(std::string_view term, std::int64_t number) {
    return "{" + std::string(term) + "," + std::to_string(number) + "}";
}

// Each check gives the detail RabbitMQ prints, or nothing when the value is fine.
using Check = std::optional<std::string> (*)(const Value& value);

std::optional<std::string> check_integer(const Value& value) {
    if (value.as_integer() == nullptr) {
        return "\"expected integer, got " + std::string(type_name(value.type)) + "\"";
    }
    if (*value.as_integer() < 0) return with_number("value_negative", *value.as_integer());
    return std::nullopt;
}

std::optional<std::string> check_ttl(const Value& value) {
    if (auto detail = check_integer(value)) return detail;
    if (*value.as_integer() > ttl_ms_max)
        return with_number("value_too_large", *value.as_integer());
    return std::nullopt;
}

std::optional<std::string> check_expires(const Value& value) {
    if (value.as_integer() != nullptr && *value.as_integer() == 0)
        return with_number("value_zero", 0);
    return check_ttl(value);
}

std::optional<std::string> check_max_priority(const Value& value) {
    if (auto detail = check_integer(value)) return detail;
    if (*value.as_integer() > max_priority_max) {
        return with_number("max_value_exceeded", *value.as_integer());
    }
    return std::nullopt;
}

std::optional<std::string> check_text(const Value& value) {
    if (value.as_string() != nullptr) return std::nullopt;
    return "{unacceptable_type," + std::string(type_name(value.type)) + "}";
}

template <typename... Accepted>
std::optional<std::string> check_one_of(const Value& value, std::string_view term,
                                        Accepted... accepted) {
    if (auto detail = check_text(value)) return detail;
    if (((*value.as_string() == accepted) || ...)) return std::nullopt;
    return std::string(term);
}

std::optional<std::string> check_overflow(const Value& value) {
    return check_one_of(value, "invalid_overflow", "drop-head", "reject-publish",
                        "reject-publish-dlx");
}

std::optional<std::string> check_boolean(const Value& value) {
    if (value.as_boolean() != nullptr) return std::nullopt;
    return "{unacceptable_type," + std::string(type_name(value.type)) + "}";
}

std::optional<std::string> check_queue_mode(const Value& value) {
    return check_one_of(value, "invalid_queue_mode", "default", "lazy");
}

std::optional<std::string> check_queue_version(const Value& value) {
    if (auto detail = check_integer(value)) return detail;
    if (*value.as_integer() == 2) return std::nullopt;
    return "\"unsupported queue version '" + std::to_string(*value.as_integer()) + "'\"";
}

std::optional<std::string> check_queue_type(const Value& value) {
    if (auto detail = check_text(value)) return detail;
    if (*value.as_string() == "classic") return std::nullopt;
    return "\"unsupported queue type '" + *value.as_string() + "'\"";
}

std::optional<std::string> check_leader_locator(const Value& value) {
    return check_one_of(value, "invalid_queue_locator_arg", "client-local", "balanced",
                        "least-leaders", "random");
}

struct ArgumentCheck {
    std::string_view name;
    Check check;
};
constexpr ArgumentCheck argument_checks[] = {
    {"x-queue-type", check_queue_type},
    {"x-expires", check_expires},
    {"x-message-ttl", check_ttl},
    {"x-dead-letter-routing-key", check_text},
    {"x-max-length", check_integer},
    {"x-max-length-bytes", check_integer},
    {"x-max-priority", check_max_priority},
    {"x-overflow", check_overflow},
    {"x-queue-mode", check_queue_mode},
    {"x-queue-version", check_queue_version},
    {"x-single-active-consumer", check_boolean},
    {"x-queue-leader-locator", check_leader_locator},
};

Refusal precondition_failed(std::string text) {
    return {RefusalKind::precondition_failed, std::move(text)};
}

}  // namespace

bool is_known_queue_argument(std::string_view name) {
    return std::find(classic_arguments.begin(), classic_arguments.end(), name) !=
           classic_arguments.end();
}

QueueSettings settings_in_force(const Table& arguments) {
    QueueSettings settings;
    settings.message_ttl_ms = integer(arguments, "x-message-ttl");
    settings.expires_ms = integer(arguments, "x-expires");
    settings.max_length = integer(arguments, "x-max-length");
    settings.max_length_bytes = integer(arguments, "x-max-length-bytes");
    settings.dead_letter_exchange = text(arguments, "x-dead-letter-exchange");
    settings.dead_letter_routing_key = text(arguments, "x-dead-letter-routing-key");
    if (const auto overflow = text(arguments, "x-overflow")) {
        if (*overflow == "reject-publish") settings.overflow = Overflow::reject_publish;
        if (*overflow == "reject-publish-dlx") settings.overflow = Overflow::reject_publish_dlx;
    }
    if (const Value* single = find(arguments, "x-single-active-consumer")) {
        settings.single_active_consumer = single->as_boolean() != nullptr && *single->as_boolean();
    }
    return settings;
}

std::optional<Refusal> check_queue_arguments(const Table& arguments, std::string_view owner) {
    for (const Field& field : arguments) {
        if (std::find(foreign_arguments.begin(), foreign_arguments.end(), field.name) !=
            foreign_arguments.end()) {
            return precondition_failed("invalid arg '" + field.name + "' for " +
                                       std::string(owner) + " of queue type rabbit_classic_queue");
        }
    }
    if (const Value* dlx = find(arguments, "x-dead-letter-exchange");
        dlx != nullptr && dlx->as_string() == nullptr) {
        return precondition_failed("invalid type '" + std::string(type_name(dlx->type)) +
                                   "' for arg 'x-dead-letter-exchange' in " + std::string(owner));
    }
    const auto invalid = [&](std::string_view name, const std::string& detail) {
        return precondition_failed("invalid arg '" + std::string(name) + "' for " +
                                   std::string(owner) + ": " + detail);
    };
    for (const ArgumentCheck& check : argument_checks) {
        const Value* const value = find(arguments, check.name);
        if (value == nullptr) continue;
        if (const auto detail = check.check(*value)) return invalid(check.name, *detail);
    }
    if (find(arguments, "x-dead-letter-routing-key") != nullptr &&
        find(arguments, "x-dead-letter-exchange") == nullptr) {
        return invalid("x-dead-letter-routing-key", "routing_key_but_no_dlx_defined");
    }
    return std::nullopt;
}

}  // namespace revenant::engine
