// Views: what the rest of the house tells about its things, as the JSON objects of the API.
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
// Of a policy or a consumer: empty means there is none.
json::value name_or_null(const std::string& name);
json::array exchange_types();
// Where pages are served.
json::array view_contexts(const ApiSettings& settings);
// Who is logged in, and for how long a page may keep that. management 4.2
json::object view_login(const ApiSettings& settings, const User& user);
// 2026-11-15T21:17:57.065+00:00
std::string date_and_time(Timestamp at);

// The connections of the moment, to find names for the ids the engine knows.
class ConnectionNames {
  public:
    explicit ConnectionNames(const Context& context);

    const std::vector<runtime::ConnectionView>& all() const { return connections_; }
    const runtime::ConnectionView* find(ConnectionId connection) const;
    const runtime::ConnectionView* find(std::string_view name) const;
    // Its number on the connection, for its name; 0 if it is gone meanwhile.
    const runtime::ChannelNumber* find_channel(const runtime::ConnectionView& connection,
                                               ChannelId channel) const;

  private:
    std::vector<runtime::ConnectionView> connections_;
    std::map<ConnectionId, const runtime::ConnectionView*> by_id_;
};

// One's own connections, all for those who monitor.
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
// The last part of a binding's address. management 4.22
// Whether the caller asks for arguments with their types, as revenantctl does (?arguments=typed).
bool wants_typed_arguments(const Call& call);
// Whether consumers could take more at this moment: they can when nothing waits for them.
double consumer_capacity(const engine::QueueView& queue);
std::string properties_key(const engine::BindingView& binding);

}  // namespace revenant::http
