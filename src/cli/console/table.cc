#include "cli/console/table.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <utility>

namespace revenant::cli {
namespace {

namespace json = boost::json;

json::value look_up(const json::value& object, std::string_view path) {
    const json::value* value = &object;
    while (true) {
        const std::size_t dot = path.find('.');
        const json::object* const inside = value->if_object();
        value = inside == nullptr ? nullptr : inside->if_contains(path.substr(0, dot));
        if (value == nullptr || value->is_null()) return "";
        if (dot == std::string_view::npos) return *value;
        path.remove_prefix(dot + 1);
    }
}

std::string erlang_term(const json::value& value) {
    std::string text;
    const char* separator = "";
    switch (value.kind()) {
        case json::kind::string:
            return json::serialize(value);
        case json::kind::null:
            return "undefined";
        case json::kind::array:
            for (const json::value& element : value.get_array()) {
                text += separator + erlang_term(element);
                separator = ",";
            }
            return "[" + text + "]";
        case json::kind::object:
            for (const auto& [name, inner] : value.get_object()) {
                text += separator + ("{" + json::serialize(json::value(name))) + "," +
                        erlang_term(inner) + "}";
                separator = ",";
            }
            return "[" + text + "]";
        default:
            return json::serialize(value);
    }
}

// Escapes line breaks and tabs, which separate rows and cells.
std::string cell(const json::value& value) {
    std::string text;
    for (const char c : plain_text(value)) {
        if (c == '\n') {
            text += "\\n";
        } else if (c == '\t') {
            text += "\\t";
        } else {
            text += c;
        }
    }
    return text;
}

std::string quoted_cell(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"') result += '"';
        result += c;
    }
    return result + "\"";
}

// The number of characters, not of bytes.
std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    }));
}

// For to_erlang(), which prints text as binaries.
std::string erlang_value(const json::value& value) {
    if (value.is_string()) return "<<" + json::serialize(value) + ">>";
    if (!value.is_array()) return erlang_term(value);
    std::string text;
    for (const json::value& element : value.get_array()) {
        text += (text.empty() ? "" : ",") + erlang_value(element);
    }
    return "[" + text + "]";
}

}  // namespace

std::string plain_text(const json::value& value) {
    if (value.is_string()) return std::string(value.get_string());
    if (!value.is_array()) return erlang_term(value);
    // Lists of words, such as tags, are printed without quotes: [management, x].
    std::string text;
    const char* separator = "";
    for (const json::value& element : value.get_array()) {
        text += separator + plain_text(element);
        separator = ", ";
    }
    return "[" + text + "]";
}

Table make_table(const json::array& objects, const std::vector<Column>& columns) {
    Table table;
    for (const Column& column : columns) table.columns.push_back(column.name);
    for (const json::value& object : objects) {
        std::vector<json::value> row;
        for (const Column& column : columns) {
            // A field in quotes is a constant: the source of a binding is always an exchange.
            row.push_back(column.field.starts_with('"')
                              ? json::value(column.field.substr(1, column.field.size() - 2))
                              : look_up(object, column.field));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

std::string to_tabs(const Table& table, bool with_header) {
    std::string text;
    const auto add = [&](std::string_view word, bool last) {
        text += word;
        text += last ? '\n' : '\t';
    };
    if (with_header) {
        for (const std::string& column : table.columns)
            add(column, &column == &table.columns.back());
    }
    for (const auto& row : table.rows) {
        for (const json::value& value : row) add(cell(value), &value == &row.back());
    }
    return text;
}

std::string to_csv(const Table& table, bool with_header) {
    std::string text;
    const auto add = [&](std::string_view word, bool last) {
        text += quoted_cell(word);
        text += last ? '\n' : ',';
    };
    if (with_header) {
        for (const std::string& column : table.columns)
            add(column, &column == &table.columns.back());
    }
    for (const auto& row : table.rows) {
        for (const json::value& value : row) add(plain_text(value), &value == &row.back());
    }
    return text;
}

std::string to_boxes(const Table& table, bool with_header) {
    std::vector<std::vector<std::string>> lines;
    if (with_header) lines.push_back(table.columns);
    for (const auto& row : table.rows) {
        auto& line = lines.emplace_back();
        for (const json::value& value : row) line.push_back(cell(value));
    }
    std::vector<std::size_t> widths(table.columns.size(), 0);
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            widths[i] = std::max(widths[i], width(line[i]));
        }
    }
    const auto rule = [&](std::string_view left, std::string_view middle, std::string_view right) {
        std::string text;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            text += i == 0 ? left : middle;
            for (std::size_t j = 0; j < widths[i] + 2; ++j) text += "─";
        }
        return text.append(right) + "\n";
    };
    std::string text = rule("┌", "┬", "┐");
    for (const auto& line : lines) {
        if (&line != &lines.front()) text += rule("├", "┼", "┤");
        for (std::size_t i = 0; i < line.size(); ++i) {
            text += "│ " + line[i] + std::string(widths[i] - width(line[i]) + 1, ' ');
        }
        text += "│\n";
    }
    return text + rule("└", "┴", "┘");
}

std::string to_erlang(const Table& table) {
    std::string text = "[";
    for (const auto& row : table.rows) {
        text += &row == &table.rows.front() ? "[" : ",\n [";
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += (i == 0 ? "{" : ",{") + table.columns[i] + "," + erlang_value(row[i]) + "}";
        }
        text += "]";
    }
    return text + "]\n";
}

std::string to_json(const Table& table) {
    std::string text = "[\n";
    for (const auto& row : table.rows) {
        json::object object;
        for (std::size_t i = 0; i < row.size(); ++i) object[table.columns[i]] = row[i];
        if (&row != &table.rows.front()) text += ",";
        text += json::serialize(object) + "\n";
    }
    return text + "]\n";
}

}  // namespace revenant::cli
