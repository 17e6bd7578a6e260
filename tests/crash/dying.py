"""Workloads whose messages are dead-lettered for every reason."""
from actors import Consumer, Publisher
from ledger import Lane
from workload import Binding, Exchange, Queue, WithMorgue, Workload, dead_lettering, died_once

LENGTH_MAX = 40


class Rejected(WithMorgue):
    """Rejected one by one or several at a time, a message is either in its queue or dead-lettered."""
    name = "rejected"
    reasons = ("rejected",)
    ordered = ("source",)

    def actors(self, arena):
        return [Publisher(arena, "rejected", ["rejected"], key=self.source),
                Consumer(arena, "rejected.worker", "rejected", self.source, self.settle)]

    @staticmethod
    def settle(consumer, batch):
        accepted = batch[:consumer.random.randint(0, len(batch) // 3)]
        rejected = batch[len(accepted):]
        if accepted:
            consumer.accept(accepted, multiple=True)
        consumer.reject(rejected, multiple=consumer.random.random() < 0.5)


class Expired(WithMorgue):
    """Queue TTL: messages that are due while the broker is down expire after its restart."""
    name = "expired"
    arguments = {"x-message-ttl": 400}
    reasons = ("expired",)
    ordered = ("source", "dead")

    def __init__(self):
        super().__init__()
        self.expiring = (self.source,)

    def actors(self, arena):
        return [Publisher(arena, "expired", ["expired"], key=self.source)]


class ExpiredOneByOne(WithMorgue):
    """Per-message TTL."""
    name = "aged"
    reasons = ("expired",)

    def __init__(self):
        super().__init__()
        self.expiring = (self.source,)

    def actors(self, arena):
        return [Publisher(arena, "aged", ["aged"], key=self.source, pause=0.1,
                          properties=lambda random: {"expiration": str(random.randint(0, 900))})]


class Overflowing(Workload):
    """A short queue drops its head into a second one, which drops into a third."""
    name = "overflowing"
    queues = (Queue("overflowing.1", dead_lettering("overflowing.to.2", max_length=LENGTH_MAX)),
              Queue("overflowing.2", dead_lettering("overflowing.to.3", max_length=LENGTH_MAX)),
              Queue("overflowing.3"))
    exchanges = (Exchange("overflowing.to.2"), Exchange("overflowing.to.3"))
    bindings = (Binding("overflowing.to.2", "overflowing.2"), Binding("overflowing.to.3", "overflowing.3"))
    lanes = (Lane("overflowing", ("overflowing.1", "overflowing.2", "overflowing.3"),
                  {"overflowing.2": died_once("overflowing.1", "maxlen"),
                   "overflowing.3": [(("overflowing.2", "maxlen", 1), ("overflowing.1", "maxlen", 1))]},
                  ordered=("overflowing.1", "overflowing.2", "overflowing.3")),)

    def actors(self, arena):
        return [Publisher(arena, "overflowing", ["overflowing"], key="overflowing.1")]


class Refused(Workload):
    """Messages that a full queue refuses are not stored; messages that it confirms are."""
    name = "refused"
    queues = (Queue("refused", {"x-max-length": LENGTH_MAX, "x-overflow": "reject-publish"}),)
    lanes = (Lane("refused", ("refused",), ordered=("refused",)),)

    def actors(self, arena):
        return [Publisher(arena, "refused", ["refused"], key="refused"),
                Consumer(arena, "refused.worker", "refused", "refused", self.settle, prefetch=10, pause=0.15)]

    @staticmethod
    def settle(consumer, batch):
        consumer.accept(batch, multiple=True)


class RefusedToMorgue(WithMorgue):
    """reject-publish-dlx: refused to the publisher, and dead-lettered."""
    name = "turned-away"
    arguments = {"x-max-length": LENGTH_MAX, "x-overflow": "reject-publish-dlx"}
    reasons = ("maxlen",)
    ordered = ("source",)

    def actors(self, arena):
        return [Publisher(arena, "turned-away", ["turned-away"], key=self.source, pause=0.1),
                Consumer(arena, "turned-away.worker", "turned-away", self.source, Refused.settle, prefetch=10,
                         pause=0.15)]


class RetryHistories:
    """Possible histories of a message that is rejected and returns by expiry repeatedly: it was rejected as often as it
    expired, or once more while it waits."""

    def __init__(self, source, waiting, is_waiting):
        self.rejected, self.expired, self.is_waiting = (source, "rejected"), (waiting, "expired"), is_waiting

    def __contains__(self, deaths):
        counts = {(queue, reason): count for queue, reason, count in deaths}
        rejected, expired = counts.pop(self.rejected, 0), counts.pop(self.expired, 0)
        latest = self.rejected if self.is_waiting else self.expired
        in_order = not deaths or deaths[0][:2] == latest
        return not counts and in_order and rejected == expired + self.is_waiting


class Retried(Workload):
    """The usual retry loop: rejected into a delay queue and expired back, until a consumer accepts it. Counts survive a
    restart."""
    name = "retried"
    queues = (Queue("retried.source", dead_lettering("retried.to.waiting")),
              Queue("retried.waiting", dead_lettering("retried.to.source", message_ttl=150)))
    exchanges = (Exchange("retried.to.waiting"), Exchange("retried.to.source"))
    bindings = (Binding("retried.to.waiting", "retried.waiting"), Binding("retried.to.source", "retried.source"))
    expiring = ("retried.waiting",)
    lanes = (Lane("retried", ("retried.source", "retried.waiting"),
                  {"retried.source": RetryHistories("retried.source", "retried.waiting", is_waiting=False),
                   "retried.waiting": RetryHistories("retried.source", "retried.waiting", is_waiting=True)},
                  repeats=True),)

    def actors(self, arena):
        return [Publisher(arena, "retried", ["retried"], key="retried.source", pause=0.1),
                Consumer(arena, "retried.worker", "retried", "retried.source", self.settle)]

    @staticmethod
    def settle(consumer, batch):
        accepted = batch[:len(batch) // 3]
        if accepted:
            consumer.accept(accepted, multiple=True)
        consumer.reject(batch[len(accepted):], multiple=consumer.random.random() < 0.5)


class Failing(WithMorgue):
    """A quorum queue with a delivery limit. Its dead letters wait in the outbox if the dead-letter queue is full,
    across restarts."""
    name = "failing"
    arguments = {"x-queue-type": "quorum", "x-delivery-limit": 2, "x-overflow": "reject-publish",
                 "x-dead-letter-strategy": "at-least-once"}
    morgue_arguments = {"x-max-length": LENGTH_MAX, "x-overflow": "reject-publish"}
    reasons = ("rejected", "delivery_limit")
    letters = "at-least-once"
    repeats = True

    def __init__(self):
        super().__init__()
        self.letters_wait_in = (self.source,)

    def actors(self, arena):
        return [Publisher(arena, "failing", ["failing"], key=self.source),
                Consumer(arena, "failing.worker", "failing", self.source, self.settle)]

    @staticmethod
    def settle(consumer, batch):
        """Settles multiple deliveries first, so that the command does not include others."""
        accepted = batch[:len(batch) // 3]
        rejected = batch[len(accepted):len(batch) // 2]
        if accepted:
            consumer.accept(accepted, multiple=True)
        if rejected:
            consumer.reject(rejected, multiple=consumer.random.random() < 0.5)
        consumer.put_back(batch[len(accepted) + len(rejected):])
