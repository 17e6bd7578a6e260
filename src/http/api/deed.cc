#include "http/api/deed.h"

namespace revenant::http {

std::string_view deed_text(std::string_view method, const std::vector<std::string>& segments) {
    const bool about_messages = segments.size() == 4 && segments[0] == "queues";
    if (method == "DELETE") {
        return about_messages && segments[3] == "contents" ? "purged over HTTP"
                                                           : "deleted over HTTP";
    }
    if (method != "POST") return {};
    if (about_messages && segments[3] == "get") return "messages read over HTTP";
    if (segments.back() == "bulk-delete") return "deleted over HTTP";
    return {};
}

}  // namespace revenant::http
