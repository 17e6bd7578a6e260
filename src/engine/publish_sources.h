// PublishSources: how many messages a queue got through which exchange. One comparison per message
// while they come through the same one.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace revenant::engine {

class PublishSources {
  public:
    // Beyond it messages are no longer counted by exchange.
    static constexpr std::size_t exchanges_max = 1000;

    struct Source {
        std::string exchange;
        std::uint64_t published = 0;
    };

    // The number is the exchange's own: another of the same name has another one.
    void count(std::uint64_t number, std::string_view exchange) {
        if (number != latest_number_) choose(number, exchange);
        latest_->published += 1;
    }
    const std::deque<Source>& all() const { return sources_; }

  private:
    void choose(std::uint64_t number, std::string_view exchange) {
        latest_number_ = number;
        const auto found = by_number_.find(number);
        if (found != by_number_.end()) {
            latest_ = found->second;
        } else if (sources_.size() >= exchanges_max) {
            latest_ = &others_;
        } else {
            latest_ = &sources_.emplace_back(Source{std::string(exchange), 0});
            by_number_.emplace(number, latest_);
        }
    }

    std::deque<Source> sources_;  // their addresses stay
    boost::unordered_flat_map<std::uint64_t, Source*> by_number_;
    Source others_;
    std::uint64_t latest_number_ = 0;  // no exchange has it
    Source* latest_ = &others_;
};

}  // namespace revenant::engine
