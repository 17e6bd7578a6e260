#include "tests/sim/vhost_world.h"

#include "engine/recovery/snapshot_codec.h"
#include "engine/view/describe.h"
#include "tests/support/scenario.h"

#include <gtest/gtest.h>

#include <utility>

namespace revenant::sim {
namespace {

using engine::arguments;

const std::string vhost_directory = "/data/vhosts/%2F";
const std::vector<std::string> queue_names{"work", "dead", "guarded", "full", "passing"};

runtime::StoreSettings store_settings() {
    runtime::StoreSettings settings;
    settings.journal.segments = {
        .segment_bytes = 4096, .fill_bytes = 1024, .small_batch_bytes = 512, .spares_max = 1};
    settings.snapshot_after_bytes = 6000;
    settings.idle_snapshot_after_bytes = 1000;
    settings.compact_for_bytes = 3000;
    settings.compact_for_files = 4;
    return settings;
}

}  // namespace

VhostWorld::VhostWorld(std::uint64_t seed) : disk(seed), dice_(seed) {}

VhostWorld::~VhostWorld() = default;

// ------------------------------------------------------------------------- processes

std::optional<std::string> VhostWorld::start() {
    auto store = runtime::VhostStore::open(disk, std::make_unique<BorrowedWorker>(worker_),
                                           vhost_directory, store_settings(),
                                           [](const std::string& why) { throw ProcessEnded{why}; });
    if (!store) return store.error();
    engine::EngineSettings settings{.formats = {&engine::test_message_format()},
                                    .memory_budget_bytes = 1500};
    vhost_ = std::make_unique<runtime::Vhost>(std::move(settings), reactor_, nullptr,
                                              std::move(store).value());
    vhost_->engine().state().paging().page_bytes_min = 300;
    vhost_->engine().state().paging().shed_bytes_min = 0;
    try {
        if (auto recovered = vhost_->recover(now_); !recovered) return recovered.error();
        states_ = {durable_state()};
    } catch (const ProcessEnded& ended) {
        return ended.why;
    }
    vhost_->listen({.durable = {},
                    .failed = [](const std::string& why) { throw ProcessEnded{why}; },
                    .disk_full = [this](bool is_full) { times_full_ += is_full ? 1 : 0; }});
    promised_ = 0;
    turn_of_publish_.clear();
    turns_of_answers_.clear();
    unsettled_.clear();
    published_ = 0;
    consumers_ = 0;
    connection_ = reactor_.register_sink(*this);
    try {
        handle(engine::OpenConnection{{connection_}, "guest"}, Answered::never);
        open_channel();
        declare_all();
    } catch (const ProcessEnded&) {
        disk.crash();
    }
    return std::nullopt;
}

void VhostWorld::end(SimDisk::Loss loss) {
    vhost_.reset();
    worker_.forget_all();
    if (channel_ != 0) reactor_.release_sink(std::exchange(channel_, 0));
    if (connection_ != 0) reactor_.release_sink(std::exchange(connection_, 0));
    disk.restart(loss);
}

bool VhostWorld::stop_cleanly() {
    try {
        vhost_->engine().handle(engine::CloseConnection{{connection_}}, now_);
        states_.push_back(durable_state());
        bool closed = false;
        vhost_->close([&] { closed = true; });
        for (int i = 0; i < 1000 && !closed && !disk.crashed(); ++i) {
            worker_.run_all();
            vhost_->tick();
        }
        return closed;
    } catch (const ProcessEnded&) {
        return false;
    }
}

bool VhostWorld::step() {
    try {
        act();
        vhost_->flush();
        run_disk();
        if (dice_.one_in(7)) vhost_->tick();
    } catch (const ProcessEnded&) {
        return false;
    }
    return !disk.crashed();
}

void VhostWorld::run_disk() {
    while (dice_.percent(45) && worker_.work_one()) {
    }
    while (dice_.percent(60) && worker_.tell_one()) {
    }
}

std::string VhostWorld::durable_state() {
    engine::State& state = vhost_->engine().state();
    if (!leaves_pages_alone_) return engine::describe(state, engine::DescribeScope::durable);
    const bool failing = disk.fails_reads();
    disk.fail_reads(false);
    const std::string snapshot = engine::encode_snapshot(state, engine::Shutdown::none);
    engine::State copy;
    copy.paging().store = state.paging().store;
    copy.paging().formats = state.paging().formats;
    std::string described = "a snapshot that nobody can read";
    if (engine::decode_snapshot(snapshot, copy)) {
        described = engine::describe(copy, engine::DescribeScope::durable);
    }
    disk.fail_reads(failing);
    return described;
}

std::uint64_t VhostWorld::parked() {
    std::uint64_t count = 0;
    for (const engine::Queue* queue : vhost_->engine().state().queues_by_name()) {
        count += queue->parked().count;
    }
    return count;
}

bool VhostWorld::accounts_agree() {
    engine::State& state = vhost_->engine().state();
    std::uint64_t here = 0;
    for (const engine::Queue* queue : state.queues_by_name()) here += queue->message_count();
    return state.accounts().entered == state.accounts().ended_total() + here;
}

// ------------------------------------------------------------------------- effects

// An immediate answer, or one to a turn without durable changes, reports nothing as durable.
void VhostWorld::promise(std::size_t turn) {
    if (turn == nothing_promised || turn >= states_.size()) return;
    if (states_[turn] == states_[turn - 1]) return;
    promised_ = std::max(promised_, turn);
}

bool VhostWorld::deliver(engine::Deliver&& effect) {
    unsettled_.push_back(effect.delivery.value);
    return true;
}

void VhostWorld::confirm(const engine::Confirm& effect) {
    const auto found = turn_of_publish_.find(effect.sequence);
    if (found == turn_of_publish_.end()) return;
    promise(found->second);
    turn_of_publish_.erase(turn_of_publish_.begin(), std::next(found));
}

void VhostWorld::request(engine::Effect&& effect) {
    if (auto* done = std::get_if<engine::Done>(&effect)) {
        if (auto* got = std::get_if<engine::GetAnswer>(&done->answer)) {
            if (got->message) unsettled_.push_back(got->delivery.value);
        } else if (!turns_of_answers_.empty()) {
            promise(turns_of_answers_.front());
        }
        if (!turns_of_answers_.empty()) turns_of_answers_.pop_front();
    } else if (std::holds_alternative<engine::Refuse>(effect)) {
        channel_open_ = false;
    }
}

// ------------------------------------------------------------------------- actions

void VhostWorld::handle(engine::Command&& command, Answered answered) {
    const std::size_t turn = states_.size();
    if (answered == Answered::with_a_promise) turns_of_answers_.push_back(turn);
    if (answered == Answered::without) turns_of_answers_.push_back(nothing_promised);
    const std::uint64_t failed_reads = disk.counts().failed_reads;
    const std::uint64_t parked_before = parked();
    const bool removes_parked = std::holds_alternative<engine::PurgeQueue>(command) ||
                                std::holds_alternative<engine::DeleteQueue>(command);
    vhost_->engine().handle(std::move(command), now_);
    const bool failed = disk.counts().failed_reads > failed_reads;
    if (failed && !removes_parked && parked() <= parked_before) {
        has_parked_the_unreadable_ = false;
    }
    states_.push_back(durable_state());
}

void VhostWorld::open_channel() {
    if (channel_ != 0) reactor_.release_sink(channel_);
    channel_ = reactor_.register_sink(*this);
    handle(engine::OpenChannel{{connection_}, {channel_}}, Answered::never);
    channel_open_ = true;
    transactional_ = false;
    will_survive_ = false;
    turns_of_answers_.clear();
    turn_of_publish_.clear();
    unsettled_.clear();
}

void VhostWorld::declare_all() {
    const auto declare = [&](const char* name, bool durable, Table given) {
        handle(engine::DeclareQueue{.channel = {channel_},
                                    .name = name,
                                    .durable = durable,
                                    .arguments = std::move(given)});
    };
    const Table to_dead =
        arguments({{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "dead"}});
    const auto with = [&](Table more) {
        more.insert(more.end(), to_dead.begin(), to_dead.end());
        return more;
    };
    declare("dead", true, {});
    declare("work", true, with(arguments({{"x-message-ttl", 2000}})));
    declare("guarded", true,
            with(arguments({{"x-queue-type", "quorum"},
                            {"x-delivery-limit", 2},
                            {"x-overflow", "reject-publish"},
                            {"x-dead-letter-strategy", "at-least-once"}})));
    declare("full", true, with(arguments({{"x-max-length", 3}})));
    declare("passing", false, with({}));
    for (const char* queue : {"work", "full", "passing"}) {
        handle(engine::Bind{.channel = {channel_}, .source = "amq.fanout", .destination = queue});
    }
}

std::string VhostWorld::any_queue() { return queue_names[dice_.below(queue_names.size())]; }

MessageRef VhostWorld::any_message() {
    engine::PublishOptions options;
    if (dice_.one_in(5)) options.exchange = "amq.fanout";
    options.persistent = dice_.percent(75);
    if (dice_.one_in(6)) options.ttl_ms = static_cast<std::int64_t>(dice_.below(3000));
    const std::string padding(dice_.one_in(10) ? dice_.below(900) : dice_.below(60), '.');
    return engine::make_test_message(any_queue(), "m" + std::to_string(++bodies_) + padding,
                                     options);
}

void VhostWorld::publish() {
    engine::Publish command;
    command.channel = {channel_};
    command.message = any_message();
    // Regardless of other changes in its turn, a confirm of a transient message reports nothing as
    // durable.
    const bool survives =
        command.message->persistent() &&
        (command.message->routing_key() != "passing" || !command.message->exchange().empty());
    will_survive_ = transactional_ && (will_survive_ || survives);
    if (!transactional_) {
        command.confirm_sequence = ++published_;
        if (survives) turn_of_publish_[published_] = states_.size();
    }
    handle(std::move(command), Answered::never);
}

void VhostWorld::take_or_consume() {
    if (dice_.one_in(4)) {
        handle(
            engine::Consume{.channel = {channel_}, .consumer = ++consumers_, .queue = any_queue()},
            Answered::without);
    } else {
        handle(engine::Get{{channel_}, any_queue(), dice_.one_in(4)});
    }
}

void VhostWorld::settle() {
    if (unsettled_.empty()) return take_or_consume();
    const std::size_t index = dice_.below(unsettled_.size());
    engine::Settle command;
    command.channel = {channel_};
    command.delivery = {unsettled_[index]};
    command.multiple = dice_.one_in(4);
    constexpr engine::OutcomeKind kinds[] = {engine::OutcomeKind::accepted,
                                             engine::OutcomeKind::rejected,
                                             engine::OutcomeKind::released};
    command.outcome = {kinds[dice_.below(3)], dice_.one_in(2)};
    if (command.multiple) {
        std::erase_if(unsettled_, [&](std::uint64_t one) { return one <= command.delivery.value; });
    } else {
        unsettled_.erase(unsettled_.begin() + static_cast<std::ptrdiff_t>(index));
    }
    handle(std::move(command), Answered::never);
}

void VhostWorld::change_definitions() {
    const std::string queue = any_queue();
    if (queue == "passing") {
        handle(engine::PurgeQueue{{channel_}, "work"});
    } else if (queue == "dead") {
        handle(engine::Bind{.channel = {channel_},
                            .source = "amq.fanout",
                            .destination = "dead",
                            .routing_key = std::to_string(dice_.below(3))});
    } else {
        handle(engine::DeleteQueue{.channel = {channel_}, .name = queue});
        declare_all();
    }
}

void VhostWorld::change_policy() {
    if (dice_.one_in(2)) {
        handle(engine::ClearPolicy{{channel_}, engine::PolicyScope::user, "p"});
        return;
    }
    engine::Policy policy;
    policy.name = "p";
    policy.pattern = any_queue();
    policy.apply_to = engine::ApplyTo::queues;
    policy.definition = arguments({{"max-length", static_cast<int>(1 + dice_.below(4))}});
    handle(engine::SetPolicy{{channel_}, engine::PolicyScope::user, policy});
}

void VhostWorld::commit() {
    if (!transactional_) {
        handle(engine::SelectTransaction{{channel_}}, Answered::without);
        transactional_ = true;
        return;
    }
    // A transient message may push out a persistent one; this is not reported as durable.
    handle(engine::Commit{{channel_}},
           std::exchange(will_survive_, false) ? Answered::with_a_promise : Answered::without);
}

void VhostWorld::act() {
    now_ = now_ + milliseconds(static_cast<std::int64_t>(dice_.below(200)));
    if (!channel_open_) open_channel();
    const std::uint64_t choice = dice_.below(100);
    if (choice < 45) {
        publish();
    } else if (choice < 60) {
        take_or_consume();
    } else if (choice < 85) {
        settle();
    } else if (choice < 88) {
        change_definitions();
    } else if (choice < 91) {
        change_policy();
    } else if (choice < 94) {
        commit();
    } else if (choice < 95) {
        handle(engine::CloseChannel{{channel_}}, Answered::never);
        channel_open_ = false;
    } else {
        now_ = now_ + milliseconds(1500);
        handle(engine::Tick{}, Answered::never);
    }
}

}  // namespace revenant::sim
