#include "http/server/multipart.h"

#include "http/server/ascii_text.h"

#include <algorithm>
#include <cctype>

namespace revenant::http {
namespace {

constexpr std::string_view media_type = "multipart/form-data";
constexpr std::size_t boundary_bytes_max = 70;  // RFC 2046, 5.1.1

bool equals_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) ==
               std::tolower(static_cast<unsigned char>(y));
    });
}

// The value of `; name=value` or `; name="value"` in a header.
std::optional<std::string> parameter(std::string_view header, std::string_view name) {
    while (true) {
        const std::size_t semicolon = header.find(';');
        if (semicolon == std::string_view::npos) return std::nullopt;
        header = trim(header.substr(semicolon + 1));
        const std::size_t equals = header.find('=');
        if (equals == std::string_view::npos) return std::nullopt;
        const bool found = equals_ignoring_case(trim(header.substr(0, equals)), name);
        std::string_view value = header.substr(equals + 1);
        if (value.starts_with('"')) {
            const std::size_t quote = value.find('"', 1);
            if (quote == std::string_view::npos) return std::nullopt;
            header = value.substr(quote + 1);
            value = value.substr(1, quote - 1);
        } else {
            header = value;
            value = trim(value.substr(0, value.find(';')));
        }
        if (found) return std::string(value);
    }
}

// Whether the Content-Disposition header of a part names the field.
bool names_field(std::string_view headers, std::string_view field) {
    constexpr std::string_view disposition = "content-disposition:";
    while (!headers.empty()) {
        const std::size_t end = std::min(headers.find("\r\n"), headers.size());
        const std::string_view line = headers.substr(0, end);
        headers.remove_prefix(std::min(end + 2, headers.size()));
        if (line.size() >= disposition.size() &&
            equals_ignoring_case(line.substr(0, disposition.size()), disposition)) {
            return parameter(line, "name") == field;
        }
    }
    return false;
}

}  // namespace

bool is_multipart_form(std::string_view content_type) {
    return equals_ignoring_case(trim(content_type.substr(0, content_type.find(';'))), media_type);
}

std::optional<std::string> form_field(std::string_view content_type, std::string_view body,
                                      std::string_view field) {
    const auto boundary = parameter(content_type, "boundary");
    if (!boundary || boundary->empty() || boundary->size() > boundary_bytes_max) {
        return std::nullopt;
    }
    const std::string delimiter = "\r\n--" + *boundary;
    // The first delimiter has no preceding line break.
    if (!body.starts_with(std::string_view(delimiter).substr(2))) return std::nullopt;
    body.remove_prefix(delimiter.size() - 2);
    while (body.starts_with("\r\n")) {
        body.remove_prefix(2);
        const std::size_t end = body.find(delimiter);
        const std::size_t blank = body.find("\r\n\r\n");
        if (end == std::string_view::npos || blank == std::string_view::npos || blank > end) {
            return std::nullopt;
        }
        if (names_field(body.substr(0, blank), field)) {
            const std::size_t begin = blank + 4;
            return std::string(body.substr(begin, end > begin ? end - begin : 0));
        }
        body.remove_prefix(end + delimiter.size());
    }
    return std::nullopt;
}

}  // namespace revenant::http
