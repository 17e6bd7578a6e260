// /dead-letters: how many messages died, in which queues, of what, and where they are now. Ours:
// what RabbitMQ's API does not say. docs/web.md
#include "http/api.h"
#include "http/listing.h"
#include "http/long_listing.h"
#include "http/measured.h"
#include "http/responses.h"
#include "http/views.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace revenant::http {
namespace {

using engine::DeathOutcome;
using engine::DeathOutcomes;

constexpr std::size_t top_count = 8;
constexpr std::size_t names_max = 20;  // of sources or targets in one item

struct Found {
    std::string vhost;
    engine::DeadLetterPath path;
};
struct Target {
    std::string vhost;
    std::string name;
    engine::DeadLetterRest rest;
    std::vector<const Found*> sources;
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

// Outcomes that never happened are left out.
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
        view[to_string(reason)] = trend.details(died_figure(reason), range);
    });
    return view;
}

// Why dead letters of a queue would be lost, as far as it can be seen from settings and bindings.
json::value problem_of(const engine::DeadLetterPath& path) {
    if (!path.exchange) return nullptr;
    if (path.exchange_type.empty()) return "exchange_missing";
    if (path.targets.empty() && !path.targets_unknown) return "no_route";
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

void add_path(const engine::DeadLetterPath& path, json::object& view) {
    view["dead_letter_exchange"] = optional_name(path.exchange);
    view["dead_letter_routing_key"] = optional_name(path.routing_key);
    view["exchange_type"] = name_or_null(path.exchange_type);
    view["problem"] = problem_of(path);
    view["targets"] = first_names(path.targets);
    view["target_count"] = path.targets.size();
}

// The vhosts that a call is about: ?vhost= or all that the caller may look into.
std::vector<std::string> asked_vhosts(Context& context, const Call& call) {
    std::vector<std::string> visible = context.visible_vhosts(call);
    const auto asked = call.query.find("vhost");
    if (asked == call.query.end()) return visible;
    if (std::find(visible.begin(), visible.end(), asked->second) == visible.end()) return {};
    return {asked->second};
}

std::vector<Found> find_paths(Context& context, const std::vector<std::string>& vhosts) {
    std::vector<Found> found;
    for (const std::string& vhost : vhosts) {
        auto paths = context.ask(vhost, engine::list_dead_letter_paths);
        if (!paths) continue;
        for (auto& path : *paths) found.push_back({vhost, std::move(path)});
    }
    return found;
}

// Queues that are a target of a path, with those that send there.
std::vector<Target> find_targets(Context& context, const std::vector<Found>& paths) {
    std::map<std::pair<std::string, std::string>, std::vector<const Found*>> sources;
    for (const Found& one : paths) {
        for (const std::string& target : one.path.targets) {
            sources[{one.vhost, target}].push_back(&one);
        }
    }
    std::vector<Target> targets;
    for (auto at = sources.begin(); at != sources.end();) {
        const std::string& vhost = at->first.first;
        const auto end = std::find_if(at, sources.end(),
                                      [&](const auto& one) { return one.first.first != vhost; });
        const auto rests = context.ask(vhost, [&](engine::Engine& engine) {
            std::vector<std::optional<engine::DeadLetterRest>> list;
            for (auto one = at; one != end; ++one) {
                list.push_back(find_dead_letter_rest(engine, one->first.second));
            }
            return list;
        });
        for (std::size_t i = 0; at != end; ++at, ++i) {
            if (!rests || !(*rests)[i]) continue;
            targets.push_back({vhost, at->first.second, *(*rests)[i], std::move(at->second)});
        }
    }
    return targets;
}

// -------------------------------------------------------------------------- the whole at a glance

struct Cause {
    const Found* found = nullptr;
    DeathReason reason = DeathReason::rejected;
    std::uint64_t deaths = 0;
};

// The most frequent deaths, by queue and reason.
std::vector<Cause> top_causes(const std::vector<Found>& paths) {
    std::vector<Cause> causes;
    for (const Found& one : paths) {
        for_each_reason([&](DeathReason reason) {
            const std::uint64_t deaths = one.path.deaths.of(reason);
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

json::array view_top(const std::vector<Found>& paths, const Wanted& wanted) {
    json::array view;
    for (const Cause& cause : top_causes(paths)) {
        const auto& [vhost, path] = *cause.found;
        json::object item{
            {"vhost", to_json_string(vhost)},
            {"name", to_json_string(path.queue)},
            {"reason", to_string(cause.reason)},
            {"deaths", cause.deaths},
            {"dropped", dropped(path.deaths, cause.reason)},
            {"outcomes", view_outcomes(path.deaths, cause.reason)},
            {"rate", wanted.trend_of(queue_key(vhost, path.id)).rate(died_figure(cause.reason))}};
        add_path(path, item);
        view.push_back(std::move(item));
    }
    return view;
}

// Of the queues that dead letters end in.
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

json::object view_problems(const std::vector<Found>& paths) {
    std::uint64_t missing = 0;
    std::uint64_t no_route = 0;
    for (const Found& one : paths) {
        const json::value problem = problem_of(one.path);
        if (problem == "exchange_missing") missing += 1;
        if (problem == "no_route") no_route += 1;
    }
    return {{"exchange_missing", missing}, {"no_route", no_route}};
}

Response summarize(Context& context, const Call& call) {
    const auto wanted = Wanted::of(context, call);
    if (!wanted) return wanted.error();
    const std::vector<std::string> vhosts = asked_vhosts(context, call);
    const std::vector<Found> paths = find_paths(context, vhosts);
    const NodeSums sums = context.sums();
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
        static_cast<std::uint64_t>(std::count_if(paths.begin(), paths.end(), [](const Found& one) {
            std::uint64_t deaths = 0;
            for_each_reason([&](DeathReason reason) { deaths += one.path.deaths.of(reason); });
            return deaths > 0;
        }));
    return show(call, json::object{
                          {"since", context.settings().started_at.whole_ms()},
                          {"deaths", view_outcomes(totals.traffic.death_outcomes)},
                          {"deaths_details", std::move(trend)},
                          {"accounts",
                           {{"entered", totals.accounts.entered},
                            {"ended", totals.accounts.ended_total()},
                            {"present", totals.messages()}}},
                          {"targets", view_targets(find_targets(context, paths))},
                          {"problems", view_problems(paths)},
                          {"sources", died_in},
                          {"top", view_top(paths, *wanted)},
                      });
}

// -------------------------------------------------------------------------- lists

json::object view_target(const Target& target) {
    json::array sources;
    json::object deaths;
    for_each_reason([&](DeathReason reason) {
        std::uint64_t count = 0;
        for (const Found* one : target.sources) count += dead_lettered(one->path.deaths, reason);
        deaths[to_string(reason)] = count;
    });
    for (std::size_t i = 0; i < std::min(target.sources.size(), names_max); ++i) {
        sources.emplace_back(to_json_string(target.sources[i]->path.queue));
    }
    return {{"vhost", to_json_string(target.vhost)},       {"name", to_json_string(target.name)},
            {"type", engine::to_string(target.rest.kind)}, {"messages", target.rest.messages},
            {"messages_ready", target.rest.ready},         {"message_bytes", target.rest.bytes},
            {"consumers", target.rest.consumers},          {"rests", !target.rest.goes_on},
            {"oldest", view_time(target.rest.oldest)},     {"sources", std::move(sources)},
            {"source_count", target.sources.size()},       {"deaths", std::move(deaths)}};
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
    const std::vector<Found> paths = find_paths(context, asked_vhosts(context, call));
    const std::vector<Target> targets = find_targets(context, paths);
    return list_items(
        call, targets, [](const Target& target) { return target.name; }, view_target);
}

json::object view_source(const Found& one) {
    std::uint64_t died = 0;
    std::uint64_t lost = 0;
    for_each_reason([&](DeathReason reason) {
        died += one.path.deaths.of(reason);
        lost += dropped(one.path.deaths, reason);
    });
    json::object view{{"vhost", to_json_string(one.vhost)},
                      {"name", to_json_string(one.path.queue)},
                      {"deaths", view_outcomes(one.path.deaths)},
                      {"died", died},
                      {"dropped", lost}};
    add_path(one.path, view);
    return view;
}

// ?only=died and ?only=problems leave the others out.
Response list_sources(Context& context, const Call& call) {
    std::vector<Found> paths = find_paths(context, asked_vhosts(context, call));
    const std::string_view only = call.asked("only");
    std::erase_if(paths, [&](const Found& one) {
        if (only == "problems") return problem_of(one.path).is_null();
        if (only != "died") return false;
        bool any = false;
        for_each_reason([&](DeathReason reason) { any = any || one.path.deaths.of(reason) > 0; });
        return !any;
    });
    return list_items(
        call, paths, [](const Found& one) { return one.path.queue; }, view_source);
}

// -------------------------------------------------------------------------- one queue

Response show_deaths_of_queue(Context& context, const Call& call) {
    const auto wanted = Wanted::of(context, call);
    if (!wanted) return wanted.error();
    const std::string& vhost = call.parameter(0);
    const std::string& name = call.parameter(1);
    struct Asked {
        std::optional<engine::DeadLetterPath> path;
        std::optional<engine::DeadLetterRest> rest;
        std::vector<engine::DeadLetterPath> all;
    };
    const auto asked = context.ask(vhost, [&](engine::Engine& engine) {
        return Asked{find_dead_letter_path(engine, name), find_dead_letter_rest(engine, name),
                     list_dead_letter_paths(engine)};
    });
    if (!asked || !asked->path) return not_found();
    json::array fed_by;
    std::size_t feeders = 0;
    for (const engine::DeadLetterPath& one : asked->all) {
        if (!std::binary_search(one.targets.begin(), one.targets.end(), name)) continue;
        if (++feeders > names_max) continue;
        json::object deaths;
        for_each_reason([&](DeathReason reason) {
            deaths[to_string(reason)] = dead_lettered(one.deaths, reason);
        });
        fed_by.push_back(
            json::object{{"name", to_json_string(one.queue)}, {"deaths", std::move(deaths)}});
    }
    const Trend trend = wanted->trend_of_one(queue_key(vhost, asked->path->id));
    json::object view{{"deaths", view_outcomes(asked->path->deaths)},
                      {"deaths_details", view_trend(trend, wanted->ranges().message_rates)},
                      {"fed_by", std::move(fed_by)},
                      {"fed_by_count", feeders},
                      {"oldest", view_time(asked->rest ? asked->rest->oldest : std::nullopt)}};
    add_path(*asked->path, view);
    return show(call, std::move(view));
}

}  // namespace

void add_dead_letter_routes(Router& router, Context& context) {
    router.add("GET", "/dead-letters", Role::management,
               [&](const Call& call) { return summarize(context, call); });
    router.add("GET", "/dead-letters/queues", Role::management,
               [&](const Call& call) { return list_targets(context, call); });
    router.add("GET", "/dead-letters/sources", Role::management,
               [&](const Call& call) { return list_sources(context, call); });
    router.add("GET", "/queues/*/*/deaths", Role::vhost_visible,
               [&](const Call& call) { return show_deaths_of_queue(context, call); });
}

}  // namespace revenant::http
