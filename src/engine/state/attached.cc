#include "engine/state/attached.h"

#include "base/check.h"

#include <algorithm>
#include <utility>

namespace revenant::engine {

Connection& Attached::open_connection(ConnectionId id, std::string user, ClientProtocol protocol) {
    auto connection = std::make_unique<Connection>();
    connection->id = id;
    connection->user = std::move(user);
    connection->protocol = protocol;
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
    channel->protocol = owner->protocol;
    owner->channels.push_back(id);
    channel_roster_.enter(*channel, channel->roster_place);
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
    set_target(channel, {});
    timeout_checks_.erase({channel.timeout_check, id});
    // Usually the last one: a closing connection closes its channels in reverse order.
    auto& channels = channel.connection->channels;
    const auto listed = std::find(channels.rbegin(), channels.rend(), id);
    channels.erase(std::next(listed).base());
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

void Attached::set_target(Channel& channel, QueueId queue) {
    if (const auto known = channels_by_target_.find(channel.target);
        known != channels_by_target_.end()) {
        std::erase(known->second, channel.id);
        if (known->second.empty()) channels_by_target_.erase(known);
    }
    channel.target = queue;
    if (queue) channels_by_target_[queue].push_back(channel.id);
}

std::vector<ChannelId> Attached::take_channels_targeting(QueueId queue) {
    const auto found = channels_by_target_.find(queue);
    if (found == channels_by_target_.end()) return {};
    std::vector<ChannelId> senders = std::move(found->second);
    channels_by_target_.erase(found);
    for (const ChannelId id : senders) find_channel(id)->target = {};
    return senders;
}

void Attached::plan_timeout_check(Channel& channel, Timestamp at) {
    if (at >= channel.timeout_check) return;
    timeout_checks_.erase({channel.timeout_check, channel.id});
    channel.timeout_check = at;
    timeout_checks_.insert({at, channel.id});
}

Channel* Attached::take_due_timeout_check(Timestamp now) {
    if (next_timeout_check() > now) return nullptr;
    Channel* const channel = find_channel(timeout_checks_.begin()->channel);
    CHECK(channel != nullptr);
    timeout_checks_.erase(timeout_checks_.begin());
    channel->timeout_check = never;
    return channel;
}

}  // namespace revenant::engine
