#include "tests/support/frame_reader10.h"

#include "amqp10/codec/performatives.gen.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace revenant::amqp10 {
namespace {

constexpr std::size_t header_bytes = 8;

std::string name_of(std::uint64_t code) {
    static const std::map<std::uint64_t, std::string> names = {
        {Open::descriptor_code, "open"},
        {Begin::descriptor_code, "begin"},
        {Attach::descriptor_code, "attach"},
        {Flow::descriptor_code, "flow"},
        {Transfer::descriptor_code, "transfer"},
        {Disposition::descriptor_code, "disposition"},
        {Detach::descriptor_code, "detach"},
        {End::descriptor_code, "end"},
        {Close::descriptor_code, "close"},
        {SaslMechanisms::descriptor_code, "sasl-mechanisms"},
        {SaslInit::descriptor_code, "sasl-init"},
        {SaslOutcome::descriptor_code, "sasl-outcome"},
    };
    const auto found = names.find(code);
    return found == names.end() ? "performative " + std::to_string(code) : found->second;
}

std::string printable(std::string_view bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        if (c >= ' ' && c <= '~') {
            text += c;
            continue;
        }
        const auto octet = static_cast<unsigned char>(c);
        text += std::string("\\x") + digits[octet >> 4] + digits[octet & 0xf];
    }
    return text;
}

std::string joined(const Data& elements) {
    std::string text;
    for (const Datum& element : elements) text += (text.empty() ? "" : ", ") + text_of(element);
    return text;
}

// A session flow without a link: its numbers depend on when it was sent.
bool is_session_flow(const Arrival& arrival) {
    if (arrival.code() != Flow::descriptor_code) return false;
    const auto flow = Flow::decode(arrival.items());
    return flow && !flow->handle;
}

// A link's flow without the numbers of its session.
std::string told_flow(const Arrival& arrival) {
    const auto flow = Flow::decode(arrival.items());
    if (!flow) return arrival.describe();
    return "flow of " + std::to_string(flow->handle.value_or(0)) + ": count " +
           std::to_string(flow->delivery_count.value_or(0)) + ", credit " +
           std::to_string(flow->link_credit.value_or(0)) + ", available " +
           std::to_string(flow->available.value_or(0)) + (flow->drain ? ", drained" : "");
}

void tell_dispositions(const Arrival& arrival, std::vector<std::string>& lines) {
    const auto told = Disposition::decode(arrival.items());
    if (!told) return lines.push_back(arrival.describe());
    for (std::uint32_t id = told->first; id != told->last.value_or(told->first) + 1; ++id) {
        lines.push_back(std::to_string(arrival.channel) + ": disposition of " + std::to_string(id) +
                        (told->role ? " received" : " sent") + (told->settled ? " settled " : " ") +
                        printable(told->state));
    }
}

}  // namespace

std::string text_of(const Datum& datum) {
    switch (datum.type) {
        case Type::null:
            return "null";
        case Type::boolean:
            return *datum.as_boolean() ? "true" : "false";
        case Type::list:
            return "[" + joined(*datum.as_elements()) + "]";
        case Type::array:
            return "array[" + joined(*datum.as_elements()) + "]";
        case Type::described:
            return "@(" + joined(*datum.as_elements()) + ")";
        case Type::map: {
            std::string text;
            for (const MapEntry& entry : *datum.as_map()) {
                text +=
                    (text.empty() ? "" : ", ") + text_of(entry.key) + ": " + text_of(entry.value);
            }
            return "{" + text + "}";
        }
        default:
            break;
    }
    if (const auto* number = datum.as_unsigned()) return std::to_string(*number);
    if (const auto* number = datum.as_signed()) return std::to_string(*number);
    if (const auto* number = std::get_if<double>(&datum.content)) return std::to_string(*number);
    const auto* const bytes = std::get_if<std::string>(&datum.content);
    return bytes == nullptr ? "?" : "'" + printable(*bytes) + "'";
}

std::string text_in(Raw field) {
    TypeReader in(field);
    return text_of(in.datum());
}

std::uint64_t Arrival::code() const {
    if (is_header || body.empty()) return 0;
    TypeReader in(body);
    return in.descriptor().value_or(0);
}

TypeReader::Items Arrival::items() const {
    TypeReader in(body);
    in.descriptor();
    return in.list().value_or(TypeReader::Items{});
}

std::string_view Arrival::payload() const {
    TypeReader in(body);
    in.descriptor();
    in.list();
    return in.failed() ? std::string_view{} : in.rest();
}

std::string Arrival::describe() const {
    if (is_header) return "header " + printable(body);
    if (is_heartbeat()) return "heartbeat";
    TypeReader in(body);
    const auto code = in.descriptor();
    const Datum fields = in.datum();
    if (in.failed() || !code) return "unreadable " + printable(body);
    std::string text = name_of(*code) + " " + text_of(fields);
    if (!in.rest().empty()) {
        text += " and " + std::to_string(in.rest().size()) +
                " bytes: " + printable(in.rest().substr(0, 600));
    }
    return text;
}

std::optional<Arrival> FrameReader::blame(std::string fault) {
    fault_ = std::move(fault);
    return std::nullopt;
}

std::optional<Arrival> FrameReader::next() {
    if (!fault_.empty()) return std::nullopt;
    const std::string_view bytes = rest();
    if (bytes.size() < header_bytes) return std::nullopt;
    if (bytes.starts_with("AMQP")) {
        Arrival header{FrameType::amqp, 0, std::string(bytes.substr(0, header_bytes)), true};
        used_ += header_bytes;
        return header;
    }
    const auto type = static_cast<FrameType>(bytes[5]);
    const FrameOutcome outcome = read_frame(bytes, frame_max_, type);
    if (std::holds_alternative<FrameIncomplete>(outcome)) return std::nullopt;
    if (const auto* error = std::get_if<FrameError>(&outcome)) return blame(error->text);
    const Frame& frame = std::get<Frame>(outcome);
    if (type != FrameType::amqp && type != FrameType::sasl) return blame("a frame of no type");
    Arrival arrival{type, frame.channel, std::string(frame.body), false};
    used_ += frame_size(bytes);
    return accept(std::move(arrival));
}

std::optional<Arrival> FrameReader::accept(Arrival arrival) {
    if (arrival.is_heartbeat()) return arrival;
    TypeReader in(arrival.body);
    const auto code = in.descriptor();
    const auto items = in.list();
    if (in.failed() || !code || !items) return blame("a frame without a performative");
    if (arrival.type == FrameType::sasl) return arrival;
    if (*code == Open::descriptor_code || *code == Close::descriptor_code) return arrival;
    bool& begun = begun_[arrival.channel];
    if (*code == Begin::descriptor_code) {
        if (begun) return blame("a session that begins twice");
        begun = true;
        attached_[arrival.channel].clear();
        return arrival;
    }
    if (!begun) return blame(arrival.describe() + " for no session");
    if (*code == End::descriptor_code) begun = false;
    if (*code != Transfer::descriptor_code && !in.rest().empty()) {
        return blame("a payload behind " + arrival.describe());
    }
    return accept_of_link(std::move(arrival), *code);
}

// A link is attached before any other frame refers to it, and only once.
std::optional<Arrival> FrameReader::accept_of_link(Arrival arrival, std::uint64_t code) {
    std::set<std::uint32_t>& attached = attached_[arrival.channel];
    std::optional<std::uint32_t> handle;
    if (code == Attach::descriptor_code) {
        const auto attach = Attach::decode(arrival.items());
        if (!attach || !attached.insert(attach->handle).second) {
            return blame("attached twice: " + arrival.describe());
        }
        return arrival;
    }
    if (code == Flow::descriptor_code) {
        const auto flow = Flow::decode(arrival.items());
        if (flow) handle = flow->handle;
    } else if (code == Transfer::descriptor_code) {
        const auto transfer = Transfer::decode(arrival.items());
        if (transfer) handle = transfer->handle;
    } else if (code == Detach::descriptor_code) {
        const auto detach = Detach::decode(arrival.items());
        if (detach) handle = detach->handle;
    }
    if (handle && !attached.contains(*handle)) {
        return blame("without an attach: " + arrival.describe());
    }
    if (code == Detach::descriptor_code && handle) attached.erase(*handle);
    return arrival;
}

std::vector<std::string> transcript(std::string_view received) {
    std::map<std::uint16_t, std::vector<std::string>> by_channel;
    std::map<std::uint16_t, std::vector<std::string>> dispositions;
    FrameReader reader;
    reader.add(received);
    while (const auto arrival = reader.next()) {
        if (arrival->is_heartbeat() || is_session_flow(*arrival)) continue;
        auto& lines = by_channel[arrival->channel];
        const std::string channel = std::to_string(arrival->channel) + ": ";
        switch (arrival->code()) {
            case Disposition::descriptor_code:
                tell_dispositions(*arrival, dispositions[arrival->channel]);
                break;
            case Flow::descriptor_code:
                lines.push_back(channel + told_flow(*arrival));
                break;
            default:
                lines.push_back(channel + arrival->describe());
                break;
        }
    }
    std::vector<std::string> told;
    for (auto* part : {&by_channel, &dispositions}) {
        for (auto& [channel, lines] : *part) {
            std::move(lines.begin(), lines.end(), std::back_inserter(told));
        }
    }
    if (!reader.fault().empty()) told.push_back("fault: " + reader.fault());
    if (!reader.rest().empty()) told.push_back("rest: " + printable(reader.rest()));
    return told;
}

std::string difference(std::string_view received, std::string_view wanted) {
    const std::vector<std::string> got = transcript(received);
    const std::vector<std::string> expected = transcript(wanted);
    const auto [ours, theirs] =
        std::mismatch(got.begin(), got.end(), expected.begin(), expected.end());
    if (ours == got.end() && theirs == expected.end()) return {};
    return "got " + (ours == got.end() ? "nothing" : *ours) + " instead of " +
           (theirs == expected.end() ? "nothing" : *theirs);
}

}  // namespace revenant::amqp10
