#!/usr/bin/python3
"""Tests that the benchmark repeats disturbed measurements a limited number of times."""
import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import unittest

sys.dont_write_bytecode = True
BENCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, BENCH)

from catalogue import Case, Row, counts  # noqa: E402


def program():
    """Loads tests/bench/run as a module, because it has no .py extension."""
    loader = importlib.machinery.SourceFileLoader("bench_run", os.path.join(BENCH, "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
    loader.exec_module(module)
    return module


run = program()


class Broker:
    """A broker that is always running."""

    name = "Revenant"

    def __init__(self):
        self.stops = 0

    def alive(self):
        return True

    def stop(self):
        self.stops += 1


class ScriptedBench(run.Bench):
    """A Bench with prepared results: it decides as usual but measures nothing."""

    def __init__(self, lines, quick=False):
        super().__init__(argparse.Namespace(load="not started", revenant="not started", quick=quick, out=None), "nowhere")
        self.lines = list(lines)
        self.options = []
        self.kept = []

    def attempt(self, case, options, broker):
        self.options.append(dict(options))
        return self.lines.pop(0)

    def keep(self, case, broker, round_number, line):
        self.kept.append(line)
        with contextlib.redirect_stderr(io.StringIO()):
            super().keep(case, broker, round_number, line)


def case(ours_alone=True):
    return Case("comparison", "amqp10", "through", (Row("a comparison"),), counts(1000, 100), {"publishers": 2},
                ours_alone=ours_alone)


def line(other_cores, rate=1):
    return {"ok": True, "other_cores": other_cores, "messages_per_second": rate}


QUIET, BUSY = run.DISTURBED_CORES, run.DISTURBED_CORES + 0.01


class Repeats(unittest.TestCase):
    def measured(self, lines, **options):
        """Runs one case and returns the bench and the only result it kept."""
        bench, self.broker = ScriptedBench(lines), Broker()
        bench.measure(case(**options), self.broker, 1)
        kept, = bench.kept
        return bench, kept

    def test_a_quiet_run_counts_at_once(self):
        bench, kept = self.measured([line(QUIET, 10), line(0, 20)])
        self.assertEqual(len(bench.options), 1)
        self.assertEqual(kept["messages_per_second"], 10)

    def test_a_disturbed_run_is_repeated_until_it_is_quiet(self):
        bench, kept = self.measured([line(BUSY, 10), line(BUSY, 20), line(QUIET, 30), line(0, 40)])
        self.assertEqual(len(bench.options), 3)
        self.assertEqual(kept["messages_per_second"], 30)

    def test_every_attempt_is_the_same(self):
        bench, _ = self.measured([line(BUSY), line(QUIET)])
        self.assertEqual(bench.options, [{"publishers": 2, "messages": 1000}] * 2)

    def test_it_gives_up_after_so_many_and_the_least_disturbed_counts(self):
        disturbances = [0.9, 0.3, 0.5, 0.7]
        self.assertEqual(len(disturbances), run.ATTEMPTS_MAX)
        bench, kept = self.measured([line(cores) for cores in disturbances] + [line(QUIET)])
        self.assertEqual(len(bench.options), run.ATTEMPTS_MAX)
        self.assertEqual(kept["other_cores"], 0.3)

    def test_it_gives_up_if_nothing_gets_better(self):
        bench, kept = self.measured([line(0.5, rate) for rate in range(run.ATTEMPTS_MAX + 1)])
        self.assertEqual(len(bench.options), run.ATTEMPTS_MAX)
        self.assertEqual(kept["messages_per_second"], 0)

    def test_a_comparison_with_another_broker_is_not_repeated(self):
        """Other load affects both brokers, and the rounds use the median."""
        bench, kept = self.measured([line(0.9, 10), line(0, 20)], ours_alone=False)
        self.assertEqual(len(bench.options), 1)
        self.assertEqual(kept["messages_per_second"], 10)

    def test_a_failure_is_not_repeated(self):
        bench, kept = self.measured([{"ok": False, "error": "no queue"}, line(0)])
        self.assertEqual(len(bench.options), 1)
        self.assertEqual(kept["error"], "no queue")
        self.assertEqual(self.broker.stops, 1)

    def test_a_failure_of_the_repetition_is_told(self):
        bench, kept = self.measured([line(BUSY), {"ok": False, "error": "no queue"}, line(0)])
        self.assertEqual(len(bench.options), 2)
        self.assertEqual(kept["error"], "no queue")

    def test_a_run_that_does_not_say_is_a_quiet_one(self):
        bench, _ = self.measured([{"ok": True, "messages_per_second": 1}, line(0)])
        self.assertEqual(len(bench.options), 1)

    def test_a_quick_one_has_a_tenth_of_the_messages(self):
        bench = ScriptedBench([line(QUIET)], quick=True)
        bench.measure(case(), Broker(), 1)
        self.assertEqual(bench.options, [{"publishers": 2, "messages": 100}])
        self.assertEqual(bench.kept[0]["share"], run.QUICK_SHARE)


class Instructions(unittest.TestCase):
    def failed(self, value, compiler="GCC 12"):
        record = {"compiler": "GCC 12", "instructions": {"comparison": 1000}}
        with contextlib.redirect_stdout(io.StringIO()):
            return run.Instructions.compare([case()], {"comparison": value}, compiler, record)[1]

    def test_three_percent_more_are_borne_and_no_more(self):
        self.assertEqual(self.failed(1030), 0)
        self.assertEqual(self.failed(1031), 1)

    def test_another_compiler_only_reports(self):
        self.assertEqual(self.failed(2000, "GCC 13"), 0)

    def test_a_case_that_did_not_end_fails_with_every_compiler(self):
        self.assertEqual(self.failed(None, "GCC 13"), 1)

    def test_a_case_that_is_not_on_record_fails(self):
        record = {"compiler": "GCC 12", "instructions": {}}
        self.assertEqual(run.Instructions.compare([case()], {"comparison": 1}, "GCC 12", record)[1], 1)


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
