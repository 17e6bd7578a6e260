#!/usr/bin/python3
"""AMQP 0-9-1 cases, written as users of pika write them. Usage: cases.py HOST PORT"""

import datetime
import decimal
import logging
import os
import sys
import time

import pika
from pika.exceptions import (ChannelClosedByBroker, NackError, ProbableAuthenticationError,
                             ProbableAccessDeniedError, UnroutableError)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from promises import CASES, case  # noqa: E402
from told import tell_all, told  # noqa: E402

HOST, PORT = sys.argv[1], int(sys.argv[2])
PATIENCE_SECONDS = 10
BODY_BYTES_MAX = 16 * 1024 * 1024
created_queues, created_exchanges = [], []
logging.getLogger("pika").setLevel(logging.CRITICAL)


def parameters(**options):
    return pika.ConnectionParameters(HOST, PORT, **options)


def name_of(suffix):
    return "clients.pika." + suffix


def declare_queue(channel, suffix="queue", arguments=None):
    name = name_of(suffix)
    created_queues.append(name)
    channel.queue_delete(name)  # An earlier run that was cut short may have left it behind.
    channel.queue_declare(name, durable=True, arguments=arguments)
    return name


def declare_exchange(channel, kind, suffix="exchange", arguments=None):
    name = name_of(suffix)
    created_exchanges.append(name)
    channel.exchange_delete(name)
    channel.exchange_declare(name, kind, durable=True, arguments=arguments)
    return name


def next_message(channel, queue):
    """Waits for one message through a consumer and acknowledges it."""
    method, properties, body = next(channel.consume(queue, inactivity_timeout=PATIENCE_SECONDS))
    assert method is not None, f"no message arrived in {queue}"
    channel.basic_ack(method.delivery_tag)
    channel.cancel()
    return method, properties, body


def ready_count(channel, queue):
    return channel.queue_declare(queue, passive=True).method.message_count


def bodies_in(channel, queue):
    found = []
    while True:
        method, _, body = channel.basic_get(queue, auto_ack=True)
        if method is None:
            return found
        found.append(body)


def wait_until(connection, condition, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        connection.process_data_events(time_limit=0.05)


def expect_close(code, text, call, *arguments, **options):
    """The call makes the broker close the channel with this code; the connection survives."""
    try:
        call(*arguments, **options)
    except ChannelClosedByBroker as error:
        assert error.reply_code == code, f"closed with {error.reply_code}: {error.reply_text}"
        assert text in error.reply_text, f"reply text was {error.reply_text!r}"
    else:
        raise AssertionError(f"no channel close {code}")


def check_usable(connection):
    channel = connection.channel()
    queue = channel.queue_declare("", exclusive=True).method.queue
    assert queue.startswith("amq.gen-"), queue
    channel.basic_publish("", queue, b"still alive")
    assert next_message(channel, queue)[2] == b"still alive"
    channel.close()


def check_death(properties, queue, reason, exchange, routing_keys):
    deaths = properties.headers["x-death"]
    assert len(deaths) == 1, deaths
    death = deaths[0]
    assert death["queue"] == queue, death
    assert death["reason"] == reason, death
    assert death["count"] == 1, death
    assert death["exchange"] == exchange, death
    assert death["routing-keys"] == routing_keys, death
    assert isinstance(death["time"], datetime.datetime), death
    age = datetime.datetime.utcnow() - death["time"]
    assert abs(age.total_seconds()) < 60, death
    for field, value in [("queue", queue), ("reason", reason), ("exchange", exchange)]:
        assert properties.headers["x-first-death-" + field] == value, properties.headers
    return death


@case
def connection_properties(channel):
    properties = channel.connection._impl.server_properties
    assert properties["product"] == "RabbitMQ", properties
    assert int(properties["version"].split(".")[0]) >= 3, properties
    assert channel.connection.basic_nack_supported
    assert channel.connection.consumer_cancel_notify_supported
    assert channel.connection.exchange_exchange_bindings_supported
    assert channel.connection.publisher_confirms_supported
    for capability in ["connection.blocked", "consumer_priorities", "per_consumer_qos",
                       "authentication_failure_close", "direct_reply_to"]:
        assert properties["capabilities"][capability] is True, properties


@case
def bind_direct(channel):
    exchange, queue = declare_exchange(channel, "direct"), declare_queue(channel)
    channel.queue_bind(queue, exchange, "wanted")
    channel.basic_publish(exchange, "other", b"1")
    channel.basic_publish(exchange, "wanted", b"2")
    method, _, body = next_message(channel, queue)
    assert (method.exchange, method.routing_key, body) == (exchange, "wanted", b"2")
    channel.queue_unbind(queue, exchange, "wanted")
    channel.confirm_delivery()
    channel.basic_publish(exchange, "wanted", b"3")
    assert bodies_in(channel, queue) == []


@case
def bind_topic(channel):
    exchange = declare_exchange(channel, "topic")
    one_word, any_words = declare_queue(channel, "one_word"), declare_queue(channel, "any_words")
    channel.queue_bind(one_word, exchange, "order.*.paid")
    channel.queue_bind(any_words, exchange, "order.#")
    channel.confirm_delivery()
    for key in ["order.eu.paid", "order.eu.north.paid", "order", "invoice.eu.paid"]:
        channel.basic_publish(exchange, key, key.encode())
    assert bodies_in(channel, one_word) == [b"order.eu.paid"]
    assert bodies_in(channel, any_words) == [b"order.eu.paid", b"order.eu.north.paid", b"order"]


@case
def bind_fanout(channel):
    exchange = declare_exchange(channel, "fanout")
    queues = [declare_queue(channel, f"copy_{index}") for index in range(3)]
    for queue in queues:
        channel.queue_bind(queue, exchange)
    channel.confirm_delivery()
    channel.basic_publish(exchange, "ignored", b"news")
    assert [bodies_in(channel, queue) for queue in queues] == [[b"news"]] * 3


@case
def bind_headers(channel):
    exchange = declare_exchange(channel, "headers")
    both, either = declare_queue(channel, "both"), declare_queue(channel, "either")
    channel.queue_bind(both, exchange, arguments={"x-match": "all", "kind": "pdf", "pages": 2})
    channel.queue_bind(either, exchange, arguments={"x-match": "any", "kind": "pdf", "pages": 2})
    channel.confirm_delivery()
    for body, headers in [(b"1", {"kind": "pdf", "pages": 2}), (b"2", {"kind": "pdf", "pages": 3}),
                          (b"3", {"kind": "txt"})]:
        channel.basic_publish(exchange, "", body, pika.BasicProperties(headers=headers))
    assert bodies_in(channel, both) == [b"1"]
    assert bodies_in(channel, either) == [b"1", b"2"]


@case
def bind_exchange_to_exchange(channel):
    source = declare_exchange(channel, "topic", "source")
    destination, queue = declare_exchange(channel, "fanout", "destination"), declare_queue(channel)
    channel.exchange_bind(destination, source, "a.#")
    channel.queue_bind(queue, destination)
    channel.confirm_delivery()
    channel.basic_publish(source, "a.b", b"through")
    channel.exchange_unbind(destination, source, "a.#")
    channel.basic_publish(source, "a.b", b"cut off")
    assert bodies_in(channel, queue) == [b"through"]


@case
def alternate_exchange(channel):
    fallback = declare_exchange(channel, "fanout", "fallback")
    exchange = declare_exchange(channel, "direct", arguments={"alternate-exchange": fallback})
    queue = declare_queue(channel)
    channel.queue_bind(queue, fallback)
    channel.confirm_delivery()
    channel.basic_publish(exchange, "nobody", b"stray", mandatory=True)
    assert bodies_in(channel, queue) == [b"stray"]


@case
def cc_and_bcc(channel):
    queues = [declare_queue(channel, suffix) for suffix in ("to", "cc", "bcc")]
    properties = pika.BasicProperties(headers={"CC": [queues[1]], "BCC": [queues[2]]})
    channel.confirm_delivery()
    channel.basic_publish("", queues[0], b"memo", properties)
    for queue in queues:
        method, received, body = channel.basic_get(queue, auto_ack=True)
        assert (method.routing_key, body) == (queues[0], b"memo")
        assert received.headers == {"CC": [queues[1]]}, received.headers


@case
def confirms_one_by_one(channel):
    queue = declare_queue(channel)
    channel.confirm_delivery()
    for index in range(100):
        channel.basic_publish("", queue, b"%d" % index, pika.BasicProperties(delivery_mode=2))
    assert ready_count(channel, queue) == 100
    assert bodies_in(channel, queue) == [b"%d" % index for index in range(100)]


@case
def confirms_of_a_burst(channel):
    """The asynchronous adapter publishes 5,000 messages before it looks at any confirm."""
    queue, count = declare_queue(channel), 5000
    unconfirmed = set(range(1, count + 1))

    def on_confirm(frame):
        assert isinstance(frame.method, pika.spec.Basic.Ack), frame
        tag = frame.method.delivery_tag
        if frame.method.multiple:
            unconfirmed.difference_update(range(1, tag + 1))
        else:
            unconfirmed.discard(tag)
        if not unconfirmed:
            connection.close()

    def on_channel(publisher):
        publisher.confirm_delivery(on_confirm, lambda _: [
            publisher.basic_publish("", queue, b"%d" % index, pika.BasicProperties(delivery_mode=2))
            for index in range(count)])

    connection = pika.SelectConnection(
        parameters(), on_open_callback=lambda opened: opened.channel(on_open_callback=on_channel),
        on_close_callback=lambda closed, _: closed.ioloop.stop())
    connection.ioloop.call_later(30, connection.ioloop.stop)
    connection.ioloop.start()
    assert not unconfirmed, f"{len(unconfirmed)} messages were not confirmed"
    assert ready_count(channel, queue) == count
    received = []
    for method, _, body in channel.consume(queue, inactivity_timeout=PATIENCE_SECONDS):
        assert method is not None, f"only {len(received)} messages arrived"
        received.append(int(body))
        if len(received) == count:
            break
    channel.basic_ack(method.delivery_tag, multiple=True)
    channel.cancel()
    assert received == list(range(count)), "order was not kept"
    assert ready_count(channel, queue) == 0


@case
def reject_publish_is_nacked(channel):
    queue = declare_queue(channel, arguments={"x-max-length": 1, "x-overflow": "reject-publish"})
    channel.confirm_delivery()
    channel.basic_publish("", queue, b"fits")
    try:
        channel.basic_publish("", queue, b"does not fit")
    except NackError:
        pass
    else:
        raise AssertionError("the message beyond the limit was not nacked")
    assert bodies_in(channel, queue) == [b"fits"]


@case
def mandatory_return(channel):
    channel.confirm_delivery()
    channel.basic_publish("amq.direct", "clients.pika.nobody", b"dropped")
    try:
        channel.basic_publish("amq.direct", "clients.pika.nobody", b"lost", mandatory=True,
                              properties=pika.BasicProperties(message_id="m1"))
    except UnroutableError as error:
        returned = error.messages[0]
        assert (returned.method.reply_code, returned.method.reply_text) == (312, "NO_ROUTE")
        assert returned.method.exchange == "amq.direct"
        assert returned.method.routing_key == "clients.pika.nobody"
        assert (returned.properties.message_id, returned.body) == ("m1", b"lost")
    else:
        raise AssertionError("the message was not returned")


@case
def consume_with_prefetch(channel):
    queue, count, prefetch = declare_queue(channel), 20, 3
    publisher = channel.connection.channel()
    publisher.confirm_delivery()
    for index in range(count):
        publisher.basic_publish("", queue, b"%d" % index)
    received, unacked = [], []

    def on_message(_, method, __, body):
        received.append(int(body))
        unacked.append(method.delivery_tag)
        assert len(unacked) <= prefetch, f"{len(unacked)} unacknowledged deliveries"

    channel.basic_qos(prefetch_count=prefetch)
    channel.basic_consume(queue, on_message)
    while len(received) < count:
        # Once the queue has given out all it may, exactly the prefetch window is in our hands.
        expected = min(count, len(received) - len(unacked) + prefetch)
        wait_until(channel.connection, lambda: len(received) >= expected, "the window is full")
        assert ready_count(publisher, queue) == count - expected
        assert len(received) == expected
        channel.basic_ack(unacked.pop(0))
    channel.basic_ack(unacked[-1], multiple=True)
    assert received == list(range(count))


@case
def get_and_empty_get(channel):
    queue = declare_queue(channel)
    assert channel.basic_get(queue) == (None, None, None)
    channel.confirm_delivery()
    channel.basic_publish("", queue, b"first")
    channel.basic_publish("", queue, b"second")
    method, _, body = channel.basic_get(queue)
    assert (body, method.message_count, method.redelivered) == (b"first", 1, False)
    channel.basic_ack(method.delivery_tag)
    method, _, body = channel.basic_get(queue, auto_ack=True)
    assert (body, method.message_count) == (b"second", 0)
    assert channel.basic_get(queue) == (None, None, None)


@case
def nack_requeues(channel):
    queue = declare_queue(channel)
    channel.confirm_delivery()
    channel.basic_publish("", queue, b"first")
    channel.basic_publish("", queue, b"second")
    method, _, body = channel.basic_get(queue)
    assert (method.redelivered, body) == (False, b"first")
    channel.basic_nack(method.delivery_tag, requeue=True)
    method, _, body = next_message(channel, queue)
    assert (method.redelivered, body) == (True, b"first")


@case
def recover_requeues(channel):
    queue = declare_queue(channel)
    channel.confirm_delivery()
    channel.basic_publish("", queue, b"again")
    assert channel.basic_get(queue)[2] == b"again"
    channel.basic_recover(requeue=True)
    method, _, body = next_message(channel, queue)
    assert (method.redelivered, body) == (True, b"again")


@case
def channel_close_requeues(channel):
    queue = declare_queue(channel)
    worker = channel.connection.channel()
    channel.confirm_delivery()
    channel.basic_publish("", queue, b"unfinished")
    assert worker.basic_get(queue)[2] == b"unfinished"
    worker.close()
    method, _, body = next_message(channel, queue)
    assert (method.redelivered, body) == (True, b"unfinished")


@case
def reject_dead_letters(channel):
    dead_letter_exchange = declare_exchange(channel, "fanout", "dlx")
    dead_letter_queue = declare_queue(channel, "dead")
    channel.queue_bind(dead_letter_queue, dead_letter_exchange)
    exchange = declare_exchange(channel, "direct")
    queue = declare_queue(channel, arguments={"x-dead-letter-exchange": dead_letter_exchange})
    channel.queue_bind(queue, exchange, "work")
    channel.basic_publish(exchange, "work", b"poison", pika.BasicProperties(
        message_id="m1", headers={"tenant": "blue"}, delivery_mode=2))
    method, _, _ = next(channel.consume(queue, inactivity_timeout=PATIENCE_SECONDS))
    channel.basic_reject(method.delivery_tag, requeue=False)
    channel.cancel()
    method, properties, body = next_message(channel, dead_letter_queue)
    assert (method.exchange, method.routing_key) == (dead_letter_exchange, "work")
    version = channel.connection._impl.server_properties["version"]
    # Since 4.3 the failed attempt travels with the message (DL-155).
    since_4_3 = tuple(int(part) for part in version.split(".")[:2]) >= (4, 3)
    assert (method.redelivered, body) == (since_4_3, b"poison")
    assert (properties.message_id, properties.headers["tenant"]) == ("m1", "blue")
    check_death(properties, queue, "rejected", exchange, ["work"])
    if tuple(map(int, version.split(".")[:2])) >= (3, 13):
        for field, value in [("queue", queue), ("reason", "rejected"), ("exchange", exchange)]:
            assert properties.headers["x-last-death-" + field] == value, properties.headers


@case
def expired_message_dead_letters(channel):
    dead_letter_queue = declare_queue(channel, "dead")
    queue = declare_queue(channel, arguments={"x-dead-letter-exchange": "",
                                              "x-dead-letter-routing-key": dead_letter_queue})
    channel.basic_publish("", queue, b"late", pika.BasicProperties(expiration="50"))
    method, properties, body = next_message(channel, dead_letter_queue)
    assert (method.exchange, method.routing_key, body) == ("", dead_letter_queue, b"late")
    death = check_death(properties, queue, "expired", "", [queue])
    assert death["original-expiration"] == "50", death
    assert properties.expiration is None, "the dead letter must not expire again"


@case
def overflow_dead_letters(channel):
    dead_letter_queue = declare_queue(channel, "dead")
    queue = declare_queue(channel, arguments={"x-max-length": 2, "x-dead-letter-exchange": "",
                                              "x-dead-letter-routing-key": dead_letter_queue})
    channel.confirm_delivery()
    for body in [b"1", b"2", b"3", b"4"]:
        channel.basic_publish("", queue, body)
    for expected in [b"1", b"2"]:
        _, properties, body = next_message(channel, dead_letter_queue)
        assert body == expected, body
        check_death(properties, queue, "maxlen", "", [queue])
    assert bodies_in(channel, queue) == [b"3", b"4"]


@case
def dead_letters_count_up(channel):
    """A message that goes round a retry loop keeps one x-death entry per queue and reason."""
    retry, queue = name_of("retry"), name_of("queue")
    declare_queue(channel, "retry", {"x-message-ttl": 20, "x-dead-letter-exchange": "",
                                     "x-dead-letter-routing-key": queue})
    declare_queue(channel, "queue", {"x-dead-letter-exchange": "",
                                     "x-dead-letter-routing-key": retry})
    channel.basic_publish("", queue, b"flaky")
    for method, properties, _ in channel.consume(queue, inactivity_timeout=PATIENCE_SECONDS):
        deaths = (properties.headers or {}).get("x-death", [])
        if deaths and deaths[0]["count"] == 3:
            break
        channel.basic_nack(method.delivery_tag, requeue=False)
    channel.basic_ack(method.delivery_tag)
    channel.cancel()
    assert [(death["queue"], death["reason"], death["count"]) for death in deaths] == [
        (retry, "expired", 3), (queue, "rejected", 3)], deaths


@case
def client_cancels_consumer(channel):
    queue = declare_queue(channel)
    received = []
    tag = channel.basic_consume(queue, lambda _, __, ___, body: received.append(body),
                                auto_ack=True)
    channel.basic_publish("", queue, b"before")
    wait_until(channel.connection, lambda: received == [b"before"], "the message arrives")
    channel.basic_cancel(tag)
    assert channel.queue_declare(queue, passive=True).method.consumer_count == 0
    channel.confirm_delivery()
    channel.basic_publish("", queue, b"after")
    assert (received, bodies_in(channel, queue)) == ([b"before"], [b"after"])


@case
def broker_cancels_consumer(channel):
    queue = declare_queue(channel)
    cancelled = []
    channel.add_on_cancel_callback(lambda frame: cancelled.append(frame.method.consumer_tag))
    tag = channel.basic_consume(queue, lambda *_: None, consumer_tag="doomed")
    other = channel.connection.channel()
    other.queue_delete(queue)
    wait_until(channel.connection, lambda: cancelled == [tag], "the consumer is cancelled")
    check_usable(channel.connection)
    assert channel.is_open


@case
def slow_consumer_of_a_quorum_queue_loses_its_message(channel):
    queue = declare_queue(channel, arguments={"x-queue-type": "quorum", "x-consumer-timeout": 200})
    cancelled, received = [], []
    channel.add_on_cancel_callback(lambda frame: cancelled.append(frame.method.consumer_tag))
    tag = channel.basic_consume(queue, lambda _, method, __, body: received.append((method.delivery_tag, body)))
    channel.basic_publish("", queue, b"kept")
    wait_until(channel.connection, lambda: cancelled == [tag], "the consumer is cancelled")
    assert received == [(1, b"kept")]
    channel.basic_ack(1)  # too late, and no error
    assert ready_count(channel, queue) == 1
    method, properties, body = channel.basic_get(queue, auto_ack=True)
    assert (body, method.redelivered) == (b"kept", True)
    assert properties.headers == {"x-acquired-count": 1}, properties.headers


@case
def transaction_commit(channel):
    queue = declare_queue(channel)
    observer = channel.connection.channel()
    channel.tx_select()
    channel.basic_publish("", queue, b"1")
    channel.basic_publish("", queue, b"2")
    assert ready_count(channel, queue) == 0
    channel.tx_commit()
    assert ready_count(observer, queue) == 2
    method, _, _ = channel.basic_get(queue)
    channel.basic_ack(method.delivery_tag)
    channel.tx_commit()
    channel.close()
    assert bodies_in(observer, queue) == [b"2"]


@case
def transaction_rollback(channel):
    queue = declare_queue(channel)
    observer = channel.connection.channel()
    observer.confirm_delivery()
    observer.basic_publish("", queue, b"kept")
    channel.tx_select()
    channel.basic_publish("", queue, b"discarded")
    method, _, _ = channel.basic_get(queue)
    channel.basic_ack(method.delivery_tag)
    channel.tx_rollback()
    channel.close()
    method, _, body = next_message(observer, queue)
    assert (method.redelivered, body) == (True, b"kept")
    assert bodies_in(observer, queue) == []


@case
def missing_queue_404(channel):
    name = name_of("missing")
    expect_close(404, f"no queue '{name}' in vhost '/'", channel.queue_declare, name, passive=True)
    check_usable(channel.connection)


@case
def missing_exchange_404(channel):
    name = name_of("missing")
    channel.confirm_delivery()
    expect_close(404, f"no exchange '{name}' in vhost '/'", channel.basic_publish, name, "", b"")
    check_usable(channel.connection)


@case
def inequivalent_argument_406(channel):
    queue = declare_queue(channel, arguments={"x-message-ttl": 60000})
    expect_close(406, f"inequivalent arg 'x-message-ttl' for queue '{queue}' in vhost '/'",
                 channel.queue_declare, queue, durable=True, arguments={"x-message-ttl": 1})
    check_usable(channel.connection)


@case
def reserved_name_403(channel):
    expect_close(403, "contains reserved prefix 'amq.*'", channel.queue_declare,
                 "amq.clients.pika", durable=True)
    check_usable(channel.connection)


@case
def unknown_delivery_tag_406(channel):
    channel.basic_ack(77)
    expect_close(406, "unknown delivery tag 77", channel.queue_declare, "", exclusive=True)
    check_usable(channel.connection)


@case
def exclusive_queue_405(channel):
    queue = name_of("exclusive")
    channel.queue_declare(queue, exclusive=True)
    with pika.BlockingConnection(parameters()) as second:
        expect_close(405, f"cannot obtain exclusive access to locked queue '{queue}'",
                     second.channel().queue_declare, queue, passive=True)
        channel.connection.close()
        expect_close(404, f"no queue '{queue}'", second.channel().queue_declare, queue,
                     passive=True)


@case
def large_bodies(channel):
    queue = declare_queue(channel)
    channel.confirm_delivery()
    for size in [BODY_BYTES_MAX - 7, BODY_BYTES_MAX]:
        body = bytes(range(251)) * (size // 251 + 1)
        channel.basic_publish("", queue, body[:size])
        assert next_message(channel, queue)[2] == body[:size], f"a body of {size} bytes changed"


@case
def too_large_body_406(channel):
    queue = declare_queue(channel)
    channel.confirm_delivery()
    expect_close(406, f"message size {BODY_BYTES_MAX + 1} is larger than configured max size "
                 f"{BODY_BYTES_MAX}", channel.basic_publish, "", queue, bytes(BODY_BYTES_MAX + 1))
    check_usable(channel.connection)


@case
def empty_body(channel):
    queue = declare_queue(channel)
    channel.basic_publish("", queue, b"", pika.BasicProperties(message_id="empty"))
    _, properties, body = next_message(channel, queue)
    assert (properties.message_id, body) == ("empty", b"")


@case
def properties_echo(channel):
    queue = declare_queue(channel)
    sent = pika.BasicProperties(
        content_type="text/plain", content_encoding="utf-8", headers={"a": 1}, delivery_mode=2,
        priority=7, correlation_id="c1", reply_to="r1", expiration="600000", message_id="m1",
        timestamp=1700000000, type="kind", user_id="guest", app_id="app", cluster_id="cluster")
    channel.basic_publish("", queue, b"", sent)
    received = next_message(channel, queue)[1]
    assert vars(received) == vars(sent), received


@case
def header_types_echo(channel):
    queue = declare_queue(channel)
    sent = {
        "string": "caf\u00e9", "empty": "", "bytes": b"\x00\xff\x80", "true": True, "false": False,
        "int32": -123456, "int64": 2 ** 40, "decimal": decimal.Decimal("3.14"), "void": None,
        "timestamp": datetime.datetime(2024, 2, 29, 12, 30, 45),
        "table": {"inner": {"deep": 1}, "list": [1, "two"]},
        "array": [1, "two", True, None, {"three": 3}, [4]], "no_table": {}, "no_array": []}
    channel.basic_publish("", queue, b"", pika.BasicProperties(headers=sent))
    received = next_message(channel, queue)[1].headers
    assert received == sent, received
    assert {key: type(value) for key, value in received.items()} == {
        key: type(value) if key != "int64" else type(received["int64"])
        for key, value in sent.items()}  # pika decodes int64 to its own kind of int.


@case
def many_channels(channel):
    queue = declare_queue(channel)
    channels = [channel.connection.channel() for _ in range(200)]
    for index, publisher in enumerate(channels):
        publisher.confirm_delivery()
        publisher.basic_publish("", queue, b"%d" % index)
    received = []
    for consumer in channels:
        method, _, body = consumer.basic_get(queue)
        consumer.basic_ack(method.delivery_tag)
        received.append(int(body))
    assert received == list(range(200)), received
    for each in channels:
        each.close()


@case
def heartbeat_keeps_idle_connection(_):
    with pika.BlockingConnection(parameters(heartbeat=1)) as connection:
        assert connection._impl.params.heartbeat == 1
        # pika gives up on a broker that is silent for two intervals, as the broker does on pika.
        connection.process_data_events(time_limit=3.5)
        check_usable(connection)


@case
def direct_reply_to(channel):
    queue = declare_queue(channel)
    replies = []
    channel.basic_consume("amq.rabbitmq.reply-to", auto_ack=True,
                          on_message_callback=lambda _, __, properties, body:
                          replies.append((properties.correlation_id, body)))
    channel.basic_publish("", queue, b"ping", pika.BasicProperties(
        reply_to="amq.rabbitmq.reply-to", correlation_id="call-1"))
    with pika.BlockingConnection(parameters()) as server_connection:
        server = server_connection.channel()
        _, request, body = next_message(server, queue)
        assert request.reply_to.startswith("amq.rabbitmq.reply-to."), request.reply_to
        server.basic_publish("", request.reply_to, body + b" pong", pika.BasicProperties(
            correlation_id=request.correlation_id))
        wait_until(channel.connection, lambda: replies, "the reply arrives")
    assert replies == [("call-1", b"ping pong")]


@case
def wrong_password_403(_):
    credentials = pika.PlainCredentials("guest", "wrong")
    try:
        pika.BlockingConnection(parameters(credentials=credentials))
    except ProbableAuthenticationError as error:
        assert "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN" in str(
            error), error
    else:
        raise AssertionError("the broker let us in")


@case
def unknown_vhost_530(_):
    try:
        pika.BlockingConnection(parameters(virtual_host="no-such-vhost"))
    except ProbableAccessDeniedError as error:
        assert "(530) 'NOT_ALLOWED - vhost no-such-vhost not found'" in str(error), error
    else:
        raise AssertionError("the broker opened a vhost that does not exist")


@case
def priority_order(channel):
    queue = declare_queue(channel, arguments={"x-max-priority": 5})
    channel.confirm_delivery()
    for priority in [1, 5, None, 3, 5, 9]:
        channel.basic_publish("", queue, f"{priority}".encode(),
                              pika.BasicProperties(priority=priority))
    assert bodies_in(channel, queue) == [b"5", b"5", b"9", b"3", b"1", b"None"]


@case
def consumer_priority(channel):
    queue = declare_queue(channel)
    received = []

    def consumer(name):
        return lambda _, __, ___, body: received.append((name, body))

    channel.basic_consume(queue, consumer("low"), auto_ack=True)
    channel.basic_consume(queue, consumer("high"), auto_ack=True, arguments={"x-priority": 10})
    for body in [b"1", b"2", b"3"]:
        channel.basic_publish("", queue, body)
    wait_until(channel.connection, lambda: len(received) == 3, "all messages arrive")
    assert received == [("high", b"1"), ("high", b"2"), ("high", b"3")], received


@case
def auto_delete_queue(channel):
    queue = name_of("auto_delete")
    channel.queue_declare(queue, durable=True, auto_delete=True)
    tag = channel.basic_consume(queue, lambda *_: None)
    channel.basic_cancel(tag)
    expect_close(404, f"no queue '{queue}'", channel.queue_declare, queue, passive=True)


@case
def purge_and_delete_counts(channel):
    queue = declare_queue(channel)
    channel.confirm_delivery()
    for _ in range(3):
        channel.basic_publish("", queue, b"x")
    assert channel.queue_purge(queue).method.message_count == 3
    channel.basic_publish("", queue, b"x")
    expect_close(406, "not empty", channel.queue_delete, queue, if_empty=True)
    channel = channel.connection.channel()
    assert channel.queue_delete(queue).method.message_count == 1


def clean_up():
    with pika.BlockingConnection(parameters()) as connection:
        channel = connection.channel()
        while created_queues:
            channel.queue_delete(created_queues.pop())
        while created_exchanges:
            channel.exchange_delete(created_exchanges.pop())


def close_quietly(connection):
    """A failed case may leave a connection that cannot be closed in order."""
    try:
        connection.close()
    except Exception:
        pass


def run(function):
    def work():
        connection = pika.BlockingConnection(parameters())
        try:
            function(connection.channel())
        finally:
            close_quietly(connection)
            clean_up()

    return told(function.__name__, work)


sys.exit(tell_all(CASES, run))
