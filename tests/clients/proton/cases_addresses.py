"""Addresses: routing, outcomes and detaches."""

import urllib.parse

from proton import Delivery, Message, symbol, ulong

from peer import (SETTLED, UNSETTLED, address_of, bodies_in, case, case_per_type, check_condition,
                  check_usable, declare_exchange, declare_queue, expect_detach, flush, name_of,
                  next_by_pika, next_message, publish, receiver_of, send, sender_to, settle,
                  wait_for_ready)


# ---------------------------------------------------------------- addresses

@case
def missing_queue(proton, channel):
    name = name_of("missing")
    text = f"no queue '{name}' in vhost '/'"
    expect_detach("amqp:not-found", text, receiver_of, proton, name)
    expect_detach("amqp:not-found", text, sender_to, proton, address_of(name))
    check_usable(proton, channel)


@case
def missing_exchange(proton, channel):
    name = name_of("missing")
    text = f"no exchange '{name}' in vhost '/'"
    expect_detach("amqp:not-found", text, sender_to, proton, f"/exchanges/{name}/key")
    expect_detach("amqp:not-found", text, sender_to, proton, f"/exchanges/{name}")
    check_usable(proton, channel)


@case
def bad_addresses(proton, channel):
    def refused(text):
        return text.startswith("Attach refused: ")

    for address in ["/queues/", "/queues/a b", "/queues/a/b", "/queues/%zz", "/queues/%", "queue",
                    "/queue/q", "/amq/queue/q", "/topic/t", "/exchanges/", "/exchanges/amq.default",
                    "/exchanges/amq.default/key", "/exchanges//key", "/exchanges/amq.direct/a/b",
                    "/exchanges/amq.direct/a b", "/exchange/amq.direct/key", "/"]:
        expect_detach("amqp:invalid-field", refused, sender_to, proton, address)
    for address in ["/exchanges/amq.direct/key", "/queue/q", "q", "/queues/a b"]:
        expect_detach("amqp:invalid-field", refused, proton.create_receiver, address)
    # As in RabbitMQ 4.3.6, an empty name is a queue that does not exist.
    expect_detach("amqp:not-found", lambda text: text == "no queue '' in vhost '/'", proton.create_receiver, "/queues/")
    check_usable(proton, channel)


@case
def exchange_with_and_without_key(proton, channel):
    queue = declare_queue(channel)
    exchange = declare_exchange(channel, "direct")
    channel.queue_bind(queue, exchange, "key")
    channel.queue_bind(queue, exchange, "")
    publish(proton, f"/exchanges/{exchange}/key", "with")
    publish(proton, f"/exchanges/{exchange}", "without")
    publish(proton, f"/exchanges/{exchange}/", "empty")
    messages = [next_message(proton, queue) for _ in range(3)]
    assert [(message.body, message.annotations["x-routing-key"]) for message in messages] == [
        ("with", "key"), ("without", ""), ("empty", "")]


@case
def percent_encoded_names(proton, channel):
    queue = declare_queue(channel, "a/b c%+ü?&")
    exchange = declare_exchange(channel, "direct", "x/y z")
    key = "k/ü +%2F"
    channel.queue_bind(queue, exchange, key)
    quote = urllib.parse.quote
    publish(proton, address_of(queue), "to the queue")
    publish(proton, f"/exchanges/{quote(exchange, safe='')}/{quote(key, safe='')}", "by the key")
    messages = [next_message(proton, queue) for _ in range(2)]
    assert [(message.body, message.annotations["x-exchange"], message.annotations["x-routing-key"])
            for message in messages] == [("to the queue", "", queue), ("by the key", exchange, key)]


@case
def plus_is_a_plus(proton, channel):
    queue = declare_queue(channel, "a+b")
    publish(proton, f"/queues/{queue}", "x")
    assert bodies_in(proton, queue) == ["x"]


@case
def internal_exchange(proton, channel):
    exchange = declare_exchange(channel, "fanout", internal=True)
    expect_detach("amqp:unauthorized-access",
                  lambda text: text.startswith("forbidden to publish to internal exchange"),
                  sender_to, proton, f"/exchanges/{exchange}")


@case
def exclusive_queue_of_another(proton, channel):
    queue = name_of("exclusive")
    channel.queue_declare(queue, exclusive=True)
    expect_detach("amqp:resource-locked", lambda text: text.startswith(
        f"cannot obtain exclusive access to locked queue '{queue}' in vhost '/'"),
        receiver_of, proton, queue)
    check_usable(proton, channel)


# ---------------------------------------------------------------- outcomes of sent messages

@case
def unroutable_is_released(proton, channel):
    sender = sender_to(proton, "/exchanges/amq.direct/" + name_of("nobody"))
    assert send(sender, Message(body="x")) == (Delivery.RELEASED, None)
    exchange, queue = declare_exchange(channel, "direct"), declare_queue(channel)
    channel.queue_bind(queue, exchange, "key")
    sender = sender_to(proton, f"/exchanges/{exchange}/key")
    assert send(sender, Message(body="1")) == (Delivery.ACCEPTED, None)
    channel.queue_unbind(queue, exchange, "key")
    assert send(sender, Message(body="2")) == (Delivery.RELEASED, None)
    assert bodies_in(proton, queue) == ["1"]


@case
def queue_deleted_under_a_sender(proton, channel):
    queue = declare_queue(channel)
    sender = sender_to(proton, address_of(queue))
    assert send(sender, Message(body="1")) == (Delivery.ACCEPTED, None)
    channel.queue_delete(queue)
    expect_detach("amqp:resource-deleted", f"queue '{queue}' in vhost '/' was deleted",
                  proton.wait, lambda: False)


@case
def exchange_deleted_under_a_sender(proton, channel):
    exchange = declare_exchange(channel, "fanout")
    sender = sender_to(proton, f"/exchanges/{exchange}")
    channel.exchange_delete(exchange)
    delivery = sender.link.send(Message(body="x"))
    expect_detach("amqp:not-found", f"no exchange '{exchange}' in vhost '/'",
                  proton.wait, lambda: False)
    assert delivery.remote_state == Delivery.RELEASED


@case_per_type
def full_queue_rejects(proton, channel, kind):
    queue = declare_queue(channel, kind=kind, arguments={
        "x-max-length": 1, "x-overflow": "reject-publish"})
    sender = sender_to(proton, address_of(queue))
    # A quorum queue refuses messages only once it exceeds its limit.
    fitting = 1 if kind == "classic" else 2
    for number in range(fitting):
        assert send(sender, Message(body=number)) == (Delivery.ACCEPTED, None)
    state, condition = send(sender, Message(body="too much"))
    assert state == Delivery.REJECTED
    check_condition(condition, "amqp:resource-limit-exceeded",
                    f"queue '{queue}' exceeded maximum length")
    assert condition.info == {symbol("queue"): queue, symbol("reason"): symbol("maxlen")}
    assert type(condition.info["reason"]) is symbol
    assert bodies_in(proton, queue) == list(range(fitting))
    wait_for_ready(channel, queue, 0)
    assert send(sender, Message(body="again")) == (Delivery.ACCEPTED, None)


@case
def one_of_two_queues_is_full(proton, channel):
    exchange = declare_exchange(channel, "fanout")
    full = declare_queue(channel, "full", arguments={"x-max-length": 0,
                                                     "x-overflow": "reject-publish"})
    roomy = declare_queue(channel, "roomy")
    for queue in [full, roomy]:
        channel.queue_bind(queue, exchange, "")
    state, condition = send(sender_to(proton, f"/exchanges/{exchange}"), Message(body="x"))
    assert (state, condition.info["queue"]) == (Delivery.REJECTED, full)
    assert bodies_in(proton, roomy) == ["x"]


@case
def anonymous_sender(proton, channel):
    exchange, queue = declare_exchange(channel, "topic"), declare_queue(channel)
    channel.queue_bind(queue, exchange, "a.*")
    sender = sender_to(proton, None)
    for to in [address_of(queue), f"/exchanges/{exchange}/a.b"]:
        assert send(sender, Message(body=to, address=to)) == (Delivery.ACCEPTED, None)
    assert send(sender, Message(body="x", address=f"/exchanges/{exchange}/b")) == (
        Delivery.RELEASED, None)
    messages = [next_message(proton, queue) for _ in range(2)]
    assert [message.address for message in messages] == [
        address_of(queue), f"/exchanges/{exchange}/a.b"]


@case
def anonymous_sender_is_told_what_is_wrong(proton, channel):
    queue = declare_queue(channel)
    sender = sender_to(proton, None)
    state, condition = send(sender, Message(body="x"))
    assert state == Delivery.REJECTED
    check_condition(condition, "amqp:precondition-failed",
                    "anonymous terminus requires 'to' address to be set")
    state, condition = send(sender, Message(body="x", address="/queue/v1"))
    assert (state, condition.name) == (Delivery.REJECTED, "amqp:precondition-failed")
    assert condition.description.startswith("bad 'to' address string: "), condition
    state, condition = send(sender, Message(body="x", address="/exchanges/missing.exchange/k"))
    assert state == Delivery.REJECTED
    check_condition(condition, "amqp:not-found", "no exchange 'missing.exchange' in vhost '/'")
    assert send(sender, Message(body="y", address=address_of(queue))) == (Delivery.ACCEPTED, None)
    assert bodies_in(proton, queue) == ["y"]


@case
def anonymous_settled_sender_is_detached(proton, channel):
    sender = sender_to(proton, None, SETTLED)
    delivery = sender.link.send(Message(body="x"))
    condition = expect_detach("amqp:precondition-failed",
                              "anonymous terminus requires 'to' address to be set",
                              proton.wait, lambda: False)
    assert condition.info is not None, "the delivery's tag is missing"
    assert list(condition.info) == ["delivery-tag"], condition.info
    check_usable(proton, channel)


@case
def copies_by_annotation(proton, channel):
    to, copy = declare_queue(channel, "to"), declare_queue(channel, "copy")
    publish(proton, address_of(to), Message(body="memo", annotations={symbol("x-cc"): [copy]}))
    for queue in [to, copy]:
        message = next_message(proton, queue)
        assert (message.body, message.annotations["x-cc"]) == ("memo", [copy])
        assert message.annotations["x-routing-key"] == to
    publish(proton, address_of(to), Message(body="memo", annotations={symbol("x-cc"): [copy]}))
    assert next_by_pika(channel, copy)[1].headers == {"CC": [copy]}


@case
def bad_copies_detach(proton, channel):
    sender = sender_to(proton, address_of(declare_queue(channel)))
    expect_detach("amqp:invalid-field",
                  lambda text: text.startswith("bad value for 'x-cc' message-annotation: "),
                  send, sender, Message(body="x", annotations={symbol("x-cc"): "no list"}))


@case
def foreign_user_id_detaches(proton, channel):
    sender = sender_to(proton, address_of(declare_queue(channel)))
    expect_detach("amqp:unauthorized-access",
                  "user_id property set to 'somebody' but authenticated user was 'guest'",
                  send, sender, Message(body="x", user_id=b"somebody"))
    check_usable(proton, channel)


@case
def reserved_annotation_detaches(proton, channel):
    queue = declare_queue(channel)
    for annotations in [{symbol("own"): 1}, {ulong(7): 1}]:
        sender = sender_to(proton, address_of(queue))
        expect_detach("amqp:decode-error", lambda text: "reserved_annotation_key" in text,
                      send, sender, Message(body="x", annotations=annotations))
    assert bodies_in(proton, queue) == []


@case
def settled_message_on_unsettled_link_detaches(proton, channel):
    sender = sender_to(proton, address_of(declare_queue(channel)), UNSETTLED)
    sender.link.send(Message(body="x")).settle()
    expect_detach("amqp:invalid-field",
                  "sender settle mode is 'unsettled' but transfer settled flag is interpreted as "
                  "being 'true'", proton.wait, lambda: False)


@case_per_type
def queue_deleted_under_a_receiver(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    receiver = receiver_of(proton, queue)
    receiver.link.flow(1)
    flush(proton)
    channel.queue_delete(queue)
    expect_detach("amqp:resource-deleted", f"queue '{queue}' in vhost '/' was deleted",
                  proton.wait, lambda: False)
    check_usable(proton, channel)
