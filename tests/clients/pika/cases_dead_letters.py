"""Dead letters: rejected, expired and over the length limit, with their x-death header."""

import pika

from peer import (PATIENCE_SECONDS, bodies_in, case, check_death, declare_exchange, declare_queue,
                  name_of, next_message)


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
    """A message in a retry loop has one x-death entry per queue and reason."""
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
