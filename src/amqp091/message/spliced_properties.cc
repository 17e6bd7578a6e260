#include "amqp091/message/spliced_properties.h"

#include "amqp091/codec/put_bytes.h"
#include "amqp091/codec/table.h"
#include "amqp091/message/content.h"
#include "base/byte_reader.h"
#include "base/check.h"

#include <algorithm>

namespace revenant::amqp091 {
namespace {

constexpr std::string_view delivery_count_name = "x-delivery-count";
constexpr std::string_view acquired_count_name = "x-acquired-count";

// The list of properties, split where fields may be inserted or removed.
struct PropertyCuts {
    std::uint16_t flags = 0;
    std::string_view before_headers;
    std::string_view headers;
    std::string_view before_expiration;
    std::string_view behind_expiration;

    bool has(Property property) const {
        return (flags & static_cast<std::uint16_t>(property)) != 0;
    }
    void set(Property property, bool present) {
        const auto flag = static_cast<std::uint16_t>(property);
        flags = static_cast<std::uint16_t>(present ? flags | flag : flags & ~flag);
    }
};

PropertyCuts cut(std::string_view properties, bool without_expiration) {
    ByteReader in(properties);
    PropertyCuts cuts;
    const auto offset = [&] { return properties.size() - in.remaining(); };
    cuts.flags = in.u16();
    const std::size_t first = offset();
    if (cuts.has(Property::content_type)) in.short_string();
    if (cuts.has(Property::content_encoding)) in.short_string();
    cuts.before_headers = properties.substr(first, offset() - first);
    if (cuts.has(Property::headers)) cuts.headers = in.long_string();
    cuts.before_expiration = in.rest();
    if (without_expiration && cuts.has(Property::expiration)) {
        const std::size_t second = offset();
        if (cuts.has(Property::delivery_mode)) in.u8();
        if (cuts.has(Property::priority)) in.u8();
        if (cuts.has(Property::correlation_id)) in.short_string();
        if (cuts.has(Property::reply_to)) in.short_string();
        cuts.before_expiration = properties.substr(second, offset() - second);
        in.short_string();
        cuts.behind_expiration = in.rest();
        cuts.set(Property::expiration, false);
    }
    // Bytes that were accepted at publish are valid.
    CHECK(!in.failed());
    return cuts;
}

template <typename Fields>
void sort_by_name(Fields& fields) {
    constexpr std::size_t few = 12;
    const auto before = [](const auto& a, const auto& b) { return a.name < b.name; };
    if (fields.size() > few) {
        std::stable_sort(fields.begin(), fields.end(), before);
        return;
    }
    for (auto at = fields.begin(); at != fields.end(); ++at) {
        std::rotate(std::upper_bound(fields.begin(), at, *at, before), at, at + 1);
    }
}

}  // namespace

SplicedProperties::SplicedProperties(std::string_view properties, const AddedHeaders& added,
                                     engine::ShownCounts counts) {
    PropertyCuts cuts = cut(properties, added.died);
    OwnFields own;
    bool sorted = true;
    if (!cuts.headers.empty()) sorted = read_own(cuts.headers, added, counts, own);
    if (counts.any()) {
        sorted = sorted && own.empty();
        // Sorted by name.
        if (counts.acquired > 0) add_count(own, acquired_count_name, counts.acquired);
        if (counts.delivery > 0) add_count(own, delivery_count_name, counts.delivery);
    }
    if (!sorted) sort_by_name(own);

    append({flags_.data(), flags_.size()});
    append(cuts.before_headers);
    const bool any_headers = !own.empty() || added.count() > 0;
    if (any_headers) {
        append({headers_size_.data(), headers_size_.size()});
        const std::size_t start = size_;
        merge(own, added);
        put_u32(headers_size_.data(), static_cast<std::uint32_t>(size_ - start));
    }
    append(cuts.before_expiration);
    append(cuts.behind_expiration);
    cuts.set(Property::headers, any_headers);
    put_u16(flags_.data(), cuts.flags);
}

char* SplicedProperties::write(char* at) const {
    for (const std::string_view piece : pieces_) at = put_bytes(at, piece);
    return at;
}

std::string SplicedProperties::text() const {
    std::string bytes(size_, '\0');
    write(bytes.data());
    return bytes;
}

void SplicedProperties::append(std::string_view piece) {
    if (piece.empty()) return;
    size_ += piece.size();
    pieces_.push_back(piece);
}

// Merges a field that directly follows the last piece in memory.
void SplicedProperties::append_own(std::string_view field) {
    std::string_view& last = pieces_.back();  // the size of the headers at least
    if (last.data() + last.size() != field.data()) return append(field);
    last = {last.data(), last.size() + field.size()};
    size_ += field.size();
}

void SplicedProperties::add_count(OwnFields& own, std::string_view name, std::uint32_t count) {
    char* const start = counts_.data() + counts_size_;
    char* const end = put_u64(put_u8(put_short_string(start, name), 'l'), count);
    const auto size = static_cast<std::size_t>(end - start);
    counts_size_ += size;
    own.push_back({name, {start, size}, true});
}

// Collects the publisher's fields that are kept. Returns whether they are sorted by name.
bool SplicedProperties::read_own(std::string_view table, const AddedHeaders& added,
                                 engine::ShownCounts counts, OwnFields& own) {
    const auto gives_way = [&](std::string_view name) {
        if (counts.delivery > 0 && name == delivery_count_name) return true;
        if (counts.acquired > 0 && name == acquired_count_name) return true;
        return !added.hidden.empty() &&
               std::find(added.hidden.begin(), added.hidden.end(), name) != added.hidden.end();
    };
    bool sorted = true;
    FieldWalk walk(table);
    while (const auto field = walk.next()) {
        if (gives_way(field->name)) continue;
        const char* const start = field->name.data() - 1;
        const std::string_view bytes{
            start, static_cast<std::size_t>(field->raw.data() + field->raw.size() - start)};
        if (!own.empty() && field->name < own.back().name) sorted = false;
        own.push_back({field->name, canonical(field->type_tag, bytes, table.size()), false});
    }
    if (walk.error()) own.clear();  // unreachable: they were validated at publish
    return sorted;
}

// The field as encode_table writes it: same size, usually the same bytes.
std::string_view SplicedProperties::canonical(char type_tag, std::string_view field,
                                              std::size_t table_size) {
    const bool plain = type_tag != 'F' && type_tag != 'A' && type_tag != 'L' && type_tag != 't';
    if (plain || (type_tag == 't' && static_cast<std::uint8_t>(field.back()) <= 1)) return field;
    if (canonical_.empty()) canonical_.reserve(table_size);  // so it is never reallocated
    const std::size_t before = canonical_.size();
    canonical_.append(field);
    make_canonical({canonical_.data() + before, field.size()});
    return {canonical_.data() + before, field.size()};
}

void SplicedProperties::merge(const OwnFields& own, const AddedHeaders& added) {
    std::size_t index = 0;
    std::size_t written = 0;  // number of added bytes written
    const auto append_added_up_to = [&](std::size_t end) {
        append(std::string_view(added.bytes).substr(written, end - written));
        written = end;
    };
    const OwnField* last = nullptr;
    for (const OwnField& field : own) {
        if (last != nullptr && last->name == field.name) continue;
        last = &field;
        while (index < added.count() && added.name(index) < field.name) ++index;
        if (index < added.count() && added.name(index) == field.name) {
            if (!field.is_count) continue;
            append_added_up_to(added.start(index));
            ++index;
            written = added.start(index);
        } else {
            append_added_up_to(added.start(index));
        }
        append_own(field.bytes);
    }
    append_added_up_to(added.bytes.size());
}

}  // namespace revenant::amqp091
