// AMQP 1.0 values as Erlang terms, as RabbitMQ shows them in error texts.
#pragma once

#include "amqp10/codec/datum.h"

#include <string>
#include <string_view>

namespace revenant::amqp10 {

// {utf8,<<"text">>}, {uint,7}, {list,[…]}; long terms are truncated.
std::string erlang_term(const Datum& datum);
// <<"text">>, or the numeric values of its bytes.
std::string erlang_binary(std::string_view bytes);

}  // namespace revenant::amqp10
