// Table: rows with named columns, written as rabbitmqctl writes them.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace revenant::cli {

struct Column {
    std::string name;   // as it is called on the command line
    std::string field;  // where it stands in the API's objects: a.b.c
};

struct Table {
    std::vector<std::string> columns;
    std::vector<std::vector<boost::json::value>> rows;
};

// The columns of every object, in order; what an object does not have is an empty string.
Table make_table(const boost::json::array& objects, const std::vector<Column>& columns);

std::string to_tabs(const Table& table, bool with_header);
std::string to_csv(const Table& table, bool with_header);
// With lines around the cells, for people.
std::string to_boxes(const Table& table, bool with_header);
// A list of property lists, as Erlang would print it.
std::string to_erlang(const Table& table);
// One array, one object per line.
std::string to_json(const Table& table);

// As Erlang would print it: [{"x-max-length",100}]; text without quotes where it stands alone.
std::string plain_text(const boost::json::value& value);

}  // namespace revenant::cli
