"""Cases that random load would not reach: depth, size, idleness, and definitions outside of the virtual host. Each is a
generator of faults."""
import collections
import time

from actors import Arena, Publisher
from brokers_to_crash import Api, Client, ClosedByBroker, Lost
from checker import Fault, check_everything
from drain import Drain
from ledger import Lane, Ledger, Publication
from rounds import ACTOR_SECONDS_MAX, declare_all
from workload import Queue, Workload

DEPTH = 20_000
LARGE_BYTES_MAX = 6_000_000


class OneQueue(Workload):
    def __init__(self, name):
        self.name = name
        self.queues = (Queue(name),)
        self.lanes = (Lane(name, (name,), ordered=(name,)),)


class Scene:
    """A ledger and a queue for one case."""

    def __init__(self, broker, random, name):
        self.broker, self.random = broker, random
        self.workload = OneQueue(name)
        self.ledger = Ledger(f"case-{name}")
        self.workload.begin(self.ledger, None)
        declare_all(broker, [self.workload])

    def publisher(self, kind=Publisher, **options):
        arena = Arena(self.broker, self.ledger, self.random.random())
        name = self.workload.name
        publisher = kind(arena, name, [name], key=name, **options)
        publisher.start()
        publisher.connected.wait(ACTOR_SECONDS_MAX)
        return publisher

    def confirmed(self):
        return sum(message.publication == Publication.CONFIRMED for message in list(self.ledger.messages.values()))

    def await_confirms(self, publisher, count):
        end = time.monotonic() + ACTOR_SECONDS_MAX
        while self.confirmed() < count:
            if publisher.complaint or time.monotonic() > end:
                raise RuntimeError(f"{self.confirmed()} of {count} messages confirmed; {publisher.complaint}")
            time.sleep(0.05)

    def crash(self, publisher=None):
        if publisher is not None:
            publisher.arena.doomed.set()
        self.broker.kill()
        if publisher is not None:
            publisher.join(ACTOR_SECONDS_MAX)
        self.ledger.end_epoch(orderly=False)
        self.broker.start()
        # The count reports missing messages; the queue must exist to be counted.
        declare_all(self.broker, [self.workload])

    def count(self):
        return check_everything(self.ledger, Drain(self.broker, self.ledger, [self.workload]).run())


def a_deep_queue_survives_a_kill_in_order(broker, random):
    scene = Scene(broker, random, "deep")
    publisher = scene.publisher(kind=SmallPublisher, window=2000, burst=1000, pause=0)
    scene.await_confirms(publisher, DEPTH)
    scene.crash(publisher)
    yield from scene.count()


class SmallPublisher(Publisher):
    def size(self):
        return 0


class LargePublisher(Publisher):
    def size(self):
        return self.random.randint(1_000_000, LARGE_BYTES_MAX)


def large_messages_survive_a_kill(broker, random):
    scene = Scene(broker, random, "large")
    publisher = scene.publisher(kind=LargePublisher, window=3, burst=3, pause=0)
    scene.await_confirms(publisher, 10)
    time.sleep(random.uniform(0, 0.2))
    scene.crash(publisher)
    yield from scene.count()


def nothing_changes_by_being_killed_again_and_again(broker, random):
    scene = Scene(broker, random, "idle")
    publisher = scene.publisher()
    scene.await_confirms(publisher, 300)
    for _ in range(3):
        scene.crash(publisher)
        publisher = None
        broker.kill()
        broker.start_and_kill(random.uniform(0, broker.recovery_seconds))
        broker.start()
    yield from scene.count()


def what_was_taken_does_not_come_back(broker, random):
    scene = Scene(broker, random, "taken")
    publisher = scene.publisher()
    scene.await_confirms(publisher, 300)
    scene.crash(publisher)
    yield from scene.count()
    scene.crash()
    findings = Drain(broker, Scene(broker, random, "taken").ledger, [scene.workload]).run()
    for queue, messages in findings.items():
        for message in messages:
            yield Fault("came back", queue, f"{message.id} had been acked in a transaction")


def tampering_is_noticed(broker, random):
    """Tests the test: a client does what a broken broker might have done, and it must be reported."""
    scene = Scene(broker, random, "tampered")
    publisher = scene.publisher()
    scene.await_confirms(publisher, 100)
    publisher.arena.over.set()
    publisher.join(ACTOR_SECONDS_MAX)
    client = Client(broker.port, "/")
    _, second, third = (client.get("tampered", no_ack=True) for _ in range(3))
    for message in (second, second):
        client.publish("", "tampered", message.body, dict(message.properties))
    client.publish("", "tampered", third.body + b"!", dict(third.properties))
    client.sync()
    client.close()
    reported = collections.Counter(fault.kind for fault in scene.count())
    # The first is missing, the second is duplicated at the end, the third is damaged and therefore missing as well.
    expected = {"lost": 2, "double": 1, "order": 1, "damaged": 1}
    if reported != expected:
        yield Fault("unnoticed", "test", f"{dict(reported)} was reported and not {expected}")


def users_and_virtual_hosts_survive_a_kill(broker, _):
    api = Api(broker.http_port)
    wishes = (("/api/vhosts/crash", {}), ("/api/users/ghost", {"password": "boo", "tags": "monitoring"}),
              ("/api/permissions/crash/ghost", {"configure": "a.*", "write": "b.*", "read": "c.*"}))
    for path, body in wishes:
        yield from expect_status(api, "PUT", path, (201, 204), body)
    restart(broker, api)
    api = Api(broker.http_port)
    for path, body in wishes:
        status, answer = api.request("GET", path)
        shown = {key: value for key, value in body.items() if key in ("configure", "write", "read")}
        if status != 200 or not shown.items() <= answer.items():
            yield Fault("definition lost", path, f"after the restart it is {status} {answer}")
    yield from log_in(broker, "crash", "ghost", "boo")
    for path, _ in wishes[:2]:
        yield from expect_status(api, "DELETE", path, (204,))
    restart(broker, api)
    api = Api(broker.http_port)
    for path, _ in wishes[:2]:
        yield from expect_status(api, "GET", path, (404,))
    api.close()


def log_in(broker, *who):
    client = Client(broker.port, *who)
    try:
        client.ready()
    except (ClosedByBroker, Lost) as error:
        yield Fault("login", f"{who[1]} at {who[0]}", str(error))
    client.close()


def restart(broker, api):
    api.close()
    broker.kill()
    broker.start()


def expect_status(api, method, path, expected, body=None):
    status, answer = api.request(method, path, body)
    if status not in expected:
        yield Fault("HTTP", path, f"{method} was answered with {status} {answer}")


SPECIAL_CASES = (a_deep_queue_survives_a_kill_in_order, large_messages_survive_a_kill,
                 nothing_changes_by_being_killed_again_and_again, what_was_taken_does_not_come_back,
                 tampering_is_noticed, users_and_virtual_hosts_survive_a_kill)
