// Errand: one wish of a user of the API, carried to the engine of a vhost over a connection and a
// channel that exist for this wish only. What AMQP would answer or refuse, it answers or refuses.
#pragma once

#include "base/result.h"
#include "catalog/catalog.h"
#include "engine/query.h"
#include "http/request.h"
#include "http/responses.h"
#include "http/router.h"
#include "protocol/rights.h"
#include "runtime/broker.h"

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::http {

// Runs a command that is answered; its channel is filled in here.
Result<engine::Done, engine::Refusal> carry_out(const std::shared_ptr<runtime::Vhost>& vhost,
                                                const std::string& user, engine::Command command);

// The same for many, which are on their way to the disk together; the answers in their order.
std::vector<Result<engine::Done, engine::Refusal>> carry_out_all(
    const std::shared_ptr<runtime::Vhost>& vhost, const std::string& user,
    std::vector<engine::Command> commands);

// How long the disk may take to make safe what was done.
constexpr std::chrono::seconds errand_patience{60};
constexpr std::chrono::milliseconds between_looks_at_the_disk{50};

// An answer that waits for the disk, if the vhost is given. A disk that becomes full meanwhile is
// not waited for: the API has few threads, and a broker that stops waits for them. From any thread
// but a reactor's.
template <typename Outcome>
Result<Outcome, engine::Refusal> await_answer(std::future<Result<Outcome, engine::Refusal>> answer,
                                              const runtime::Vhost* written_to) {
    for (std::chrono::milliseconds waited{}; waited < errand_patience;
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
inline Unexpected<engine::Refusal> vhost_is_gone(const runtime::Vhost& vhost) {
    return {
        engine::Refusal{engine::RefusalKind::not_found, "vhost '" + vhost.name() + "' not found"}};
}

// To a wish that a disk without room would keep waiting, and with it the thread that has it.
inline Unexpected<engine::Refusal> disk_is_full() {
    return {engine::Refusal{engine::RefusalKind::precondition_failed,
                            "the disk is full: nothing is changed until there is room"}};
}

// management 1.7
Response response_to(const engine::Refusal& refusal);
// The same of the catalog: 404 for what does not exist.
Response response_to(const CatalogRefusal& refusal);
// To a wish to change or remove something that must be there.
template <typename Outcome>
Response change_response(const Outcome& outcome) {
    return outcome ? no_content() : response_to(outcome.error());
}

// What the caller may do in a vhost by its AMQP permissions. amqp091 15
inline protocol::Rights rights_of(const Call& call, std::string_view vhost) {
    return {*call.access, call.user->name, vhost};
}

// "Access refused.", as HTTP tells every lack of AMQP permissions.
Response access_refused();

// Names and routing keys are short strings of AMQP.
constexpr std::size_t short_string_bytes_max = 255;

// A name in a path as AMQP would take it: at most 255 bytes, without line breaks.
std::optional<std::string> amqp_name(std::string_view name);
// The same for an exchange: amq.default means the one without a name.
std::optional<std::string> exchange_name(std::string_view name);

}  // namespace revenant::http
