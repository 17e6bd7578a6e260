// Written by tools/gen_amqp10.py; change the table there.
#pragma once

#include "amqp10/codec/type_reader.h"
#include "amqp10/codec/type_writer.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace revenant::amqp10 {

// The fields of each in the order of the wire. Text and raw values stay in the bytes they were read from.

struct Open {
    static constexpr std::uint64_t descriptor_code = 0x10;
    std::string_view container_id;
    std::optional<std::string_view> hostname;
    std::uint32_t max_frame_size = 4294967295;
    std::uint16_t channel_max = 65535;
    std::optional<std::uint32_t> idle_time_out;
    Raw outgoing_locales;
    Raw incoming_locales;
    Raw offered_capabilities;
    Raw desired_capabilities;
    Raw properties;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Open> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Begin {
    static constexpr std::uint64_t descriptor_code = 0x11;
    std::optional<std::uint16_t> remote_channel;
    std::uint32_t next_outgoing_id = 0;
    std::uint32_t incoming_window = 0;
    std::uint32_t outgoing_window = 0;
    std::uint32_t handle_max = 4294967295;
    Raw offered_capabilities;
    Raw desired_capabilities;
    Raw properties;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Begin> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Attach {
    static constexpr std::uint64_t descriptor_code = 0x12;
    std::string_view name;
    std::uint32_t handle = 0;
    bool role = false;
    std::uint8_t snd_settle_mode = 2;
    std::uint8_t rcv_settle_mode = 0;
    Raw source;
    Raw target;
    Raw unsettled;
    bool incomplete_unsettled = false;
    std::optional<std::uint32_t> initial_delivery_count;
    std::optional<std::uint64_t> max_message_size;
    Raw offered_capabilities;
    Raw desired_capabilities;
    Raw properties;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Attach> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Flow {
    static constexpr std::uint64_t descriptor_code = 0x13;
    std::optional<std::uint32_t> next_incoming_id;
    std::uint32_t incoming_window = 0;
    std::uint32_t next_outgoing_id = 0;
    std::uint32_t outgoing_window = 0;
    std::optional<std::uint32_t> handle;
    std::optional<std::uint32_t> delivery_count;
    std::optional<std::uint32_t> link_credit;
    std::optional<std::uint32_t> available;
    bool drain = false;
    bool echo = false;
    Raw properties;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Flow> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Transfer {
    static constexpr std::uint64_t descriptor_code = 0x14;
    std::uint32_t handle = 0;
    std::optional<std::uint32_t> delivery_id;
    std::optional<std::string_view> delivery_tag;
    std::optional<std::uint32_t> message_format;
    std::optional<bool> settled;
    bool more = false;
    std::optional<std::uint8_t> rcv_settle_mode;
    Raw state;
    bool resume = false;
    bool aborted = false;
    bool batchable = false;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Transfer> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Disposition {
    static constexpr std::uint64_t descriptor_code = 0x15;
    bool role = false;
    std::uint32_t first = 0;
    std::optional<std::uint32_t> last;
    bool settled = false;
    Raw state;
    bool batchable = false;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Disposition> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Detach {
    static constexpr std::uint64_t descriptor_code = 0x16;
    std::uint32_t handle = 0;
    bool closed = false;
    Raw error;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Detach> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct End {
    static constexpr std::uint64_t descriptor_code = 0x17;
    Raw error;
    // Of a list's items; nothing if they are wrong.
    static std::optional<End> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Close {
    static constexpr std::uint64_t descriptor_code = 0x18;
    Raw error;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Close> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Error {
    static constexpr std::uint64_t descriptor_code = 0x1d;
    std::string_view condition;
    std::optional<std::string_view> description;
    Raw info;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Error> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Received {
    static constexpr std::uint64_t descriptor_code = 0x23;
    std::uint32_t section_number = 0;
    std::uint64_t section_offset = 0;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Received> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Accepted {
    static constexpr std::uint64_t descriptor_code = 0x24;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Accepted> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Rejected {
    static constexpr std::uint64_t descriptor_code = 0x25;
    Raw error;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Rejected> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Released {
    static constexpr std::uint64_t descriptor_code = 0x26;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Released> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Modified {
    static constexpr std::uint64_t descriptor_code = 0x27;
    bool delivery_failed = false;
    bool undeliverable_here = false;
    Raw message_annotations;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Modified> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Source {
    static constexpr std::uint64_t descriptor_code = 0x28;
    Raw address;
    std::uint32_t durable = 0;
    std::optional<std::string_view> expiry_policy;
    std::uint32_t timeout = 0;
    bool dynamic = false;
    Raw dynamic_node_properties;
    std::optional<std::string_view> distribution_mode;
    Raw filter;
    Raw default_outcome;
    Raw outcomes;
    Raw capabilities;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Source> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Target {
    static constexpr std::uint64_t descriptor_code = 0x29;
    Raw address;
    std::uint32_t durable = 0;
    std::optional<std::string_view> expiry_policy;
    std::uint32_t timeout = 0;
    bool dynamic = false;
    Raw dynamic_node_properties;
    Raw capabilities;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Target> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct SaslMechanisms {
    static constexpr std::uint64_t descriptor_code = 0x40;
    Raw sasl_server_mechanisms;
    // Of a list's items; nothing if they are wrong.
    static std::optional<SaslMechanisms> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct SaslInit {
    static constexpr std::uint64_t descriptor_code = 0x41;
    std::string_view mechanism;
    std::optional<std::string_view> initial_response;
    std::optional<std::string_view> hostname;
    // Of a list's items; nothing if they are wrong.
    static std::optional<SaslInit> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct SaslChallenge {
    static constexpr std::uint64_t descriptor_code = 0x42;
    std::string_view challenge;
    // Of a list's items; nothing if they are wrong.
    static std::optional<SaslChallenge> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct SaslResponse {
    static constexpr std::uint64_t descriptor_code = 0x43;
    std::string_view response;
    // Of a list's items; nothing if they are wrong.
    static std::optional<SaslResponse> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct SaslOutcome {
    static constexpr std::uint64_t descriptor_code = 0x44;
    std::uint8_t code = 0;
    std::optional<std::string_view> additional_data;
    // Of a list's items; nothing if they are wrong.
    static std::optional<SaslOutcome> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Header {
    static constexpr std::uint64_t descriptor_code = 0x70;
    bool durable = false;
    std::optional<std::uint8_t> priority;
    std::optional<std::uint32_t> ttl;
    bool first_acquirer = false;
    std::uint32_t delivery_count = 0;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Header> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

struct Properties {
    static constexpr std::uint64_t descriptor_code = 0x73;
    Raw message_id;
    std::optional<std::string_view> user_id;
    std::optional<std::string_view> to;
    std::optional<std::string_view> subject;
    std::optional<std::string_view> reply_to;
    Raw correlation_id;
    std::optional<std::string_view> content_type;
    std::optional<std::string_view> content_encoding;
    std::optional<std::int64_t> absolute_expiry_time;
    std::optional<std::int64_t> creation_time;
    std::optional<std::string_view> group_id;
    std::optional<std::uint32_t> group_sequence;
    std::optional<std::string_view> reply_to_group_id;
    // Of a list's items; nothing if they are wrong.
    static std::optional<Properties> decode(const TypeReader::Items& items);
    void encode(TypeWriter& out) const;
};

}  // namespace revenant::amqp10
