// Amounts of memory and disk in the unit somebody asked for (--unit), as rabbitmqctl writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace revenant::cli {

// How many bytes it is: powers of 1000. Upper case will do as well.
std::optional<double> bytes_of_unit(std::string_view unit);

// "123.4568 mb": four digits behind the point, none for bytes.
std::string format_in_unit(double bytes, std::string_view unit);

// "28.57", "0.0": as short as it can be, but always with a point.
std::string decimal(double number);

}  // namespace revenant::cli
