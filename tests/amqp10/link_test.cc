// Links: addresses, attach and its refusals, detach (amqp10, sections 4 and 5).
#include "amqp10/codec/raw_fields.h"
#include "tests/support/peer10.h"

#include <map>

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;

class Link10 : public Wire10Test {
  protected:
    void expect_bad_target(std::optional<std::string> address, std::string_view text,
                           Where where = Where::here()) {
        session().send_attach_sender(0, std::move(address));
        session().expect_refused_attach(0, "amqp:invalid-field",
                                        "Attach refused: " + std::string(text), where);
    }
};
INSTANTIATE_TEST_SUITE_P(Wire, Link10, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp10 5.2
TEST_P(Link10, ASendersAttachIsEchoed) {
    declare("q");
    const std::string source = source_of("mine");
    const std::string target = target_of("/queues/q");
    session().send(Attach{.name = "the name",
                          .handle = 4,
                          .role = false,
                          .snd_settle_mode = unsettled_mode,
                          .source = source,
                          .target = target,
                          .initial_delivery_count = 77,
                          .max_message_size = 5});
    const auto attach = session().expect<Attach>();
    EXPECT_EQ(attach.name, "the name");
    EXPECT_EQ(attach.handle, 4U);
    EXPECT_TRUE(attach.role);
    EXPECT_EQ(attach.snd_settle_mode, unsettled_mode);
    EXPECT_EQ(attach.rcv_settle_mode, 0U);
    EXPECT_EQ(attach.source, source);
    EXPECT_EQ(attach.target, target);
    EXPECT_EQ(attach.max_message_size, 16777216U);
    const auto flow = session().expect<Flow>();
    EXPECT_EQ(flow.handle, 4U);
    EXPECT_EQ(flow.delivery_count, 77U);
    EXPECT_EQ(flow.link_credit, 170U);
}

// amqp10 5.3, DL-207
TEST_P(Link10, AReceiversAttachTellsWhatTheQueueDoes) {
    declare("q");
    Source asked;
    const std::string address = encoded(Datum::string("/queues/q"));
    const std::string filter = encoded(
        Datum::map({{Datum::symbol("rabbitmq:stream-offset-spec"), Datum::string("first")}}));
    asked.address = address;
    asked.filter = filter;
    const std::string source = encoded(asked);
    const std::string target = target_of("mine");
    session().send(Attach{.name = "n",
                          .handle = 0,
                          .role = true,
                          .snd_settle_mode = mixed_mode,
                          .source = source,
                          .target = target,
                          .max_message_size = 1000});
    const auto attach = session().expect<Attach>();
    EXPECT_FALSE(attach.role);
    EXPECT_EQ(attach.initial_delivery_count, 0U);
    EXPECT_EQ(attach.snd_settle_mode, unsettled_mode);
    EXPECT_EQ(attach.max_message_size, 1000U);
    EXPECT_EQ(attach.target, target);
    const auto given = composite_in<Source>(attach.source).value();
    EXPECT_EQ(string_of(given.address), "/queues/q");
    EXPECT_EQ(given.distribution_mode, "move");
    EXPECT_TRUE(is_absent(given.filter));
    EXPECT_EQ(descriptor_in(given.default_outcome), Released::descriptor_code);
    EXPECT_EQ(text_in(given.outcomes),
              "array['amqp:accepted:list', 'amqp:rejected:list', 'amqp:released:list', "
              "'amqp:modified:list']");
}

// amqp10 5.3, B.1
TEST_P(Link10, OutcomesAreThoseThatWereAskedFor) {
    declare("q");
    Source asked;
    const std::string address = encoded(Datum::string("/queues/q"));
    asked.address = address;
    std::uint32_t handle = 0;
    for (const auto& [wanted, given] : std::vector<std::pair<Datum, std::string>>{
             {Datum::symbol("amqp:accepted:list"), "array['amqp:accepted:list']"},
             {Datum::array({Datum::symbol("amqp:modified:list"), Datum::symbol("odd"),
                            Datum::symbol("amqp:accepted:list")}),
              "array['amqp:accepted:list', 'amqp:modified:list']"}}) {
        const std::string outcomes = encoded(wanted);
        asked.outcomes = outcomes;
        const std::string source = encoded(asked);
        session().send(Attach{.name = "n", .handle = handle++, .role = true, .source = source});
        const auto attach = session().expect<Attach>();
        EXPECT_EQ(text_in(composite_in<Source>(attach.source)->outcomes), given);
    }
}

// amqp10 4.3, 5.1, C.4
TEST_P(Link10, WhatIsNotThereRefusesTheLinkOnly) {
    session().send_attach_sender(0, "/queues/none");
    session().expect_refused_attach(0, "amqp:not-found", "no queue 'none' in vhost '/'");
    session().send_attach_receiver(1, "/queues/none");
    session().expect_refused_attach(1, "amqp:not-found", "no queue 'none' in vhost '/'");
    session().send_attach_sender(2, "/exchanges/none/key");
    session().expect_refused_attach(2, "amqp:not-found", "no exchange 'none' in vhost '/'");
    declare("q");
    session().attach_sender(0, "/queues/q");
    session().attach_receiver(1, "/queues/q");
    EXPECT_TRUE(peer10().is_open());
}

// amqp10 4.1, 4.2
TEST_P(Link10, NamesInAddressesArePercentDecoded) {
    declare("a queue/with + signs");
    channel().declare_exchange("an exchange", "direct");
    channel().bind("a queue/with + signs", "an exchange", "k/1");
    session().attach_sender(0, "/queues/a%20queue%2Fwith%20+%20signs");
    session().attach_sender(1, "/exchanges/an%20exchange/k%2f1");
    session().publish<Accepted>(0, 0, MessageBytes("by queue"));
    session().publish<Accepted>(1, 1, MessageBytes("by exchange"));
    EXPECT_EQ(channel().drain("a queue/with + signs"),
              (std::vector<std::string>{"by queue", "by exchange"}));
}

// amqp10 4.1: without a key, the routing key is empty.
TEST_P(Link10, AnExchangeAloneMeansTheEmptyKey) {
    declare("q");
    channel().bind("q", "amq.direct", "");
    session().attach_sender(0, "/exchanges/amq.direct");
    session().attach_sender(1, "/exchanges/amq.direct/");
    session().publish<Accepted>(0, 0, MessageBytes("one"));
    session().publish<Accepted>(1, 1, MessageBytes("two"));
    EXPECT_EQ(channel().drain("q"), (std::vector<std::string>{"one", "two"}));
}

// amqp10 4.2, 4.3, 4.7
TEST_P(Link10, BadAddressesAreRefused) {
    for (const std::string address :
         {"q", "/queue/q", "/exchange/e/k", "/amq/queue/q", "/topic/t", "/exchanges"}) {
        expect_bad_target(address,
                          "{amqp_address_v1_not_permitted,{utf8,<<\"" + address + "\">>}}");
    }
    expect_bad_target("", "{amqp_address_v1_not_permitted,{utf8,<<>>}}");
    for (const std::string address :
         {"/queues/", "/exchanges/", "/exchanges//k", "/exchanges/amq.default/k", "/queues/a/b",
          "/exchanges/e/k/more", "/queues/a b", "/queues/%4", "/queues/%zz"}) {
        expect_bad_target(address, "{bad_address_string,<<\"" + address + "\">>}");
    }
    for (const std::string& address :
         {"/queues/" + std::string(256, 'n'), "/exchanges/amq.direct/" + std::string(256, 'k')}) {
        session().send_attach_sender(0, address);
        session().expect<Attach>();
        EXPECT_TRUE(error_in(session().expect<Detach>().error)
                        .description.starts_with("Attach refused: {bad_address_string,<<"));
        session().detach_ok(0);
    }
    session().send_attach_receiver(0, "/exchanges/amq.direct/k");
    session().expect_refused_attach(
        0, "amqp:invalid-field",
        "Attach refused: {amqp_address_v1_not_permitted,{utf8,<<\"/exchanges/amq.direct/k\">>}}");
    session().send_attach_receiver(0, "q");
    session().expect_refused_attach(
        0, "amqp:invalid-field",
        "Attach refused: {amqp_address_v1_not_permitted,{utf8,<<\"q\">>}}");
    session().send_attach_receiver(0, "/queues/%zz");
    session().expect_refused_attach(0, "amqp:invalid-field",
                                    "Attach refused: {bad_address,{utf8,<<\"/queues/%zz\">>}}");
    session().send_attach_receiver(0, "/queues/");
    session().expect_refused_attach(0, "amqp:not-found", "no queue '' in vhost '/'");
    session().send_attach_receiver(0, std::nullopt);
    session().expect_refused_attach(0, "amqp:invalid-field",
                                    "Attach refused: {bad_address,undefined}");
}

// amqp10 4.2: an address of another type is an error.
TEST_P(Link10, AnAddressIsAString) {
    const std::string number = encoded(Datum::uint(7));
    Target target;
    target.address = number;
    const std::string encoded_target = encoded(target);
    session().send(
        Attach{.name = "n", .handle = 0, .target = encoded_target, .initial_delivery_count = 0});
    session().expect_refused_attach(0, "amqp:invalid-field",
                                    "Attach refused: {amqp_address_v1_not_permitted,{uint,7}}");
}

// amqp10 4.3
TEST_P(Link10, AnInternalExchangeIsClosedToLinks) {
    channel().send(
        amqp091::ExchangeDeclare{.exchange = "inner", .type = "fanout", .internal = true});
    channel().expect<amqp091::ExchangeDeclareOk>();
    session().send_attach_sender(0, "/exchanges/inner");
    const auto attach = session().expect<Attach>();
    EXPECT_TRUE(is_absent(attach.target));
    const auto detach = session().expect<Detach>();
    EXPECT_EQ(error_in(detach.error).condition, "amqp:unauthorized-access");
    EXPECT_EQ(error_in(detach.error).description,
              "forbidden to publish to internal exchange 'inner' in vhost '/'");
}

// amqp10 4.5
TEST_P(Link10, AnExclusiveQueueIsForItsConnectionOnly) {
    channel().send(amqp091::QueueDeclare{.queue = "mine", .exclusive = true});
    channel().expect<amqp091::QueueDeclareOk>();
    session().send_attach_receiver(0, "/queues/mine");
    session().expect<Attach>();
    const auto detach = session().expect<Detach>();
    const ErrorText error = error_in(detach.error);
    EXPECT_EQ(error.condition, "amqp:resource-locked");
    EXPECT_EQ(error.description,
              "cannot obtain exclusive access to locked queue 'mine' in vhost '/'");
}

// amqp10 section 8: the queue refuses a consumer.
TEST_P(Link10, AnExclusiveConsumerKeepsLinksAway) {
    declare("q");
    channel().consume(amqp091::BasicConsume{.queue = "q", .exclusive = true});
    session().send_attach_receiver(0, "/queues/q");
    session().expect<Attach>();
    const auto detach = session().expect<Detach>();
    EXPECT_EQ(error_in(detach.error).condition, "amqp:unauthorized-access")
        << error_in(detach.error).description;
}

// amqp10 5.4
TEST_P(Link10, WhatIsNotSupportedIsSaid) {
    declare("q");
    const std::string source = source_of("/queues/q");
    const std::string target = target_of("/queues/q");
    Attach second{.name = "n",
                  .handle = 0,
                  .role = true,
                  .snd_settle_mode = unsettled_mode,
                  .rcv_settle_mode = 1,
                  .source = source};
    session().send(second);
    session().expect_refused_attach(0, "amqp:not-implemented",
                                    "rcv-settle-mode second not supported");
    second.snd_settle_mode = settled_mode;
    session().send(second);
    EXPECT_EQ(session().expect<Attach>().rcv_settle_mode, 1U);
    session().detach(0);

    const std::string coordinator = described_list(0x30, {});
    session().send(
        Attach{.name = "n", .handle = 1, .target = coordinator, .initial_delivery_count = 0});
    session().expect_refused_attach(1, "amqp:not-implemented", "Transactions not supported");

    const std::string unsettled = encoded(Datum::map({{Datum::binary("tag"), Datum::null()}}));
    session().send(Attach{.name = "n",
                          .handle = 2,
                          .target = target,
                          .unsettled = unsettled,
                          .initial_delivery_count = 0});
    session().expect_refused_attach(2, "amqp:not-implemented", "Link recovery not supported");
    session().send(Attach{
        .name = "n", .handle = 3, .role = true, .source = source, .incomplete_unsettled = true});
    session().expect_refused_attach(3, "amqp:not-implemented", "Link recovery not supported");
    const std::string empty = encoded(Datum::map({}));
    session().send(
        Attach{.name = "n", .handle = 4, .role = true, .source = source, .unsettled = empty});
    EXPECT_FALSE(is_absent(session().expect<Attach>().source));
}

// amqp10 5.4
TEST_P(Link10, ATerminusIsRequired) {
    session().send(Attach{.name = "n", .handle = 0, .role = true});
    session().expect_refused_attach(0, "amqp:invalid-field", "Attach refused: source_required");
    session().send(Attach{.name = "n", .handle = 1, .role = false, .initial_delivery_count = 0});
    session().expect_refused_attach(1, "amqp:invalid-field", "Attach refused: target_required");
    const std::string odd = encoded(Datum::string("/queues/q"));
    session().send(Attach{.name = "n", .handle = 2, .role = true, .source = odd});
    session().expect_refused_attach(2, "amqp:invalid-field", "Attach refused: source_required");
}

// amqp10 5.5
TEST_P(Link10, APriorityIsThatOfTheConsumer) {
    declare("q");
    const std::string source = source_of("/queues/q");
    for (const std::int32_t priority : {1, 9}) {
        const std::string properties =
            encoded(Datum::map({{Datum::symbol("rabbitmq:priority"), Datum::int32(priority)}}));
        const auto handle = static_cast<std::uint32_t>(priority);
        session().send(Attach{.name = "n",
                              .handle = handle,
                              .role = true,
                              .snd_settle_mode = settled_mode,
                              .source = source,
                              .properties = properties});
        session().expect<Attach>();
        session().credit(handle, 5);
    }
    for (int i = 0; i < 6; ++i) channel().publish("", "q", "m");
    for (int i = 0; i < 5; ++i) EXPECT_EQ(session().expect_message().handle, 9U);
    EXPECT_EQ(session().expect_message().handle, 1U);
}

// amqp10 5.6
TEST_P(Link10, TheSameNameTwiceMakesTwoLinks) {
    declare("q");
    const std::string target = target_of("/queues/q");
    for (const std::uint32_t handle : {0U, 1U}) {
        session().send(Attach{
            .name = "same", .handle = handle, .target = target, .initial_delivery_count = 0});
        session().expect<Attach>();
        session().expect<Flow>();
        session().publish<Accepted>(handle, handle, MessageBytes());
    }
}

// amqp10 5.7
TEST_P(Link10, DetachIsAnsweredAsItWasSaid) {
    declare("q");
    channel().publish("", "q", "one");
    session().attach_receiver(0, "/queues/q", 1);
    session().expect_message("one");
    session().send(Detach{.handle = 0, .closed = false});
    const auto answer = session().expect<Detach>();
    EXPECT_FALSE(answer.closed);
    EXPECT_TRUE(is_absent(answer.error));
    EXPECT_EQ(channel().count("q"), 1U);
}

// amqp10 C.12, 5.8
TEST_P(Link10, AReceiverOfADeletedQueueIsDetached) {
    declare("q");
    channel().publish("", "q", "one");
    session().attach_receiver(0, "/queues/q", 1);
    const auto held = session().expect_message("one");
    channel().send(amqp091::QueueDelete{.queue = "q"});
    channel().expect<amqp091::QueueDeleteOk>();
    session().expect_detach(0, "amqp:resource-deleted", "queue 'q' in vhost '/' was deleted");
    session().settle(held, Accepted{});
    session().detach_ok(0);
    session().expect_nothing();
    session().end();
}

// amqp10 4.6
TEST_P(Link10, ATemporaryQueueLivesAsLongAsItsLink) {
    depends_on_distance();
    const std::string source = temporary_queue<Source>();
    session().send(Attach{.name = "n", .handle = 0, .role = true, .source = source});
    const auto attach = session().expect<Attach>();
    const auto given = composite_in<Source>(attach.source).value();
    const std::string address = string_of(given.address).value_or("");
    EXPECT_TRUE(address.starts_with("/queues/amq.dyn-a%20test-n-")) << address;
    EXPECT_EQ(given.expiry_policy, "link-detach");
    EXPECT_TRUE(given.dynamic);
    EXPECT_EQ(text_in(given.dynamic_node_properties),
              "{'lifetime-policy': @('amqp:delete-on-close:list', []), 'supported-dist-modes': "
              "array['move']}");
    session().attach_sender(1, address);
    session().publish<Accepted>(1, 0, MessageBytes("to me"));
    session().credit(0, 1);
    session().expect_message("to me");
    session().send(Detach{.handle = 0, .closed = true});
    // Links that still sent to the queue are detached, before or after the reply.
    std::map<std::uint32_t, std::string> reasons;
    for (int i = 0; i < 2; ++i) {
        const auto told = session().expect<Detach>();
        reasons[told.handle] = error_in(told.error).condition;
    }
    EXPECT_EQ(reasons,
              (std::map<std::uint32_t, std::string>{{0, ""}, {1, "amqp:resource-deleted"}}));
    session().detach_ok(1);
}

// amqp10 4.6, 3.5: it is subject to the same rules as other queues.
TEST_P(Link10, ATemporaryQueueNeedsPermissionsAndRoom) {
    const std::string source = temporary_queue<Source>();
    const std::string target = temporary_queue<Target>();
    add_user("guestlike", {"^mine$", ".*", ".*"});
    Peer& poor = connect10({.user = "guestlike", .password = "secret"});
    const auto expect_forbidden = [](PeerSession at) {
        const ErrorText error = error_in(at.expect<End>().error);
        EXPECT_EQ(error.condition, "amqp:unauthorized-access");
        EXPECT_TRUE(error.description.starts_with("configure access to queue 'amq.dyn-"))
            << error.description;
        at.end_ok();
    };
    PeerSession receiving = poor.begin(0);
    receiving.send(Attach{.name = "n", .handle = 0, .role = true, .source = source});
    expect_forbidden(receiving);
    PeerSession sending = poor.begin(1);
    sending.send(Attach{.name = "n", .handle = 0, .target = target, .initial_delivery_count = 0});
    expect_forbidden(sending);
    world().change(SetVhostLimits{"/", {.max_queues = 0}});
    session().send(Attach{.name = "n", .handle = 0, .role = true, .source = source});
    EXPECT_TRUE(is_absent(session().expect<Attach>().source));
    session().expect<Detach>();
    session().detach_ok(0);
}

// amqp10 4.4
TEST_P(Link10, ASenderToADeletedQueueIsDetached) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    session().publish<Accepted>(0, 0, MessageBytes("kept"));
    channel().send(amqp091::QueueDelete{.queue = "q"});
    channel().expect<amqp091::QueueDeleteOk>();
    session().expect_detach(0, "amqp:resource-deleted", "queue 'q' in vhost '/' was deleted");
    session().detach_ok(0);
    declare("q");
    session().attach_sender(0, "/queues/q");
    session().publish<Accepted>(0, 1, MessageBytes("again"));
}

// amqp10 9.1: credit may arrive before the attach is answered, even if a queue is declared first.
TEST_P(Link10, CreditMayComeRightBehindTheAttach) {
    declare("q");
    channel().publish("", "q", "one");
    const std::string source = temporary_queue<Source>();
    session();
    peer10().hold();
    session().send_attach_receiver(0, "/queues/q");
    session().credit(0, 5);
    session().send(Attach{.name = "n", .handle = 1, .role = true, .source = source});
    session().credit(1, 5);
    session().send_attach_sender(2, "/queues/q");
    session().send(Flow{.next_incoming_id = 0, .incoming_window = 100, .handle = 2, .echo = true});
    peer10().release();
    depends_on_distance();
    std::string address;
    std::size_t transfers = 0;
    while (const Arrival* const arrival = peer10().next(0)) {
        if (arrival->code() == Transfer::descriptor_code) transfers += 1;
        if (arrival->code() != Attach::descriptor_code) continue;
        const auto attach = Attach::decode(arrival->items()).value();
        if (attach.handle != 1) continue;
        address = string_of(composite_in<Source>(attach.source)->address).value_or("");
    }
    EXPECT_EQ(transfers, 1U);
    session().attach_sender(3, address);
    session().transfer(3, 0, MessageBytes("to me"), true);
    EXPECT_EQ(session().expect_message("to me").handle, 1U);
}

// A client need not wait for the reply to its attach. A detach that follows immediately is answered
// after it.
TEST_P(Link10, ADetachRightBehindTheAttachIsAnsweredBehindIt) {
    declare("q");
    session();
    depends_on_distance();
    peer10().hold();
    session().send_attach_receiver(0, "/queues/q");
    session().send(Detach{.handle = 0, .closed = true});
    session().send_attach_sender(1, "/queues/q");
    session().send(Detach{.handle = 1, .closed = true});
    session().send_attach_sender(2, "/management");
    session().send(Detach{.handle = 2, .closed = true});
    peer10().release();
    std::vector<std::string> order;
    while (const Arrival* const arrival = peer10().next(session().channel())) {
        if (arrival->code() == Attach::descriptor_code) {
            order.push_back("attach " + std::to_string(Attach::decode(arrival->items())->handle));
        } else if (arrival->code() == Detach::descriptor_code) {
            order.push_back("detach " + std::to_string(Detach::decode(arrival->items())->handle));
        }
    }
    EXPECT_EQ(order, (std::vector<std::string>{"attach 0", "detach 0", "attach 1", "detach 1",
                                               "attach 2", "detach 2"}));
    session().attach_receiver(0, "/queues/q");
}

// amqp10 4.6
TEST_P(Link10, ADynamicTargetMayBeATemporaryQueueAsWell) {
    const std::string target = temporary_queue<Target>();
    session().send(Attach{.name = "n", .handle = 0, .target = target, .initial_delivery_count = 0});
    const auto attach = session().expect<Attach>();
    const auto given = composite_in<Target>(attach.target).value();
    const std::string address = string_of(given.address).value_or("");
    EXPECT_EQ(text_in(given.dynamic_node_properties),
              "{'lifetime-policy': @('amqp:delete-on-close:list', []), 'supported-dist-modes': "
              "array['move']}");
    session().expect<Flow>();
    session().publish<Accepted>(0, 0, MessageBytes("kept"));
    session().attach_receiver(1, address, 1);
    session().expect_message("kept");
    session().detach(1);
    // The queue exists as long as the link, even without consumers.
    session().publish<Accepted>(0, 1, MessageBytes("kept as well"));
    session().detach(0);
    session().send_attach_receiver(1, address);
    session().expect<Attach>();
    EXPECT_EQ(error_in(session().expect<Detach>().error).condition, "amqp:not-found");
}

// Names of links and containers may be long; queue names may not.
TEST_P(Link10, ATemporaryQueueOfALongNameHasAShortOne) {
    const std::string source = temporary_queue<Source>();
    std::uint32_t handle = 0;
    // "a test" is the container id.
    for (const auto& [length, prefix] : std::vector<std::pair<std::size_t, std::string>>{
             {143, "amq.dyn-a%20test-" + std::string(143, 'l') + "-"}, {144, "amq.dyn.gen-"}}) {
        const std::string name(length, 'l');
        session().send(Attach{.name = name, .handle = handle, .role = true, .source = source});
        const auto attach = session().expect<Attach>();
        const auto given = composite_in<Source>(attach.source).value();
        const std::string address = string_of(given.address).value_or("");
        EXPECT_TRUE(address.starts_with("/queues/" + prefix)) << address;
        handle += 1;
    }
}

// amqp10 4.6
TEST_P(Link10, OtherDynamicTerminusesAreNotImplemented) {
    Source source;
    source.dynamic = true;
    const std::string plain = encoded(source);
    session().send(Attach{.name = "n", .handle = 0, .role = true, .source = plain});
    session().expect_refused_attach(0, "amqp:not-implemented", "Dynamic source not supported");
    const std::string address = encoded(Datum::string("/queues/q"));
    source.address = address;
    const std::string named = encoded(source);
    session().send(Attach{.name = "n", .handle = 1, .role = true, .source = named});
    session().expect_refused_attach(1, "amqp:not-implemented", "Dynamic source not supported");
    Target target;
    target.dynamic = true;
    const std::string dynamic = encoded(target);
    session().send(
        Attach{.name = "n", .handle = 2, .target = dynamic, .initial_delivery_count = 0});
    session().expect_refused_attach(2, "amqp:not-implemented", "Dynamic target not supported");
}

}  // namespace
}  // namespace revenant::amqp10
