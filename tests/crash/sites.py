"""A broker with its own directory, and the confirmed messages of one queue in it."""
import hashlib
import os
import shutil
import signal
import subprocess
import tarfile
import time
import urllib.parse

from brokers_to_crash import Api, BrokerError, Client, ClosedByBroker, Lost, RevenantToCrash
from checker import Fault
from ledger import body_of, id_in

QUEUE = "kept"
ANSWER_SECONDS_MAX = 20
END_SECONDS_MAX = 90
PARKED_SECONDS = 0.5  # Messages that have not arrived after this time may be parked.
TEXT_SHOWN_MAX = 400
FRONT_DOOR = "/"


class Skipped(Exception):
    """This machine cannot run the case; the text gives the reason."""


class Site:
    def __init__(self, program, directory, arguments=(), wrapper=()):
        self.broker = RevenantToCrash(program, directory, arguments, wrapper)
        self.sent, self.confirmed = [], []  # Ids, in order.

    @property
    def data(self):
        return self.broker.data

    def copy(self, directory, arguments=()):
        """Another site with the same confirmed messages and a copy of the data. The broker of this one must not run."""
        other = Site(self.broker.program, directory, arguments)
        shutil.copytree(self.data, other.data)
        other.sent, other.confirmed = list(self.sent), list(self.confirmed)
        return other

    # --- process -------------------------------------------------------------------------------------

    def start(self):
        self.broker.start()
        client = self.client()
        client.call("queue.declare", 0, QUEUE, False, True, False, False, False, [])
        client.close()

    def client(self):
        return Client(self.broker.port, "/")

    def end(self, *signals):
        """Returns the exit status; a negative one is a signal."""
        for number in signals:
            self.broker.process.send_signal(number)
        status = self.await_end()
        self.broker.process = None
        return status

    def await_end(self):
        try:
            return self.broker.process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.broker.kill()
            raise BrokerError(f"the broker did not end within {END_SECONDS_MAX} s") from None

    def kill(self):
        self.broker.kill()

    def stop(self):
        return self.end(signal.SIGTERM)

    def told(self):
        """The output of the broker since the log was cleared."""
        with open(self.broker.log, errors="replace") as log:
            return log.read()

    def unpack(self, path):
        """Extracts the data of an archive. The site has no data yet."""
        os.makedirs(self.broker.directory)
        with tarfile.open(path) as archive:
            archive.extractall(self.broker.directory)

    def forget_log(self):
        if os.path.exists(self.broker.log):
            os.truncate(self.broker.log, 0)

    def try_to_start(self):
        """None if the broker runs, else its exit status and the end of its output."""
        self.forget_log()
        try:
            self.broker.start()
            return None
        except BrokerError:
            return self.broker.last_process.returncode, self.told().strip()

    # --- messages ------------------------------------------------------------------------------------

    def publish(self, count, size, waves=1):
        """Each wave is confirmed before the next one is sent, so each is at least one batch."""
        client = self.client()
        client.call("confirm.select", False)
        for _ in range(waves):
            ids = [f"site/one/0/{len(self.sent) + number}" for number in range(count)]
            self.sent += ids
            before, answered = client.published, 0
            for id in ids:
                client.publish("", QUEUE, body_of(id, size), {"delivery-mode": 2})
            while answered < count:
                if not client.read_until(lambda: client.events, ANSWER_SECONDS_MAX):
                    raise BrokerError(f"{answered} of {count} messages were confirmed")
                name, (tag, _) = client.events.popleft()[:2]
                if name != "basic.ack":
                    raise BrokerError(f"a publish was answered with {name}")
                # Messages become durable in order, so an ack also covers all earlier ones.
                self.confirmed += ids[answered:tag - before]
                answered = max(answered, tag - before)
        client.close()

    def found(self, queue=QUEUE):
        """The ids in the queue, in order; None for a damaged message. They are not removed."""
        client = self.client()
        try:
            count = client.call("queue.declare", 0, queue, True, False, False, False, False, [])[1]
        except ClosedByBroker as closed:
            client.close()
            if closed.code != 404:
                raise
            return []
        client.call("basic.consume", 0, queue, "look", False, False, False, False, [])
        end = time.monotonic() + ANSWER_SECONDS_MAX
        while not client.read_until(lambda: len(client.deliveries) >= count, PARKED_SECONDS):
            if time.monotonic() > end or len(client.deliveries) + self.parked(queue) >= count:
                break
        ids = [id_in(message.body) for message in client.deliveries]
        client.drop()
        return ids

    def parked(self, queue=QUEUE):
        """Number of messages that the broker has parked."""
        api = Api(self.broker.http_port)
        _, view = api.request("GET", f"/api/queues/%2F/{queue}")
        api.close()
        return view["messages_parked"]

    def losses(self):
        """Faults if not everything confirmed is found, once and in order."""
        found = self.found()
        yield from disorder(found, self.sent)
        missing = set(self.confirmed) - set(found)
        if missing:
            yield Fault("silent loss", QUEUE, f"the broker starts without {len(missing)} of {len(self.confirmed)} "
                                              "confirmed messages")

    # --- disk ----------------------------------------------------------------------------------------

    @property
    def front_door(self):
        return directory_of_vhost(self.data, FRONT_DOOR)

    @property
    def catalog(self):
        return os.path.join(self.data, "catalog")

    def fingerprint(self):
        """Covers everything that startup must not change before it has succeeded: all files but the lock and the
        scratch."""
        prints = {}
        for folder, folders, files in os.walk(self.data):
            folders[:] = [name for name in folders if name != "scratch"]
            for name in files:
                path = os.path.join(folder, name)
                if path != os.path.join(self.data, "lock"):
                    with open(path, "rb") as file:
                        prints[os.path.relpath(path, self.data)] = hashlib.sha1(file.read()).hexdigest()
        return prints


def directory_of_vhost(data, vhost):
    """Identified by the file with its name; directories of early builds are named after their virtual hosts."""
    folder = os.path.join(data, "vhosts")
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        if not name.endswith(".vhost") or "name" not in os.listdir(path) or "deleted" in os.listdir(path):
            continue
        with open(os.path.join(path, "name")) as file:
            if file.read() == vhost + "\n":
                return path
    return os.path.join(folder, urllib.parse.quote(vhost, safe=""))


def disorder(found, expected):
    """Faults if the findings are not a subsequence of the expected ids."""
    places = {id: place for place, id in enumerate(expected)}
    last = -1
    for id in found:
        if id is None:
            yield Fault("damaged", QUEUE, "a message was delivered that nobody published")
        elif id not in places:
            yield Fault("stranger", QUEUE, f"{id} was never published")
        elif places[id] <= last:
            yield Fault("order", QUEUE, f"{id} is behind {expected[last]}")
        else:
            last = places[id]


def files_of(directory, ending):
    """Paths in the order of their names, which is the order of their positions."""
    return sorted(os.path.join(directory, name) for name in os.listdir(directory) if name.endswith(ending))


def segments_of(directory):
    return files_of(directory, ".segment")


def complaint_about(refusal, *needed):
    """A fault if an error lacks a needed text, or if the process did not exit with status 1."""
    status, text = refusal
    shown = text[-TEXT_SHOWN_MAX:]
    if status != 1:
        yield Fault("exit status", "broker", f"it ended with {status} and {shown!r}")
    missing = [word for word in needed if word not in text]
    if missing:
        yield Fault("unclear message", "broker", f"{shown!r} does not name {' nor '.join(missing)}")


__all__ = ["ClosedByBroker", "Lost", "Site", "Skipped", "complaint_about", "directory_of_vhost", "disorder",
           "files_of", "segments_of"]
