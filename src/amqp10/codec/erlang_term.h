// Values of AMQP 1.0 as RabbitMQ shows them in the texts of its errors: terms of Erlang.
#pragma once

#include "amqp10/codec/datum.h"

#include <string>
#include <string_view>

namespace revenant::amqp10 {

// {utf8,<<"text">>}, {uint,7}, {list,[…]}; the end of a long one is left out.
std::string erlang_term(const Datum& datum);
// <<"text">>, or the numbers of its bytes.
std::string erlang_binary(std::string_view bytes);

}  // namespace revenant::amqp10
