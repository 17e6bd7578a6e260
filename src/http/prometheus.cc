#include "http/prometheus.h"

#include <array>
#include <charconv>

namespace revenant::http {
namespace {

// In label values the quote is escaped as well; in help texts it is not.
void append_escaped(std::string& out, std::string_view text, bool quote) {
    for (const char c : text) {
        if (c == '\\') {
            out += "\\\\";
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '"' && quote) {
            out += "\\\"";
        } else {
            out += c;
        }
    }
}

}  // namespace

void PrometheusText::family(std::string_view name, Kind kind, std::string_view help) {
    name_ = name;
    text_ += "# TYPE ";
    text_ += name;
    text_ += kind == Kind::counter ? " counter\n# HELP " : " gauge\n# HELP ";
    text_ += name;
    text_ += ' ';
    append_escaped(text_, help, /*quote=*/false);
    text_ += '\n';
}

void PrometheusText::begin_sample(Labels labels) {
    text_ += name_;
    if (labels.size() > 0) {
        char separator = '{';
        for (const auto& [label, value] : labels) {
            text_ += separator;
            text_ += label;
            text_ += "=\"";
            append_escaped(text_, value, /*quote=*/true);
            text_ += '"';
            separator = ',';
        }
        text_ += '}';
    }
    text_ += ' ';
}

void PrometheusText::sample(Labels labels, std::uint64_t value) {
    begin_sample(labels);
    text_ += std::to_string(value);
    text_ += '\n';
}

void PrometheusText::sample(Labels labels, double value) {
    begin_sample(labels);
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text_.append(digits.data(), end);
    text_ += '\n';
}

void PrometheusText::single(std::string_view name, Kind kind, std::string_view help,
                            std::uint64_t value) {
    family(name, kind, help);
    sample({}, value);
}

}  // namespace revenant::http
