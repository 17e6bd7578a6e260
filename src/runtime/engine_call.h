// EngineCall: one command that no AMQP client sent, for example from HTTP. It uses a temporary
// connection and channel in the vhost's engine, so replies and refusals are the same as over AMQP.
#pragma once

#include "base/result.h"
#include "engine/words/command.h"
#include "engine/words/effect.h"
#include "engine/words/refusal.h"
#include "runtime/vhost.h"

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace revenant::runtime {

// Runs a command that has a reply. Sets the command's channel.
Result<engine::Done, engine::Refusal> execute(const std::shared_ptr<Vhost>& vhost,
                                              const std::string& user, engine::Command command);

// Runs many commands, which share journal batches. Returns their replies in order.
std::vector<Result<engine::Done, engine::Refusal>> execute_all(
    const std::shared_ptr<Vhost>& vhost, const std::string& user,
    std::vector<engine::Command> commands);

// Maximum time for the disk to make the change durable.
constexpr std::chrono::seconds engine_call_timeout{60};
constexpr std::chrono::milliseconds between_looks_at_the_disk{50};

// Waits for a reply, and for the disk if `written_to` is set. Returns early if the disk becomes
// full, because the API has few threads and shutdown waits for them. Must not be called on a
// reactor's thread.
template <typename Outcome>
Result<Outcome, engine::Refusal> await_answer(std::future<Result<Outcome, engine::Refusal>> answer,
                                              const Vhost* written_to) {
    for (std::chrono::milliseconds waited{}; waited < engine_call_timeout;
         waited += between_looks_at_the_disk) {
        if (answer.wait_for(between_looks_at_the_disk) == std::future_status::ready) {
            return answer.get();
        }
        if (written_to != nullptr && written_to->is_disk_full()) {
            return Unexpected{
                engine::Refusal{engine::RefusalKind::precondition_failed,
                                "the disk is full: the change completes when there is space"}};
        }
    }
    return Unexpected{
        engine::Refusal{engine::RefusalKind::precondition_failed,
                        "timed out after 60 seconds waiting for the change to be written to disk"}};
}

// The reply if the vhost was deleted in the meantime: its reply would never become durable.
inline Unexpected<engine::Refusal> vhost_is_gone(const Vhost& vhost) {
    return {
        engine::Refusal{engine::RefusalKind::not_found, "vhost '" + vhost.name() + "' not found"}};
}

// The reply if the disk is full: the calling thread would wait indefinitely.
inline Unexpected<engine::Refusal> disk_is_full() {
    return {engine::Refusal{engine::RefusalKind::precondition_failed,
                            "the disk is full: nothing is changed until there is space"}};
}

}  // namespace revenant::runtime
