// /dead-letters: deaths by queue and reason, and the queues with dead letters. Not in RabbitMQ.
// docs/web.md
#include "http/api/listing.h"
#include "http/api/object_stats.h"
#include "http/api/objects/dead_letter_paths.h"
#include "http/api/objects/dead_letter_queues.h"
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/api/streamed_listing.h"
#include "http/api/views.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace revenant::http {
namespace {

using engine::DeathOutcome;
using engine::DeathOutcomes;

constexpr std::size_t top_count = 8;
constexpr std::size_t names_max = 20;  // sources or targets per item

// Paths with the same targets, and the number of dead letters by reason.
struct Feed {
    std::vector<const DeadLetterPath*> paths;  // sorted by name
    std::array<std::uint64_t, death_reason_count> dead_lettered{};
};
struct Target {
    std::string vhost;
    std::string name;
    engine::DeadLetterRest rest;
    std::vector<const Feed*> feeds;

    std::uint64_t dead_lettered(DeathReason reason) const {
        std::uint64_t sum = 0;
        for (const Feed* feed : feeds) {
            sum += feed->dead_lettered[static_cast<std::size_t>(reason)];
        }
        return sum;
    }
    std::size_t source_count() const {
        std::size_t sum = 0;
        for (const Feed* feed : feeds) sum += feed->paths.size();
        return sum;
    }
};

std::uint64_t dead_lettered(const DeathOutcomes& deaths, DeathReason reason) {
    return deaths.of(reason, DeathOutcome::dead_lettered) +
           deaths.of(reason, DeathOutcome::waiting);
}
std::uint64_t dropped(const DeathOutcomes& deaths, DeathReason reason) {
    return deaths.of(reason) - dead_lettered(deaths, reason);
}

template <typename Visit>
void for_each_reason(Visit visit) {
    for (std::size_t i = 0; i < death_reason_count; ++i) visit(static_cast<DeathReason>(i));
}

// Omits outcomes with a count of 0.
json::object view_outcomes(const DeathOutcomes& deaths, DeathReason reason) {
    json::object view;
    for (std::size_t i = 0; i < engine::death_outcome_count; ++i) {
        const auto outcome = static_cast<DeathOutcome>(i);
        const std::uint64_t count = deaths.of(reason, outcome);
        if (count > 0) view[engine::to_string(outcome)] = count;
    }
    return view;
}

json::object view_outcomes(const DeathOutcomes& deaths) {
    json::object view;
    for_each_reason(
        [&](DeathReason reason) { view[to_string(reason)] = view_outcomes(deaths, reason); });
    return view;
}

json::object view_trend(const Trend& trend, const std::optional<Range>& range) {
    json::object view;
    for_each_reason([&](DeathReason reason) {
        view[to_string(reason)] = trend.details(died_stat(reason), range);
    });
    return view;
}

// Why dead letters of the queue would be dropped, judging by settings and bindings.
json::value problem_of(const DeadLetterPath& path) {
    if (path.reach == nullptr) return nullptr;
    if (path.reach->exchange_type.empty()) return "exchange_missing";
    if (path.reach->targets.empty() && !path.reach->unknown) return "no_route";
    return nullptr;
}

json::value optional_name(const std::optional<std::string>& name) {
    return name ? json::value(to_json_string(*name)) : json::value(nullptr);
}

json::value view_time(const std::optional<Timestamp>& at) {
    return at ? json::value(at->whole_ms()) : json::value(nullptr);
}

json::array first_names(const std::vector<std::string>& names) {
    json::array view;
    for (std::size_t i = 0; i < std::min(names.size(), names_max); ++i) {
        view.emplace_back(to_json_string(names[i]));
    }
    return view;
}

void add_path(const DeadLetterPath& path, json::object& view) {
    static const Reach nowhere;
    const Reach& reach = path.reach == nullptr ? nowhere : *path.reach;
    view["dead_letter_exchange"] = optional_name(path.source.exchange);
    view["dead_letter_routing_key"] = optional_name(path.source.routing_key);
    view["exchange_type"] = name_or_null(reach.exchange_type);
    view["problem"] = problem_of(path);
    view["targets"] = first_names(reach.targets);
    view["target_count"] = reach.targets.size();
}

// The virtual host in ?vhost=, or all that the caller may see.
std::vector<std::string> asked_vhosts(Context& context, const Call& call) {
    std::vector<std::string> visible = context.visible_vhosts(call);
    const auto asked = call.query.find("vhost");
    if (asked == call.query.end()) return visible;
    if (std::find(visible.begin(), visible.end(), asked->second) == visible.end()) return {};
    return {asked->second};
}

std::vector<DeadLetterPath> find_paths(Context& context, const std::vector<std::string>& vhosts) {
    std::vector<DeadLetterPath> all;
    for (const std::string& vhost : vhosts) {
        auto paths = context.list(vhost, dead_letter_paths_in);
        if (!paths) continue;
        std::move(paths->begin(), paths->end(), std::back_inserter(all));
    }
    return all;
}

// Groups paths by their targets. Queues with the same policy have the same targets.
std::map<const Reach*, Feed> gather_feeds(const std::vector<DeadLetterPath>& paths) {
    std::map<const Reach*, Feed> feeds;
    for (const DeadLetterPath& path : paths) {
        if (path.reach == nullptr) continue;
        Feed& feed = feeds[path.reach.get()];
        feed.paths.push_back(&path);
        for_each_reason([&](DeathReason reason) {
            feed.dead_lettered[static_cast<std::size_t>(reason)] +=
                dead_lettered(path.source.deaths, reason);
        });
    }
    return feeds;
}

// In the order of the names; absent for queues that no longer exist.
std::vector<std::optional<engine::DeadLetterRest>> find_rests(Context& context,
                                                              const std::string& vhost,
                                                              std::span<const std::string> names) {
    std::vector<std::optional<engine::DeadLetterRest>> rests;
    for (std::size_t at = 0; at < names.size(); at += engine::part_items_max) {
        const auto some = names.subspan(at, std::min(engine::part_items_max, names.size() - at));
        const auto part = context.ask(vhost, [&](engine::Engine& engine) {
            std::vector<std::optional<engine::DeadLetterRest>> list;
            for (const std::string& name : some) {
                list.push_back(find_dead_letter_rest(engine, name));
            }
            return list;
        });
        if (part) rests.insert(rests.end(), part->begin(), part->end());
    }
    rests.resize(names.size());
    return rests;
}

// Queues that are a target of a path, with their sources; sorted by virtual host and name.
class Targets {
  public:
    Targets(Context& context, const std::vector<DeadLetterPath>& paths)
        : feeds_(gather_feeds(paths)) {
        std::map<std::string, std::map<std::string, std::vector<const Feed*>>> by_vhost;
        for (const auto& [reach, feed] : feeds_) {
            auto& in_vhost = by_vhost[feed.paths.front()->vhost];
            for (const std::string& target : reach->targets) in_vhost[target].push_back(&feed);
        }
        for (auto& [vhost, found] : by_vhost) add(context, vhost, found);
    }
    const std::vector<Target>& all() const { return all_; }
    const Target* find(const std::string& vhost, const std::string& name) const {
        const auto wanted = std::tie(vhost, name);
        const auto found = std::lower_bound(
            all_.begin(), all_.end(), wanted,
            [](const Target& a, const auto& b) { return std::tie(a.vhost, a.name) < b; });
        if (found == all_.end() || std::tie(found->vhost, found->name) != wanted) return nullptr;
        return &*found;
    }

  private:
    void add(Context& context, const std::string& vhost,
             std::map<std::string, std::vector<const Feed*>>& found) {
        std::vector<std::string> names;
        for (const auto& [name, feeds] : found) names.push_back(name);
        const auto rests = find_rests(context, vhost, names);
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (rests[i]) {
                all_.push_back({vhost, names[i], *rests[i], std::move(found[names[i]])});
            }
        }
    }

    std::map<const Reach*, Feed> feeds_;
    std::vector<Target> all_;
};

// -------------------------------------------------------------------------- overview

struct Cause {
    const DeadLetterPath* path = nullptr;
    DeathReason reason = DeathReason::rejected;
    std::uint64_t deaths = 0;
};

// The queues and reasons with the most deaths.
std::vector<Cause> top_causes(const std::vector<DeadLetterPath>& paths) {
    std::vector<Cause> causes;
    for (const DeadLetterPath& one : paths) {
        for_each_reason([&](DeathReason reason) {
            const std::uint64_t deaths = one.source.deaths.of(reason);
            if (deaths > 0) causes.push_back({&one, reason, deaths});
        });
    }
    const std::size_t kept = std::min(top_count, causes.size());
    std::partial_sort(causes.begin(), causes.begin() + static_cast<std::ptrdiff_t>(kept),
                      causes.end(),
                      [](const Cause& a, const Cause& b) { return a.deaths > b.deaths; });
    causes.resize(kept);
    return causes;
}

// The number of messages in each target that add_path() lists.
json::array view_target_messages(const DeadLetterPath& path, const Targets& targets) {
    json::array view;
    if (path.reach == nullptr) return view;
    const std::vector<std::string>& names = path.reach->targets;
    for (std::size_t i = 0; i < std::min(names.size(), names_max); ++i) {
        const Target* target = targets.find(path.vhost, names[i]);
        view.emplace_back(target == nullptr ? 0 : target->rest.messages);
    }
    return view;
}

json::array view_top(const std::vector<DeadLetterPath>& paths, const Targets& targets,
                     const StatsRequest& wanted) {
    json::array view;
    for (const Cause& cause : top_causes(paths)) {
        const engine::DeadLetterSource& source = cause.path->source;
        const Trend trend = wanted.trend_of(queue_key(cause.path->vhost, source.id));
        json::object item{{"vhost", to_json_string(cause.path->vhost)},
                          {"name", to_json_string(source.queue)},
                          {"reason", to_string(cause.reason)},
                          {"deaths", cause.deaths},
                          {"dropped", dropped(source.deaths, cause.reason)},
                          {"outcomes", view_outcomes(source.deaths, cause.reason)},
                          {"rate", trend.rate(died_stat(cause.reason))}};
        add_path(*cause.path, item);
        item["target_messages"] = view_target_messages(*cause.path, targets);
        view.push_back(std::move(item));
    }
    return view;
}

// Totals of the target queues.
json::object view_targets(const std::vector<Target>& targets) {
    std::uint64_t queues = 0;
    std::uint64_t messages = 0;
    std::uint64_t unattended = 0;
    std::optional<Timestamp> oldest;
    for (const Target& target : targets) {
        if (target.rest.goes_on) continue;
        queues += 1;
        messages += target.rest.messages;
        if (target.rest.messages > 0 && target.rest.consumers == 0) unattended += 1;
        if (target.rest.oldest && (!oldest || *target.rest.oldest < *oldest)) {
            oldest = target.rest.oldest;
        }
    }
    return {{"queues", queues},
            {"messages", messages},
            {"unattended", unattended},
            {"oldest", view_time(oldest)}};
}

json::object view_problems(const std::vector<DeadLetterPath>& paths) {
    std::uint64_t missing = 0;
    std::uint64_t no_route = 0;
    for (const DeadLetterPath& one : paths) {
        const json::value problem = problem_of(one);
        if (problem == "exchange_missing") missing += 1;
        if (problem == "no_route") no_route += 1;
    }
    return {{"exchange_missing", missing}, {"no_route", no_route}};
}

bool any_died(const DeadLetterPath& path) {
    std::uint64_t deaths = 0;
    for_each_reason([&](DeathReason reason) { deaths += path.source.deaths.of(reason); });
    return deaths > 0;
}

Response summarize(Context& context, const Call& call) {
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    const std::vector<std::string> vhosts = asked_vhosts(context, call);
    const std::vector<DeadLetterPath> paths = find_paths(context, vhosts);
    const Targets targets(context, paths);
    const NodeCounters sums = context.node_counters();
    const bool everything = vhosts.size() == sums.by_vhost.size();
    engine::Totals totals;
    for (const std::string& vhost : vhosts) {
        const auto one = sums.by_vhost.find(vhost);
        if (one != sums.by_vhost.end()) totals += one->second.totals;
    }
    if (everything) totals = sums.all.totals;
    json::object trend;
    if (everything)
        trend = view_trend(wanted->trend_of_one(node_key()), wanted->ranges().message_rates);
    if (vhosts.size() == 1 && !everything) {
        trend = view_trend(wanted->trend_of_one(vhost_key(vhosts.front())),
                           wanted->ranges().message_rates);
    }
    const auto died_in =
        static_cast<std::uint64_t>(std::count_if(paths.begin(), paths.end(), any_died));
    return show(call, json::object{
                          {"since", context.settings().started_at.whole_ms()},
                          {"deaths", view_outcomes(totals.traffic.death_outcomes)},
                          {"deaths_details", std::move(trend)},
                          {"accounts",
                           {{"entered", totals.accounts.entered},
                            {"ended", totals.accounts.ended_total()},
                            {"present", totals.messages()}}},
                          {"targets", view_targets(targets.all())},
                          {"problems", view_problems(paths)},
                          {"sources", died_in},
                          {"top", view_top(paths, targets, *wanted)},
                      });
}

// -------------------------------------------------------------------------- lists

// The first sources in the order of their names.
json::array first_sources(const Target& target) {
    std::vector<std::string> names;
    for (const Feed* feed : target.feeds) {
        for (std::size_t i = 0; i < std::min(feed->paths.size(), names_max); ++i) {
            names.push_back(feed->paths[i]->source.queue);
        }
    }
    std::sort(names.begin(), names.end());
    return first_names(names);
}

json::object view_target(const Target& target) {
    json::object deaths;
    for_each_reason(
        [&](DeathReason reason) { deaths[to_string(reason)] = target.dead_lettered(reason); });
    return {{"vhost", to_json_string(target.vhost)},       {"name", to_json_string(target.name)},
            {"type", engine::to_string(target.rest.kind)}, {"messages", target.rest.messages},
            {"messages_ready", target.rest.ready},         {"message_bytes", target.rest.bytes},
            {"consumers", target.rest.consumers},          {"rests", !target.rest.goes_on},
            {"oldest", view_time(target.rest.oldest)},     {"sources", first_sources(target)},
            {"source_count", target.source_count()},       {"deaths", std::move(deaths)}};
}

template <typename Item, typename Name, typename View>
Response list_items(const Call& call, const std::vector<Item>& items, Name name, View view) {
    return list_some_at_a_time(call, {.count = items.size(),
                                      .name = [&](std::size_t index) { return name(items[index]); },
                                      .views =
                                          [&](std::span<const std::size_t> indexes) {
                                              std::vector<std::optional<json::object>> views;
                                              for (const std::size_t index : indexes)
                                                  views.emplace_back(view(items[index]));
                                              return views;
                                          }});
}

Response list_targets(Context& context, const Call& call) {
    const std::vector<DeadLetterPath> paths = find_paths(context, asked_vhosts(context, call));
    const Targets targets(context, paths);
    return list_items(
        call, targets.all(), [](const Target& target) { return target.name; }, view_target);
}

json::object view_source(const DeadLetterPath& path) {
    const DeathOutcomes& deaths = path.source.deaths;
    std::uint64_t died = 0;
    std::uint64_t lost = 0;
    for_each_reason([&](DeathReason reason) {
        died += deaths.of(reason);
        lost += dropped(deaths, reason);
    });
    json::object view{{"vhost", to_json_string(path.vhost)},
                      {"name", to_json_string(path.source.queue)},
                      {"deaths", view_outcomes(deaths)},
                      {"died", died},
                      {"dropped", lost}};
    add_path(path, view);
    return view;
}

// Filters: ?only=died, ?only=problems, ?exchange=NAME.
Response list_sources(Context& context, const Call& call) {
    std::vector<DeadLetterPath> paths = find_paths(context, asked_vhosts(context, call));
    const std::string_view only = call.query_parameter("only");
    const auto exchange = call.query.find("exchange");
    std::erase_if(paths, [&](const DeadLetterPath& path) {
        if (exchange != call.query.end() && path.source.exchange != exchange->second) return true;
        if (only == "problems") return problem_of(path).is_null();
        return only == "died" && !any_died(path);
    });
    return list_items(
        call, paths, [](const DeadLetterPath& path) { return path.source.queue; }, view_source);
}

// A dead-letter exchange and the queues that use it.
struct Sink {
    std::string vhost;
    std::string exchange;
    std::vector<const DeadLetterPath*> paths;  // sorted by name
};

std::vector<Sink> gather_sinks(const std::vector<DeadLetterPath>& paths) {
    std::map<std::pair<std::string, std::string>, std::vector<const DeadLetterPath*>> by_name;
    for (const DeadLetterPath& path : paths) {
        if (path.source.exchange) by_name[{path.vhost, *path.source.exchange}].push_back(&path);
    }
    std::vector<Sink> sinks;
    for (auto& [name, sources] : by_name) {
        sinks.push_back({name.first, name.second, std::move(sources)});
    }
    return sinks;
}

json::object view_sink(const Sink& sink) {
    std::uint64_t died = 0;
    std::vector<std::string> names;
    for (const DeadLetterPath* path : sink.paths) {
        for_each_reason([&](DeathReason reason) { died += path->source.deaths.of(reason); });
        if (names.size() < names_max) names.push_back(path->source.queue);
    }
    const Reach* reach = sink.paths.front()->reach.get();
    return {{"vhost", to_json_string(sink.vhost)},
            {"name", to_json_string(sink.exchange)},
            {"exists", reach != nullptr && !reach->exchange_type.empty()},
            {"sources", first_names(names)},
            {"source_count", sink.paths.size()},
            {"died", died}};
}

Response list_exchanges(Context& context, const Call& call) {
    const std::vector<DeadLetterPath> paths = find_paths(context, asked_vhosts(context, call));
    return list_items(
        call, gather_sinks(paths), [](const Sink& sink) { return sink.exchange; }, view_sink);
}

// -------------------------------------------------------------------------- one queue

Response show_deaths_of_queue(Context& context, const Call& call) {
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    const std::string& vhost = call.parameter(0);
    const std::string& name = call.parameter(1);
    struct Asked {
        std::optional<engine::DeadLetterSource> source;
        std::optional<engine::DeadLetterRest> rest;
    };
    const auto asked = context.ask(vhost, [&](engine::Engine& engine) {
        return Asked{find_dead_letter_source(engine, name), find_dead_letter_rest(engine, name)};
    });
    if (!asked || !asked->source) return not_found();
    const std::vector<DeadLetterPath> paths = find_paths(context, {vhost});
    DeadLetterPath own{vhost, *asked->source, nullptr};
    json::array fed_by;
    std::size_t feeders = 0;
    for (const DeadLetterPath& one : paths) {
        if (one.source.id == own.source.id) own = one;
        if (one.reach == nullptr) continue;
        const std::vector<std::string>& targets = one.reach->targets;
        if (!std::binary_search(targets.begin(), targets.end(), name)) continue;
        if (++feeders > names_max) continue;
        json::object deaths;
        for_each_reason([&](DeathReason reason) {
            deaths[to_string(reason)] = dead_lettered(one.source.deaths, reason);
        });
        fed_by.push_back(json::object{{"name", to_json_string(one.source.queue)},
                                      {"deaths", std::move(deaths)}});
    }
    const Trend trend = wanted->trend_of_one(queue_key(vhost, own.source.id));
    json::object view{{"deaths", view_outcomes(own.source.deaths)},
                      {"deaths_details", view_trend(trend, wanted->ranges().message_rates)},
                      {"fed_by", std::move(fed_by)},
                      {"fed_by_count", feeders},
                      {"oldest", view_time(asked->rest ? asked->rest->oldest : std::nullopt)}};
    add_path(own, view);
    return show(call, std::move(view));
}

}  // namespace

std::set<std::string> queues_with_dead_letters(Context& context, const std::string& vhost) {
    const std::vector<DeadLetterPath> paths = find_paths(context, {vhost});
    std::set<std::string> names;
    const Targets targets(context, paths);
    for (const auto& target : targets.all()) {
        if (!target.rest.goes_on && target.rest.messages > 0) names.insert(target.name);
    }
    return names;
}

void add_dead_letter_routes(Router& router, Context& context) {
    router.add("GET", "/dead-letters", Role::management,
               [&](const Call& call) { return summarize(context, call); });
    router.add("GET", "/dead-letters/queues", Role::management,
               [&](const Call& call) { return list_targets(context, call); });
    router.add("GET", "/dead-letters/exchanges", Role::management,
               [&](const Call& call) { return list_exchanges(context, call); });
    router.add("GET", "/dead-letters/sources", Role::management,
               [&](const Call& call) { return list_sources(context, call); });
    router.add("GET", "/queues/*/*/deaths", Role::vhost_visible,
               [&](const Call& call) { return show_deaths_of_queue(context, call); });
}

}  // namespace revenant::http
