#include "message/erlang_hash.h"

#include "base/base64.h"
#include "base/check.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace revenant {
namespace {

constexpr std::uint32_t golden_ratio = 0x9e3779b9;

// Each type of term has its own multiple of the golden ratio.
constexpr std::uint32_t salt_of(std::uint32_t kind) { return golden_ratio * kind; }
constexpr std::uint32_t salt_nil = salt_of(2);
constexpr std::uint32_t salt_atom = salt_of(3);
constexpr std::uint32_t salt_tuple = salt_of(9);
constexpr std::uint32_t salt_large_negative = salt_of(10);
constexpr std::uint32_t salt_large_positive = salt_of(11);
constexpr std::uint32_t salt_float = salt_of(12);
constexpr std::uint32_t salt_binary = salt_of(13);

constexpr std::uint32_t hash_of_nil_alone = 3468870702;
constexpr std::uint32_t nil = 2;

// Bob Jenkins' mix function of 1996.
void mix(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c) {
    constexpr int shifts[3][3] = {{13, 8, 13}, {12, 16, 5}, {3, 10, 15}};
    for (const auto& [first, second, third] : shifts) {
        a = (a - b - c) ^ (c >> first);
        b = (b - c - a) ^ (a << second);
        c = (c - a - b) ^ (b >> third);
    }
}

// Hashes a sequence of terms in the order in which Erlang traverses a nested term.
class TermHash {
  public:
    void add_table(const Table& table) {
        std::vector<const Field*> fields;
        fields.reserve(table.size());
        for (const Field& field : table) fields.push_back(&field);
        std::stable_sort(fields.begin(), fields.end(),
                         [](const Field* a, const Field* b) { return a->name < b->name; });
        for (const Field* field : fields) add_field(*field);
        add_nil();
    }
    void add_binaries(std::span<const std::string_view> binaries) {
        for (const std::string_view bytes : binaries) add_binary(bytes);
        add_nil();
    }
    std::uint32_t value() const { return hash_; }

  private:
    void add_words(std::uint32_t first, std::uint32_t second, std::uint32_t salt) {
        std::uint32_t a = salt + first;
        std::uint32_t b = salt + second;
        mix(a, b, hash_);
    }
    void add_nil() {
        if (hash_ == 0) {
            hash_ = hash_of_nil_alone;
        } else {
            add_words(nil, 0, salt_nil);
        }
    }
    void add_tuple(std::uint32_t elements) { add_words(elements, 0, salt_tuple); }

    void add_atom(std::string_view name) {
        std::uint32_t atom = 0;
        for (const char c : name) {
            atom = (atom << 4) + static_cast<unsigned char>(c);
            const std::uint32_t high = atom & 0xf0000000;
            atom ^= high >> 24 ^ high;
        }
        add_words(atom, 0, salt_atom);
    }

    void add_binary(std::string_view bytes) {
        const std::uint32_t seed = salt_binary + hash_;
        hash_ = seed;
        if (bytes.empty()) return;
        const auto length = static_cast<std::uint32_t>(bytes.size());
        std::uint32_t words[3] = {golden_ratio, golden_ratio, seed};
        const auto add_octets = [&](std::size_t count, bool last) {
            for (std::size_t i = 0; i < count; ++i) {
                // The lowest byte of the last word is reserved for the length.
                const std::size_t at = last && i >= 8 ? i + 1 : i;
                words[at / 4] += static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i]))
                                 << at % 4 * 8;
            }
            bytes.remove_prefix(count);
        };
        while (bytes.size() >= 12) {
            add_octets(12, false);
            mix(words[0], words[1], words[2]);
        }
        words[2] += length;
        add_octets(bytes.size(), true);
        mix(words[0], words[1], words[2]);
        hash_ = words[2];
    }

    void add_unsigned(std::uint64_t magnitude, std::uint32_t salt) {
        add_words(static_cast<std::uint32_t>(magnitude),
                  static_cast<std::uint32_t>(magnitude >> 32), salt);
    }
    void add_integer(std::int64_t number) {
        constexpr std::int64_t small = std::int64_t{1} << 27;
        if (number >= small) {
            add_unsigned(static_cast<std::uint64_t>(number), salt_large_positive);
        } else if (number < -small) {
            add_unsigned(-static_cast<std::uint64_t>(number), salt_large_negative);
        } else {
            const auto word = static_cast<std::uint32_t>(number);
            if (number < 0) add_words(-word, 0, golden_ratio);
            add_words(word, 0, golden_ratio);
        }
    }
    void add_float(double number) {
        const auto bits = std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number);
        add_words(static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bits),
                  salt_float);
    }

    void add_value(const Value& value) {
        switch (value.type) {
            case ValueType::void_value:
                return add_atom("undefined");
            case ValueType::boolean:
                return add_atom(*value.as_boolean() ? "true" : "false");
            case ValueType::timestamp:
                return add_timestamp(std::get<std::int64_t>(value.data));
            case ValueType::float32:
            case ValueType::float64:
                return add_float(std::get<double>(value.data));
            case ValueType::decimal:
                add_tuple(2);
                add_integer(std::get<Decimal>(value.data).scale);
                return add_integer(std::get<Decimal>(value.data).digits);
            case ValueType::long_string:
            case ValueType::binary:
                return add_binary(std::get<std::string>(value.data));
            case ValueType::array:
                return add_array(*value.as_array());
            case ValueType::table:
                return add_fields(*value.as_table());
            default:
                return add_integer(std::get<std::int64_t>(value.data));
        }
    }
    void add_timestamp(std::int64_t bits) {
        if (bits >= 0) return add_integer(bits);
        add_unsigned(static_cast<std::uint64_t>(bits), salt_large_positive);
    }
    void add_typed(const Value& value) {
        add_atom(type_name(value.type));
        add_value(value);
    }
    void add_field(const Field& field) {
        add_tuple(3);
        add_binary(field.name);
        add_typed(field.value);
    }
    void add_array(const Array& array) {
        for (const Value& value : array) {
            add_tuple(2);
            add_typed(value);
        }
        add_nil();
    }
    // Nested tables are not sorted.
    void add_fields(const Table& table) {
        for (const Field& field : table) add_field(field);
        add_nil();
    }

    std::uint32_t hash_ = 0;
};

}  // namespace

std::uint32_t erlang_hash(const Table& table) {
    TermHash hash;
    hash.add_table(table);
    return hash.value();
}

std::uint32_t erlang_hash(std::span<const std::string_view> binaries) {
    TermHash hash;
    hash.add_binaries(binaries);
    return hash.value();
}

std::string arguments_hash(const Table& table) {
    const std::uint32_t value = erlang_hash(table);
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    std::string encoded = base64_encode(bytes);
    std::replace(encoded.begin(), encoded.end(), '+', '-');
    std::replace(encoded.begin(), encoded.end(), '/', '_');
    std::erase(encoded, '=');
    return encoded;
}

}  // namespace revenant
