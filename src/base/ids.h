// Strong ids: a QueueId cannot be passed as a ChannelId.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace revenant {

template <typename Tag>
struct Id {
    std::uint64_t value = 0;
    friend constexpr auto operator<=>(Id, Id) = default;
    constexpr explicit operator bool() const { return value != 0; }
};

template <typename Tag>
std::size_t hash_value(Id<Tag> id) {
    // The finalizer of splitmix64. Ids are dense, so the low bits alone would collide in flat maps.
    std::uint64_t x = id.value + 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<std::size_t>(x ^ (x >> 31));
}

using QueueId = Id<struct QueueTag>;
using ConnectionId = Id<struct ConnectionTag>;
using ChannelId = Id<struct ChannelTag>;
// Counts the deliveries of one channel from 1; in AMQP 0-9-1 it is the delivery tag.
using DeliveryId = Id<struct DeliveryTag>;
using Lsn = Id<struct LsnTag>;

}  // namespace revenant

template <typename Tag>
struct std::hash<revenant::Id<Tag>> {
    std::size_t operator()(revenant::Id<Tag> id) const { return hash_value(id); }
};
