// The compressed files of the web pages, embedded into the program by web/build.mjs.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace revenant::http {

struct WebAsset {
    std::string_view name;  // index.html, main-ABCD1234.js, …
    std::string_view content_type;
    std::string_view tag;        // ETag, including the quotes
    bool immutable = false;      // the name contains a hash of the content
    std::string_view gzip;       // the compressed content
    std::size_t plain_size = 0;  // size of the uncompressed content
};

// Defined in a generated file. Empty in a build without web pages (REVENANT_WEB=OFF).
std::span<const WebAsset> web_assets();

}  // namespace revenant::http
