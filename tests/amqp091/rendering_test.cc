// The broker's additions to a delivered message are spliced into its bytes. The result must equal
// that of a naive renderer that decodes, sorts and encodes everything.
#include "amqp091/codec/frame.h"
#include "amqp091/delivery_writer.h"
#include "base/byte_writer.h"
#include "message/portable.h"
#include "tests/support/amqp091_content.h"
#include "tests/support/amqp10_message.h"
#include "tests/support/hex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace revenant {
namespace {

using amqp091::BasicProperties;
using amqp091::Property;
using engine::ShownCounts;

// --- the naive renderer

void naive_set(Table& headers, std::string_view name, Value value) {
    std::erase_if(headers, [&](const Field& field) { return field.name == name; });
    headers.push_back({std::string(name), std::move(value)});
}

Value naive_death(const Death& death) {
    Table table;
    if (death.ttl_ms) {
        table.push_back({"original-expiration", Value::string(std::to_string(*death.ttl_ms))});
    }
    table.push_back(
        {"count", Value::int64(static_cast<std::int64_t>(std::min(death.count, death_count_max)))});
    table.push_back({"reason", Value::string(to_string(death.reason))});
    table.push_back({"queue", Value::string(death.queue)});
    table.push_back(
        {"time", Value::timestamp(static_cast<std::uint64_t>(death.first_time.whole_seconds()))});
    table.push_back({"exchange", Value::string(death.exchange)});
    Array keys;
    for (const std::string& key : death.routing_keys) keys.push_back(Value::string(key));
    table.push_back({"routing-keys", Value::array(std::move(keys))});
    if (death.routing_keys_omitted > 0) {
        table.push_back({"routing-keys-omitted", Value::int64(death.routing_keys_omitted)});
    }
    return Value::table(std::move(table));
}

void naive_deaths(const std::vector<Death>& deaths, Table& headers) {
    if (deaths.empty()) return;
    Array array;
    for (const Death& death : deaths) array.push_back(naive_death(death));
    naive_set(headers, "x-death", Value::array(std::move(array)));
}

void naive_mark(const std::string& prefix, const DeathSummary& mark, Table& headers) {
    naive_set(headers, prefix + "exchange", Value::string(mark.exchange));
    naive_set(headers, prefix + "queue", Value::string(mark.queue));
    naive_set(headers, prefix + "reason", Value::string(to_string(mark.reason)));
}

void naive_envelope(const Envelope& envelope, Table& headers) {
    const auto erase = [&](std::string_view name) {
        std::erase_if(headers, [&](const Field& field) { return field.name == name; });
    };
    if (envelope.keys_replaced) erase("CC");
    for (const Annotation& annotation : envelope.annotations) erase(annotation.key);
    for (const Annotation& annotation : envelope.annotations) {
        const bool shown = annotation.simple.type != ValueType::void_value;
        if (shown && annotation.key.size() <= 255) {
            headers.push_back({annotation.key, annotation.simple});
        }
    }
    naive_deaths(envelope.history.deaths, headers);
    if (envelope.has_died()) {
        naive_mark("x-first-death-", envelope.history.first, headers);
        if (envelope.history.last) naive_mark("x-last-death-", *envelope.history.last, headers);
    }
    if (!envelope.error) return;
    naive_set(headers, "x-death-error-condition", Value::string(envelope.error->condition));
    naive_set(headers, "x-death-error-description", Value::string(envelope.error->description));
}

std::string naive_properties(BasicProperties properties, Table headers, const Envelope* envelope,
                             ShownCounts counts) {
    if (envelope != nullptr) {
        naive_envelope(*envelope, headers);
        if (envelope->has_died()) properties.clear(Property::expiration);
    }
    if (counts.delivery > 0) naive_set(headers, "x-delivery-count", Value::int64(counts.delivery));
    if (counts.acquired > 0) naive_set(headers, "x-acquired-count", Value::int64(counts.acquired));
    std::stable_sort(headers.begin(), headers.end(),
                     [](const Field& a, const Field& b) { return a.name < b.name; });
    const auto same = [](const Field& a, const Field& b) { return a.name == b.name; };
    headers.erase(std::unique(headers.begin(), headers.end(), same), headers.end());
    properties.clear(Property::headers);
    std::string encoded;
    amqp091::encode_table(headers, encoded);
    if (!headers.empty()) {
        amqp091::set(properties, &BasicProperties::headers, Property::headers, encoded);
    }
    std::string bytes;
    amqp091::encode_properties(properties, bytes);
    return bytes;
}

std::string naive_native(const Message& message, const Envelope* envelope, ShownCounts counts) {
    return naive_properties(amqp091::decode_properties(message.properties()).value(),
                            message.headers(), envelope, counts);
}

std::string naive_foreign(const Message& message, const Envelope* envelope, ShownCounts counts) {
    const auto plain = amqp091::content_of(amqp091::convert_foreign(message).properties, "");
    PortableMessage portable = message.format().portable(message);
    naive_deaths(portable.claimed_deaths, portable.headers);
    return naive_properties(plain->properties, std::move(portable.headers), envelope, counts);
}

template <typename Render>
std::string naive_fitting(const Envelope* envelope, std::uint32_t frame_max, Render render) {
    const auto fits = [&](const std::string& properties) {
        return frame_max == 0 || 12 + properties.size() + 8 <= frame_max;
    };
    std::string properties = render(envelope);
    if (fits(properties) || envelope == nullptr || !envelope->has_died()) return properties;
    Envelope shorter(*envelope);
    for (Death& death : shorter.history.deaths) {
        death.routing_keys_omitted += static_cast<std::uint32_t>(death.routing_keys.size());
        death.routing_keys.clear();
    }
    properties = render(&shorter);
    while (!fits(properties) && shorter.history.deaths.size() > 1) {
        shorter.history.deaths.resize(shorter.history.deaths.size() / 2);
        properties = render(&shorter);
    }
    return properties;
}

// --- random messages and histories

class RenderingDice {
  public:
    explicit RenderingDice(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    bool one_in(std::uint64_t many) { return below(many) == 0; }

    std::string text() {
        std::string text(one_in(20) ? below(255) : below(8), ' ');
        for (char& each : text) each = static_cast<char>(below(256));
        return text;
    }
    // Generates colliding names frequently.
    std::string name() {
        static const std::vector<std::string> known = {"x-death",
                                                       "x-first-death-exchange",
                                                       "x-first-death-queue",
                                                       "x-first-death-reason",
                                                       "x-last-death-exchange",
                                                       "x-last-death-queue",
                                                       "x-last-death-reason",
                                                       "x-death-error-condition",
                                                       "x-death-error-description",
                                                       "x-delivery-count",
                                                       "x-acquired-count",
                                                       "CC",
                                                       "x-deat",
                                                       "x-death-",
                                                       "x-first-death",
                                                       "x-zebra",
                                                       "a",
                                                       "b",
                                                       "x-a",
                                                       "x-b",
                                                       "x-opt-deaths",
                                                       ""};
        return one_in(3) ? text() : known[below(known.size())];
    }

    // Type and content, including encodings that the broker does not write.
    void append_value(std::string& out, int depth) {
        ByteWriter writer(out);
        const std::string_view letters = depth > 0 ? "VtbBsuIifDlLdTSxFA" : "VtbBsuIifDlLdTSx";
        const char letter = letters[below(letters.size())];
        writer.u8(static_cast<std::uint8_t>(letter));
        const auto bytes = [&](std::size_t count) {
            for (; count > 0; --count) writer.u8(static_cast<std::uint8_t>(below(256)));
        };
        switch (letter) {
            case 'V':
                return;
            case 't':
                return writer.u8(static_cast<std::uint8_t>(one_in(3) ? below(256) : below(2)));
            case 'b':
            case 'B':
                return bytes(1);
            case 's':
            case 'u':
                return bytes(2);
            case 'I':
            case 'i':
            case 'f':
                return bytes(4);
            case 'D':
                return bytes(5);
            case 'S':
            case 'x':
                return writer.long_string(text());
            case 'F':
                return writer.long_string(fields(depth - 1));
            case 'A': {
                std::string elements;
                for (std::uint64_t i = below(4); i > 0; --i) append_value(elements, depth - 1);
                return writer.long_string(elements);
            }
            default:
                return bytes(8);
        }
    }
    std::string fields(int depth) {
        std::string out;
        for (std::uint64_t i = one_in(10) ? below(40) : below(6); i > 0; --i) {
            ByteWriter(out).short_string(name());
            append_value(out, depth);
        }
        return out;
    }
    Value value() {
        std::string bytes;
        append_value(bytes, 2);
        std::string field = std::string("\1v") + bytes;
        return amqp091::decode_table(field).value().front().value;
    }

    MessageRef native() {
        BasicProperties properties;
        properties.flags = static_cast<std::uint16_t>(below(1 << 15) << 1);
        const std::string headers = fields(3);
        std::vector<std::string> texts;
        for (int i = 0; i < 10; ++i) texts.push_back(text());
        properties.headers = headers;
        properties.content_type = texts[0];
        properties.content_encoding = texts[1];
        properties.correlation_id = texts[2];
        properties.reply_to = texts[3];
        properties.expiration = texts[4];
        properties.message_id = texts[5];
        properties.type = texts[6];
        properties.user_id = texts[7];
        properties.app_id = texts[8];
        properties.cluster_id = texts[9];
        properties.delivery_mode = static_cast<std::uint8_t>(below(3));
        properties.priority = static_cast<std::uint8_t>(below(256));
        properties.timestamp = random_();
        std::string bytes;
        amqp091::encode_properties(properties, bytes);
        MessageHead head;
        head.format = &amqp091::message_format();
        return make_message("x", "k", bytes, one_in(3) ? "" : "body", std::move(head));
    }
    MessageRef foreign() {
        amqp10::DataMap annotations;
        amqp10::DataMap application;
        for (std::uint64_t i = below(5); i > 0; --i) {
            annotations.push_back({amqp10::Datum::symbol("x-" + std::to_string(below(9))),
                                   amqp10::Datum::string(std::to_string(below(99)))});
            application.push_back({amqp10::Datum::string(std::to_string(below(9))),
                                   amqp10::Datum::uint(static_cast<std::uint32_t>(below(99)))});
        }
        const std::string deaths = one_in(2) ? amqp10::annotations(annotations) : claimed_deaths();
        return amqp10::published(deaths + amqp10::application_properties(application) +
                                 amqp10::data("body"));
    }

    Death death() {
        Death death;
        death.queue = text();
        death.reason = static_cast<DeathReason>(below(death_reason_count));
        death.count = one_in(5) ? random_() : 1 + below(3);
        death.first_time = {static_cast<std::int64_t>(below(INT64_MAX))};
        death.last_time = {static_cast<std::int64_t>(below(INT64_MAX))};
        death.exchange = text();
        for (std::uint64_t i = below(4); i > 0; --i) death.routing_keys.push_back(text());
        if (one_in(3)) death.ttl_ms = static_cast<std::int64_t>(random_());
        if (one_in(3)) death.routing_keys_omitted = static_cast<std::uint32_t>(random_());
        return death;
    }
    DeathSummary mark() { return {text(), static_cast<DeathReason>(below(4)), text()}; }
    EnvelopeRef envelope() {
        if (one_in(8)) return {};
        auto* const envelope = new Envelope;
        envelope->exchange = "dlx";
        envelope->routing_keys = {"dead"};
        envelope->keys_replaced = one_in(2);
        for (std::uint64_t i = one_in(10) ? below(60) : below(4); i > 0; --i) {
            envelope->history.deaths.push_back(death());
        }
        envelope->history.first = mark();
        if (!one_in(3)) envelope->history.last = mark();  // absent if RabbitMQ 3.12 is followed
        if (one_in(4)) envelope->error = DeathError{text(), text()};
        for (std::uint64_t i = one_in(3) ? below(5) : 0; i > 0; --i) {
            Annotation annotation{one_in(20) ? std::string(300, 'x') : name(), "\x40", value()};
            const auto known = [&](const Annotation& each) { return each.key == annotation.key; };
            auto& all = envelope->annotations;
            if (std::none_of(all.begin(), all.end(), known)) all.push_back(std::move(annotation));
        }
        return EnvelopeRef::adopt(envelope);
    }
    ShownCounts counts() {
        return {.delivery = static_cast<std::uint32_t>(one_in(2) ? 0 : below(3)),
                .acquired = static_cast<std::uint32_t>(one_in(2) ? 0 : random_())};
    }

  private:
    std::string claimed_deaths() {
        const EnvelopeRef died = envelope();
        if (!died) return {};
        auto* const simple = new Envelope;
        const EnvelopeRef held = EnvelopeRef::adopt(simple);
        simple->history = died->history;
        for (Death& death : simple->history.deaths) {
            death.queue = "q";
            death.exchange = "x";
            death.routing_keys = {"k"};
        }
        simple->history.first = {"q", DeathReason::expired, "x"};
        simple->history.last.reset();
        simple->routing_keys = {"k"};
        const auto delivered = amqp10::delivered(*amqp10::published(amqp10::hello_body), simple);
        return amqp10::annotations(delivered->annotations);
    }

    std::mt19937_64 random_;
};

struct WrittenContent {
    std::string properties;
    std::string body;
};

// The properties in the header frame after the method, and the body in the frames after that.
WrittenContent content_written(const protocol::Output& output) {
    std::vector<std::string_view> parts(64);
    parts.resize(output.gather(parts));
    std::string bytes;
    for (const std::string_view part : parts) bytes += part;
    CHECK(bytes.size() == output.unsent_bytes());
    WrittenContent content;
    ByteReader in(bytes);
    for (int frame = 0; !in.at_end(); ++frame) {
        const std::uint8_t type = in.u8();
        CHECK(type == std::min(frame, 2) + 1 && in.u16() == 1);
        const std::string_view payload = in.long_string();
        CHECK(in.u8() == amqp091::frame_end && !in.failed());
        if (frame == 1) content.properties = payload.substr(12);
        if (frame == 1) CHECK(ByteReader(payload.substr(4)).u64() < 5);
        if (frame > 1) content.body += payload;
    }
    return content;
}

// REVENANT_RENDERINGS=n sets the number of random messages.
std::uint64_t renderings() {
    const char* const wanted = std::getenv("REVENANT_RENDERINGS");
    return wanted == nullptr ? 1000 : std::strtoull(wanted, nullptr, 10);
}

TEST(Rendering, OfANativeMessageIsThatOfTheNaiveRenderer) {
    for (std::uint64_t seed = 1; seed <= renderings(); ++seed) {
        RenderingDice dice(seed);
        const EnvelopeRef envelope = dice.envelope();
        // The second message uses the cache entry of the first.
        for (int message_of_envelope = 0; message_of_envelope < 3; ++message_of_envelope) {
            const MessageRef message = dice.native();
            const ShownCounts counts = dice.counts();
            ASSERT_EQ(to_hex(amqp091::render_properties(*message, envelope, counts)),
                      to_hex(naive_native(*message, envelope.get(), counts)))
                << "seed " << seed;
        }
    }
}

TEST(Rendering, OfAForeignMessageIsThatOfTheNaiveRenderer) {
    for (std::uint64_t seed = 1; seed <= renderings(); ++seed) {
        RenderingDice dice(seed);
        const EnvelopeRef envelope = dice.envelope();
        const MessageRef message = dice.foreign();
        const ShownCounts counts = dice.counts();
        ASSERT_EQ(to_hex(amqp091::render_foreign(*message, envelope, counts).properties),
                  to_hex(naive_foreign(*message, envelope.get(), counts)))
            << "seed " << seed;
    }
}

TEST(Rendering, IsCutToTheFrameAsTheNaiveRendererCutsIt) {
    for (std::uint64_t seed = 1; seed <= renderings(); ++seed) {
        RenderingDice dice(seed);
        const EnvelopeRef envelope = dice.envelope();
        const bool foreign = dice.one_in(3);
        const MessageRef message = foreign ? dice.foreign() : dice.native();
        const ShownCounts counts = dice.counts();
        const auto frame_max =
            static_cast<std::uint32_t>(dice.one_in(5) ? 0 : 100 + dice.below(4000));
        const std::string expected =
            naive_fitting(envelope.get(), frame_max, [&](const Envelope* shown) {
                // Without additions the bytes are unchanged.
                if (!foreign && shown == nullptr && !counts.any())
                    return std::string(message->properties());
                return foreign ? naive_foreign(*message, shown, counts)
                               : naive_native(*message, shown, counts);
            });
        protocol::Output delivered;
        engine::Deliver deliver;
        deliver.message = message;
        deliver.envelope = envelope;
        deliver.counts = counts;
        amqp091::DeliveryWriter(delivered, 1, frame_max).write(deliver, "tag");
        const std::string body =
            foreign ? amqp091::convert_foreign(*message).body : std::string(message->body());
        ASSERT_EQ(to_hex(content_written(delivered).properties), to_hex(expected))
            << "seed " << seed;
        ASSERT_EQ(content_written(delivered).body, body) << "seed " << seed;
        protocol::Output got;
        engine::GetAnswer answer;
        answer.message = message;
        answer.envelope = envelope;
        answer.counts = counts;
        amqp091::DeliveryWriter(got, 1, frame_max).write(answer);
        ASSERT_EQ(to_hex(content_written(got).properties), to_hex(expected)) << "seed " << seed;
        ASSERT_EQ(content_written(got).body, body) << "seed " << seed;
    }
}

// --- AMQP 1.0: the entries in order, by an encoder that shares no code with the broker's

std::string big_endian(std::uint64_t value, int bytes) {
    std::string out;
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
        out.push_back(static_cast<char>(value >> shift & 0xff));
    }
    return out;
}
std::string naive_variable(int narrow, const std::string& bytes) {
    const bool wide = bytes.size() > 255;
    return big_endian(static_cast<std::uint64_t>(wide ? narrow + 0x10 : narrow), 1) +
           big_endian(bytes.size(), wide ? 4 : 1) + bytes;
}
std::string naive_symbol(std::string_view text) { return naive_variable(0xa3, std::string(text)); }
std::string naive_string(std::string_view text) { return naive_variable(0xa1, std::string(text)); }
std::string naive_unsigned(std::uint64_t value, int zero, int narrow, int wide, int bytes) {
    if (value == 0) return big_endian(static_cast<std::uint64_t>(zero), 1);
    if (value < 256)
        return big_endian(static_cast<std::uint64_t>(narrow), 1) + big_endian(value, 1);
    return big_endian(static_cast<std::uint64_t>(wide), 1) + big_endian(value, bytes);
}
std::string naive_uint(std::uint64_t value) { return naive_unsigned(value, 0x43, 0x52, 0x70, 4); }
std::string naive_ulong(std::uint64_t value) { return naive_unsigned(value, 0x44, 0x53, 0x80, 8); }
std::string naive_long(std::int64_t value) {
    const auto raw = static_cast<std::uint64_t>(value);
    return value < 128 ? "\x55" + big_endian(raw, 1) : "\x81" + big_endian(raw, 8);
}
// Size and count precede the content of a map or an array.
std::string naive_compound(const std::string& content, std::size_t count) {
    return big_endian(content.size() + 4, 4) + big_endian(count, 4) + content;
}
std::string naive_array(int constructor, const std::string& content, std::size_t count) {
    const std::string elements = big_endian(static_cast<std::uint64_t>(constructor), 1) + content;
    return "\xf0" + naive_compound(elements, count);
}

std::string naive_death10(const Death& death) {
    std::vector<std::pair<std::string, std::string>> entries;
    if (death.ttl_ms) {
        const auto shown = static_cast<std::uint64_t>(
            std::min<std::int64_t>(std::max<std::int64_t>(*death.ttl_ms, 0), 0xffffffff));
        entries.emplace_back("ttl", naive_uint(shown));
    }
    const auto time = [](Timestamp at) {
        return "\x83" + big_endian(static_cast<std::uint64_t>(at.us / 1000), 8);
    };
    std::string keys;
    for (const std::string& key : death.routing_keys) keys += big_endian(key.size(), 4) + key;
    entries.emplace_back("queue", naive_string(death.queue));
    entries.emplace_back("reason", naive_symbol(to_string(death.reason)));
    entries.emplace_back("count", naive_ulong(death.count));
    entries.emplace_back("first-time", time(death.first_time));
    entries.emplace_back("last-time", time(death.last_time));
    entries.emplace_back("exchange", naive_string(death.exchange));
    entries.emplace_back("routing-keys", naive_array(0xb1, keys, death.routing_keys.size()));
    if (death.routing_keys_omitted > 0) {
        entries.emplace_back("routing-keys-omitted", naive_uint(death.routing_keys_omitted));
    }
    std::string content;
    for (const auto& [name, value] : entries) content += naive_symbol(name) + value;
    return naive_compound(content, 2 * entries.size());
}

// Returns the number of entries added.
std::uint32_t naive_history10(const DeathHistory& history, std::string& out) {
    if (history.deaths.empty()) return 0;
    std::string deaths;
    for (const Death& death : history.deaths) deaths += naive_death10(death);
    out += naive_symbol("x-opt-deaths") + naive_array(0xd1, deaths, history.deaths.size());
    const auto add_mark = [&](const std::string& prefix, const DeathSummary& mark) {
        out += naive_symbol(prefix + "queue") + naive_string(mark.queue);
        out += naive_symbol(prefix + "reason") + naive_string(to_string(mark.reason));
        out += naive_symbol(prefix + "exchange") + naive_string(mark.exchange);
    };
    add_mark("x-first-death-", history.first);
    if (history.last) add_mark("x-last-death-", *history.last);
    return history.last ? 7 : 4;
}

std::string naive_annotations10(const Message& message, const amqp10::DataMap& own,
                                const Envelope& envelope, ShownCounts counts) {
    std::string added;
    std::vector<std::string> names = {"x-exchange", "x-routing-key"};
    added += naive_symbol("x-exchange") + naive_string(envelope.exchange);
    added += naive_symbol("x-routing-key") + naive_string(envelope.routing_keys.front());
    std::uint32_t entries = 2;
    const auto count = [&](const char* name, std::uint32_t value) {
        if (value == 0) return;
        added += naive_symbol(name) + naive_long(value);
        names.emplace_back(name);
        entries += 1;
    };
    count("x-delivery-count", counts.delivery);
    count("x-acquired-count", counts.acquired);
    entries += naive_history10(envelope.history, added);
    if (envelope.has_died()) {
        names.insert(names.end(), {"x-death", "x-opt-deaths"});
        for (const char* const what : {"queue", "reason", "exchange"}) {
            names.push_back(std::string("x-first-death-") + what);
            names.push_back(std::string("x-last-death-") + what);
        }
    }
    if (envelope.error) {
        added += naive_symbol("x-opt-death-error-condition");
        added += naive_symbol(envelope.error->condition);
        added += naive_symbol("x-opt-death-error-description");
        added += naive_string(envelope.error->description);
        names.insert(names.end(), {"x-opt-death-error-condition", "x-opt-death-error-description"});
        entries += 2;
    }
    const auto is_broker = [&](const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const Annotation& annotation : envelope.annotations) {
        if (is_broker(annotation.key)) continue;
        added += naive_symbol(annotation.key) + annotation.encoded;
        entries += 1;
    }
    std::string kept;
    amqp10::TypeWriter kept_out(kept);  // as published
    for (const auto& entry : own) {
        const std::string& name = *entry.key.as_symbol();
        const auto same = [&](const Annotation& each) { return each.key == name; };
        const auto& all = envelope.annotations;
        if (is_broker(name) || std::any_of(all.begin(), all.end(), same)) continue;
        if (name == "x-cc" && envelope.keys_replaced) continue;
        kept_out.datum(entry.key);
        kept_out.datum(entry.value);
        entries += 1;
    }
    return std::string("\x00\x53\x72\xd1", 4) + naive_compound(kept + added, entries * 2) +
           std::string(message.body());
}

TEST(Rendering, OfAnnotationsIsThatOfTheNaiveRenderer) {
    for (std::uint64_t seed = 1; seed <= renderings(); ++seed) {
        RenderingDice dice(seed);
        const EnvelopeRef envelope = dice.envelope();
        if (!envelope) continue;
        for (int message_of_envelope = 0; message_of_envelope < 3; ++message_of_envelope) {
            amqp10::DataMap own;
            for (std::uint64_t i = dice.below(6); i > 0; --i) {
                const std::string name = dice.name();
                if (!name.starts_with("x-")) continue;
                const bool known = std::any_of(own.begin(), own.end(), [&](const auto& each) {
                    return *each.key.as_symbol() == name;
                });
                if (!known) own.push_back({amqp10::Datum::symbol(name), amqp10::Datum::uint(7)});
            }
            own.push_back({amqp10::Datum::symbol("x-cc"),
                           amqp10::Datum::list({amqp10::Datum::string("key")})});
            const MessageRef message =
                amqp10::published(amqp10::annotations(own) + amqp10::data("body"));
            const ShownCounts counts = dice.counts();
            const std::string shown =
                amqp10::delivered_bytes(*message, envelope.get(), {.counts = counts});
            const std::string expected = naive_annotations10(*message, own, *envelope, counts);
            ASSERT_TRUE(shown.ends_with(expected)) << "seed " << seed << "\n"
                                                   << to_hex(shown) << "\n"
                                                   << to_hex(expected);
        }
    }
}

}  // namespace
}  // namespace revenant
