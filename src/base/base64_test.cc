#include "base/base64.h"

#include <gtest/gtest.h>

#include <string>

namespace revenant {
namespace {

TEST(Base64, EncodesTheVectorsOfRfc4648) {
    EXPECT_EQ(base64_encode(""), "");
    EXPECT_EQ(base64_encode("f"), "Zg==");
    EXPECT_EQ(base64_encode("fo"), "Zm8=");
    EXPECT_EQ(base64_encode("foo"), "Zm9v");
    EXPECT_EQ(base64_encode("foob"), "Zm9vYg==");
    EXPECT_EQ(base64_encode("fooba"), "Zm9vYmE=");
    EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
    EXPECT_EQ(base64_encode("\xfb\xef\xff"), "++//");
}

TEST(Base64, DecodesWhatItEncoded) {
    std::string bytes;
    for (int length = 0; length < 300; ++length) {
        EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes);
        bytes.push_back(static_cast<char>(length * 7));
    }
}

TEST(Base64, DecodesStrictly) {
    EXPECT_EQ(base64_decode("Zg=="), "f");
    for (const char* text : {"Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zg==Zg==", "Zm8=\n",
                             "Zm 8", "Zm-_", "Zh==", "Zm9=", "Z=g=", "Zm\xc3\xbc"})
        EXPECT_EQ(base64_decode(text), std::nullopt) << text;
}

TEST(Base64, AcceptsNoTwoTextsForTheSameBytes) {
    // Every four-character text from a small alphabet is either refused or survives a round trip
    // unchanged.
    const std::string letters = "AQgwZ/+=9\n";
    int accepted = 0;
    for (const char a : letters)
        for (const char b : letters)
            for (const char c : letters)
                for (const char d : letters) {
                    const std::string text{a, b, c, d};
                    const auto bytes = base64_decode(text);
                    if (!bytes) continue;
                    ++accepted;
                    EXPECT_EQ(base64_encode(*bytes), text);
                }
    EXPECT_GT(accepted, 4000);
}

}  // namespace
}  // namespace revenant
