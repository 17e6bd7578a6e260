#include "http/server/compression.h"

#include "http/server/ascii_text.h"

#include <boost/beast/zlib/deflate_stream.hpp>
#include <boost/beast/zlib/inflate_stream.hpp>
#include <boost/crc.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace revenant::http {
namespace {

namespace zlib = boost::beast::zlib;

constexpr std::size_t compressed_from_bytes = 300;
constexpr int level = 6;
constexpr int window_bits = 15;
constexpr int memory_level = 8;

void append_little_endian(std::uint32_t value, std::string& out) {
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift);
}

bool is_gzip(std::string_view coding) {
    constexpr std::string_view name = "gzip";
    return coding == "*" ||
           std::equal(coding.begin(), coding.end(), name.begin(), name.end(), [](char a, char b) {
               return std::tolower(static_cast<unsigned char>(a)) == b;
           });
}

// A weight of 0, such as ;q=0 or ;q=0.000, excludes the coding.
bool is_forbidden(std::string_view weight) {
    weight = trim(weight);
    if (!weight.starts_with("q=")) return false;
    weight.remove_prefix(2);
    return weight.find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
    while (!accept_encoding.empty()) {
        const std::size_t comma = std::min(accept_encoding.find(','), accept_encoding.size());
        const std::string_view item = accept_encoding.substr(0, comma);
        accept_encoding.remove_prefix(std::min(comma + 1, accept_encoding.size()));
        const std::size_t semicolon = std::min(item.find(';'), item.size());
        if (!is_gzip(trim(item.substr(0, semicolon)))) continue;
        return semicolon == item.size() || !is_forbidden(item.substr(semicolon + 1));
    }
    return false;
}

std::string gzip(std::string_view bytes) {
    // Magic number, deflate, no flags, no time, no extra flags, unknown system.
    std::string out("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    zlib::deflate_stream stream;
    stream.reset(level, window_bits, memory_level, zlib::Strategy::normal);
    const std::size_t head = out.size();
    out.resize(head + stream.upper_bound(bytes.size()));
    zlib::z_params params;
    params.next_in = bytes.data();
    params.avail_in = bytes.size();
    params.next_out = out.data() + head;
    params.avail_out = out.size() - head;
    boost::system::error_code error;
    stream.write(params, zlib::Flush::finish, error);
    if (error != zlib::error::end_of_stream) return {};
    out.resize(head + params.total_out);
    boost::crc_32_type checksum;
    checksum.process_bytes(bytes.data(), bytes.size());
    append_little_endian(checksum.checksum(), out);
    append_little_endian(static_cast<std::uint32_t>(bytes.size()), out);
    return out;
}

std::string gunzip(std::string_view bytes, std::size_t plain_size) {
    constexpr std::size_t head = 10;
    if (bytes.size() < head) return {};
    bytes.remove_prefix(head);
    std::string out(plain_size + 1, '\0');  // one extra byte, to detect longer content
    zlib::inflate_stream stream;
    zlib::z_params params;
    params.next_in = bytes.data();
    params.avail_in = bytes.size();
    params.next_out = out.data();
    params.avail_out = out.size();
    boost::system::error_code error;
    stream.write(params, zlib::Flush::sync, error);
    if (error != zlib::error::end_of_stream || params.total_out != plain_size) return {};
    out.resize(plain_size);
    return out;
}

void compress(const Request& request, Response& response) {
    if (response.body.size() < compressed_from_bytes) return;
    const std::string* const accepted = request.find_header("accept-encoding");
    if (accepted == nullptr || !accepts_gzip(*accepted)) return;
    std::string compressed = gzip(response.body);
    if (compressed.empty() || compressed.size() >= response.body.size()) return;
    response.body = std::move(compressed);
    response.headers.push_back({"content-encoding", "gzip"});
}

}  // namespace revenant::http
