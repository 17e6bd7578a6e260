"""Messages: settled and unsettled, of all sizes and types, through both protocols."""

import uuid

import pika
from proton import (UNDESCRIBED, Array, Data, Delivery, Link, Message, byte, char, decimal64,
                    float32, int32, short, symbol, timestamp, ubyte, uint, ulong, ushort)

from peer import (MESSAGE_BYTES_MAX, MIXED, SETTLED, UNSETTLED, Inbox, address_of, attach_sender,
                  bodies_in, case, case_per_type, check_usable, connect, declare_exchange,
                  declare_queue, expect_detach, expect_end, new_session, next_by_pika, next_message,
                  publish, receive, receiver_of, send, sender_to, wait_for_ready)

PATTERN = bytes(range(251))


def body_of(size):
    return (PATTERN * (size // len(PATTERN) + 1))[:size]


def data(body, **fields):
    """A message whose body is a data section; by default Proton encodes bytes as an amqp-value."""
    return Message(body=body, inferred=True, **fields)


def typed(value):
    """A value with its AMQP type, to distinguish int from ulong and str from symbol."""
    if isinstance(value, dict):
        return {key: typed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [typed(each) for each in value]
    return type(value), value


@case
def send_unsettled_is_accepted(proton, channel):
    queue = declare_queue(channel)
    sender = sender_to(proton, address_of(queue), UNSETTLED)
    assert sender.link.remote_snd_settle_mode == Link.SND_UNSETTLED
    assert send(sender, data(b"one")) == (Delivery.ACCEPTED, None)
    assert channel.basic_get(queue, auto_ack=True)[2] == b"one"


@case
def send_settled_arrives(proton, channel):
    queue = declare_queue(channel)
    sender = sender_to(proton, address_of(queue), SETTLED)
    assert sender.link.remote_snd_settle_mode == Link.SND_SETTLED
    for body in ["1", "2", "3"]:
        assert sender.send(Message(body=body)).remote_state == 0, "a settled message has no outcome"
    sender.close()  # Proton does not send them before.
    wait_for_ready(channel, queue, 3)
    assert bodies_in(proton, queue) == ["1", "2", "3"]


@case
def send_mixed_lets_each_message_choose(proton, channel):
    queue = declare_queue(channel)
    sender = sender_to(proton, address_of(queue), MIXED)
    assert sender.link.remote_snd_settle_mode == Link.SND_MIXED
    settled = sender.link.send(Message(body="settled"))
    settled.settle()
    assert send(sender, Message(body="unsettled")) == (Delivery.ACCEPTED, None)
    assert bodies_in(proton, queue) == ["settled", "unsettled"]


@case_per_type
def receive_unsettled(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), "one")
    receiver = receiver_of(proton, queue, UNSETTLED)
    assert receiver.link.remote_snd_settle_mode == Link.SND_UNSETTLED
    message, delivery = receive(receiver)
    assert (message.body, delivery.settled) == ("one", False)
    assert len(delivery.tag) > 0
    proton.close()  # The delivery is unsettled, so the message is requeued.
    message = next_message(connect(), queue)
    assert (message.body, message.first_acquirer) == ("one", False)


@case_per_type
def receive_settled(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), "one", "two")
    receiver = receiver_of(proton, queue, SETTLED)
    assert receiver.link.remote_snd_settle_mode == Link.SND_SETTLED
    assert receiver.receive().body == "one"
    assert not receiver.fetcher.unsettled, "the message is settled already"
    proton.close()
    assert bodies_in(connect(), queue) == ["two"]


@case
def mixed_receiver_is_unsettled(proton, channel):
    queue = declare_queue(channel)
    receiver = receiver_of(proton, queue, MIXED)
    assert receiver.link.remote_snd_settle_mode == Link.SND_UNSETTLED


@case
def order_and_outcomes_of_a_burst(proton, channel):
    queue = declare_queue(channel)
    count = 2000
    sender = sender_to(proton, address_of(queue))
    unsettled, accepted = [], 0
    for number in range(count):
        proton.wait(lambda: sender.link.credit > 0, msg="credit")
        unsettled.append(sender.link.send(Message(body=number)))
    proton.wait(lambda: all(each.settled for each in unsettled), msg="all outcomes")
    for delivery in unsettled:
        accepted += delivery.remote_state == Delivery.ACCEPTED
        delivery.settle()
    assert accepted == count
    receiver = receiver_of(proton, queue)
    receiver.link.flow(count)
    proton.wait(lambda: receiver.fetcher.has_message == count, msg="all messages arrive")
    assert [receiver.fetcher.pop().body for _ in range(count)] == list(range(count))
    for _ in range(count):
        receiver.accept()
    receiver.close()
    wait_for_ready(channel, queue, 0)


@case
def body_kinds(proton, channel):
    queue = declare_queue(channel)
    bodies = [b"", b"bytes", "", "text", True, -5, 2 ** 40, 0.5, ulong(7), symbol("s"),
              uuid.UUID(int=5), timestamp(1700000000000), ["a", 1, None, [b"b"]],
              {"key": {"inner": 1}, "list": [1, 2]}, Array(UNDESCRIBED, Data.INT, 1, 2, 3)]
    for body in bodies:
        publish(proton, address_of(queue), Message(body=body))
        received = next_message(proton, queue).body
        assert typed(received) == typed(body), (body, received)


@case
def data_body(proton, channel):
    queue = declare_queue(channel)
    for body in [b"", b"\x00", body_of(255), body_of(256), body_of(70_000)]:
        publish(proton, address_of(queue), data(body))
        message = next_message(proton, queue)
        assert (message.inferred, message.body) == (True, body)


@case
def missing_body_detaches(proton, channel):
    sender = sender_to(proton, address_of(declare_queue(channel)))
    expect_detach("amqp:decode-error", "failed to parse message: missing_amqp_message_body",
                  send, sender, Message())
    check_usable(proton, channel)


@case
def sequence_body(proton, channel):
    queue = declare_queue(channel)
    publish(proton, address_of(queue), Message(body=["a", 1, b"c"], inferred=True))
    message = next_message(proton, queue)
    assert (message.inferred, message.body) == (True, ["a", 1, b"c"])


@case
def properties_echo(proton, channel):
    queue = declare_queue(channel)
    sent = dict(id="m1", user_id=b"guest", address="/queues/elsewhere", subject="about",
                reply_to="/queues/replies", correlation_id="c1", content_type=symbol("text/plain"),
                content_encoding=symbol("gzip"), expiry_time=1900000000.0,
                creation_time=1700000000.0, group_id="g1", group_sequence=3,
                reply_to_group_id="g2")
    publish(proton, address_of(queue), Message(body="x", **sent))
    received = next_message(proton, queue)
    assert {key: getattr(received, key) for key in sent} == sent


@case
def message_id_types(proton, channel):
    queue = declare_queue(channel)
    for identifier in ["text", "x" * 300, ulong(2 ** 63), uuid.UUID(int=2 ** 100), b"\x00\xff"]:
        publish(proton, address_of(queue),
                Message(body="x", id=identifier, correlation_id=identifier))
        received = next_message(proton, queue)
        # Proton returns an ulong as int.
        expected = int(identifier) if isinstance(identifier, ulong) else identifier
        assert typed(received.id) == typed(expected), received.id
        assert typed(received.correlation_id) == typed(expected), received.correlation_id


@case
def application_property_types(proton, channel):
    queue = declare_queue(channel)
    sent = {"string": "café", "empty": "", "symbol": symbol("s"), "bytes": b"\x00\xff",
            "true": True, "false": False, "null": None, "byte": byte(-5), "ubyte": ubyte(200),
            "short": short(-300), "ushort": ushort(60000), "int": int32(-70000),
            "uint": uint(2 ** 31), "long": 2 ** 40, "ulong": ulong(2 ** 63), "float": float32(0.5),
            "double": 0.1, "char": char("ä"), "timestamp": timestamp(1700000000001),
            "uuid": uuid.UUID(int=1), "decimal64": decimal64(123)}
    publish(proton, address_of(queue), Message(body="x", properties=sent))
    assert typed(next_message(proton, queue).properties) == typed(sent)


@case
def annotations_echo(proton, channel):
    queue = declare_queue(channel)
    sent = {symbol("x-text"): "a", symbol("x-number"): ulong(5), symbol("x-list"): [1, "two"],
            symbol("x-map"): {symbol("k"): True}, symbol("x-opt-time"): timestamp(1700000000001)}
    publish(proton, address_of(queue), Message(body="x", annotations=sent))
    received = next_message(proton, queue).annotations
    added = {symbol("x-exchange"): "", symbol("x-routing-key"): queue}
    assert typed(received) == typed({**sent, **added}), received


@case_per_type
def header_fields(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), Message(body="x", durable=True, priority=3, ttl=600.0))
    message = next_message(proton, queue)
    assert (message.durable, message.priority, message.ttl, message.first_acquirer,
            message.delivery_count) == (True, 3, 600.0, True, 0), message


@case
def message_is_durable_if_it_says_so(proton, channel):
    queue = declare_queue(channel)
    # Proton omits the field if it is false.
    publish(proton, address_of(queue), Message(body="x", durable=False))
    message = next_message(proton, queue)
    assert (message.durable, message.priority, message.ttl) == (False, 4, 0.0), message
    publish(proton, address_of(queue), Message(body="x", durable=True))
    assert next_message(proton, queue).durable


@case
def bare_message_is_byte_identical(proton, channel):
    queue = declare_queue(channel)
    message = Message(body={"k": [1, "two"]}, id=ulong(1), subject="s", properties={"p": 1.5},
                      annotations={symbol("x-a"): "b"})
    encoded = message.encode()
    publish(proton, address_of(queue), message)
    inbox = Inbox()
    receiver = receiver_of(proton, queue, handler=inbox)
    receiver.link.flow(1)
    proton.wait(lambda: inbox.arrived, msg="the message arrives")
    properties = b"\x00\x53\x73"  # the descriptor of the first section that must not change
    assert inbox.arrived[0][1].partition(properties)[2] == encoded.partition(properties)[2] != b""


@case_per_type
def largest_message(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    overhead = len(Message(body=bytes(100_000)).encode()) - 100_000
    body = body_of(MESSAGE_BYTES_MAX - overhead)
    message = Message(body=body)
    assert len(message.encode()) == MESSAGE_BYTES_MAX
    publish(proton, address_of(queue), message)
    assert next_message(proton, queue).body == body


@case
def too_large_message_ends_session(proton, channel):
    queue = declare_queue(channel)
    overhead = len(Message(body=bytes(100_000)).encode()) - 100_000
    session = new_session(proton)
    sender = attach_sender(proton, session, address_of(queue))
    assert sender.link.remote_max_message_size == MESSAGE_BYTES_MAX
    sender.link.send(Message(body=bytes(MESSAGE_BYTES_MAX + 1 - overhead)))
    expect_end(proton, session, "amqp:link:message-size-exceeded",
               "message size (16777217 bytes) > maximum message size (16777216 bytes)")
    publish(proton, address_of(queue), "fits")
    assert bodies_in(proton, queue) == ["fits"]


@case_per_type
def small_frames(_, channel, kind):
    queue = declare_queue(channel, kind=kind)
    proton = connect(max_frame_size=512)
    for size in [400, 600, 5_000, 1_000_000]:
        body = body_of(size)
        publish(proton, address_of(queue), Message(body=body, properties={"size": size}))
        message = next_message(proton, queue)
        assert message.properties == {"size": size}
        assert message.body == body, f"a body of {size} bytes changed"


@case
def large_messages_interleave_with_small_ones(_, channel):
    large, small = declare_queue(channel, "large"), declare_queue(channel, "small")
    proton = connect(max_frame_size=1024)
    publish(proton, address_of(large), body_of(2_000_000), body_of(2_000_001))
    publish(proton, address_of(small), *[str(number) for number in range(50)])
    first, second = receiver_of(proton, large), receiver_of(proton, small)
    first.link.flow(2)
    second.link.flow(50)
    proton.wait(lambda: first.fetcher.has_message == 2 and second.fetcher.has_message == 50,
                msg="all messages arrive")
    assert [first.fetcher.pop().body for _ in range(2)] == [body_of(2_000_000), body_of(2_000_001)]
    assert [second.fetcher.pop().body for _ in range(50)] == [str(n) for n in range(50)]


# ---------------------------------------------------------------- to and from 0-9-1

@case_per_type
def to_pika(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), Message(
        body=b"payload", inferred=True, durable=True, priority=3, ttl=600.0, id="m1",
        correlation_id="c1",
        user_id=b"guest", content_type=symbol("text/plain"), content_encoding=symbol("gzip"),
        creation_time=1700000000.0, group_id="app", reply_to="/queues/r%2F1", subject="dropped",
        properties={"text": "a", "int": int32(-5), "ulong": ulong(6), "true": True, "null": None,
                    "bytes": b"b", "ubyte": ubyte(100), "symbol": symbol("s")},
        annotations={symbol("x-note"): "n", symbol("x-count"): ulong(4)}))
    method, properties, body = next_by_pika(channel, queue)
    assert (method.exchange, method.routing_key, body) == ("", queue, b"payload")
    assert properties.headers == {
        "text": "a", "int": -5, "ulong": 6, "true": True, "null": None, "bytes": "b",
        "ubyte": 100, "symbol": "s", "x-note": "n", "x-count": 4}, properties.headers
    assert vars(properties) == vars(pika.BasicProperties(
        delivery_mode=2, priority=3, expiration="600000", message_id="m1", correlation_id="c1",
        user_id="guest", content_type="text/plain", content_encoding="gzip",
        timestamp=1700000000, app_id="app", reply_to="r/1", headers=properties.headers)), properties


@case
def other_ids_to_pika(proton, channel):
    queue = declare_queue(channel)
    for sent, expected in [(ulong(7), "7"), (uuid.UUID(int=255), f"urn:uuid:{uuid.UUID(int=255)}")]:
        publish(proton, address_of(queue), data(b"x", id=sent, correlation_id=sent))
        properties = next_by_pika(channel, queue)[1]
        assert (properties.message_id, properties.correlation_id) == (expected, expected)
    publish(proton, address_of(queue), data(b"x", id="y" * 300, correlation_id=b"\x00\xff"))
    properties = next_by_pika(channel, queue)[1]
    assert (properties.message_id, properties.correlation_id) == (None, None)
    assert properties.headers == {"x-message-id": "y" * 300, "x-correlation-id": b"\x00\xff"}


@case
def values_to_pika_and_back(proton, channel):
    queue = declare_queue(channel)
    publish(proton, address_of(queue), Message(body={"k": [1, "two"]}))
    _, properties, body = next_by_pika(channel, queue)
    assert properties.type == "amqp-1.0"
    assert body.startswith(b"\x00\x53\x77"), body
    channel.basic_publish("", queue, body, pika.BasicProperties(type="amqp-1.0"))
    assert next_message(proton, queue).body == {"k": [1, "two"]}


@case_per_type
def from_pika(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    channel.basic_publish("", queue, b"payload", pika.BasicProperties(
        delivery_mode=2, priority=3, expiration="600000", message_id="m1",
        correlation_id=f"urn:uuid:{uuid.UUID(int=255)}", user_id="guest",
        content_type="text/plain", content_encoding="gzip", timestamp=1700000000, app_id="app",
        reply_to="r/1", type="kind",
        headers={"a": 5, "text": "t", "true": True, "null": None, "dropped": [1], "gone": {"k": 1},
                 "x-b": "yes", "x-list": [1, "two"], "x-table": {"k": "v"}, "CC": ["k"]}))
    message = next_message(proton, queue)
    assert typed(message.body) == typed(b"payload")
    assert (message.durable, message.priority, message.ttl) == (True, 3, 600.0)
    assert (message.id, message.correlation_id) == ("m1", uuid.UUID(int=255))
    assert (message.user_id, message.group_id) == (b"guest", "app")
    assert message.reply_to == "/queues/r%2F1"
    assert (message.content_type, message.content_encoding) == ("text/plain", "gzip")
    assert (message.creation_time, message.address, message.subject) == (1700000000.0, None, None)
    assert typed(message.properties) == typed(
        {"a": int32(5), "text": "t", "true": True, "null": None}), message.properties
    assert typed(message.annotations) == typed({
        symbol("x-b"): "yes", symbol("x-list"): [int32(1), "two"],
        symbol("x-table"): {symbol("k"): "v"}, symbol("x-cc"): ["k"],
        symbol("x-basic-type"): "kind", symbol("x-exchange"): "",
        symbol("x-routing-key"): queue}), message.annotations


@case
def transient_from_pika(proton, channel):
    queue = declare_queue(channel)
    channel.basic_publish("", queue, b"x")
    message = next_message(proton, queue)
    assert (message.durable, message.priority, message.ttl) == (False, 4, 0.0)


@case
def exchange_and_key_reach_both_protocols(proton, channel):
    exchange, queue = declare_exchange(channel, "topic"), declare_queue(channel)
    channel.queue_bind(queue, exchange, "order.#")
    publish(proton, f"/exchanges/{exchange}/order.eu", "by proton")
    method = next_by_pika(channel, queue)[0]
    assert (method.exchange, method.routing_key) == (exchange, "order.eu")
    channel.basic_publish(exchange, "order.us", b"by pika")
    annotations = next_message(proton, queue).annotations
    assert annotations == {"x-exchange": exchange, "x-routing-key": "order.us"}
