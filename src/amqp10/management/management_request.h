// ManagementRequest: a client's request to the node /management, and the response (amqp10 7.3).
#pragma once

#include "amqp10/codec/datum.h"
#include "base/result.h"
#include "engine/words/command.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::amqp10 {

struct ManagementAnswer {
    int status = 200;
    Datum body;
};

struct ManagementRequest {
    std::string message_id;             // encoded
    std::string verb;                   // PUT
    std::vector<std::string> segments;  // of the path, decoded
    // ?key=value&… after the path, or ;key=value… in its last segment; decoded.
    std::vector<std::pair<std::string, std::string>> query;
    Datum body;
    std::string error;  // the text for a 400 response if the request is invalid

    bool is(std::string_view wanted_verb, std::string_view first, std::size_t segment_count) const {
        return verb == wanted_verb && segments.size() == segment_count && segments[0] == first;
    }
    // The value for that key, or nullptr.
    const std::string* parameter(std::string_view key) const;
};

ManagementRequest read_request(std::string_view message);
// The error text for a last path segment that is not a binding.
std::string bad_binding_segment(std::string_view segment);
// Encodes the response message.
std::string encode_answer(const ManagementRequest& request, const ManagementAnswer& answer);

// The map of a body: named flags and texts, and a table of arguments.
struct RequestFields {
    std::vector<std::pair<std::string, bool>> flags;
    std::vector<std::pair<std::string, std::string>> texts;
    Table arguments;
    bool has_arguments = false;

    bool flag(std::string_view name, bool otherwise) const;
    const std::string* text(std::string_view name) const;
};
// Accepts only fields with these names. An error starts with `complaint`.
Result<RequestFields, std::string> read_fields(const Datum& body,
                                               const std::vector<std::string_view>& flags,
                                               const std::vector<std::string_view>& texts,
                                               std::string_view complaint);

}  // namespace revenant::amqp10
