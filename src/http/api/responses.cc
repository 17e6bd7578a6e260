#include "http/api/responses.h"

namespace revenant::http {

Response ok(const json::value& body) {
    Response response;
    response.body = to_text(body);
    response.headers = {{"cache-control", "no-cache"}, {"vary", "accept, accept-encoding, origin"}};
    return response;
}

Response created() {
    Response response;
    response.status = 201;
    return response;
}

Response no_content() {
    Response response;
    response.status = 204;
    return response;
}

Response error_response(unsigned status, std::string_view error, std::string_view reason) {
    Response response;
    response.status = status;
    response.body = to_text(json::object{{"error", error}, {"reason", to_json_string(reason)}});
    return response;
}

Response bad_request(std::string_view reason) { return error_response(400, "bad_request", reason); }
Response not_found() { return error_response(404, "Object Not Found", "Not Found"); }
Response not_authorised(std::string_view reason) {
    return error_response(401, "not_authorised", reason);
}

}  // namespace revenant::http
