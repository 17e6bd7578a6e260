#include "engine/attached.h"

#include "base/check.h"

#include <algorithm>
#include <utility>

namespace revenant::engine {

ConsumerGroup& QueueConsumers::group(std::int64_t priority) {
    const auto place = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& group) { return group->priority <= priority; });
    if (place != groups.end() && (*place)->priority == priority) return **place;
    const auto made = groups.insert(place, std::make_unique<ConsumerGroup>());
    (*made)->priority = priority;
    return **made;
}

void QueueConsumers::remove(Consumer& consumer) {
    if (consumer.is_linked()) consumer.unlink();
    std::erase(all, &consumer);
    const auto of_its_priority = [&](const auto& other) {
        return other->priority == consumer.priority;
    };
    if (std::none_of(all.begin(), all.end(), of_its_priority)) {
        std::erase_if(groups, of_its_priority);
    }
}

namespace {

constexpr std::size_t ring_slots_min = 16;
// A ring of at least this size with less than an eighth in use is thinned out instead of doubled.
constexpr std::size_t thinned_ring_slots = 1024;

}  // namespace

void UnsettledRing::make_room() {
    if (slots_.size() >= thinned_ring_slots && count_ < slots_.size() / 8) {
        const std::uint64_t middle = first_ + slots_.size() / 2;
        for (; first_ < middle; ++first_) {
            if (slot(first_).state == Unsettled::State::none) continue;
            stragglers_.emplace(first_, slot(first_));
            count_ -= 1;
        }
        return;
    }
    std::vector<Unsettled> larger(std::max(ring_slots_min, slots_.size() * 2));
    for (std::uint64_t number = first_; number < next_; ++number) {
        larger[number & (larger.size() - 1)] = slot(number);
    }
    slots_ = std::move(larger);
}

DeliveryId UnsettledRing::skip() {
    if (count_ == 0) {
        first_ = next_ + 1;
        return {next_++};
    }
    return add({});
}

DeliveryId UnsettledRing::add(Unsettled unsettled) {
    if (next_ - first_ == slots_.size()) make_room();
    slot(next_) = unsettled;
    if (unsettled.state != Unsettled::State::none) count_ += 1;
    return {next_++};
}

Unsettled* UnsettledRing::find(DeliveryId delivery) {
    if (delivery.value >= next_) return nullptr;
    if (delivery.value < first_) {
        const auto straggler = stragglers_.find(delivery.value);
        return straggler == stragglers_.end() ? nullptr : &straggler->second;
    }
    Unsettled& found = slot(delivery.value);
    return found.state == Unsettled::State::none ? nullptr : &found;
}

void UnsettledRing::remove(DeliveryId delivery) {
    if (delivery.value < first_) {
        stragglers_.erase(delivery.value);
        return;
    }
    slot(delivery.value).state = Unsettled::State::none;
    count_ -= 1;
    while (first_ < next_ && slot(first_).state == Unsettled::State::none) ++first_;
}

void UnsettledRing::collect_up_to(DeliveryId last, std::vector<DeliveryId>& deliveries) {
    for (const auto& [number, unsettled] : stragglers_) {
        if (number > last.value) return;
        deliveries.push_back({number});
    }
    for (std::uint64_t number = first_; number < next_ && number <= last.value; ++number) {
        if (slot(number).state != Unsettled::State::none) deliveries.push_back({number});
    }
}

Connection& Attached::open_connection(ConnectionId id, std::string user) {
    auto connection = std::make_unique<Connection>();
    connection->id = id;
    connection->user = std::move(user);
    const auto [place, fresh] = connections_.emplace(id, std::move(connection));
    CHECK(fresh);
    return *place->second;
}

Connection* Attached::find_connection(ConnectionId id) {
    const auto found = connections_.find(id);
    return found == connections_.end() ? nullptr : found->second.get();
}

void Attached::close_connection(ConnectionId id) { connections_.erase(id); }

Channel& Attached::open_channel(ConnectionId connection, ChannelId id) {
    Connection* const owner = find_connection(connection);
    CHECK(owner != nullptr);
    auto channel = std::make_unique<Channel>();
    channel->id = id;
    channel->connection = owner;
    owner->channels.push_back(id);
    const auto [place, fresh] = channels_.emplace(id, std::move(channel));
    CHECK(fresh);
    return *place->second;
}

Channel* Attached::find_channel(ChannelId id) {
    if (last_channel_ != nullptr && last_channel_->id == id) return last_channel_;
    const auto found = channels_.find(id);
    if (found == channels_.end()) return nullptr;
    last_channel_ = found->second.get();
    return last_channel_;
}

void Attached::close_channel(ChannelId id) {
    const auto found = channels_.find(id);
    CHECK(found != channels_.end());
    Channel& channel = *found->second;
    clear_reply_name(channel);
    std::erase(channel.connection->channels, id);
    if (last_channel_ == &channel) last_channel_ = nullptr;
    channels_.erase(found);
}

void Attached::set_reply_name(Channel& channel, std::string name, std::uint32_t consumer) {
    reply_names_.emplace(name, channel.id);
    channel.reply_name = std::move(name);
    channel.reply_consumer = consumer;
}

void Attached::clear_reply_name(Channel& channel) {
    if (channel.reply_name.empty()) return;
    reply_names_.erase(channel.reply_name);
    channel.reply_name.clear();
}

Channel* Attached::find_reply_channel(std::string_view name) {
    const auto found = reply_names_.find(std::string(name));
    return found == reply_names_.end() ? nullptr : find_channel(found->second);
}

}  // namespace revenant::engine
