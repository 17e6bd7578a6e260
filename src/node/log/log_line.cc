#include "node/log/log_line.h"

#include "base/utf8.h"
#include "node/config/config_value.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace revenant::node {
namespace {

std::string show_time(Timestamp at) {
    const std::time_t seconds = at.whole_seconds();
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d.%06d+00:00",
                  parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                  parts.tm_min, parts.tm_sec, static_cast<int>(at.us % 1'000'000));
    return text;
}

std::uint8_t byte_at(std::string_view text, std::size_t index) {
    return static_cast<std::uint8_t>(text[index]);
}

// The bytes of the first UTF-8 character; empty if the text does not begin with a valid one.
std::string_view first_character(std::string_view text) {
    const std::uint8_t lead = byte_at(text, 0);
    const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    const std::string_view character = text.substr(0, bytes);
    return is_utf8(character) ? character : std::string_view();
}

// The code of a non-ASCII control character: C1 controls, line and paragraph separators. 0 for all
// others.
unsigned control_code(std::string_view character) {
    if (character.size() == 2 && byte_at(character, 0) == 0xC2 && byte_at(character, 1) < 0xA0) {
        return byte_at(character, 1);
    }
    if (character == "\u2028") return 0x2028;
    if (character == "\u2029") return 0x2029;
    return 0;
}

void append_escaped(std::string& line, char letter, int digits, unsigned code) {
    constexpr std::string_view hexadecimal = "0123456789abcdef";
    line.append("\\").append(1, letter);
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
        line += hexadecimal[(code >> shift) & 15U];
    }
}

// Characters that would break a line or a terminal are written as
// , \xNN or \uNNNN.
void append_printable(std::string& line, std::string_view text) {
    while (!text.empty()) {
        const std::string_view character = first_character(text);
        const std::uint8_t byte = byte_at(text, 0);
        if (byte == '\n') {
            line += "\\n";
        } else if (character.empty() || byte < 0x20 || byte == 0x7f) {
            append_escaped(line, 'x', 2, byte);
        } else if (const unsigned code = control_code(character)) {
            append_escaped(line, 'u', 4, code);
        } else {
            line += character;
        }
        text.remove_prefix(std::max<std::size_t>(1, character.size()));
    }
}

// JSON without characters that would break a line, a terminal or a UTF-8 reader.
void append_json(std::string& line, const boost::json::value& value) {
    const std::string serialized = boost::json::serialize(value);
    std::string_view text = serialized;
    while (!text.empty()) {
        const std::string_view character = first_character(text);
        if (character.empty()) {
            line += "\\ufffd";
        } else if (character == "\x7f") {
            line += "\\u007f";
        } else if (const unsigned code = control_code(character)) {
            append_escaped(line, 'u', 4, code);
        } else {
            line += character;
        }
        text.remove_prefix(std::max<std::size_t>(1, character.size()));
    }
}

void append_field(std::string& line, const LogField& field) {
    line.append(" ").append(field.name).append("=");
    const bool plain =
        !field.value.empty() && field.value.find_first_of(" \"=\t\r\n") == std::string_view::npos;
    if (plain) {
        append_printable(line, field.value);
    } else {
        append_json(line, boost::json::value(field.value));
    }
}

std::string format_json(const LogLine& line) {
    boost::json::object object{{"time", show_time(line.at)},
                               {"level", name_of(line.level)},
                               {"component", line.component},
                               {"msg", line.text}};
    for (const LogField& field : line.fields) object[field.name] = field.value;
    std::string text;
    append_json(text, object);
    return text + '\n';
}

}  // namespace

std::string format_line(const LogLine& line, LogFormat format) {
    if (format == LogFormat::json) return format_json(line);
    std::string text = show_time(line.at);
    text.append(" [").append(name_of(line.level)).append("] ");
    text.append(line.component).append(": ");
    append_printable(text, line.text);
    for (const LogField& field : line.fields) append_field(text, field);
    return text + '\n';
}

}  // namespace revenant::node
