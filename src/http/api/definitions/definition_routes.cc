// /definitions: export and import of definitions. management 4.26, 4.27
#include "http/api/definitions/definitions.h"
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/server/multipart.h"

#include <algorithm>
#include <utility>

namespace revenant::http {
namespace {

DefinitionsHead head(Context& context) {
    const ApiSettings& settings = context.settings();
    return {settings.rabbitmq_version, settings.product_name, settings.product_version,
            context.cluster_name()};
}

// Removes control characters, quotes and backslashes from the name, because it goes into a header.
void as_attachment(const Call& call, Response& response) {
    std::string name(call.query_parameter("download"));
    std::erase_if(name, [](char c) {
        return static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\' || c == 127;
    });
    if (name.empty()) return;
    response.headers.push_back({"content-disposition", "attachment; filename=\"" + name + "\""});
}

Response get_all(Context& context, const Call& call) {
    Response response = ok(export_definitions(context.broker(), head(context)));
    as_attachment(call, response);
    return response;
}

Response get_of_vhost(Context& context, const Call& call) {
    if (call.access->find_vhost(call.parameter(0)) == nullptr) {
        return bad_request("vhost_not_found");
    }
    Response response =
        ok(export_definitions_of(context.broker(), call.parameter(0), head(context)));
    as_attachment(call, response);
    return response;
}

// The request body, or the field `file` of a form.
Result<std::string, Response> uploaded_document(const Request& request) {
    const std::string* const type = request.find_header("content-type");
    if (type == nullptr || !is_multipart_form(*type)) return request.body;
    auto file = form_field(*type, request.body, "file");
    if (!file) return Unexpected{bad_request("the form has no \"file\" field")};
    return std::move(*file);
}

// Redirects a browser that uploaded a form to the page named in the form.
Response imported(const Call& call) {
    const std::string* const type = call.request.find_header("content-type");
    if (type == nullptr || !is_multipart_form(*type)) return no_content();
    const auto redirect = form_field(*type, call.request.body, "redirect");
    const bool local = redirect && redirect->starts_with('/') && !redirect->starts_with("//") &&
                       redirect->find_first_of("\r\n") == std::string::npos;
    if (!local) return no_content();
    Response response;
    response.status = 303;
    response.headers = {{"location", *redirect}};
    return response;
}

Response post_all(Context& context, const Call& call) {
    auto document = uploaded_document(call.request);
    if (!document) return std::move(document).error();
    if (document->empty()) return no_content();
    // Older clients name the virtual host in the query.
    if (const std::string_view vhost = call.query_parameter("vhost"); !vhost.empty()) {
        if (call.access->find_vhost(vhost) == nullptr) {
            return error_response(404, "not_found", "vhost_not_found");
        }
        const auto done = import_definitions_into(context.broker(), std::string(vhost), *document,
                                                  call.user->name);
        return done ? imported(call) : bad_request(done.error());
    }
    const auto done = import_definitions(context.broker(), *document, call.user->name,
                                         context.settings().passwords);
    return done ? imported(call) : bad_request(done.error());
}

Response post_of_vhost(Context& context, const Call& call) {
    if (call.access->find_vhost(call.parameter(0)) == nullptr) {
        return error_response(404, "not_found", "vhost_not_found");
    }
    auto document = uploaded_document(call.request);
    if (!document) return std::move(document).error();
    if (document->empty()) return no_content();
    const auto done =
        import_definitions_into(context.broker(), call.parameter(0), *document, call.user->name);
    return done ? imported(call) : bad_request(done.error());
}

}  // namespace

void add_definition_routes(Router& router, Context& context) {
    router.add("GET", "/definitions", Role::administrator,
               [&](const Call& call) { return get_all(context, call); });
    router.add("POST", "/definitions", Role::administrator,
               [&](const Call& call) { return post_all(context, call); });
    router.add("GET", "/definitions/*", Role::administrator,
               [&](const Call& call) { return get_of_vhost(context, call); });
    router.add("POST", "/definitions/*", Role::administrator,
               [&](const Call& call) { return post_of_vhost(context, call); });
}

}  // namespace revenant::http
