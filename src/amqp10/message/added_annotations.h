// AddedAnnotations: the message annotations of a delivery that do not come from its publisher.
#pragma once

#include "amqp10/codec/type_writer.h"
#include "amqp10/message/delivery_head.h"
#include "engine/words/effect.h"
#include "message/death.h"
#include "message/message.h"

#include <cstdint>
#include <string_view>
#include <unordered_set>

namespace revenant::amqp10 {

class AddedAnnotations {
  public:
    AddedAnnotations(const Message& message, const Envelope* envelope, engine::ShownCounts counts);

    bool died() const { return envelope_ != nullptr && !envelope_->history.deaths.empty(); }
    bool keys_replaced() const { return envelope_ != nullptr && envelope_->keys_replaced; }
    // Whether an annotation of the publisher with that name is replaced.
    bool replaces(std::string_view name) const;
    // Adds the annotations to a map that is being written and returns their number.
    std::uint32_t write(DeliveryHead& head) const;

  private:
    bool is_from_broker(std::string_view name) const;
    std::uint32_t write_from_envelope(DeliveryHead& head) const;

    const Message& message_;
    const Envelope* envelope_;
    engine::ShownCounts counts_;
    std::unordered_set<std::string_view> by_consumers_;
};

}  // namespace revenant::amqp10
