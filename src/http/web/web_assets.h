// The files of the web pages, compressed, as web/build.mjs has put them into the program.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace revenant::http {

struct WebAsset {
    std::string_view name;  // index.html, main-ABCD1234.js, …
    std::string_view content_type;
    std::string_view tag;        // for ETag, with its quotes
    bool immutable = false;      // the name changes whenever the content does
    std::string_view gzip;       // the content, compressed
    std::size_t plain_size = 0;  // of the content
};

// Defined in a generated file; none in a build without the web pages (REVENANT_WEB=OFF).
std::span<const WebAsset> web_assets();

}  // namespace revenant::http
