// Metrics: the page that Prometheus reads, with the names RabbitMQ gives to the same things.
#pragma once

#include "http/api.h"
#include "http/request.h"

#include <string>

namespace revenant::http {

class Metrics final : public Responder {
  public:
    explicit Metrics(Context& context) : context_(context) {}

    Response respond(const Request& request) override;

  private:
    std::string page();

    Context& context_;
};

}  // namespace revenant::http
