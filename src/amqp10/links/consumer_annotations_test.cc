#include "amqp10/links/consumer_annotations.h"

#include "tests/support/amqp10_message.h"
#include "tests/support/hex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::amqp10 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ConsumerAnnotations, AreKeptInBothForms) {  // DL-100, DL-203
    const std::string map = encoded(Datum::map({{Datum::symbol("x-s"), Datum::symbol("v")},
                                                {Datum::symbol("x-n"), Datum::ubyte(7)},
                                                {Datum::symbol("x-b"), Datum::boolean(true)},
                                                {Datum::symbol("x-l"), Datum::list({})},
                                                {Datum::symbol("x-0"), Datum::null()},
                                                {Datum::symbol("x-d"), {Type::float64, 1.5}},
                                                {Datum::symbol("x-n"), Datum::int32(8)}}));
    const auto read = read_consumer_annotations(map);
    ASSERT_TRUE(read) << read.error();
    EXPECT_THAT(*read,
                ElementsAre(Annotation{"x-s", encoded(Datum::symbol("v")), Value::string("v")},
                            Annotation{"x-n", encoded(Datum::int32(8)), Value::int64(8)},
                            Annotation{"x-b", from_hex("5601"), Value::boolean(true)},
                            Annotation{"x-l", from_hex("45"), Value::nothing()},
                            Annotation{"x-0", from_hex("40"), Value::nothing()},
                            Annotation{"x-d", encoded({Type::float64, 1.5}), Value::nothing()}));
}

TEST(ConsumerAnnotations, MayBeMissing) {
    EXPECT_THAT(*read_consumer_annotations({}), IsEmpty());
    EXPECT_THAT(*read_consumer_annotations("\x40"), IsEmpty());
    EXPECT_THAT(*read_consumer_annotations(encoded(Datum::map({}))), IsEmpty());
}

TEST(ConsumerAnnotations, ThatAreWrongAreRefused) {
    for (const Datum& wrong : {Datum::list({}), Datum::map({{Datum::symbol("a"), Datum::null()}}),
                               Datum::map({{Datum::string("x-a"), Datum::null()}}),
                               Datum::map({{Datum::ulong(1), Datum::null()}})}) {
        EXPECT_FALSE(read_consumer_annotations(encoded(wrong)));
    }
    EXPECT_FALSE(read_consumer_annotations(from_hex("c1 08 02 a303782d61 5602")));
}

}  // namespace
}  // namespace revenant::amqp10
