#include "tests/support/frame_reader.h"

#include "amqp091/codec/spec.gen.h"
#include "amqp091/message/content.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace revenant::amqp091 {
namespace {

std::string hexadecimal(std::string_view bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string shown;
    for (const char byte : bytes) {
        const auto octet = static_cast<unsigned char>(byte);
        shown += digits[octet >> 4];
        shown += digits[octet & 15];
    }
    return shown;
}

// A short form of long bytes for a transcript: the start, and a hash for comparison.
std::string abridged(std::string_view bytes) {
    constexpr std::size_t shown_max = 48;
    if (bytes.size() <= shown_max) return hexadecimal(bytes);
    return hexadecimal(bytes.substr(0, shown_max)) + "... (" + std::to_string(bytes.size()) +
           " bytes, hash " + std::to_string(std::hash<std::string_view>{}(bytes)) + ")";
}

bool has_content(std::uint32_t key) {
    return key == BasicDeliver::key || key == BasicGetOk::key || key == BasicReturn::key;
}

}  // namespace

std::string Arrival::describe() const {
    std::string shown(method_name(class_id, method_id));
    if (const auto close = ChannelClose::decode(arguments);
        close && (key() == ChannelClose::key || key() == ConnectionClose::key)) {
        return shown + ' ' + std::to_string(close->reply_code) + " \"" +
               std::string(close->reply_text) + "\" " + std::to_string(close->failing_class_id) +
               '/' + std::to_string(close->failing_method_id);
    }
    shown += ' ' + abridged(arguments);
    if (has_content(key())) {
        shown += " properties " + abridged(properties) + " body " + abridged(body);
    }
    return shown;
}

std::optional<FrameReader::Read> FrameReader::blame(std::string fault) {
    fault_ = std::move(fault);
    return std::nullopt;
}

std::optional<FrameReader::Read> FrameReader::next() {
    while (fault_.empty()) {
        const std::string_view left = rest();
        // The greeting of a server that refuses the client's is not a frame.
        if (used_ == 0 && left.starts_with("AMQP")) return std::nullopt;
        const FrameResult cut = read_frame(left, 0);
        if (cut.outcome == FrameResult::Outcome::incomplete) return std::nullopt;
        if (cut.outcome != FrameResult::Outcome::frame) return blame("no frame");
        if (frame_max_ != 0 && cut.size > frame_max_) return blame("a frame beyond frame_max");
        used_ += cut.size;
        if (auto read = accept(cut.frame)) return read;
    }
    return std::nullopt;
}

std::optional<FrameReader::Read> FrameReader::accept(const Frame& frame) {
    switch (frame.type) {
        case FrameType::heartbeat:
            if (frame.channel != 0) return blame("a heartbeat of a channel");
            return Read{};
        case FrameType::method:
            return accept_method(frame);
        default:
            return accept_content(frame);
    }
}

std::optional<FrameReader::Read> FrameReader::accept_method(const Frame& frame) {
    const MethodPayload method = split_method(frame);
    const std::uint16_t channel = frame.channel;
    if (assemblies_.contains(channel)) return blame("a method inside a content");
    if (method_name(method.class_id, method.method_id).empty()) return blame("an unknown method");
    if ((channel == 0) != (method.class_id == ConnectionStart::class_id)) {
        return blame("a method on the wrong channel");
    }
    // Channel 0 opens with the first method; it also closes only once.
    const auto found = open_.find(channel);
    const bool was_closed = found != open_.end() && !found->second;
    const std::uint32_t key = method.key();
    const bool closes = key == ChannelClose::key || key == ConnectionClose::key;
    const bool closed = key == ChannelCloseOk::key || key == ConnectionCloseOk::key;
    const bool opens = key == ChannelOpenOk::key;
    if (was_closed && !opens && !closed) return blame("a method on a closed channel");
    if (channel != 0 && found == open_.end() && !opens) return blame("a method on no channel");
    open_[channel] = !closes && !closed;
    Arrival arrival{method.class_id, method.method_id, std::string(method.arguments), {}, {}, 0};
    if (!has_content(key)) return Read{channel, std::move(arrival)};
    assemblies_[channel].arrival = std::move(arrival);
    return std::nullopt;
}

std::optional<FrameReader::Read> FrameReader::accept_content(const Frame& frame) {
    const auto found = assemblies_.find(frame.channel);
    if (found == assemblies_.end()) return blame("a content without a method");
    Assembly& assembly = found->second;
    if (frame.type == FrameType::header) {
        const auto header = ContentHeader::decode(frame.payload);
        if (!header || assembly.has_header) return blame("a wrong content header");
        if (header->class_id != 60 || header->weight != 0) return blame("an odd content header");
        assembly.has_header = true;
        assembly.body_bytes_left = header->body_size;
        assembly.arrival.properties = std::string(header->properties);
    } else {
        if (!assembly.has_header) return blame("a body without a header");
        if (frame.payload.empty()) return blame("an empty body frame");
        if (frame.payload.size() > assembly.body_bytes_left) return blame("a body beyond its size");
        assembly.body_bytes_left -= frame.payload.size();
        assembly.arrival.body.append(frame.payload);
        assembly.arrival.body_frames += 1;
    }
    if (assembly.body_bytes_left > 0) return std::nullopt;
    Read read{frame.channel, std::move(assembly.arrival)};
    assemblies_.erase(found);
    return read;
}

std::vector<std::string> transcript(std::string_view received) {
    std::map<std::uint16_t, std::vector<std::string>> by_channel;
    std::map<std::uint16_t, std::vector<std::string>> confirms;
    std::map<std::uint16_t, std::uint64_t> confirmed;
    FrameReader reader;
    reader.add(received);
    while (const auto read = reader.next()) {
        if (!read->arrival) continue;
        const Arrival& arrival = *read->arrival;
        const std::uint16_t channel = read->channel;
        if (arrival.key() == ChannelOpenOk::key) confirmed[channel] = 0;
        const bool accepted = arrival.key() == BasicAck::key;
        if (!accepted && arrival.key() != BasicNack::key) {
            by_channel[channel].push_back(std::to_string(channel) + ": " + arrival.describe());
            continue;
        }
        const auto [tag, multiple] =
            accepted ? std::pair{BasicAck::decode(arrival.arguments)->delivery_tag,
                                 BasicAck::decode(arrival.arguments)->multiple}
                     : std::pair{BasicNack::decode(arrival.arguments)->delivery_tag,
                                 BasicNack::decode(arrival.arguments)->multiple};
        for (std::uint64_t n = multiple ? confirmed[channel] + 1 : tag; n <= tag; ++n) {
            confirms[channel].push_back(std::to_string(channel) +
                                        (accepted ? ": ack " : ": nack ") + std::to_string(n));
        }
        confirmed[channel] = tag;
    }
    std::vector<std::string> told;
    for (auto* part : {&by_channel, &confirms}) {
        for (auto& [channel, lines] : *part) {
            std::move(lines.begin(), lines.end(), std::back_inserter(told));
        }
    }
    if (!reader.fault().empty()) told.push_back("fault: " + reader.fault());
    if (!reader.rest().empty()) {
        const bool is_header = reader.rest().size() == 8 && reader.rest().starts_with("AMQP");
        told.push_back((is_header ? "header: " : "rest: ") + hexadecimal(reader.rest()));
    }
    return told;
}

std::string difference(std::string_view received, std::string_view wanted) {
    std::vector<std::string> got = transcript(received);
    std::vector<std::string> expected = transcript(wanted);
    const auto [ours, theirs] =
        std::mismatch(got.begin(), got.end(), expected.begin(), expected.end());
    if (ours == got.end() && theirs == expected.end()) return {};
    return "got " + (ours == got.end() ? "nothing" : *ours) + " instead of " +
           (theirs == expected.end() ? "nothing" : *theirs);
}

}  // namespace revenant::amqp091
