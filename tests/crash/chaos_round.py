"""One round of chaos according to its plan: clients of every kind at the same time, and a broker that is killed,
stopped, frozen, without disk space and without a log reader."""
import threading
import time

import chaos_plan
from actors import Arena
from brokers_to_crash import Api, BrokerError, Client
from chaos_broker import RESIDENT_BYTES_MAX
from checker import Fault, check_everything
from definitions import Definitions, check_definitions
from drain import Drain
from rounds import Round, tally_of
from story import Story, StoryLedger
from trouble import BlockedPublisher
from volumes import Ballast

SLOWNESS = 3
FRAME_BYTES_MAX = 131072
ABANDONED = 4
BLOCK_SECONDS_MAX = 3
CALM_SECONDS = 0.3  # Interval for measuring the CPU time of an idle broker.
CALM_SHARE_MAX = 0.25
BLOCKED_LOOKS = 4
LOG_SHOWN_MAX = 600
FULL_AFTER_START_SECONDS = 0.5
NO_ROOM = ("No space left", "full")


class NotStarted(Exception):
    """The broker does not start, so the round ends."""


class StrictClient(Client):
    """Records frames that are larger than negotiated."""

    def __init__(self, port, vhost):
        super().__init__(port, vhost)
        self.oversized = []

    def take_frame(self, kind, channel, payload):
        if len(payload) + 8 > FRAME_BYTES_MAX:
            self.oversized.append(len(payload))
        super().take_frame(kind, channel, payload)


class ChaosArena(Arena):
    def __init__(self, stage):
        super().__init__(stage.broker, stage.ledger, stage.seed)
        self.slowness = SLOWNESS
        self.disk_full = stage.disk_full
        self.data = stage.broker.data_outside
        self.note = stage.story.tell


class ChaosRound(Round):
    """The environment of the workloads: it has the broker, the story and the number of the round."""
    calm_seconds_max = 15

    def __init__(self, broker, plan, seed):
        workloads = [chaos_plan.WORKLOADS[name]() for name in plan.workloads]
        super().__init__(broker, workloads, plan.number, seed, 0, [life.ending for life in plan.lives])
        self.plan = plan
        self.story = Story()
        self.ledger = StoryLedger(plan.number, self.story)
        self.disk_full = threading.Event()
        self.ballast = None
        self.prepared = False
        self.life = plan.lives[0]
        self.ended = "leave"  # The end of the previous process.
        self.kept = None  # Copy of the directory of a broker that did not start.

    def run(self):
        try:
            self.prepare()
            for self.life in self.plan.lives:
                if not self.broker.alive():
                    self.restart()
                self.live_through()
            self.release_disk()
            if not self.broker.alive():
                self.restart()
            self.count()
            self.check_rest()
        except NotStarted:
            pass
        finally:
            self.release_disk()
            self.check_memory()
        return self.faults

    def prepare(self):
        if not self.broker.alive():
            self.broker.arguments = self.life.arguments
            self.start()
        api = Api(self.broker.http_port)
        for workload in self.workloads:
            workload.begin(self.ledger, api)
        api.close()
        for workload in self.workloads:
            workload.set_up(self)
        self.prepared = True
        self.story.tell("begins with " + ", ".join(self.plan.workloads))

    # --- starts ----------------------------------------------------------------------------------------

    def restart(self):
        for workload in self.workloads:
            workload.tamper(self, self.ended)
        self.broker.arguments = self.life.arguments
        for seconds in self.life.false_starts:
            self.broker.start_and_kill(seconds)
        self.story.tell(f"starts with {' '.join(self.life.arguments)}, after {len(self.life.false_starts)} killed starts")
        self.start()
        self.story.tell("is ready")
        if self.ballast is not None:
            time.sleep(FULL_AFTER_START_SECONDS)
            self.release_disk()
        if self.prepared:
            definitions = Definitions(self.broker.http_port)
            self.faults += check_definitions(self.workloads, definitions)
            for workload in self.workloads:
                self.faults += workload.check(definitions)
                self.faults += workload.audit(self)

    def start(self):
        try:
            self.broker.start()
            return
        except BrokerError as error:
            text = str(error)
        # A start needs some disk space and may fail for lack of it.
        if self.ballast is not None and any(words in text for words in NO_ROOM):
            self.story.tell("refuses to start without room on the disk")
            self.release_disk()
            try:
                self.broker.start()
                return
            except BrokerError as error:
                text = str(error)
        self.kept = self.broker.keep_copy()
        self.faults.append(Fault("not started", "broker", text[-LOG_SHOWN_MAX:]))
        raise NotStarted

    # --- one process -----------------------------------------------------------------------------------

    def live_through(self):
        self.live(self.life.ending, self.life.seconds)
        self.ended = self.life.ending if self.survived else "kill"
        self.check_memory()

    def arena(self):
        return ChaosArena(self)

    def let_work(self, arena, actors, seconds):
        began = time.monotonic()
        for event in self.life.events:
            time.sleep(max(0, began + event.at - time.monotonic()))
            if not self.broker.alive():
                break
            self.story.tell(str(event))
            self.events[event.kind](self, arena, actors, event)
        time.sleep(max(0, began + seconds - time.monotonic()))
        self.story.tell(f"{sum(actor.is_alive() for actor in actors)} of {len(actors)} clients work; end: "
                        f"{self.life.ending}")

    def end_broker(self, ending):
        if not self.broker.alive():  # Already reported.
            self.broker.kill()
            return
        super().end_broker(ending)
        self.story.tell("is gone")

    def await_movement_of(self, actors):
        if self.ballast is None and self.broker.alive():
            super().await_movement_of(actors)

    def is_orderly(self, ending):
        """A full disk accepts no writes, whatever the end."""
        return super().is_orderly(ending) and self.ballast is None

    def died(self):
        status = self.broker.process.poll()
        with open(self.broker.log, errors="replace") as log:
            return Fault("broker died", "broker", f"by itself with {status}: {log.read().strip()[-LOG_SHOWN_MAX:]}")

    # --- events ------------------------------------------------------------------------------------------

    def freeze(self, arena, actors, event):
        self.broker.freeze(event.seconds)

    def fill_disk(self, leave_bytes):
        self.ballast = Ballast(self.broker.volume, leave_bytes)
        self.ballast.keep_growing()
        self.disk_full.set()

    def release_disk(self):
        if self.ballast is not None:
            self.ballast.remove()
            self.story.tell("has room again")
        self.ballast = None
        self.disk_full.clear()

    def fill_for_a_while(self, arena, actors, event):
        self.fill_until_the_end(arena, actors, event)
        self.release_disk()
        self.await_new_movement_of(actors)

    def fill_until_the_end(self, arena, actors, event):
        self.fill_disk(event.leave_bytes)
        time.sleep(event.seconds)

    def abandon(self, arena, actors, event):
        """Publishers that an alarm has blocked disappear. No client is left that could keep the broker busy."""
        publishers = [BlockedPublisher(self.broker.port) for _ in range(ABANDONED)]
        self.fill_disk(0)
        stopped = [publisher.push(BLOCK_SECONDS_MAX) for publisher in publishers]
        for number, publisher in enumerate(publishers):
            publisher.vanish(with_reset=number % 2 == 0)
        arena.quiet.set()
        time.sleep(CALM_SECONDS)
        share = min(self.broker.busiest_share(CALM_SECONDS) for _ in range(BLOCKED_LOOKS))
        arena.quiet.clear()
        self.story.tell(f"{sum(stopped)} of {ABANDONED} blocked publishers are gone, a thread is busy {share:.0%}")
        if share > CALM_SHARE_MAX and self.broker.alive():
            self.faults.append(Fault("spins", "broker", f"a thread is busy {share:.0%} of the time, and "
                                                        f"{sum(stopped)} blocked publishers are gone"))
        self.release_disk()
        self.await_new_movement_of(actors)

    def turn_deaf(self, arena, actors, event):
        """The log is not read and its pipe has space for a few lines only. All clients must continue."""
        self.broker.deaf.set()
        time.sleep(event.seconds)
        self.await_new_movement_of(actors)
        self.broker.deaf.clear()

    def await_new_movement_of(self, actors):
        for actor in actors:
            actor.moved.clear()
        before = len(self.faults)
        self.await_movement_of(actors)
        if len(self.faults) > before:
            self.story.tell(f"{len(self.faults) - before} clients do not move; {self.broker.describe_disk()}")

    events = {"freeze": freeze, "full": fill_for_a_while, "full at the end": fill_until_the_end, "abandoned": abandon,
              "deaf": turn_deaf}

    # --- checks ------------------------------------------------------------------------------------------

    def count(self):
        client = StrictClient(self.broker.port, "/")
        findings = Drain(self.broker, self.ledger, self.workloads, client).run()
        self.faults += check_everything(self.ledger, findings)
        self.tally = tally_of(self.ledger, findings)
        if client.oversized:
            self.faults.append(Fault("frame too large", "drain", f"{len(client.oversized)} frames of up to "
                                                                f"{max(client.oversized)} bytes"))
        for workload in self.workloads:
            self.faults += workload.finish(self)

    def check_memory(self):
        peak = self.broker.life_peak_bytes()
        if peak > RESIDENT_BYTES_MAX and not any(fault.kind == "memory" for fault in self.faults):
            self.faults.append(Fault("memory", "broker", f"{peak / 1e6:.0f} MB resident"))

    def check_rest(self):
        """Without clients and with everything consumed, a broker becomes idle."""
        end = time.monotonic() + self.calm_seconds_max
        while (share := self.broker.busiest_share(CALM_SECONDS)) > CALM_SHARE_MAX:
            if time.monotonic() > end:
                self.faults.append(Fault("spins", "broker", f"without clients a thread is busy {share:.0%} of the time"))
                break
