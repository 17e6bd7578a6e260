#!/usr/bin/python3
"""AMQP 0-9-1 cases, written as users of py-amqp write them. Usage: cases.py HOST PORT"""

import datetime
import decimal
import os
import socket
import sys
import time

import amqp
from amqp import exceptions

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from promises import CASES, case  # noqa: E402
from told import tell_all, told  # noqa: E402

ADDRESS = f"{sys.argv[1]}:{sys.argv[2]}"
PATIENCE_SECONDS = 10
BODY_BYTES_MAX = 16 * 1024 * 1024
created_queues, created_exchanges = [], []


def connect(**options):
    connection = amqp.Connection(ADDRESS, **options)
    connection.connect()
    return connection


def name_of(suffix):
    return "clients.py_amqp." + suffix


def declare_queue(channel, suffix="queue", arguments=None):
    name = name_of(suffix)
    created_queues.append(name)
    channel.queue_delete(name)  # An interrupted run may have left it.
    channel.queue_declare(name, durable=True, auto_delete=False, arguments=arguments)
    return name


def declare_exchange(channel, kind, suffix="exchange", arguments=None):
    name = name_of(suffix)
    created_exchanges.append(name)
    channel.exchange_delete(name)
    channel.exchange_declare(name, kind, durable=True, auto_delete=False, arguments=arguments)
    return name


def publish(channel, exchange, routing_key, body, mandatory=False, **properties):
    """Publishes one message and waits for its confirm."""
    channel.basic_publish_confirm(amqp.Message(body, **properties), exchange=exchange,
                                  routing_key=routing_key, mandatory=mandatory,
                                  confirm_timeout=PATIENCE_SECONDS)


def wait_until(connection, condition, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        try:
            connection.drain_events(timeout=0.2)
        except socket.timeout:
            pass


def next_message(channel, queue):
    """Waits for one message through a consumer and acknowledges it."""
    messages = []
    channel.basic_qos(0, 1, False)  # The following messages stay in the queue.
    tag = channel.basic_consume(queue, callback=messages.append)
    wait_until(channel.connection, lambda: messages, f"a message arrives in {queue}")
    channel.basic_cancel(tag)
    messages[0].channel.basic_ack(messages[0].delivery_tag)
    return messages[0]


def bodies_in(channel, queue):
    found = []
    while (message := channel.basic_get(queue, no_ack=True)) is not None:
        found.append(message.body)
    return found


def ready_count(channel, queue):
    return channel.queue_declare(queue, passive=True).message_count


def expect_close(code, text, call, *arguments, **options):
    """The call makes the broker close the channel with this code; the connection survives."""
    try:
        call(*arguments, **options)
    except amqp.ChannelError as error:
        assert error.reply_code == code, f"closed with {error.reply_code}: {error.reply_text}"
        assert text in error.reply_text, f"reply text was {error.reply_text!r}"
    else:
        raise AssertionError(f"no channel close {code}")


def check_usable(connection):
    channel = connection.channel()
    queue = channel.queue_declare("", exclusive=True).queue
    assert queue.startswith("amq.gen-"), queue
    publish(channel, "", queue, "still alive")
    assert bodies_in(channel, queue) == ["still alive"]
    channel.close()


def check_death(message, queue, reason, exchange, routing_keys):
    assert len(message.headers["x-death"]) == 1, message.headers
    death = dict(message.headers["x-death"][0])
    age = datetime.datetime.utcnow() - death.pop("time")
    assert abs(age.total_seconds()) < 60, message.headers
    original_expiration = death.pop("original-expiration", None)
    assert death == {"queue": queue, "reason": reason, "count": 1, "exchange": exchange,
                     "routing-keys": routing_keys}, death
    assert message.headers["x-first-death-reason"] == reason, message.headers
    return original_expiration


@case
def connection_properties(channel):
    properties = channel.connection.server_properties
    assert properties["product"] == "RabbitMQ", properties
    assert int(properties["version"].split(".")[0]) >= 3, properties
    for capability in ["publisher_confirms", "consumer_cancel_notify", "connection.blocked"]:
        assert channel.connection.server_capabilities[capability] is True, properties
    assert {"PLAIN", "AMQPLAIN"} <= {mechanism.decode() if isinstance(mechanism, bytes)
                                     else mechanism for mechanism in
                                     channel.connection.mechanisms}


@case
def login_with_plain(_):
    with connect(login_method="PLAIN") as connection:
        check_usable(connection)


@case
def login_with_amqplain(_):
    with connect(login_method="AMQPLAIN") as connection:
        check_usable(connection)


@case
def wrong_password_403(_):
    for mechanism in ["PLAIN", "AMQPLAIN"]:
        try:
            connect(login_method=mechanism, password="wrong")
        except exceptions.AccessRefused as error:
            assert error.reply_code == 403, error
            assert f"authentication mechanism {mechanism}" in error.reply_text, error
        else:
            raise AssertionError("the broker let us in")


@case
def unknown_vhost_530(_):
    try:
        connect(virtual_host="no-such-vhost")
    except exceptions.NotAllowed as error:
        assert "vhost no-such-vhost not found" in error.reply_text, error
    else:
        raise AssertionError("the broker opened a vhost that does not exist")


@case
def bind_direct(channel):
    exchange, queue = declare_exchange(channel, "direct"), declare_queue(channel)
    channel.queue_bind(queue, exchange, "wanted")
    publish(channel, exchange, "other", "1")
    publish(channel, exchange, "wanted", "2")
    message = next_message(channel, queue)
    assert message.body == "2", message.body
    assert message.delivery_info["exchange"] == exchange
    assert message.delivery_info["routing_key"] == "wanted"


@case
def bind_topic(channel):
    exchange = declare_exchange(channel, "topic")
    one_word, any_words = declare_queue(channel, "one_word"), declare_queue(channel, "any_words")
    channel.queue_bind(one_word, exchange, "order.*.paid")
    channel.queue_bind(any_words, exchange, "order.#")
    for key in ["order.eu.paid", "order.eu.north.paid", "order", "invoice.eu.paid"]:
        publish(channel, exchange, key, key)
    assert bodies_in(channel, one_word) == ["order.eu.paid"]
    assert bodies_in(channel, any_words) == ["order.eu.paid", "order.eu.north.paid", "order"]


@case
def bind_fanout(channel):
    exchange = declare_exchange(channel, "fanout")
    queues = [declare_queue(channel, f"copy_{index}") for index in range(3)]
    for queue in queues:
        channel.queue_bind(queue, exchange)
    publish(channel, exchange, "ignored", "news")
    assert [bodies_in(channel, queue) for queue in queues] == [["news"]] * 3


@case
def bind_headers(channel):
    exchange = declare_exchange(channel, "headers")
    both, either = declare_queue(channel, "both"), declare_queue(channel, "either")
    channel.queue_bind(both, exchange, arguments={"x-match": "all", "kind": "pdf", "pages": 2})
    channel.queue_bind(either, exchange, arguments={"x-match": "any", "kind": "pdf", "pages": 2})
    for body, headers in [("1", {"kind": "pdf", "pages": 2}), ("2", {"kind": "pdf"}),
                          ("3", {"kind": "txt"})]:
        publish(channel, exchange, "", body, application_headers=headers)
    assert bodies_in(channel, both) == ["1"]
    assert bodies_in(channel, either) == ["1", "2"]


@case
def bind_exchange_to_exchange(channel):
    source = declare_exchange(channel, "direct", "source")
    destination, queue = declare_exchange(channel, "fanout", "destination"), declare_queue(channel)
    channel.exchange_bind(destination, source, "key")
    channel.queue_bind(queue, destination)
    publish(channel, source, "key", "through")
    channel.exchange_unbind(destination, source, "key")
    publish(channel, source, "key", "cut off")
    assert bodies_in(channel, queue) == ["through"]


@case
def alternate_exchange(channel):
    fallback = declare_exchange(channel, "fanout", "fallback")
    exchange = declare_exchange(channel, "direct", arguments={"alternate-exchange": fallback})
    queue = declare_queue(channel)
    channel.queue_bind(queue, fallback)
    publish(channel, exchange, "nobody", "stray", mandatory=True)
    assert bodies_in(channel, queue) == ["stray"]


@case
def cc_and_bcc(channel):
    queues = [declare_queue(channel, suffix) for suffix in ("to", "cc", "bcc")]
    publish(channel, "", queues[0], "memo",
            application_headers={"CC": [queues[1]], "BCC": [queues[2]]})
    for queue in queues:
        message = channel.basic_get(queue, no_ack=True)
        assert message.headers == {"CC": [queues[1]]}, message.headers
        assert message.delivery_info["routing_key"] == queues[0], message.delivery_info


@case
def confirms_one_by_one(channel):
    queue = declare_queue(channel)
    for index in range(100):
        publish(channel, "", queue, str(index), delivery_mode=2)
    assert ready_count(channel, queue) == 100
    assert bodies_in(channel, queue) == [str(index) for index in range(100)]


@case
def confirms_of_a_burst(channel):
    queue, count = declare_queue(channel), 5000
    unconfirmed = set(range(1, count + 1))

    def on_ack(tag, multiple):
        unconfirmed.difference_update(range(1, tag + 1) if multiple else [tag])

    channel.confirm_select()
    channel.events["basic_ack"].add(on_ack)
    for index in range(count):
        channel.basic_publish(amqp.Message(str(index), delivery_mode=2), routing_key=queue)
    wait_until(channel.connection, lambda: not unconfirmed, "all messages are confirmed")
    received = []
    consumer = channel.connection.channel()
    consumer.basic_consume(queue, no_ack=True, callback=lambda message: received.append(message))
    wait_until(channel.connection, lambda: len(received) == count, "all messages arrive")
    assert [int(message.body) for message in received] == list(range(count))


@case
def reject_publish_is_nacked(channel):
    queue = declare_queue(channel, arguments={"x-max-length": 1, "x-overflow": "reject-publish"})
    publish(channel, "", queue, "fits")
    try:
        publish(channel, "", queue, "does not fit")
    except exceptions.MessageNacked:
        pass
    else:
        raise AssertionError("the message beyond the limit was not nacked")


@case
def mandatory_return(channel):
    returned = []
    channel.events["basic_return"].add(lambda *arguments: returned.append(arguments))
    publish(channel, "amq.direct", name_of("nobody"), "lost", mandatory=True, message_id="m1")
    # The return precedes the confirm that publish() waited for.
    error, exchange, routing_key, message = returned[0]
    assert (error.reply_code, error.reply_text) == (312, "NO_ROUTE"), error
    assert (exchange, routing_key) == ("amq.direct", name_of("nobody"))
    assert (message.body, message.message_id) == ("lost", "m1")


@case
def consume_with_prefetch(channel):
    queue, count, prefetch = declare_queue(channel), 20, 3
    observer = channel.connection.channel()
    for index in range(count):
        publish(observer, "", queue, str(index))
    received, unacked = [], []

    def on_message(message):
        received.append(int(message.body))
        unacked.append(message.delivery_tag)
        assert len(unacked) <= prefetch, f"{len(unacked)} unacknowledged deliveries"

    channel.basic_qos(prefetch_size=0, prefetch_count=prefetch, a_global=False)
    channel.basic_consume(queue, callback=on_message)
    while len(received) < count:
        expected = min(count, len(received) - len(unacked) + prefetch)
        wait_until(channel.connection, lambda: len(received) >= expected, "the window is full")
        assert ready_count(observer, queue) == count - expected
        assert len(received) == expected
        channel.basic_ack(unacked.pop(0))
    channel.basic_ack(unacked[-1], multiple=True)
    assert received == list(range(count))


@case
def get_and_empty_get(channel):
    queue = declare_queue(channel)
    assert channel.basic_get(queue) is None
    publish(channel, "", queue, "first")
    publish(channel, "", queue, "second")
    message = channel.basic_get(queue)
    assert message.body == "first", message.body
    assert message.delivery_info["message_count"] == 1, message.delivery_info
    assert not message.delivery_info["redelivered"], message.delivery_info
    channel.basic_ack(message.delivery_tag)
    assert bodies_in(channel, queue) == ["second"]


@case
def reject_requeues(channel):
    queue = declare_queue(channel)
    publish(channel, "", queue, "again")
    message = channel.basic_get(queue)
    assert not message.delivery_info["redelivered"]
    channel.basic_reject(message.delivery_tag, requeue=True)
    message = next_message(channel, queue)
    assert message.delivery_info["redelivered"]
    assert message.body == "again"


@case
def recover_requeues(channel):
    queue = declare_queue(channel)
    publish(channel, "", queue, "again")
    assert channel.basic_get(queue).body == "again"
    channel.basic_recover(requeue=True)
    assert next_message(channel, queue).delivery_info["redelivered"]


@case
def reject_dead_letters(channel):
    dead_letter_exchange = declare_exchange(channel, "fanout", "dlx")
    dead_letter_queue = declare_queue(channel, "dead")
    channel.queue_bind(dead_letter_queue, dead_letter_exchange)
    exchange = declare_exchange(channel, "direct")
    queue = declare_queue(channel, arguments={"x-dead-letter-exchange": dead_letter_exchange})
    channel.queue_bind(queue, exchange, "work")
    publish(channel, exchange, "work", "poison", application_headers={"tenant": "blue"})
    channel.basic_reject(channel.basic_get(queue).delivery_tag, requeue=False)
    message = next_message(channel, dead_letter_queue)
    assert (message.body, message.headers["tenant"]) == ("poison", "blue")
    assert message.delivery_info["exchange"] == dead_letter_exchange
    assert message.delivery_info["routing_key"] == "work"
    check_death(message, queue, "rejected", exchange, ["work"])


@case
def expired_message_dead_letters(channel):
    dead_letter_queue = declare_queue(channel, "dead")
    queue = declare_queue(channel, arguments={"x-dead-letter-exchange": "",
                                              "x-dead-letter-routing-key": dead_letter_queue})
    publish(channel, "", queue, "late", expiration="50")
    message = next_message(channel, dead_letter_queue)
    assert check_death(message, queue, "expired", "", [queue]) == "50"
    assert "expiration" not in message.properties, message.properties


@case
def overflow_dead_letters(channel):
    dead_letter_queue = declare_queue(channel, "dead")
    queue = declare_queue(channel, arguments={"x-max-length": 2, "x-dead-letter-exchange": "",
                                              "x-dead-letter-routing-key": dead_letter_queue})
    for body in ["1", "2", "3"]:
        publish(channel, "", queue, body)
    message = next_message(channel, dead_letter_queue)
    assert message.body == "1", message.body
    check_death(message, queue, "maxlen", "", [queue])
    assert bodies_in(channel, queue) == ["2", "3"]


@case
def client_cancels_consumer(channel):
    queue = declare_queue(channel)
    tag = channel.basic_consume(queue, callback=lambda message: None)
    assert channel.queue_declare(queue, passive=True).consumer_count == 1
    channel.basic_cancel(tag)
    assert channel.queue_declare(queue, passive=True).consumer_count == 0
    publish(channel, "", queue, "after")
    assert bodies_in(channel, queue) == ["after"]


@case
def broker_cancels_consumer(channel):
    queue = declare_queue(channel)
    cancelled = []
    tag = channel.basic_consume(queue, callback=lambda message: None, on_cancel=cancelled.append)
    channel.connection.channel().queue_delete(queue)
    wait_until(channel.connection, lambda: cancelled == [tag], "the consumer is cancelled")
    assert channel.is_open


@case
def transaction_commit(channel):
    queue = declare_queue(channel)
    observer = channel.connection.channel()
    channel.tx_select()
    channel.basic_publish(amqp.Message("1"), routing_key=queue)
    channel.basic_publish(amqp.Message("2"), routing_key=queue)
    assert ready_count(channel, queue) == 0
    channel.tx_commit()
    assert bodies_in(observer, queue) == ["1", "2"]


@case
def transaction_rollback(channel):
    queue = declare_queue(channel)
    observer = channel.connection.channel()
    publish(observer, "", queue, "kept")
    channel.tx_select()
    channel.basic_publish(amqp.Message("discarded"), routing_key=queue)
    channel.basic_ack(channel.basic_get(queue).delivery_tag)
    channel.tx_rollback()
    channel.close()
    assert bodies_in(observer, queue) == ["kept"]


@case
def missing_queue_404(channel):
    queue = name_of("missing")
    expect_close(404, f"no queue '{queue}' in vhost '/'", channel.queue_declare, queue,
                 passive=True)
    check_usable(channel.connection)


@case
def inequivalent_argument_406(channel):
    queue = declare_queue(channel, arguments={"x-max-length": 5})
    expect_close(406, f"inequivalent arg 'x-max-length' for queue '{queue}' in vhost '/'",
                 channel.queue_declare, queue, durable=True, auto_delete=False)
    check_usable(channel.connection)


@case
def reserved_name_403(channel):
    expect_close(403, "contains reserved prefix 'amq.*'", channel.exchange_declare,
                 "amq.clients.py_amqp", "direct")
    check_usable(channel.connection)


@case
def exclusive_queue_405(channel):
    queue = name_of("exclusive")
    channel.queue_declare(queue, exclusive=True)
    with connect() as second:
        expect_close(405, f"cannot obtain exclusive access to locked queue '{queue}'",
                     second.channel().basic_get, queue)
        check_usable(second)


@case
def large_bodies(channel):
    queue = declare_queue(channel)
    for size in [BODY_BYTES_MAX - 7, BODY_BYTES_MAX]:
        body = (bytes(range(128, 255)) * (size // 127 + 1))[:size]
        publish(channel, "", queue, body)
        assert channel.basic_get(queue, no_ack=True).body == body, f"{size} bytes changed"


@case
def too_large_body_406(channel):
    queue = declare_queue(channel)
    expect_close(406, f"message size {BODY_BYTES_MAX + 1} is larger than configured max size",
                 publish, channel, "", queue, bytes(BODY_BYTES_MAX + 1))
    check_usable(channel.connection)


@case
def empty_body(channel):
    queue = declare_queue(channel)
    publish(channel, "", queue, "", message_id="empty")
    message = next_message(channel, queue)
    assert (message.message_id, message.body) == ("empty", "")


@case
def properties_echo(channel):
    queue = declare_queue(channel)
    sent = dict(content_type="text/plain", content_encoding="utf-8", delivery_mode=2, priority=7,
                application_headers={"a": 1}, correlation_id="c1", reply_to="r1", type="kind",
                expiration="600000", message_id="m1", timestamp=1700000000, user_id="guest",
                app_id="app", cluster_id="cluster")
    publish(channel, "", queue, "x", **sent)
    received = next_message(channel, queue).properties
    assert received == sent, received


@case
def header_types_echo(channel):
    queue = declare_queue(channel)
    sent = {"string": "caf\u00e9", "true": True, "false": False, "int32": -123456, "double": 0.125,
            "int64": 2 ** 40, "decimal": decimal.Decimal("3.14"), "void": None,
            "timestamp": datetime.datetime(2024, 2, 29, 12, 30, 45),
            "table": {"inner": {"deep": 1}, "list": [1, "two"]},
            "array": [1, "two", True, None, {"three": 3}, [4]], "no_table": {}, "no_array": []}
    publish(channel, "", queue, "x", application_headers=sent)
    received = next_message(channel, queue).headers
    assert received == sent, received
    assert list(map(type, (received[key] for key in sent))) == list(map(type, sent.values()))


@case
def many_channels(channel):
    queue = declare_queue(channel)
    channels = [channel.connection.channel() for _ in range(200)]
    for index, publisher in enumerate(channels):
        publish(publisher, "", queue, str(index))
    received = [int(consumer.basic_get(queue, no_ack=True).body) for consumer in channels]
    assert received == list(range(200)), received


@case
def heartbeat_keeps_idle_connection(_):
    with connect(heartbeat=1) as connection:
        assert connection.heartbeat == 1, connection.heartbeat
        idle_until = time.monotonic() + 3.5
        while time.monotonic() < idle_until:
            try:
                # Shorter than the interval between two heartbeats of the broker: py-amqp restarts the
                # timeout with each of them and would never return to send ours.
                connection.drain_events(timeout=0.2)
            except socket.timeout:
                pass
            connection.heartbeat_tick()  # Raises once the broker is silent for two intervals.
        check_usable(connection)


@case
def direct_reply_to(channel):
    queue, replies = declare_queue(channel), []
    channel.basic_consume("amq.rabbitmq.reply-to", no_ack=True, callback=replies.append)
    channel.basic_publish(amqp.Message("ping", reply_to="amq.rabbitmq.reply-to",
                                       correlation_id="call-1"), routing_key=queue)
    with connect() as server_connection:
        server = server_connection.channel()
        request = next_message(server, queue)
        server.basic_publish(amqp.Message(request.body + " pong",
                                          correlation_id=request.correlation_id),
                             routing_key=request.reply_to)
        wait_until(channel.connection, lambda: replies, "the reply arrives")
    assert (replies[0].body, replies[0].correlation_id) == ("ping pong", "call-1")


@case
def priority_order(channel):
    queue = declare_queue(channel, arguments={"x-max-priority": 5})
    for priority in [1, 5, 3, 5, 0]:
        publish(channel, "", queue, str(priority), priority=priority)
    assert bodies_in(channel, queue) == ["5", "5", "3", "1", "0"]


def clean_up():
    with connect() as connection:
        channel = connection.channel()
        while created_queues:
            channel.queue_delete(created_queues.pop())
        while created_exchanges:
            channel.exchange_delete(created_exchanges.pop())


def close_quietly(connection):
    """A failed case may leave a connection that cannot be closed normally."""
    try:
        connection.close()
    except Exception:
        connection.collect()


def run(function):
    def work():
        connection = connect()
        try:
            function(connection.channel())
        finally:
            close_quietly(connection)
            clean_up()

    return told(function.__name__, work)


sys.exit(tell_all(CASES, run))
