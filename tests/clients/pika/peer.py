"""The client of the cases: connections, declarations, messages and expected closes."""

import datetime
import logging
import os
import sys
import time

import pika
from pika.exceptions import ChannelClosedByBroker

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from promises import CASES, case  # noqa: E402
from told import tell_all, told  # noqa: E402

HOST, PORT = sys.argv[1], int(sys.argv[2])
PATIENCE_SECONDS = 10
created_queues, created_exchanges = [], []
logging.getLogger("pika").setLevel(logging.CRITICAL)


def parameters(**options):
    return pika.ConnectionParameters(HOST, PORT, **options)


def name_of(suffix):
    return "clients.pika." + suffix


def declare_queue(channel, suffix="queue", arguments=None):
    name = name_of(suffix)
    created_queues.append(name)
    channel.queue_delete(name)  # An interrupted run may have left it.
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


def clean_up():
    with pika.BlockingConnection(parameters()) as connection:
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


def run_all():
    return tell_all(CASES, run)
