// Functions that write to memory that is known to be large enough. Each returns the position after
// the written bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace revenant::amqp091 {

inline char* put_u8(char* at, std::uint8_t value) {
    *at = static_cast<char>(value);
    return at + 1;
}
inline char* put_u16(char* at, std::uint16_t value) {
    value = __builtin_bswap16(value);
    std::memcpy(at, &value, sizeof value);
    return at + sizeof value;
}
inline char* put_u32(char* at, std::uint32_t value) {
    value = __builtin_bswap32(value);
    std::memcpy(at, &value, sizeof value);
    return at + sizeof value;
}
inline char* put_u64(char* at, std::uint64_t value) {
    value = __builtin_bswap64(value);
    std::memcpy(at, &value, sizeof value);
    return at + sizeof value;
}
inline char* put_bytes(char* at, std::string_view bytes) {
    std::memcpy(at, bytes.data(), bytes.size());
    return at + bytes.size();
}
inline char* put_short_string(char* at, std::string_view text) {
    return put_bytes(put_u8(at, static_cast<std::uint8_t>(text.size())), text);
}
inline char* put_long_string(char* at, std::string_view text) {
    return put_bytes(put_u32(at, static_cast<std::uint32_t>(text.size())), text);
}

}  // namespace revenant::amqp091
