"""Clients for chaos that publish no counted messages but cause trouble: they request lists continuously, declare huge
definitions, send numbers out of range, disconnect abruptly or never read."""
import os
import signal
import socket
import struct
import subprocess
import sys
import time

from actors import Actor, Publisher
from brokers_to_crash import Api, Client, ClosedByBroker, Lost, segment, wire
from checker import Fault
from heavy import ClientActor
from ledger import Lane, id_in
from workload import Queue, Workload

HERE = os.path.dirname(os.path.abspath(__file__))
VHOST = segment("/")
HUGE = (2**63 - 1, 2**63 - 2, 2**62, 10**18, 2**53)
NONSENSE = (-1, 2**64, 1.5e300)
CONNECTION_FORCED = 320  # The broker is stopping.
NOTE_BYTES = 90_000
CALM_BYTES_PER_SECOND = 3_000_000
LETTING_GO_SECONDS = 0.2


class ApiActor(Actor):
    def connect(self):
        self.api = Api(self.arena.http_port)

    def drop(self):
        if hasattr(self, "api"):
            self.api.close()


# --- lists -------------------------------------------------------------------------------------------


class Lists(Workload):
    """Requests every list, repeatedly."""
    name = "lists"

    def actors(self, arena):
        return [Lister(arena, "lister")]


class Lister(ApiActor):
    paths = ("/api/queues", "/api/queues?page=1&page_size=50&sort=messages&sort_reverse=true", "/api/overview",
             "/api/queues?name=a.*&use_regex=true&page=1&page_size=10", "/api/connections", "/api/channels",
             "/api/consumers", "/api/bindings", "/api/exchanges", "/api/definitions", "/api/nodes", "/api/policies",
             f"/api/queues/{VHOST}/plain", "/api/vhosts", "/api/health/checks/alarms")

    def work(self):
        path = self.random.choice(self.paths)
        status, answer = self.api.try_request("GET", path, None)
        if status >= 500 and not path.startswith("/api/health"):
            self.arena.faults.append(Fault("list failed", path, f"it was answered with {status} {answer}"))
        self.moved.set()
        self.pause(0.06)


# --- a growing log -------------------------------------------------------------------------------------


class Errors(Workload):
    """Errors that cause log lines, several dozen per second."""
    name = "errors"

    def actors(self, arena):
        return [Mistaken(arena, "mistaken")]


class Mistaken(ClientActor):
    def work(self):
        try:
            self.client.call("queue.declare", 0, f"missing.{'x' * self.random.randint(1, 200)}", True, False, False,
                             False, False, [])
        except ClosedByBroker as closed:
            if closed.code != 404:
                raise
        self.moved.set()
        self.pause(0.02)


# --- definitions ---------------------------------------------------------------------------------------


class LargeDefinitions(Workload):
    """Declares and deletes queues with huge arguments without waiting for replies; as fast as possible while the disk
    is full, because then nothing can be written."""
    name = "notes"

    def actors(self, arena):
        return [Declarer(arena, "declarer")]

    def finish(self, stage):
        api = Api(stage.broker.http_port)
        for number in range(Declarer.count):
            api.request("DELETE", f"/api/queues/{VHOST}/notes.{number}")
        api.close()
        return ()


class Declarer(ClientActor):
    count = 8

    def connect(self):
        super().connect()
        note = [("x-note", "S", "n" * NOTE_BYTES)]
        self.pairs = []
        for number in range(self.count):
            declare = wire.encode_method("queue.declare", (0, f"notes.{number}", False, True, False, False, True, note))
            delete = wire.encode_method("queue.delete", (0, f"notes.{number}", False, False, True))
            self.pairs.append(wire.frame(wire.FRAME_METHOD, 1, declare) + wire.frame(wire.FRAME_METHOD, 1, delete))

    def work(self):
        self.send(self.random.choice(self.pairs))
        self.moved.set()
        if not self.arena.disk_full.is_set():
            time.sleep(NOTE_BYTES / CALM_BYTES_PER_SECOND * self.arena.slowness)

    def send(self, data):
        """Waits while the broker does not read, but not after it has ended."""
        view = memoryview(data)
        self.client.socket.settimeout(LETTING_GO_SECONDS)
        while view and not self.arena.over.is_set():
            try:
                view = view[self.client.socket.send(view):]
            except TimeoutError:
                self.moved.set()

    def leave(self):
        self.client.drop()


# --- numbers -------------------------------------------------------------------------------------------


class HugeNumbers(Workload):
    """Durations out of range are refused in every interface; the contents of the queue stay."""
    name = "numbers"
    queues = (Queue("numbers"),)
    lanes = (Lane("numbers", ("numbers",), ordered=("numbers",)),)

    def actors(self, arena):
        return [Publisher(arena, "numbers", ["numbers"], key="numbers", pause=0.3, burst=5), Exaggerator(arena, "huge")]


class Exaggerator(ApiActor):
    durations = ("expires", "message-ttl")
    counts = ("max-length", "max-length-bytes", "delivery-limit")

    def work(self):
        self.random.choice((self.by_policy, self.by_argument, self.by_property))()
        self.moved.set()
        self.pause(0.15)

    def by_policy(self):
        name = self.random.choice(self.durations + self.counts)
        value = self.random.choice(HUGE + NONSENSE)
        kind = self.random.choice(("policies", "operator-policies"))
        path = f"/api/{kind}/{VHOST}/huge"
        status, answer = self.api.try_request("PUT", path, {"pattern": "^numbers$", "definition": {name: value},
                                                            "apply-to": "queues"})
        nonsense = value in NONSENSE and (name, value) != ("delivery-limit", -1)  # This value means no limit.
        self.judge(f"{name} {value} by {kind}", status, 400, name in self.durations or nonsense)
        self.api.try_request("DELETE", path, None)

    def by_argument(self):
        name = self.random.choice(self.durations + self.counts)
        value = self.random.choice(HUGE)
        self.refused_by_amqp(f"x-{name} {value}", name in self.durations, lambda client: client.call(
            "queue.declare", 0, "numbers.huge", False, True, False, False, False, [(f"x-{name}", "l", value)]))

    def by_property(self):
        """An unroutable message: only whether its TTL is accepted matters."""
        value = self.random.choice(HUGE)
        def publish(client):
            client.publish("", "numbers.nowhere", b"", {"expiration": str(value)})
            client.call("basic.qos", 0, 0, False)
        self.refused_by_amqp(f"expiration {value}", True, publish)

    def refused_by_amqp(self, what, must_be_refused, work):
        client = Client(self.arena.port, "/")
        status = 200
        try:
            work(client)
        except ClosedByBroker as closed:
            if closed.code == CONNECTION_FORCED:
                raise
            status = closed.code
        finally:
            client.drop()
        self.judge(what, status, 406, must_be_refused)
        self.api.try_request("DELETE", f"/api/queues/{VHOST}/numbers.huge", None)

    def judge(self, what, status, refusal, must_be_refused):
        allowed = (refusal,) if must_be_refused else (refusal, 200, 201, 204)
        if status not in allowed:
            self.arena.faults.append(Fault("huge number", what, f"it was answered with {status} and not {refusal}"))


# --- disappearing clients ------------------------------------------------------------------------------


class Deserted(Workload):
    """Consumers take messages and disappear: closed, reset, or stopped so that deliveries are not read."""
    name = "deserted"
    queues = (Queue("deserted"),)
    lanes = (Lane("deserted", ("deserted",), repeats=True),)

    def actors(self, arena):
        return [Publisher(arena, "deserted", ["deserted"], key="deserted", pause=0.2),
                Deserter(arena, "deserter"), Sleeper(arena, "sleeper")]


def reset(client):
    """The peer receives RST instead of FIN."""
    if client.socket is not None:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.drop()


class Deserter(Actor):
    client = None

    def connect(self):
        pass

    def work(self):
        client = self.client = Client(self.arena.port, "/")
        client.call("basic.qos", 0, self.random.randint(1, 40), False)
        client.call("basic.consume", 0, "deserted", "deserter", False, False, False, False, [])
        client.read_until(lambda: len(client.deliveries) > 3, self.random.uniform(0, 0.3))
        for message in client.deliveries:
            self.ledger.receive("deserted", id_in(message.body))
        (reset if self.random.random() < 0.5 else Client.drop)(client)
        self.moved.set()
        self.pause(0.1)

    def drop(self):
        if self.client is not None:
            self.client.drop()


class Sleeper(Actor):
    """A process that consumes without a prefetch limit and is stopped."""
    process = None

    def connect(self):
        pass

    def work(self):
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "idle_consumer.py"), str(self.arena.port), "deserted"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.process.stdout.readline()
        self.process.send_signal(signal.SIGSTOP)
        end = time.monotonic() + self.random.uniform(0.2, 2)
        while time.monotonic() < end and not (self.arena.over.is_set() or self.arena.doomed.is_set()):
            time.sleep(0.02)
        self.drop()
        self.moved.set()
        self.pause(0.1)
        if self.arena.doomed.is_set():
            raise Lost("the broker is about to end")

    def drop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None


class BlockedPublisher:
    """Publishes without reading until its socket is blocked; then it can disappear."""

    def __init__(self, port, body_bytes=120_000):
        self.client = Client(port, "/")
        self.client.ready()
        method = wire.encode_method("basic.publish", (0, "", "nowhere.at.all", False, False))
        self.data = (wire.frame(wire.FRAME_METHOD, 1, method)
                     + wire.frame(wire.FRAME_HEADER, 1, wire.encode_header(body_bytes, {"delivery-mode": 2}))
                     + b"".join(wire.frame(wire.FRAME_BODY, 1, bytes(min(100_000, body_bytes - start)))
                                for start in range(0, body_bytes, 100_000)))

    def push(self, seconds_max, bytes_max=40_000_000):
        """Returns whether it was blocked."""
        end, sent = time.monotonic() + seconds_max, 0
        self.client.socket.settimeout(LETTING_GO_SECONDS)
        view = memoryview(self.data)
        while time.monotonic() < end and sent < bytes_max:
            try:
                count = self.client.socket.send(view)
            except TimeoutError:
                return True
            except OSError:
                return False
            sent += count
            view = view[count:] or memoryview(self.data)
            time.sleep(0.001)
        return False

    def vanish(self, with_reset):
        reset(self.client) if with_reset else self.client.drop()
