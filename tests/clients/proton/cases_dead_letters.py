"""Dead letters: their history with types, over several deaths, and through both protocols."""

import datetime
import time

import pika
from proton import (UNDESCRIBED, Array, Condition, Data, Delivery, Message, symbol, timestamp, uint,
                    ulong)

from peer import (address_of, bodies_in, case, case_per_type, dead_letter_to, declare_exchange,
                  declare_queue, next_by_pika, next_message, publish, receive, receiver_of, settle,
                  wait_for_ready)

AGE_SECONDS_MAX = 60


def check_deaths(message, *expected, first=None):
    """Each expected death is (queue, reason, count, exchange, routing keys[, ttl]), newest first.

    The first death of all is the last of them, unless it happened again and moved to the front.
    """
    deaths = message.annotations["x-opt-deaths"]
    assert type(deaths) is Array and deaths.type == Data.MAP, deaths
    assert [type(key) for key in message.annotations if key == "x-opt-deaths"] == [symbol]
    assert len(deaths.elements) == len(expected), deaths
    for death, (queue, reason, count, exchange, keys, *ttl) in zip(deaths.elements, expected):
        fields = ["queue", "reason", "count", "first-time", "last-time", "exchange", "routing-keys"]
        assert list(death) == (["ttl"] if ttl else []) + fields, death
        assert {type(key) for key in death} == {symbol}, death
        texts = [(type(death[key]), death[key]) for key in ["queue", "reason", "count", "exchange"]]
        assert texts == [(str, queue), (symbol, reason), (ulong, count), (str, exchange)], death
        assert death["routing-keys"] == Array(UNDESCRIBED, Data.STRING, *keys), death
        assert not ttl or (type(death["ttl"]), death["ttl"]) == (uint, ttl[0]), death
        check_times(death, count)
    check_marks(message, "first", first or expected[-1])
    check_marks(message, "last", expected[0])
    assert not message.first_acquirer


def check_times(death, count):
    first, last = death["first-time"], death["last-time"]
    assert (type(first), type(last)) == (timestamp, timestamp), death
    assert abs(last / 1000 - time.time()) < AGE_SECONDS_MAX, death
    assert first == last if count == 1 else first <= last, death


def check_marks(message, which, death):
    marks = [message.annotations[f"x-{which}-death-{field}"]
             for field in ["queue", "reason", "exchange"]]
    assert [(type(mark), mark) for mark in marks] == [
        (str, death[0]), (str, death[1]), (str, death[3])], marks


def check_headers(properties, *expected):
    """The same history in AMQP 0-9-1."""
    shown = []
    for death in properties.headers["x-death"]:
        age = datetime.datetime.utcnow() - death["time"]
        assert abs(age.total_seconds()) < AGE_SECONDS_MAX, death
        expiration = [int(death["original-expiration"])] if "original-expiration" in death else []
        shown.append((death["queue"], death["reason"], death["count"], death["exchange"],
                      death["routing-keys"], *expiration))
    assert shown == list(expected), properties.headers
    for which, death in [("first", expected[-1]), ("last", expected[0])]:
        for field, value in [("queue", death[0]), ("reason", death[1]), ("exchange", death[3])]:
            assert properties.headers[f"x-{which}-death-{field}"] == value, properties.headers


def reject(connection, queue):
    receiver = receiver_of(connection, queue)
    receive(receiver)
    settle(receiver, Delivery.REJECTED)
    receiver.close()


# ---------------------------------------------------------------- the four reasons

@case_per_type
def rejected_dead_letters(proton, channel, kind):
    dead = declare_queue(channel, "dead")
    exchange = declare_exchange(channel, "topic")
    queue = declare_queue(channel, kind=kind, arguments=dead_letter_to(dead))
    channel.queue_bind(queue, exchange, "work.#")
    publish(proton, f"/exchanges/{exchange}/work.hard", Message(
        body="poison", id="m1", properties={"tenant": "blue"}, durable=True, priority=7,
        annotations={symbol("x-own"): "kept"}))
    reject(proton, queue)
    message = next_message(proton, dead)
    check_deaths(message, (queue, "rejected", 1, exchange, ["work.hard"]))
    assert (message.body, message.id, message.properties) == ("poison", "m1", {"tenant": "blue"})
    assert (message.durable, message.priority, message.delivery_count) == (True, 7, 1)
    assert message.annotations["x-own"] == "kept"
    assert (message.annotations["x-exchange"], message.annotations["x-routing-key"]) == ("", dead)


@case_per_type
def expired_by_its_own_ttl_dead_letters(proton, channel, kind):
    dead = declare_queue(channel, "dead")
    queue = declare_queue(channel, kind=kind, arguments=dead_letter_to(dead))
    publish(proton, address_of(queue), Message(body="late", ttl=0.05))
    message = next_message(proton, dead)
    check_deaths(message, (queue, "expired", 1, "", [queue], 50))
    assert (message.body, message.ttl, message.delivery_count) == ("late", 0.0, 0)


@case_per_type
def expired_by_the_queue_dead_letters(proton, channel, kind):
    dead = declare_queue(channel, "dead")
    queue = declare_queue(channel, kind=kind, arguments=dead_letter_to(dead, x_message_ttl=50))
    publish(proton, address_of(queue), "late")
    check_deaths(next_message(proton, dead), (queue, "expired", 1, "", [queue]))


@case_per_type
def overflow_dead_letters(proton, channel, kind):
    dead = declare_queue(channel, "dead")
    queue = declare_queue(channel, kind=kind, arguments=dead_letter_to(dead, x_max_length=2))
    publish(proton, address_of(queue), "1", "2", "3")
    message = next_message(proton, dead)
    check_deaths(message, (queue, "maxlen", 1, "", [queue]))
    assert (message.body, message.delivery_count) == ("1", 0)
    assert bodies_in(proton, queue) == ["2", "3"]


@case
def refused_publish_dead_letters(proton, channel):
    dead = declare_queue(channel, "dead")
    queue = declare_queue(channel, arguments=dead_letter_to(
        dead, x_max_length=1, x_overflow="reject-publish-dlx"))
    publish(proton, address_of(queue), "fits")
    sender = proton.create_sender(address_of(queue), name="second")
    assert sender.send(Message(body="refused"), error_states=[]).remote_state == Delivery.REJECTED
    message = next_message(proton, dead)
    check_deaths(message, (queue, "maxlen", 1, "", [queue]))
    assert message.body == "refused"


@case
def delivery_limit_dead_letters(proton, channel):
    dead = declare_queue(channel, "dead", kind="quorum")
    queue = declare_queue(channel, kind="quorum",
                          arguments=dead_letter_to(dead, x_delivery_limit=2))
    publish(proton, address_of(queue), "poison")
    receiver = receiver_of(proton, queue)
    for count in range(3):
        message, _ = receive(receiver)
        assert message.delivery_count == count
        settle(receiver, Delivery.MODIFIED, failed=True)
    message = next_message(proton, dead)
    check_deaths(message, (queue, "delivery_limit", 1, "", [queue]))
    assert message.delivery_count == 3


@case
def released_does_not_reach_the_delivery_limit(proton, channel):
    dead = declare_queue(channel, "dead")
    queue = declare_queue(channel, kind="quorum",
                          arguments=dead_letter_to(dead, x_delivery_limit=1))
    publish(proton, address_of(queue), "patient")
    receiver = receiver_of(proton, queue)
    for acquired in range(5):
        message, _ = receive(receiver)
        assert message.annotations.get("x-acquired-count", 0) == acquired
        settle(receiver, Delivery.RELEASED)
    assert receive(receiver)[0].delivery_count == 0
    assert bodies_in(proton, dead) == []


@case
def at_least_once_dead_letters(proton, channel):
    dead = declare_queue(channel, "dead", kind="quorum")
    queue = declare_queue(channel, kind="quorum", arguments=dead_letter_to(
        dead, x_dead_letter_strategy="at-least-once", x_overflow="reject-publish"))
    publish(proton, address_of(queue), "safe")
    reject(proton, queue)
    message = next_message(proton, dead)
    check_deaths(message, (queue, "rejected", 1, "", [queue]))
    assert message.body == "safe"


@case
def ttl_of_a_rejected_message_is_recorded_and_gone(proton, channel):
    dead = declare_queue(channel, "dead")
    queue = declare_queue(channel, arguments=dead_letter_to(dead))
    publish(proton, address_of(queue), Message(body="x", ttl=600.0))
    reject(proton, queue)
    message = next_message(proton, dead)
    check_deaths(message, (queue, "rejected", 1, "", [queue], 600000))
    assert message.ttl == 0.0


@case
def all_routing_keys_are_recorded(proton, channel):
    dead = declare_queue(channel, "dead")
    queue = declare_queue(channel, arguments={"x-dead-letter-exchange": "amq.fanout"})
    channel.queue_bind(dead, "amq.fanout", "")
    publish(proton, address_of(queue), Message(body="x", annotations={
        symbol("x-cc"): ["second", "third"]}))
    reject(proton, queue)
    message = next_message(proton, dead)
    check_deaths(message, (queue, "rejected", 1, "", [queue, "second", "third"]))
    assert message.annotations["x-cc"] == ["second", "third"]
    assert message.annotations["x-exchange"] == "amq.fanout"


# ---------------------------------------------------------------- several deaths

def retry_loop(channel, kind):
    """Rejected messages wait and then return to the work queue."""
    work, wait = "clients.proton.work", "clients.proton.wait"
    declare_queue(channel, "work", kind=kind, arguments=dead_letter_to(wait))
    declare_queue(channel, "wait", kind=kind, arguments=dead_letter_to(work, x_message_ttl=20))
    return work, wait


@case_per_type
def deaths_of_a_retry_loop_are_counted(proton, channel, kind):
    work, wait = retry_loop(channel, kind)
    publish(proton, address_of(work), Message(body="x", ttl=600.0))
    receiver = receiver_of(proton, work)
    for round_trip in range(1, 4):
        assert receive(receiver)[0].delivery_count == round_trip - 1
        settle(receiver, Delivery.REJECTED)
        message, _ = receive(receiver)
        check_deaths(message, (wait, "expired", round_trip, "", [wait]),
                     (work, "rejected", round_trip, "", [work], 600000))
        assert message.delivery_count == round_trip
        settle(receiver, Delivery.RELEASED)


@case
def same_queue_with_two_reasons(proton, channel):
    dead = declare_queue(channel, "dead")
    queue = declare_queue(channel, arguments=dead_letter_to(dead))
    publish(proton, address_of(queue), "x")
    reject(proton, queue)
    channel.queue_delete(dead)
    # The dead letter was deleted with its queue; a new message dies with the other reason.
    declare_queue(channel, "dead", arguments=dead_letter_to(queue))
    publish(proton, address_of(queue), Message(body="y", ttl=0.03))
    reject(proton, dead)
    message = next_message(proton, queue)
    check_deaths(message, (dead, "rejected", 1, "", [dead]), (queue, "expired", 1, "", [queue], 30))


@case
def cycle_without_rejection_is_dropped(proton, channel):
    first = declare_queue(channel, "first", arguments=dead_letter_to(
        "clients.proton.second", x_message_ttl=20))
    second = declare_queue(channel, "second", arguments=dead_letter_to(first, x_message_ttl=20))
    marker = declare_queue(channel, "marker", arguments={"x-message-ttl": 500,
                                                         **dead_letter_to("clients.proton.end")})
    end = declare_queue(channel, "end")
    publish(proton, address_of(first), "round")
    publish(proton, address_of(marker), "marker")
    next_message(proton, end)  # Long after the cycle was complete.
    wait_for_ready(channel, first, 0)
    wait_for_ready(channel, second, 0)


@case
def published_history_is_not_believed(proton, channel):
    dead = declare_queue(channel, "dead")
    queue = declare_queue(channel, arguments=dead_letter_to(dead))
    forged = {symbol("x-opt-deaths"): Array(UNDESCRIBED, Data.STRING, "forged"),
              symbol("x-first-death-queue"): "forged", symbol("x-last-death-reason"): "forged"}
    publish(proton, address_of(queue), Message(body="x", annotations=forged))
    receiver = receiver_of(proton, queue)
    message, _ = receive(receiver)
    assert {key: message.annotations[key] for key in forged} == forged, message.annotations
    assert message.first_acquirer
    settle(receiver, Delivery.REJECTED)
    check_deaths(next_message(proton, dead), (queue, "rejected", 1, "", [queue]))


@case
def forwarded_dead_letter_starts_again(proton, channel):
    dead = declare_queue(channel, "dead")
    queue = declare_queue(channel, arguments=dead_letter_to(dead))
    publish(proton, address_of(queue), "x")
    for _ in range(2):
        reject(proton, queue)
        message = next_message(proton, dead)
        check_deaths(message, (queue, "rejected", 1, "", [queue]))
        publish(proton, address_of(queue), message)  # with all its annotations
    assert next_message(proton, queue).annotations["x-opt-deaths"].elements[0]["count"] == 1


@case
def error_of_the_last_rejection_counts(proton, channel):
    dead = declare_queue(channel, "dead", arguments=dead_letter_to("clients.proton.grave"))
    grave = declare_queue(channel, "grave")
    queue = declare_queue(channel, arguments=dead_letter_to(dead))
    publish(proton, address_of(queue), "x")
    for source, condition in [(queue, Condition("app:first", "one")),
                              (dead, Condition("app:second", "two"))]:
        receiver = receiver_of(proton, source)
        receive(receiver)
        settle(receiver, Delivery.REJECTED, condition=condition)
    annotations = next_message(proton, grave).annotations
    assert (annotations["x-opt-death-error-condition"],
            annotations["x-opt-death-error-description"]) == ("app:second", "two")


# ---------------------------------------------------------------- both protocols

@case_per_type
def dies_in_proton_and_is_read_by_pika(proton, channel, kind):
    dead = declare_queue(channel, "dead", kind=kind)
    exchange = declare_exchange(channel, "direct")
    queue = declare_queue(channel, kind=kind, arguments=dead_letter_to(dead))
    channel.queue_bind(queue, exchange, "key")
    publish(proton, f"/exchanges/{exchange}/key", Message(
        body=b"x", inferred=True, ttl=600.0, properties={"tenant": "blue"}))
    reject(proton, queue)
    method, properties, body = next_by_pika(channel, dead)
    check_headers(properties, (queue, "rejected", 1, exchange, ["key"], 600000))
    assert (body, properties.headers["tenant"], properties.expiration) == (b"x", "blue", None)
    assert (method.exchange, method.routing_key) == ("", dead)


@case_per_type
def dies_in_pika_and_is_read_by_proton(proton, channel, kind):
    dead = declare_queue(channel, "dead", kind=kind)
    queue = declare_queue(channel, kind=kind, arguments=dead_letter_to(dead))
    channel.basic_publish("", queue, b"x", pika.BasicProperties(
        expiration="600000", headers={"tenant": "blue", "CC": ["copy"], "x-own": "kept"}))
    method, _, _ = channel.basic_get(queue)
    channel.basic_reject(method.delivery_tag, requeue=False)
    message = next_message(proton, dead)
    check_deaths(message, (queue, "rejected", 1, "", [queue, "copy"], 600000))
    assert (message.body, message.properties, message.ttl) == (b"x", {"tenant": "blue"}, 0.0)
    assert message.annotations["x-own"] == "kept"
    assert message.delivery_count == 1  # basic.reject counts, basic.nack does not


@case
def four_reasons_read_by_pika(proton, channel):
    dead = declare_queue(channel, "dead")
    queues = [declare_queue(channel, reason, kind="quorum", arguments=dead_letter_to(
        dead, **arguments)) for reason, arguments in [
            ("rejected", {}), ("expired", {"x_message_ttl": 20}), ("maxlen", {"x_max_length": 1}),
            ("delivery_limit", {"x_delivery_limit": 0})]]
    for queue, reason in zip(queues, ["rejected", "expired", "maxlen", "delivery_limit"]):
        publish(proton, address_of(queue), "x")
        if reason == "rejected":
            reject(proton, queue)
        elif reason == "maxlen":
            publish(proton, address_of(queue), "y")
        elif reason == "delivery_limit":
            receiver = receiver_of(proton, queue)
            receive(receiver)
            settle(receiver, Delivery.MODIFIED, failed=True)
        check_headers(next_by_pika(channel, dead)[1], (queue, reason, 1, "", [queue]))


@case_per_type
def dies_by_turns_in_both(proton, channel, kind):
    names = ["clients.proton." + suffix for suffix in ["first", "second", "third"]]
    for name, target in zip(names, names[1:] + names[:1]):
        declare_queue(channel, name.rpartition(".")[2], kind=kind, arguments=dead_letter_to(target))
    first, second, third = names
    publish(proton, address_of(first), Message(body=b"x", inferred=True, ttl=600.0))
    reject(proton, first)
    method = None
    while method is None:
        method, properties, _ = channel.basic_get(second)
    check_headers(properties, (first, "rejected", 1, "", [first], 600000))
    channel.basic_nack(method.delivery_tag, requeue=False)
    receiver = receiver_of(proton, third)
    message, _ = receive(receiver)
    check_deaths(message, (second, "rejected", 1, "", [second]),
                 (first, "rejected", 1, "", [first], 600000))
    settle(receiver, Delivery.MODIFIED, undeliverable=True)
    method = None
    while method is None:
        method, properties, _ = channel.basic_get(first)
    history = [(third, "rejected", 1, "", [third]), (second, "rejected", 1, "", [second]),
               (first, "rejected", 1, "", [first], 600000)]
    check_headers(properties, *history)
    channel.basic_reject(method.delivery_tag, requeue=False)
    message = next_message(proton, second)
    again = (first, "rejected", 2, "", [first], 600000)
    check_deaths(message, again, *history[:2], first=again)
    assert message.body == b"x"


@case
def republished_by_pika_starts_again(proton, channel):
    dead = declare_queue(channel, "dead")
    queue = declare_queue(channel, arguments=dead_letter_to(dead))
    publish(proton, address_of(queue), Message(body=b"x", inferred=True))
    reject(proton, queue)
    _, properties, body = next_by_pika(channel, dead)
    channel.basic_publish("", queue, body, properties)  # with its x-death
    receiver = receiver_of(proton, queue)
    message, _ = receive(receiver)
    assert "x-opt-deaths" not in message.annotations, message.annotations
    published = message.annotations["x-death"]
    assert type(published) is list and published[0][symbol("queue")] == queue, published
    settle(receiver, Delivery.REJECTED)
    message = next_message(proton, dead)
    check_deaths(message, (queue, "rejected", 1, "", [queue]))
    assert "x-death" not in message.annotations


@case
def republished_by_proton_starts_again(proton, channel):
    dead = declare_queue(channel, "dead")
    queue = declare_queue(channel, arguments=dead_letter_to(dead))
    channel.basic_publish("", queue, b"x")
    reject(proton, queue)
    message = next_message(proton, dead)
    publish(proton, address_of(queue), message)
    method = None
    while method is None:
        method, _, _ = channel.basic_get(queue)
    channel.basic_reject(method.delivery_tag, requeue=False)
    check_headers(next_by_pika(channel, dead)[1], (queue, "rejected", 1, "", [queue]))


@case
def pika_counts_become_delivery_counts(proton, channel):
    queue = declare_queue(channel, kind="quorum")
    channel.basic_publish("", queue, b"x")
    for give_back in [channel.basic_nack, channel.basic_reject]:
        method = None
        while method is None:
            method, _, _ = channel.basic_get(queue)
        give_back(method.delivery_tag, requeue=True)
    message = next_message(proton, queue)
    assert (message.delivery_count, message.first_acquirer) == (1, False)
    counts = [message.annotations[key] for key in ["x-acquired-count", "x-delivery-count"]]
    assert [(type(count), count) for count in counts] == [(int, 2), (int, 1)]  # AMQP's long


@case
def thousand_dead_letters_keep_their_order(proton, channel):
    dead = declare_queue(channel, "dead")
    queue = declare_queue(channel, arguments=dead_letter_to(dead))
    count = 1000
    sender = proton.create_sender(address_of(queue), name="burst")
    unsettled = []
    for number in range(count):
        proton.wait(lambda: sender.link.credit > 0, msg="credit")
        unsettled.append(sender.link.send(Message(body=number)))
    proton.wait(lambda: all(each.settled for each in unsettled), msg="all outcomes")
    receiver = receiver_of(proton, queue)
    receiver.link.flow(count)
    proton.wait(lambda: receiver.fetcher.has_message == count, msg="all arrive")
    for _ in range(count):
        receiver.fetcher.pop()
        receiver.reject()
    receiver.close()
    wait_for_ready(channel, dead, count)
    assert bodies_in(proton, dead) == list(range(count))
