// Written by tools/gen_amqp10.py; change the table there.
#include "amqp10/codec/performatives.gen.h"

#include "amqp10/codec/descriptors.h"

namespace revenant::amqp10 {
namespace {

Raw unless_null(Raw raw) { return raw == "\x40" ? Raw{} : raw; }

template <typename Value>
void take(TypeReader& in, const std::optional<Value>& value, Value& field) {
    if (value) {
        field = *value;
    } else {
        in.fail();
    }
}

struct Named {
    std::string_view name;
    std::uint64_t code;
};
constexpr Named descriptors[] = {
    {"amqp:open:list", 0x10},
    {"amqp:begin:list", 0x11},
    {"amqp:attach:list", 0x12},
    {"amqp:flow:list", 0x13},
    {"amqp:transfer:list", 0x14},
    {"amqp:disposition:list", 0x15},
    {"amqp:detach:list", 0x16},
    {"amqp:end:list", 0x17},
    {"amqp:close:list", 0x18},
    {"amqp:error:list", 0x1d},
    {"amqp:received:list", 0x23},
    {"amqp:accepted:list", 0x24},
    {"amqp:rejected:list", 0x25},
    {"amqp:released:list", 0x26},
    {"amqp:modified:list", 0x27},
    {"amqp:source:list", 0x28},
    {"amqp:target:list", 0x29},
    {"amqp:delete-on-close:list", 0x2b},
    {"amqp:coordinator:list", 0x30},
    {"amqp:sasl-mechanisms:list", 0x40},
    {"amqp:sasl-init:list", 0x41},
    {"amqp:sasl-challenge:list", 0x42},
    {"amqp:sasl-response:list", 0x43},
    {"amqp:sasl-outcome:list", 0x44},
    {"amqp:header:list", 0x70},
    {"amqp:delivery-annotations:map", 0x71},
    {"amqp:message-annotations:map", 0x72},
    {"amqp:properties:list", 0x73},
    {"amqp:application-properties:map", 0x74},
    {"amqp:data:binary", 0x75},
    {"amqp:amqp-sequence:list", 0x76},
    {"amqp:amqp-value:*", 0x77},
    {"amqp:footer:map", 0x78},
};

}  // namespace

std::optional<std::uint64_t> descriptor_named(std::string_view name) {
    for (const Named& one : descriptors) {
        if (one.name == name) return one.code;
    }
    return std::nullopt;
}

std::optional<Open> Open::decode(const TypeReader::Items& items) {
    Open out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.string(), out.container_id);
    if (left > 0) {
        left -= 1;
        out.hostname = in.string();
    }
    if (left > 0) {
        left -= 1;
        out.max_frame_size = in.uint().value_or(out.max_frame_size);
    }
    if (left > 0) {
        left -= 1;
        out.channel_max = in.ushort().value_or(out.channel_max);
    }
    if (left > 0) {
        left -= 1;
        out.idle_time_out = in.uint();
    }
    if (left > 0) {
        left -= 1;
        out.outgoing_locales = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.incoming_locales = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.offered_capabilities = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.desired_capabilities = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.properties = unless_null(in.raw());
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Open::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 10;
    if (count == 10 && properties.empty()) count = 9;
    if (count == 9 && desired_capabilities.empty()) count = 8;
    if (count == 8 && offered_capabilities.empty()) count = 7;
    if (count == 7 && incoming_locales.empty()) count = 6;
    if (count == 6 && outgoing_locales.empty()) count = 5;
    if (count == 5 && !idle_time_out) count = 4;
    if (count == 4 && channel_max == 65535) count = 3;
    if (count == 3 && max_frame_size == 4294967295) count = 2;
    if (count == 2 && !hostname) count = 1;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        out.string(container_id);
    }
    if (count > 1) {
        !hostname ? out.null() : out.string(*hostname);
    }
    if (count > 2) {
        max_frame_size == 4294967295 ? out.null() : out.uint(max_frame_size);
    }
    if (count > 3) {
        channel_max == 65535 ? out.null() : out.ushort(channel_max);
    }
    if (count > 4) {
        !idle_time_out ? out.null() : out.uint(*idle_time_out);
    }
    if (count > 5) {
        outgoing_locales.empty() ? out.null() : out.raw(outgoing_locales);
    }
    if (count > 6) {
        incoming_locales.empty() ? out.null() : out.raw(incoming_locales);
    }
    if (count > 7) {
        offered_capabilities.empty() ? out.null() : out.raw(offered_capabilities);
    }
    if (count > 8) {
        desired_capabilities.empty() ? out.null() : out.raw(desired_capabilities);
    }
    if (count > 9) {
        properties.empty() ? out.null() : out.raw(properties);
    }
    out.end(list);
}

std::optional<Begin> Begin::decode(const TypeReader::Items& items) {
    Begin out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left > 0) {
        left -= 1;
        out.remote_channel = in.ushort();
    }
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.uint(), out.next_outgoing_id);
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.uint(), out.incoming_window);
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.uint(), out.outgoing_window);
    if (left > 0) {
        left -= 1;
        out.handle_max = in.uint().value_or(out.handle_max);
    }
    if (left > 0) {
        left -= 1;
        out.offered_capabilities = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.desired_capabilities = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.properties = unless_null(in.raw());
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Begin::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 8;
    if (count == 8 && properties.empty()) count = 7;
    if (count == 7 && desired_capabilities.empty()) count = 6;
    if (count == 6 && offered_capabilities.empty()) count = 5;
    if (count == 5 && handle_max == 4294967295) count = 4;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        !remote_channel ? out.null() : out.ushort(*remote_channel);
    }
    if (count > 1) {
        out.uint(next_outgoing_id);
    }
    if (count > 2) {
        out.uint(incoming_window);
    }
    if (count > 3) {
        out.uint(outgoing_window);
    }
    if (count > 4) {
        handle_max == 4294967295 ? out.null() : out.uint(handle_max);
    }
    if (count > 5) {
        offered_capabilities.empty() ? out.null() : out.raw(offered_capabilities);
    }
    if (count > 6) {
        desired_capabilities.empty() ? out.null() : out.raw(desired_capabilities);
    }
    if (count > 7) {
        properties.empty() ? out.null() : out.raw(properties);
    }
    out.end(list);
}

std::optional<Attach> Attach::decode(const TypeReader::Items& items) {
    Attach out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.string(), out.name);
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.uint(), out.handle);
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.boolean(), out.role);
    if (left > 0) {
        left -= 1;
        out.snd_settle_mode = in.ubyte().value_or(out.snd_settle_mode);
    }
    if (left > 0) {
        left -= 1;
        out.rcv_settle_mode = in.ubyte().value_or(out.rcv_settle_mode);
    }
    if (left > 0) {
        left -= 1;
        out.source = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.target = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.unsettled = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.incomplete_unsettled = in.boolean().value_or(out.incomplete_unsettled);
    }
    if (left > 0) {
        left -= 1;
        out.initial_delivery_count = in.uint();
    }
    if (left > 0) {
        left -= 1;
        out.max_message_size = in.ulong();
    }
    if (left > 0) {
        left -= 1;
        out.offered_capabilities = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.desired_capabilities = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.properties = unless_null(in.raw());
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Attach::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 14;
    if (count == 14 && properties.empty()) count = 13;
    if (count == 13 && desired_capabilities.empty()) count = 12;
    if (count == 12 && offered_capabilities.empty()) count = 11;
    if (count == 11 && !max_message_size) count = 10;
    if (count == 10 && !initial_delivery_count) count = 9;
    if (count == 9 && !incomplete_unsettled) count = 8;
    if (count == 8 && unsettled.empty()) count = 7;
    if (count == 7 && target.empty()) count = 6;
    if (count == 6 && source.empty()) count = 5;
    if (count == 5 && rcv_settle_mode == 0) count = 4;
    if (count == 4 && snd_settle_mode == 2) count = 3;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        out.string(name);
    }
    if (count > 1) {
        out.uint(handle);
    }
    if (count > 2) {
        out.boolean(role);
    }
    if (count > 3) {
        snd_settle_mode == 2 ? out.null() : out.ubyte(snd_settle_mode);
    }
    if (count > 4) {
        rcv_settle_mode == 0 ? out.null() : out.ubyte(rcv_settle_mode);
    }
    if (count > 5) {
        source.empty() ? out.null() : out.raw(source);
    }
    if (count > 6) {
        target.empty() ? out.null() : out.raw(target);
    }
    if (count > 7) {
        unsettled.empty() ? out.null() : out.raw(unsettled);
    }
    if (count > 8) {
        !incomplete_unsettled ? out.null() : out.boolean(incomplete_unsettled);
    }
    if (count > 9) {
        !initial_delivery_count ? out.null() : out.uint(*initial_delivery_count);
    }
    if (count > 10) {
        !max_message_size ? out.null() : out.ulong(*max_message_size);
    }
    if (count > 11) {
        offered_capabilities.empty() ? out.null() : out.raw(offered_capabilities);
    }
    if (count > 12) {
        desired_capabilities.empty() ? out.null() : out.raw(desired_capabilities);
    }
    if (count > 13) {
        properties.empty() ? out.null() : out.raw(properties);
    }
    out.end(list);
}

std::optional<Flow> Flow::decode(const TypeReader::Items& items) {
    Flow out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left > 0) {
        left -= 1;
        out.next_incoming_id = in.uint();
    }
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.uint(), out.incoming_window);
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.uint(), out.next_outgoing_id);
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.uint(), out.outgoing_window);
    if (left > 0) {
        left -= 1;
        out.handle = in.uint();
    }
    if (left > 0) {
        left -= 1;
        out.delivery_count = in.uint();
    }
    if (left > 0) {
        left -= 1;
        out.link_credit = in.uint();
    }
    if (left > 0) {
        left -= 1;
        out.available = in.uint();
    }
    if (left > 0) {
        left -= 1;
        out.drain = in.boolean().value_or(out.drain);
    }
    if (left > 0) {
        left -= 1;
        out.echo = in.boolean().value_or(out.echo);
    }
    if (left > 0) {
        left -= 1;
        out.properties = unless_null(in.raw());
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Flow::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 11;
    if (count == 11 && properties.empty()) count = 10;
    if (count == 10 && !echo) count = 9;
    if (count == 9 && !drain) count = 8;
    if (count == 8 && !available) count = 7;
    if (count == 7 && !link_credit) count = 6;
    if (count == 6 && !delivery_count) count = 5;
    if (count == 5 && !handle) count = 4;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        !next_incoming_id ? out.null() : out.uint(*next_incoming_id);
    }
    if (count > 1) {
        out.uint(incoming_window);
    }
    if (count > 2) {
        out.uint(next_outgoing_id);
    }
    if (count > 3) {
        out.uint(outgoing_window);
    }
    if (count > 4) {
        !handle ? out.null() : out.uint(*handle);
    }
    if (count > 5) {
        !delivery_count ? out.null() : out.uint(*delivery_count);
    }
    if (count > 6) {
        !link_credit ? out.null() : out.uint(*link_credit);
    }
    if (count > 7) {
        !available ? out.null() : out.uint(*available);
    }
    if (count > 8) {
        !drain ? out.null() : out.boolean(drain);
    }
    if (count > 9) {
        !echo ? out.null() : out.boolean(echo);
    }
    if (count > 10) {
        properties.empty() ? out.null() : out.raw(properties);
    }
    out.end(list);
}

std::optional<Transfer> Transfer::decode(const TypeReader::Items& items) {
    Transfer out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.uint(), out.handle);
    if (left > 0) {
        left -= 1;
        out.delivery_id = in.uint();
    }
    if (left > 0) {
        left -= 1;
        out.delivery_tag = in.binary();
    }
    if (left > 0) {
        left -= 1;
        out.message_format = in.uint();
    }
    if (left > 0) {
        left -= 1;
        out.settled = in.boolean();
    }
    if (left > 0) {
        left -= 1;
        out.more = in.boolean().value_or(out.more);
    }
    if (left > 0) {
        left -= 1;
        out.rcv_settle_mode = in.ubyte();
    }
    if (left > 0) {
        left -= 1;
        out.state = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.resume = in.boolean().value_or(out.resume);
    }
    if (left > 0) {
        left -= 1;
        out.aborted = in.boolean().value_or(out.aborted);
    }
    if (left > 0) {
        left -= 1;
        out.batchable = in.boolean().value_or(out.batchable);
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Transfer::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 11;
    if (count == 11 && !batchable) count = 10;
    if (count == 10 && !aborted) count = 9;
    if (count == 9 && !resume) count = 8;
    if (count == 8 && state.empty()) count = 7;
    if (count == 7 && !rcv_settle_mode) count = 6;
    if (count == 6 && !more) count = 5;
    if (count == 5 && !settled) count = 4;
    if (count == 4 && !message_format) count = 3;
    if (count == 3 && !delivery_tag) count = 2;
    if (count == 2 && !delivery_id) count = 1;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        out.uint(handle);
    }
    if (count > 1) {
        !delivery_id ? out.null() : out.uint(*delivery_id);
    }
    if (count > 2) {
        !delivery_tag ? out.null() : out.binary(*delivery_tag);
    }
    if (count > 3) {
        !message_format ? out.null() : out.uint(*message_format);
    }
    if (count > 4) {
        !settled ? out.null() : out.boolean(*settled);
    }
    if (count > 5) {
        !more ? out.null() : out.boolean(more);
    }
    if (count > 6) {
        !rcv_settle_mode ? out.null() : out.ubyte(*rcv_settle_mode);
    }
    if (count > 7) {
        state.empty() ? out.null() : out.raw(state);
    }
    if (count > 8) {
        !resume ? out.null() : out.boolean(resume);
    }
    if (count > 9) {
        !aborted ? out.null() : out.boolean(aborted);
    }
    if (count > 10) {
        !batchable ? out.null() : out.boolean(batchable);
    }
    out.end(list);
}

std::optional<Disposition> Disposition::decode(const TypeReader::Items& items) {
    Disposition out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.boolean(), out.role);
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.uint(), out.first);
    if (left > 0) {
        left -= 1;
        out.last = in.uint();
    }
    if (left > 0) {
        left -= 1;
        out.settled = in.boolean().value_or(out.settled);
    }
    if (left > 0) {
        left -= 1;
        out.state = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.batchable = in.boolean().value_or(out.batchable);
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Disposition::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 6;
    if (count == 6 && !batchable) count = 5;
    if (count == 5 && state.empty()) count = 4;
    if (count == 4 && !settled) count = 3;
    if (count == 3 && !last) count = 2;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        out.boolean(role);
    }
    if (count > 1) {
        out.uint(first);
    }
    if (count > 2) {
        !last ? out.null() : out.uint(*last);
    }
    if (count > 3) {
        !settled ? out.null() : out.boolean(settled);
    }
    if (count > 4) {
        state.empty() ? out.null() : out.raw(state);
    }
    if (count > 5) {
        !batchable ? out.null() : out.boolean(batchable);
    }
    out.end(list);
}

std::optional<Detach> Detach::decode(const TypeReader::Items& items) {
    Detach out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.uint(), out.handle);
    if (left > 0) {
        left -= 1;
        out.closed = in.boolean().value_or(out.closed);
    }
    if (left > 0) {
        left -= 1;
        out.error = unless_null(in.raw());
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Detach::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 3;
    if (count == 3 && error.empty()) count = 2;
    if (count == 2 && !closed) count = 1;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        out.uint(handle);
    }
    if (count > 1) {
        !closed ? out.null() : out.boolean(closed);
    }
    if (count > 2) {
        error.empty() ? out.null() : out.raw(error);
    }
    out.end(list);
}

std::optional<End> End::decode(const TypeReader::Items& items) {
    End out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left > 0) {
        left -= 1;
        out.error = unless_null(in.raw());
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void End::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 1;
    if (count == 1 && error.empty()) count = 0;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        error.empty() ? out.null() : out.raw(error);
    }
    out.end(list);
}

std::optional<Close> Close::decode(const TypeReader::Items& items) {
    Close out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left > 0) {
        left -= 1;
        out.error = unless_null(in.raw());
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Close::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 1;
    if (count == 1 && error.empty()) count = 0;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        error.empty() ? out.null() : out.raw(error);
    }
    out.end(list);
}

std::optional<Error> Error::decode(const TypeReader::Items& items) {
    Error out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.symbol(), out.condition);
    if (left > 0) {
        left -= 1;
        out.description = in.string();
    }
    if (left > 0) {
        left -= 1;
        out.info = unless_null(in.raw());
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Error::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 3;
    if (count == 3 && info.empty()) count = 2;
    if (count == 2 && !description) count = 1;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        out.symbol(condition);
    }
    if (count > 1) {
        !description ? out.null() : out.string(*description);
    }
    if (count > 2) {
        info.empty() ? out.null() : out.raw(info);
    }
    out.end(list);
}

std::optional<Received> Received::decode(const TypeReader::Items& items) {
    Received out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.uint(), out.section_number);
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.ulong(), out.section_offset);
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Received::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 2;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        out.uint(section_number);
    }
    if (count > 1) {
        out.ulong(section_offset);
    }
    out.end(list);
}

std::optional<Accepted> Accepted::decode(const TypeReader::Items&) { return Accepted{}; }

void Accepted::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    out.datum(Datum::list({}));
}

std::optional<Rejected> Rejected::decode(const TypeReader::Items& items) {
    Rejected out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left > 0) {
        left -= 1;
        out.error = unless_null(in.raw());
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Rejected::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 1;
    if (count == 1 && error.empty()) count = 0;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        error.empty() ? out.null() : out.raw(error);
    }
    out.end(list);
}

std::optional<Released> Released::decode(const TypeReader::Items&) { return Released{}; }

void Released::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    out.datum(Datum::list({}));
}

std::optional<Modified> Modified::decode(const TypeReader::Items& items) {
    Modified out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left > 0) {
        left -= 1;
        out.delivery_failed = in.boolean().value_or(out.delivery_failed);
    }
    if (left > 0) {
        left -= 1;
        out.undeliverable_here = in.boolean().value_or(out.undeliverable_here);
    }
    if (left > 0) {
        left -= 1;
        out.message_annotations = unless_null(in.raw());
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Modified::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 3;
    if (count == 3 && message_annotations.empty()) count = 2;
    if (count == 2 && !undeliverable_here) count = 1;
    if (count == 1 && !delivery_failed) count = 0;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        !delivery_failed ? out.null() : out.boolean(delivery_failed);
    }
    if (count > 1) {
        !undeliverable_here ? out.null() : out.boolean(undeliverable_here);
    }
    if (count > 2) {
        message_annotations.empty() ? out.null() : out.raw(message_annotations);
    }
    out.end(list);
}

std::optional<Source> Source::decode(const TypeReader::Items& items) {
    Source out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left > 0) {
        left -= 1;
        out.address = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.durable = in.uint().value_or(out.durable);
    }
    if (left > 0) {
        left -= 1;
        out.expiry_policy = in.symbol();
    }
    if (left > 0) {
        left -= 1;
        out.timeout = in.uint().value_or(out.timeout);
    }
    if (left > 0) {
        left -= 1;
        out.dynamic = in.boolean().value_or(out.dynamic);
    }
    if (left > 0) {
        left -= 1;
        out.dynamic_node_properties = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.distribution_mode = in.symbol();
    }
    if (left > 0) {
        left -= 1;
        out.filter = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.default_outcome = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.outcomes = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.capabilities = unless_null(in.raw());
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Source::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 11;
    if (count == 11 && capabilities.empty()) count = 10;
    if (count == 10 && outcomes.empty()) count = 9;
    if (count == 9 && default_outcome.empty()) count = 8;
    if (count == 8 && filter.empty()) count = 7;
    if (count == 7 && !distribution_mode) count = 6;
    if (count == 6 && dynamic_node_properties.empty()) count = 5;
    if (count == 5 && !dynamic) count = 4;
    if (count == 4 && timeout == 0) count = 3;
    if (count == 3 && !expiry_policy) count = 2;
    if (count == 2 && durable == 0) count = 1;
    if (count == 1 && address.empty()) count = 0;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        address.empty() ? out.null() : out.raw(address);
    }
    if (count > 1) {
        durable == 0 ? out.null() : out.uint(durable);
    }
    if (count > 2) {
        !expiry_policy ? out.null() : out.symbol(*expiry_policy);
    }
    if (count > 3) {
        timeout == 0 ? out.null() : out.uint(timeout);
    }
    if (count > 4) {
        !dynamic ? out.null() : out.boolean(dynamic);
    }
    if (count > 5) {
        dynamic_node_properties.empty() ? out.null() : out.raw(dynamic_node_properties);
    }
    if (count > 6) {
        !distribution_mode ? out.null() : out.symbol(*distribution_mode);
    }
    if (count > 7) {
        filter.empty() ? out.null() : out.raw(filter);
    }
    if (count > 8) {
        default_outcome.empty() ? out.null() : out.raw(default_outcome);
    }
    if (count > 9) {
        outcomes.empty() ? out.null() : out.raw(outcomes);
    }
    if (count > 10) {
        capabilities.empty() ? out.null() : out.raw(capabilities);
    }
    out.end(list);
}

std::optional<Target> Target::decode(const TypeReader::Items& items) {
    Target out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left > 0) {
        left -= 1;
        out.address = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.durable = in.uint().value_or(out.durable);
    }
    if (left > 0) {
        left -= 1;
        out.expiry_policy = in.symbol();
    }
    if (left > 0) {
        left -= 1;
        out.timeout = in.uint().value_or(out.timeout);
    }
    if (left > 0) {
        left -= 1;
        out.dynamic = in.boolean().value_or(out.dynamic);
    }
    if (left > 0) {
        left -= 1;
        out.dynamic_node_properties = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.capabilities = unless_null(in.raw());
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Target::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 7;
    if (count == 7 && capabilities.empty()) count = 6;
    if (count == 6 && dynamic_node_properties.empty()) count = 5;
    if (count == 5 && !dynamic) count = 4;
    if (count == 4 && timeout == 0) count = 3;
    if (count == 3 && !expiry_policy) count = 2;
    if (count == 2 && durable == 0) count = 1;
    if (count == 1 && address.empty()) count = 0;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        address.empty() ? out.null() : out.raw(address);
    }
    if (count > 1) {
        durable == 0 ? out.null() : out.uint(durable);
    }
    if (count > 2) {
        !expiry_policy ? out.null() : out.symbol(*expiry_policy);
    }
    if (count > 3) {
        timeout == 0 ? out.null() : out.uint(timeout);
    }
    if (count > 4) {
        !dynamic ? out.null() : out.boolean(dynamic);
    }
    if (count > 5) {
        dynamic_node_properties.empty() ? out.null() : out.raw(dynamic_node_properties);
    }
    if (count > 6) {
        capabilities.empty() ? out.null() : out.raw(capabilities);
    }
    out.end(list);
}

std::optional<SaslMechanisms> SaslMechanisms::decode(const TypeReader::Items& items) {
    SaslMechanisms out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left > 0) {
        left -= 1;
        out.sasl_server_mechanisms = unless_null(in.raw());
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void SaslMechanisms::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 1;
    if (count == 1 && sasl_server_mechanisms.empty()) count = 0;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        sasl_server_mechanisms.empty() ? out.null() : out.raw(sasl_server_mechanisms);
    }
    out.end(list);
}

std::optional<SaslInit> SaslInit::decode(const TypeReader::Items& items) {
    SaslInit out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.symbol(), out.mechanism);
    if (left > 0) {
        left -= 1;
        out.initial_response = in.binary();
    }
    if (left > 0) {
        left -= 1;
        out.hostname = in.string();
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void SaslInit::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 3;
    if (count == 3 && !hostname) count = 2;
    if (count == 2 && !initial_response) count = 1;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        out.symbol(mechanism);
    }
    if (count > 1) {
        !initial_response ? out.null() : out.binary(*initial_response);
    }
    if (count > 2) {
        !hostname ? out.null() : out.string(*hostname);
    }
    out.end(list);
}

std::optional<SaslChallenge> SaslChallenge::decode(const TypeReader::Items& items) {
    SaslChallenge out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.binary(), out.challenge);
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void SaslChallenge::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 1;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        out.binary(challenge);
    }
    out.end(list);
}

std::optional<SaslResponse> SaslResponse::decode(const TypeReader::Items& items) {
    SaslResponse out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.binary(), out.response);
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void SaslResponse::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 1;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        out.binary(response);
    }
    out.end(list);
}

std::optional<SaslOutcome> SaslOutcome::decode(const TypeReader::Items& items) {
    SaslOutcome out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left == 0) return std::nullopt;
    left -= 1;
    take(in, in.ubyte(), out.code);
    if (left > 0) {
        left -= 1;
        out.additional_data = in.binary();
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void SaslOutcome::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 2;
    if (count == 2 && !additional_data) count = 1;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        out.ubyte(code);
    }
    if (count > 1) {
        !additional_data ? out.null() : out.binary(*additional_data);
    }
    out.end(list);
}

std::optional<Header> Header::decode(const TypeReader::Items& items) {
    Header out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left > 0) {
        left -= 1;
        out.durable = in.boolean().value_or(out.durable);
    }
    if (left > 0) {
        left -= 1;
        out.priority = in.ubyte();
    }
    if (left > 0) {
        left -= 1;
        out.ttl = in.uint();
    }
    if (left > 0) {
        left -= 1;
        out.first_acquirer = in.boolean().value_or(out.first_acquirer);
    }
    if (left > 0) {
        left -= 1;
        out.delivery_count = in.uint().value_or(out.delivery_count);
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Header::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 5;
    if (count == 5 && delivery_count == 0) count = 4;
    if (count == 4 && !first_acquirer) count = 3;
    if (count == 3 && !ttl) count = 2;
    if (count == 2 && !priority) count = 1;
    if (count == 1 && !durable) count = 0;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        !durable ? out.null() : out.boolean(durable);
    }
    if (count > 1) {
        !priority ? out.null() : out.ubyte(*priority);
    }
    if (count > 2) {
        !ttl ? out.null() : out.uint(*ttl);
    }
    if (count > 3) {
        !first_acquirer ? out.null() : out.boolean(first_acquirer);
    }
    if (count > 4) {
        delivery_count == 0 ? out.null() : out.uint(delivery_count);
    }
    out.end(list);
}

std::optional<Properties> Properties::decode(const TypeReader::Items& items) {
    Properties out;
    TypeReader in(items.bytes);
    std::uint32_t left = items.count;
    if (left > 0) {
        left -= 1;
        out.message_id = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.user_id = in.binary();
    }
    if (left > 0) {
        left -= 1;
        out.to = in.string();
    }
    if (left > 0) {
        left -= 1;
        out.subject = in.string();
    }
    if (left > 0) {
        left -= 1;
        out.reply_to = in.string();
    }
    if (left > 0) {
        left -= 1;
        out.correlation_id = unless_null(in.raw());
    }
    if (left > 0) {
        left -= 1;
        out.content_type = in.symbol();
    }
    if (left > 0) {
        left -= 1;
        out.content_encoding = in.symbol();
    }
    if (left > 0) {
        left -= 1;
        out.absolute_expiry_time = in.timestamp();
    }
    if (left > 0) {
        left -= 1;
        out.creation_time = in.timestamp();
    }
    if (left > 0) {
        left -= 1;
        out.group_id = in.string();
    }
    if (left > 0) {
        left -= 1;
        out.group_sequence = in.uint();
    }
    if (left > 0) {
        left -= 1;
        out.reply_to_group_id = in.string();
    }
    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;
    return out;
}

void Properties::encode(TypeWriter& out) const {
    out.descriptor(descriptor_code);
    std::uint32_t count = 13;
    if (count == 13 && !reply_to_group_id) count = 12;
    if (count == 12 && !group_sequence) count = 11;
    if (count == 11 && !group_id) count = 10;
    if (count == 10 && !creation_time) count = 9;
    if (count == 9 && !absolute_expiry_time) count = 8;
    if (count == 8 && !content_encoding) count = 7;
    if (count == 7 && !content_type) count = 6;
    if (count == 6 && correlation_id.empty()) count = 5;
    if (count == 5 && !reply_to) count = 4;
    if (count == 4 && !subject) count = 3;
    if (count == 3 && !to) count = 2;
    if (count == 2 && !user_id) count = 1;
    if (count == 1 && message_id.empty()) count = 0;
    TypeWriter::Open list = out.begin_list();
    list.count = count;
    if (count > 0) {
        message_id.empty() ? out.null() : out.raw(message_id);
    }
    if (count > 1) {
        !user_id ? out.null() : out.binary(*user_id);
    }
    if (count > 2) {
        !to ? out.null() : out.string(*to);
    }
    if (count > 3) {
        !subject ? out.null() : out.string(*subject);
    }
    if (count > 4) {
        !reply_to ? out.null() : out.string(*reply_to);
    }
    if (count > 5) {
        correlation_id.empty() ? out.null() : out.raw(correlation_id);
    }
    if (count > 6) {
        !content_type ? out.null() : out.symbol(*content_type);
    }
    if (count > 7) {
        !content_encoding ? out.null() : out.symbol(*content_encoding);
    }
    if (count > 8) {
        !absolute_expiry_time ? out.null() : out.timestamp(*absolute_expiry_time);
    }
    if (count > 9) {
        !creation_time ? out.null() : out.timestamp(*creation_time);
    }
    if (count > 10) {
        !group_id ? out.null() : out.string(*group_id);
    }
    if (count > 11) {
        !group_sequence ? out.null() : out.uint(*group_sequence);
    }
    if (count > 12) {
        !reply_to_group_id ? out.null() : out.string(*reply_to_group_id);
    }
    out.end(list);
}

}  // namespace revenant::amqp10
