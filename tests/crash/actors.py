"""Clients that work until their broker ends, with one thread and one connection each. Publishers use py-amqp, which
allows many unconfirmed publishes; consumers use pika."""
import random
import socket
import threading
import time

import amqp
import pika

from ledger import Certainty, Publication, body_of, id_in, marks_of

CONNECT_SECONDS_MAX = 20
ANSWER_SECONDS_MAX = 20
QUIET_SECONDS = 0.01
UNREAD_MS_MAX = 120_000  # py-amqp would fail after a second in which a blocked connection is not read.


class Arena:
    """The environment of the actors: one broker process, its ledger, and whether its end was requested."""

    def __init__(self, broker, ledger, seed):
        self.port, self.http_port = broker.port, broker.http_port
        self.ledger, self.seed = ledger, seed
        self.doomed = threading.Event()
        self.over = threading.Event()  # All actors leave; the broker keeps running.
        self.quiet = threading.Event()  # All actors pause.
        self.slowness = 1  # Factor for every pause.
        self.faults = []  # Faults that actors detect themselves.

    def note(self, text):
        """Reports an event, if there is a listener."""

    def random_for(self, name):
        return random.Random(f"{self.seed}/{self.ledger.round}/{self.ledger.epoch}/{name}")


class Actor(threading.Thread):
    """Works until its connection is lost, so that work is in progress when the broker ends."""

    def __init__(self, arena, name):
        super().__init__(name=name, daemon=True)
        self.arena, self.ledger = arena, arena.ledger
        self.random = arena.random_for(name)
        self.connected = threading.Event()
        self.moved = threading.Event()  # Something was confirmed, settled, committed or changed.
        self.complaint = None

    def run(self):
        try:
            self.connect()
            self.connected.set()
            while not self.arena.over.is_set():
                if self.arena.quiet.is_set() and not self.arena.doomed.is_set():
                    time.sleep(QUIET_SECONDS)
                else:
                    self.work()
            self.leave()
        except Exception as error:  # Client libraries report the end of the broker in different ways.
            if not self.arena.doomed.is_set():
                self.complaint = f"{type(error).__name__}: {error}"
                self.arena.note(f"the client {self.name} ends: {self.complaint}")
        finally:
            self.connected.set()
            self.drop()

    def connect(self):
        raise NotImplementedError

    def work(self):
        raise NotImplementedError

    def leave(self):
        """Returns when the broker has processed everything sent before."""

    def drop(self):
        pass

    def pause(self, seconds_max):
        time.sleep(self.random.uniform(0, seconds_max * self.arena.slowness))


class Publisher(Actor):
    """Publishes with confirms; a window limits the number of unconfirmed messages."""

    def __init__(self, arena, name, lanes, exchange="", key="", window=200, pause=0.06, burst=30, properties=None):
        super().__init__(arena, name)
        self.lanes, self.exchange, self.key = lanes, exchange, key
        self.window, self.seconds_between, self.burst = window, pause, burst
        self.properties = properties or (lambda random: {})
        self.connection = None
        self.number = 0
        self.waiting = {}  # Delivery tag: id, in the order of the tags.

    def connect(self):
        self.connection = amqp.Connection(f"127.0.0.1:{self.arena.port}", connect_timeout=CONNECT_SECONDS_MAX,
                                          socket_settings={socket.TCP_USER_TIMEOUT: UNREAD_MS_MAX})
        self.connection.connect()
        self.channel = self.connection.channel()
        self.channel.confirm_select()
        self.channel.events["basic_ack"].add(
            lambda tag, multiple: self.answered(tag, multiple, Publication.CONFIRMED))
        self.channel.events["basic_nack"].add(
            lambda tag, multiple: self.answered(tag, multiple, Publication.REFUSED))

    def answered(self, tag, multiple, publication):
        self.moved.set()
        if not multiple:
            self.ledger.answer(self.waiting.pop(tag), publication)
            return
        for waiting in list(self.waiting):
            if waiting > tag:
                break
            self.ledger.answer(self.waiting.pop(waiting), publication)

    def work(self):
        for _ in range(self.random.randint(1, self.burst)):
            if len(self.waiting) < self.window:
                self.publish()
        # Infrequent, so that many messages wait for their confirms at any time.
        if len(self.waiting) >= self.window or self.random.random() < 0.4:
            self.read_answers()
        self.pause(self.seconds_between)

    def publish(self):
        self.number += 1
        id = self.ledger.new_id(self.name, self.number)
        size = self.size()
        properties = {"delivery_mode": 2, **self.properties(self.random)}
        marks = marks_of(id)
        headers = {**properties.pop("headers", {}), **marks.pop("headers")}
        lanes, exchange, key = self.address()
        self.ledger.publish(id, lanes, size, persistent=properties["delivery_mode"] == 2)
        self.waiting[self.number] = id
        message = amqp.Message(body_of(id, size), application_headers=headers, **properties, **marks)
        self.channel.basic_publish(message, exchange, key)

    def address(self):
        """The lanes of the next message, its exchange and its routing key."""
        return self.lanes, self.exchange, self.key

    def size(self):
        return random_size(self.random)

    def read_answers(self):
        full = len(self.waiting) >= self.window
        try:
            for _ in range(len(self.waiting)):
                self.connection.drain_events(timeout=0.05 if full else 0.002)
        except socket.timeout:
            pass

    def leave(self):
        self.connection.close()

    def drop(self):
        if self.connection is not None:
            self.connection.collect()


def random_size(random):
    """Usually small, sometimes larger than a frame."""
    kind = random.random()
    if kind < 0.8:
        return random.randint(0, 200)
    if kind < 0.995:
        return random.randint(200, 4000)
    return random.randint(130_000, 300_000)


class PikaActor(Actor):
    connection = None

    def connect(self):
        self.connection = pika.BlockingConnection(pika.ConnectionParameters(
            "127.0.0.1", self.arena.port, heartbeat=0, socket_timeout=CONNECT_SECONDS_MAX,
            blocked_connection_timeout=ANSWER_SECONDS_MAX))
        self.channel = self.connection.channel()

    def ask(self, method, *arguments, **options):
        """Returns when the reply arrived. pika does not always raise if the connection was lost instead."""
        result = method(*arguments, **options)
        if not self.channel.is_open:
            raise ConnectionError("the connection is lost, perhaps before the answer came")
        return result

    def leave(self):
        self.connection.close()

    def drop(self):
        try:
            if self.connection is not None and self.connection.is_open:
                self.connection.close()
        except Exception:  # The connection is already closed.
            pass


class Consumer(PikaActor):
    """Collects deliveries in batches and settles each batch according to a plan."""

    def __init__(self, arena, name, lane, queue, settle, prefetch=50, pause=0.02):
        super().__init__(arena, name)
        self.lane, self.queue, self.settle = lane, queue, settle
        self.prefetch, self.seconds_between = prefetch, pause
        self.batch = []  # (delivery tag, id)

    def connect(self):
        super().connect()
        self.channel.basic_qos(prefetch_count=self.prefetch)
        self.channel.basic_consume(self.queue, self.take)

    def take(self, _, method, properties, body):
        id = id_in(body, properties.message_id)
        self.ledger.receive(self.lane, id)
        self.batch.append((method.delivery_tag, id))

    def work(self):
        self.connection.process_data_events(time_limit=0.05)
        if self.batch:
            batch, self.batch = self.batch, []
            self.settle(self, batch)
            self.moved.set()
        self.pause(self.seconds_between)

    def answered(self):
        """Returns when the broker has processed everything sent before."""
        self.ask(self.channel.basic_qos, prefetch_count=self.prefetch)

    def accept(self, batch, multiple):
        ids = [id for _, id in batch]
        self.ledger.remove(self.lane, ids, Certainty.WISHED)
        if multiple:
            self.channel.basic_ack(batch[-1][0], multiple=True)
        else:
            for tag, _ in batch:
                self.channel.basic_ack(tag)
        self.answered()
        self.ledger.remove(self.lane, ids, Certainty.DONE)

    def reject(self, batch, multiple):
        ids = [id for _, id in batch]
        self.ledger.reject(self.lane, ids, Certainty.WISHED)
        if multiple:
            self.channel.basic_nack(batch[-1][0], multiple=True, requeue=False)
        else:
            for tag, _ in batch:
                self.channel.basic_reject(tag, requeue=False)
        self.answered()
        self.ledger.reject(self.lane, ids, Certainty.DONE)

    def put_back(self, batch):
        for tag, _ in batch:
            self.channel.basic_reject(tag, requeue=True)
