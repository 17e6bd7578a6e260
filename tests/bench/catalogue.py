"""The benchmarks of ./dev bench: the cases with their message counts, and the budgets for the results."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """One row of the table: a value from a case's result."""

    label: str
    key: str = "messages_per_second"
    unit: str = "msg/s"
    higher_is_better: bool = True


@dataclass(frozen=True)
class Case:
    name: str
    group: str
    mode: str  # The case of bench_load.
    rows: tuple
    messages: dict = field(default_factory=dict)  # By broker: a faster one needs more for an accurate result.
    options: dict = field(default_factory=dict)
    once: bool = False  # In one round only, on a newly started broker.
    revenant_only: bool = False  # RabbitMQ takes many minutes; --everywhere includes it.
    ours_alone: bool = False  # Compares Revenant with itself; never run on RabbitMQ.
    phase_seconds: int = 60  # Time limit of a phase such as filling a queue.


def counts(revenant, rabbitmq):
    return {"Revenant": revenant, "RabbitMQ": rabbitmq}


def latency_rows(label):
    return tuple(Row(f"{label}, {name}", f"{name}_us", "µs", False) for name in ("p50", "p99", "p999"))


def memory_rows(label):
    return (Row(f"RSS, {label}", "rss_settled_mb", "MB", False), Row("  its peak", "rss_peak_mb", "MB", False))


def restart_rows(label):
    return (Row(f"restart with 1 M persistent after {label}, ready", "ready_seconds", "s", False),
            Row("  the first message received", "first_seconds", "s", False),
            Row("  all of them consumed then"))


def disk_reject_rows(label):
    return (Row(f"disk written while 100,000 x 16 KiB die, {label}", "device_written_mb", "MB", False),
            Row("  the broker's part, by its own counter", "process_written_mb", "MB", False))


DURABLE = {"persistent": 1}
MILLION = counts(1_000_000, 1_000_000)
LARGE = {"body-bytes": 16384, **DURABLE}

CASES = [
    Case("publish", "core", "publish", (Row("publish, transient"),), counts(1_000_000, 100_000)),
    Case("publish-4p", "core", "publish", (Row("publish, transient, 4 publishers"),), counts(1_000_000, 100_000),
         {"publishers": 4}),
    Case("publish-4k", "core", "publish", (Row("publish 4 KiB bodies"),), counts(100_000, 50_000),
         {"body-bytes": 4096}),
    Case("confirm-1000", "core", "confirm", (Row("publish, persistent, confirms, window 1000"),),
         counts(400_000, 60_000), {"persistent": 1, "window": 1000}),
    Case("confirm-4p", "core", "confirm", (Row("the same, 4 publishers, window 256"),), counts(400_000, 60_000),
         {"persistent": 1, "window": 256, "publishers": 4}),
    Case("confirm-1", "core", "confirm", (Row("the same, 1 publisher, window 1"),), counts(5_000, 2_000),
         {"persistent": 1, "window": 1}),
    Case("through", "core", "through", (Row("publish + consume + ack, an ack per 100"),), counts(1_000_000, 100_000)),
    Case("through-single", "core", "through", (Row("publish + consume + ack, an ack each"),),
         counts(1_000_000, 100_000), {"settle-every": 1}),
    Case("backlog", "core", "backlog", (Row("consume a backlog"),), counts(1_000_000, 100_000)),
    Case("reject", "dead-letter", "reject", (Row("reject into a DLQ, a nack per 100", unit="deaths/s"),),
         counts(500_000, 50_000)),
    Case("reject-single", "dead-letter", "reject", (Row("reject into a DLQ, a nack each", unit="deaths/s"),),
         counts(500_000, 50_000), {"settle-every": 1}),
    Case("expire", "dead-letter", "expire", (Row("expire into a DLQ, queue TTL", unit="deaths/s"),),
         counts(300_000, 40_000), {"ttl-ms": 3000}),
    Case("expire-burst", "dead-letter", "expire", (Row("expire into a DLQ, one moment", unit="deaths/s"),),
         counts(300_000, 40_000), {"ttl-ms": 3000, "deadline": "common"}),
    Case("maxlen", "dead-letter", "maxlen", (Row("maxlen into a DLQ", unit="deaths/s"),), counts(500_000, 50_000)),
    Case("chain", "dead-letter", "chain", (Row("five-hop TTL chain", unit="hops/s"),), counts(200_000, 20_000),
         {"hops": 5, "ttl-ms": 1}),
    Case("retry", "dead-letter", "retry", (Row("retry loop, 3 times, TTL 1 ms", unit="deaths/s"),),
         counts(100_000, 10_000), {"retries": 3, "ttl-ms": 1}),
    Case("retry-1.0", "dead-letter", "retry", (Row("retry loop, 3 times, TTL 1 ms, AMQP 1.0", unit="deaths/s"),),
         counts(100_000, 10_000), {"retries": 3, "ttl-ms": 1, "protocol": "1.0"}, ours_alone=True),
    Case("latency-2k", "latency", "latency", latency_rows("end to end at 2,000/s"),
         options={"rate": 2000, "seconds": 4}),
    Case("latency-10k", "latency", "latency", latency_rows("end to end at 10,000/s"),
         options={"rate": 10000, "seconds": 4}),
    Case("latency-ttl", "latency", "latency", latency_rows("lateness of a TTL of 100 ms at 2,000/s"),
         options={"rate": 2000, "seconds": 4, "via": "ttl", "ttl-ms": 100}),
    Case("latency-random-ttl", "latency", "latency",
         latency_rows("lateness of 100,000 random TTLs of 1 to 3 s in one queue"),
         options={"rate": 25000, "seconds": 4, "via": "random-ttl", "ttl-ms": 2000}),
    Case("memory", "memory", "memory", memory_rows("1 M transient of 100 bytes"), MILLION, once=True, phase_seconds=120),
    Case("memory-durable", "memory", "memory", memory_rows("1 M durable of 100 bytes"), MILLION, DURABLE,
         once=True, phase_seconds=240),
    Case("memory-dead", "memory", "memory", memory_rows("1 M durable dead letters of 100 bytes, rejected"), MILLION,
         {"via": "reject", **DURABLE}, once=True, phase_seconds=360),
    Case("memory-16k", "memory", "memory", memory_rows("100,000 durable of 16 KiB"), counts(100_000, 100_000), LARGE,
         once=True, phase_seconds=120),
    Case("memory-10m", "memory-deep", "memory", memory_rows("10 M durable of 100 bytes"),
         counts(10_000_000, 10_000_000), DURABLE, once=True, revenant_only=True, phase_seconds=1200),
    Case("restart-stop", "restart", "restart", restart_rows("a stop"), MILLION, {"ending": "stop"}, once=True,
         phase_seconds=240),
    Case("restart-kill", "restart", "restart", restart_rows("kill -9"), MILLION, {"ending": "kill"}, once=True,
         phase_seconds=240),
    Case("disk-reject", "disk", "disk-reject", disk_reject_rows("a nack per 100"), counts(100_000, 100_000), LARGE,
         once=True, phase_seconds=180),
    Case("disk-reject-single", "disk", "disk-reject", disk_reject_rows("a nack each"), counts(100_000, 100_000),
         {"settle-every": 1, **LARGE}, once=True, phase_seconds=180),
    Case("disk-letters", "disk", "letters",
         (Row("disk with 1,000 letters of 1 KiB left of 10 M passed", "occupied_mb", "MB", False),
          Row("  as soon as they had passed", "occupied_at_first_mb", "MB", False),
          Row("  the passage itself")),
         counts(10_000_000, 10_000_000), DURABLE, once=True, revenant_only=True, phase_seconds=1200),
]


@dataclass(frozen=True)
class Pair:
    """Two cases with the same work, over AMQP 0-9-1 and over AMQP 1.0."""

    work: str
    old: Case
    new: Case


def pair(name, mode, work, messages, options):
    """Cases with one outcome per message. The windows equal the credit that the broker grants a sender."""
    def case(protocol):
        return Case(f"{name}-{protocol}", "amqp10", mode, (Row(f"{work}, AMQP {protocol}"),), counts(messages, 0),
                    {"protocol": protocol, "window": 170, "prefetch": 170, "settle-every": 1, "confirms": 1,
                     **options}, ours_alone=True)

    return Pair(work, case("0-9-1"), case("1.0"))


SMALL = {"body-bytes": 12}
KIB = {"body-bytes": 1024}
PAIRS = [
    pair("in-12", "confirm", "publish 12 bytes, transient", 400_000, SMALL),
    pair("in-12-durable", "confirm", "publish 12 bytes, durable", 400_000, {**SMALL, **DURABLE}),
    pair("in-1k", "confirm", "publish 1 KiB, transient", 200_000, KIB),
    pair("in-1k-durable", "confirm", "publish 1 KiB, durable", 200_000, {**KIB, **DURABLE}),
    pair("out-12", "backlog", "consume 12 bytes, transient", 400_000, SMALL),
    pair("out-1k-durable", "backlog", "consume 1 KiB, durable", 200_000, {**KIB, **DURABLE}),
    pair("both-12", "through", "publish + consume 12 bytes, transient", 400_000, SMALL),
    pair("both-1k-durable", "through", "publish + consume 1 KiB, durable", 200_000, {**KIB, **DURABLE}),
    pair("reject-12", "reject", "deaths by rejection, 12 bytes, transient", 400_000, SMALL),
    pair("reject-1k-durable", "reject", "deaths by rejection, 1 KiB, durable", 200_000, {**KIB, **DURABLE}),
]
CASES += [case for each in PAIRS for case in (each.old, each.new)]


@dataclass(frozen=True)
class Drain:
    """Drains a dead-letter queue and a live backlog of as many messages in one case.

    A history of ten deaths takes 1.7 KB on the wire, one of fifty 8.5 KB, and sending that many bytes costs more than a
    live message of 100 bytes. Long histories are therefore compared with live messages of the same size on the wire
    (docs/decisions/0009)."""

    work: str
    case: Case
    cpu_goal: float = 0  # µs per message; 0: only the ratio applies.
    ratio_goal: float = 0  # Relative to the live backlog; 0: none.
    as_long_goal: float = 0  # Relative to a live backlog with messages of the same size on the wire; 0: none.


def drain(name, work, options, **goals):
    messages = 200_000 if options["hops"] <= 10 else 40_000  # Preparing the deaths takes longer than the drain.
    case = Case(f"drain-{name}", "drain", "drain", (Row(f"drain a DLQ, {work}"),), counts(messages, 0),
                {"ttl-ms": 1, "as-long": 1, **options}, ours_alone=True, phase_seconds=120)
    return Drain(work, case, **goals)


def deaths(count, **options):
    return {"hops": count, **options}


DRAINS = [
    drain("1", "1 death", deaths(1), cpu_goal=0.6, ratio_goal=2),
    drain("10", "10 deaths", deaths(10), cpu_goal=1.5),
    drain("50", "50 deaths", deaths(50), cpu_goal=4),
    drain("headers", "1 death, 4 headers of the publisher", deaths(1, headers=4), ratio_goal=2),
    drain("quorum", "1 death, quorum queue", deaths(1, quorum=1), ratio_goal=2),
    drain("1-1.0", "1 death, AMQP 1.0", deaths(1, protocol="1.0"), ratio_goal=2),
    drain("10-1.0", "10 deaths, AMQP 1.0", deaths(10, protocol="1.0"), as_long_goal=2),
    drain("50-1.0", "50 deaths, AMQP 1.0", deaths(50, protocol="1.0"), as_long_goal=2),
]
CASES += [each.case for each in DRAINS]
# For callgrind, which makes a broker so slow that no two messages would expire together.
CASES.append(Case("drain-rejected", "instructions", "drain", (Row("drain a DLQ of rejected messages, from publish on"),),
                  counts(200_000, 0), {"via": "reject"}, ours_alone=True))
DEFAULT_GROUPS = ("core", "dead-letter", "amqp10", "latency", "memory")
QUICK_GROUPS = ("core", "dead-letter", "amqp10", "latency")
# Names that stand for several groups or cases.
COLLECTIONS = {"retry": ("retry", "retry-1.0"),
               "durability": ("confirm-4p", "confirm-1", "memory", "memory-deep", "restart", "disk")}


@dataclass(frozen=True)
class Budget:
    """A performance goal of Revenant."""

    work: str
    case: str
    key: str
    goal: float
    unit: str
    at_least: bool = False
    also_zero: str = ""  # Another value that must be 0.
    ratio: bool = False  # The goal is a multiple of RabbitMQ's result in the same run.
    versus: str = ""  # The goal is a multiple of Revenant's result in this case, per round.
    whole: bool = False  # Valid only with the full number of messages.


CPU = "cpu_us_per_message"
RATE = "messages_per_second"
RSS = "rss_settled_mb"
UNSAVED = "unsaved_mb"  # Confirmed but not in the data directory.
BUDGETS = [
    Budget("publish, transient", "publish", CPU, 0.6, "µs"),
    Budget("publish 4 KiB bodies", "publish-4k", CPU, 2.5, "µs"),
    Budget("publish, persistent, confirms, window 1000", "confirm-1000", CPU, 1.1, "µs", also_zero=UNSAVED),
    Budget("the same, 4 publishers, window 256", "confirm-4p", RATE, 10, "", at_least=True, also_zero=UNSAVED, ratio=True),
    Budget("the same, window 1", "confirm-1", RATE, 2700, "msg/s", at_least=True, also_zero=UNSAVED),
    Budget("the same, window 1, against RabbitMQ", "confirm-1", RATE, 1, "", at_least=True, also_zero=UNSAVED, ratio=True),
    Budget("publish + consume + ack", "through", CPU, 1.0, "µs"),
    Budget("consume a backlog", "backlog", CPU, 0.5, "µs"),
    Budget("consume and reject into a DLQ", "reject", CPU, 1.2, "µs"),
    Budget("expire into a DLQ, queue TTL, never early", "expire", CPU, 0.5, "µs", also_zero="early_ms"),
    Budget("expire into a DLQ, burst, never early", "expire-burst", CPU, 0.5, "µs", also_zero="early_ms"),
    Budget("maxlen into a DLQ", "maxlen", CPU, 1.5, "µs"),
    Budget("five-hop TTL chain", "chain", RATE, 600_000, "hops/s", at_least=True),
    Budget("retry loop, 3 times, per message", "retry", "cpu_us_per_round", 6, "µs"),
    Budget("  over AMQP 1.0", "retry-1.0", "cpu_us_per_round", 6, "µs"),
    Budget("end-to-end latency at 2,000/s, p50", "latency-2k", "p50_us", 100, "µs"),
    Budget("RSS, 1 M transient of 100 bytes", "memory", RSS, 32, "MB", whole=True),
    Budget("RSS, 1 M durable of 100 bytes", "memory-durable", RSS, 32, "MB", also_zero=UNSAVED, whole=True),
    Budget("RSS, 1 M durable dead letters, rejected", "memory-dead", RSS, 32, "MB", also_zero=UNSAVED, whole=True),
    Budget("RSS, 100,000 durable of 16 KiB", "memory-16k", RSS, 48, "MB", also_zero=UNSAVED, whole=True),
    Budget("RSS, 10 M durable of 100 bytes", "memory-10m", RSS, 48, "MB", also_zero=UNSAVED, whole=True),
    Budget("restart with 1 M persistent after a stop, ready", "restart-stop", "ready_seconds", 0.1, "s", whole=True),
    Budget("  the first message received", "restart-stop", "first_seconds", 0.15, "s", whole=True),
    Budget("restart with 1 M persistent after kill -9, ready", "restart-kill", "ready_seconds", 0.3, "s", whole=True),
    Budget("  the first message received", "restart-kill", "first_seconds", 0.35, "s", whole=True),
    Budget("disk written while 100,000 x 16 KiB die, a nack per 100", "disk-reject", "device_written_mb", 20, "MB",
           also_zero=UNSAVED, whole=True),
    Budget("  a nack each", "disk-reject-single", "device_written_mb", 20, "MB", also_zero=UNSAVED,
           whole=True),
    Budget("disk with 1,000 letters of 1 KiB left of 10 M passed", "disk-letters", "occupied_mb", 64, "MB", whole=True),
]
BUDGETS += [Budget(f"{each.work}, AMQP 1.0", each.new.name, CPU, 1.3, "x 0-9-1", versus=each.old.name)
            for each in PAIRS]
BUDGETS += [Budget(f"drain a DLQ, {each.work}", each.case.name, CPU, each.cpu_goal, "µs") for each in DRAINS if each.cpu_goal]
BUDGETS += [Budget(f"drain a DLQ, {each.work}, against a live backlog", each.case.name, "drain_to_live", each.ratio_goal,
                   "x live") for each in DRAINS if each.ratio_goal]
BUDGETS += [Budget(f"drain a DLQ, {each.work}, against live messages as long", each.case.name, "drain_to_as_long",
                   each.as_long_goal, "x live") for each in DRAINS if each.as_long_goal]
