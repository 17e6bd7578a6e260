// The responses of the API. management 1.3, 1.4
#pragma once

#include "http/api/json.h"
#include "http/server/request.h"

#include <string>
#include <string_view>

namespace revenant::http {

Response ok(const json::value& body);
Response created();     // a PUT created an object
Response no_content();  // a PUT changed an object, or a DELETE removed it
Response error_response(unsigned status, std::string_view error, std::string_view reason);
Response bad_request(std::string_view reason);
Response not_found();
Response not_authorised(std::string_view reason);

}  // namespace revenant::http
