"""A virtual host that is deleted and created again under load. Each incarnation begins empty, and its confirmed
messages are found after a restart, whatever the previous one left."""
import threading

from actors import Actor
from brokers_to_crash import Api, Client, ClosedByBroker, Lost, segment, wire
from checker import Fault
from ledger import body_of, id_in
from vhosts import NO_ROOM, QUEUE, make_vhost
from workload import Workload

ANSWER_SECONDS_MAX = 20
LOAD_BODIES = (20_000, 100_000, 200_000)
LOAD_BYTES_MAX = 12_000_000
MORE_SECONDS = 0.05


class Life:
    """One incarnation of a virtual host, as known to clients."""

    def __init__(self):
        self.exists = None  # True or False once it was replied.
        self.queue = False  # Whether the declaration of its queue was replied.
        self.sent, self.confirmed = [], []


class VhostsComeAndGo(Workload):
    name = "churn"
    names = ("churn.a", "churn.b")

    def begin(self, ledger, api):
        super().begin(ledger, api)
        self.lives = {name: Life() for name in self.names}
        self.number = 0
        for name in self.names:
            api.request("DELETE", f"/api/vhosts/{segment(name)}")
            self.lives[name].exists = False

    def actors(self, arena):
        return [Churner(arena, self, name) for name in self.names]

    def audit(self, stage):
        api = Api(stage.broker.http_port)
        _, listing = api.request("GET", "/api/vhosts")
        api.close()
        there = {vhost["name"] for vhost in listing}
        for name, life in self.lives.items():
            yield from self.audit_one(stage, name, life, name in there)

    def finish(self, stage):
        yield from self.audit(stage)

    @staticmethod
    def audit_one(stage, name, life, exists):
        if life.exists is not None and life.exists != exists:
            yield Fault("virtual host", name, f"it is {'there' if exists else 'gone'}")
        life.exists = life.exists and exists
        if not exists:
            return
        found = everything_in(stage.broker.port, name)
        if found is None:
            if life.queue:
                yield Fault("definition lost", name, "its queue is gone")
            return
        strangers = [id for id in found if id not in life.sent]
        missing = [id for id in life.confirmed if id not in found]
        if strangers:
            yield Fault("stranger", name, f"{len(strangers)} messages of an earlier life, such as {strangers[0]}")
        if missing and life.exists:
            yield Fault("lost", name, f"{len(missing)} of {len(life.confirmed)} confirmed, such as {missing[0]}")
        if len(set(found)) != len(found):
            yield Fault("double", name, f"{len(found) - len(set(found))} messages are there twice")


def everything_in(port, vhost):
    """The ids in the queue of a virtual host; empty if there is no such queue. They are not removed."""
    client = Client(port, vhost)
    try:
        count = client.call("queue.declare", 0, QUEUE, True, False, False, False, False, [])[1]
        client.call("basic.consume", 0, QUEUE, "look", False, False, False, False, [])
        client.read_until(lambda: len(client.deliveries) >= count, ANSWER_SECONDS_MAX)
        client.read_until(lambda: False, MORE_SECONDS)  # Detects messages beyond the count.
        return [id_in(message.body) for message in client.deliveries]
    except ClosedByBroker as closed:
        if closed.code != 404:
            raise
        return None
    finally:
        client.drop()


class Load(threading.Thread):
    """Publishes to a virtual host until it is deleted."""

    def __init__(self, port, vhost, random):
        super().__init__(daemon=True)
        self.client = Client(port, vhost)
        self.client.ready()
        size = random.choice(LOAD_BODIES)
        # These messages have their own queue and are not counted.
        self.client.call("queue.declare", 0, "load", False, True, False, False, False, [])
        self.message = self.encoded(body_of("0/load/0/0", size))
        self.sent = 0

    @staticmethod
    def encoded(body):
        method = wire.encode_method("basic.publish", (0, "", "load", False, False))
        return (wire.frame(wire.FRAME_METHOD, 1, method)
                + wire.frame(wire.FRAME_HEADER, 1, wire.encode_header(len(body), {"delivery-mode": 2}))
                + b"".join(wire.frame(wire.FRAME_BODY, 1, body[start:start + 100_000])
                           for start in range(0, len(body), 100_000)))

    def run(self):
        try:
            self.client.socket.settimeout(ANSWER_SECONDS_MAX)
            while self.sent < LOAD_BYTES_MAX:
                self.client.socket.sendall(self.message)
                self.sent += len(self.message)
        except OSError:
            pass
        finally:
            self.client.drop()


class Churner(Actor):
    def __init__(self, arena, workload, vhost):
        super().__init__(arena, vhost)
        self.workload, self.vhost = workload, vhost

    def connect(self):
        self.api = Api(self.arena.http_port)

    def drop(self):
        if hasattr(self, "api"):
            self.api.close()

    def work(self):
        life = self.workload.lives[self.vhost]
        if life.exists is not True:
            life = self.make()
        if life is None:  # The disk was full.
            self.pause(0.1)
            return
        self.publish(life, self.random.randint(1, 3))
        if self.random.random() < 0.6:
            loads = [Load(self.arena.port, self.vhost, self.random) for _ in range(self.random.randint(1, 2))]
            for load in loads:
                load.start()
            self.pause(0.1)
            self.delete(life)
            for load in loads:
                load.join(ANSWER_SECONDS_MAX)
        self.moved.set()
        self.pause(0.1)

    def make(self):
        """Without a reply, the state of an incarnation is unknown; afterwards nothing of it is left."""
        before = self.workload.lives[self.vhost]
        if before.exists is None:
            self.delete(before)
            if before.exists is not False:
                return None
        life = self.workload.lives[self.vhost] = Life()
        life.exists = make_vhost(self.api, self.vhost)
        return life if life.exists else None

    def delete(self, life):
        before, life.exists = life.exists, None
        status, answer = self.api.try_request("DELETE", f"/api/vhosts/{segment(self.vhost)}", None)
        if status in (204, 404):
            life.exists = False
        elif NO_ROOM in str(answer):
            life.exists = before
        else:
            raise Lost(f"DELETE of {self.vhost} was answered with {status} {answer}")

    def publish(self, life, count):
        client = Client(self.arena.port, self.vhost)
        try:
            client.call("queue.declare", 0, QUEUE, False, True, False, False, False, [])
            life.queue = True
            client.call("confirm.select", False)
            for _ in range(count):
                self.workload.number += 1
                id = f"{self.ledger.round}/{self.vhost}/0/{self.workload.number}"
                life.sent.append(id)
                client.publish("", QUEUE, body_of(id, self.random.randint(0, 30_000)), {"delivery-mode": 2})
                if not client.read_until(lambda: client.events, ANSWER_SECONDS_MAX):
                    raise Lost(f"a publish into {self.vhost} was not confirmed in {ANSWER_SECONDS_MAX} s")
                name, _ = client.events.popleft()
                if name == "basic.ack":
                    life.confirmed.append(id)
        finally:
            client.drop()
