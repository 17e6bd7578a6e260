#include "http/api/listing.h"

#include "http/api/responses.h"
#include "http/api/streamed_listing.h"
#include "http/server/ascii_text.h"
#include "pattern/pattern.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::http {
namespace {

constexpr std::int64_t page_size_default = 100;
constexpr std::int64_t page_size_max = 500;

using Path = std::vector<std::string_view>;  // the steps of a.b.c

const json::value* look_up(const json::object& item, const Path& path) {
    const json::object* object = &item;
    const json::value* value = nullptr;
    for (const std::string_view step : path) {
        if (object == nullptr) return nullptr;
        value = object->if_contains(step);
        if (value == nullptr) return nullptr;
        object = value->if_object();
    }
    return value;
}

void keep(json::object& kept, const Path& path, const json::value& value) {
    json::object* object = &kept;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        json::value& step = (*object)[path[i]];
        if (!step.is_object()) step.emplace_object();
        object = &step.get_object();
    }
    (*object)[path.back()] = value;
}

json::object select_columns(const json::object& item, const std::vector<Path>& columns) {
    json::object kept;
    for (const Path& path : columns) {
        if (const json::value* const value = look_up(item, path)) keep(kept, path, *value);
    }
    return kept;
}

std::vector<Path> requested_columns(const Call& call) {
    std::vector<Path> columns;
    const std::string_view asked = call.query_parameter("columns");
    if (asked.empty()) return columns;
    for (const std::string_view column : split(asked, ',')) columns.push_back(split(column, '.'));
    return columns;
}

// Sorts values of different types, so that the order is total. Absent values come first.
int rank(const json::value* value) {
    if (value == nullptr || value->is_null()) return 0;
    if (value->is_bool()) return 1;
    if (value->is_number()) return 2;
    return value->is_string() ? 3 : 4;
}

bool is_before(const json::value* a, const json::value* b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    switch (rank(a)) {
        case 1:
            return !a->get_bool() && b->get_bool();
        case 2:
            return a->to_number<double>() < b->to_number<double>();
        case 3:
            return a->get_string() < b->get_string();
        default:
            return false;
    }
}

void sort(const Call& call, json::array& items) {
    const std::string_view asked = call.query_parameter("sort");
    if (asked.empty()) return;
    const Path path = split(asked, '.');
    const bool reverse = call.query_parameter("sort_reverse") == "true";
    std::stable_sort(items.begin(), items.end(), [&](const json::value& a, const json::value& b) {
        const json::value* const left = look_up(a.get_object(), path);
        const json::value* const right = look_up(b.get_object(), path);
        return reverse ? is_before(right, left) : is_before(left, right);
    });
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

Unexpected<Response> invalid_pagination() {
    return Unexpected{bad_request("Pagination parameters are invalid")};
}

// Filters by a substring of the name or by a regular expression, both case-insensitive.
class NameFilter {
  public:
    static Result<NameFilter, Response> of(const Call& call) {
        NameFilter filter;
        filter.wanted_ = to_lower_ascii(call.query_parameter("name"));
        if (call.query_parameter("use_regex") == "true" && filter.is_set()) {
            auto compiled = Pattern::compile("(?i)" + std::string(call.query_parameter("name")));
            if (!compiled) return invalid_pagination();
            filter.pattern_ = std::move(compiled).value();
        }
        return filter;
    }
    bool is_set() const { return !wanted_.empty(); }
    bool fits(const json::object& item) const {
        if (!is_set()) return true;
        const json::value* const name = item.if_contains("name");
        return name != nullptr && name->is_string() && fits(name->get_string());
    }
    bool fits(std::string_view name) const {
        return pattern_ ? pattern_->matches(name)
                        : to_lower_ascii(name).find(wanted_) != std::string::npos;
    }

  private:
    std::string wanted_;
    std::optional<Pattern> pattern_;
};

struct Page {
    std::int64_t number = 1;
    std::int64_t size = page_size_default;
};

Result<Page, Response> requested_page(const Call& call) {
    Page page;
    const std::string_view size_text = call.query_parameter("page_size");
    const auto number = whole_number(call.query_parameter("page"));
    const auto size = size_text.empty() ? page_size_default : whole_number(size_text);
    if (!number || !size) return invalid_pagination();
    if (*number < 1 || *size < 1 || *size > page_size_max) {
        return Unexpected{error_response(
            400, "invalid_pagination_parameters",
            "Invalid pagination parameters: page number " + std::to_string(*number) +
                ", page size " + (size_text.empty() ? "undefined" : std::to_string(*size)))};
    }
    page.number = *number;
    page.size = *size;
    return page;
}

// The range of the filtered items that are on the page.
struct PageSlice {
    std::int64_t first = 0;
    std::int64_t last = 0;  // exclusive
    json::object frame;     // the response without the items
};

Result<PageSlice, Response> slice_page(const Call& call, std::size_t total, std::size_t filtered) {
    REVENANT_TRY(const Page page, requested_page(call));
    const auto count = static_cast<std::int64_t>(filtered);
    const std::int64_t pages = (count + page.size - 1) / page.size;
    if (page.number > std::max<std::int64_t>(pages, 1)) {
        return Unexpected{error_response(400, "page_out_of_range",
                                         "Page out of range, page: " + std::to_string(page.number) +
                                             " page size: " + std::to_string(page.size) +
                                             ", len: " + std::to_string(count))};
    }
    PageSlice cut;
    cut.first = (page.number - 1) * page.size;
    cut.last = std::min(cut.first + page.size, count);
    cut.frame = json::object{{"filtered_count", count}, {"item_count", cut.last - cut.first},
                             {"items", json::array{}},  {"page", page.number},
                             {"page_count", pages},     {"page_size", page.size},
                             {"total_count", total}};
    return cut;
}

// An item of a long list that has passed the filter, with its sort key.
struct Row {
    std::size_t index = 0;
    std::optional<json::value> key;
};

// Calls use(row, item) for each row whose item still exists. Creates the items in batches.
template <typename Use>
void make_views(const LongList& list, std::span<Row> rows, Use use) {
    std::vector<std::size_t> indexes;
    for (std::size_t first = 0; first < rows.size(); first += views_at_once_max) {
        const auto some = rows.subspan(first, std::min(views_at_once_max, rows.size() - first));
        indexes.clear();
        for (const Row& row : some) indexes.push_back(row.index);
        auto items = list.views(indexes);
        for (std::size_t i = 0; i < some.size(); ++i) {
            if (items[i]) use(some[i], std::move(*items[i]));
        }
    }
}

Result<std::vector<Row>, Response> rows_of(const Call& call, const LongList& list) {
    const bool paged = !call.query_parameter("page").empty();
    REVENANT_TRY(const NameFilter filter, NameFilter::of(call));
    std::vector<Row> rows;
    for (std::size_t i = 0; i < list.count; ++i) {
        if (paged && filter.is_set() && !filter.fits(to_json_string(list.name(i)))) continue;
        rows.push_back({i, std::nullopt});
    }
    const std::string_view sort_by = call.query_parameter("sort");
    if (sort_by.empty()) return rows;
    if (sort_by == "name") {
        for (Row& row : rows) row.key = to_json_string(list.name(row.index));
    } else {
        const Path path = split(sort_by, '.');
        make_views(list, rows, [&](Row& row, const json::object& item) {
            if (const json::value* const key = look_up(item, path)) row.key = *key;
        });
    }
    const bool reverse = call.query_parameter("sort_reverse") == "true";
    const auto value = [](const Row& row) { return row.key ? &*row.key : nullptr; };
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
        return reverse ? is_before(value(b), value(a)) : is_before(value(a), value(b));
    });
    return rows;
}

void select_all(const Call& call, json::array& items) {
    const std::vector<Path> columns = requested_columns(call);
    if (columns.empty()) return;
    for (json::value& item : items) item = select_columns(item.get_object(), columns);
}

}  // namespace

Response list(const Call& call, json::array items) {
    sort(call, items);
    if (call.query_parameter("page").empty()) {
        select_all(call, items);
        return ok(items);
    }
    auto filter = NameFilter::of(call);
    if (!filter) return std::move(filter).error();
    const std::size_t total = items.size();
    json::array fitting;
    for (json::value& item : items) {
        if (filter->fits(item.get_object())) fitting.push_back(std::move(item));
    }
    auto cut = slice_page(call, total, fitting.size());
    if (!cut) return std::move(cut).error();
    json::array& on_page = cut->frame["items"].get_array();
    for (std::int64_t i = cut->first; i < cut->last; ++i) {
        on_page.push_back(std::move(fitting[static_cast<std::size_t>(i)]));
    }
    select_all(call, on_page);
    return ok(cut->frame);
}

Response list_some_at_a_time(const Call& call, const LongList& list) {
    auto rows = rows_of(call, list);
    if (!rows) return std::move(rows).error();
    const std::vector<Path> columns = requested_columns(call);
    const auto selected = [&](json::object&& item) {
        return columns.empty() ? std::move(item) : select_columns(item, columns);
    };
    if (call.query_parameter("page").empty()) {
        Response response = ok(json::array{});
        response.body = "[";
        make_views(list, *rows, [&](const Row&, json::object&& item) {
            if (response.body.size() > 1) response.body += ',';
            response.body += to_text(selected(std::move(item)));
        });
        response.body += ']';
        return response;
    }
    auto cut = slice_page(call, list.count, rows->size());
    if (!cut) return std::move(cut).error();
    json::array& on_page = cut->frame["items"].get_array();
    const auto first = static_cast<std::size_t>(cut->first);
    make_views(
        list, std::span(*rows).subspan(first, static_cast<std::size_t>(cut->last) - first),
        [&](const Row&, json::object&& item) { on_page.push_back(selected(std::move(item))); });
    cut->frame["item_count"] = on_page.size();
    return ok(cut->frame);
}

Response show(const Call& call, json::object item) {
    const std::vector<Path> columns = requested_columns(call);
    return ok(columns.empty() ? item : select_columns(item, columns));
}

}  // namespace revenant::http
