// Archives: the fields of an event are written and read by the same list, so that the two cannot
// diverge. `fields(archive, event)` lists the fields in order. A WriteArchive appends them to
// bytes; a ReadArchive reads them from bytes, which it does not trust.
#pragma once

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/ids.h"
#include "base/time.h"
#include "engine/words/delivery_counts.h"
#include "engine/words/position.h"
#include "message/death.h"
#include "message/value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace revenant::engine {

// The maximum nesting of tables; clients cannot send deeper ones.
constexpr int value_depth_max = 128;

// The last value of an enumeration; one overload for each enumeration in an event.
constexpr DeathReason last_of(DeathReason) { return DeathReason::delivery_limit; }
constexpr ValueType last_of(ValueType) { return ValueType::table; }

void encode_value(const Value& value, ByteWriter& out);
bool decode_value(ByteReader& in, Value& value, int depth = 0);

// `Self` is the derived archive, which may add overloads.
template <typename Self>
class WriteArchiveOf {
  public:
    explicit WriteArchiveOf(std::string& out) : out_(out) {}
    ByteWriter& bytes() { return out_; }

    void operator()(const std::string& text) { out_.text(text); }
    void operator()(bool value) { out_.u8(value ? 1 : 0); }
    void operator()(std::uint8_t value) { out_.u8(value); }
    void operator()(std::uint32_t value) { out_.varint(value); }
    void operator()(std::uint64_t value) { out_.varint(value); }
    void operator()(std::int64_t value) { out_.signed_varint(value); }
    void operator()(Timestamp value) { out_.varint(value == never ? 0 : stored(value)); }
    template <typename Tag>
    void operator()(Id<Tag> id) {
        out_.varint(id.value);
    }
    void operator()(Position position) {
        out_.u8(static_cast<std::uint8_t>(position.level()));
        out_.varint(position.sequence());
    }
    void operator()(DeliveryCounts counts) {
        out_.varint(counts.delivery);
        out_.varint(counts.acquired);
    }
    void operator()(const Value& value) { encode_value(value, out_); }
    // Up to eight in one byte.
    template <typename... Bits>
    void flags(const Bits&... bits) {
        unsigned packed = 0;
        unsigned shift = 0;
        ((packed |= (bits ? 1U : 0U) << shift++), ...);
        out_.u8(static_cast<std::uint8_t>(packed));
    }
    template <typename Enum>
    requires std::is_enum_v<Enum>
    void operator()(Enum value) { out_.u8(static_cast<std::uint8_t>(value)); }
    template <typename Element>
    void operator()(const std::vector<Element>& elements) {
        out_.varint(elements.size());
        for (const Element& element : elements) self()(element);
    }
    template <typename T>
    void operator()(const std::optional<T>& value) {
        self()(value.has_value());
        if (value) self()(*value);
    }
    template <typename Fact>
    requires std::is_class_v<Fact>
    void operator()(const Fact& fact) {
        fields(self(), const_cast<Fact&>(fact));  // not modified
    }

  private:
    Self& self() { return static_cast<Self&>(*this); }
    static std::uint64_t stored(Timestamp at) { return static_cast<std::uint64_t>(at.us) + 1; }

    ByteWriter out_;
};

template <typename Self>
class ReadArchiveOf {
  public:
    explicit ReadArchiveOf(std::string_view bytes) : in_(bytes) {}
    ByteReader& bytes() { return in_; }
    bool failed() const { return in_.failed(); }
    bool at_end() const { return in_.at_end(); }
    void fail() { in_.fail(); }

    void operator()(std::string& text) { text = in_.text(); }
    void operator()(bool& value) { value = in_.u8() != 0; }
    void operator()(std::uint8_t& value) { value = in_.u8(); }
    void operator()(std::uint32_t& value) { value = static_cast<std::uint32_t>(in_.varint()); }
    void operator()(std::uint64_t& value) { value = in_.varint(); }
    void operator()(std::int64_t& value) { value = in_.signed_varint(); }
    void operator()(Timestamp& value) {
        const std::uint64_t stored = in_.varint();
        value = stored == 0 ? never : Timestamp{static_cast<std::int64_t>(stored - 1)};
    }
    template <typename Tag>
    void operator()(Id<Tag>& id) {
        id.value = in_.varint();
    }
    void operator()(Position& position) {
        const std::uint8_t level = in_.u8();
        position = Position::of(level, in_.varint());
    }
    void operator()(DeliveryCounts& counts) {
        counts.delivery = static_cast<std::uint32_t>(in_.varint());
        counts.acquired = static_cast<std::uint32_t>(in_.varint());
    }
    void operator()(Value& value) {
        if (!decode_value(in_, value)) in_.fail();
    }
    template <typename... Bits>
    void flags(Bits&... bits) {
        unsigned packed = in_.u8();
        ((bits = (packed & 1U) != 0, packed >>= 1), ...);
        if (packed != 0) in_.fail();
    }
    template <typename Enum>
    requires std::is_enum_v<Enum>
    void operator()(Enum& value) {
        const std::uint8_t number = in_.u8();
        if (number > static_cast<std::uint8_t>(last_of(Enum{}))) in_.fail();
        value = static_cast<Enum>(number);
    }
    template <typename Element>
    void operator()(std::vector<Element>& elements) {
        const std::uint64_t count = in_.varint();
        elements.clear();
        if (count > in_.remaining()) in_.fail();  // each takes at least one byte
        for (std::uint64_t i = 0; i < count && !in_.failed(); ++i) self()(elements.emplace_back());
    }
    template <typename T>
    void operator()(std::optional<T>& value) {
        bool present = false;
        self()(present);
        value.reset();
        if (present) self()(value.emplace());
    }
    template <typename Fact>
    requires std::is_class_v<Fact>
    void operator()(Fact& fact) { fields(self(), fact); }

  private:
    Self& self() { return static_cast<Self&>(*this); }

    ByteReader in_;
};

class WriteArchive final : public WriteArchiveOf<WriteArchive> {
  public:
    using WriteArchiveOf::WriteArchiveOf;
};

class ReadArchive final : public ReadArchiveOf<ReadArchive> {
  public:
    using ReadArchiveOf::ReadArchiveOf;
};

// ------------------------------------------------------------------------- shared types

template <typename Archive>
void fields(Archive& a, Field& field) {
    a(field.name);
    a(field.value);
}
template <typename Archive>
void fields(Archive& a, DeathSummary& mark) {
    a(mark.queue);
    a(mark.reason);
    a(mark.exchange);
}
template <typename Archive>
void fields(Archive& a, Death& death) {
    a(death.queue);
    a(death.reason);
    a(death.count);
    a(death.first_time);
    a(death.last_time);
    a(death.exchange);
    a(death.routing_keys);
    bool has_ttl = death.ttl_ms.has_value();
    bool has_omitted = death.routing_keys_omitted > 0;
    bool has_count_type = death.count_type != ValueType::int64;
    a.flags(has_ttl, has_omitted, has_count_type);
    if (has_ttl) {
        if (!death.ttl_ms) death.ttl_ms.emplace();
        a(*death.ttl_ms);
    }
    if (has_omitted) a(death.routing_keys_omitted);
    if (has_count_type) a(death.count_type);
}
template <typename Archive>
void fields(Archive& a, DeathHistory& history) {
    a(history.deaths);
    a(history.first);
    a(history.last);
}
template <typename Archive>
void fields(Archive& a, Annotation& annotation) {
    a(annotation.key);
    a(annotation.encoded);
    a(annotation.simple);
}
template <typename Archive>
void fields(Archive& a, DeathError& error) {
    a(error.condition);
    a(error.description);
}
template <typename Archive>
void fields(Archive& a, Envelope& envelope) {
    a(envelope.exchange);
    a(envelope.routing_keys);
    a(envelope.history);
    bool annotated = !envelope.annotations.empty();
    bool with_error = envelope.error.has_value();
    a.flags(envelope.keys_replaced, annotated, with_error);
    a(envelope.delivery_count);
    if (annotated) a(envelope.annotations);
    if (with_error) a(envelope.error);
}

}  // namespace revenant::engine
