"""Exchanges: bindings of every type, alternate exchanges, CC and BCC."""

import pika

from peer import (bodies_in, case, check_usable, declare_exchange, declare_queue, expect_close,
                  name_of, next_message)


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
def missing_exchange_404(channel):
    name = name_of("missing")
    channel.confirm_delivery()
    expect_close(404, f"no exchange '{name}' in vhost '/'", channel.basic_publish, name, "", b"")
    check_usable(channel.connection)
