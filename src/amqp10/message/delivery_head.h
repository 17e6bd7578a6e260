// DeliveryHead: the bytes of a delivery before its body. A long death history is referenced instead
// of copied.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace revenant::amqp10 {

struct DeliveryHead {
    std::string bytes;
    // Inserted before bytes[cut]; nothing is inserted without an owner.
    std::size_t cut = 0;
    std::string_view common;
    std::shared_ptr<const void> owner;

    std::size_t size() const { return bytes.size() + common.size(); }
    std::string_view before() const { return std::string_view(bytes).substr(0, cut); }
    std::string_view behind() const { return std::string_view(bytes).substr(cut); }
    void insert(std::shared_ptr<const void> of, std::string_view part) {
        cut = bytes.size();
        common = part;
        owner = std::move(of);
    }
    void clear() {
        bytes.clear();
        cut = 0;
        common = {};
        owner.reset();
    }
    std::string text() const { return std::string(before()).append(common).append(behind()); }
};

}  // namespace revenant::amqp10
