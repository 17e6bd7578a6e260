#include "amqp10/codec/erlang_term.h"

#include <gtest/gtest.h>

namespace revenant::amqp10 {
namespace {

TEST(ErlangTerm, NamesTheTypeOfAValue) {
    EXPECT_EQ(erlang_term(Datum::null()), "null");
    EXPECT_EQ(erlang_term(Datum::boolean(true)), "true");
    EXPECT_EQ(erlang_term(Datum::uint(7)), "{uint,7}");
    EXPECT_EQ(erlang_term(Datum::int32(-7)), "{int,-7}");
    EXPECT_EQ(erlang_term(Datum::string("text")), "{utf8,<<\"text\">>}");
    EXPECT_EQ(erlang_term(Datum::symbol("x")), "{symbol,<<\"x\">>}");
    EXPECT_EQ(erlang_term(Datum::binary("")), "{binary,<<>>}");
    EXPECT_EQ(erlang_term(Datum::list({Datum::string("a"), Datum::uint(1)})),
              "{list,[{utf8,<<\"a\">>},{uint,1}]}");
    EXPECT_EQ(erlang_term(Datum::array({Datum::symbol("a")})),
              "{array,symbol,[{symbol,<<\"a\">>}]}");
    EXPECT_EQ(erlang_term(Datum::map({{Datum::string("k"), Datum::ulong(1)}})),
              "{map,[{{utf8,<<\"k\">>},{ulong,1}}]}");
}

TEST(ErlangTerm, ABinaryIsTextIfItCanBePrinted) {
    EXPECT_EQ(erlang_binary("a \"b\" \\"), "<<\"a \\\"b\\\" \\\\\">>");
    EXPECT_EQ(erlang_binary("\xc3\xa4"), "<<\"\xc3\xa4\"/utf8>>");
    EXPECT_EQ(erlang_binary(std::string("\0\xff", 2)), "<<0,255>>");
    EXPECT_EQ(erlang_binary(""), "<<>>");
}

TEST(ErlangTerm, ALongOneIsCut) {
    EXPECT_LT(erlang_binary(std::string(5000, 'a')).size(), 300U);
    EXPECT_LT(erlang_binary(std::string(5000, '\0')).size(), 900U);
    std::string umlauts;
    for (int i = 0; i < 1000; ++i) umlauts += "\xe2\x82\xac";
    EXPECT_LT(erlang_binary(umlauts).size(), 300U);
    Data elements(5000, Datum::uint(1));
    EXPECT_LT(erlang_term(Datum::list(elements)).size(), 300U);
    Datum nested = Datum::null();
    for (int i = 0; i < 200; ++i) nested = Datum::list({nested});
    EXPECT_LT(erlang_term(nested).size(), 700U);
}

}  // namespace
}  // namespace revenant::amqp10
