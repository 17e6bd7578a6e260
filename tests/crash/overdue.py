#!/usr/bin/python3
"""A directory that commit 505def2 left when it ended during a turn: messages with many CC keys, all due at the next
start, before a chain of queues that each dead-letters into the next immediately. Their histories grow at every death.
That build wrote all of it as one record and ended at 2 GiB of it, as did every later start of that build.

  overdue.py --revenant OLD     writes earlier/overdue.tar.xz with that build; it needs 9 GB of memory
"""
import argparse
import os
import shutil
import tarfile
import tempfile
import time

from brokers_to_crash import BrokerError, Client
from cases import case_of
from chaos_broker import RESIDENT_BYTES_MAX, Watch
from checker import Fault
from drain import found_in
from earlier import ARCHIVES, HERE, without_scratch
from ledger import body_of, id_in
from sites import Site

ARCHIVE = os.path.join(ARCHIVES, "overdue.tar.xz")
MESSAGES, BODY_BYTES, HOPS = 60, 100, 40
KEYS, KEY_BYTES = 240, 246
TTL_MS = 3000
NAMES = [f"hop.{number:02}" for number in range(HOPS)]
END = "end"
DEATHS = tuple((name, "expired", 1) for name in reversed(NAMES))
IDS = [f"overdue/one/0/{number}" for number in range(MESSAGES)]
ABORTS = 2
ARRIVAL_SECONDS_MAX = 60
LOOK_SECONDS = 0.1


def declare(client):
    client.call("queue.declare", 0, END, False, True, False, False, False, [])
    for name, following in reversed(list(zip(NAMES, [*NAMES[1:], END]))):
        client.call("exchange.declare", 0, f"{name}.dlx", "fanout", False, True, False, False, False, [])
        client.call("queue.bind", 0, following, f"{name}.dlx", "", False, [])
        ttl = TTL_MS if name == NAMES[0] else 0
        client.call("queue.declare", 0, name, False, True, False, False, False,
                    [("x-dead-letter-exchange", "S", f"{name}.dlx"), ("x-message-ttl", "I", ttl)])


def publish(client):
    client.call("confirm.select", False)
    keys = [("S", f"nowhere.{number}.".ljust(KEY_BYTES, "x")) for number in range(KEYS)]
    for id in IDS:
        client.publish("", NAMES[0], body_of(id, BODY_BYTES), {"delivery-mode": 2, "headers": [("CC", "A", keys)]})
    if not client.read_until(lambda: client.events and client.events[-1][1][0] >= MESSAGES, TTL_MS / 1000):
        raise BrokerError("not all messages were confirmed before the first was due")


def write(program):
    """The old broker is killed before any message is due, and started when all are."""
    directory = tempfile.mkdtemp(prefix="revenant-overdue-")
    site = Site(program, directory)
    try:
        site.start()
        client = Client(site.broker.port, "/")
        declare(client)
        publish(client)
        site.kill()
        time.sleep(TTL_MS / 1000)
        for _ in range(ABORTS):
            site.forget_log()
            try:
                site.broker.start()
                status = site.await_end()
            except BrokerError:
                status = site.broker.last_process.returncode
            print(f"ended with {status}: {site.told().strip()[-400:]}")
            if status is None or status >= 0:
                raise SystemExit("this build does not end by a signal")
        with tarfile.open(ARCHIVE, "w:xz") as archive:
            archive.add(site.data, "data", filter=without_scratch)
    finally:
        site.kill()
        shutil.rmtree(directory)


def a_directory_whose_broker_ended_at_every_start_is_opened(ground):
    site = ground.site()
    site.unpack(ARCHIVE)
    refusal = site.try_to_start()
    if refusal is not None:
        yield Fault("not started", "broker", f"{refusal}")
        return
    watch = Watch(site.broker.process)
    watch.start()
    yield from arrivals(site)
    watch.look()
    if watch.peak_bytes > RESIDENT_BYTES_MAX:
        yield Fault("memory", "broker", f"{watch.peak_bytes / 1e6:.0f} MB resident")
    site.kill()
    site.start()
    yield from arrivals(site)


def arrivals(site):
    """Faults if not every message is at the end of the chain with its complete history. The messages are not
    removed."""
    client = site.client()
    end = time.monotonic() + ARRIVAL_SECONDS_MAX
    depth = lambda: client.call("queue.declare", 0, END, True, False, False, False, False, [])[1]
    while depth() < MESSAGES and site.broker.alive() and time.monotonic() < end:
        time.sleep(LOOK_SECONDS)
    letters = [client.get(END, no_ack=False) for _ in range(depth())]
    client.drop()
    found = [id_in(letter.body) for letter in letters]
    if sorted(map(str, found)) != sorted(IDS):
        yield Fault("lost or doubled", END, f"{len(found)} messages, {len(set(IDS) - set(found))} of {MESSAGES} missing")
    wrong = [letter for letter in letters if found_in(letter).deaths != DEATHS]
    if wrong:
        yield Fault("history", END, f"{len(wrong)} letters; one has {found_in(wrong[0]).deaths}")


CASES = [case_of(a_directory_whose_broker_ended_at_every_start_is_opened)]

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--revenant", default=os.path.join(HERE, "..", "..", "build", "release", "revenant"))
    write(parser.parse_args().revenant)
