// Prometheus' text format 0.0.4, written by hand.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace revenant::http {

class PrometheusText {
  public:
    enum class Kind : std::uint8_t { counter, gauge };
    using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    // Announces a metric; its samples follow directly.
    void family(std::string_view name, Kind kind, std::string_view help);
    void sample(Labels labels, std::uint64_t value);
    void sample(Labels labels, double value);
    // A metric with one sample without labels.
    void single(std::string_view name, Kind kind, std::string_view help, std::uint64_t value);

    const std::string& text() const { return text_; }

  private:
    void begin_sample(Labels labels);

    std::string text_;
    std::string name_;
};

}  // namespace revenant::http
