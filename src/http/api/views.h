// Views: the data of other modules as JSON objects of the API.
#pragma once

#include "auth/access.h"
#include "engine/view/query.h"
#include "http/api/context.h"
#include "http/api/json.h"
#include "runtime/connection_view.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::http {

json::array to_json(const std::vector<std::string>& strings);
// Null if the name of a policy or a consumer is empty.
json::value name_or_null(const std::string& name);
json::array exchange_types();
// The HTTP listeners.
json::array view_contexts(const ApiSettings& settings);
// The logged-in user, and how long a page may keep the login. management 4.2
json::object view_login(const ApiSettings& settings, const User& user);
// 2026-11-15T21:17:57.065+00:00
std::string date_and_time(Timestamp at);

// The current connections, to find the names for the engine's ids.
class ConnectionNames {
  public:
    explicit ConnectionNames(const Context& context);

    const std::vector<runtime::ConnectionView>& all() const { return connections_; }
    const runtime::ConnectionView* find(ConnectionId connection) const;
    const runtime::ConnectionView* find(std::string_view name) const;
    // The channel's number, which is part of its name; null if the channel no longer exists.
    const runtime::ChannelNumber* find_channel(const runtime::ConnectionView& connection,
                                               ChannelId channel) const;

  private:
    std::vector<runtime::ConnectionView> connections_;
    std::map<ConnectionId, const runtime::ConnectionView*> by_id_;
};

// Whether the caller may see the connection: its own, or any for a monitoring user.
bool sees(const Call& call, const runtime::ConnectionView& connection);
json::object view_connection(const ApiSettings& settings,
                             const runtime::ConnectionView& connection);
// name, peer_host, peer_port
json::object connection_details(const runtime::ConnectionView& connection);
std::string channel_name(const runtime::ConnectionView& connection, std::uint16_t number);
json::array view_consumers(const ApiSettings& settings, const ConnectionNames& peers,
                           std::string_view vhost,
                           const std::vector<engine::ConsumerView>& consumers);
json::object view_binding(std::string_view vhost, const engine::BindingView& binding);
// Whether the request asks for arguments with their types, as revenantctl does (?arguments=typed).
bool wants_typed_arguments(const Call& call);
// 1 if consumers could take more messages, that is, if there are consumers but no ready messages.
double consumer_capacity(const engine::QueueView& queue);
// The last segment of a binding's path. management 4.22
std::string properties_key(const engine::BindingView& binding);

}  // namespace revenant::http
