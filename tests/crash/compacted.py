"""Damage to a directory whose old segments were removed; their remaining data is in a compacted file."""
import os
import time

from brokers_to_crash import BrokerError
from cases import Case, case_of
from checker import Fault
from damage import (DOCUMENT, cut_to_half, empty, flip, flip_middle, killed, refusal_or_all, replace_everywhere,
                    snapshot, walk_third_way)
from ledger import id_in
from sites import QUEUE, complaint_about, files_of, segments_of

KEPT_OF = 40  # One of this many messages is kept.
COMPACTION_SECONDS_MAX = 30
END_OFFSET = 16  # Offset in the header, after magic, zero and start.


def compacted(ground):
    """Few messages are left in the first segments, and the broker had time for a compaction."""
    site = ground.copy_of(killed)
    site.start()
    client = site.client()
    kept = []
    for number in range(len(site.sent)):
        message = client.get(QUEUE, no_ack=False)
        if number % KEPT_OF == 0:
            kept.append(id_in(message.body))
        else:
            client.send("basic.ack", message.values[0], False)
    client.sync()
    end = time.monotonic() + COMPACTION_SECONDS_MAX
    while len(segments_of(site.front_door)) > 1 or not compacted_files(site):
        if time.monotonic() > end:
            raise BrokerError("nothing was compacted")
        time.sleep(0.05)
    client.drop()
    site.confirmed = kept
    site.kill()
    return site


def compacted_files(site):
    return files_of(site.front_door, ".compacted")


def the_compacted_file(site):
    return compacted_files(site)[0]


def make_newer(path):
    replace_everywhere(path, b"RVC1", b"RVC2")


def flip_end_of_range(path):
    flip(path, END_OFFSET + 4)


def damaged(harm):
    def run(ground):
        site = ground.copy_of(compacted)
        path = the_compacted_file(site)
        harm(path)
        yield from refusal_or_all(site, path if os.path.exists(path) else site.front_door)
        site.kill()
        yield from walk_third_way(site)
    return run


def a_compacted_file_serves(ground):
    site = ground.copy_of(compacted)
    for _ in range(2):
        site.start()
        yield from site.losses()
        site.publish(3, 100)
        site.kill()
    site.start()
    yield from site.losses()


def without_older_segments_the_third_way_out_of_a_damaged_snapshot_is_left(ground):
    site = ground.copy_of(compacted)
    flip_middle(snapshot(site))
    refusal = site.try_to_start()
    if refusal is None:
        yield Fault("started", "broker", "with a damaged snapshot")
        return
    yield from complaint_about(refusal, snapshot(site), DOCUMENT)
    os.remove(snapshot(site))
    refusal = site.try_to_start()
    if refusal is None:
        yield Fault("started", "broker", "without a snapshot and the segments before it")
        return
    yield from complaint_about(refusal, DOCUMENT)
    yield from walk_third_way(site)


HARMS = (("a flipped bit in the header of", flip_end_of_range), ("a flipped bit in", flip_middle),
         ("a cut through", cut_to_half), ("nothing left of", empty), ("the removal of", os.remove),
         ("a newer version of", make_newer))

CASES = [*(case_of(function) for function in (a_compacted_file_serves,
                                              without_older_segments_the_third_way_out_of_a_damaged_snapshot_is_left)),
         *(Case(f"damage: {harm} a compacted file", damaged(damage)) for harm, damage in HARMS)]
