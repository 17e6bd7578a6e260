"""The effect of each outcome on a message."""

from proton import UNDESCRIBED, Array, Condition, Data, Delivery, Endpoint, Message, symbol, ulong

from peer import (address_of, bodies_in, case, case_per_type, connect, dead_letter_to,
                  declare_queue, drain, expect_end, flush, next_by_pika, next_message, publish,
                  receive, receiver_of, settle, wait_for_ready)


def own_annotations(message):
    """The annotations without those that every delivery has."""
    return {key: value for key, value in message.annotations.items()
            if key not in ("x-exchange", "x-routing-key")}


def counts(message):
    """The fields that describe earlier deliveries."""
    return message.first_acquirer, message.delivery_count, own_annotations(message)


def expected_counts(kind, acquired, failed):
    annotations = {}
    if kind == "quorum":
        annotations[symbol("x-acquired-count")] = acquired
        if failed:
            annotations[symbol("x-delivery-count")] = failed
    return False, failed, annotations


def settle_and_take_again(proton, channel, kind, state, **fields):
    """Settles a message twice with the same outcome: (first, second, third delivery)."""
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), "again", "next")
    receiver = receiver_of(proton, queue)
    seen = []
    for _ in range(2):
        seen.append(receive(receiver)[0])
        settle(receiver, state, **fields)
    seen.append(receive(receiver)[0])
    receiver.accept()
    assert [message.body for message in seen] == ["again"] * 3
    assert bodies_in(proton, queue) == ["next"]
    return seen


def settle_and_find_dead(proton, channel, kind, state, **fields):
    """Settles a message so that it is dead-lettered; returns the dead letter."""
    dead = declare_queue(channel, "dead", kind=kind)
    queue = declare_queue(channel, kind=kind, arguments=dead_letter_to(dead))
    publish(proton, address_of(queue), "poison")
    receiver = receiver_of(proton, queue)
    receive(receiver)
    settle(receiver, state, **fields)
    message = next_message(proton, dead)
    assert message.body == "poison"
    assert bodies_in(proton, queue) == []
    death = message.annotations["x-opt-deaths"].elements[0]
    assert (death["queue"], death["reason"], death["count"]) == (queue, "rejected", 1), death
    return message


@case_per_type
def accepted(proton, channel, kind):
    queue = declare_queue(channel, kind=kind, arguments=dead_letter_to("clients.proton.dead"))
    dead = declare_queue(channel, "dead")
    publish(proton, address_of(queue), "done", "left")
    receiver = receiver_of(proton, queue)
    message, _ = receive(receiver)
    assert counts(message) == (True, 0, {})
    settle(receiver, Delivery.ACCEPTED)
    receiver.close()
    assert bodies_in(proton, queue) == ["left"]
    assert bodies_in(proton, dead) == []


@case_per_type
def released(proton, channel, kind):
    first, second, third = settle_and_take_again(proton, channel, kind, Delivery.RELEASED)
    assert counts(first) == (True, 0, {})
    assert counts(second) == expected_counts(kind, 1, 0)
    assert counts(third) == expected_counts(kind, 2, 0)


@case_per_type
def rejected_with_dead_letter_exchange(proton, channel, kind):
    message = settle_and_find_dead(proton, channel, kind, Delivery.REJECTED)
    assert (message.first_acquirer, message.delivery_count) == (False, 1)
    assert "x-opt-death-error-condition" not in message.annotations


@case_per_type
def rejected_without_dead_letter_exchange(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), "dropped", "left")
    receiver = receiver_of(proton, queue)
    receive(receiver)
    settle(receiver, Delivery.REJECTED)
    receiver.close()
    assert bodies_in(proton, queue) == ["left"]


@case_per_type
def rejected_with_error(proton, channel, kind):
    message = settle_and_find_dead(proton, channel, kind, Delivery.REJECTED, condition=Condition(
        "app:bad-order", "order 7 has no items", {symbol("order"): 7}))
    condition = message.annotations["x-opt-death-error-condition"]
    description = message.annotations["x-opt-death-error-description"]
    assert (type(condition), condition) == (symbol, "app:bad-order")
    assert (type(description), description) == (str, "order 7 has no items")


@case_per_type
def rejected_with_error_seen_by_pika(proton, channel, kind):
    dead = declare_queue(channel, "dead", kind=kind)
    queue = declare_queue(channel, kind=kind, arguments=dead_letter_to(dead))
    channel.basic_publish("", queue, b"poison")
    receiver = receiver_of(proton, queue)
    receive(receiver)
    settle(receiver, Delivery.REJECTED, condition=Condition("app:bad-order", "no items"))
    headers = next_by_pika(channel, dead)[1].headers
    assert headers["x-death-error-condition"] == "app:bad-order", headers
    assert headers["x-death-error-description"] == "no items", headers
    assert not [key for key in headers if key.startswith("x-opt")], headers


@case_per_type
def modified_without_flags(proton, channel, kind):
    first, second, third = settle_and_take_again(proton, channel, kind, Delivery.MODIFIED)
    assert counts(first) == (True, 0, {})
    assert counts(second) == expected_counts(kind, 1, 0)
    assert counts(third) == expected_counts(kind, 2, 0)


@case_per_type
def modified_delivery_failed(proton, channel, kind):
    first, second, third = settle_and_take_again(proton, channel, kind, Delivery.MODIFIED,
                                                 failed=True)
    assert counts(first) == (True, 0, {})
    assert counts(second) == expected_counts(kind, 1, 1)
    assert counts(third) == expected_counts(kind, 2, 2)


@case_per_type
def modified_undeliverable_here(proton, channel, kind):
    message = settle_and_find_dead(proton, channel, kind, Delivery.MODIFIED, undeliverable=True)
    assert (message.first_acquirer, message.delivery_count) == (False, 0)


@case_per_type
def modified_with_both_flags(proton, channel, kind):
    message = settle_and_find_dead(proton, channel, kind, Delivery.MODIFIED, failed=True,
                                   undeliverable=True)
    assert (message.first_acquirer, message.delivery_count) == (False, 1)


ADDED = {symbol("x-opt-text"): "why", symbol("x-opt-symbol"): symbol("s"),
         symbol("x-opt-count"): ulong(3), symbol("x-opt-list"): [1, "two"],
         symbol("x-opt-map"): {"k": True},
         symbol("x-opt-array"): Array(UNDESCRIBED, Data.STRING, "a", "b")}


@case
def annotations_of_modified_are_merged_quorum(proton, channel):
    queue = declare_queue(channel, kind="quorum")
    publish(proton, address_of(queue), Message(body="x", annotations={
        symbol("x-own"): "kept", symbol("x-opt-text"): "replaced"}))
    receiver = receiver_of(proton, queue)
    receive(receiver)
    settle(receiver, Delivery.MODIFIED, annotations=ADDED)
    message, _ = receive(receiver)
    expected = {symbol("x-own"): "kept", **ADDED, symbol("x-acquired-count"): 1}
    assert own_annotations(message) == expected, message.annotations
    assert type(message.annotations["x-opt-symbol"]) is symbol
    assert type(message.annotations["x-opt-count"]) is ulong
    settle(receiver, Delivery.MODIFIED, failed=True, annotations={
        symbol("x-opt-text"): "again", symbol("x-opt-new"): True})
    message, _ = receive(receiver)
    expected.update({symbol("x-opt-text"): "again", symbol("x-opt-new"): True,
                     symbol("x-acquired-count"): 2, symbol("x-delivery-count"): 1})
    assert own_annotations(message) == expected, message.annotations


@case
def annotations_of_modified_are_ignored_classic(proton, channel):
    queue = declare_queue(channel)
    publish(proton, address_of(queue), Message(body="x", annotations={symbol("x-own"): "kept"}))
    receiver = receiver_of(proton, queue)
    receive(receiver)
    settle(receiver, Delivery.MODIFIED, annotations=ADDED)
    assert own_annotations(receive(receiver)[0]) == {symbol("x-own"): "kept"}


@case
def annotations_of_modified_reach_the_dead_letter(proton, channel):
    message = settle_and_find_dead(proton, channel, "quorum", Delivery.MODIFIED, undeliverable=True,
                                   annotations=ADDED)
    for key, value in ADDED.items():
        assert message.annotations[key] == value, message.annotations


@case
def annotations_of_modified_seen_by_pika(proton, channel):
    queue = declare_queue(channel, kind="quorum")
    channel.basic_publish("", queue, b"x")
    receiver = receiver_of(proton, queue)
    receive(receiver)
    settle(receiver, Delivery.MODIFIED, annotations={**ADDED, symbol("x-opt-flag"): True})
    receiver.close()
    headers = next_by_pika(channel, queue)[1].headers
    assert headers == {"x-opt-text": "why", "x-opt-symbol": "s", "x-opt-count": 3,
                       "x-opt-flag": True, "x-acquired-count": 1}, headers


@case_per_type
def annotations_of_modified_with_bad_key_end_session(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), "x")
    receiver = receiver_of(proton, queue)
    receive(receiver)
    settle(receiver, Delivery.MODIFIED, annotations={symbol("own"): "no"})
    session = receiver.link.session
    proton.wait(lambda: session.state & Endpoint.REMOTE_CLOSED, msg="the session ends")
    assert session.remote_condition.name == "amqp:invalid-field", session.remote_condition
    # The session ends for the client before another reactor has requeued its messages.
    wait_for_ready(channel, queue, 1)
    assert bodies_in(connect(), queue) == ["x"]


@case
def received_is_no_outcome(proton, channel):
    queue = declare_queue(channel)
    publish(proton, address_of(queue), "x")
    receiver = receiver_of(proton, queue)
    _, delivery = receive(receiver)
    delivery.update(Delivery.RECEIVED)
    expect_end(proton, receiver.link.session, "amqp:invalid-field",
               "Unrecognised state: received in DISPOSITION")


@case_per_type
def broker_settles_what_the_client_does_not(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), "1", "2")
    receiver = receiver_of(proton, queue)
    for state in [Delivery.ACCEPTED, Delivery.REJECTED]:
        _, delivery = receive(receiver)
        delivery.update(state)
        proton.wait(lambda: delivery.settled, msg="the broker settles")
        assert delivery.remote_state == state, delivery.remote_state
        settle(receiver, None)
    assert bodies_in(proton, queue) == []


@case_per_type
def settled_without_outcome_is_released(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), "x")
    receiver = receiver_of(proton, queue)
    receive(receiver)
    settle(receiver, None)
    assert counts(receive(receiver)[0]) == expected_counts(kind, 1, 0)


@case_per_type
def outcomes_in_any_order(proton, channel, kind):
    dead = declare_queue(channel, "dead")
    queue = declare_queue(channel, kind=kind, arguments=dead_letter_to(dead))
    publish(proton, address_of(queue), *range(30))
    receiver = receiver_of(proton, queue)
    receiver.link.flow(30)
    proton.wait(lambda: receiver.fetcher.has_message == 30, msg="all arrive")
    deliveries = [(receiver.fetcher.pop().body, receiver.fetcher.unsettled.pop())
                  for _ in range(30)]
    for number, delivery in reversed(deliveries):
        delivery.update([Delivery.ACCEPTED, Delivery.RELEASED, Delivery.REJECTED][number % 3])
        delivery.settle()
    receiver.close()
    wait_for_ready(channel, dead, 10)
    assert sorted(bodies_in(proton, queue)) == list(range(1, 30, 3))
    assert sorted(bodies_in(proton, dead)) == list(range(2, 30, 3))


@case_per_type
def detached_link_requeues(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), "x")
    receiver = receiver_of(proton, queue)
    receive(receiver)
    receiver.close()
    message = next_message(proton, queue)
    failed = 0 if kind == "quorum" else 1
    assert counts(message) == expected_counts(kind, 1, failed)


@case_per_type
def ended_session_requeues(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), "x")
    receiver = receiver_of(proton, queue)
    receive(receiver)
    receiver.link.session.close()
    flush(proton)
    message = next_message(connect(), queue)
    assert counts(message) == expected_counts(kind, 1, 1)


@case_per_type
def closed_connection_requeues(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), "1", "2", "3")
    receiver = receiver_of(proton, queue)
    receiver.link.flow(3)
    proton.wait(lambda: receiver.fetcher.has_message == 3, msg="all arrive")
    proton.close()
    second = connect()
    receiver = receiver_of(second, queue)
    again = drain(second, receiver, 10)
    assert [message.body for message in again] == ["1", "2", "3"]
    assert [counts(message) for message in again] == [expected_counts(kind, 1, 1)] * 3
