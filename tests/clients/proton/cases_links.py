"""Connections, sessions, links and addresses: what is granted and how it is refused."""

import time
import urllib.parse

import pika
import proton as amqp
from proton import Delivery, Endpoint, Handler, Link, Message, Terminus, symbol, ulong
from proton.utils import ConnectionClosed

from peer import (HOST, PATIENCE_SECONDS, PORT, SETTLED, UNSETTLED, Change, Inbox, add_user,
                  add_vhost, address_of, attach_receiver, attach_sender, bodies_in, case,
                  case_per_type, check_condition, check_usable, close_quietly, connect, connect_pika,
                  declare_exchange, declare_queue, drain, expect_detach, expect_end, flush, name_of,
                  new_name, new_session, next_by_pika, next_message, publish, receive, receiver_of,
                  send, sender_to, settle, wait_for_ready)


# ---------------------------------------------------------------- connections

@case
def open_of_the_broker(proton, _):
    connection = proton.conn
    properties = connection.remote_properties
    assert {type(key) for key in properties} == {symbol}, properties
    assert {"node", "cluster_name", "copyright", "information", "platform", "product",
            "version"} <= set(properties), properties
    assert properties["product"] in ("RabbitMQ", "Revenant"), properties
    assert int(properties["version"].split(".")[0]) >= 4, properties
    assert connection.remote_container == properties["cluster_name"]
    offered = list(connection.remote_offered_capabilities.elements)
    assert offered[:2] == ["LINK_PAIR_V1_0", "ANONYMOUS-RELAY"], offered
    transport = connection.transport
    assert transport.remote_max_frame_size == 131072
    assert transport.remote_channel_max == 63
    assert transport.remote_idle_timeout == 30.0


@case
def wrong_password(_, __):
    try:
        connect(password="wrong")
    except ConnectionClosed as error:
        raise AssertionError("the connection was opened") from error
    except amqp.ConnectionException as error:
        assert "Authentication failed" in str(error), error
    else:
        raise AssertionError("the broker let us in")


@case
def anonymous_is_guest(_, channel):
    queue = declare_queue(channel)
    anonymous = connect(user=None, password=None, allowed_mechs="ANONYMOUS")
    publish(anonymous, address_of(queue), Message(body="x", user_id=b"guest"))
    assert bodies_in(anonymous, queue) == ["x"]


@case
def vhost_by_hostname(proton, channel):
    vhost = add_vhost("vhost")
    add_user("tenant", vhost=vhost, configure=".*", write=".*", read=".*")
    tenant = name_of("tenant")
    inside = connect_pika(virtual_host=vhost, credentials=pika.PlainCredentials(
        tenant, tenant)).channel()
    queue = name_of("queue")
    inside.queue_declare(queue, durable=True)
    there = connect(user=tenant, password=tenant, virtual_host="vhost:" + vhost)
    publish(there, address_of(queue), "in the vhost")
    expect_detach("amqp:not-found", f"no queue '{queue}' in vhost '/'", receiver_of, proton, queue)
    assert bodies_in(there, queue) == ["in the vhost"]


@case
def any_other_hostname_is_the_default_vhost(_, channel):
    queue = declare_queue(channel)
    publish(connect(virtual_host="broker.example.com"), address_of(queue), "x")
    assert bodies_in(connect(virtual_host="vhost:/"), queue) == ["x"]


@case
def unknown_vhost_is_refused(_, __):
    try:
        connect(virtual_host="vhost:no-such-vhost")
    except ConnectionClosed as closed:
        assert "AMQP 1.0 connection failed: virtual host 'no-such-vhost' does not exist" in str(
            closed), closed
        assert closed.condition == "amqp:unauthorized-access"
    else:
        raise AssertionError("the broker opened a vhost that does not exist")


@case
def vhost_of_others_is_refused(_, __):
    vhost = add_vhost("vhost")
    stranger = add_user("stranger")
    try:
        connect(user=stranger, password=stranger, virtual_host="vhost:" + vhost)
    except ConnectionClosed as closed:
        assert f"access to vhost '{vhost}' refused for user '{stranger}'" in str(closed), closed
        assert closed.condition == "amqp:unauthorized-access"
    else:
        raise AssertionError("the broker let a stranger in")


@case
def heartbeats_keep_an_idle_connection(_, channel):
    idle = connect(heartbeat=2)  # Proton announces half of it, and the least is a second.
    deadline = time.monotonic() + 3.5
    while time.monotonic() < deadline:  # Proton gives up on a peer that is silent for that long.
        idle.container.timeout = 0.1
        idle.container.process()
    check_usable(idle, channel)


@case
def sixty_four_sessions(proton, channel):
    queue = declare_queue(channel)
    sessions = [new_session(proton) for _ in range(64)]
    senders = [attach_sender(proton, session, address_of(queue)) for session in sessions[1:]]
    for number, sender in enumerate(senders):
        assert send(sender, Message(body=number)) == (Delivery.ACCEPTED, None)
    sessions[5].close()
    proton.wait(lambda: sessions[5].state & Endpoint.REMOTE_CLOSED, msg="the session ends")
    assert sessions[5].remote_condition is None
    assert bodies_in(connect(), queue) == list(range(63))


# ---------------------------------------------------------------- credit

@case_per_type
def no_credit_no_delivery(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), "x")
    receiver = receiver_of(proton, queue)
    check_usable(proton, channel)  # A round trip: what was to come would have come.
    assert (receiver.fetcher.has_message, receiver.link.credit) == (0, 0)
    assert receive(receiver)[0].body == "x"


@case_per_type
def credit_is_not_exceeded(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), *range(10))
    receiver = receiver_of(proton, queue)
    for credit, expected in [(3, 3), (1, 4), (4, 8)]:
        receiver.link.flow(credit)
        proton.wait(lambda: receiver.fetcher.has_message == expected, msg="messages arrive")
        check_usable(proton, channel)
        assert (receiver.fetcher.has_message, receiver.link.credit) == (expected, 0)
    assert [receiver.fetcher.pop().body for _ in range(8)] == list(range(8))
    wait_for_ready(channel, queue, 2)


@case
def credit_waits_for_messages(proton, channel):
    queue = declare_queue(channel)
    receiver = receiver_of(proton, queue)
    receiver.link.flow(2)
    flush(proton)
    publish(proton, address_of(queue), "1", "2", "3")
    proton.wait(lambda: receiver.fetcher.has_message == 2, msg="both arrive")
    assert receiver.link.credit == 0
    wait_for_ready(channel, queue, 1)


@case_per_type
def drain_an_empty_queue(proton, channel, kind):
    receiver = receiver_of(proton, declare_queue(channel, kind=kind))
    receiver.link.drain(10)
    assert receiver.link.credit == 10
    proton.wait(lambda: receiver.link.credit == 0, msg="the link is drained")
    assert receiver.link.drained() == 10
    assert receiver.fetcher.has_message == 0


@case_per_type
def drain_takes_what_is_there(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), "1", "2", "3")
    receiver = receiver_of(proton, queue)
    assert [message.body for message in drain(proton, receiver, 10)] == ["1", "2", "3"]
    assert drain(proton, receiver, 5) == []
    receiver.link.drain_mode = False
    publish(proton, address_of(queue), "4")
    receiver.link.flow(1)
    proton.wait(lambda: receiver.fetcher.has_message == 1, msg="the drained link goes on")
    assert receiver.fetcher.pop().body == "4"


@case
def drain_leaves_what_exceeds_the_credit(proton, channel):
    queue = declare_queue(channel)
    publish(proton, address_of(queue), "1", "2", "3")
    receiver = receiver_of(proton, queue)
    assert [message.body for message in drain(proton, receiver, 2)] == ["1", "2"]
    wait_for_ready(channel, queue, 1)


@case
def consumer_priority(proton, channel):
    queue = declare_queue(channel)
    def prefer(link):
        link.properties = {symbol("rabbitmq:priority"): amqp.int32(10)}
    low, high = receiver_of(proton, queue), receiver_of(proton, queue, Change(prefer))
    low.link.flow(10)
    high.link.flow(2)
    flush(proton)
    publish(proton, address_of(queue), "1", "2", "3")
    proton.wait(lambda: low.fetcher.has_message + high.fetcher.has_message == 3, msg="all arrive")
    assert [high.fetcher.pop().body for _ in range(2)] == ["1", "2"]
    assert low.fetcher.pop().body == "3"


# ---------------------------------------------------------------- many links

@case
def many_links(proton, channel):
    queues = [declare_queue(channel, f"queue{number}") for number in range(10)]
    sessions = [new_session(proton) for _ in range(5)]
    inboxes, receivers, senders = [Inbox() for _ in range(150)], [], []
    for number, inbox in enumerate(inboxes):
        receivers.append(attach_receiver(proton, sessions[number % 5], queues[number % 10], inbox))
        senders.append(attach_sender(proton, sessions[(number + 1) % 5],
                                     address_of(queues[number % 10])))
    for receiver in receivers:
        receiver.link.flow(2)
    flush(proton)
    unsettled = [sender.link.send(Message(body=number)) for sender in senders
                 for number in range(2)]
    proton.wait(lambda: all(each.settled for each in unsettled), msg="all outcomes")
    assert {each.remote_state for each in unsettled} == {Delivery.ACCEPTED}
    # Fifteen receivers of each queue, with credit for two each, and fifteen senders of two each.
    proton.wait(lambda: all(len(inbox.arrived) == 2 for inbox in inboxes), msg="all messages")
    for inbox in inboxes:
        for delivery, _ in inbox.arrived:
            delivery.update(Delivery.ACCEPTED)
            delivery.settle()
    for link in receivers + senders:
        link.close()
    for queue in queues:
        assert bodies_in(proton, queue) == []


@case
def all_handles_of_a_session(proton, channel):
    queue = declare_queue(channel)
    session = new_session(proton)
    links = [proton.container.create_sender(session, address_of(queue), name=str(number))
             for number in range(256)]
    proton.wait(lambda: all(link.state & Endpoint.REMOTE_ACTIVE for link in links),
                msg="all links are attached")
    proton.wait(lambda: all(link.credit == 170 for link in links), msg="all have credit")
    links[255].send(Message(body="through the last one")).settle()
    flush(proton)
    wait_for_ready(channel, queue, 1)


class Reader(Handler):
    """Takes the bytes of a message as they come, and so opens the session's window again."""

    def __init__(self):
        super().__init__()
        self.bytes, self.parts, self.complete = b"", 0, False

    def on_delivery(self, event):
        delivery = event.delivery
        while delivery.pending:
            self.bytes += event.link.recv(delivery.pending)
            self.parts += 1
        self.complete = not delivery.partial


@case_per_type
def window_of_a_session_is_kept(_, channel, kind):
    queue = declare_queue(channel, kind=kind)
    body = bytes(range(256)) * 2000
    narrow = connect(max_frame_size=1024)
    publish(narrow, address_of(queue), Message(body=body))
    session = narrow.conn.session()
    session.incoming_capacity = 8 * 1024
    session.open()
    reader = Reader()
    receiver = attach_receiver(narrow, session, queue, reader)
    receiver.link.flow(1)
    narrow.wait(lambda: reader.complete, msg="the whole message arrives")
    message = Message()
    message.decode(reader.bytes)
    assert message.body == body
    assert reader.parts >= len(body) / (8 * 1024), "it came in more than one window"


@case
def messages_wait_for_the_window_of_a_session(_, channel):
    queue = declare_queue(channel)
    narrow = connect(max_frame_size=1024)
    publish(narrow, address_of(queue), *[bytes(10_000)] * 20)
    session = narrow.conn.session()
    session.incoming_capacity = 4 * 1024
    session.open()
    inboxes = []
    for _ in range(20):
        reader = Reader()
        receiver = attach_receiver(narrow, session, queue, reader)
        receiver.link.flow(1)
        inboxes.append((reader, receiver))
    narrow.wait(lambda: all(reader.complete for reader, _ in inboxes), msg="all messages arrive")
    for reader, _ in inboxes:
        message = Message()
        message.decode(reader.bytes)
        assert message.body == bytes(10_000)


@case_per_type
def receiver_closes_within_a_message(_, channel, kind):
    queue = declare_queue(channel, kind=kind)
    body = bytes(range(256)) * 4000
    narrow = connect(max_frame_size=1024)
    publish(narrow, address_of(queue), body, "next")
    session = narrow.conn.session()
    session.incoming_capacity = 8 * 1024
    session.open()
    inbox = Inbox()  # which reads nothing before all is there, so that the window stays closed
    receiver = attach_receiver(narrow, session, queue, inbox)
    receiver.link.flow(2)
    narrow.wait(lambda: receiver.link.current is not None, msg="the message begins")
    receiver.close()
    sender = attach_sender(narrow, session, address_of(queue))
    assert send(sender, Message(body="last")) == (Delivery.ACCEPTED, None)
    assert bodies_in(connect(), queue) == [body, "next", "last"]


@case
def sender_closes_within_a_message(proton, channel):
    queue = declare_queue(channel)
    session = new_session(proton)
    sender = attach_sender(proton, session, address_of(queue))
    proton.wait(lambda: sender.link.credit > 0, msg="credit")
    sender.link.delivery("half")
    sender.link.stream(bytes(300_000))
    flush(proton)
    sender.close()
    sender = attach_sender(proton, session, address_of(queue))
    assert send(sender, Message(body="whole")) == (Delivery.ACCEPTED, None)
    assert bodies_in(proton, queue) == ["whole"]


@case
def streams_of_two_links_interleave(proton, channel):
    queues = [declare_queue(channel, suffix) for suffix in ["even", "odd"]]
    session = new_session(proton)
    senders = [attach_sender(proton, session, address_of(queue)) for queue in queues]
    bodies = [bytes([number]) * 700_000 for number in [1, 2]]
    encoded = [Message(body=body).encode() for body in bodies]
    proton.wait(lambda: all(sender.link.credit > 0 for sender in senders), msg="credit")
    deliveries = [sender.link.delivery("stream") for sender in senders]
    for start in range(0, len(encoded[0]), 150_000):
        for sender, whole in zip(senders, encoded):
            sender.link.stream(whole[start:start + 150_000])
            flush(proton)
    for sender in senders:
        sender.link.advance()
    proton.wait(lambda: all(delivery.settled for delivery in deliveries), msg="both outcomes")
    assert [delivery.remote_state for delivery in deliveries] == [Delivery.ACCEPTED] * 2
    assert [bodies_in(proton, queue) for queue in queues] == [[body] for body in bodies]


@case_per_type
def dropped_connection_requeues(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), *range(20))
    dropped = connect()
    receiver = receiver_of(dropped, queue)
    receiver.link.flow(10)
    dropped.wait(lambda: receiver.fetcher.has_message == 10, msg="ten arrive")
    dropped.conn.transport.close_tail()  # no close, no end, no detach
    dropped.conn.transport.close_head()
    close_quietly(dropped)
    wait_for_ready(channel, queue, 20)
    again = drain(proton, receiver_of(proton, queue), 100)
    assert [message.body for message in again] == list(range(20))
    assert [message.delivery_count for message in again] == [1] * 10 + [0] * 10


class DetachableInbox(Inbox):
    detached = False

    def on_link_remote_detach(self, _):
        self.detached = True


@case
def detached_but_not_closed_link_requeues(proton, channel):
    queue = declare_queue(channel)
    publish(proton, address_of(queue), "x")
    inbox = DetachableInbox()
    receiver = receiver_of(proton, queue, handler=inbox)
    receiver.link.flow(1)
    proton.wait(lambda: inbox.arrived, msg="the message arrives")
    receiver.link.detach()
    proton.wait(lambda: inbox.detached, msg="the broker detaches, too, and does not close")
    assert bodies_in(proton, queue) == ["x"]


@case
def too_large_for_the_receiver_ends_session(proton, channel):
    queue = declare_queue(channel)
    publish(proton, address_of(queue), bytes(2000))
    session = new_session(proton)
    limit = Change(lambda link: setattr(link, "max_message_size", 1000))
    link = proton.container.create_receiver(session, address_of(queue), name=new_name(),
                                            options=limit)
    link.flow(1)
    proton.wait(lambda: session.state & Endpoint.REMOTE_CLOSED, msg="the session ends")
    condition = session.remote_condition
    assert condition.name == "amqp:link:message-size-exceeded", condition
    assert condition.description.endswith(" bytes) > maximum message size (1000 bytes)"), condition
    assert bodies_in(connect(), queue) == [bytes(2000)]


@case
def aborted_messages_vanish(proton, channel):
    queue = declare_queue(channel)
    sender = sender_to(proton, address_of(queue))
    proton.wait(lambda: sender.link.credit == 170, msg="credit")
    for number in range(200):  # more than all credit
        proton.wait(lambda: sender.link.credit > 0, msg="credit")
        delivery = sender.link.delivery(f"aborted-{number}")
        sender.link.stream(bytes(200_000) if number % 50 == 0 else b"part of it")
        flush(proton)
        delivery.abort()
        flush(proton)
    assert send(sender, Message(body="whole")) == (Delivery.ACCEPTED, None)
    assert bodies_in(proton, queue) == ["whole"]


@case
def names_of_links_can_be_used_again(proton, channel):
    queue = declare_queue(channel)
    for number in range(3):
        sender = proton.create_sender(address_of(queue), name="same", options=UNSETTLED)
        receiver = proton.create_receiver(address_of(queue), name="same", credit=0)
        assert send(sender, Message(body=number)) == (Delivery.ACCEPTED, None)
        assert receive(receiver)[0].body == number
        settle(receiver, Delivery.ACCEPTED)
        sender.close()
        receiver.close()


# ---------------------------------------------------------------- attach

@case
def attach_of_a_sender(proton, channel):
    queue = declare_queue(channel)
    link = sender_to(proton, address_of(queue)).link
    assert link.remote_target.address == address_of(queue)
    assert link.remote_max_message_size == 16777216
    assert link.remote_rcv_settle_mode == Link.RCV_FIRST
    proton.wait(lambda: link.credit > 0, msg="credit")
    assert link.credit == 170


@case
def attach_of_a_receiver(proton, channel):
    queue = declare_queue(channel)
    link = receiver_of(proton, queue).link
    source = link.remote_source
    assert source.address == address_of(queue)
    assert source.distribution_mode == Terminus.DIST_MODE_MOVE
    outcomes = source.outcomes
    outcomes.rewind()
    outcomes.next()
    assert list(outcomes.get_py_array().elements) == [
        "amqp:accepted:list", "amqp:rejected:list", "amqp:released:list", "amqp:modified:list"]


@case
def unknown_filters_are_left_out(proton, channel):
    queue = declare_queue(channel)
    selector = amqp.reactor.Selector("a = 1")
    receiver = receiver_of(proton, queue, selector)
    assert receiver.link.remote_source.filter.format() == "", receiver.link.remote_source.filter
    publish(proton, address_of(queue), "unfiltered")
    assert receive(receiver)[0].body == "unfiltered"


@case
def second_settlement_by_the_receiver_is_refused(proton, channel):
    queue = declare_queue(channel)
    second = Change(lambda link: setattr(link, "rcv_settle_mode", Link.RCV_SECOND))
    expect_detach("amqp:not-implemented", "rcv-settle-mode second not supported",
                  receiver_of, proton, queue, second)
    check_usable(proton, channel)


@case
def transactions_are_refused(proton, channel):
    coordinate = Change(lambda link: setattr(link.target, "type", Terminus.COORDINATOR))
    expect_detach("amqp:not-implemented", "Transactions not supported",
                  proton.create_sender, None, options=coordinate)
    check_usable(proton, channel)


# ---------------------------------------------------------------- addresses

@case
def missing_queue(proton, channel):
    name = name_of("missing")
    text = f"no queue '{name}' in vhost '/'"
    expect_detach("amqp:not-found", text, receiver_of, proton, name)
    expect_detach("amqp:not-found", text, sender_to, proton, address_of(name))
    check_usable(proton, channel)


@case
def missing_exchange(proton, channel):
    name = name_of("missing")
    text = f"no exchange '{name}' in vhost '/'"
    expect_detach("amqp:not-found", text, sender_to, proton, f"/exchanges/{name}/key")
    expect_detach("amqp:not-found", text, sender_to, proton, f"/exchanges/{name}")
    check_usable(proton, channel)


@case
def bad_addresses(proton, channel):
    def refused(text):
        return text.startswith("Attach refused: ")

    for address in ["/queues/", "/queues/a b", "/queues/a/b", "/queues/%zz", "/queues/%", "queue",
                    "/queue/q", "/amq/queue/q", "/topic/t", "/exchanges/", "/exchanges/amq.default",
                    "/exchanges/amq.default/key", "/exchanges//key", "/exchanges/amq.direct/a/b",
                    "/exchanges/amq.direct/a b", "/exchange/amq.direct/key", "/"]:
        expect_detach("amqp:invalid-field", refused, sender_to, proton, address)
    for address in ["/exchanges/amq.direct/key", "/queues/", "/queue/q", "q", "/queues/a b"]:
        expect_detach("amqp:invalid-field", refused, proton.create_receiver, address)
    check_usable(proton, channel)


@case
def exchange_with_and_without_key(proton, channel):
    queue = declare_queue(channel)
    exchange = declare_exchange(channel, "direct")
    channel.queue_bind(queue, exchange, "key")
    channel.queue_bind(queue, exchange, "")
    publish(proton, f"/exchanges/{exchange}/key", "with")
    publish(proton, f"/exchanges/{exchange}", "without")
    publish(proton, f"/exchanges/{exchange}/", "empty")
    messages = [next_message(proton, queue) for _ in range(3)]
    assert [(message.body, message.annotations["x-routing-key"]) for message in messages] == [
        ("with", "key"), ("without", ""), ("empty", "")]


@case
def percent_encoded_names(proton, channel):
    queue = declare_queue(channel, "a/b c%+ü?&")
    exchange = declare_exchange(channel, "direct", "x/y z")
    key = "k/ü +%2F"
    channel.queue_bind(queue, exchange, key)
    quote = urllib.parse.quote
    publish(proton, address_of(queue), "to the queue")
    publish(proton, f"/exchanges/{quote(exchange, safe='')}/{quote(key, safe='')}", "by the key")
    messages = [next_message(proton, queue) for _ in range(2)]
    assert [(message.body, message.annotations["x-exchange"], message.annotations["x-routing-key"])
            for message in messages] == [("to the queue", "", queue), ("by the key", exchange, key)]


@case
def plus_is_a_plus(proton, channel):
    queue = declare_queue(channel, "a+b")
    publish(proton, f"/queues/{queue}", "x")
    assert bodies_in(proton, queue) == ["x"]


@case
def internal_exchange(proton, channel):
    exchange = declare_exchange(channel, "fanout", internal=True)
    expect_detach("amqp:unauthorized-access",
                  lambda text: text.startswith("forbidden to publish to internal exchange"),
                  sender_to, proton, f"/exchanges/{exchange}")


@case
def exclusive_queue_of_another(proton, channel):
    queue = name_of("exclusive")
    channel.queue_declare(queue, exclusive=True)
    expect_detach("amqp:resource-locked", lambda text: text.startswith(
        f"cannot obtain exclusive access to locked queue '{queue}' in vhost '/'"),
        receiver_of, proton, queue)
    check_usable(proton, channel)


# ---------------------------------------------------------------- outcomes of what is sent

@case
def unroutable_is_released(proton, channel):
    sender = sender_to(proton, "/exchanges/amq.direct/" + name_of("nobody"))
    assert send(sender, Message(body="x")) == (Delivery.RELEASED, None)
    exchange, queue = declare_exchange(channel, "direct"), declare_queue(channel)
    channel.queue_bind(queue, exchange, "key")
    sender = sender_to(proton, f"/exchanges/{exchange}/key")
    assert send(sender, Message(body="1")) == (Delivery.ACCEPTED, None)
    channel.queue_unbind(queue, exchange, "key")
    assert send(sender, Message(body="2")) == (Delivery.RELEASED, None)
    assert bodies_in(proton, queue) == ["1"]


@case
def queue_deleted_under_a_sender(proton, channel):
    queue = declare_queue(channel)
    sender = sender_to(proton, address_of(queue))
    assert send(sender, Message(body="1")) == (Delivery.ACCEPTED, None)
    channel.queue_delete(queue)
    assert send(sender, Message(body="2")) == (Delivery.RELEASED, None)


@case
def exchange_deleted_under_a_sender(proton, channel):
    exchange = declare_exchange(channel, "fanout")
    sender = sender_to(proton, f"/exchanges/{exchange}")
    channel.exchange_delete(exchange)
    delivery = sender.link.send(Message(body="x"))
    expect_detach("amqp:not-found", f"no exchange '{exchange}' in vhost '/'",
                  proton.wait, lambda: False)
    assert delivery.remote_state == Delivery.RELEASED


@case_per_type
def full_queue_rejects(proton, channel, kind):
    queue = declare_queue(channel, kind=kind, arguments={
        "x-max-length": 1, "x-overflow": "reject-publish"})
    sender = sender_to(proton, address_of(queue))
    # A quorum queue refuses only once it is over its limit.
    fitting = 1 if kind == "classic" else 2
    for number in range(fitting):
        assert send(sender, Message(body=number)) == (Delivery.ACCEPTED, None)
    state, condition = send(sender, Message(body="too much"))
    assert state == Delivery.REJECTED
    check_condition(condition, "amqp:resource-limit-exceeded",
                    f"queue '{queue}' exceeded maximum length")
    assert condition.info == {symbol("queue"): queue, symbol("reason"): symbol("maxlen")}
    assert type(condition.info["reason"]) is symbol
    assert bodies_in(proton, queue) == list(range(fitting))
    wait_for_ready(channel, queue, 0)
    assert send(sender, Message(body="again")) == (Delivery.ACCEPTED, None)


@case
def one_of_two_queues_is_full(proton, channel):
    exchange = declare_exchange(channel, "fanout")
    full = declare_queue(channel, "full", arguments={"x-max-length": 0,
                                                     "x-overflow": "reject-publish"})
    roomy = declare_queue(channel, "roomy")
    for queue in [full, roomy]:
        channel.queue_bind(queue, exchange, "")
    state, condition = send(sender_to(proton, f"/exchanges/{exchange}"), Message(body="x"))
    assert (state, condition.info["queue"]) == (Delivery.REJECTED, full)
    assert bodies_in(proton, roomy) == ["x"]


@case
def anonymous_sender(proton, channel):
    exchange, queue = declare_exchange(channel, "topic"), declare_queue(channel)
    channel.queue_bind(queue, exchange, "a.*")
    sender = sender_to(proton, None)
    for to in [address_of(queue), f"/exchanges/{exchange}/a.b"]:
        assert send(sender, Message(body=to, address=to)) == (Delivery.ACCEPTED, None)
    assert send(sender, Message(body="x", address=f"/exchanges/{exchange}/b")) == (
        Delivery.RELEASED, None)
    messages = [next_message(proton, queue) for _ in range(2)]
    assert [message.address for message in messages] == [
        address_of(queue), f"/exchanges/{exchange}/a.b"]


@case
def anonymous_sender_is_told_what_is_wrong(proton, channel):
    queue = declare_queue(channel)
    sender = sender_to(proton, None)
    state, condition = send(sender, Message(body="x"))
    assert state == Delivery.REJECTED
    check_condition(condition, "amqp:precondition-failed",
                    "anonymous terminus requires 'to' address to be set")
    state, condition = send(sender, Message(body="x", address="/queue/v1"))
    assert (state, condition.name) == (Delivery.REJECTED, "amqp:precondition-failed")
    assert condition.description.startswith("bad 'to' address string: "), condition
    state, condition = send(sender, Message(body="x", address="/exchanges/missing.exchange/k"))
    assert state == Delivery.REJECTED
    check_condition(condition, "amqp:not-found", "no exchange 'missing.exchange' in vhost '/'")
    assert send(sender, Message(body="y", address=address_of(queue))) == (Delivery.ACCEPTED, None)
    assert bodies_in(proton, queue) == ["y"]


@case
def anonymous_settled_sender_is_detached(proton, channel):
    sender = sender_to(proton, None, SETTLED)
    delivery = sender.link.send(Message(body="x"))
    condition = expect_detach("amqp:precondition-failed",
                              "anonymous terminus requires 'to' address to be set",
                              proton.wait, lambda: False)
    assert condition.info is not None, "the delivery's tag is missing"
    assert list(condition.info) == ["delivery-tag"], condition.info
    check_usable(proton, channel)


@case
def copies_by_annotation(proton, channel):
    to, copy = declare_queue(channel, "to"), declare_queue(channel, "copy")
    publish(proton, address_of(to), Message(body="memo", annotations={symbol("x-cc"): [copy]}))
    for queue in [to, copy]:
        message = next_message(proton, queue)
        assert (message.body, message.annotations["x-cc"]) == ("memo", [copy])
        assert message.annotations["x-routing-key"] == to
    publish(proton, address_of(to), Message(body="memo", annotations={symbol("x-cc"): [copy]}))
    assert next_by_pika(channel, copy)[1].headers == {"CC": [copy]}


@case
def bad_copies_detach(proton, channel):
    sender = sender_to(proton, address_of(declare_queue(channel)))
    expect_detach("amqp:invalid-field",
                  lambda text: text.startswith("bad value for 'x-cc' message-annotation: "),
                  send, sender, Message(body="x", annotations={symbol("x-cc"): "no list"}))


@case
def foreign_user_id_detaches(proton, channel):
    sender = sender_to(proton, address_of(declare_queue(channel)))
    expect_detach("amqp:unauthorized-access",
                  "user_id property set to 'somebody' but authenticated user was 'guest'",
                  send, sender, Message(body="x", user_id=b"somebody"))
    check_usable(proton, channel)


@case
def reserved_annotation_detaches(proton, channel):
    queue = declare_queue(channel)
    for annotations in [{symbol("own"): 1}, {ulong(7): 1}]:
        sender = sender_to(proton, address_of(queue))
        expect_detach("amqp:decode-error", lambda text: "reserved_annotation_key" in text,
                      send, sender, Message(body="x", annotations=annotations))
    assert bodies_in(proton, queue) == []


@case
def settled_message_on_unsettled_link_detaches(proton, channel):
    sender = sender_to(proton, address_of(declare_queue(channel)), UNSETTLED)
    sender.link.send(Message(body="x")).settle()
    expect_detach("amqp:invalid-field",
                  "sender settle mode is 'unsettled' but transfer settled flag is interpreted as "
                  "being 'true'", proton.wait, lambda: False)


@case_per_type
def queue_deleted_under_a_receiver(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    receiver = receiver_of(proton, queue)
    receiver.link.flow(1)
    flush(proton)
    channel.queue_delete(queue)
    expect_detach("amqp:resource-deleted", f"queue '{queue}' in vhost '/' was deleted",
                  proton.wait, lambda: False)
    check_usable(proton, channel)


# ---------------------------------------------------------------- permissions

def refused_session(connection, open_link):
    """The session that ends because the link is opened on it."""
    session = new_session(connection)
    open_link(session)
    return session


@case
def read_refused_ends_session(_, channel):
    queue = declare_queue(channel)
    user = add_user("writer", write=".*")
    writer = connect(user=user, password=user)
    session = refused_session(writer, lambda session: writer.container.create_receiver(
        session, address_of(queue)))
    expect_end(writer, session, "amqp:unauthorized-access",
               f"read access to queue '{queue}' in vhost '/' refused for user '{user}'")
    check_usable(writer, channel)


@case
def write_refused_ends_session(_, channel):
    queue = declare_queue(channel)
    user = add_user("reader", read=".*")
    reader = connect(user=user, password=user)
    for address, exchange in [("/exchanges/amq.direct/k", "amq.direct"),
                              (address_of(queue), "amq.default")]:
        session = refused_session(reader, lambda session, address=address:
                                  reader.container.create_sender(session, address))
        expect_end(reader, session, "amqp:unauthorized-access",
                   f"write access to exchange '{exchange}' in vhost '/' refused for user '{user}'")
    channel.basic_publish("", queue, b"x")
    assert bodies_in(reader, queue) == [b"x"]


@case
def write_refused_to_anonymous_sender(_, channel):
    user = add_user("topical", write="amq\\.topic")
    topical = connect(user=user, password=user)
    session = new_session(topical)
    sender = attach_sender(topical, session, None)
    assert send(sender, Message(body="x", address="/exchanges/amq.topic/nobody.listens")) == (
        Delivery.RELEASED, None)
    sender.link.send(Message(body="x", address="/exchanges/amq.direct/k"))
    expect_end(topical, session, "amqp:unauthorized-access",
               f"write access to exchange 'amq.direct' in vhost '/' refused for user '{user}'")


# ---------------------------------------------------------------- dynamic nodes

def temporary(link):
    terminus = link.source if link.is_receiver else link.target
    terminus.dynamic = True
    terminus.capabilities.put_object(symbol("temporary-queue"))


@case
def dynamic_source(proton, channel):
    receiver = proton.create_receiver(None, dynamic=True, credit=0, options=Change(temporary))
    source = receiver.link.remote_source
    assert source.dynamic
    assert source.address.startswith("/queues/amq.gen-"), source.address
    assert source.expiry_policy == Terminus.EXPIRE_WITH_LINK
    publish(proton, source.address, "to a temporary queue")
    message, _ = receive(receiver)
    assert message.body == "to a temporary queue"
    settle(receiver, Delivery.ACCEPTED)
    address = source.address
    receiver.close()
    expect_detach("amqp:not-found", f"no queue '{address[len('/queues/'):]}' in vhost '/'",
                  sender_to, proton, address)


@case
def dynamic_source_is_exclusive(proton, _):
    receiver = proton.create_receiver(None, dynamic=True, credit=0, options=Change(temporary))
    address = receiver.link.remote_source.address
    expect_detach("amqp:resource-locked",
                  lambda text: text.startswith("cannot obtain exclusive access to locked queue"),
                  connect().create_receiver, address, credit=0)


@case
def dynamic_target(proton, channel):
    sender = proton.create_sender(None, options=[UNSETTLED, Change(temporary)])
    address = sender.link.remote_target.address
    assert address.startswith("/queues/amq.gen-"), address
    assert send(sender, Message(body="x")) == (Delivery.ACCEPTED, None)
    receiver = proton.create_receiver(address, credit=0)
    assert receive(receiver)[0].body == "x"


@case
def other_dynamic_source_is_refused(proton, channel):
    expect_detach("amqp:not-implemented", "Dynamic sources not supported",
                  proton.create_receiver, None, dynamic=True)
    check_usable(proton, channel)


def for_replies(link):
    link.snd_settle_mode = Link.SND_SETTLED
    link.source.dynamic = True
    link.source.expiry_policy = Terminus.EXPIRE_WITH_LINK
    link.source.capabilities.put_object(symbol("rabbitmq:volatile-queue"))


@case
def direct_reply_to(proton, channel):
    queue = declare_queue(channel)
    replies = proton.create_receiver(None, dynamic=True, credit=5, options=Change(for_replies))
    address = replies.link.remote_source.address
    assert address.startswith("/queues/amq.rabbitmq.reply-to."), address
    publish(proton, address_of(queue), Message(body="ping", reply_to=address, correlation_id="c1"))
    responder = connect()
    request = next_message(responder, queue)
    assert request.reply_to == address
    publish(responder, request.reply_to, Message(body=request.body + " pong",
                                                 correlation_id=request.correlation_id))
    reply = replies.receive(timeout=PATIENCE_SECONDS)
    assert (reply.body, reply.correlation_id) == ("ping pong", "c1")


@case
def direct_reply_by_pika(proton, channel):
    queue = declare_queue(channel)
    replies = proton.create_receiver(None, dynamic=True, credit=5, options=Change(for_replies))
    publish(proton, address_of(queue), Message(
        body=b"ping", inferred=True, reply_to=replies.link.remote_source.address,
        correlation_id="c1"))
    _, request, body = next_by_pika(channel, queue)
    assert request.reply_to.startswith("amq.rabbitmq.reply-to."), request.reply_to
    channel.basic_publish("", request.reply_to, body + b" pong", pika.BasicProperties(
        correlation_id=request.correlation_id))
    reply = replies.receive(timeout=PATIENCE_SECONDS)
    assert (reply.body, reply.correlation_id) == (b"ping pong", "c1")


@case
def direct_reply_to_pika(proton, channel):
    queue = declare_queue(channel)
    replies = []
    pika_properties = pika.BasicProperties
    channel.basic_consume("amq.rabbitmq.reply-to", auto_ack=True,
                          on_message_callback=lambda _, __, properties, body:
                          replies.append((properties.correlation_id, body)))
    channel.basic_publish("", queue, b"ping", pika_properties(
        reply_to="amq.rabbitmq.reply-to", correlation_id="c1"))
    request = next_message(proton, queue)
    assert request.reply_to.startswith("/queues/amq.rabbitmq.reply-to."), request.reply_to
    publish(proton, request.reply_to, Message(body=request.body + b" pong", inferred=True,
                                              correlation_id=request.correlation_id))
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not replies and time.monotonic() < deadline:
        channel.connection.process_data_events(time_limit=0.05)
    assert replies == [("c1", b"ping pong")]
