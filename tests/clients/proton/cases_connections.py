"""Connections, permissions and dynamic nodes: granted and refused requests."""

import time

import pika
import proton as amqp
from proton import ConnectionException, Delivery, Endpoint, Link, Message, Terminus, symbol
from proton.utils import ConnectionClosed

from peer import (PATIENCE_SECONDS, UNSETTLED, Change, add_user, add_vhost, address_of,
                  attach_sender, bodies_in, case, check_usable, connect, connect_pika,
                  declare_queue, expect_detach, expect_end, name_of, new_session, next_by_pika,
                  next_message, publish, receive, receiver_of, send, sender_to, settle)


# ---------------------------------------------------------------- connections

@case
def open_of_the_broker(proton, _):
    connection = proton.conn
    properties = connection.remote_properties
    assert {type(key) for key in properties} == {symbol}, properties
    assert {"node", "cluster_name", "copyright", "information", "platform", "product",
            "version"} <= set(properties), properties
    assert properties["product"] == "RabbitMQ", properties
    assert properties.get("product_name", "Revenant") == "Revenant", properties
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


def expect_silent_drop(**options):
    """A refused open gets no reply: the socket closes after three seconds."""
    started = time.monotonic()
    try:
        connect(**options)
    except ConnectionClosed as closed:
        raise AssertionError(f"the broker opened, and closed: {closed}") from closed
    except ConnectionException as dropped:
        assert "connection aborted" in str(dropped), dropped
        assert 2 < time.monotonic() - started < PATIENCE_SECONDS
    else:
        raise AssertionError("the broker opened the virtual host")


@case
def unknown_vhost_is_refused(_, __):
    expect_silent_drop(virtual_host="vhost:no-such-vhost")


@case
def vhost_of_others_is_refused(_, __):
    vhost = add_vhost("vhost")
    stranger = add_user("stranger")
    expect_silent_drop(user=stranger, password=stranger, virtual_host="vhost:" + vhost)


@case
def heartbeats_keep_an_idle_connection(_, channel):
    idle = connect(heartbeat=2)  # Proton announces half of it, at least one second.
    deadline = time.monotonic() + 3.5
    while time.monotonic() < deadline:  # Proton disconnects from a peer that is silent for that long.
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


# ---------------------------------------------------------------- permissions

def refused_session(connection, open_link):
    """A session that ends because a link is opened on it."""
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
    assert source.address.startswith("/queues/amq.dyn-"), source.address
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
    assert address.startswith("/queues/amq.dyn-"), address
    assert send(sender, Message(body="x")) == (Delivery.ACCEPTED, None)
    receiver = proton.create_receiver(address, credit=0)
    assert receive(receiver)[0].body == "x"


@case
def other_dynamic_source_is_refused(proton, channel):
    expect_detach("amqp:not-implemented", lambda text: text.startswith("Dynamic source not supported"),
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
