"""Workloads without dead letters: publishing, fanout, consuming, and messages that need not survive a restart."""
from actors import Consumer, Publisher
from ledger import Lane
from workload import Binding, Exchange, Queue, Workload

FAR_AWAY_MS = "3600000"


def sometimes_with_a_distant_end(random):
    return {"expiration": FAR_AWAY_MS} if random.random() < 0.1 else {}


class Plain(Workload):
    """Confirmed messages stay in their queue, in order."""
    name = "plain"
    queues = (Queue("plain"),)
    lanes = (Lane("plain", ("plain",), ordered=("plain",)),)

    def actors(self, arena):
        return [Publisher(arena, f"plain.{number}", ["plain"], key="plain", properties=sometimes_with_a_distant_end)
                for number in range(2)]


class Fanout(Workload):
    """A confirm of a message in three queues applies to all three."""
    name = "fanout"
    names = ("fanout.a", "fanout.b", "fanout.quorum")
    queues = (Queue("fanout.a"), Queue("fanout.b"), Queue("fanout.quorum", {"x-queue-type": "quorum"}))
    exchanges = (Exchange("fanout.out"),)
    bindings = tuple(Binding("fanout.out", name) for name in names)
    lanes = tuple(Lane(name, (name,), ordered=(name,)) for name in names)

    def actors(self, arena):
        return [Publisher(arena, "fanout", list(self.names), exchange="fanout.out")]


class Consumed(Workload):
    """Acked messages may reappear once after a crash; the rest is found, in order."""
    name = "consumed"
    queues = (Queue("consumed"),)
    lanes = (Lane("consumed", ("consumed",), ordered=("consumed",)),)

    def actors(self, arena):
        return [Publisher(arena, "consumed", ["consumed"], key="consumed"),
                Consumer(arena, "consumed.worker", "consumed", "consumed", self.settle)]

    @staticmethod
    def settle(consumer, batch):
        first = batch[:consumer.random.randint(1, len(batch))]
        rest = batch[len(first):]
        consumer.accept(first, multiple=consumer.random.random() < 0.5)
        if rest:
            consumer.accept(rest, multiple=True)


class Ranked(Workload):
    """Priorities survive a restart: higher priorities are delivered first, in order."""
    name = "ranked"
    queues = (Queue("ranked", {"x-max-priority": 5}),)
    lanes = (Lane("ranked", ("ranked",), ordered=("ranked",)),)

    def actors(self, arena):
        return [Publisher(arena, f"ranked.{priority}", ["ranked"], key="ranked", pause=0.15,
                          properties=lambda random, priority=priority: {"priority": priority})
                for priority in (1, 4)]


class Passing(Workload):
    """Transient messages and queues may disappear, but nothing is duplicated; persistent messages stay."""
    name = "passing"
    queues = (Queue("passing.durable"), Queue("passing.transient", durable=False))
    lanes = (Lane("passing.durable", ("passing.durable",), ordered=("passing.durable",)),
             Lane("passing.transient", ("passing.transient",), lossy=True))

    def actors(self, arena):
        return [Publisher(arena, "passing.durable", ["passing.durable"], key="passing.durable",
                          properties=lambda random: {"delivery_mode": random.choice((1, 2))}),
                Publisher(arena, "passing.transient", ["passing.transient"], key="passing.transient", pause=0.1)]
