"""A full disk: below the alarm limit, and to the last byte. Publishers are blocked, consumers continue, nothing
confirmed is lost, and publishers are unblocked when there is space again."""
import contextlib
import os
import subprocess
import threading
import time

import pika

from actors import Arena, Publisher
from brokers_to_crash import Api, BrokerError, Lost
from cases import case_of
from checker import Fault
from journal_files import bytes_in
from ledger import Ledger, Publication, id_in
from sites import QUEUE, complaint_about
from volumes import Ballast, Volume

VOLUME_BYTES = 60_000_000
ALARM_BYTES = 20_000_000
BALLAST_BYTES = 25_000_000
MESSAGE_BYTES = 50_000
BLOCK_SECONDS_MAX = 30
ROOM_SECONDS_MAX = 5  # Unused segments are removed after some seconds.
STOP_SECONDS_MAX = 4
ANSWER_SECONDS_MAX = 2
TAKEN_WHILE_FULL = 20
CONFIRMS_THAT_SHOW_IT = 10
WRITES_AT_REST_MAX = 200
CONSUMED, CONSUMED_BYTES = 500, 100_000
IDLE_SECONDS, WRITTEN_SECONDS = 3, 1  # Time for an idle snapshot; time for records without a waiting reply.
GIVEN_BACK_SECONDS_MAX = 8
LEFT_BYTES_MAX = 20_000_000


class SteadyPublisher(Publisher):
    """Slow enough for an alarm to stop it."""

    def __init__(self, arena, name):
        super().__init__(arena, name, [QUEUE], key=QUEUE, window=8, burst=4, pause=0.004)
        self.blocked = threading.Event()

    def connect(self):
        super().connect()
        self.connection.on_blocked = lambda reason: self.blocked.set()
        self.connection.on_unblocked = self.blocked.clear

    def size(self):
        return MESSAGE_BYTES


class Stage:
    """A broker on a volume, and its publishers."""

    def __init__(self, ground, limit, size=VOLUME_BYTES):
        directory = ground.place()
        self.volume = Volume(directory, size)
        self.site = ground.site(("--disk-free-limit", str(limit)), self.volume.wrapper)
        self.site.broker.data = os.path.join(directory, "data")
        self.ledger = Ledger("full")
        self.publishers = []
        self.taken = set()

    def publisher(self):
        publisher = SteadyPublisher(Arena(self.site.broker, self.ledger, 1), f"steady{len(self.publishers)}")
        self.publishers.append(publisher)
        publisher.start()
        publisher.connected.wait(BLOCK_SECONDS_MAX)
        return publisher

    def note_promises(self):
        self.site.sent = list(self.ledger.messages)
        self.site.confirmed = [id for id, message in list(self.ledger.messages.items())
                               if message.publication == Publication.CONFIRMED and id not in self.taken]

    def fill(self):
        """Publishes until it is blocked. The publisher stays connected and waits."""
        publisher = self.publisher()
        if not publisher.blocked.wait(BLOCK_SECONDS_MAX):
            raise BrokerError(f"no connection.blocked came; {publisher.complaint}; {self.site.told()[-300:]}")
        self.note_promises()
        return publisher

    def kill(self):
        for publisher in self.publishers:
            publisher.arena.doomed.set()
        self.site.kill()
        for publisher in self.publishers:
            publisher.join(BLOCK_SECONDS_MAX)
        self.note_promises()

    def confirms_come(self, publisher):
        """Whether more messages are confirmed than before."""
        self.note_promises()
        enough = len(self.site.confirmed) + CONFIRMS_THAT_SHOW_IT
        end = time.monotonic() + ROOM_SECONDS_MAX
        while time.monotonic() < end and len(self.site.confirmed) < enough:
            time.sleep(0.05)
            self.note_promises()
        return len(self.site.confirmed) >= enough and not publisher.blocked.is_set()

    def take(self, count):
        """Gets and acks this many, or all, and returns the number. Taken messages may reappear, but need not."""
        connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", self.site.broker.port, heartbeat=0))
        channel = connection.channel()
        for number in range(count):
            method, _, body = channel.basic_get(QUEUE)
            if method is None:
                count = number
                break
            self.taken.add(id_in(body))
            channel.basic_ack(method.delivery_tag)
        connection.close()
        self.note_promises()
        return count

    def writes(self):
        """Number of write system calls of the broker."""
        with open(f"/proc/{self.site.broker.pid}/io") as file:
            return int(dict(line.split(": ") for line in file)["syscw"])


@contextlib.contextmanager
def stage_of(ground, limit, size=VOLUME_BYTES):
    stage = Stage(ground, limit, size)
    try:
        yield stage
    finally:
        stage.kill()
        ground.clear()
        stage.volume.close()


def fills_and_recovers(ground, limit):
    with stage_of(ground, limit) as stage:
        stage.site.start()
        ballast = Ballast(stage.volume, VOLUME_BYTES - BALLAST_BYTES)
        publisher = stage.fill()
        taken = stage.take(TAKEN_WHILE_FULL)
        if taken != TAKEN_WHILE_FULL:
            yield Fault("stuck", "consumer", f"{taken} of {TAKEN_WHILE_FULL} messages were delivered by a full broker")
        stage.kill()
        refusal = stage.site.try_to_start()
        if refusal is not None:
            yield from complaint_about(refusal, "No space left on device")
        else:
            yield from stage.site.losses()
            publisher = stage.publisher()
        ballast.remove()
        if refusal is not None:
            stage.site.start()
            publisher = stage.publisher()
        if not stage.confirms_come(publisher):
            yield Fault("stuck", "publisher", "nothing is confirmed though there is room again")
        stage.kill()
        stage.site.start()
        yield from stage.site.losses()


def at_the_alarm_publishers_wait_until_there_is_room(ground):
    yield from fills_and_recovers(ground, ALARM_BYTES)


def at_the_last_byte_publishers_wait_until_there_is_room(ground):
    yield from fills_and_recovers(ground, 0)


def the_waiting_publisher_goes_on_when_there_is_room(ground):
    """On the same connection; waiting messages are confirmed."""
    with stage_of(ground, 0) as stage:
        stage.site.start()
        ballast = Ballast(stage.volume, VOLUME_BYTES - BALLAST_BYTES)
        publisher = stage.fill()
        ballast.remove()
        if not stage.confirms_come(publisher):
            yield Fault("stuck", "publisher", "nothing is confirmed though there is room again")
        stage.kill()
        stage.site.start()
        yield from stage.site.losses()


def empties_and_recovers(ground, limit):
    with stage_of(ground, limit) as stage:
        stage.site.start()
        publisher = stage.fill()
        stage.take(10 * len(stage.site.sent))  # Until the queue is empty: some messages were in flight when it blocked.
        if stage.site.confirmed:
            yield Fault("lost", "consumer", f"{len(stage.site.confirmed)} confirmed messages were not delivered")
        if not stage.confirms_come(publisher):
            yield Fault("stuck", "publisher", f"the queue is empty, but publishing does not go on; "
                                              f"{stage.volume.free_bytes()} bytes are free")


def an_alarm_ends_when_the_queues_are_emptied(ground):
    yield from empties_and_recovers(ground, ALARM_BYTES)


def a_disk_full_to_the_last_byte_is_freed_by_emptying_the_queues(ground):
    yield from empties_and_recovers(ground, 0)


def consumed_messages_give_their_room_back(ground):
    """Although nothing else is written: by the broker that delivered them, and by one that was killed in between."""
    for ending in ("stay", "kill"):
        site = ground.site()
        site.start()
        site.publish(CONSUMED, CONSUMED_BYTES)
        time.sleep(IDLE_SECONDS)
        client = site.client()
        client.call("basic.consume", 0, QUEUE, "all", False, False, False, False, [])
        client.read_until(lambda: len(client.deliveries) >= CONSUMED, BLOCK_SECONDS_MAX)
        client.send("basic.ack", 0, True)
        client.close()
        if ending == "kill":
            time.sleep(WRITTEN_SECONDS)
            site.kill()
            site.start()
        end = time.monotonic() + GIVEN_BACK_SECONDS_MAX
        while (left := bytes_in(site.front_door)) > LEFT_BYTES_MAX and time.monotonic() < end:
            time.sleep(0.1)
        if left > LEFT_BYTES_MAX:
            yield Fault("space kept", ending, f"{left} bytes stay {GIVEN_BACK_SECONDS_MAX} s after all was acked")
        site.kill()


def a_consumer_of_a_full_broker_may_leave(ground):
    with stage_of(ground, 0, ALARM_BYTES) as stage:
        stage.site.start()
        stage.fill()
        client = stage.site.client()
        client.get(QUEUE, no_ack=False)
        client.send("channel.close", 200, "", 0, 0)
        if not client.read_until(lambda: client.answers, ANSWER_SECONDS_MAX):
            yield Fault("stuck", "consumer", f"no channel.close-ok came in {ANSWER_SECONDS_MAX} s")
        client.drop()


def a_full_broker_rests(ground):
    with stage_of(ground, 0, ALARM_BYTES) as stage:
        stage.site.start()
        stage.fill()
        before = stage.writes()
        time.sleep(1)
        writes = stage.writes() - before
        if writes > WRITES_AT_REST_MAX:
            yield Fault("spins", "broker", f"it tried to write {writes} times in a second")


def a_broker_with_a_full_disk_stops_at_sigterm(ground):
    with stage_of(ground, 0, ALARM_BYTES) as stage:
        stage.site.start()
        stage.fill()
        for publisher in stage.publishers:
            publisher.arena.doomed.set()
        process = stage.site.broker.process
        process.terminate()
        try:
            status = process.wait(STOP_SECONDS_MAX)
            if status != 0:
                yield Fault("exit status", "broker", f"it ended with {status}")
        except subprocess.TimeoutExpired:
            yield Fault("slow stop", "broker", f"it runs {STOP_SECONDS_MAX} s after SIGTERM")
        stage.kill()
        stage.site.start()
        yield from stage.site.losses()


def a_definition_that_finds_no_room_does_not_end_the_broker(ground):
    """After a restart, the catalog needs space for its next change."""
    with stage_of(ground, 0, ALARM_BYTES) as stage:
        stage.site.start()
        stage.fill()
        stage.kill()
        stage.site.start()
        api = Api(stage.site.broker.http_port)
        try:
            api.request("PUT", "/api/users/late", {"password": "x", "tags": ""})
        except (OSError, Lost):
            pass
        except Exception as error:  # http.client reports the end of the broker in different ways.
            if stage.site.broker.alive():
                raise error
        api.close()
        time.sleep(0.2)
        if not stage.site.broker.alive():
            yield Fault("broker died", "broker", stage.site.told().strip()[-300:])
            stage.site.start()
        yield from stage.site.losses()


def a_first_start_on_a_full_disk_is_refused(ground):
    with stage_of(ground, 0, ALARM_BYTES) as stage:
        ballast = Ballast(stage.volume, 0)
        refusal = stage.site.try_to_start()
        if refusal is not None:
            yield from complaint_about(refusal)
            if "full" not in refusal[1] and "No space left" not in refusal[1]:
                yield Fault("unclear message", "broker", refusal[1])
        stage.site.kill()
        ballast.remove()
        stage.site.start()
        stage.site.publish(10, 100)
        stage.site.kill()
        stage.site.start()
        yield from stage.site.losses()
        stage.ledger.messages.clear()


CASES = [case_of(function) for function in (
    at_the_alarm_publishers_wait_until_there_is_room, at_the_last_byte_publishers_wait_until_there_is_room,
    the_waiting_publisher_goes_on_when_there_is_room, an_alarm_ends_when_the_queues_are_emptied,
    a_disk_full_to_the_last_byte_is_freed_by_emptying_the_queues, consumed_messages_give_their_room_back, a_consumer_of_a_full_broker_may_leave,
    a_full_broker_rests, a_broker_with_a_full_disk_stops_at_sigterm,
    a_definition_that_finds_no_room_does_not_end_the_broker, a_first_start_on_a_full_disk_is_refused)]
