#include "http/metrics/prometheus.h"

#include <array>
#include <charconv>
#include <utility>

namespace revenant::http {
namespace {

using Kind = PrometheusText::Kind;

// Quotes are escaped in label values and, in OpenMetrics, in help texts.
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

std::string_view type_name(Kind kind, PrometheusText::Format format) {
    switch (kind) {
        case Kind::counter:
            return "counter";
        case Kind::gauge:
            return "gauge";
        case Kind::histogram:
            return "histogram";
        case Kind::untyped:
            break;
    }
    return format == PrometheusText::Format::open_metrics ? "unknown" : "untyped";
}

std::string number_text(double value, std::chars_format format) {
    std::array<char, 400> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, format).ptr;
    return {digits.data(), end};
}

}  // namespace

void PrometheusText::family(std::string_view name, Kind kind, std::string_view help) {
    name_ = name;
    std::string_view announced = name;
    // In OpenMetrics, the name of a counter family has no _total suffix.
    if (format_ == Format::open_metrics && kind == Kind::counter && name.ends_with("_total")) {
        announced.remove_suffix(6);
    }
    text_ += "# TYPE ";
    text_ += announced;
    text_ += ' ';
    text_ += type_name(kind, format_);
    text_ += "\n# HELP ";
    text_ += announced;
    text_ += ' ';
    append_escaped(text_, help, /*quote=*/format_ == Format::open_metrics);
    text_ += '\n';
}

std::string PrometheusText::render(Labels labels) {
    std::string text;
    for (const auto& [label, value] : labels) {
        if (!text.empty()) text += ',';
        text += label;
        text += "=\"";
        append_escaped(text, value, /*quote=*/true);
        text += '"';
    }
    return text;
}

void PrometheusText::begin_sample(std::string_view suffix, std::string_view labels,
                                  std::string_view le) {
    text_ += name_;
    text_ += suffix;
    if (!labels.empty() || !le.empty()) {
        text_ += '{';
        text_ += labels;
        if (!le.empty()) {
            if (!labels.empty()) text_ += ',';
            text_ += "le=\"";
            text_ += le;
            text_ += '"';
        }
        text_ += '}';
    }
    text_ += ' ';
}

void PrometheusText::end_sample(std::uint64_t value) {
    text_ += std::to_string(value);
    text_ += '\n';
}

void PrometheusText::end_sample(double value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text_.append(digits.data(), end);
    text_ += '\n';
}

void PrometheusText::sample(Labels labels, std::uint64_t value) {
    sample_of(render(labels), value);
}

void PrometheusText::sample(Labels labels, double value) { sample_of(render(labels), value); }

void PrometheusText::sample_of(std::string_view labels, std::uint64_t value) {
    begin_sample("", labels);
    end_sample(value);
}

void PrometheusText::sample_of(std::string_view labels, double value) {
    begin_sample("", labels);
    end_sample(value);
}

void PrometheusText::single(std::string_view name, Kind kind, std::string_view help,
                            std::uint64_t value) {
    family(name, kind, help);
    sample({}, value);
}

// RabbitMQ writes 1000000; OpenMetrics requires canonical numbers: 100.0, 1e+06.
std::string PrometheusText::limit_text(double limit) const {
    if (format_ == Format::open_metrics && limit >= 1e6) {
        return number_text(limit, std::chars_format::scientific);
    }
    std::string text = number_text(limit, std::chars_format::fixed);
    if (format_ == Format::open_metrics && text.find('.') == std::string::npos) text += ".0";
    return text;
}

void PrometheusText::histogram(std::string_view labels, const Buckets& buckets) {
    std::uint64_t cumulated = 0;
    for (std::size_t i = 0; i < buckets.counts.size(); ++i) {
        cumulated += buckets.counts[i];
        const bool last = i == buckets.limits.size();
        const double limit = last ? 0 : static_cast<double>(buckets.limits[i]) / buckets.per_unit;
        begin_sample("_bucket", labels, last ? "+Inf" : limit_text(limit));
        end_sample(cumulated);
    }
    begin_sample("_count", labels);
    end_sample(cumulated);
    begin_sample("_sum", labels);
    end_sample(static_cast<double>(buckets.sum) / buckets.per_unit);
}

std::string PrometheusText::finish() {
    if (format_ == Format::open_metrics) text_ += "# EOF\n";
    return std::move(text_);
}

}  // namespace revenant::http
