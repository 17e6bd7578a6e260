"""Virtual hosts that are deleted and created again while clients publish to them: each has its own messages and no file
of its predecessor."""
import os
import random
import threading
import time

from brokers_to_crash import Api, Client, ClosedByBroker, Lost  # Also makes modules of other folders importable.
from cases import case_of
from checker import Fault
from sites import directory_of_vhost
import wire

ROUNDS = 30
SECONDS_MAX = 120
PUBLISHERS = 8
BODY_BYTES = (20_000, 200_000)
FRAME_BYTES = 100_000
CHURNED, QUEUE = "vx", "churned"
CONFIRM_SECONDS_MAX = 20
END_SECONDS_MAX = 30
SEED = 1


class Crowd:
    """Publishers that send as fast as possible until they are disconnected."""

    def __init__(self, port, chances):
        bodies = [os.urandom(chances.randint(*BODY_BYTES)) for _ in range(16)]
        self.publishes = b"".join(encoded(body) for body in bodies)
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self.publish, args=(port,)) for _ in range(PUBLISHERS)]
        for thread in self.threads:
            thread.start()

    def publish(self, port):
        client = Client(port, CHURNED)
        try:
            declare(client)
            while not self.over.is_set():
                client.write(self.publishes)
        except (ClosedByBroker, Lost, OSError):
            pass
        client.drop()

    def leave(self):
        self.over.set()
        for thread in self.threads:
            thread.join(END_SECONDS_MAX)


def encoded(body):
    """The frames of a publish."""
    method = wire.encode_method("basic.publish", (0, "", QUEUE, False, False))
    pieces = [body[start:start + FRAME_BYTES] for start in range(0, len(body), FRAME_BYTES)]
    return b"".join([wire.frame(wire.FRAME_METHOD, 1, method),
                     wire.frame(wire.FRAME_HEADER, 1, wire.encode_header(len(body), {"delivery-mode": 2})),
                     *(wire.frame(wire.FRAME_BODY, 1, piece) for piece in pieces)])


def declare(client):
    client.call("queue.declare", 0, QUEUE, False, True, False, False, False, [])


def publish_confirmed(port, body):
    """Returns whether the broker confirmed it."""
    client = Client(port, CHURNED)
    declare(client)
    client.call("confirm.select", False)
    client.publish("", QUEUE, body, {"delivery-mode": 2})
    confirmed = client.read_until(lambda: client.events, CONFIRM_SECONDS_MAX)
    client.close()
    return bool(confirmed) and client.events[0][0] == "basic.ack"


def bodies_in(port):
    client = Client(port, CHURNED)
    declare(client)
    bodies = []
    while len(bodies) < 10:
        message = client.get(QUEUE, no_ack=False)
        if message is None:
            break
        bodies.append(message.body)
    client.drop()
    return bodies


def put(api, expected=(201, 204)):
    status, answer = api.request("PUT", f"/api/vhosts/{CHURNED}", {})
    if status not in expected:
        yield Fault("HTTP", CHURNED, f"PUT was answered with {status} {answer}")


def churn(site, chances, number):
    """One round on a running broker; afterwards the broker is running again, unless there was a fault."""
    port = site.broker.port
    api = Api(site.broker.http_port)
    yield from put(api)
    crowd = Crowd(port, chances)
    try:
        time.sleep(chances.uniform(0.05, 0.4))
        status, answer = api.request("DELETE", f"/api/vhosts/{CHURNED}")
        if status != 204:
            yield Fault("HTTP", CHURNED, f"DELETE was answered with {status} {answer}")
        yield from put(api, (201,))
        body = f"of round {number}".encode()
        if not publish_confirmed(port, body):
            yield Fault("unconfirmed", CHURNED, "a message to the new virtual host is not confirmed")
    except (ClosedByBroker, Lost, OSError) as error:
        yield Fault("broker died", f"round {number}", f"{error}; {site.told().strip()[-300:]}")
        return
    finally:
        crowd.leave()
        api.close()
    if chances.random() < 0.5:
        site.kill()
    else:
        site.stop()
    refusal = site.try_to_start()
    if refusal is not None:
        yield Fault("not started", f"round {number}", f"{refusal}")
        return
    found = bodies_in(site.broker.port)
    if found != [body]:
        yield Fault("strangers", f"round {number}", f"{[one[:20] for one in found]} is there and not {body}")


def a_virtual_host_made_again_has_nothing_of_its_predecessor(ground):
    site = ground.site()
    site.start()
    chances = random.Random(SEED)
    end = time.monotonic() + SECONDS_MAX
    for number in range(ROUNDS):
        faults = list(churn(site, chances, number))
        if faults:
            yield from faults
            return
        if time.monotonic() > end:
            break
    yield from directories_left(site)


def directories_left(site):
    """After startup, the deleted directories are removed."""
    folder = os.path.join(site.data, "vhosts")
    live = {directory_of_vhost(site.data, name) for name in ("/", CHURNED)}
    left = {os.path.join(folder, name) for name in os.listdir(folder)}
    if left != live:
        yield Fault("left over", "directory", f"{sorted(left - live)} is still there")


def a_directory_goes_while_the_broker_runs(ground):
    """Not only at the next startup."""
    site = ground.site()
    site.start()
    api = Api(site.broker.http_port)
    yield from put(api)
    crowd = Crowd(site.broker.port, random.Random(SEED))
    time.sleep(0.3)
    directory = directory_of_vhost(site.data, CHURNED)
    api.request("DELETE", f"/api/vhosts/{CHURNED}")
    yield from put(api, (201,))
    crowd.leave()
    end = time.monotonic() + END_SECONDS_MAX
    while os.path.exists(directory) and time.monotonic() < end:
        time.sleep(0.05)
    if os.path.exists(directory):
        yield Fault("left over", "directory", f"{directory} is still there")
    yield from directories_left(site)
    api.close()


CASES = [case_of(function) for function in (
    a_virtual_host_made_again_has_nothing_of_its_predecessor, a_directory_goes_while_the_broker_runs)]
