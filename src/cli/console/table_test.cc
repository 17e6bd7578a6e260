#include "cli/console/table.h"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace revenant::cli {
namespace {

Table table_of(const char* objects, const std::vector<Column>& columns) {
    return make_table(boost::json::parse(objects).as_array(), columns);
}

const char* const queues = R"([
    {"name":"q\t1","messages":3,"arguments":{"x-max-length":10,"x-overflow":"drop-head"},
     "tags":["a","b"],"owner":{"name":"c"},"policy":null},
    {"name":"say \"hi\"","messages":0,"arguments":{},"tags":[]}])";
const std::vector<Column> columns = {{"name", "name"},           {"messages", "messages"},
                                     {"arguments", "arguments"}, {"tags", "tags"},
                                     {"owner", "owner.name"},    {"policy", "policy"}};

TEST(Table, IsWrittenWithTabs) {  // management 5.2
    EXPECT_EQ(to_tabs(table_of(queues, columns), /*with_header=*/true),
              "name\tmessages\targuments\ttags\towner\tpolicy\n"
              "q\\t1\t3\t[{\"x-max-length\",10},{\"x-overflow\",\"drop-head\"}]\t[a, b]\tc\t\n"
              "say \"hi\"\t0\t[]\t[]\t\t\n");
    EXPECT_EQ(to_tabs(table_of(R"([{"name":"q"}])", {{"name", "name"}}), /*with_header=*/false),
              "q\n");
}

TEST(Table, IsWrittenAsCsv) {
    EXPECT_EQ(to_csv(table_of(queues, {columns[0], columns[1]}), /*with_header=*/true),
              "\"name\",\"messages\"\n\"q\t1\",\"3\"\n\"say \"\"hi\"\"\",\"0\"\n");
}

TEST(Table, IsWrittenAsJsonWithOneObjectPerLine) {
    EXPECT_EQ(to_json(table_of(queues, {columns[1], columns[3]})),
              "[\n{\"messages\":3,\"tags\":[\"a\",\"b\"]}\n,{\"messages\":0,\"tags\":[]}\n]\n");
    EXPECT_EQ(to_json(table_of("[]", columns)), "[\n]\n");
}

TEST(Table, AFieldInQuotesIsTheValueItself) {
    EXPECT_EQ(to_tabs(table_of(R"([{"source":"x"}])", {{"kind", "\"exchange\""}}), false),
              "exchange\n");
}

}  // namespace
}  // namespace revenant::cli
