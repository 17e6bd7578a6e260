"""Sessions and links: credit, windows, many links, attach and detach."""

import proton as amqp
from proton import Delivery, Endpoint, Handler, Link, Message, Terminus, symbol

from peer import (UNSETTLED, Change, Inbox, address_of, attach_receiver, attach_sender, bodies_in,
                  case, case_per_type, check_usable, connect, declare_queue, drain, drop,
                  expect_detach, flush, new_name, new_session, next_message, publish, receive,
                  receiver_of, send, sender_to, settle, wait_for_ready)


# ---------------------------------------------------------------- credit

@case_per_type
def no_credit_no_delivery(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), "x")
    receiver = receiver_of(proton, queue)
    check_usable(proton, channel)  # A round trip: any delivery would have arrived before it.
    assert (receiver.fetcher.has_message, receiver.link.credit) == (0, 0)
    assert receive(receiver)[0].body == "x"


@case_per_type
def credit_is_not_exceeded(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), *range(10))
    receiver = receiver_of(proton, queue)
    for credit, expected in [(3, 3), (1, 4), (4, 8)]:
        receiver.link.flow(credit)
        proton.wait(lambda: receiver.fetcher.has_message == expected, msg="messages arrive")
        check_usable(proton, channel)
        assert (receiver.fetcher.has_message, receiver.link.credit) == (expected, 0)
    assert [receiver.fetcher.pop().body for _ in range(8)] == list(range(8))
    wait_for_ready(channel, queue, 2)


@case
def credit_waits_for_messages(proton, channel):
    queue = declare_queue(channel)
    receiver = receiver_of(proton, queue)
    receiver.link.flow(2)
    flush(proton)
    publish(proton, address_of(queue), "1", "2", "3")
    proton.wait(lambda: receiver.fetcher.has_message == 2, msg="both arrive")
    assert receiver.link.credit == 0
    wait_for_ready(channel, queue, 1)


@case_per_type
def drain_an_empty_queue(proton, channel, kind):
    receiver = receiver_of(proton, declare_queue(channel, kind=kind))
    receiver.link.drain(10)
    assert receiver.link.credit == 10
    proton.wait(lambda: receiver.link.credit == 0, msg="the link is drained")
    assert receiver.link.drained() == 10
    assert receiver.fetcher.has_message == 0


@case_per_type
def drain_takes_what_is_there(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), "1", "2", "3")
    receiver = receiver_of(proton, queue)
    assert [message.body for message in drain(proton, receiver, 10)] == ["1", "2", "3"]
    assert drain(proton, receiver, 5) == []
    receiver.link.drain_mode = False
    publish(proton, address_of(queue), "4")
    receiver.link.flow(1)
    proton.wait(lambda: receiver.fetcher.has_message == 1, msg="the drained link goes on")
    assert receiver.fetcher.pop().body == "4"


@case
def drain_leaves_what_exceeds_the_credit(proton, channel):
    queue = declare_queue(channel)
    publish(proton, address_of(queue), "1", "2", "3")
    receiver = receiver_of(proton, queue)
    assert [message.body for message in drain(proton, receiver, 2)] == ["1", "2"]
    wait_for_ready(channel, queue, 1)


@case
def consumer_priority(proton, channel):
    queue = declare_queue(channel)
    def prefer(link):
        link.properties = {symbol("rabbitmq:priority"): amqp.int32(10)}
    low, high = receiver_of(proton, queue), receiver_of(proton, queue, Change(prefer))
    low.link.flow(10)
    high.link.flow(2)
    flush(proton)
    publish(proton, address_of(queue), "1", "2", "3")
    proton.wait(lambda: low.fetcher.has_message + high.fetcher.has_message == 3, msg="all arrive")
    assert [high.fetcher.pop().body for _ in range(2)] == ["1", "2"]
    assert low.fetcher.pop().body == "3"


# ---------------------------------------------------------------- many links

@case
def many_links(proton, channel):
    queues = [declare_queue(channel, f"queue{number}") for number in range(10)]
    sessions = [new_session(proton) for _ in range(5)]
    inboxes, receivers, senders = [Inbox() for _ in range(150)], [], []
    for number, inbox in enumerate(inboxes):
        receivers.append(attach_receiver(proton, sessions[number % 5], queues[number % 10], inbox))
        senders.append(attach_sender(proton, sessions[(number + 1) % 5],
                                     address_of(queues[number % 10])))
    for receiver in receivers:
        receiver.link.flow(2)
    flush(proton)
    unsettled = [sender.link.send(Message(body=number)) for sender in senders
                 for number in range(2)]
    proton.wait(lambda: all(each.settled for each in unsettled), msg="all outcomes")
    assert {each.remote_state for each in unsettled} == {Delivery.ACCEPTED}
    # Fifteen receivers of each queue, with credit for two each, and fifteen senders of two each.
    proton.wait(lambda: all(len(inbox.arrived) == 2 for inbox in inboxes), msg="all messages")
    for inbox in inboxes:
        for delivery, _ in inbox.arrived:
            delivery.update(Delivery.ACCEPTED)
            delivery.settle()
    for link in receivers + senders:
        link.close()
    for queue in queues:
        assert bodies_in(proton, queue) == []


@case
def all_handles_of_a_session(proton, channel):
    queue = declare_queue(channel)
    session = new_session(proton)
    links = [proton.container.create_sender(session, address_of(queue), name=str(number))
             for number in range(256)]
    proton.wait(lambda: all(link.state & Endpoint.REMOTE_ACTIVE for link in links),
                msg="all links are attached")
    proton.wait(lambda: all(link.credit == 170 for link in links), msg="all have credit")
    links[255].send(Message(body="through the last one")).settle()
    flush(proton)
    wait_for_ready(channel, queue, 1)


class Reader(Handler):
    """Reads the bytes of a message as they arrive, which reopens the session's window."""

    def __init__(self):
        super().__init__()
        self.bytes, self.parts, self.complete = b"", 0, False

    def on_delivery(self, event):
        delivery = event.delivery
        while delivery.pending:
            self.bytes += event.link.recv(delivery.pending)
            self.parts += 1
        self.complete = not delivery.partial


@case_per_type
def window_of_a_session_is_kept(_, channel, kind):
    queue = declare_queue(channel, kind=kind)
    body = bytes(range(256)) * 2000
    narrow = connect(max_frame_size=1024)
    publish(narrow, address_of(queue), Message(body=body))
    session = narrow.conn.session()
    session.incoming_capacity = 8 * 1024
    session.open()
    reader = Reader()
    receiver = attach_receiver(narrow, session, queue, reader)
    receiver.link.flow(1)
    narrow.wait(lambda: reader.complete, msg="the whole message arrives")
    message = Message()
    message.decode(reader.bytes)
    assert message.body == body
    assert reader.parts >= len(body) / (8 * 1024), "it came in more than one window"


@case
def messages_wait_for_the_window_of_a_session(_, channel):
    queue = declare_queue(channel)
    narrow = connect(max_frame_size=1024)
    publish(narrow, address_of(queue), *[bytes(10_000)] * 20)
    session = narrow.conn.session()
    session.incoming_capacity = 4 * 1024
    session.open()
    inboxes = []
    for _ in range(20):
        reader = Reader()
        receiver = attach_receiver(narrow, session, queue, reader)
        receiver.link.flow(1)
        inboxes.append((reader, receiver))
    narrow.wait(lambda: all(reader.complete for reader, _ in inboxes), msg="all messages arrive")
    for reader, _ in inboxes:
        message = Message()
        message.decode(reader.bytes)
        assert message.body == bytes(10_000)


@case_per_type
def receiver_closes_within_a_message(_, channel, kind):
    queue = declare_queue(channel, kind=kind)
    body = bytes(range(256)) * 4000
    narrow = connect(max_frame_size=1024)
    publish(narrow, address_of(queue), body, "next")
    session = narrow.conn.session()
    session.incoming_capacity = 8 * 1024
    session.open()
    inbox = Inbox()  # reads nothing before the message is complete, so that the window stays closed
    receiver = attach_receiver(narrow, session, queue, inbox)
    receiver.link.flow(2)
    narrow.wait(lambda: receiver.link.current is not None, msg="the message begins")
    receiver.close()
    sender = attach_sender(narrow, session, address_of(queue))
    assert send(sender, Message(body="last")) == (Delivery.ACCEPTED, None)
    assert bodies_in(connect(), queue) == [body, "next", "last"]


@case
def sender_closes_within_a_message(proton, channel):
    queue = declare_queue(channel)
    session = new_session(proton)
    sender = attach_sender(proton, session, address_of(queue))
    proton.wait(lambda: sender.link.credit > 0, msg="credit")
    sender.link.delivery("half")
    sender.link.stream(bytes(300_000))
    flush(proton)
    sender.close()
    sender = attach_sender(proton, session, address_of(queue))
    assert send(sender, Message(body="whole")) == (Delivery.ACCEPTED, None)
    assert bodies_in(proton, queue) == ["whole"]


@case
def streams_of_two_links_interleave(proton, channel):
    queues = [declare_queue(channel, suffix) for suffix in ["even", "odd"]]
    session = new_session(proton)
    senders = [attach_sender(proton, session, address_of(queue)) for queue in queues]
    bodies = [bytes([number]) * 700_000 for number in [1, 2]]
    encoded = [Message(body=body).encode() for body in bodies]
    proton.wait(lambda: all(sender.link.credit > 0 for sender in senders), msg="credit")
    deliveries = [sender.link.delivery("stream") for sender in senders]
    for start in range(0, len(encoded[0]), 150_000):
        for sender, whole in zip(senders, encoded):
            sender.link.stream(whole[start:start + 150_000])
            flush(proton)
    for sender in senders:
        sender.link.advance()
    proton.wait(lambda: all(delivery.settled for delivery in deliveries), msg="both outcomes")
    assert [delivery.remote_state for delivery in deliveries] == [Delivery.ACCEPTED] * 2
    assert [bodies_in(proton, queue) for queue in queues] == [[body] for body in bodies]


@case_per_type
def dropped_connection_requeues(proton, channel, kind):
    queue = declare_queue(channel, kind=kind)
    publish(proton, address_of(queue), *range(20))
    dropped = connect()
    receiver = receiver_of(dropped, queue)
    receiver.link.flow(10)
    dropped.wait(lambda: receiver.fetcher.has_message == 10, msg="ten arrive")
    drop(dropped)
    wait_for_ready(channel, queue, 20)
    again = drain(proton, receiver_of(proton, queue), 100)
    assert [message.body for message in again] == list(range(20))
    assert [message.delivery_count for message in again] == [1] * 10 + [0] * 10


class DetachableInbox(Inbox):
    detached = False

    def on_link_remote_detach(self, _):
        self.detached = True


@case
def detached_but_not_closed_link_requeues(proton, channel):
    queue = declare_queue(channel)
    publish(proton, address_of(queue), "x")
    inbox = DetachableInbox()
    receiver = receiver_of(proton, queue, handler=inbox)
    receiver.link.flow(1)
    proton.wait(lambda: inbox.arrived, msg="the message arrives")
    receiver.link.detach()
    proton.wait(lambda: inbox.detached, msg="the broker detaches, too, and does not close")
    assert bodies_in(proton, queue) == ["x"]


@case
def too_large_for_the_receiver_ends_session(proton, channel):
    queue = declare_queue(channel)
    publish(proton, address_of(queue), bytes(2000))
    session = new_session(proton)
    limit = Change(lambda link: setattr(link, "max_message_size", 1000))
    link = proton.container.create_receiver(session, address_of(queue), name=new_name(),
                                            options=limit)
    link.flow(1)
    proton.wait(lambda: session.state & Endpoint.REMOTE_CLOSED, msg="the session ends")
    condition = session.remote_condition
    assert condition.name == "amqp:link:message-size-exceeded", condition
    assert condition.description.endswith(" bytes) > maximum message size (1000 bytes)"), condition
    assert next_message(connect(), queue).body == bytes(2000)


@case
def aborted_messages_vanish(proton, channel):
    queue = declare_queue(channel)
    sender = sender_to(proton, address_of(queue))
    proton.wait(lambda: sender.link.credit == 170, msg="credit")
    for number in range(200):  # more than all credit
        proton.wait(lambda: sender.link.credit > 0, msg="credit")
        delivery = sender.link.delivery(f"aborted-{number}")
        sender.link.stream(bytes(200_000) if number % 50 == 0 else b"part of it")
        flush(proton)
        delivery.abort()
        flush(proton)
    assert send(sender, Message(body="whole")) == (Delivery.ACCEPTED, None)
    assert bodies_in(proton, queue) == ["whole"]


@case
def names_of_links_can_be_used_again(proton, channel):
    queue = declare_queue(channel)
    for number in range(3):
        sender = proton.create_sender(address_of(queue), name="same", options=UNSETTLED)
        receiver = proton.create_receiver(address_of(queue), name="same", credit=0)
        assert send(sender, Message(body=number)) == (Delivery.ACCEPTED, None)
        assert receive(receiver)[0].body == number
        settle(receiver, Delivery.ACCEPTED)
        sender.close()
        receiver.close()


# ---------------------------------------------------------------- attach

@case
def attach_of_a_sender(proton, channel):
    queue = declare_queue(channel)
    link = sender_to(proton, address_of(queue)).link
    assert link.remote_target.address == address_of(queue)
    assert link.remote_max_message_size == 16777216
    assert link.remote_rcv_settle_mode == Link.RCV_FIRST
    proton.wait(lambda: link.credit > 0, msg="credit")
    assert link.credit == 170


@case
def attach_of_a_receiver(proton, channel):
    queue = declare_queue(channel)
    link = receiver_of(proton, queue).link
    source = link.remote_source
    assert source.address == address_of(queue)
    assert source.distribution_mode == Terminus.DIST_MODE_MOVE
    outcomes = source.outcomes
    outcomes.rewind()
    outcomes.next()
    assert list(outcomes.get_py_array().elements) == [
        "amqp:accepted:list", "amqp:rejected:list", "amqp:released:list", "amqp:modified:list"]


@case
def unknown_filters_are_left_out(proton, channel):
    queue = declare_queue(channel)
    selector = amqp.reactor.Selector("a = 1")
    receiver = receiver_of(proton, queue, selector)
    assert receiver.link.remote_source.filter.format() == "", receiver.link.remote_source.filter
    publish(proton, address_of(queue), "unfiltered")
    assert receive(receiver)[0].body == "unfiltered"


@case
def second_settlement_by_the_receiver_is_refused(proton, channel):
    queue = declare_queue(channel)
    second = Change(lambda link: setattr(link, "rcv_settle_mode", Link.RCV_SECOND))
    expect_detach("amqp:not-implemented", "rcv-settle-mode second not supported",
                  receiver_of, proton, queue, second)
    check_usable(proton, channel)


@case
def transactions_are_refused(proton, channel):
    coordinate = Change(lambda link: setattr(link.target, "type", Terminus.COORDINATOR))
    expect_detach("amqp:not-implemented", "Transactions not supported",
                  proton.create_sender, None, options=coordinate)
    check_usable(proton, channel)
