#include "tests/golden/golden_vhost.h"

#include "amqp091/message/properties.h"
#include "amqp10/codec/descriptors.h"
#include "amqp10/codec/performatives.gen.h"
#include "amqp10/message/incoming_message.h"
#include "amqp10/message/message_format.h"
#include "base/check.h"
#include "tests/golden/golden_description.h"
#include "tests/golden/golden_properties.h"
#include "tests/support/inline_worker.h"
#include "tests/support/scenario.h"

#include <utility>

namespace revenant::golden {

using amqp10::Datum;
namespace {

using engine::arguments;
using engine::OutcomeKind;

// Small, so that a short history fills several segments and pages.
runtime::StoreSettings store_settings() {
    runtime::StoreSettings settings;
    settings.journal.segments = {
        .segment_bytes = 8192, .fill_bytes = 512, .small_batch_bytes = 1024, .spares_max = 1};
    settings.snapshot_after_bytes = UINT64_MAX;
    return settings;
}

Table dead_letters_to(const char* exchange, const char* key) {
    return arguments({{"x-dead-letter-exchange", exchange}, {"x-dead-letter-routing-key", key}});
}

Table operator+(Table first, const Table& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

}  // namespace

GoldenVhost::GoldenVhost(journal::Disk& disk, std::string directory)
    : disk_(disk), directory_(std::move(directory)) {}

GoldenVhost::~GoldenVhost() = default;

std::optional<std::string> GoldenVhost::start() {
    auto store =
        runtime::VhostStore::open(disk_, std::make_unique<InlineWorker>(), directory_,
                                  store_settings(), [](const std::string&) { UNREACHABLE(); });
    if (!store) return store.error();
    store_ = store->get();
    engine::EngineSettings settings{
        .formats = {&amqp091::message_format(), &amqp10::message_format()},
        .memory_budget_bytes = 24'000};
    vhost_ = std::make_unique<runtime::Vhost>(std::move(settings), reactor_, nullptr,
                                              std::move(store).value());
    vhost_->engine().state().paging().page_bytes_min = 1000;
    if (auto recovered = vhost_->recover(now_); !recovered) return recovered.error();
    vhost_->listen({.durable = {},
                    .failed = [](const std::string&) { UNREACHABLE(); },
                    .disk_full = [](bool) { UNREACHABLE(); }});
    return std::nullopt;
}

void GoldenVhost::stop() {
    bool closed = false;
    vhost_->close([&] { closed = true; });
    vhost_->tick();
    CHECK(closed);
    end();
}

void GoldenVhost::end() { vhost_.reset(); }

std::string GoldenVhost::description() { return describe_all(vhost_->engine().state()); }

bool GoldenVhost::deliver(engine::Deliver&& effect) {
    last_delivery_ = effect.delivery.value;
    return true;
}

void GoldenVhost::request(engine::Effect&& effect) {
    CHECK(!std::holds_alternative<engine::Refuse>(effect));
    if (auto* done = std::get_if<engine::Done>(&effect)) {
        if (auto* got = std::get_if<engine::GetAnswer>(&done->answer)) {
            CHECK(got->message);
            last_delivery_ = got->delivery.value;
        }
    }
}

// ------------------------------------------------------------------------- commands

void GoldenVhost::do_now(engine::Command&& command) {
    vhost_->engine().handle(std::move(command), now_);
    vhost_->flush();
    vhost_->tick();
}

void GoldenVhost::wait(std::int64_t ms) {
    now_ = now_ + milliseconds(ms);
    do_now(engine::Tick{});
}

void GoldenVhost::open_channel() {
    connection_ = reactor_.register_sink(*this);
    do_now(engine::OpenConnection{{connection_}, "guest"});
    channel_ = reactor_.register_sink(*this);
    do_now(engine::OpenChannel{{connection_}, {channel_}});
}

void GoldenVhost::declare_exchange(std::string name, std::string type, Table given) {
    do_now(engine::DeclareExchange{.channel = {channel_},
                                   .name = std::move(name),
                                   .type = std::move(type),
                                   .durable = true,
                                   .arguments = std::move(given)});
}

void GoldenVhost::declare_queue(std::string name, Table given, bool durable) {
    do_now(engine::DeclareQueue{.channel = {channel_},
                                .name = std::move(name),
                                .durable = durable,
                                .arguments = std::move(given)});
}

void GoldenVhost::bind(std::string source, std::string destination, std::string key, Table given,
                       engine::DestinationKind kind) {
    do_now(engine::Bind{.channel = {channel_},
                        .source = std::move(source),
                        .destination_kind = kind,
                        .destination = std::move(destination),
                        .routing_key = std::move(key),
                        .arguments = std::move(given)});
}

void GoldenVhost::publish(std::string exchange, std::string key, std::string_view body,
                          std::string_view properties) {
    auto read = amqp091::read_published(properties, "");
    CHECK(read.has_value());
    engine::Publish command;
    command.channel = {channel_};
    command.message = make_message(exchange, key, read->rewritten.value_or(std::string(properties)),
                                   body, std::move(read->head));
    do_now(std::move(command));
}

void GoldenVhost::get_and_settle(const std::string& queue, engine::Outcome outcome,
                                 Ref<const engine::OutcomeDetails> details) {
    do_now(engine::Get{{channel_}, queue, /*no_ack=*/false});
    do_now(engine::Settle{.channel = {channel_},
                          .delivery = {last_delivery_},
                          .multiple = false,
                          .outcome = outcome,
                          .details = std::move(details)});
}

void GoldenVhost::reject_in_a_passing_queue() {
    declare_queue("passing", dead_letters_to("", "dead"), /*durable=*/false);
    publish("", "passing", "dies in a queue that passes", persistent());
    get_and_settle("passing", {OutcomeKind::rejected});
}

void GoldenVhost::set_policy(engine::PolicyScope scope, engine::Policy policy) {
    do_now(engine::SetPolicy{{channel_}, scope, std::move(policy)});
}

// ------------------------------------------------------------------------- history

void GoldenVhost::live() {
    CHECK(!start());
    open_channel();
    declare_exchanges();
    declare_queues();
    bind_everything();
    set_policies();
    publish_every_kind();
    let_messages_die();
    stop();
    CHECK(!start());
    open_channel();
    return_to_quorum_queues();
    fill_a_deep_queue();
    store_->take_snapshot(vhost_->engine().state(), engine::Shutdown::none);
    change_definitions();
    move_messages();
    end();
}

void GoldenVhost::declare_exchanges() {
    declare_exchange("direct", "direct");
    declare_exchange("fanout", "fanout");
    declare_exchange("topic", "topic", arguments({{"alternate-exchange", "fanout"}}));
    declare_exchange("headers", "headers");
    declare_exchange("hash", "x-consistent-hash", arguments({{"hash-header", "customer"}}));
    do_now(engine::DeclareExchange{.channel = {channel_},
                                   .name = "inner",
                                   .type = "fanout",
                                   .durable = true,
                                   .auto_delete = true,
                                   .internal = true});
    declare_exchange("letters", "direct");
}

void GoldenVhost::declare_queues() {
    declare_queue("plain", {});
    declare_queue("dead", {});
    declare_queue("limited", arguments({{"x-max-length", 2}}) + dead_letters_to("", "dead"));
    declare_queue("expiring", arguments({{"x-message-ttl", 60'000}}) + dead_letters_to("", "dead"));
    declare_queue("again", arguments({{"x-message-ttl", 1000},
                                      {"x-dead-letter-exchange", ""},
                                      {"x-dead-letter-routing-key", "limited"}}));
    declare_queue("priorities", arguments({{"x-max-priority", 5}}));
    declare_queue("quorum", arguments({{"x-queue-type", "quorum"}, {"x-delivery-limit", 2}}) +
                                dead_letters_to("direct", "dead"));
    declare_queue("retrying", arguments({{"x-queue-type", "quorum"},
                                         {"x-delayed-retry-type", "all"},
                                         {"x-delayed-retry-min", 5000},
                                         {"x-delayed-retry-max", 60'000}}));
    declare_queue("guarded", arguments({{"x-queue-type", "quorum"},
                                        {"x-overflow", "reject-publish"},
                                        {"x-dead-letter-strategy", "at-least-once"},
                                        {"x-dead-letter-exchange", "letters"}}));
    declare_queue("stuck", arguments({{"x-queue-type", "quorum"},
                                      {"x-overflow", "reject-publish"},
                                      {"x-dead-letter-strategy", "at-least-once"},
                                      {"x-dead-letter-exchange", "nowhere"}}));
    declare_queue("deep", {});
}

void GoldenVhost::bind_everything() {
    bind("direct", "plain", "plain");
    bind("direct", "dead", "dead");
    bind("fanout", "plain", "");
    bind("fanout", "priorities", "ignored");
    bind("topic", "plain", "*.news.#");
    bind("headers", "plain", "", arguments({{"x-match", "all"}, {"a", 1}, {"b", "two"}}));
    bind("headers", "priorities", "", arguments({{"x-match", "any-with-x"}, {"x-c", true}}));
    bind("hash", "plain", "1");
    bind("hash", "priorities", "2");
    bind("direct", "inner", "in", {}, engine::DestinationKind::exchange);
    bind("inner", "plain", "", every_value());
}

void GoldenVhost::set_policies() {
    set_policy(engine::PolicyScope::user,
               {.name = "limits",
                .pattern = "^pl",
                .apply_to = engine::ApplyTo::classic_queues,
                .priority = 7,
                .definition = arguments({{"max-length", 100}, {"overflow", "reject-publish"}})});
    set_policy(engine::PolicyScope::operator_only,
               {.name = "ceiling",
                .pattern = ".*",
                .apply_to = engine::ApplyTo::queues,
                .priority = -1,
                .definition = arguments({{"max-length-bytes", 1'000'000}})});
    set_policy(engine::PolicyScope::user,
               {.name = "gone",
                .pattern = "x",
                .apply_to = engine::ApplyTo::exchanges,
                .definition = arguments({{"alternate-exchange", "fanout"}})});
    do_now(engine::ClearPolicy{{channel_}, engine::PolicyScope::user, "gone"});
}

void GoldenVhost::publish_every_kind() {
    publish("", "plain", "hello", persistent());
    publish("", "plain", "everything", every_property());
    publish("", "plain", "", persistent());
    publish("direct", "plain", std::string("\0\x01\xff", 3), persistent());
    publish("fanout", "", "to both", persistent_with({.priority = 9}));
    publish("topic", "world.news.today", "topic", persistent());
    publish("headers", "", "headers",
            persistent_with({.headers = arguments({{"a", 1}, {"b", "two"}, {"x-c", true}})}));
    publish("direct", "in", "through two exchanges", persistent());
    publish("", "plain", "copies",
            persistent_with({.headers = {{"CC", Value::array({Value::string("priorities")})},
                                         {"BCC", Value::array({Value::string("deep")})}}}));
    publish("", "priorities", "low", persistent_with({.priority = 0}));
    publish("", "priorities", "lives an hour", persistent_with({.expiration = "3600000"}));
    publish("", "plain", std::string(20'000, 'L'), persistent());
    publish("", "plain", "transient", {"\0\0", 2});
    publish("", "quorum", "transient, but in a quorum queue", {"\0\0", 2});
    do_now(engine::SelectTransaction{{channel_}});
    publish("", "plain", "committed 1", persistent());
    publish("", "dead", "committed 2", persistent());
    do_now(engine::Commit{{channel_}});
    open_channel();  // without a transaction
}

void GoldenVhost::let_messages_die() {
    for (const char* body : {"overflows 1", "overflows 2", "stays 1", "stays 2"}) {
        publish("", "limited", body, persistent());
    }
    publish("", "expiring", "expires", persistent());
    publish("", "expiring", "expires first", persistent_with({.expiration = "10"}));
    publish("", "again", "dies twice", persistent());
    reject_in_a_passing_queue();
    wait(1000);
    wait(60'000);
}

void GoldenVhost::return_to_quorum_queues() {
    publish("", "expiring", "still lives", persistent());
    publish("", "quorum", "fails too often", persistent_with({.priority = 5}));
    publish("", "quorum", "was released", persistent());
    for (int i = 0; i < 3; ++i) get_and_settle("quorum", {OutcomeKind::released, true});
    for (int i = 0; i < 2; ++i) get_and_settle("quorum", {OutcomeKind::released, false});
    get_and_settle("quorum", {OutcomeKind::released, true});
    publish("", "retrying", "waits", persistent_with({.expiration = "900000"}));
    publish("", "retrying", "was never tried", persistent());
    get_and_settle("retrying", {OutcomeKind::released, true});
    for (const char* queue : {"guarded", "stuck"}) {
        publish("", queue, "a letter that nobody takes", persistent());
        get_and_settle(queue, {OutcomeKind::rejected, true});
    }
}

// More than fits in memory: its blocks become pages.
void GoldenVhost::fill_a_deep_queue() {
    for (int i = 0; i < 700; ++i) {
        const std::string body = "deep " + std::to_string(i);
        const bool expires = i % 50 == 0;
        publish("", "deep", body,
                expires ? persistent_with({.expiration = "7200000"}) : persistent());
    }
}

// After the snapshot, every kind of event occurs again.
void GoldenVhost::change_definitions() {
    declare_exchange("late", "topic");
    declare_exchange("gone", "fanout");
    declare_queue("late", every_value());
    declare_queue("gone", {});
    bind("late", "late", "#");
    publish("", "gone", "goes with its queue", persistent());
    do_now(engine::DeleteQueue{.channel = {channel_}, .name = "gone"});
    do_now(engine::DeleteExchange{.channel = {channel_}, .name = "gone"});
    do_now(engine::Unbind{.channel = {channel_},
                          .source = "topic",
                          .destination = "plain",
                          .routing_key = "*.news.#"});
    set_policy(engine::PolicyScope::user,
               {.name = "late", .pattern = "late", .definition = arguments({{"max-length", 9}})});
    do_now(engine::ClearPolicy{{channel_}, engine::PolicyScope::user, "limits"});
}

void GoldenVhost::move_messages() {
    for (const char* body : {"unsettled", "purged 1", "purged 2"}) {
        publish("late", "any", body, persistent());
    }
    do_now(engine::Get{{channel_}, "late", /*no_ack=*/false});
    do_now(engine::PurgeQueue{{channel_}, "late"});
    publish("late", "any", "behind the purge", persistent());
    publish("", "limited", "overflows 3", persistent());
    reject_in_a_passing_queue();
    get_and_settle("plain", {OutcomeKind::released});
    get_and_settle("plain", {OutcomeKind::accepted});
    for (int i = 0; i < 300; ++i) get_and_settle("deep", {OutcomeKind::accepted});
    wait(5000);
    get_and_settle("retrying", {OutcomeKind::released, true});
    get_and_settle("quorum", {OutcomeKind::released, false});
    publish("", "guarded", "another letter", persistent());
    get_and_settle("guarded", {OutcomeKind::rejected, true});
    bind("letters", "dead", "guarded");
    wait(1000);
    publish_of_amqp10("", "quorum");
    settle_with_details();
    do_now(engine::SetCompatibility{engine::Compatibility::v3_12});
}

void GoldenVhost::publish_of_amqp10(std::string exchange, std::string key) {
    std::string bytes;
    amqp10::TypeWriter out(bytes);
    out.descriptor(amqp10::descriptor::message_annotations);
    out.datum(Datum::map({{Datum::symbol("x-opt-shop"), Datum::uint(7)}}));
    amqp10::Properties properties;
    properties.subject = "order";
    properties.encode(out);
    out.descriptor(amqp10::descriptor::value);
    out.datum(Datum::list({Datum::string("a list"), Datum::boolean(true)}));
    const auto read = amqp10::read_published(bytes);
    CHECK(read.has_value());
    engine::Publish command;
    command.channel = {channel_};
    command.message = make_message(exchange, key, read->properties, read->body, read->head);
    do_now(std::move(command));
}

// One message is annotated and rejected with an error, another one is annotated and stays.
void GoldenVhost::settle_with_details() {
    auto* const annotated = new engine::OutcomeDetails;
    annotated->annotations = {{"x-opt-why", "\xa1\x05later", Value::string("later")},
                              {"x-opt-list", "\x45", Value::nothing()}};
    const auto annotations = Ref<const engine::OutcomeDetails>::adopt(annotated);
    auto* const explained = new engine::OutcomeDetails;
    explained->error = DeathError{"shop:closed", "the shop is closed"};
    get_and_settle("quorum", {OutcomeKind::released, false}, annotations);
    get_and_settle("quorum", {OutcomeKind::rejected, true},
                   Ref<const engine::OutcomeDetails>::adopt(explained));
    get_and_settle("quorum", {OutcomeKind::released, false}, annotations);
}

}  // namespace revenant::golden
