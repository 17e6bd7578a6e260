#include "amqp10/message/address.h"

#include "amqp10/codec/erlang_term.h"
#include "amqp10/codec/value_conversion.h"
#include "base/utf8.h"

#include <cctype>
#include <optional>

namespace revenant::amqp10 {
namespace {

constexpr std::string_view queues = "/queues/";
constexpr std::string_view exchanges = "/exchanges/";

bool is_unreserved(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_' ||
           c == '~';
}

// Characters allowed unencoded in a path segment (RFC 3986, pchar).
bool is_plain(char c) {
    constexpr std::string_view others = "!$&'()*+,;=:@";
    return is_unreserved(c) || others.find(c) != std::string_view::npos;
}

std::optional<unsigned> digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return std::nullopt;
}

Result<std::string, std::string> percent_decode(std::string_view text) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            if (!is_plain(text[i])) {
                return Unexpected{"character at " + std::to_string(i) +
                                  " must be percent-encoded in '" + std::string(text) + "'"};
            }
            decoded += text[i];
            continue;
        }
        const auto high = text.size() - i > 2 ? digit_of(text[i + 1]) : std::nullopt;
        const auto low = text.size() - i > 2 ? digit_of(text[i + 2]) : std::nullopt;
        if (!high || !low) {
            return Unexpected{"invalid percent-encoding in '" + std::string(text) + "'"};
        }
        decoded += static_cast<char>(*high * 16 + *low);
        i += 2;
    }
    return decoded;
}

}  // namespace

std::string percent_encode(std::string_view text) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : text) {
        if (is_unreserved(c)) {
            encoded += c;
            continue;
        }
        const auto octet = static_cast<unsigned char>(c);
        encoded += '%';
        encoded += digits[octet >> 4];
        encoded += digits[octet & 0xf];
    }
    return encoded;
}

Result<std::string, std::string> decode_name(std::string_view text) {
    REVENANT_TRY(std::string name, percent_decode(text));
    if (name.size() > short_string_bytes_max) {
        return Unexpected{std::string("name is longer than 255 bytes")};
    }
    if (!is_utf8(name)) return Unexpected{std::string("name is not UTF-8")};
    return name;
}

std::string bad_target_text(const Datum& address) {
    const std::string* const text = address.as_string();
    if (text != nullptr && (text->starts_with(queues) || text->starts_with(exchanges))) {
        return "{bad_address_string," + erlang_binary(*text) + "}";
    }
    return "{amqp_address_v1_not_permitted," + erlang_term(address) + "}";
}

std::string bad_source_text(const Datum& address) {
    const std::string* const text = address.as_string();
    if (text != nullptr && !text->starts_with(queues)) {
        return "{amqp_address_v1_not_permitted," + erlang_term(address) + "}";
    }
    return "{bad_address," + (address.is_null() ? "undefined" : erlang_term(address)) + "}";
}

std::string queue_address(std::string_view queue) {
    return std::string(queues) + percent_encode(queue);
}

Result<Address, std::string> parse_address(std::string_view text) {
    Address address;
    if (text.starts_with(queues)) {
        REVENANT_TRY(address.name, decode_name(text.substr(queues.size())));
        if (address.name.empty()) return Unexpected{std::string("queue name is missing")};
        return address;
    }
    if (!text.starts_with(exchanges)) {
        return Unexpected{std::string("address must start with /queues/ or /exchanges/")};
    }
    address.kind = Address::Kind::exchange;
    const std::string_view rest = text.substr(exchanges.size());
    const std::size_t slash = rest.find('/');
    REVENANT_TRY(address.name, decode_name(rest.substr(0, slash)));
    if (address.name.empty() || address.name == "amq.default") {
        return Unexpected{std::string("the default exchange cannot be addressed")};
    }
    if (slash != std::string_view::npos) {
        REVENANT_TRY(address.routing_key, decode_name(rest.substr(slash + 1)));
    }
    return address;
}

}  // namespace revenant::amqp10
