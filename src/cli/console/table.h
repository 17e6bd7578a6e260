// Table: rows with named columns, printed in the formats of rabbitmqctl.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace revenant::cli {

struct Column {
    std::string name;   // on the command line
    std::string field;  // path in the API's objects: a.b.c
};

struct Table {
    std::vector<std::string> columns;
    std::vector<std::vector<boost::json::value>> rows;
};

// One row per object, in order. A missing field is an empty string.
Table make_table(const boost::json::array& objects, const std::vector<Column>& columns);

std::string to_tabs(const Table& table, bool with_header);
std::string to_csv(const Table& table, bool with_header);
// Box-drawing lines around the cells.
std::string to_boxes(const Table& table, bool with_header);
// A list of property lists, as Erlang would print it.
std::string to_erlang(const Table& table);
// One array, one object per line.
std::string to_json(const Table& table);

// An Erlang term, such as [{"x-max-length",100}]. Text at the top level has no quotes.
std::string plain_text(const boost::json::value& value);

}  // namespace revenant::cli
