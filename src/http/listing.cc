#include "http/listing.h"

#include "http/responses.h"
#include "pattern/pattern.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::http {
namespace {

constexpr std::int64_t page_size_default = 100;
constexpr std::int64_t page_size_max = 500;

using Path = std::vector<std::string_view>;  // the steps of a.b.c

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

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

std::vector<Path> asked_columns(const Call& call) {
    std::vector<Path> columns;
    const std::string_view asked = call.asked("columns");
    if (asked.empty()) return columns;
    for (const std::string_view column : split(asked, ',')) columns.push_back(split(column, '.'));
    return columns;
}

// Absent before present, numbers before words: any order will do as long as it is one.
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
    const std::string_view asked = call.asked("sort");
    if (asked.empty()) return;
    const Path path = split(asked, '.');
    const bool reverse = call.asked("sort_reverse") == "true";
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

Result<json::array, Response> filter_by_name(const Call& call, json::array items) {
    const std::string_view wanted = call.asked("name");
    if (wanted.empty()) return items;
    std::optional<Pattern> pattern;
    if (call.asked("use_regex") == "true") {
        auto compiled = Pattern::compile(wanted);
        if (!compiled) return invalid_pagination();
        pattern = std::move(compiled).value();
    }
    json::array filtered;
    for (json::value& item : items) {
        const json::value* const name = item.get_object().if_contains("name");
        if (name == nullptr || !name->is_string()) continue;
        const std::string_view text = name->get_string();
        const bool fits =
            pattern ? pattern->matches(text) : text.find(wanted) != std::string_view::npos;
        if (fits) filtered.push_back(std::move(item));
    }
    return filtered;
}

struct Page {
    std::int64_t number = 1;
    std::int64_t size = page_size_default;
};

Result<Page, Response> asked_page(const Call& call) {
    Page page;
    const std::string_view size_text = call.asked("page_size");
    const auto number = whole_number(call.asked("page"));
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

Result<json::object, Response> cut_page(const Call& call, json::array items) {
    const auto total = static_cast<std::int64_t>(items.size());
    REVENANT_TRY(const Page page, asked_page(call));
    REVENANT_TRY(json::array filtered, filter_by_name(call, std::move(items)));
    const auto count = static_cast<std::int64_t>(filtered.size());
    const std::int64_t pages = (count + page.size - 1) / page.size;
    if (page.number > std::max<std::int64_t>(pages, 1)) {
        return Unexpected{error_response(400, "page_out_of_range",
                                         "Page out of range, page: " + std::to_string(page.number) +
                                             " page size: " + std::to_string(page.size) +
                                             ", len: " + std::to_string(count))};
    }
    json::array on_page;
    const std::int64_t first = (page.number - 1) * page.size;
    for (std::int64_t i = first; i < std::min(first + page.size, count); ++i) {
        on_page.push_back(std::move(filtered[static_cast<std::size_t>(i)]));
    }
    return json::object{{"filtered_count", count},     {"item_count", on_page.size()},
                        {"items", std::move(on_page)}, {"page", page.number},
                        {"page_count", pages},         {"page_size", page.size},
                        {"total_count", total}};
}

void select_all(const Call& call, json::array& items) {
    const std::vector<Path> columns = asked_columns(call);
    if (columns.empty()) return;
    for (json::value& item : items) item = select_columns(item.get_object(), columns);
}

}  // namespace

Response list(const Call& call, json::array items) {
    sort(call, items);
    if (call.asked("page").empty()) {
        select_all(call, items);
        return ok(items);
    }
    auto page = cut_page(call, std::move(items));
    if (!page) return std::move(page).error();
    select_all(call, page->at("items").get_array());
    return ok(*page);
}

Response show(const Call& call, json::object item) {
    const std::vector<Path> columns = asked_columns(call);
    return ok(columns.empty() ? item : select_columns(item, columns));
}

}  // namespace revenant::http
