#include "http/api/listing.h"

#include "http/api/streamed_listing.h"

#include <gtest/gtest.h>

namespace revenant::http {
namespace {

// The response of list_some_at_a_time() for the same items.
std::pair<unsigned, std::string> long_listed(const Call& call, const json::array& items) {
    const auto item = [&](std::size_t index) { return items[index].get_object(); };
    const Response response = list_some_at_a_time(
        call, {items.size(),
               [&](std::size_t index) { return std::string(item(index).at("name").get_string()); },
               [&](std::span<const std::size_t> indexes) {
                   std::vector<std::optional<json::object>> views;
                   for (const std::size_t index : indexes) views.emplace_back(item(index));
                   return views;
               }});
    return {response.status, response.body};
}

// Status and body of a list of the objects a, b, c with this query.
std::pair<unsigned, std::string> listed(const std::string& query) {
    json::array items;
    for (const auto& [name, messages] :
         {std::pair{"b", 10}, std::pair{"a", 9}, std::pair{"c", 9}}) {
        items.push_back(json::object{{"name", name}, {"stats", {{"messages", messages}}}});
    }
    const Request request;
    Call call{.request = request};
    call.query = parse_target("/x?" + query)->query;
    const Response response = list(call, items);
    EXPECT_EQ(long_listed(call, items), (std::pair{response.status, response.body}));
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
    EXPECT_EQ(names("sort=stats.messages"), "acb");  // numeric order; stable
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
    EXPECT_EQ(count("name=A"), 1);  // case-insensitive, as in RabbitMQ
    EXPECT_EQ(count("name=%5E%5BAB%5D%24&use_regex=true"), 2);
    EXPECT_EQ(count("name=%5CD&use_regex=true"), 3);  // \D
}

// The list is long enough to be created in batches. A page creates only its own items.
TEST(Listing, ALongListIsMadeSomeAtATime) {
    constexpr std::size_t count = 3 * views_at_once_max + 7;
    std::size_t made = 0;
    std::size_t largest = 0;
    const auto answer = [&](const std::string& query) {
        made = 0;
        const Request request;
        Call call{.request = request};
        call.query = parse_target("/x?" + query)->query;
        const Response response = list_some_at_a_time(
            call, {count, [](std::size_t index) { return "q" + std::to_string(index); },
                   [&](std::span<const std::size_t> indexes) {
                       std::vector<std::optional<json::object>> views(indexes.size());
                       for (std::size_t i = 0; i < indexes.size(); ++i) {
                           if (indexes[i] == 5) continue;  // deleted in the meantime
                           views[i] = json::object{{"name", "q" + std::to_string(indexes[i])},
                                                   {"n", count - indexes[i]}};
                       }
                       made += indexes.size();
                       largest = std::max(largest, indexes.size());
                       return views;
                   }});
        EXPECT_EQ(response.status, 200U);
        return parse_json(response.body).value();
    };
    EXPECT_EQ(answer("").get_array().size(), count - 1);
    EXPECT_EQ(made, count);
    const auto page = answer("page=2&page_size=50");
    EXPECT_EQ(page.at("items").get_array().size(), 50U);
    EXPECT_EQ(page.at("items").get_array()[0].at("name").get_string(), "q50");
    EXPECT_EQ(made, 50U);
    const auto found = answer("page=1&name=q60");
    EXPECT_EQ(found.at("filtered_count").get_int64(), 8);  // q60 and q600 to q606
    EXPECT_EQ(made, 8U);
    const auto first = answer("page=1&page_size=10");
    EXPECT_EQ(first.at("item_count").to_number<int>(), 9);
    EXPECT_EQ(first.at("total_count").to_number<std::size_t>(), count);
    const auto last = answer("page=1&page_size=50&sort=name&sort_reverse=true");
    EXPECT_EQ(last.at("items").get_array()[0].at("name").get_string(), "q99");
    EXPECT_EQ(made, 50U);
    const auto sorted = answer("sort=n&columns=n");
    EXPECT_EQ(sorted.get_array()[0].at("n").get_int64(), 1);
    EXPECT_EQ(sorted.get_array().back().at("n").to_number<std::size_t>(), count);
    EXPECT_EQ(largest, views_at_once_max);
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
