// Publishing one message and fetching some for a user of the API, each over a connection and a
// channel that exist for this wish only. Answered when what was promised is safe on the disk.
#pragma once

#include "base/result.h"
#include "engine/view/query.h"
#include "runtime/broker.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace revenant::http {

// However many are asked for: an answer carries messages with about this many bytes at most.
constexpr std::uint64_t fetched_bytes_max = 64 * 1024 * 1024;

enum class PublishOutcome : std::uint8_t { routed, unroutable, rejected };
// Mandatory and confirmed. The command's channel is filled in here.
Result<PublishOutcome, engine::Refusal> publish_one(const std::shared_ptr<runtime::Vhost>& vhost,
                                                    const std::string& user,
                                                    engine::Publish command);

struct FetchRequest {
    std::string queue;
    std::uint64_t count = 0;
    bool no_ack = false;
    engine::Outcome outcome;  // of everything fetched, unless no_ack
};
Result<std::vector<engine::GetAnswer>, engine::Refusal> fetch_some(
    const std::shared_ptr<runtime::Vhost>& vhost, const std::string& user, FetchRequest wish);

}  // namespace revenant::http
