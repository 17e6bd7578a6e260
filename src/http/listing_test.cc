#include "http/listing.h"

#include <gtest/gtest.h>

namespace revenant::http {
namespace {

// The body of a listing of the objects a, b, c with this query.
std::pair<unsigned, std::string> listed(const std::string& query) {
    json::array items;
    for (const auto& [name, messages] :
         {std::pair{"b", 10}, std::pair{"a", 9}, std::pair{"c", 9}}) {
        items.push_back(json::object{{"name", name}, {"stats", {{"messages", messages}}}});
    }
    const Request request;
    Call call{.request = request};
    call.query = parse_target("/x?" + query)->query;
    const Response response = list(call, std::move(items));
    return {response.status, response.body};
}

std::string names(const std::string& query) {
    const std::string body = listed(query + "&columns=name").second;
    const auto items = parse_json(body);
    std::string found;
    for (const auto& item : items->get_array()) found += item.at("name").get_string();
    return found;
}

TEST(Listing, WithoutParametersEverythingIsThereAsItCame) {
    EXPECT_EQ(listed("").second,
              R"([{"name":"b","stats":{"messages":10}},{"name":"a","stats":{"messages":9}},)"
              R"({"name":"c","stats":{"messages":9}}])");
}

TEST(Listing, ColumnsKeepTheirPlace) {  // management 2.1
    EXPECT_EQ(listed("columns=stats.messages,nosuch").second,
              R"([{"stats":{"messages":10}},{"stats":{"messages":9}},{"stats":{"messages":9}}])");
}

TEST(Listing, SortsByAnyField) {  // management 2.1
    EXPECT_EQ(names("sort=name"), "abc");
    EXPECT_EQ(names("sort=name&sort_reverse=true"), "cba");
    EXPECT_EQ(names("sort=stats.messages"), "acb");  // numbers, not their digits; otherwise stable
    EXPECT_EQ(names("sort=nosuch"), "bac");
}

TEST(Listing, CutsPages) {  // management 2.2
    const auto [status, body] = listed("page=2&page_size=2&columns=name&sort=name");
    EXPECT_EQ(status, 200U);
    EXPECT_EQ(body, R"({"filtered_count":3,"item_count":1,"items":[{"name":"c"}],"page":2,)"
                    R"("page_count":2,"page_size":2,"total_count":3})");
}

TEST(Listing, FiltersByNameOrPattern) {
    const auto count = [](const std::string& query) {
        const auto page = parse_json(listed("page=1&" + query).second);
        return page->at("filtered_count").get_int64();
    };
    EXPECT_EQ(count("name=a"), 1);
    EXPECT_EQ(count("name=."), 0);
    EXPECT_EQ(count("name=.&use_regex=true"), 3);
    EXPECT_EQ(count("name=%5E%5Bab%5D%24&use_regex=true"), 2);
    EXPECT_EQ(count("name=nosuch"), 0);
    EXPECT_EQ(count("name=A"), 1);  // in any case, as in RabbitMQ
    EXPECT_EQ(count("name=%5E%5BAB%5D%24&use_regex=true"), 2);
    EXPECT_EQ(count("name=%5CD&use_regex=true"), 3);  // no digit
}

TEST(Listing, RefusesPagesThatMakeNoSense) {  // management 2.3
    const auto error = [](const std::string& query) {
        const auto [status, body] = listed(query);
        return std::to_string(status) + " " +
               std::string(parse_json(body)->at("error").get_string());
    };
    EXPECT_EQ(error("page=x"), "400 bad_request");
    EXPECT_EQ(error("page=1&page_size=1x"), "400 bad_request");
    EXPECT_EQ(error("page=1&name=(&use_regex=true"), "400 bad_request");
    EXPECT_EQ(error("page=0"), "400 invalid_pagination_parameters");
    EXPECT_EQ(error("page=1&page_size=501"), "400 invalid_pagination_parameters");
    EXPECT_EQ(error("page=-1&page_size=1"), "400 invalid_pagination_parameters");
    EXPECT_EQ(error("page=4&page_size=1"), "400 page_out_of_range");
    EXPECT_EQ(error("page=9223372036854775807&page_size=500"), "400 page_out_of_range");
    EXPECT_EQ(error("page=9223372036854775808"), "400 bad_request");
}

}  // namespace
}  // namespace revenant::http
