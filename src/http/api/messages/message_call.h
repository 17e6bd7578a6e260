// Publishing one message and fetching messages for an API user. Each request has its own temporary
// connection and channel. A publish is answered when the message is durable.
#pragma once

#include "base/result.h"
#include "engine/view/query.h"
#include "runtime/broker.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace revenant::http {

// Approximate limit of the total size of the fetched messages, whatever their requested number.
constexpr std::uint64_t fetched_bytes_max = 64 * 1024 * 1024;

enum class PublishOutcome : std::uint8_t { routed, unroutable, rejected };
// Publishes as mandatory and with a confirm. Sets the channel of the command.
Result<PublishOutcome, engine::Refusal> publish_one(const std::shared_ptr<runtime::Vhost>& vhost,
                                                    const std::string& user,
                                                    engine::Publish command);

struct FetchRequest {
    std::string queue;
    std::uint64_t count = 0;
    bool no_ack = false;
    engine::Outcome outcome;  // for all fetched messages, unless no_ack
};
Result<std::vector<engine::GetAnswer>, engine::Refusal> fetch_some(
    const std::shared_ptr<runtime::Vhost>& vhost, const std::string& user, FetchRequest wish);

}  // namespace revenant::http
