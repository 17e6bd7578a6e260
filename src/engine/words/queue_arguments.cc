#include "engine/words/queue_arguments.h"

#include "base/time.h"
#include "engine/words/queue_type_mask.h"

#include <algorithm>
#include <string>

namespace revenant::engine {
namespace {

constexpr std::int64_t max_priority_max = 255;

constexpr unsigned for_both = classic_mask | quorum_mask;

// The queue types that support an argument (DL-43). Unknown arguments are stored and ignored.
struct KnownArgument {
    std::string_view name;
    unsigned types = 0;
};
constexpr KnownArgument known_arguments[] = {
    {"x-queue-type", for_both | stream_mask},
    {"x-expires", for_both},
    {"x-message-ttl", for_both},
    {"x-dead-letter-exchange", for_both},
    {"x-dead-letter-routing-key", for_both},
    {"x-dead-letter-strategy", quorum_mask},
    {"x-max-length", for_both},
    {"x-max-length-bytes", for_both | stream_mask},
    {"x-max-priority", classic_mask},
    {"x-overflow", for_both},
    {"x-queue-mode", classic_mask},
    {"x-queue-version", classic_mask},
    {"x-single-active-consumer", for_both},
    {"x-queue-master-locator", classic_mask},
    {"x-queue-leader-locator", for_both | stream_mask},
    {"x-delivery-limit", quorum_mask},
    {"x-quorum-initial-group-size", quorum_mask},
    {"x-quorum-target-group-size", quorum_mask},
    {"x-max-in-memory-length", quorum_mask},
    {"x-max-in-memory-bytes", quorum_mask},
    {"x-delayed-retry-type", quorum_mask},
    {"x-delayed-retry-min", quorum_mask},
    {"x-delayed-retry-max", quorum_mask},
    {"x-consumer-timeout", quorum_mask},
    {"x-consumer-disconnected-timeout", quorum_mask},
    {"x-member-placement-tag", quorum_mask},
    {"x-max-age", stream_mask},
    {"x-stream-max-segment-size-bytes", stream_mask},
    {"x-stream-filter-size-bytes", stream_mask},
    {"x-initial-cluster-size", stream_mask},
};

unsigned types_supporting(std::string_view name) {
    for (const KnownArgument& known : known_arguments) {
        if (known.name == name) return known.types;
    }
    return 0;
}

unsigned mask_of(QueueKind kind) { return kind == QueueKind::classic ? classic_mask : quorum_mask; }

std::string with_number(std::string_view term, std::int64_t number) {
    return "{" + std::string(term) + "," + std::to_string(number) + "}";
}

// Each check returns the detail that RabbitMQ prints, or nothing if the value is valid.
using Check = std::optional<std::string> (*)(const Value& value);

std::optional<std::string> check_integer(const Value& value) {
    if (value.as_integer() == nullptr) {
        return "\"expected integer, got " + std::string(type_name(value.type)) + "\"";
    }
    if (*value.as_integer() < 0) return with_number("value_negative", *value.as_integer());
    return std::nullopt;
}

std::optional<std::string> check_duration(const Value& value) {
    if (auto detail = check_integer(value)) return detail;
    if (*value.as_integer() > duration_ms_max) {
        return with_number("value_too_large", *value.as_integer());
    }
    return std::nullopt;
}

// Any other invalid delay means none (DL-41).
std::optional<std::string> check_retry_delay(const Value& value) {
    if (value.as_integer() == nullptr || *value.as_integer() < 0) return std::nullopt;
    return check_duration(value);
}

std::optional<std::string> check_expires(const Value& value) {
    if (value.as_integer() != nullptr && *value.as_integer() == 0)
        return with_number("value_zero", 0);
    return check_duration(value);
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

// Deliveries carry exchange names and routing keys as short strings.
std::optional<std::string> check_name(const Value& value) {
    if (auto detail = check_text(value)) return detail;
    if (value.as_string()->size() <= name_bytes_max) return std::nullopt;
    return with_number("max_length_exceeded", static_cast<std::int64_t>(value.as_string()->size()));
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

std::optional<std::string> check_queue_version(const Value& value) {
    if (auto detail = check_integer(value)) return detail;
    if (*value.as_integer() == 2) return std::nullopt;
    return "\"unsupported queue version '" + std::to_string(*value.as_integer()) + "'\"";
}

std::optional<std::string> check_strategy(const Value& value) {
    return check_one_of(value, "invalid_dlx_strategy", "at-most-once", "at-least-once");
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
    {"x-expires", check_expires},
    {"x-message-ttl", check_duration},
    {"x-dead-letter-exchange", check_name},
    {"x-dead-letter-routing-key", check_name},
    {"x-dead-letter-strategy", check_strategy},
    {"x-max-length", check_integer},
    {"x-max-length-bytes", check_integer},
    {"x-max-priority", check_max_priority},
    {"x-overflow", check_overflow},
    {"x-queue-version", check_queue_version},
    {"x-single-active-consumer", check_boolean},
    {"x-queue-leader-locator", check_leader_locator},
    {"x-quorum-initial-group-size", check_integer},
    {"x-quorum-target-group-size", check_integer},
    {"x-max-in-memory-length", check_integer},
    {"x-max-in-memory-bytes", check_integer},
    {"x-delayed-retry-min", check_retry_delay},
    {"x-delayed-retry-max", check_retry_delay},
    {"x-consumer-timeout", check_duration},
    {"x-consumer-disconnected-timeout", check_duration},
};

Refusal precondition_failed(std::string text) {
    return {RefusalKind::precondition_failed, std::move(text)};
}

}  // namespace

bool is_known_queue_argument(QueueKind kind, std::string_view name) {
    return (types_supporting(name) & mask_of(kind)) != 0;
}

Result<QueueKind, Refusal> queue_kind(const Table& arguments, std::string_view owner) {
    const Value* const type = find(arguments, "x-queue-type");
    if (type == nullptr) return QueueKind::classic;
    const auto invalid = [&](const std::string& detail) {
        return Unexpected{precondition_failed("invalid arg 'x-queue-type' for " +
                                              std::string(owner) + ": " + detail)};
    };
    if (auto detail = check_text(*type)) return invalid(*detail);
    if (*type->as_string() == "classic") return QueueKind::classic;
    if (*type->as_string() == "quorum") return QueueKind::quorum;
    return invalid("\"unsupported queue type '" + *type->as_string() + "'\"");
}

std::optional<Refusal> check_queue_arguments(QueueKind kind, const Table& arguments,
                                             std::string_view owner) {
    for (const Field& field : arguments) {
        const unsigned types = types_supporting(field.name);
        if (types != 0 && (types & mask_of(kind)) == 0) {
            return precondition_failed("invalid arg '" + field.name + "' for " +
                                       std::string(owner) + " of queue type rabbit_" +
                                       std::string(to_string(kind)) + "_queue");
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
        if (check.name == "x-dead-letter-routing-key" &&
            find(arguments, "x-dead-letter-exchange") == nullptr) {
            return invalid(check.name, "routing_key_but_no_dlx_defined");
        }
    }
    return std::nullopt;
}

std::optional<Refusal> check_queue_properties(QueueKind kind, const QueueProperties& properties,
                                              std::string_view owner) {
    if (kind == QueueKind::classic) return std::nullopt;
    const auto invalid = [&](const char* property) {
        return precondition_failed("invalid property '" + std::string(property) + "' for " +
                                   std::string(owner));
    };
    if (properties.server_named) {
        return precondition_failed(
            "Cannot declare a server-named queue for type rabbit_quorum_queue");
    }
    if (properties.auto_delete) return invalid("auto-delete");
    if (properties.exclusive) return invalid("exclusive-owner");
    if (!properties.durable) return invalid("non-durable");
    return std::nullopt;
}

}  // namespace revenant::engine
