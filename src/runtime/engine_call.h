// EngineCall: one wish that no client sent, carried to the engine of a vhost over a connection and
// a channel that exist for this wish only. What AMQP would answer or refuse, it answers or refuses.
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

// Runs a command that is answered; its channel is filled in here.
Result<engine::Done, engine::Refusal> execute(const std::shared_ptr<Vhost>& vhost,
                                              const std::string& user, engine::Command command);

// The same for many, which are on their way to the disk together; the answers in their order.
std::vector<Result<engine::Done, engine::Refusal>> execute_all(
    const std::shared_ptr<Vhost>& vhost, const std::string& user,
    std::vector<engine::Command> commands);

// How long the disk may take to make safe what was done.
constexpr std::chrono::seconds engine_call_timeout{60};
constexpr std::chrono::milliseconds between_looks_at_the_disk{50};

// An answer that waits for the disk, if the vhost is given. A disk that becomes full meanwhile is
// not waited for: the API has few threads, and a broker that stops waits for them. From any thread
// but a reactor's.
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
                                "the disk is full: the change is made when there is room"}};
        }
    }
    return Unexpected{
        engine::Refusal{engine::RefusalKind::precondition_failed,
                        "no answer within 60 seconds: the disk does not take what was done"}};
}

// To a wish that comes to a vhost which was deleted meanwhile: its answer would never be safe.
inline Unexpected<engine::Refusal> vhost_is_gone(const Vhost& vhost) {
    return {
        engine::Refusal{engine::RefusalKind::not_found, "vhost '" + vhost.name() + "' not found"}};
}

// To a wish that a disk without room would keep waiting, and with it the thread that has it.
inline Unexpected<engine::Refusal> disk_is_full() {
    return {engine::Refusal{engine::RefusalKind::precondition_failed,
                            "the disk is full: nothing is changed until there is room"}};
}

}  // namespace revenant::runtime
