// PublishSources: how many messages a queue received through each exchange. The queue counts its
// messages anyway, so that nothing is written here while they come through the same exchange.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::engine {

class PublishSources {
  public:
    // Messages from more exchanges are not counted by exchange.
    static constexpr std::size_t exchanges_max = 1000;

    struct Source {
        std::string exchange;
        std::uint64_t published = 0;
    };

    // The next message comes through this exchange; the queue received `published` before. The
    // number identifies the exchange: a later exchange of the same name has another one.
    void come_through(std::uint64_t number, std::string_view exchange, std::uint64_t published) {
        if (number != latest_) [[unlikely]]
            change(number, exchange, published);
    }
    // The queue received `published` in total.
    std::vector<Source> all(std::uint64_t published) const;

  private:
    struct Book {
        std::vector<Source> sources;  // one per name
        boost::unordered_flat_map<std::uint64_t, std::size_t> by_number;
        std::size_t latest = 0;  // exchanges_max: one that is not counted
    };

    void change(std::uint64_t number, std::string_view exchange, std::uint64_t published);

    std::uint64_t latest_ = 0;    // no exchange has the number 0
    std::uint64_t before_ = 0;    // messages received when the latest source became current
    std::unique_ptr<Book> book_;  // created with the first message
};

}  // namespace revenant::engine
