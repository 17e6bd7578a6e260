// Grammar, version 1. Numbers are big-endian; text is a u32 length and its bytes.
//
//     record = version(u8) count(u32) event*count
//     event  = tag(u8) fields          the fields in the order of the struct in catalog_event.h
//     text*  = count(u32) text*count
//     bool   = 0 | 1 (u8)
//     limit  = 0 | 1 value(i64)        0: absent
//     id     = u64
//     hash   = text algorithm(u8)
//
// A record has exactly one encoding: decoding and encoding give the same bytes. The numbers of tags
// and algorithms never change.
#include "catalog/catalog_codec.h"

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/check.h"

#include <optional>
#include <type_traits>

namespace revenant {
namespace {

enum class Tag : std::uint8_t {
    user_added = 1,
    password_changed = 2,
    tags_set = 3,
    user_limits_set = 4,
    user_deleted = 5,
    vhost_added = 6,
    vhost_changed = 7,
    vhost_deleted = 8,
    permissions_set = 9,
    permissions_cleared = 10,
    topic_permissions_set = 11,
    topic_permissions_cleared = 12,
    global_parameter_set = 13,
    global_parameter_cleared = 14,
    vhost_numbered = 15,
    vhost_ids_used = 16,
};

std::uint8_t algorithm_number(HashAlgorithm algorithm) {
    switch (algorithm) {
        case HashAlgorithm::sha256:
            return 1;
        case HashAlgorithm::sha512:
            return 2;
        case HashAlgorithm::md5:
            return 3;
    }
    UNREACHABLE();
}

// The fields of each struct are listed once, for both directions: Writer and Reader are called with
// the same references in the same order.
class Writer {
  public:
    explicit Writer(std::string& out) : bytes_(out) {}
    ByteWriter& bytes() { return bytes_; }

    void field(const std::string& text) { bytes_.long_string(text); }
    void field(const std::vector<std::string>& texts) {
        bytes_.u32(static_cast<std::uint32_t>(texts.size()));
        for (const auto& text : texts) field(text);
    }
    void field(bool value) { bytes_.u8(value ? 1 : 0); }
    void field(std::uint64_t value) { bytes_.u64(value); }
    void field(const Limit& limit) {
        bytes_.u8(limit ? 1 : 0);
        if (limit) bytes_.u64(static_cast<std::uint64_t>(*limit));
    }
    void field(HashAlgorithm algorithm) { bytes_.u8(algorithm_number(algorithm)); }

  private:
    ByteWriter bytes_;
};

class Reader {
  public:
    explicit Reader(std::string_view in) : bytes_(in) {}
    ByteReader& bytes() { return bytes_; }

    void field(std::string& text) { text = bytes_.long_string(); }
    void field(std::vector<std::string>& texts) {
        // The count is not trusted. Every text takes bytes, so a false count ends at the end of the
        // input.
        for (auto count = bytes_.u32(); count > 0 && !bytes_.failed(); --count)
            field(texts.emplace_back());
    }
    void field(bool& value) { value = flag(); }
    void field(std::uint64_t& value) { value = bytes_.u64(); }
    void field(Limit& limit) {
        if (flag()) limit = static_cast<std::int64_t>(bytes_.u64());
    }
    void field(HashAlgorithm& algorithm) {
        const auto number = bytes_.u8();
        for (const auto one : {HashAlgorithm::sha256, HashAlgorithm::sha512, HashAlgorithm::md5})
            if (algorithm_number(one) == number) {
                algorithm = one;
                return;
            }
        bytes_.fail();
    }

  private:
    bool flag() {
        const auto number = bytes_.u8();
        if (number > 1) bytes_.fail();
        return number == 1;
    }

    ByteReader bytes_;
};

template <typename Stream, typename... Fields>
void each(Stream& stream, Fields&&... fields) {
    (stream.field(fields), ...);
}

// Event is const for a Writer and mutable for a Reader.
template <typename Stream, typename Event>
void fields_of(Stream& stream, Event& event) {
    using Plain = std::remove_const_t<Event>;
    if constexpr (std::is_same_v<Plain, UserAdded>) {
        each(stream, event.user.name, event.user.password.base64, event.user.password.algorithm,
             event.user.tags, event.user.limits.max_connections, event.user.limits.max_channels);
    } else if constexpr (std::is_same_v<Plain, PasswordChanged>) {
        each(stream, event.user, event.password.base64, event.password.algorithm);
    } else if constexpr (std::is_same_v<Plain, TagsSet>) {
        each(stream, event.user, event.tags);
    } else if constexpr (std::is_same_v<Plain, UserLimitsSet>) {
        each(stream, event.user, event.limits.max_connections, event.limits.max_channels);
    } else if constexpr (std::is_same_v<Plain, VhostAdded> || std::is_same_v<Plain, VhostChanged>) {
        each(stream, event.vhost.name, event.vhost.description, event.vhost.tags,
             event.vhost.default_queue_type, event.vhost.compat, event.vhost.tracing,
             event.vhost.protected_from_deletion, event.vhost.limits.max_connections,
             event.vhost.limits.max_queues);
    } else if constexpr (std::is_same_v<Plain, UserDeleted> ||
                         std::is_same_v<Plain, VhostDeleted> ||
                         std::is_same_v<Plain, GlobalParameterCleared>) {
        each(stream, event.name);
    } else if constexpr (std::is_same_v<Plain, GlobalParameterSet>) {
        each(stream, event.name, event.value);
    } else if constexpr (std::is_same_v<Plain, VhostNumbered>) {
        each(stream, event.vhost, event.id, event.has_named_directory);
    } else if constexpr (std::is_same_v<Plain, VhostIdsUsed>) {
        each(stream, event.last);
    } else if constexpr (std::is_same_v<Plain, PermissionsSet>) {
        each(stream, event.of.user, event.of.vhost, event.permissions.configure,
             event.permissions.write, event.permissions.read);
    } else if constexpr (std::is_same_v<Plain, PermissionsCleared>) {
        each(stream, event.of.user, event.of.vhost);
    } else if constexpr (std::is_same_v<Plain, TopicPermissionsSet>) {
        each(stream, event.of.user, event.of.vhost, event.of.exchange, event.permissions.write,
             event.permissions.read);
    } else {
        static_assert(std::is_same_v<Plain, TopicPermissionsCleared>);
        each(stream, event.of.user, event.of.vhost, event.of.exchange);
    }
}

struct TagOf {
    Tag operator()(const UserAdded&) const { return Tag::user_added; }
    Tag operator()(const PasswordChanged&) const { return Tag::password_changed; }
    Tag operator()(const TagsSet&) const { return Tag::tags_set; }
    Tag operator()(const UserLimitsSet&) const { return Tag::user_limits_set; }
    Tag operator()(const UserDeleted&) const { return Tag::user_deleted; }
    Tag operator()(const VhostAdded&) const { return Tag::vhost_added; }
    Tag operator()(const VhostChanged&) const { return Tag::vhost_changed; }
    Tag operator()(const VhostDeleted&) const { return Tag::vhost_deleted; }
    Tag operator()(const PermissionsSet&) const { return Tag::permissions_set; }
    Tag operator()(const PermissionsCleared&) const { return Tag::permissions_cleared; }
    Tag operator()(const TopicPermissionsSet&) const { return Tag::topic_permissions_set; }
    Tag operator()(const TopicPermissionsCleared&) const { return Tag::topic_permissions_cleared; }
    Tag operator()(const GlobalParameterSet&) const { return Tag::global_parameter_set; }
    Tag operator()(const GlobalParameterCleared&) const { return Tag::global_parameter_cleared; }
    Tag operator()(const VhostNumbered&) const { return Tag::vhost_numbered; }
    Tag operator()(const VhostIdsUsed&) const { return Tag::vhost_ids_used; }
};

// A default-constructed event of the type that the tag names.
std::optional<CatalogEvent> event_of(Tag tag) {
    switch (tag) {
        case Tag::user_added:
            return UserAdded{};
        case Tag::password_changed:
            return PasswordChanged{};
        case Tag::tags_set:
            return TagsSet{};
        case Tag::user_limits_set:
            return UserLimitsSet{};
        case Tag::user_deleted:
            return UserDeleted{};
        case Tag::vhost_added:
            return VhostAdded{};
        case Tag::vhost_changed:
            return VhostChanged{};
        case Tag::vhost_deleted:
            return VhostDeleted{};
        case Tag::permissions_set:
            return PermissionsSet{};
        case Tag::permissions_cleared:
            return PermissionsCleared{};
        case Tag::topic_permissions_set:
            return TopicPermissionsSet{};
        case Tag::topic_permissions_cleared:
            return TopicPermissionsCleared{};
        case Tag::global_parameter_set:
            return GlobalParameterSet{};
        case Tag::global_parameter_cleared:
            return GlobalParameterCleared{};
        case Tag::vhost_numbered:
            return VhostNumbered{};
        case Tag::vhost_ids_used:
            return VhostIdsUsed{};
    }
    return std::nullopt;
}

}  // namespace

std::string encode_catalog_record(const CatalogRecord& record) {
    std::string out;
    Writer writer{out};
    writer.bytes().u8(catalog_record_version);
    writer.bytes().u32(static_cast<std::uint32_t>(record.size()));
    for (const auto& event : record) {
        writer.bytes().u8(static_cast<std::uint8_t>(std::visit(TagOf{}, event)));
        std::visit([&](const auto& fact) { fields_of(writer, fact); }, event);
    }
    return out;
}

Result<CatalogRecord, CatalogDecodeError> decode_catalog_record(std::string_view bytes) {
    Reader reader{bytes};
    const auto version = reader.bytes().u8();
    if (reader.bytes().failed()) return Unexpected{CatalogDecodeError::malformed};
    if (version != catalog_record_version) return Unexpected{CatalogDecodeError::unknown_version};
    CatalogRecord record;
    for (auto count = reader.bytes().u32(); count > 0; --count) {
        const auto tag = reader.bytes().u8();
        if (reader.bytes().failed()) return Unexpected{CatalogDecodeError::malformed};
        auto event = event_of(Tag{tag});
        if (!event) return Unexpected{CatalogDecodeError::unknown_event};
        std::visit([&](auto& fact) { fields_of(reader, fact); }, *event);
        if (reader.bytes().failed()) return Unexpected{CatalogDecodeError::malformed};
        record.push_back(std::move(*event));
    }
    if (reader.bytes().failed() || !reader.bytes().at_end())
        return Unexpected{CatalogDecodeError::malformed};
    return record;
}

}  // namespace revenant
