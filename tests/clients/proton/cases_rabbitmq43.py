"""Behaviour of RabbitMQ 4.3.6 from which early versions of the broker differed, from a client's point of view."""

import json
import os
import re
import socket
import time
import urllib.parse

import pika
from proton import Delivery, Endpoint, Message, Timeout, Transport, int32, symbol
from proton.utils import ConnectionClosed, LinkDetached

from cases_connections import for_replies
from cases_management import Management, bindings_query, owned_queue, queue_path
from peer import (PATIENCE_SECONDS, UNSETTLED, Change, Inbox, add_user, address_of, attach_receiver, attach_sender, case,
                  case_per_type, connect, connect_pika, declare_exchange, declare_queue, flush, http, new_session, publish,
                  receiver_of, sender_to)


def ended_by(connection, session):
    connection.wait(lambda: session.state & Endpoint.REMOTE_CLOSED, msg="the session ends")
    return session.remote_condition.name


@case
def listing_bindings_needs_permissions(_, channel):
    queue = declare_queue(channel)
    user = add_user("lister", configure=".*", write="^none$", read=".*")
    connection = connect(user, user)
    management = Management(connection)
    management.send("GET", bindings_query("amq.direct", queue, "k"))
    assert ended_by(connection, management.session) == "amqp:unauthorized-access"


@case
def reply_link_needs_read_permission(_, __):
    user = add_user("requester", configure=".*", write=".*", read="^none$")
    connection = connect(user, user)
    session = new_session(connection)
    connection.container.create_receiver(session, None, dynamic=True, options=Change(for_replies))
    assert ended_by(connection, session) == "amqp:unauthorized-access"


@case
def reply_queue_is_there_while_its_requester_is(proton, _):
    replies = proton.create_receiver(None, dynamic=True, credit=1, options=Change(for_replies))
    name = urllib.parse.unquote(replies.link.remote_source.address[len("/queues/"):])
    status, body = Management(proton).ask("GET", queue_path(name))
    assert (status, body["name"]) == ("200", name), (status, body)


@case
def reply_address_has_two_parts(proton, _):
    replies = proton.create_receiver(None, dynamic=True, credit=1, options=Change(for_replies))
    name = urllib.parse.unquote(replies.link.remote_source.address[len("/queues/"):])
    assert len(name[len("amq.rabbitmq.reply-to."):].split(".")) == 2, name


@case
def bad_cc_is_released_then_detached(proton, channel):
    queue = declare_queue(channel)
    sender = sender_to(proton, address_of(queue))
    delivery = sender.link.send(Message(body="x", annotations={symbol("x-cc"): "no list"}))
    try:
        proton.wait(lambda: sender.link.state & Endpoint.REMOTE_CLOSED, msg="the detach")
    except LinkDetached:
        pass
    assert (delivery.remote_state, delivery.settled) == (Delivery.RELEASED, True), delivery.remote_state


@case
def internal_exchange_by_the_anonymous_terminus_detaches(proton, channel):
    exchange = declare_exchange(channel, "fanout", internal=True)
    session = new_session(proton)
    sender = attach_sender(proton, session, None, UNSETTLED)
    sender.link.send(Message(body="x", address=f"/exchanges/{exchange}"))
    try:
        proton.wait(lambda: (sender.link.state | session.state) & Endpoint.REMOTE_CLOSED, msg="a refusal")
    except LinkDetached:
        pass
    assert sender.link.state & Endpoint.REMOTE_CLOSED, "the link is detached"
    assert not session.state & Endpoint.REMOTE_CLOSED, "the session goes on"


@case_per_type
def deletion_is_answered_before_links_are_detached(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    session = new_session(proton)
    management = Management(proton, session)
    order = []
    inbox = management.inbox
    inbox.on_delivery = lambda event, keep=inbox.on_delivery: (order.append("answer"), keep(event))

    class Watch:
        def on_link_remote_close(self, event):
            order.append("detach")

        def __getattr__(self, name):
            if name.startswith("on_"):
                return lambda event: None
            raise AttributeError(name)

    link = proton.container.create_receiver(session, address_of(queue), name="watched", handler=Watch())
    proton.wait(lambda: link.state & Endpoint.REMOTE_ACTIVE, msg="the attach")
    management.send("DELETE", queue_path(queue))
    proton.wait(lambda: len(order) == 2, msg="answer and detach")
    assert order == ["answer", "detach"], order


def closed_by(close):
    """The error of a sender to an auto-delete queue whose only consumer is on the same connection."""
    connection = connect()
    queue = owned_queue("fleeting")
    Management(connection).ask("PUT", queue_path(queue), {"auto_delete": True})
    session = new_session(connection)
    sender = attach_sender(connection, session, address_of(queue))
    attach_receiver(connection, session, queue, None)
    close(connection)
    for _ in range(3):  # Each close by the broker interrupts the wait.
        try:
            connection.wait(lambda: connection.conn.state & Endpoint.REMOTE_CLOSED, msg="the close")
            break
        except (ConnectionClosed, LinkDetached):
            pass
    assert connection.conn.state & Endpoint.REMOTE_CLOSED, "the connection is closed"
    return sender.link.remote_condition


def close_over_http(connection):
    with socket.socket(fileno=os.dup(connection.conn.transport._selectable.fileno())) as connected:
        port = connected.getsockname()[1]
    for _ in range(100):  # RabbitMQ lists a connection after some seconds.
        names = [one["name"] for one in json.loads(http("GET", "connections")) if one.get("peer_port") == port]
        if names:
            http("DELETE", "connections/" + urllib.parse.quote(names[0], safe=""))
            return
        time.sleep(0.1)
    raise AssertionError("the connection is not listed")


@case
def close_by_an_operator_detaches_nothing_before(_, __):
    condition = closed_by(close_over_http)
    assert condition is None, condition


@case
def exclusive_queue_is_durable(proton, _):
    queue = owned_queue("exclusive")
    status, body = Management(proton).ask("PUT", queue_path(queue), {"durable": True, "exclusive": True})
    assert (status, body["durable"], body["exclusive"]) == ("201", True, True), body
    assert json.loads(http("GET", "queues/%2F/" + queue))["durable"] is True


@case
def booleans_of_answers_have_a_byte(proton, channel):
    """Booleans are 0x56 and one byte, as in RabbitMQ: some clients compare with 1."""
    queue = declare_queue(channel)
    management = Management(proton)
    management.send("GET", queue_path(queue))
    proton.wait(lambda: management.inbox.arrived, msg="the answer")
    encoded = management.inbox.arrived[0][1]
    assert b"\xa1\x07durable\x56\x01" in encoded, encoded


@case
def booleans_of_headers_have_a_byte(proton, channel):
    queue = declare_queue(channel)
    channel.basic_publish("", queue, b"x", pika.BasicProperties(headers={"flag": True}))
    inbox = Inbox()
    receiver = receiver_of(proton, queue, handler=inbox)
    receiver.link.flow(1)
    proton.wait(lambda: inbox.arrived, msg="the message")
    assert b"\xa1\x04flag\x56\x01" in inbox.arrived[0][1], inbox.arrived[0][1]


@case
def exchanges_that_pick_one_destination(_, channel):
    for kind in ["x-local-random", "x-modulus-hash"]:
        exchange = declare_exchange(channel, kind, "picks." + kind)
        queues = [declare_queue(channel, f"{kind}.{number}") for number in range(2)]
        for queue in queues:
            channel.queue_bind(queue, exchange, "")
        for number in range(20):
            channel.basic_publish(exchange, f"key.{number}", b"x")
        channel.confirm_delivery()
        channel.basic_publish(exchange, "last", b"x")
        counts = [channel.queue_declare(queue, passive=True).method.message_count for queue in queues]
        assert sum(counts) == 21, (kind, counts)
        channel = channel.connection.channel()


@case
def new_token_checks_permissions_again(_, channel):
    queue = declare_queue(channel)
    user = add_user("renewing", configure=".*", write=".*", read=".*")
    connection = connect(user, user)
    reading = new_session(connection)
    attach_receiver(connection, reading, queue, None)
    management = Management(connection)
    http("PUT", f"permissions/%2F/{user}", {"configure": ".*", "write": ".*", "read": "^none$"})
    assert management.ask("PUT", "/auth/tokens", b"token")[0] == "204"
    assert ended_by(connection, reading) == "amqp:unauthorized-access"


@case_per_type
def deletion_is_answered_before_consumers_are_cancelled(_, channel, kind):
    queue = declare_queue(channel, kind=kind)
    order = []
    channel.basic_consume(queue, lambda *_: None)
    channel.add_on_cancel_callback(lambda _: order.append("cancel"))
    impl = channel._impl
    impl.callbacks.add(impl.channel_number, pika.spec.Queue.DeleteOk, lambda _: order.append("delete-ok"), one_shot=True)
    impl.callbacks.add(impl.channel_number, pika.spec.Basic.Cancel, lambda _: order.append("cancel-frame"), one_shot=True)
    channel.queue_delete(queue)
    channel.connection.process_data_events(time_limit=1)
    found = [one for one in order if one != "cancel"]
    assert found == ["delete-ok", "cancel-frame"], order


class Notices:
    """The `rabbitmq:active` property of each link. Proton shows the properties of a flow only in its trace."""

    def __init__(self, connection):
        self.connection = connection
        self.names = {}  # by the broker's handle
        self.found = []
        transport = connection.conn.transport
        transport.tracer = lambda _, line: self.read(line)
        transport.trace(Transport.TRACE_FRM)

    def read(self, line):
        if attach := re.search(r'<- @attach\(18\) \[name="([^"]*)", handle=(0x[0-9a-f]+)', line):
            self.names[attach[2]] = attach[1]
        if flow := re.search(r'<- @flow\(19\) \[.*handle=(0x[0-9a-f]+),.*"?rabbitmq:active"?=(true|false)', line):
            self.found.append((self.names[flow[1]], flow[2] == "true"))

    def wait(self, *expected):
        try:
            self.connection.wait(lambda: len(self.found) >= len(expected), timeout=PATIENCE_SECONDS)
        except Timeout:
            pass
        found, self.found = self.found, []
        assert sorted(found) == sorted(expected), found


@case
def single_active_consumer_is_told_that_it_is_active(proton, channel):
    queue = declare_queue(channel, kind="quorum", arguments={"x-single-active-consumer": True})
    notices = Notices(proton)

    inboxes = {}

    def attach(name, priority):
        options = Change(lambda link: setattr(link, "properties", {symbol("rabbitmq:priority"): int32(priority)}))
        inboxes[name] = Inbox()
        receiver = proton.create_receiver(address_of(queue), credit=0, name=name, options=options,
                                          handler=inboxes[name])
        receiver.link.flow(1)
        return receiver

    def accept(name, body):
        proton.wait(lambda: inboxes[name].arrived, msg=f"{body} for {name}")
        delivery, encoded = inboxes[name].arrived.pop()
        message = Message()
        message.decode(encoded)
        assert message.body == body, message.body
        delivery.update(Delivery.ACCEPTED)
        delivery.settle()
        flush(proton)

    low = attach("low", 0)
    notices.wait(("low", True))
    attach("lower", -1)
    notices.wait(("lower", False))
    publish(proton, address_of(queue), "m1", "m2", "m3")
    accept("low", "m1")
    low.link.flow(1)
    accept("low", "m2")
    high = attach("high", 10)
    notices.wait(("high", True), ("low", False))
    accept("high", "m3")
    high.close()
    notices.wait(("low", True))
    assert not inboxes["lower"].arrived


def cancels_after(channel, kind, delete):
    """The consumer tags in basic.cancel on a channel after another client has deleted its queue."""
    queue = declare_queue(channel, kind=kind)
    tags = [channel.basic_consume(queue, lambda *_: None) for _ in range(2)]
    cancelled = []
    channel.add_on_cancel_callback(lambda frame: cancelled.append(frame.method.consumer_tag))
    delete(queue)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(cancelled) < len(tags) and time.monotonic() < deadline:
        channel.connection.process_data_events(time_limit=0.1)
    channel.basic_qos(prefetch_count=1)  # The channel stays open, and no further cancel arrives.
    assert sorted(cancelled) == sorted(tags), cancelled
    consumers = json.loads(http("GET", "consumers/%2F"))
    assert queue not in [one["queue"]["name"] for one in consumers], consumers


@case_per_type
def deletion_on_another_channel_cancels_consumers(_, channel, kind):
    other = channel.connection.channel()
    cancels_after(channel, kind, other.queue_delete)


@case_per_type
def deletion_on_another_connection_cancels_consumers(_, channel, kind):
    other = connect_pika()
    cancels_after(channel, kind, other.channel().queue_delete)


@case_per_type
def deletion_over_http_cancels_consumers(_, channel, kind):
    cancels_after(channel, kind, lambda queue: http("DELETE", "queues/%2F/" + queue))
