#include "engine/chain/page_codec.h"

#include "base/check.h"
#include "engine/codec/archive.h"

#include <xxhash.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace revenant::engine {
namespace {

constexpr std::uint8_t page_version = 1;
constexpr std::size_t page_checksum_bytes = 4;

// Bits in the flags of an entry.
struct EntryFlag {
    static constexpr std::uint8_t returned = 1;
    static constexpr std::uint8_t deadline = 2;
    static constexpr std::uint8_t priority = 4;
    static constexpr std::uint8_t ttl = 8;
    static constexpr std::uint8_t persistent = 16;
    static constexpr std::uint8_t whole = 32;  // the page contains the whole message
    static constexpr std::uint8_t keys = 64;   // the message has CC or BCC
};

// Values that many entries of a page share.
struct Route {
    std::uint8_t format = 0;
    std::string_view exchange;
    std::string_view routing_key;
    friend bool operator==(const Route&, const Route&) = default;
};

std::uint32_t page_checksum(std::string_view page) {
    const std::string_view covered = page.substr(page_checksum_bytes);
    return static_cast<std::uint32_t>(XXH3_64bits(covered.data(), covered.size()));
}

// The index of an element, searched from the end: adjacent entries are usually alike.
template <typename Element>
std::size_t number_in(std::vector<Element>& known, const Element& wanted) {
    for (std::size_t i = known.size(); i-- > 0;) {
        if (known[i] == wanted) return i;
    }
    known.push_back(wanted);
    return known.size() - 1;
}

class PageWriter {
  public:
    explicit PageWriter(std::string& entries) : out_(entries) {}

    void add(std::size_t index, const Entry& entry, Timestamp deadline) {
        const Message& message = *entry.message;
        const bool stored = message.stored_at().has_value();
        out_.u8(static_cast<std::uint8_t>(index));
        out_.u8(flags_of(entry, deadline));
        out_.varint(entry.envelope ? number_in(envelopes_, entry.envelope) + 1 : 0);
        out_.varint(entry.delivery_count);
        out_.varint(entry.acquired_count);
        if (deadline != never) {
            // Unsigned like in the reader, so that the full range works.
            const auto last =
                static_cast<std::uint64_t>(std::exchange(last_deadline_, deadline).us);
            out_.signed_varint(
                static_cast<std::int64_t>(static_cast<std::uint64_t>(deadline.us) - last));
        }
        if (stored) {
            add_reference(message);
        } else {
            encode_message(message, out_.target());
        }
    }
    void write_dictionaries(std::string& page) {
        WriteArchive out(page);
        out.bytes().varint(routes_.size());
        for (const Route& route : routes_) {
            out.bytes().u8(route.format);
            out.bytes().text(route.exchange);
            out.bytes().text(route.routing_key);
        }
        out.bytes().varint(envelopes_.size());
        for (const EnvelopeRef& envelope : envelopes_) out(*envelope);
    }

  private:
    static std::uint8_t flags_of(const Entry& entry, Timestamp deadline) {
        const Message& message = *entry.message;
        return static_cast<std::uint8_t>((entry.returned ? EntryFlag::returned : 0) |
                                         (deadline != never ? EntryFlag::deadline : 0) |
                                         (message.priority() ? EntryFlag::priority : 0) |
                                         (message.ttl_ms() ? EntryFlag::ttl : 0) |
                                         (message.persistent() ? EntryFlag::persistent : 0) |
                                         (message.stored_at() ? 0 : EntryFlag::whole) |
                                         (message.extra_keys() ? EntryFlag::keys : 0));
    }
    void add_reference(const Message& message) {
        out_.varint(number_in(
            routes_, {message.format().number, message.exchange(), message.routing_key()}));
        const Lsn at = *message.stored_at();
        out_.signed_varint(static_cast<std::int64_t>(at.value - std::exchange(last_at_, at).value));
        out_.varint(message.properties_size());
        out_.varint(message.body_size());
        if (const auto priority = message.priority()) out_.u8(*priority);
        if (const auto ttl_ms = message.ttl_ms()) {
            out_.varint(static_cast<std::uint64_t>(*ttl_ms));
        }
        if (const ExtraKeys* const extra = message.extra_keys()) {
            WriteArchive archive(out_.target());
            archive(extra->cc);
            archive(extra->bcc);
        }
    }

    ByteWriter out_;
    std::vector<Route> routes_;
    std::vector<EnvelopeRef> envelopes_;
    Timestamp last_deadline_;
    Lsn last_at_;
};

class PageReader {
  public:
    PageReader(std::string_view bytes, Durability durability, const MessageFormats& formats)
        : archive_(bytes), in_(archive_.bytes()), durability_(durability), formats_(formats) {}

    bool read_into(Block& block) {
        if (in_.u8() != page_version) return false;
        read_dictionaries();
        while (!in_.at_end()) {
            if (!read_entry(block)) return false;
        }
        return !in_.failed();
    }

  private:
    void read_dictionaries() {
        const std::uint64_t routes = in_.varint();
        for (std::uint64_t i = 0; i < routes && !in_.failed(); ++i) {
            Route route;
            route.format = in_.u8();
            route.exchange = in_.text();
            route.routing_key = in_.text();
            routes_.push_back(route);
        }
        const std::uint64_t envelopes = in_.varint();
        for (std::uint64_t i = 0; i < envelopes && !in_.failed(); ++i) {
            auto* const envelope = new Envelope;
            envelopes_.push_back(EnvelopeRef::adopt(envelope));
            archive_(*envelope);
            count_bytes_if_large(*envelope);
        }
    }
    bool read_entry(Block& block) {
        const std::size_t index = in_.u8();
        const std::uint8_t flags = in_.u8();
        const std::uint64_t envelope = in_.varint();
        if (envelope > envelopes_.size()) return false;
        Entry entry;
        if (envelope > 0) entry.envelope = envelopes_[envelope - 1];
        entry.delivery_count = static_cast<std::uint32_t>(in_.varint());
        entry.acquired_count = static_cast<std::uint16_t>(in_.varint());
        entry.returned = (flags & EntryFlag::returned) != 0;
        entry.durable = durability_ == Durability::durable;
        Timestamp deadline = never;
        if ((flags & EntryFlag::deadline) != 0) {
            // Unsigned, so that invalid data does not overflow.
            last_deadline_.us =
                static_cast<std::int64_t>(static_cast<std::uint64_t>(last_deadline_.us) +
                                          static_cast<std::uint64_t>(in_.signed_varint()));
            deadline = last_deadline_;
        }
        entry.message = (flags & EntryFlag::whole) != 0 ? read_inline() : read_reference(flags);
        if (!entry.message || in_.failed() || index >= block_entries) return false;
        if (index < block.entries.size() && block.entries[index].state != EntryState::gone) {
            return false;
        }
        block.push(index, std::move(entry), deadline);
        return true;
    }
    MessageRef read_inline() {
        const std::string_view bytes = in_.bytes(stored_size(in_.rest()));
        return bytes.empty() ? MessageRef{} : decode_message(bytes, formats_, std::nullopt);
    }
    MessageRef read_reference(std::uint8_t flags) {
        const std::uint64_t route = in_.varint();
        if (route >= routes_.size()) return {};
        last_at_.value += static_cast<std::uint64_t>(in_.signed_varint());
        if (last_at_.value > INT64_MAX) return {};  // beyond any journal
        StubSizes sizes;
        sizes.properties = static_cast<std::uint32_t>(in_.varint());
        sizes.body = static_cast<std::uint32_t>(in_.varint());
        MessageHead head;
        head.format = find_format(formats_, routes_[route].format);
        head.persistent = (flags & EntryFlag::persistent) != 0;
        if ((flags & EntryFlag::priority) != 0) head.priority = in_.u8();
        if ((flags & EntryFlag::ttl) != 0) head.ttl_ms = static_cast<std::int64_t>(in_.varint());
        if ((flags & EntryFlag::keys) != 0) {
            archive_(head.extra_keys.cc);
            archive_(head.extra_keys.bcc);
        }
        if (head.format == nullptr || routes_[route].exchange.size() > 255 ||
            routes_[route].routing_key.size() > 255) {
            return {};
        }
        return make_stub(routes_[route].exchange, routes_[route].routing_key, sizes,
                         std::move(head), last_at_);
    }

    ReadArchive archive_;
    ByteReader& in_;
    const Durability durability_;
    const MessageFormats& formats_;
    std::vector<Route> routes_;
    std::vector<EnvelopeRef> envelopes_;
    Timestamp last_deadline_;
    Lsn last_at_;
};

}  // namespace

EncodedPage encode_page(const Block& block, Durability durability) {
    EncodedPage page;
    std::string entries;
    PageWriter writer(entries);
    for (std::size_t i = 0; i < block.entries.size(); ++i) {
        const Entry& entry = block.entries[i];
        if (entry.state == EntryState::gone ||
            entry.durable != (durability == Durability::durable)) {
            continue;
        }
        const Timestamp deadline = block.deadline(i);
        if (page.sum.live == 0) page.first = static_cast<std::uint16_t>(i);
        writer.add(i, entry, deadline);
        page.sum.add(*entry.message);
        page.earliest = std::min(page.earliest, deadline);
    }
    if (page.sum.live == 0) return page;
    page.bytes.assign(page_checksum_bytes, '\0');
    page.bytes.push_back(static_cast<char>(page_version));
    writer.write_dictionaries(page.bytes);
    page.bytes += entries;
    ByteWriter(page.bytes).patch_u32(0, page_checksum(page.bytes));
    return page;
}

bool is_page_intact(std::string_view bytes) {
    return bytes.size() > page_checksum_bytes && ByteReader(bytes).u32() == page_checksum(bytes);
}

bool decode_page(std::string_view bytes, Durability durability, const MessageFormats& formats,
                 Block& block) {
    if (!is_page_intact(bytes)) return false;
    return PageReader(bytes.substr(page_checksum_bytes), durability, formats).read_into(block);
}

}  // namespace revenant::engine
