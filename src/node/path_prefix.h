// PathPrefix: moves all paths of a Responder below a prefix. Other paths are not found.
#pragma once

#include "http/server/request.h"

#include <optional>
#include <string>
#include <utility>

namespace revenant::node {

class PathPrefix final : public http::Responder {
  public:
    // Maps paths below `outside` to paths below `inside`.
    PathPrefix(http::Responder& responder, std::string outside, std::string inside)
        : responder_(responder), outside_(std::move(outside)), inside_(std::move(inside)) {}

    http::Response respond(const http::Request& request) override;
    std::optional<http::Response> refuse_early(const http::Request& request) override;

  private:
    std::optional<http::Request> translate(const http::Request& request) const;

    http::Responder& responder_;
    const std::string outside_;
    const std::string inside_;
};

}  // namespace revenant::node
