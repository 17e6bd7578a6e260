#!/usr/bin/python3
"""Directories written by earlier builds, kept as archives in earlier/. Every later build reads them.

  earlier.py --revenant build/release/revenant 2

writes earlier/format-2-killed.tar.xz and -stopped, after a change of the format; older archives stay.
"""
import argparse
import glob
import os
import shutil
import tarfile
import tempfile

from brokers_to_crash import Api
from cases import Case
from checker import Fault
from drain import found_in
from sites import Site

HERE = os.path.dirname(os.path.abspath(__file__))
ARCHIVES = os.path.join(HERE, "earlier")
ENDINGS = ("killed", "stopped")
MESSAGES, MESSAGE_BYTES, DEAD = 40, 300, 5
DEFINITIONS = (("/api/vhosts/old", {}), ("/api/users/ghost", {"password": "boo", "tags": "monitoring"}),
               ("/api/permissions/old/ghost", {"configure": "a.*", "write": "b.*", "read": "c.*"}),
               ("/api/exchanges/%2F/letters", {"type": "topic", "durable": True}),
               ("/api/policies/%2F/short", {"pattern": "^short", "definition": {"max-length": 7},
                                            "apply-to": "queues"}))
MORTAL_ARGUMENTS = [("x-dead-letter-exchange", "S", "letters"), ("x-queue-type", "S", "quorum")]


def furnish(site):
    """Creates every kind of object that a directory can contain."""
    site.start()
    api = Api(site.broker.http_port)
    for path, body in DEFINITIONS:
        status, answer = api.request("PUT", path, body)
        if status not in (201, 204):
            raise RuntimeError(f"{path}: {status} {answer}")
    api.close()
    client = site.client()
    client.call("queue.declare", 0, "mortal", False, True, False, False, False, MORTAL_ARGUMENTS)
    client.call("queue.declare", 0, "dead", False, True, False, False, False, [])
    client.call("queue.bind", 0, "dead", "letters", "#", False, [])
    for number in range(DEAD):
        client.publish("", "mortal", f"letter {number}".encode(), {"delivery-mode": 2, "priority": 1})
    client.sync()
    for number in range(DEAD):
        letter = client.get("mortal", no_ack=False)
        client.send("basic.reject", letter.values[0], False)
    client.close()
    site.publish(MESSAGES // 2, MESSAGE_BYTES, waves=2)


def check_furniture(site):
    site.sent = [f"site/one/0/{number}" for number in range(MESSAGES)]
    site.confirmed = list(site.sent)
    yield from site.losses()
    api = Api(site.broker.http_port)
    for path, body in DEFINITIONS:
        status, answer = api.request("GET", path)
        shown = {name: body[name] for name in body if name in ("configure", "write", "read", "type", "pattern")}
        if status != 200 or not shown.items() <= answer.items():
            yield Fault("definition lost", path, f"it is {status} {answer}")
    api.close()
    client = site.client()
    letters = [client.get("dead", no_ack=True) for _ in range(DEAD)]
    client.close()
    for number, letter in enumerate(letters):
        if letter is None or letter.body != f"letter {number}".encode():
            yield Fault("lost", "dead", f"letter {number} is not there, but {letter}")
        elif found_in(letter).deaths != (("mortal", "rejected", 1),):
            yield Fault("history", "dead", f"letter {number} has {found_in(letter).deaths}")


def of_archive(path):
    def run(ground):
        site = ground.site()
        site.unpack(path)
        refusal = site.try_to_start()
        if refusal is not None:
            yield Fault("not started", "broker", f"{refusal}")
            return
        yield from check_furniture(site)
        site.publish(5, 100)
        site.kill()
        site.start()
        yield from site.losses()
    return run


def without_scratch(member):
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return None if os.path.basename(member.name) in ("scratch", "lock") else member


def write(program, number):
    os.makedirs(ARCHIVES, exist_ok=True)
    for ending in ENDINGS:
        directory = tempfile.mkdtemp(prefix="revenant-earlier-")
        site = Site(program, directory)
        try:
            furnish(site)
            if ending == "killed":
                site.kill()
            else:
                site.stop()
            with tarfile.open(os.path.join(ARCHIVES, f"format-{number}-{ending}.tar.xz"), "w:xz") as archive:
                archive.add(site.data, "data", filter=without_scratch)
        finally:
            site.kill()
            shutil.rmtree(directory)


CASES = [Case(f"a directory of an earlier build is read: {os.path.basename(path)}", of_archive(path))
         for path in sorted(glob.glob(os.path.join(ARCHIVES, "format-*.tar.xz")))]

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--revenant", default=os.path.join(HERE, "..", "..", "build", "release", "revenant"))
    parser.add_argument("number", type=int)
    arguments = parser.parse_args()
    write(arguments.revenant, arguments.number)
