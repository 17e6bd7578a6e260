"""Chaos: one broker on a small volume, clients of every kind at the same time, and a broker that is killed, stopped,
frozen, without disk space and without a log reader. Nothing confirmed may be lost or duplicated, every start must
succeed, memory stays within its limits, and a broker without clients becomes idle."""
import itertools
import os
import shutil
import time
import traceback

from chaos_broker import ChaosBroker
from chaos_plan import plans
from chaos_round import ChaosRound
from checker import Fault
from volumes import Volume

VOLUME_BYTES = 400_000_000
COPIES_MAX = 3


class Chaos:
    def __init__(self, program, directory, seed, only=None, without=()):
        self.directory, self.seed, self.only, self.without = directory, seed, only, without
        os.makedirs(directory, exist_ok=True)
        self.volume = Volume(os.path.join(directory, "volume"), VOLUME_BYTES)
        self.broker = ChaosBroker(program, directory, self.volume)
        self.rounds = 0

    def run(self, report, seconds, first_round=1, rounds=None):
        """Runs rounds until the time or the number of rounds is reached."""
        end = time.monotonic() + seconds
        for plan in itertools.islice(plans(self.seed, self.only, self.without), first_round - 1, None):
            if time.monotonic() > end or (rounds is not None and self.rounds >= rounds):
                break
            self.rounds += 1
            self.play(plan, report)
        return self

    def play(self, plan, report):
        round_ = ChaosRound(self.broker, plan, self.seed)
        try:
            faults = round_.run()
        except Exception:  # An exception fails the round.
            faults = round_.faults + [Fault("broken", "test", traceback.format_exc(limit=-4))]
        peak = f"{self.broker.life_peak_bytes() / 1e6:.0f} MB"
        report.case(f"chaos {plan.number} ({plan})", faults, f"{round_.tally}; {peak}")
        if faults:
            self.tell(plan, round_, faults)
            self.start_afresh(round_)

    def tell(self, plan, round_, faults):
        print(f"         seed {self.seed}, round {plan.number}: tests/crash/run --chaos --seed {self.seed} "
              f"--first-round {plan.number} --rounds 1")
        for line in round_.story.about(faults, round_.ledger.facts):
            print(f"         {line}")
        if round_.kept:
            print(f"         the directory that was refused: {round_.kept}", flush=True)

    def start_afresh(self, round_):
        """The state left by a failed round must not fail the next one."""
        if round_.kept and self.broker.copies > COPIES_MAX:
            shutil.rmtree(round_.kept)
        self.broker.arguments = []
        self.broker.start_afresh()

    def close(self):
        self.broker.kill()
        self.volume.close()
