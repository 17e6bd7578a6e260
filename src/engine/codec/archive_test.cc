#include "engine/codec/archive.h"

#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

Death foreign_death(ValueType count_type) {
    Death death;
    death.queue = "q";
    death.reason = DeathReason::rejected;
    death.count = 5;
    death.first_time = death.last_time = Timestamp{99};
    death.exchange = "x";
    death.routing_keys = {"k"};
    death.count_type = count_type;
    return death;
}

std::string written(const Death& death) {
    std::string bytes;
    WriteArchive{bytes}(death);
    return bytes;
}

// Without a type, as in every version: the last byte contains the flags.
TEST(DeathCodec, ACountOfOurOwnIsWrittenAsBefore) {
    const std::string bytes = written(foreign_death(ValueType::int64));
    const std::string reason(1, static_cast<char>(DeathReason::rejected));
    EXPECT_EQ(bytes, "\x01q" + reason + "\x05\x64\x64\x01x\x01\x01k" + std::string(1, '\0'));
    ReadArchive in(bytes);
    Death read;
    in(read);
    EXPECT_TRUE(in.at_end() && !in.failed());
    EXPECT_EQ(read, foreign_death(ValueType::int64));
}

TEST(DeathCodec, TheTypeOfAForeignCountIsKept) {  // DL-109
    for (int number = 0; number <= static_cast<int>(last_of(ValueType{})); ++number) {
        Death death = foreign_death(static_cast<ValueType>(number));
        death.ttl_ms = 60'000;
        death.routing_keys_omitted = 3;
        const std::string bytes = written(death);
        ReadArchive in(bytes);
        Death read;
        in(read);
        EXPECT_TRUE(in.at_end() && !in.failed()) << number;
        EXPECT_EQ(read, death) << number;
    }
}

TEST(DeathCodec, ATypeThatDoesNotExistIsNotRead) {
    std::string bytes = written(foreign_death(ValueType::uint8));
    EXPECT_EQ(bytes.back(), static_cast<char>(ValueType::uint8));
    bytes.back() = static_cast<char>(static_cast<int>(last_of(ValueType{})) + 1);
    ReadArchive in(bytes);
    Death read;
    in(read);
    EXPECT_TRUE(in.failed());
}

}  // namespace
}  // namespace revenant::engine
