"""Clean shutdowns of a broker under load: by each signal, twice, and during startup."""
import random
import signal

from brokers_to_crash import KilledWhileStarting
from cases import case_of
from checker import Fault
from rounds import Round, all_workloads

LOAD_SECONDS = 1.0
SEED = 1


def end_under_load(ground, *signals):
    """Every workload runs; everything that was done must survive."""
    broker = ground.site().broker
    broker.farewell = signals
    broker.start()
    yield from Round(broker, all_workloads(), 1, SEED, LOAD_SECONDS, ("term",)).run()


def a_broker_stops_at_sigterm_and_keeps_everything(ground):
    yield from end_under_load(ground, signal.SIGTERM)


def a_broker_stops_at_sigint_and_keeps_everything(ground):
    yield from end_under_load(ground, signal.SIGINT)


def a_second_signal_does_not_hurry_a_stop(ground):
    yield from end_under_load(ground, signal.SIGTERM, signal.SIGTERM, signal.SIGINT)


def a_stop_while_it_starts_keeps_everything(ground):
    """Before the signal handlers are installed, the process just ends; afterwards it finishes its startup and stops."""
    site = ground.site()
    site.start()
    site.publish(100, 1000, waves=3)
    site.kill()
    moments = random.Random(SEED)
    for _ in range(6):
        broker = site.broker
        broker.seconds_to_live = moments.uniform(0, broker.recovery_seconds)
        try:
            stop_while_it_starts(broker)
        finally:
            broker.seconds_to_live = None
        status = site.end(signal.SIGTERM)
        if status not in (0, -signal.SIGTERM):
            yield Fault("exit status", "broker", f"SIGTERM while it started ended it with {status}")
    site.start()
    yield from site.losses()


def stop_while_it_starts(broker):
    try:
        broker.start()
    except KilledWhileStarting:
        pass


CASES = [case_of(function) for function in (
    a_broker_stops_at_sigterm_and_keeps_everything, a_broker_stops_at_sigint_and_keeps_everything,
    a_second_signal_does_not_hurry_a_stop, a_stop_while_it_starts_keeps_everything)]
