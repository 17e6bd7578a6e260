"""Publishers: confirms, returns and transactions."""

import pika
from pika.exceptions import NackError, UnroutableError

from peer import (PATIENCE_SECONDS, bodies_in, case, declare_queue, next_message, parameters,
                  ready_count)


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
    """The asynchronous adapter publishes 5,000 messages before it reads any confirm."""
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
