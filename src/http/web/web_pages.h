// WebPages: serves the web pages at / and passes requests below /api to the HTTP API.
#pragma once

#include "http/server/request.h"
#include "http/web/web_assets.h"

#include <optional>
#include <span>

namespace revenant::http {

class WebPages final : public Responder {
  public:
    // The API must outlive the pages. Without assets, / says that the build has no pages.
    WebPages(Responder& api, std::span<const WebAsset> assets) : api_(api), assets_(assets) {}

    Response respond(const Request& request) override;
    std::optional<Response> refuse_early(const Request& request) override;

  private:
    Responder& api_;
    std::span<const WebAsset> assets_;
};

}  // namespace revenant::http
