// Api: responds to every request below /api. Authenticates the caller, checks its role and calls
// the route's action. START READING HERE.
#pragma once

#include "http/api/context.h"
#include "http/api/login.h"
#include "http/api/router.h"
#include "http/server/cors.h"
#include "http/server/request.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace revenant::http {

class Api final : public Responder {
  public:
    Api(ApiSettings settings, runtime::Broker& broker);
    ~Api() override;
    Api(const Api&) = delete;
    Api& operator=(const Api&) = delete;

    Response respond(const Request& request) override;
    std::optional<Response> refuse_early(const Request& request) override;
    Context& context() { return context_; }
    std::vector<std::string> routes() const { return router_.routes(); }
    // Stops the sampling thread. Must be called before the broker stops.
    void stop();

  private:
    std::optional<Response> check_role(const Call& call, Role role) const;
    CorsRules cors_rules() const;
    Response answer(const Request& request);
    Result<Login, Response> log_in_counted(const Request& request, const AccessTable& access);
    void sample_until_stopped();

    Context context_;
    Router router_;
    std::mutex mutex_;  // guards stopping_
    std::condition_variable stopped_;
    bool stopping_ = false;
    std::thread sampler_;
};

}  // namespace revenant::http
