// Writer for the Prometheus text format 0.0.4 and OpenMetrics 1.0.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace revenant::http {

class PrometheusText {
  public:
    enum class Format : std::uint8_t { text, open_metrics };
    enum class Kind : std::uint8_t { counter, gauge, histogram, untyped };
    using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    explicit PrometheusText(Format format = Format::text) : format_(format) {}

    // Starts a metric family; its samples must follow directly. Counter names end with _total.
    void family(std::string_view name, Kind kind, std::string_view help);
    void sample(Labels labels, std::uint64_t value);
    void sample(Labels labels, double value);
    // Samples with labels from render().
    void sample_of(std::string_view labels, std::uint64_t value);
    void sample_of(std::string_view labels, double value);
    // A family with one sample without labels.
    void single(std::string_view name, Kind kind, std::string_view help, std::uint64_t value);
    // One histogram of the family. Limits and sum are divided by per_unit before they are printed.
    struct Buckets {
        std::span<const std::uint64_t> limits;
        std::span<const std::uint64_t> counts;  // one more than limits, not cumulative
        std::uint64_t sum = 0;
        double per_unit = 1;
    };
    void histogram(std::string_view labels, const Buckets& buckets);

    // vhost="/",queue="q"
    static std::string render(Labels labels);
    // Ends and returns the page. Must be the last call.
    std::string finish();
    const std::string& text() const { return text_; }

  private:
    void begin_sample(std::string_view suffix, std::string_view labels, std::string_view le = {});
    void end_sample(std::uint64_t value);
    void end_sample(double value);
    std::string limit_text(double limit) const;

    Format format_;
    std::string text_;
    std::string name_;
};

}  // namespace revenant::http
