// Formats memory and disk sizes in the unit of --unit, as rabbitmqctl does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace revenant::cli {

// The number of bytes in a unit, a power of 1000. Case-insensitive.
std::optional<double> bytes_of_unit(std::string_view unit);

// "123.4568 mb": at most four decimal places, none for bytes.
std::string format_in_unit(double bytes, std::string_view unit);

// "28.57", "0.0": the shortest form that has a decimal point.
std::string decimal(double number);

}  // namespace revenant::cli
