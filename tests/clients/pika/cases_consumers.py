"""Consumers: prefetch, get, requeueing, cancellation and direct reply-to."""

import pika

from peer import (bodies_in, case, check_usable, declare_queue, expect_close, next_message,
                  parameters, ready_count, wait_until)


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
def unknown_delivery_tag_406(channel):
    channel.basic_ack(77)
    expect_close(406, "unknown delivery tag 77", channel.queue_declare, "", exclusive=True)
    check_usable(channel.connection)


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
