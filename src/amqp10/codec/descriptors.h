// Descriptors: the codes of described types, also by symbolic name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace revenant::amqp10 {

namespace descriptor {
constexpr std::uint64_t delivery_annotations = 0x71;
constexpr std::uint64_t message_annotations = 0x72;
constexpr std::uint64_t application_properties = 0x74;
constexpr std::uint64_t data = 0x75;
constexpr std::uint64_t sequence = 0x76;
constexpr std::uint64_t value = 0x77;
constexpr std::uint64_t footer = 0x78;
constexpr std::uint64_t coordinator = 0x30;
constexpr std::uint64_t delete_on_close = 0x2b;
}  // namespace descriptor

std::optional<std::uint64_t> descriptor_named(std::string_view name);

}  // namespace revenant::amqp10
