"""Shared by all cases: connections of both protocols, links, waiting, and unique names."""

import base64
import json
import logging
import os
import socket
import sys
import time
import urllib.parse
import urllib.request
import uuid

import pika
from proton import Delivery, Endpoint, Handler, Link, Message
from proton.reactor import LinkOption
from proton.utils import BlockingConnection, BlockingReceiver, BlockingSender, LinkDetached

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from told import tell_all, told  # noqa: E402

# Every connection of Proton loads all certificates of the system, which are not needed here.
os.environ["SSL_CERT_FILE"] = os.devnull
HOST, PORT, HTTP_PORT = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
PATIENCE_SECONDS = 10
MESSAGE_BYTES_MAX = 16 * 1024 * 1024
CASES = []
created_queues, created_exchanges, created_paths = [], [], []
open_connections = []
logging.getLogger("pika").setLevel(logging.CRITICAL)
logging.getLogger("proton").setLevel(logging.CRITICAL)


def case(function):
    CASES.append((function.__name__, function))
    return function


def case_per_type(function):
    """Runs a case for both queue types; the type is its last argument."""
    for kind in ["classic", "quorum"]:
        CASES.append((f"{function.__name__}_{kind}",
                      lambda proton, channel, kind=kind: function(proton, channel, kind)))
    return function


def name_of(suffix):
    return "clients.proton." + suffix


# ---------------------------------------------------------------- connections

def connect(user="guest", password="guest", **options):
    options.setdefault("allowed_mechs", "PLAIN")
    connection = BlockingConnection(f"amqp://{HOST}:{PORT}", timeout=PATIENCE_SECONDS, user=user,
                                    password=password, **options)
    open_connections.append(connection)
    return connection


def drop(connection):
    """Closes the socket without close, end and detach, which Proton itself never does."""
    open_connections.remove(connection)
    with socket.socket(fileno=os.dup(connection.conn.transport._selectable.fileno())) as connected:
        connected.shutdown(socket.SHUT_RDWR)


def connect_pika(**options):
    connection = pika.BlockingConnection(pika.ConnectionParameters(HOST, PORT, **options))
    open_connections.append(connection)
    return connection


def http(method, path, body=None):
    """A request to the HTTP API, for operations that AMQP does not have: users, virtual hosts, permissions."""
    request = urllib.request.Request(f"http://{HOST}:{HTTP_PORT}/api/{path}", method=method,
                                     data=None if body is None else json.dumps(body).encode())
    request.add_header("Authorization", "Basic " + base64.b64encode(b"guest:guest").decode())
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as response:
        return response.read()


def add_user(suffix, vhost="/", **permissions):
    """A user with only these permissions; its password is its name."""
    name = name_of(suffix)
    created_paths.append("users/" + name)
    http("PUT", "users/" + name, {"password": name, "tags": ""})
    rights = {"configure": "", "write": "", "read": "", **permissions}
    http("PUT", f"permissions/{urllib.parse.quote(vhost, safe='')}/{name}", rights)
    return name


def add_vhost(suffix):
    name = name_of(suffix)
    created_paths.append("vhosts/" + name)
    http("PUT", "vhosts/" + name)
    return name


# ---------------------------------------------------------------- topology, over AMQP 0-9-1

def declare_queue(channel, suffix="queue", kind="classic", arguments=None):
    name = name_of(suffix)
    created_queues.append(name)
    channel.queue_delete(name)  # An interrupted run may have left it.
    channel.queue_declare(name, durable=True, arguments={"x-queue-type": kind, **(arguments or {})})
    return name


def declare_exchange(channel, kind, suffix="exchange", **options):
    name = name_of(suffix)
    created_exchanges.append(name)
    channel.exchange_delete(name)
    channel.exchange_declare(name, kind, durable=True, **options)
    return name


def dead_letter_to(queue, **arguments):
    return {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": queue,
            **{key.replace("_", "-"): value for key, value in arguments.items()}}


def ready_count(channel, queue):
    return channel.queue_declare(queue, passive=True).method.message_count


def wait_for_ready(channel, queue, count):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while ready_count(channel, queue) != count:
        assert time.monotonic() < deadline, (
            f"{queue} has {ready_count(channel, queue)} messages, not {count}")
        time.sleep(0.01)


def next_by_pika(channel, queue):
    method, properties, body = next(channel.consume(queue, inactivity_timeout=PATIENCE_SECONDS))
    assert method is not None, f"no message arrived in {queue}"
    channel.basic_ack(method.delivery_tag)
    channel.cancel()
    return method, properties, body


# ---------------------------------------------------------------- links

class Change(LinkOption):
    """Changes a link before it is attached."""

    def __init__(self, change):
        self.change = change

    def apply(self, link):
        self.change(link)


def settle_mode(mode):
    return Change(lambda link: setattr(link, "snd_settle_mode", mode))


SETTLED, UNSETTLED, MIXED = (settle_mode(mode) for mode in
                             [Link.SND_SETTLED, Link.SND_UNSETTLED, Link.SND_MIXED])


def address_of(queue):
    return "/queues/" + urllib.parse.quote(queue, safe="")


def new_name():
    """By default, Proton gives links to the same address the same name and then refuses the second one."""
    return str(uuid.uuid4())


def sender_to(connection, address, options=UNSETTLED):
    return connection.create_sender(address, name=new_name(), options=options)


def receiver_of(connection, queue, options=None, handler=None):
    """A receiver without credit: each case grants credit itself, and receive() grants one if there is none."""
    return connection.create_receiver(address_of(queue), credit=0, name=new_name(), options=options,
                                      handler=handler)


class Inbox(Handler):
    """Keeps each delivery with its original bytes."""

    def __init__(self):
        super().__init__()
        self.arrived = []

    def on_delivery(self, event):
        delivery = event.delivery
        if delivery.readable and not delivery.partial:
            self.arrived.append((delivery, event.link.recv(delivery.pending)))
            event.link.advance()


def send(sender, message):
    """Sends one message and waits for its outcome: (state, condition)."""
    delivery = sender.link.send(message)
    sender.connection.wait(lambda: delivery.settled, msg="an outcome")
    outcome = delivery.remote_state, delivery.remote.condition
    delivery.settle()
    return outcome


def publish(connection, address, *messages):
    """Sends messages that must be accepted."""
    sender = sender_to(connection, address)
    for message in messages:
        message = message if isinstance(message, Message) else Message(body=message)
        state, condition = send(sender, message)
        assert state == Delivery.ACCEPTED, (state, condition)
    sender.close()


def receive(receiver):
    """The next message with its unsettled delivery."""
    message = receiver.receive(timeout=PATIENCE_SECONDS)
    return message, receiver.fetcher.unsettled[-1]


def next_message(connection, queue):
    """Receives one message and accepts it."""
    receiver = receiver_of(connection, queue)
    message, _ = receive(receiver)
    settle(receiver, Delivery.ACCEPTED)
    receiver.close()
    return message


def settle(receiver, state, **fields):
    """Settles the oldest unsettled message; fields are those of modified and rejected."""
    delivery = receiver.fetcher.unsettled[0]
    for name, value in fields.items():
        setattr(delivery.local, name, value)
    receiver.settle(state)
    flush(receiver.connection)


def flush(connection):
    """Proton buffers frames until the next call, and then grants credit first."""
    connection.wait(lambda: connection.conn.transport.pending() == 0, msg="all is written")


def drain(connection, receiver, credit):
    """Receives all available messages, up to the credit."""
    receiver.link.drain(credit)
    connection.wait(lambda: receiver.link.credit == 0 and not receiver.link.draining(),
                    msg="the link is drained")
    return [receiver.fetcher.pop() for _ in range(receiver.fetcher.has_message)]


def bodies_in(connection, queue):
    """Drains the queue and returns its messages."""
    receiver = receiver_of(connection, queue)
    found = [message.body for message in drain(connection, receiver, 1000)]
    while receiver.fetcher.unsettled:
        receiver.accept()
    receiver.close()
    return found


def new_session(connection):
    session = connection.conn.session()
    session.open()
    connection.wait(lambda: session.state & Endpoint.REMOTE_ACTIVE, msg="the session begins")
    return session


def attach_sender(connection, session, address, options=None):
    return BlockingSender(connection, connection.container.create_sender(
        session, address, name=new_name(), options=options))


def attach_receiver(connection, session, queue, handler):
    return BlockingReceiver(connection, connection.container.create_receiver(
        session, address_of(queue), name=new_name(), handler=handler), None, credit=0)


# ---------------------------------------------------------------- refusals

def check_condition(condition, name, description):
    assert condition is not None, "no error was given"
    assert (condition.name, condition.description) == (name, description), condition


def expect_detach(name, description, call, *arguments, **options):
    """The call makes the broker detach the link with this error; returns the error."""
    try:
        call(*arguments, **options)
    except LinkDetached as detached:
        condition = detached.link.remote_condition
        assert condition is not None, "no error was given"
        assert condition.name == name, condition
        matches = description(condition.description) if callable(description) else (
            condition.description == description)
        assert matches, condition
        return condition
    raise AssertionError(f"no detach with {name}")


def expect_end(connection, session, name, description):
    connection.wait(lambda: session.state & Endpoint.REMOTE_CLOSED, msg="the session ends")
    check_condition(session.remote_condition, name, description)


def check_usable(connection, channel):
    queue = declare_queue(channel, "usable")
    session = new_session(connection)
    sender = attach_sender(connection, session, address_of(queue))
    assert send(sender, Message(body="still alive")) == (Delivery.ACCEPTED, None)
    session.close()
    assert channel.basic_get(queue, auto_ack=True)[0] is not None


# ---------------------------------------------------------------- the run

def clean_up(connection):
    """Uses the case's own AMQP 0-9-1 connection, or a new one if the case lost it."""
    if not connection.is_open:
        connection = connect_pika()
    channel = connection.channel()
    while created_queues:
        channel.queue_delete(created_queues.pop())
    while created_exchanges:
        channel.exchange_delete(created_exchanges.pop())
    while created_paths:
        http("DELETE", created_paths.pop())


def close_quietly(connection):
    """A failed case may leave a connection that cannot be closed normally."""
    try:
        connection.close()
    except Exception:
        pass


def run(case):
    name, function = case

    def work():
        pika_connection = connect_pika()
        try:
            function(connect(), pika_connection.channel())
        finally:
            for connection in open_connections[1:]:
                close_quietly(connection)
            clean_up(pika_connection)
            while open_connections:
                close_quietly(open_connections.pop())

    return told(name, work)


def run_all():
    wanted = sys.argv[4:]
    return tell_all([(name, function) for name, function in CASES if not wanted or name in wanted], run)
