#include "amqp091/message/added_headers.h"

#include "amqp091/codec/put_bytes.h"
#include "amqp091/codec/table.h"
#include "amqp091/message/death_headers.h"
#include "protocol/envelope_cache.h"

#include <algorithm>

namespace revenant::amqp091 {
namespace {

constexpr std::size_t name_bytes_max = 255;

void add_place(AddedHeaders& added, std::string_view name) {
    added.places.push_back(
        {static_cast<std::uint32_t>(added.bytes.size()), static_cast<std::uint32_t>(name.size())});
}

void add_text(AddedHeaders& added, std::string_view name, std::string_view text) {
    add_place(added, name);
    const std::size_t before = added.bytes.size();
    added.bytes.resize(before + 1 + name.size() + 1 + 4 + text.size());
    char* const at = put_short_string(added.bytes.data() + before, name);
    put_long_string(put_u8(at, 'S'), text);
}

// Sorted by name.
void add_befallen(AddedHeaders& added, const Envelope& envelope) {
    const DeathHistory& history = envelope.history;
    if (added.died) {
        add_place(added, "x-death");
        append_deaths(history.deaths, added.bytes);
    }
    if (envelope.error) {
        add_text(added, "x-death-error-condition", envelope.error->condition);
        add_text(added, "x-death-error-description", envelope.error->description);
    }
    if (!added.died) return;
    add_text(added, "x-first-death-exchange", history.first.exchange);
    add_text(added, "x-first-death-queue", history.first.queue);
    add_text(added, "x-first-death-reason", to_string(history.first.reason));
    if (!history.last) return;
    add_text(added, "x-last-death-exchange", history.last->exchange);
    add_text(added, "x-last-death-queue", history.last->queue);
    add_text(added, "x-last-death-reason", to_string(history.last->reason));
}

void sort_fields(AddedHeaders& added) {
    struct Sorted {
        std::string name;
        std::string bytes;
    };
    std::vector<Sorted> fields;
    for (std::size_t i = 0; i < added.count(); ++i) {
        fields.push_back({std::string(added.name(i)),
                          added.bytes.substr(added.start(i), added.start(i + 1) - added.start(i))});
    }
    std::stable_sort(fields.begin(), fields.end(),
                     [](const Sorted& a, const Sorted& b) { return a.name < b.name; });
    added.bytes.clear();
    added.places.clear();
    for (const Sorted& field : fields) {
        add_place(added, field.name);
        added.bytes += field.bytes;
    }
}

// A value without a simple form is omitted, but it still hides a publisher's field of that name
// (DL-100). The broker's own fields take precedence.
void add_annotations(AddedHeaders& added, const std::vector<Annotation>& annotations) {
    if (annotations.empty()) return;
    const auto is_known = [&](std::string_view name) {
        for (std::size_t i = 0; i < added.count(); ++i) {
            if (added.name(i) == name) return true;
        }
        return false;
    };
    for (const Annotation& annotation : annotations) {
        const bool shown = annotation.simple.type != ValueType::void_value &&
                           annotation.key.size() <= name_bytes_max;
        if (!shown) {
            added.hidden.push_back(annotation.key);
        } else if (!is_known(annotation.key)) {
            add_place(added, annotation.key);
            encode_table({{annotation.key, annotation.simple}}, added.bytes);
        }
    }
    sort_fields(added);
}

void render_added(const Envelope& envelope, AddedHeaders& added) {
    added.bytes.clear();
    added.places.clear();
    added.hidden.clear();
    added.died = envelope.has_died();
    // Replaced keys also remove the CC header (DL-66).
    if (envelope.keys_replaced) added.hidden.emplace_back("CC");
    add_befallen(added, envelope);
    add_annotations(added, envelope.annotations);
}

}  // namespace

std::size_t AddedHeaders::memory_bytes() const {
    return bytes.capacity() + places.capacity() * sizeof(Place) +
           hidden.capacity() * (sizeof(std::string) + name_bytes_max);
}

AddedHeadersRef render_added_headers(const Envelope& envelope) {
    auto added = std::make_shared<AddedHeaders>();
    render_added(envelope, *added);
    return added;
}

const AddedHeadersRef& added_headers(const EnvelopeRef& envelope, AddedHeadersRef& scratch) {
    thread_local protocol::EnvelopeCache<AddedHeaders> cache;
    static const AddedHeadersRef none = std::make_shared<const AddedHeaders>();
    if (!envelope) return none;
    return cache.of(*envelope, scratch, render_added);
}

}  // namespace revenant::amqp091
