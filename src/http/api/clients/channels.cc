// /channels: state from the engine, names from the network. management 4.25
#include "http/api/listing.h"
#include "http/api/object_stats.h"
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/api/views.h"

#include <map>
#include <utility>

namespace revenant::http {
namespace {

using Channels = std::map<ChannelId, engine::ChannelView>;

Channels channels_of(Context& context, const std::string& vhost) {
    Channels channels;
    const auto views = context.list(vhost, channels_in);
    if (!views) return channels;
    for (const engine::ChannelView& view : *views) channels.emplace(view.id, view);
    return channels;
}

json::object view_channel(const ApiSettings& settings, const runtime::ConnectionView& connection,
                          const runtime::ChannelNumber& number, const engine::ChannelView& channel,
                          const StatsRequest& wanted, const Trend& trend) {
    json::object view{{"name", channel_name(connection, number.number)},
                      {"number", number.number},
                      {"node", settings.node_name},
                      {"vhost", to_json_string(connection.vhost)},
                      {"user", to_json_string(connection.user)},
                      {"user_who_performed_action", to_json_string(connection.user)},
                      {"state", "running"},
                      {"connection_details", connection_details(connection)},
                      {"confirm", number.confirming},
                      {"transactional", channel.transactional},
                      {"consumer_count", channel.consumers},
                      {"prefetch_count", channel.prefetch},
                      {"global_prefetch_count", channel.global_prefetch},
                      {"messages_unacknowledged", channel.unacked},
                      {"messages_unconfirmed", channel.unconfirmed},
                      {"messages_uncommitted", channel.uncommitted_messages},
                      {"acks_uncommitted", channel.uncommitted_settlements},
                      {"pending_raft_commands", 0}};
    if (!wanted.stats()) return view;
    add_message_stats(view, stats_of(channel.stats), trend, channel_message_stats(), wanted);
    return view;
}

// Lists the channels of the connections that `chosen` selects.
template <typename Chosen>
Response list_channels(Context& context, const Call& call, Chosen chosen) {
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    json::array views;
    std::map<std::string, Channels> by_vhost;
    const ConnectionNames peers(context);
    for (const runtime::ConnectionView& connection : peers.all()) {
        // The engine has a channel per AMQP 1.0 link, but AMQP 1.0 clients have no channels.
        if (connection.protocol != engine::ClientProtocol::amqp091) continue;
        if (connection.channels.empty() || !chosen(connection)) continue;
        auto found = by_vhost.find(connection.vhost);
        if (found == by_vhost.end()) {
            found =
                by_vhost.emplace(connection.vhost, channels_of(context, connection.vhost)).first;
        }
        for (const runtime::ChannelNumber& number : connection.channels) {
            const auto channel = found->second.find(number.id);
            if (channel == found->second.end()) continue;  // closing
            views.push_back(view_channel(context.settings(), connection, number, channel->second,
                                         *wanted, wanted->trend_of(channel_key(number.id))));
        }
    }
    return list(call, std::move(views));
}

// CONNECTION (NUMBER)
struct Named {
    const runtime::ConnectionView* connection = nullptr;
    const runtime::ChannelNumber* number = nullptr;
};

Named find_named(const ConnectionNames& peers, const std::string& name) {
    Named named;
    named.connection = peers.find(std::string_view(name).substr(0, name.rfind(" (")));
    if (named.connection == nullptr) return named;
    for (const runtime::ChannelNumber& number : named.connection->channels) {
        if (channel_name(*named.connection, number.number) == name) named.number = &number;
    }
    return named;
}

Response show_channel(Context& context, const Call& call) {
    const ConnectionNames peers(context);
    const auto [connection, number] = find_named(peers, call.parameter(0));
    if (number == nullptr) return not_found();
    if (!sees(call, *connection)) return not_authorised("User not authorised to access object");
    const auto channel = context
                             .ask(connection->vhost,
                                  [id = number->id](engine::Engine& engine) {
                                      return engine::find_channel(engine, id);
                                  })
                             .value_or(std::nullopt);
    if (!channel) return not_found();
    const auto consumers =
        context.list(connection->vhost, consumers_in, engine::ConsumerFilter{.channel = number->id})
            .value_or(std::vector<engine::ConsumerView>{});
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    json::object view = view_channel(context.settings(), *connection, *number, *channel, *wanted,
                                     wanted->trend_of_one(channel_key(number->id)));
    view["consumer_details"] =
        view_consumers(context.settings(), peers, connection->vhost, consumers);
    view["publishes"] = json::array{};
    view["deliveries"] = json::array{};
    return show(call, std::move(view));
}

Response list_of_connection(Context& context, const Call& call) {
    const ConnectionNames peers(context);
    const auto* const connection = peers.find(call.parameter(0));
    if (connection == nullptr) return not_found();
    if (!sees(call, *connection)) return not_authorised("User not authorised to access object");
    return list_channels(context, call,
                         [&](const auto& one) { return one.name == connection->name; });
}

}  // namespace

void add_channel_routes(Router& router, Context& context) {
    router.add("GET", "/channels", Role::management, [&](const Call& call) {
        return list_channels(context, call, [&](const auto& one) { return sees(call, one); });
    });
    router.add("GET", "/channels/*", Role::management,
               [&](const Call& call) { return show_channel(context, call); });
    router.add("GET", "/connections/*/channels", Role::management,
               [&](const Call& call) { return list_of_connection(context, call); });
    router.add("GET", "/vhosts/*/channels", Role::vhost_visible, [&](const Call& call) {
        return list_channels(context, call, [&](const auto& one) {
            return one.vhost == call.parameter(0) && sees(call, one);
        });
    });
}

}  // namespace revenant::http
