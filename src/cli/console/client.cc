#include "cli/console/client.h"

#include "base/base64.h"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace revenant::cli {
namespace {

Unexpected<NoResponse> bad_response(std::string text) {
    return Unexpected{NoResponse{NoResponse::Reason::unreachable, std::move(text)}};
}

std::optional<std::size_t> content_length(std::string_view headers) {
    constexpr std::string_view name = "\r\ncontent-length:";
    const auto found = std::search(headers.begin(), headers.end(), name.begin(), name.end(),
                                   [](unsigned char a, char b) { return std::tolower(a) == b; });
    if (found == headers.end()) return std::nullopt;
    std::string_view digits = headers.substr(found - headers.begin() + name.size());
    while (digits.starts_with(' ')) digits.remove_prefix(1);
    std::size_t length = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), length);
    return length;
}

// "HTTP/1.1 200 OK", headers, an empty line, the body.
Result<Reply, NoResponse> parse_reply(const std::string& text) {
    constexpr std::string_view protocol = "HTTP/1.";
    const std::size_t end_of_headers = text.find("\r\n\r\n");
    Reply reply;
    if (!text.starts_with(protocol) || end_of_headers == std::string::npos || text.size() < 12) {
        return bad_response(text.empty() ? "the connection was closed" : "invalid HTTP response");
    }
    std::from_chars(text.data() + 9, text.data() + 12, reply.status);
    if (reply.status < 200) return parse_reply(text.substr(end_of_headers + 4));
    reply.body = text.substr(end_of_headers + 4);
    const auto length = content_length(std::string_view(text).substr(0, end_of_headers + 2));
    if (length && reply.body.size() < *length) return bad_response("response truncated");
    return reply;
}

}  // namespace

boost::json::value Reply::json() const {
    boost::system::error_code error;
    boost::json::value value = boost::json::parse(body, error);
    return error ? boost::json::value(nullptr) : value;
}

std::string Reply::reason() const {
    const boost::json::value value = json();
    if (value.is_object()) {
        if (const auto* const reason = value.get_object().if_contains("reason")) {
            return reason->is_string() ? std::string(reason->get_string()) : body;
        }
    }
    return "HTTP status " + std::to_string(status);
}

Result<Client, std::string> Client::make(const ClientSettings& settings) {
    constexpr std::string_view plain_scheme = "http://";
    constexpr std::string_view secure_scheme = "https://";
    std::string_view rest = settings.url;
    Client client(settings);
    client.secure_ = rest.starts_with(secure_scheme);
    const std::string_view scheme = client.secure_ ? secure_scheme : plain_scheme;
    if (!rest.starts_with(scheme)) {
        return Unexpected{"not an http:// or https:// URL: " + settings.url};
    }
    rest.remove_prefix(scheme.size());
    const std::size_t slash = rest.find('/');
    if (slash != std::string_view::npos) client.prefix_ = rest.substr(slash);
    while (client.prefix_.ends_with('/')) client.prefix_.pop_back();
    rest = rest.substr(0, slash);
    // [::1]:15672
    const std::size_t bracket = rest.starts_with('[') ? rest.find(']') : std::string_view::npos;
    const std::size_t colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
    client.host_ = rest.substr(0, colon);
    if (bracket != std::string_view::npos) client.host_ = rest.substr(1, bracket - 1);
    const std::string_view usual_port = client.secure_ ? "15671" : "15672";
    client.port_ = colon == std::string_view::npos ? usual_port : rest.substr(colon + 1);
    if (client.host_.empty() || client.port_.empty()) {
        return Unexpected{"not a URL with a host: " + settings.url};
    }
    return client;
}

std::optional<std::string> Client::try_connect(const std::string& host, const std::string& port,
                                               double timeout_seconds) {
    const auto stream = Stream::connect(host, port, timeout_seconds);
    if (stream) return std::nullopt;
    return stream.error().text;
}

Client Client::as(std::string user, std::string password) const {
    Client other = *this;
    other.settings_.user = std::move(user);
    other.settings_.password = std::move(password);
    return other;
}

Result<Reply, NoResponse> Client::send(std::string_view method, const std::string& path,
                                       const std::string& body, const Headers& headers) const {
    std::string request(method);
    request += " " + prefix_ + "/api" + path + " HTTP/1.1\r\nHost: " + host_ + ":" + port_ +
               "\r\nConnection: close\r\nAuthorization: Basic " +
               base64_encode(settings_.user + ":" + settings_.password) + "\r\n";
    for (const auto& [name, value] : headers) {
        request.append(name).append(": ").append(value).append("\r\n");
    }
    if (!body.empty()) request += "Content-Type: application/json\r\n";
    request += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    REVENANT_TRY(Stream stream, Stream::connect(host_, port_, settings_.timeout_seconds));
    if (secure_) REVENANT_TRY_VOID(stream.start_tls(host_, settings_.trust));
    REVENANT_TRY_VOID(stream.write_all(request));
    REVENANT_TRY(const std::string text, stream.read_all());
    return parse_reply(text);
}

std::string escape(std::string_view name) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
    std::string escaped;
    for (const char c : name) {
        if (plain.find(c) != std::string_view::npos) {
            escaped += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            escaped += '%';
            escaped += digits[byte >> 4];
            escaped += digits[byte & 15];
        }
    }
    return escaped;
}

}  // namespace revenant::cli
