#!/usr/bin/python3
"""Tests of chaos itself: a broker that lies is detected, an honest one is not reported, and a seed repeats its plans.

  chaos_test.py [--revenant build/release/revenant]
"""
import argparse
import itertools
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

from chaos import Chaos  # noqa: E402
from chaos_plan import WORKLOADS, Life, Plan, plans  # noqa: E402
from chaos_round import ChaosRound  # noqa: E402

PLANS_COMPARED = 40
LIFE_SECONDS = 0.7
EXPECTED = {"loses": {"lost"}, "doubles": {"double"}, "refuses": {"not started"}, "swells": {"memory"},
            "spins": {"spins"}, "forgets": {"lost"}, "nothing": set()}


class ShortRound(ChaosRound):
    calm_seconds_max = 1


def liar(directory, lie, program):
    """Command line of a broker that lies."""
    path = os.path.join(directory, lie)
    with open(path, "w") as file:
        file.write(f'#!/bin/sh\nexec {sys.executable} {os.path.join(HERE, "liar.py")} {lie} '
                   f'{os.path.abspath(program)} "$@"\n')
    os.chmod(path, 0o755)
    return path


def faults_of(lie, program, directory):
    """The kinds of fault that one round reports."""
    lives = [Life([], LIFE_SECONDS, [], ending, []) for ending in ("term", "kill")]
    chaos = Chaos(liar(directory, lie, program), os.path.join(directory, f"{lie}.site"), 1)
    try:
        return {fault.kind for fault in ShortRound(chaos.broker, Plan(1, ["plain", "rejected"], lives), 1).run()}
    finally:
        chaos.close()


def test_lies(program, report):
    directory = tempfile.mkdtemp(prefix="revenant-liar-")
    try:
        for lie, expected in EXPECTED.items():
            found = faults_of(lie, program, directory)
            right = found >= expected if expected else not found
            report(f"a broker that lies: {lie}", right, f"found {sorted(found)}, expected {sorted(expected)}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def test_plans(report):
    once, again, other = ([str(plan) + str(plan.workloads) for plan in itertools.islice(plans(seed), PLANS_COMPARED)]
                          for seed in (7, 7, 8))
    report("a seed repeats its plans", once == again, "they differ")
    report("another seed has others", once != other, "they are the same")
    dealt = {name for plan in itertools.islice(plans(7), PLANS_COMPARED) for name in plan.workloads}
    report("every workload has its turn", dealt == set(WORKLOADS), f"missing: {set(WORKLOADS) - dealt}")


class Tally:
    passed = failed = 0

    def __call__(self, name, right, text):
        print(f"{'ok    ' if right else 'FAILED'} {name}{'' if right else ': ' + text}", flush=True)
        self.passed += right
        self.failed += not right


def run_tests(program):
    """Returns the numbers of passed and failed tests."""
    tally = Tally()
    test_plans(tally)
    test_lies(program, tally)
    return tally.passed, tally.failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--revenant", default=os.path.join(ROOT, "build", "release", "revenant"))
    passed, failed = run_tests(parser.parse_args().revenant)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
