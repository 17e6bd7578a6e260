#!/usr/bin/python3
"""AMQP 0-9-1 cases, written as users of kombu write them. Usage: cases.py HOST PORT"""

import datetime
import os
import socket
import sys
import time

import amqp.exceptions
from kombu import Connection, Consumer, Exchange, Producer, Queue
from kombu.exceptions import OperationalError

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from promises import CASES, case  # noqa: E402
from told import tell_all, told  # noqa: E402

URL = f"amqp://guest:guest@{sys.argv[1]}:{sys.argv[2]}//"
PATIENCE_SECONDS = 10
BODY_BYTES_MAX = 16 * 1024 * 1024
created = []


def connect(**options):
    return Connection(URL, transport_options={"confirm_publish": True}, **options)


def name_of(suffix):
    return "clients.kombu." + suffix


def exchange_of(connection, kind, suffix="exchange", **options):
    exchange = Exchange(name_of(suffix), kind, **options)(connection.default_channel)
    exchange.delete()  # An interrupted run may have left it.
    exchange.declare()
    created.append(exchange)
    return exchange


def queue_of(connection, suffix="queue", exchange=None, routing_key="", **options):
    queue = Queue(name_of(suffix), exchange or Exchange(""), routing_key, **options)
    queue = queue(connection.default_channel)
    queue.delete()
    queue.declare()
    created.append(queue)
    return queue


def dead_letter_to(queue):
    return {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": queue.name}


def publish(connection, body, routing_key, exchange="", **options):
    """Publishes one message and, because of the transport option, waits for its confirm."""
    Producer(connection).publish(body, exchange=exchange, routing_key=routing_key, **options)


def next_message(connection, queue):
    """Waits for one message through a consumer and acknowledges it."""
    messages = []
    with connection.channel() as channel:
        channel.basic_qos(0, 1, False)
        with Consumer(channel, [queue], on_message=messages.append,
                      accept=["json", "pickle", "text/plain"]):
            wait_until(connection, lambda: messages, f"a message arrives in {queue.name}")
            messages[0].ack()
    return messages[0]


def wait_until(connection, condition, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        try:
            connection.drain_events(timeout=0.2)
        except socket.timeout:
            pass


def payloads_in(queue):
    found = []
    while (message := queue.get(no_ack=True)) is not None:
        found.append(message.payload)
    return found


def expect_close(code, text, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except amqp.exceptions.ChannelError as error:
        assert error.reply_code == code, f"closed with {error.reply_code}: {error.reply_text}"
        assert text in error.reply_text, f"reply text was {error.reply_text!r}"
    else:
        raise AssertionError(f"no channel close {code}")


def check_usable(connection):
    with connection.channel() as channel:
        queue = Queue("", exclusive=True, durable=False)(channel)
        queue.declare()
        Producer(channel).publish("still alive", routing_key=queue.name)
        assert payloads_in(queue) == ["still alive"]


def check_death(message, queue, reason, exchange, routing_keys):
    assert len(message.headers["x-death"]) == 1, message.headers
    death = dict(message.headers["x-death"][0])
    age = datetime.datetime.utcnow() - death.pop("time")
    assert abs(age.total_seconds()) < 60, message.headers
    death.pop("original-expiration", None)
    assert death == {"queue": queue.name, "reason": reason, "count": 1, "exchange": exchange,
                     "routing-keys": routing_keys}, death


@case
def bind_direct(connection):
    exchange = exchange_of(connection, "direct")
    queue = queue_of(connection, exchange=exchange, routing_key="wanted")
    publish(connection, {"number": 1}, "other", exchange)
    publish(connection, {"number": 2}, "wanted", exchange)
    message = next_message(connection, queue)
    assert message.payload == {"number": 2}, message.payload
    assert message.delivery_info["routing_key"] == "wanted", message.delivery_info


@case
def bind_topic(connection):
    exchange = exchange_of(connection, "topic")
    one_word = queue_of(connection, "one_word", exchange, "order.*.paid")
    any_words = queue_of(connection, "any_words", exchange, "order.#")
    for key in ["order.eu.paid", "order.eu.north.paid", "order", "invoice.eu.paid"]:
        publish(connection, key, key, exchange)
    assert payloads_in(one_word) == ["order.eu.paid"]
    assert payloads_in(any_words) == ["order.eu.paid", "order.eu.north.paid", "order"]


@case
def bind_fanout(connection):
    exchange = exchange_of(connection, "fanout")
    queues = [queue_of(connection, f"copy_{index}", exchange) for index in range(3)]
    publish(connection, "news", "ignored", exchange)
    assert [payloads_in(queue) for queue in queues] == [["news"]] * 3


@case
def bind_headers(connection):
    exchange = exchange_of(connection, "headers")
    both = queue_of(connection, "both", exchange,
                    binding_arguments={"x-match": "all", "kind": "pdf", "pages": 2})
    either = queue_of(connection, "either", exchange,
                      binding_arguments={"x-match": "any", "kind": "pdf", "pages": 2})
    publish(connection, 1, "", exchange, headers={"kind": "pdf", "pages": 2})
    publish(connection, 2, "", exchange, headers={"kind": "pdf"})
    publish(connection, 3, "", exchange, headers={"kind": "txt"})
    assert payloads_in(both) == [1]
    assert payloads_in(either) == [1, 2]


@case
def bind_exchange_to_exchange(connection):
    source = exchange_of(connection, "topic", "source")
    destination = exchange_of(connection, "fanout", "destination")
    destination.bind_to(source, "a.#")
    queue = queue_of(connection, exchange=destination)
    publish(connection, "through", "a.b", source)
    destination.unbind_from(source, "a.#")
    publish(connection, "cut off", "a.b", source)
    assert payloads_in(queue) == ["through"]


@case
def alternate_exchange(connection):
    fallback = exchange_of(connection, "fanout", "fallback")
    exchange = exchange_of(connection, "direct",
                           arguments={"alternate-exchange": fallback.name})
    queue = queue_of(connection, exchange=fallback)
    publish(connection, "stray", "nobody", exchange, mandatory=True)
    assert payloads_in(queue) == ["stray"]


@case
def confirms_one_by_one(connection):
    queue = queue_of(connection)
    producer = Producer(connection)
    for index in range(100):
        producer.publish(index, routing_key=queue.name, retry=True)
    assert payloads_in(queue) == list(range(100))


@case
def confirms_of_a_burst(connection):
    queue, count = queue_of(connection), 5000
    channel, unconfirmed, received = connection.channel(), set(range(1, 5001)), []
    channel.confirm_select()
    channel.events["basic_ack"].add(lambda tag, multiple: unconfirmed.difference_update(
        range(1, tag + 1) if multiple else [tag]))
    # Without the transport option a producer does not wait; the burst is confirmed afterwards.
    channel.basic_publish = channel._basic_publish
    producer = Producer(channel)
    for index in range(count):
        producer.publish(index, routing_key=queue.name)
    wait_until(connection, lambda: not unconfirmed, "all messages are confirmed")
    with Consumer(connection.channel(), [queue], no_ack=True,
                  callbacks=[lambda body, message: received.append(body)]):
        wait_until(connection, lambda: len(received) == count, "all messages arrive")
    assert received == list(range(count)), "order was not kept"


@case
def reject_publish_is_nacked(connection):
    queue = queue_of(connection, max_length=1, queue_arguments={"x-overflow": "reject-publish"})
    publish(connection, "fits", queue.name)
    try:
        publish(connection, "does not fit", queue.name)
    except amqp.exceptions.MessageNacked:
        pass
    else:
        raise AssertionError("the message beyond the limit was not nacked")
    assert payloads_in(queue) == ["fits"]


@case
def mandatory_return(connection):
    returned = []
    producer = Producer(connection, on_return=lambda *arguments: returned.append(arguments))
    producer.publish("lost", exchange="amq.direct", routing_key=name_of("nobody"), mandatory=True)
    error, exchange, routing_key, message = returned[0]
    assert (error.reply_code, error.reply_text) == (312, "NO_ROUTE"), error
    assert (exchange, routing_key) == ("amq.direct", name_of("nobody"))
    assert message.body == "lost", message.body


@case
def consume_with_prefetch(connection):
    queue, count, prefetch = queue_of(connection), 20, 3
    for index in range(count):
        publish(connection, index, queue.name)
    received, unacked = [], []

    def on_message(body, message):
        received.append(body)
        unacked.append(message)
        assert len(unacked) <= prefetch, f"{len(unacked)} unacknowledged deliveries"

    with Consumer(connection.channel(), [queue], callbacks=[on_message], prefetch_count=prefetch):
        while len(received) < count:
            expected = min(count, len(received) - len(unacked) + prefetch)
            wait_until(connection, lambda: len(received) >= expected, "the window is full")
            assert queue.queue_declare(passive=True).message_count == count - expected
            assert len(received) == expected
            unacked.pop(0).ack()
        unacked[-1].ack(multiple=True)
    assert received == list(range(count))


@case
def get_and_empty_get(connection):
    queue = queue_of(connection)
    assert queue.get() is None
    publish(connection, {"a": [1, 2]}, queue.name)
    message = queue.get()
    assert message.payload == {"a": [1, 2]}, message.payload
    assert message.delivery_info["message_count"] == 0, message.delivery_info
    message.ack()
    assert queue.get() is None


@case
def simple_queue(connection):
    # A SimpleQueue declares its own queue and exchange.
    created.extend([Queue(name_of("simple")), Exchange(name_of("simple"))])
    with connection.SimpleQueue(name_of("simple")) as queue:
        queue.put({"hello": "world"}, serializer="json", compression="zlib")
        message = queue.get(block=True, timeout=PATIENCE_SECONDS)
        assert message.payload == {"hello": "world"}, message.payload
        message.ack()
        assert len(queue) == 0
        try:
            queue.get(block=False)
        except queue.Empty:
            pass
        else:
            raise AssertionError("the queue was not empty")


@case
def requeue_sets_redelivered(connection):
    queue = queue_of(connection)
    publish(connection, "again", queue.name)
    message = queue.get()
    assert not message.delivery_info["redelivered"]
    message.requeue()
    message = next_message(connection, queue)
    assert message.delivery_info["redelivered"]


@case
def reject_dead_letters(connection):
    dead_letter_exchange = exchange_of(connection, "topic", "dlx")
    dead_letter_queue = queue_of(connection, "dead", dead_letter_exchange, "#")
    exchange = exchange_of(connection, "direct")
    queue = queue_of(connection, "queue", exchange, "work",
                     queue_arguments={"x-dead-letter-exchange": dead_letter_exchange.name})
    publish(connection, "poison", "work", exchange, headers={"tenant": "blue"})
    queue.get().reject()
    message = next_message(connection, dead_letter_queue)
    assert (message.payload, message.headers["tenant"]) == ("poison", "blue")
    assert message.delivery_info["exchange"] == dead_letter_exchange.name
    check_death(message, queue, "rejected", exchange.name, ["work"])


@case
def expired_message_dead_letters(connection):
    dead_letter_queue = queue_of(connection, "dead")
    queue = queue_of(connection, queue_arguments=dead_letter_to(dead_letter_queue))
    publish(connection, "late", queue.name, expiration=0.05)  # kombu counts in seconds.
    message = next_message(connection, dead_letter_queue)
    assert message.headers["x-death"][0]["original-expiration"] == "50", message.headers
    check_death(message, queue, "expired", "", [queue.name])


@case
def queue_ttl_dead_letters(connection):
    dead_letter_queue = queue_of(connection, "dead")
    queue = queue_of(connection, message_ttl=0.05,
                     queue_arguments=dead_letter_to(dead_letter_queue))
    publish(connection, "late", queue.name)
    message = next_message(connection, dead_letter_queue)
    assert "original-expiration" not in message.headers["x-death"][0], message.headers
    check_death(message, queue, "expired", "", [queue.name])


@case
def overflow_dead_letters(connection):
    dead_letter_queue = queue_of(connection, "dead")
    queue = queue_of(connection, max_length=2, queue_arguments=dead_letter_to(dead_letter_queue))
    for number in [1, 2, 3]:
        publish(connection, number, queue.name)
    message = next_message(connection, dead_letter_queue)
    assert message.payload == 1, message.payload
    check_death(message, queue, "maxlen", "", [queue.name])
    assert payloads_in(queue) == [2, 3]


@case
def client_cancels_consumer(connection):
    queue = queue_of(connection)
    consumer = Consumer(connection, [queue], callbacks=[lambda body, message: message.ack()])
    consumer.consume()
    assert queue.queue_declare(passive=True).consumer_count == 1
    consumer.cancel()
    assert queue.queue_declare(passive=True).consumer_count == 0


@case
def broker_cancels_consumer(connection):
    queue = queue_of(connection)
    consumer = Consumer(connection.channel(), [queue], callbacks=[lambda body, message: None])
    consumer.consume()
    with connect() as second:
        queue(second.default_channel).delete()
    try:
        wait_until(connection, lambda: False, "the consumer is cancelled")
    except amqp.exceptions.ConsumerCancelled:
        check_usable(connection)


@case
def missing_queue_404(connection):
    queue = Queue(name_of("missing"))(connection.channel())
    expect_close(404, f"no queue '{queue.name}' in vhost '/'", queue.queue_declare, passive=True)
    check_usable(connection)


@case
def inequivalent_argument_406(connection):
    queue_of(connection, message_ttl=60)
    other = Queue(name_of("queue"), message_ttl=61)(connection.channel())
    expect_close(406, "received '61000' but current is '60000'", other.queue_declare)
    check_usable(connection)


@case
def reserved_name_403(connection):
    queue = Queue("amq.clients.kombu")(connection.channel())
    expect_close(403, "contains reserved prefix 'amq.*'", queue.queue_declare)
    check_usable(connection)


@case
def exclusive_queue_405(connection):
    queue = Queue(name_of("exclusive"), exclusive=True)(connection.default_channel)
    queue.queue_declare()
    with connect() as second:
        other = Queue(queue.name, exclusive=True)(second.channel())
        expect_close(405, f"cannot obtain exclusive access to locked queue '{queue.name}'",
                     other.queue_declare)
        check_usable(second)


@case
def large_bodies(connection):
    queue = queue_of(connection)
    for size in [BODY_BYTES_MAX - 7, BODY_BYTES_MAX]:
        body = (bytes(range(256)) * (size // 256 + 1))[:size]
        publish(connection, body, queue.name)
        assert bytes(queue.get(no_ack=True).payload) == body, f"a body of {size} bytes changed"


@case
def too_large_body_406(connection):
    queue = queue_of(connection)
    expect_close(406, f"message size {BODY_BYTES_MAX + 1} is larger than configured max size",
                 Producer(connection.channel()).publish, bytes(BODY_BYTES_MAX + 1),
                 routing_key=queue.name)
    check_usable(connection)


@case
def empty_body(connection):
    queue = queue_of(connection)
    publish(connection, "", queue.name, message_id="empty")
    message = next_message(connection, queue)
    assert (message.body, message.properties["message_id"]) == ("", "empty")


@case
def header_types_echo(connection):
    queue = queue_of(connection)
    sent = {"string": "caf\u00e9", "true": True, "int32": -5, "int64": 2 ** 40, "void": None,
            "double": 0.5, "time": datetime.datetime(2024, 2, 29, 12, 30, 45),
            "table": {"inner": {"deep": 1}}, "array": [1, "two", True, None, {"three": 3}]}
    publish(connection, "x", queue.name, headers=sent)
    received = next_message(connection, queue).headers
    assert received == sent, received


@case
def serializers_echo(connection):
    queue = queue_of(connection)
    for serializer in ["json", "pickle"]:
        publish(connection, {"list": [1, 2.5, None]}, queue.name, serializer=serializer,
                correlation_id="c1", priority=3)
        message = next_message(connection, queue)
        assert message.decode() == {"list": [1, 2.5, None]}, message.body
        assert message.properties["correlation_id"] == "c1", message.properties
        assert message.properties["priority"] == 3, message.properties


@case
def many_channels(connection):
    queue = queue_of(connection)
    channels = [connection.channel() for _ in range(200)]
    for index, channel in enumerate(channels):
        Producer(channel).publish(index, routing_key=queue.name)
    received = [queue(channel).get(no_ack=True).payload for channel in channels]
    assert received == list(range(200)), received


@case
def heartbeat_keeps_idle_connection(_):
    with connect(heartbeat=1) as connection:
        connection.connect()
        assert connection.get_heartbeat_interval() == 1
        idle_until = time.monotonic() + 3.5
        while time.monotonic() < idle_until:
            try:
                # Shorter than the interval between two heartbeats of the broker: py-amqp restarts the
                # timeout with each of them and would never return to send ours.
                connection.drain_events(timeout=0.2)
            except socket.timeout:
                pass
            connection.heartbeat_check()
        check_usable(connection)


@case
def direct_reply_to(connection):
    queue, replies = queue_of(connection), []
    reply_queue = Queue("amq.rabbitmq.reply-to", no_ack=True, no_declare=True)
    channel = connection.channel()
    with Consumer(channel, [reply_queue], no_ack=True, auto_declare=False,
                  callbacks=[lambda body, message: replies.append(body)]):
        Producer(channel).publish("ping", routing_key=queue.name,
                                  reply_to="amq.rabbitmq.reply-to")
        with connect() as server:
            request = next_message(server, queue(server.default_channel))
            publish(server, request.payload + " pong", request.properties["reply_to"])
        wait_until(connection, lambda: replies, "the reply arrives")
    assert replies == ["ping pong"]


@case
def wrong_password_403(_):
    with Connection(URL.replace("guest:guest", "guest:wrong")) as connection:
        try:
            connection.connect()
        except amqp.exceptions.AccessRefused as error:
            assert error.reply_code == 403, error
        else:
            raise AssertionError("the broker let us in")


@case
def ensure_connection_retries(_):
    """Nothing listens on the first address; kombu fails over to the broker."""
    with Connection(f"amqp://{sys.argv[1]}:1//;{URL}") as connection:
        connection.ensure_connection(max_retries=3, interval_start=0, interval_step=0)
        check_usable(connection)
    with Connection(f"amqp://{sys.argv[1]}:1//") as connection:
        try:
            connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0)
        except OperationalError:
            pass
        else:
            raise AssertionError("connected to a port where nothing listens")


@case
def priority_order(connection):
    queue = queue_of(connection, max_priority=5)
    for priority in [1, 5, 3, 5, 0]:
        publish(connection, priority, queue.name, priority=priority)
    assert payloads_in(queue) == [5, 5, 3, 1, 0]


@case
def queue_expires(connection):
    queue = queue_of(connection, expires=0.1)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while queue_exists(connection, queue.name):
        assert time.monotonic() < deadline, "the queue did not expire"
        time.sleep(0.3)  # Longer than the lifetime, because a passive declare may count as a use.


def queue_exists(connection, name):
    try:
        with connection.channel() as channel:
            channel.queue_declare(name, passive=True)
        return True
    except amqp.exceptions.NotFound:
        return False


def clean_up():
    with connect() as connection:
        while created:
            created.pop()(connection.default_channel).delete()


def run(function):
    def work():
        try:
            with connect() as connection:
                function(connection)
        finally:
            clean_up()

    return told(function.__name__, work)


sys.exit(tell_all(CASES, run))
