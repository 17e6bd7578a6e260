"""Workloads for chaos with many messages in one queue: their disk space is freed when they are consumed, and they are
not all loaded into memory at the same time."""
import os
import time

from actors import Actor
from brokers_to_crash import Client, Lost, wire
from checker import Fault
from journal_files import bytes_in, directory_of
from ledger import body_of, id_in
from vhosts import QUEUE, delete_vhost, make_empty_vhost
from workload import Workload

ANSWER_SECONDS_MAX = 20
LOOK_SECONDS = 0.1


def await_confirms(client, count):
    """An ack also covers all earlier messages, because they become durable in order."""
    seen = lambda: client.events and client.events[-1][1][0] >= count
    if not client.read_until(seen, ANSWER_SECONDS_MAX):
        raise Lost(f"{count} publishes were not confirmed in {ANSWER_SECONDS_MAX} s")


def depth_of(broker, vhost):
    client = Client(broker.port, vhost)
    count = client.call("queue.declare", 0, QUEUE, True, False, False, False, False, [])[1]
    client.close()
    return count


class Space(Workload):
    """Disk space of consumed messages is freed although nothing else is written."""
    name = "space"
    vhost = "space"
    count, size = 400, 100_000
    left_bytes_max = 20_000_000
    idle_seconds = 3  # Enough for a snapshot; later writes are too few for the next one.
    seconds_max = 12

    def set_up(self, stage):
        make_empty_vhost(stage.broker, self.vhost)
        client = Client(stage.broker.port, self.vhost)
        client.call("confirm.select", False)
        self.ids = [f"{stage.number}/space/0/{number}" for number in range(self.count)]
        for id in self.ids:
            client.publish("", QUEUE, body_of(id, self.size), {"delivery-mode": 2})
        await_confirms(client, self.count)
        client.close()

    def actors(self, arena):
        return []

    def finish(self, stage):
        time.sleep(self.idle_seconds)
        client = Client(stage.broker.port, self.vhost)
        client.call("basic.consume", 0, QUEUE, "all", False, False, False, False, [])
        client.read_until(lambda: len(client.deliveries) >= self.count, ANSWER_SECONDS_MAX)
        found = [id_in(message.body) for message in client.deliveries]
        if sorted(map(str, found)) != sorted(self.ids):
            yield Fault("lost", self.vhost, f"{len(set(self.ids) - set(found))} of {self.count} messages")
        client.send("basic.ack", 0, True)
        client.close()
        yield from self.wait_for_room(stage)
        delete_vhost(stage.broker, self.vhost)

    def wait_for_room(self, stage):
        directory = directory_of(stage.broker.data_outside, self.vhost)
        end = time.monotonic() + self.seconds_max
        while (left := bytes_in(directory)) > self.left_bytes_max and time.monotonic() < end:
            time.sleep(LOOK_SECONDS)
        if left > self.left_bytes_max:
            yield Fault("space kept", self.vhost, f"{left} bytes stay {self.seconds_max} s after everything was acked: "
                                                  + ", ".join(sorted(os.listdir(directory))))


class Deep(Workload):
    """Many small messages, and a consumer without a prefetch limit while the disk is full, with deliveries after a
    reply that waits."""
    name = "deep"
    vhost = "deep"
    count = 150_000

    def set_up(self, stage):
        make_empty_vhost(stage.broker, self.vhost)
        client = Client(stage.broker.port, self.vhost)
        client.call("confirm.select", False)
        method = wire.encode_method("basic.publish", (0, "", QUEUE, False, False))
        message = (wire.frame(wire.FRAME_METHOD, 1, method)
                   + wire.frame(wire.FRAME_HEADER, 1, wire.encode_header(4, {"delivery-mode": 2}))
                   + wire.frame(wire.FRAME_BODY, 1, b"deep"))
        portion = 1000
        for _ in range(self.count // portion):
            client.write(message * portion)
        await_confirms(client, self.count)
        client.close()

    def actors(self, arena):
        return [DeepConsumer(arena, self)]

    def audit(self, stage):
        found = depth_of(stage.broker, self.vhost)
        if found != self.count:
            yield Fault("lost", self.vhost, f"it has {found} messages and not {self.count}")

    def finish(self, stage):
        end = time.monotonic() + ANSWER_SECONDS_MAX
        while depth_of(stage.broker, self.vhost) < self.count and time.monotonic() < end:
            time.sleep(LOOK_SECONDS)
        yield from self.audit(stage)
        delete_vhost(stage.broker, self.vhost)


class DeepConsumer(Actor):
    client = None

    def __init__(self, arena, workload):
        super().__init__(arena, "deep")
        self.workload = workload

    def connect(self):
        self.client = Client(self.arena.port, self.workload.vhost)
        self.client.ready()

    def work(self):
        self.moved.set()
        if self.arena.doomed.is_set():
            raise Lost("the broker is about to end")
        if not self.arena.disk_full.is_set():
            time.sleep(LOOK_SECONDS)
            return
        client = self.client
        client.ready()
        client.send("queue.bind", 0, QUEUE, "amq.fanout", f"key{self.random.random()}", True, [])
        client.send("basic.consume", 0, QUEUE, "deep", False, False, False, True, [])
        end = time.monotonic() + self.random.uniform(0.5, 2)
        while time.monotonic() < end and not self.arena.doomed.is_set():
            client.socket.settimeout(LOOK_SECONDS)
            try:
                if not client.socket.recv(20_000):
                    raise Lost("the connection was closed")
            except TimeoutError:
                pass
            time.sleep(0.01)
        client.drop()

    def drop(self):
        if self.client is not None:
            self.client.drop()
