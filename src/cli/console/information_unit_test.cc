#include "cli/console/information_unit.h"

#include <gtest/gtest.h>

namespace revenant::cli {
namespace {

TEST(InformationUnit, HasFourDigitsBehindThePoint) {
    EXPECT_EQ(format_in_unit(123'456'789, "bytes"), "123456789 bytes");
    EXPECT_EQ(format_in_unit(123'456'789, "kb"), "123456.789 kb");
    EXPECT_EQ(format_in_unit(123'456'789, "mb"), "123.4568 mb");
    EXPECT_EQ(format_in_unit(123'456'789, "GB"), "0.1235 GB");
    EXPECT_EQ(format_in_unit(0, "gb"), "0.0 gb");
    EXPECT_EQ(format_in_unit(1e18, "tb"), "1000000.0 tb");
}

TEST(InformationUnit, ADecimalHasAPoint) {
    EXPECT_EQ(decimal(28.57), "28.57");
    EXPECT_EQ(decimal(100), "100.0");
}

TEST(InformationUnit, KnowsWholeWordsAndNoOthers) {
    EXPECT_EQ(bytes_of_unit("megabytes"), 1e6);
    EXPECT_EQ(bytes_of_unit("xb"), std::nullopt);
}

}  // namespace
}  // namespace revenant::cli
