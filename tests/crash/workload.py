"""The common parts of workloads: definitions, lanes, actors, and checks after the restart."""
import dataclasses

from ledger import Lane


@dataclasses.dataclass(frozen=True)
class Queue:
    name: str
    arguments: dict = dataclasses.field(default_factory=dict)
    durable: bool = True


@dataclasses.dataclass(frozen=True)
class Exchange:
    name: str
    kind: str = "fanout"


@dataclasses.dataclass(frozen=True)
class Binding:
    exchange: str
    queue: str
    key: str = ""


class Workload:
    """One way to use a broker. It exists for the whole test; begin() starts a round."""

    queues = ()
    exchanges = ()
    bindings = ()
    lanes = ()
    expiring = ()  # Queues that empty by expiry: they are waited for, not drained.
    letters_wait_in = ()  # Queues whose dead letters may wait in the outbox until their targets have space.

    def begin(self, ledger, api):
        for lane in self.lanes:
            ledger.add_lane(lane)

    def actors(self, arena):
        raise NotImplementedError

    def check(self, definitions):
        """Faults that only this workload can detect. The definitions are those after the restart."""
        return ()

    # --- for chaos only --------------------------------------------------------------------------------

    def set_up(self, stage):
        """Called when a round begins, after the broker is ready."""

    def tamper(self, stage, ending):
        """Called after the broker has ended, before it starts again."""

    def audit(self, stage):
        """Faults found after a restart, before the traffic begins."""
        return ()

    def finish(self, stage):
        """Faults found at the end of a round, when all actors have left."""
        return ()


def died_once(source, *reasons):
    return [((source, reason, 1),) for reason in reasons]


def dead_lettering(exchange, **arguments):
    """Queue arguments, prefixed with x- and with dashes for underscores."""
    return {"x-dead-letter-exchange": exchange,
            **{f"x-{name.replace('_', '-')}": value for name, value in arguments.items()}}


class WithMorgue(Workload):
    """A queue with its own dead-letter queue."""

    name = ""
    arguments = {}
    reasons = ()
    ordered = ()
    letters = "at-most-once"
    repeats = False
    morgue_arguments = {}

    def __init__(self):
        source, exchange, morgue = f"{self.name}.source", f"{self.name}.dlx", f"{self.name}.dead"
        self.source, self.morgue = source, morgue
        self.queues = (Queue(source, {"x-dead-letter-exchange": exchange, **self.arguments}),
                       Queue(morgue, self.morgue_arguments))
        self.exchanges = (Exchange(exchange),)
        self.bindings = (Binding(exchange, morgue),)
        self.lanes = (Lane(self.name, (source, morgue), {morgue: died_once(source, *self.reasons)},
                           letters=self.letters, ordered=tuple(f"{self.name}.{end}" for end in self.ordered),
                           repeats=self.repeats),)
