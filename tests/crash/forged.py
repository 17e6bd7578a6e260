"""Bodies full of bytes that look like journal batches for their position, batches torn by a crash, and bodies damaged
by the disk. None of them ends a broker or prevents its startup."""
import hashlib
import os
import time

from actors import Actor
from brokers_to_crash import Client, Lost
from checker import Fault
from journal_files import ALIGNMENT, HEADER, MAGIC, Tail, directory_of, forged_batch
from ledger import body_of
from vhosts import QUEUE, delete_vhost, make_empty_vhost
from workload import Workload

ANSWER_SECONDS_MAX = 20
SILENCE_SECONDS_MAX = 2
FORGED_BYTES_MAX = 300_000
SEGMENT_BYTES, FILLER_BYTES = 16 * 1024 * 1024, 200_000
UNANSWERED_SECONDS_MAX = 0.15
OFFSET_GUESSED = 100


def publish(client, id, body):
    if not client.confirming:
        client.call("confirm.select", False)
        client.confirming = True
    client.publish("", QUEUE, body, {"headers": [("digest", "S", digest_of(body))], "delivery-mode": 2,
                                     "message-id": id})


def await_confirm(client):
    if not client.read_until(lambda: client.events and client.events[-1][1][0] >= client.published, ANSWER_SECONDS_MAX):
        raise Lost(f"not everything was confirmed in {ANSWER_SECONDS_MAX} s")
    client.events.clear()


def digest_of(body):
    return hashlib.sha1(body).hexdigest()


def take_all(port, vhost):
    """Empties the queue and returns the ids; None for a damaged message."""
    client = Client(port, vhost)
    count = client.call("queue.declare", 0, QUEUE, True, False, False, False, False, [])[1]
    client.call("tx.select")
    client.call("basic.consume", 0, QUEUE, "look", False, False, False, False, [])
    seen = -1
    while seen < len(client.deliveries) < count:  # Until nothing has arrived for a while.
        seen = len(client.deliveries)
        client.read_until(lambda: len(client.deliveries) >= min(count, seen + 1), SILENCE_SECONDS_MAX)
    ids = []
    for message in client.deliveries:
        properties = dict(message.properties)
        digest = {name: value for name, _, value in properties.get("headers", [])}.get("digest")
        ids.append(properties.get("message-id") if digest == digest_of(message.body) else None)
    if client.deliveries:
        client.send("basic.ack", client.deliveries[-1].values[1], True)
        client.call("tx.commit")
    client.drop()
    return ids


# --- forged batches ------------------------------------------------------------------------------------


class Forged(Workload):
    name = "forged"
    vhost = "forged"

    def set_up(self, stage):
        self.sent, self.confirmed = [], []
        self.offset = OFFSET_GUESSED  # Distance from the end of the journal to the next published body.
        make_empty_vhost(stage.broker, self.vhost)

    def actors(self, arena):
        return [Forger(arena, self)]

    def tamper(self, stage, ending):
        """If no reply depended on the last batch, a crash of the machine could have torn it."""
        directory = directory_of(stage.broker.data_outside, self.vhost)
        if ending != "kill" or directory is None:
            return
        tail = Tail(directory)
        batch = tail.last_batch()
        unanswered = [id for id in self.sent if id not in self.confirmed]
        if not tail.is_replayed() or not any(id.encode() in batch for id in unanswered):
            return
        if any(id.encode() + b" " in batch for id in self.confirmed):
            return
        kind = tail.tear(stage.random)
        stage.story.tell(f"of the last batch of {self.vhost}, {len(batch)} bytes, it left {kind}")

    def audit(self, stage):
        found = take_all(stage.broker.port, self.vhost)
        if None in found:
            yield Fault("damaged", self.vhost, f"{found.count(None)} messages that nobody published")
        missing = [id for id in self.confirmed if id not in found]
        if missing:
            yield Fault("lost", self.vhost, f"{len(missing)} of {len(self.confirmed)} confirmed, such as {missing[0]}")
        strangers = [id for id in found if id not in self.sent]
        if strangers or len(found) != len(set(found)):
            yield Fault("double", self.vhost, f"{len(strangers)} strangers among {len(found)} messages")
        self.sent, self.confirmed = [], []

    def finish(self, stage):
        yield from self.audit(stage)


class Forger(Actor):
    """Reads the journal to know its position, which a real client could not."""

    def __init__(self, arena, workload):
        super().__init__(arena, "forger")
        self.workload = workload
        self.number = 0

    def connect(self):
        self.client = Client(self.arena.port, self.workload.vhost)
        self.client.ready()

    def drop(self):
        if hasattr(self, "client"):
            self.client.drop()

    def work(self):
        directory = directory_of(self.arena.data, self.workload.vhost)
        tail = Tail(directory)
        self.number += 1
        id = self.ledger.new_id("forger", self.number)
        body = self.forge(id, tail)
        self.workload.sent.append(id)
        publish(self.client, id, body)
        # Usually no reply depends on the last batch: a reply that is not read does not count.
        self.pause(UNANSWERED_SECONDS_MAX)
        if self.arena.doomed.is_set():
            raise Lost("the broker is about to end")
        await_confirm(self.client)
        self.workload.confirmed.append(id)
        self.learn(directory, tail, id)
        self.moved.set()

    def forge(self, id, tail):
        """Mostly for the expected position of the body, with some around it."""
        head = f"{id} ".encode()
        at = tail.end_lsn + self.workload.offset + len(head)
        pieces = [head, bytes(-at % ALIGNMENT)]
        at += -at % ALIGNMENT
        for _ in range(self.random.randint(HEADER.size, FORGED_BYTES_MAX) // HEADER.size):
            wrong_by = self.random.choice((-16, -8, 8, 16)) if self.random.random() < 0.1 else 0
            magic = b"RVB2" if self.random.random() < 0.02 else MAGIC
            secret = self.random.getrandbits(32) if self.random.random() < 0.2 else 0
            pieces.append(forged_batch(at + wrong_by, tail.epoch, magic, secret))
            at += HEADER.size
        return b"".join(pieces)

    def learn(self, directory, before, id):
        """Learns the actual position for the next time."""
        after = Tail(directory)
        if after.path == before.path:
            place = after.data.find(f"{id} ".encode(), before.end)
            if place >= 0:
                self.workload.offset = place - before.end


# --- damaged bodies ------------------------------------------------------------------------------------


class Damaged(Workload):
    """The disk returns a body with a flipped bit. That message is parked; the others are delivered, and the broker
    continues."""
    name = "damaged"
    vhost = "damaged"
    count, size = 12, 60_000
    victim = None

    def set_up(self, stage):
        self.victim = None
        make_empty_vhost(stage.broker, self.vhost)
        self.ids = [f"{stage.number}/damaged/0/{number}" for number in range(self.count)]
        client = Client(stage.broker.port, self.vhost)
        for id in self.ids:
            publish(client, id, body_of(id, self.size))
        await_confirm(client)
        # Startup reads the last segment, so the messages are in an earlier one.
        client.call("queue.declare", 0, "filler", False, True, False, False, False, [])
        for _ in range(SEGMENT_BYTES // FILLER_BYTES + 2):
            client.publish("", "filler", bytes(FILLER_BYTES), {"delivery-mode": 2})
        await_confirm(client)
        client.close()

    def actors(self, arena):
        return []

    def tamper(self, stage, ending):
        """Only after a clean stop with a snapshot, because startup then does not read the bodies."""
        directory = directory_of(stage.broker.data_outside, self.vhost)
        if ending != "term" or self.victim is not None or directory is None or Tail(directory).is_replayed():
            return
        victim = stage.random.choice(self.ids)
        beginning = f"{victim} {self.size} ".encode()
        for name in os.listdir(directory):
            path = os.path.join(directory, name)
            if not os.path.isfile(path):
                continue
            with open(path, "r+b") as file:
                place = file.read().find(beginning)
                if place >= 0:
                    self.victim = victim
                    file.seek(place + len(beginning) + self.size // 2)
                    file.write(b"\x00")
        stage.story.tell(f"a byte of {victim} was changed on the disk")

    def finish(self, stage):
        try:
            yield from self.judge(take_all(stage.broker.port, self.vhost))
        except Lost as lost:
            time.sleep(0.2)
            if stage.broker.alive():
                raise
            yield Fault("broker died", self.vhost, f"when {self.victim} was read: {lost}")
            stage.restart()
        delete_vhost(stage.broker, self.vhost)

    def judge(self, found):
        missing = [id for id in self.ids if id not in found and id != self.victim]
        if missing:
            yield Fault("lost", self.vhost, f"{len(missing)} messages beside the damaged {self.victim}")
        if None in found:
            yield Fault("damaged", self.vhost, f"{self.victim} was delivered as it is on the disk")
