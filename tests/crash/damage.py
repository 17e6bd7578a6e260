"""Damage to the files of a directory. A broker either starts with everything confirmed, or it does not start, names the
position and the document with the recovery options (docs/formats/journal.md), and changes nothing; then the recovery
options are tested."""
import os
import random
import re
import shutil

from brokers_to_crash import Api
from cases import Case, case_of
from checker import Fault
from sites import QUEUE, complaint_about, directory_of_vhost, disorder, files_of, segments_of

SEGMENTS, BATCHES_IN_LAST = 3, 12
MESSAGES_IN_WAVE, MESSAGE_BYTES = 10, 100_000
DOCUMENT = "docs/formats/journal.md"
BATCH_MAGIC, NEWER_BATCH_MAGIC = b"RVB1", b"RVB2"
MAGIC_OFFSET = 8
GARBAGE_BYTES = 5000
BEGINNING_OF_BODY = re.compile(rb"(site/one/0/\d+) %d " % MESSAGE_BYTES)


# --- directories ---------------------------------------------------------------------------------------


def killed(ground):
    """Three segments and no snapshot."""
    site = ground.site()
    site.start()
    while len(segments_of(site.front_door)) < SEGMENTS:
        site.publish(MESSAGES_IN_WAVE, MESSAGE_BYTES)
    site.publish(1, MESSAGE_BYTES, waves=BATCHES_IN_LAST)
    site.kill()
    return site


def stopped(ground):
    """Three segments, all of them in use, and a snapshot at their end."""
    site = ground.copy_of(killed)
    site.start()
    site.stop()
    return site


def with_many_users(ground):
    """A catalog with many batches; the last one added a virtual host with a queue."""
    site = ground.site()
    site.start()
    site.publish(MESSAGES_IN_WAVE, 100)
    api = Api(site.broker.http_port)
    for number in range(20):
        api.request("PUT", f"/api/users/user{number}", {"password": "x" * 200, "tags": ""})
    api.close()
    site.stop()
    return site


# --- kinds of damage -----------------------------------------------------------------------------------


def flip(path, offset):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 0x10]))


def middle_of(path):
    return written_end(path) // 2


def flip_middle(path):
    flip(path, middle_of(path))


def zero_middle(path, size=4096):
    with open(path, "r+b") as file:
        file.seek(middle_of(path))
        file.write(bytes(size))


def cut_to_half(path):
    os.truncate(path, middle_of(path))


def empty(path):
    os.truncate(path, 0)


def replace_everywhere(path, old, new):
    with open(path, "r+b") as file:
        contents = file.read()
        file.seek(0)
        file.write(contents.replace(old, new))


def make_newer(path):
    replace_everywhere(path, BATCH_MAGIC, NEWER_BATCH_MAGIC)


def make_snapshot_newer(path):
    replace_everywhere(path, b"RVS1", b"RVS2")


def written_end(path):
    """The offset after the last byte that is not zero."""
    with open(path, "rb") as file:
        return len(file.read().rstrip(b"\0"))


def last_batch(path):
    with open(path, "rb") as file:
        return file.read().rfind(BATCH_MAGIC) - MAGIC_OFFSET


# --- checks --------------------------------------------------------------------------------------------


def refusal_or_all(site, *needed):
    """Faults if it starts with less than everything, or if its error is not as specified."""
    before = site.fingerprint()
    refusal = site.try_to_start()
    if refusal is None:
        yield from all_or_parked(site, *needed)
        return
    yield from complaint_about(refusal, *needed, DOCUMENT)
    if site.fingerprint() != before:
        yield Fault("changed", "directory", "the broker refused to start, but changed files")


def all_or_parked(site, *needed):
    """Startup does not read data before the snapshot. The broker parks it when it is read, and continues."""
    found = site.found()
    yield from disorder(found, site.sent)
    missing, parked = set(site.confirmed) - set(found), site.parked()
    if len(missing) != parked:
        yield Fault("silent loss", QUEUE, f"{len(missing)} messages are missing, {parked} of them known to be parked")
    silent = [word for word in needed if word not in site.told()]
    if parked and silent:
        yield Fault("unclear message", "broker", f"it parked {parked} messages and did not name {' nor '.join(silent)}")


# --- parked messages -----------------------------------------------------------------------------------


def with_damaged_bodies(ground, *numbers):
    """A running broker; the bodies of these messages, which are before its snapshot, were changed while it was
    stopped."""
    site = ground.copy_of(stopped)
    ids = [site.confirmed[number] for number in numbers]
    for id in ids:
        beginning = f"{id} {MESSAGE_BYTES} ".encode()
        for path in segments_of(site.front_door):
            with open(path, "rb") as file:
                place = file.read().find(beginning)
            if place >= 0:
                flip(path, place + len(beginning) + MESSAGE_BYTES // 2)
    site.start()
    return site, ids


def everything_but(site, ids):
    found = site.found()
    yield from disorder(found, site.sent)
    expected = [id for id in site.confirmed if id not in ids]
    if found != expected:
        yield Fault("lost", QUEUE, f"{len(found)} of {len(expected)} messages came beside the damaged ones")
    if site.parked() != len(ids):
        yield Fault("not parked", QUEUE, f"{site.parked()} messages are parked, {len(ids)} are damaged")


def a_damaged_message_is_parked_and_the_others_come(ground):
    site, ids = with_damaged_bodies(ground, 7)
    yield from everything_but(site, ids)
    if "parked" not in site.told():
        yield Fault("silent", "log", "nobody is told of a parked message")
    # Neither a stop nor a kill loses them.
    for end in (site.stop, site.kill):
        end()
        site.start()
        yield from everything_but(site, ids)


def a_purge_removes_what_is_parked(ground):
    site, ids = with_damaged_bodies(ground, 3, 11)
    yield from everything_but(site, ids)
    client = site.client()
    client.call("queue.purge", 0, QUEUE, False)
    client.close()
    site.kill()
    site.start()
    if site.parked() or site.found():
        yield Fault("still there", QUEUE, "after a purge")


def parked_messages_are_listed_and_discarded(ground):
    site, ids = with_damaged_bodies(ground, 3, 11)
    yield from everything_but(site, ids)
    api = Api(site.broker.http_port)
    path = f"/api/queues/%2F/{QUEUE}/parked"
    _, listed = api.request("GET", path)
    if [parked["unit"] for parked in listed] != ["message"] * 2 or "offset" not in listed[0]["reason"]:
        yield Fault("list", QUEUE, f"{listed}")
    status, _ = api.request("GET", "/api/health/checks/parked-messages")
    if status != 503:
        yield Fault("healthy", "broker", "with parked messages")
    api.request("DELETE", path)
    if api.request("GET", path)[1] or api.request("GET", "/api/health/checks/parked-messages")[0] != 200:
        yield Fault("still there", QUEUE, "after they were discarded")
    api.close()
    site.confirmed = [id for id in site.confirmed if id not in ids]
    site.kill()
    site.start()
    yield from everything_but(site, [])


# --- recovery options ----------------------------------------------------------------------------------


def messages_in(site, paths):
    """The messages whose bytes are in these files."""
    there = set()
    for path in paths:
        with open(path, "rb") as file:
            there.update(re.findall(BEGINNING_OF_BODY, file.read()))
    return [id for id in site.confirmed if id.encode() in there]


def walk_second_way(site, directory, damaged):
    """Removes the damaged segment, every later one, and snapshots after the damage: earlier messages are restored."""
    paths = segments_of(directory)
    kept = [path for path in paths if path < damaged]
    expected = messages_in(site, kept)
    for path in paths[len(kept):] + files_of(directory, ".snapshot"):
        os.remove(path)
    refusal = site.try_to_start()
    if refusal is not None:
        yield Fault("no way out", "second way", f"{refusal}")
        return
    found = site.found()
    yield from disorder(found, site.sent)
    missing = set(expected) - set(found)
    if missing:
        yield Fault("silent loss", "second way out", f"{len(missing)} messages before the damage are gone")
    yield from works(site)


def walk_third_way(site):
    """Moves the virtual host's directory away: the virtual host starts empty."""
    aside = os.path.join(site.broker.directory, "aside")
    shutil.move(site.front_door, aside)
    site.sent, site.confirmed = [], []
    refusal = site.try_to_start()
    if refusal is not None:
        yield Fault("no way out", "third way", f"{refusal}")
        return
    yield from works(site)


def works(site):
    """Publishes, is killed, and has the message after the restart."""
    client = site.client()
    client.call("queue.declare", 0, QUEUE, False, True, False, False, False, [])
    client.call("queue.purge", 0, QUEUE, False)
    client.close()
    site.sent, site.confirmed = [], []
    site.publish(3, 100, waves=2)
    site.kill()
    site.start()
    yield from site.losses()

# --- segments and snapshots ----------------------------------------------------------------------------


def first_segment(site):
    return segments_of(site.front_door)[0]


def closed_segment(site):
    return segments_of(site.front_door)[1]


def last_segment(site):
    return segments_of(site.front_door)[-1]


def snapshot(site):
    return files_of(site.front_door, ".snapshot")[0]


def flip_last_batch(path):
    flip(path, last_batch(path) + 60)


def damaged(base, which, harm):
    """A case: a file is damaged, the broker reports it, and the recovery options are tested."""
    def run(ground):
        site = ground.copy_of(base)
        path = which(site)
        harm(path)
        # A snapshot is checked as a whole, a version applies to the file, and a missing file is reported by its
        # position.
        needed = [os.path.dirname(path)]
        if os.path.exists(path):
            whole = path.endswith(".snapshot") or harm is make_newer
            needed = [path] if whole else [path, "offset"]
        yield from refusal_or_all(site, *needed)
        if site.broker.alive():
            return
        yield from walk_second_way(site, site.front_door, "" if path.endswith(".snapshot") else path)
        if harm is flip_middle:
            site.kill()
            yield from walk_third_way(site)
    return run


def second_way_for_a_snapshot_keeps_everything(ground):
    """Only the snapshot is damaged, and every segment exists: without the snapshot, everything is replayed from the
    beginning."""
    site = ground.copy_of(stopped)
    os.remove(snapshot(site))
    refusal = site.try_to_start()
    if refusal is None:
        yield from site.losses()
    else:
        yield Fault("no way out", "snapshot", f"{refusal}")


HARMS = {"a flipped bit in": flip_middle, "zeros in": zero_middle, "a cut through": cut_to_half,
         "nothing left of": empty, "the removal of": os.remove, "a newer version of": make_newer}
NOT_NOTICED = {"silent loss": "nothing but the segment itself knows how far it was synced, so a last segment whose "
                              "end is damaged passes for one that was torn by a crash; the document says so"}

# Damage that the broker cannot detect; it detects everything else in the table below.
KNOWN = {
    ("killed", "a cut through", "the last segment"): NOT_NOTICED,
    ("killed", "nothing left of", "the last segment"): NOT_NOTICED,
}


def segment_cases():
    for base, when in ((killed, "after a kill"), (stopped, "after a stop")):
        for which, name in ((first_segment, "the first segment"), (closed_segment, "a closed segment"),
                            (last_segment, "the last segment")):
            for harm, damage in HARMS.items():
                # Removing the last segment is the second recovery option and cannot be detected.
                if (base, which, damage) == (killed, last_segment, os.remove):
                    continue
                # The first segment is like any other, except that there is none before it.
                if which is not first_segment or damage is os.remove:
                    yield Case(f"damage {when}: {harm} {name}", damaged(base, which, damage),
                               KNOWN.get((base.__name__, harm, name), {}))


def snapshot_and_last_batch_cases():
    for harm, damage in (("a flipped bit in", flip_middle), ("a cut through", cut_to_half), ("nothing left of", empty),
                         ("a newer version of", make_snapshot_newer)):
        yield Case(f"damage after a stop: {harm} the snapshot", damaged(stopped, snapshot, damage))
    for base, when, known in ((killed, "kill", NOT_NOTICED), (stopped, "stop", {})):
        yield Case(f"damage after a {when}: a flipped bit in the last batch",
                   damaged(base, last_segment, flip_last_batch), known)


# --- tail ----------------------------------------------------------------------------------------------


def garbage_behind_the_end_is_cut(ground):
    """Covers remains of a crash: noise, or a piece of an earlier batch."""
    noise = random.Random(1).randbytes(GARBAGE_BYTES)
    for rubbish, gap in ((noise, 0), (noise, 4096), (None, 0), (None, 8)):
        site = ground.copy_of(killed)
        path = last_segment(site)
        with open(path, "r+b") as file:
            piece = rubbish or file.read(GARBAGE_BYTES)
            file.seek((os.path.getsize(path) + 7) // 8 * 8 + gap)
            file.write(piece)
        yield from everything_and_goes_on(site)


def a_segment_that_was_just_begun_is_used(ground):
    site = ground.copy_of(killed)
    path = last_segment(site)
    end = int(os.path.basename(path).split(".")[0], 16) + os.path.getsize(path)
    open(os.path.join(site.front_door, f"{end:016x}.segment"), "w").close()
    yield from everything_and_goes_on(site)


def an_empty_segment_elsewhere_is_refused(ground):
    site = ground.copy_of(killed)
    path = os.path.join(site.front_door, "00000000f0000000.segment")
    open(path, "w").close()
    yield from refusal_or_all(site, "offset", site.front_door)
    if site.broker.alive():
        yield Fault("started", "broker", "though the stream has a gap")


def everything_and_goes_on(site):
    refusal = site.try_to_start()
    if refusal is not None:
        yield Fault("not started", "broker", f"{refusal}")
        return
    yield from site.losses()
    site.publish(5, 1000, waves=2)
    site.kill()
    site.start()
    yield from site.losses()
    site.kill()


# --- catalog -------------------------------------------------------------------------------------------


def catalog_segment(site):
    return segments_of(site.catalog)[0]


def a_damaged_catalog_is_refused(ground):
    site = ground.copy_of(with_many_users)
    path = catalog_segment(site)
    flip_middle(path)
    yield from refusal_or_all(site, path, "offset")
    if site.broker.alive():
        yield Fault("started", "broker", "on a damaged catalog")


def the_second_way_out_of_a_damaged_catalog_keeps_the_messages(ground):
    site = ground.copy_of(with_many_users)
    for path in files_of(site.catalog, ".segment") + files_of(site.catalog, ".snapshot"):
        os.remove(path)
    refusal = site.try_to_start()
    if refusal is None:
        yield Fault("started", "broker", "though the catalog has lost its virtual hosts")
        return
    yield from complaint_about(refusal, site.front_door, DOCUMENT)
    site.broker.arguments = [*site.broker.arguments, "--adopt-vhosts"]
    yield from everything(site)


def everything(site):
    refusal = site.try_to_start()
    if refusal is None:
        yield from site.losses()
    else:
        yield from complaint_about(refusal, DOCUMENT)


def a_catalog_that_is_empty_or_gone_is_noticed(ground):
    for harm in (empty, os.remove, make_newer):
        site = ground.copy_of(with_many_users)
        harm(catalog_segment(site))
        yield from everything(site)
    site = ground.copy_of(with_many_users)
    shutil.rmtree(site.catalog)
    yield from everything(site)


def damage_to_the_last_change_of_the_catalog_loses_no_virtual_host(ground):
    site = ground.site()
    site.start()
    api = Api(site.broker.http_port)
    api.request("PUT", "/api/vhosts/last", {})
    api.close()
    folder = directory_of_vhost(site.data, "last")
    site.stop()
    there = os.path.exists(folder)
    path = catalog_segment(site)
    flip(path, written_end(path) - 2)
    refusal = site.try_to_start()
    if refusal is not None:
        yield from complaint_about(refusal, path, "offset", DOCUMENT)
    elif there and not os.path.exists(folder):
        yield Fault("silent loss", "virtual host", "it is gone with its directory")


CASES = [*segment_cases(), *snapshot_and_last_batch_cases(), *(case_of(function) for function in (
    second_way_for_a_snapshot_keeps_everything, garbage_behind_the_end_is_cut, a_segment_that_was_just_begun_is_used,
    an_empty_segment_elsewhere_is_refused, a_damaged_message_is_parked_and_the_others_come,
    a_purge_removes_what_is_parked, parked_messages_are_listed_and_discarded, a_damaged_catalog_is_refused,
    the_second_way_out_of_a_damaged_catalog_keeps_the_messages, a_catalog_that_is_empty_or_gone_is_noticed,
    damage_to_the_last_change_of_the_catalog_loses_no_virtual_host))]
