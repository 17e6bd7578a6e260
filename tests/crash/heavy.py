"""Workloads for chaos in which one command causes much work: long chains, large keys, many deaths at the same time."""
import time

from actors import Actor, Consumer, Publisher
from brokers_to_crash import Client, Lost
from checker import Fault
from definitions import PoliciesChange
from ledger import EMPTY, Certainty, Lane, Publication, body_of, id_in
from workload import Binding, Exchange, Queue, WithMorgue, Workload, dead_lettering, died_once

ANSWER_SECONDS_MAX = 20
SHORT_STRING_MAX = 255
PUBLISHES_BETWEEN_READS = 50
CYCLES_MAX = 8
REST_SECONDS = 0.1
LOAD_BYTES = 1_000_000  # Maximum for all keys of messages that are due or dead-lettered at the same time.


def junk_keys(random, bytes_max):
    """Routing keys without a route, with this many bytes in total."""
    size = random.randint(0, bytes_max)
    return [f"nowhere.{number}.".ljust(SHORT_STRING_MAX, "x") for number in range(size // SHORT_STRING_MAX)]


class Addressed(Workload):
    """One message for several queues by CC and BCC, among many keys without a route."""
    name = "addressed"
    names = ("addressed.to", "addressed.cc", "addressed.bcc")
    queues = (Queue("addressed.to"), Queue("addressed.cc", {"x-queue-type": "quorum"}), Queue("addressed.bcc"))
    lanes = tuple(Lane(name, (name,), ordered=(name,)) for name in names)

    def actors(self, arena):
        return [Publisher(arena, "addressed", list(self.names), key="addressed.to", pause=0.1, burst=6,
                          properties=lambda random: {"headers": {
                              "CC": ["addressed.cc", *junk_keys(random, 20_000)],
                              "BCC": [*junk_keys(random, 20_000), "addressed.bcc"]}})]


class Chain(Workload):
    """Each queue dead-letters into the next immediately, and the history of a message with many keys grows at every
    hop."""
    name = "chain"
    length = 30
    names = tuple(f"chain.{number:02}" for number in range(length))
    end = "chain.end"

    def __init__(self):
        self.queues = (*(Queue(name, dead_lettering(f"{name}.dlx", message_ttl=0 if number % 5 else 15))
                         for number, name in enumerate(self.names)), Queue(self.end))
        self.exchanges = tuple(Exchange(f"{name}.dlx") for name in self.names)
        following = (*self.names[1:], self.end)
        self.bindings = tuple(Binding(f"{name}.dlx", target) for name, target in zip(self.names, following))
        deaths = [tuple((name, "expired", 1) for name in reversed(self.names[:count]))
                  for count in range(self.length + 1)]
        self.lanes = (Lane("chain", (*self.names, self.end),
                           {queue: [deaths[place]] for place, queue in enumerate((*self.names, self.end))}),)
        self.expiring = self.names

    def actors(self, arena):
        return [Publisher(arena, "chain", ["chain"], key=self.names[0], pause=0.6, burst=2, window=20,
                          properties=lambda random: {"headers": {"CC": junk_keys(random, 40_000)}})]


class Cycle(Workload):
    """Two queues dead-letter into each other: in the second pass, a message is dropped there and kept elsewhere."""
    name = "cycle"
    queues = (Queue("cycle.a", dead_lettering("cycle.to.b", message_ttl=30)),
              Queue("cycle.b", dead_lettering("cycle.on", message_ttl=30)), Queue("cycle.end"))
    exchanges = (Exchange("cycle.to.b"), Exchange("cycle.on"))
    bindings = (Binding("cycle.to.b", "cycle.b"), Binding("cycle.on", "cycle.a"), Binding("cycle.on", "cycle.end"))
    lanes = (Lane("cycle", ("cycle.a", "cycle.b", "cycle.end"),
                  {"cycle.b": died_once("cycle.a", "expired"),
                   "cycle.end": [(("cycle.b", "expired", 1), ("cycle.a", "expired", 1))]}),)
    expiring = ("cycle.a", "cycle.b")

    def actors(self, arena):
        return [Publisher(arena, "cycle", ["cycle"], key="cycle.a", pause=0.1)]


class Large(Workload):
    """Bodies from 0 bytes to 300 kB, consumed one by one."""
    name = "large"
    queues = (Queue("large"), Queue("large.quorum", {"x-queue-type": "quorum"}))
    lanes = (Lane("large", ("large",), repeats=True), Lane("large.quorum", ("large.quorum",), ordered=("large.quorum",)))

    def actors(self, arena):
        return [LargePublisher(arena, "large", ["large"], key="large", pause=0.3, burst=4, window=20),
                LargePublisher(arena, "large.quorum", ["large.quorum"], key="large.quorum", pause=0.3, burst=3, window=20),
                Publisher(arena, EMPTY, ["large"], key="large", pause=0.2, burst=4),
                Consumer(arena, "large.worker", "large", "large", self.settle, prefetch=7)]

    @staticmethod
    def settle(consumer, batch):
        if consumer.random.random() < 0.2:
            consumer.put_back(batch)
        else:
            consumer.accept(batch, multiple=False)


class LargePublisher(Publisher):
    def size(self):
        return self.random.randint(0, 300_000)


class Topics(Workload):
    """Every message matches the bindings for its key, while other bindings change."""
    name = "topics"
    patterns = {"topics.all": "t.#", "topics.tail": "#.end", "topics.middle": "t.*.x.#", "topics.two": "#.x.#"}
    keys = {"t": ("topics.all",), "t.end": ("topics.all", "topics.tail"),
            "t.1.x.2.3": ("topics.all", "topics.middle", "topics.two"),
            "t.1.x.end": ("topics.all", "topics.tail", "topics.middle", "topics.two"),
            "t." + "w." * 40 + "end": ("topics.all", "topics.tail")}
    queues = tuple(Queue(name) for name in patterns)
    exchanges = (Exchange("topics.hub", "topic"),)
    bindings = tuple(Binding("topics.hub", name, key) for name, key in patterns.items())
    lanes = tuple(Lane(name, (name,), ordered=(name,)) for name in patterns)

    def actors(self, arena):
        return [TopicPublisher(arena, "topics", [], exchange="topics.hub", pause=0.1), Binder(arena, "topics.binder")]


class TopicPublisher(Publisher):
    def address(self):
        key = self.random.choice(list(Topics.keys))
        return list(Topics.keys[key]), self.exchange, key


class ClientActor(Actor):
    """Uses the test's own client, which can send frames that libraries would not."""
    cycles = 0

    def connect(self):
        self.client = Client(self.arena.port, "/")
        self.client.ready()

    def leave(self):
        self.client.close()

    def drop(self):
        if hasattr(self, "client"):
            self.client.drop()

    def publish_all(self, ids, exchange, key, size_of, headers_of):
        """Returns when all messages are confirmed or refused."""
        client = self.client
        client.ready()
        if not client.confirming:
            client.call("confirm.select", False)
            client.confirming = True
        first = client.published + 1
        open_tags = dict(enumerate(ids, first))
        for id in ids:
            headers = [("mark", "S", id), *headers_of(id)]
            client.publish(exchange, key, body_of(id, size_of(id)),
                           {"headers": headers, "delivery-mode": 2, "message-id": id})
            self.take_answers(open_tags)
        while open_tags:
            if not client.read_until(lambda: client.events, ANSWER_SECONDS_MAX):
                raise Lost(f"{len(open_tags)} of {len(ids)} publishes were not answered in {ANSWER_SECONDS_MAX} s")
            self.take_answers(open_tags)

    def take_answers(self, open_tags):
        if self.client.published % PUBLISHES_BETWEEN_READS == 0:
            self.client.read_what_is_there()
        while self.client.events:
            name, (tag, *rest) = self.client.events.popleft()
            publication = Publication.CONFIRMED if name == "basic.ack" else Publication.REFUSED
            tags = [open_tag for open_tag in open_tags if open_tag <= tag] if rest[0] else [tag]
            for answered in tags:
                self.ledger.answer(open_tags.pop(answered), publication)

    def has_done_enough(self):
        """Published messages stay until the end of the round, so the number is limited."""
        self.cycles += 1
        if self.cycles <= CYCLES_MAX:
            return False
        self.client.call("basic.qos", 0, 0, False)
        self.moved.set()
        time.sleep(REST_SECONDS)
        return True

    def new_ids(self, count, lanes, size=0):
        ids = []
        for _ in range(count):
            self.number = getattr(self, "number", 0) + 1
            id = self.ledger.new_id(self.name, self.number)
            self.ledger.publish(id, lanes, size)
            ids.append(id)
        return ids


class Binder(ClientActor):
    """Bindings that match nothing are added and removed, some with more wildcards than allowed."""

    def work(self):
        words = [self.random.choice(("#", "*", "never", "w")) for _ in range(self.random.randint(2, 30))]
        key = ".".join(("nowhere", *words))
        queue = self.random.choice(list(Topics.patterns))
        try:
            self.client.call("queue.bind", 0, queue, "topics.hub", key, False, [])
            self.client.call("queue.unbind", 0, queue, "topics.hub", key, [])
        except Exception as error:
            if getattr(error, "code", 0) != 406 or key.split(".").count("#") <= 2:
                raise
        self.moved.set()
        self.pause(0.05)


class DueAtOnce(WithMorgue):
    """Many messages are due at the same time. From then on, none of them is fetched or counted."""
    name = "due"
    ttl_ms = 300
    arguments = {"x-message-ttl": ttl_ms}
    reasons = ("expired",)

    def __init__(self):
        super().__init__()
        self.expiring = (self.source,)

    def actors(self, arena):
        return [DuePublisher(arena, self)]


class DuePublisher(ClientActor):
    def __init__(self, arena, workload):
        super().__init__(arena, "due")
        self.workload = workload

    def work(self):
        if self.has_done_enough():
            return
        source = self.workload.source
        ids = self.new_ids(self.random.choice((20, 100, 400)), ["due"])
        keys = [("S", key) for key in junk_keys(self.random, LOAD_BYTES // len(ids))]
        self.publish_all(ids, "", source, lambda id: 0, lambda id: [("CC", "A", keys)])
        self.moved.set()
        time.sleep(self.workload.ttl_ms / 1000 + 0.01)
        ready = self.client.call("queue.declare", 0, source, True, False, False, False, False, [])[1]
        if ready:
            self.arena.faults.append(Fault("due but ready", source, f"{ready} messages are counted, "
                                           f"{self.workload.ttl_ms} ms after the last was confirmed"))
        message = self.client.get(source, no_ack=False)
        if message is not None:
            self.arena.faults.append(Fault("due but delivered", source, f"basic.get brought {id_in(message.body)}"))


class DeathOfMany(WithMorgue):
    """Hundreds of deliveries are settled by one command, or requeued because their channel is closed."""
    name = "mass"
    reasons = ("rejected",)
    repeats = True

    def actors(self, arena):
        return [Crowd(arena, self)]


class Crowd(ClientActor):
    def __init__(self, arena, workload):
        super().__init__(arena, "mass")
        self.workload = workload

    def work(self):
        if self.has_done_enough():
            return
        ids = self.new_ids(self.random.choice((20, 100, 400)), ["mass"], 100)
        keys = [("S", key) for key in junk_keys(self.random, LOAD_BYTES // len(ids))]
        self.publish_all(ids, "", self.workload.source, lambda id: 100, lambda id: [("CC", "A", keys)])
        self.client.call("basic.consume", 0, self.workload.source, "crowd", False, False, False, False, [])
        self.client.read_until(lambda: len(self.client.deliveries) >= len(ids), ANSWER_SECONDS_MAX)
        self.client.call("basic.cancel", "crowd", False)
        taken = list(self.client.deliveries)
        self.client.deliveries.clear()
        for message in taken:
            self.ledger.receive("mass", id_in(message.body))
        if taken:
            self.settle([id_in(message.body) for message in taken], taken[-1].values[1])
        self.moved.set()
        self.pause(0.2)

    def settle(self, ids, last_tag):
        kind = self.random.random()
        if kind < 0.3:
            self.client.close_channel()
        elif kind < 0.5:
            self.ledger.remove("mass", ids, Certainty.WISHED)
            self.client.send("basic.ack", last_tag, True)
            self.client.call("basic.qos", 0, 0, False)
            self.ledger.remove("mass", ids, Certainty.DONE)
        else:
            self.ledger.reject("mass", ids, Certainty.WISHED)
            self.client.send("basic.nack", last_tag, True, False)
            self.client.call("basic.qos", 0, 0, False)
            self.ledger.reject("mass", ids, Certainty.DONE)


class Purged(Workload):
    """Purged messages are removed permanently; later messages stay."""
    name = "purged"
    queues = (Queue("purged"),)
    lanes = (Lane("purged", ("purged",), ordered=("purged",)),)

    def actors(self, arena):
        return [Purger(arena, self)]

    def begin(self, ledger, api):
        super().begin(ledger, api)
        self.inhabitants = []  # All messages that may be in the queue.


class Purger(ClientActor):
    def __init__(self, arena, workload):
        super().__init__(arena, "purged")
        self.workload = workload

    def work(self):
        size = self.random.randint(0, 20_000)
        ids = self.new_ids(self.random.randint(1, 40), ["purged"], size)
        self.workload.inhabitants += ids
        self.publish_all(ids, "", "purged", lambda id: size, lambda id: [])
        if self.random.random() < 0.4:
            self.ledger.remove("purged", self.workload.inhabitants, Certainty.WISHED)
            self.client.call("queue.purge", 0, "purged", False)
            self.ledger.remove("purged", self.workload.inhabitants, Certainty.PROMISED)
            self.workload.inhabitants = []
        self.moved.set()
        self.pause(0.15)


class TimesChange(PoliciesChange):
    """Policies set and clear TTLs and limits; messages that die of them are in the dead-letter queue. The dead-letter
    exchange is a queue argument, because a message keeps its TTL when the policy is cleared."""
    name = "timed"
    queues = (Queue("timed.source", dead_lettering("timed.dlx")), Queue("timed.dead"))
    exchanges = (Exchange("timed.dlx"),)
    bindings = (Binding("timed.dlx", "timed.dead"),)
    lanes = (Lane("timed", ("timed.source", "timed.dead"),
                  {"timed.dead": died_once("timed.source", "expired", "maxlen")}),)
    choices = (None, {"message-ttl": 100}, {"message-ttl": 3_600_000, "expires": 3_600_000}, {"message-ttl": 0},
               {"expires": 7_200_000, "max-length": 10}, {"max-length-bytes": 3_000})
