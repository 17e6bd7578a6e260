"""The definitions of a broker, read over its HTTP API, and workloads that change them under load."""
import pika

from actors import Actor, PikaActor, Publisher
from brokers_to_crash import Api, segment
from checker import Fault
from ledger import Certainty, Lane, Publication, body_of, marks_of
from vhosts import NO_ROOM
from workload import Binding, Exchange, Queue, Workload, died_once

VHOST = "/"


class Definitions:
    """All definitions of the virtual host at one time."""

    def __init__(self, http_port):
        api = Api(http_port)
        self.queues = {queue["name"]: queue for queue in self.listing(api, "queues")}
        self.exchanges = {exchange["name"]: exchange for exchange in self.listing(api, "exchanges")}
        self.bindings = {(binding["source"], binding["destination"], binding["routing_key"])
                         for binding in self.listing(api, "bindings")}
        self.policies = {policy["name"]: policy["definition"] for policy in self.listing(api, "policies")}
        api.close()

    @staticmethod
    def listing(api, kind):
        status, answer = api.request("GET", f"/api/{kind}/{segment(VHOST)}")
        if status != 200:
            raise ValueError(f"GET of {kind} was answered with {status} {answer}")
        return answer


def check_definitions(workloads, definitions):
    """Everything declared before the round exists, unless it is transient."""
    for workload in workloads:
        for queue in workload.queues:
            yield from check_queue(queue, definitions.queues.get(queue.name))
        for exchange in workload.exchanges:
            if definitions.exchanges.get(exchange.name, {}).get("type") != exchange.kind:
                yield Fault("definition lost", exchange.name, "the exchange is gone")
        for binding in workload.bindings:
            if (binding.exchange, binding.queue, binding.key) not in definitions.bindings:
                yield Fault("definition lost", binding.queue, f"its binding to {binding.exchange} is gone")


def check_queue(declared, found):
    if not declared.durable:
        if found is not None:
            yield Fault("transient queue kept", declared.name, "it should have gone with the broker")
    elif found is None:
        yield Fault("definition lost", declared.name, "the queue is gone")
    elif found["arguments"] != declared.arguments or not found["durable"]:
        yield Fault("definition changed", declared.name, f"it has the arguments {found['arguments']}")


# --- policies ----------------------------------------------------------------------------------------


class PoliciesChange(Workload):
    """The limit of a queue and its dead-letter target change. Whichever policy applies, nothing is lost."""
    name = "governed"
    queues = (Queue("governed.source"), Queue("governed.dead.a"), Queue("governed.dead.b"))
    exchanges = (Exchange("governed.dlx.a"), Exchange("governed.dlx.b"))
    bindings = (Binding("governed.dlx.a", "governed.dead.a"), Binding("governed.dlx.b", "governed.dead.b"))
    deaths = died_once("governed.source", "maxlen")
    lanes = (Lane("governed", ("governed.source", "governed.dead.a", "governed.dead.b"),
                  {"governed.dead.a": deaths, "governed.dead.b": deaths},
                  ordered=("governed.source", "governed.dead.a", "governed.dead.b")),)
    choices = (None, {"max-length": 50, "dead-letter-exchange": "governed.dlx.a"},
               {"max-length": 20, "dead-letter-exchange": "governed.dlx.b"},
               {"max-length": 5, "dead-letter-exchange": "governed.dlx.a"})

    def begin(self, ledger, api):
        super().begin(ledger, api)
        api.request("DELETE", policy_path(self.name))
        self.possible = [None]  # Possible effective definitions: the last one replied, and one in progress.

    def actors(self, arena):
        return [Publisher(arena, self.name, [self.name], key=f"{self.name}.source"), Governor(arena, self)]

    def check(self, definitions):
        found = definitions.policies.get(self.name)
        if found not in self.possible:
            yield Fault("policy", self.name, f"it is {found} and not {' or '.join(map(str, self.possible))}")
        # Resolves a state that a crash left undecided.
        self.possible = [found]


def policy_path(name):
    return f"/api/policies/{segment(VHOST)}/{name}"


class Governor(Actor):
    def __init__(self, arena, workload):
        super().__init__(arena, f"{workload.name}.governor")
        self.workload = workload

    def connect(self):
        self.api = Api(self.arena.http_port)

    def work(self):
        definition = self.random.choice(self.workload.choices)
        self.workload.possible.append(definition)
        if definition is None:
            # Sent directly: a request that is repeated after a lost reply would find nothing to delete.
            status, answer = self.api.try_request("DELETE", policy_path(self.workload.name), None)
        else:
            status, answer = self.api.try_request("PUT", policy_path(self.workload.name), {
                "pattern": f"^{self.workload.name}\\.source$", "definition": definition, "apply-to": "queues"})
        if NO_ROOM in str(answer):
            self.workload.possible.pop()  # Certainly nothing has changed.
        elif status in (201, 204, 404):
            self.workload.possible = [definition]
        else:
            raise ValueError(f"the policy was answered with {status} {answer}")
        self.moved.set()
        self.pause(0.1)

    def drop(self):
        self.api.close()


# --- changing queues ---------------------------------------------------------------------------------


class QueuesComeAndGo(Workload):
    """The last -ok reply decides: declared and bound objects exist, deleted ones do not, and a queue that is declared
    again is empty."""
    name = "fleeting"
    exchanges = (Exchange("fleeting.hub", "direct"),)
    names = tuple(f"fleeting.{number}" for number in range(4))
    lanes = tuple(Lane(name, (name,), ordered=(name,)) for name in names)

    def begin(self, ledger, api):
        super().begin(ledger, api)
        for name in self.names:
            api.request("DELETE", f"/api/queues/{segment(VHOST)}/{name}")
        # True, False, or None while a change is in progress.
        self.exists = {name: False for name in self.names}
        self.bound = {name: False for name in self.names}
        self.inhabitants = {name: [] for name in self.names}

    def actors(self, arena):
        return [Founder(arena, self)]

    def check(self, definitions):
        for name in self.names:
            found = name in definitions.queues
            if self.exists[name] is not None and self.exists[name] != found:
                yield Fault("definition lost" if not found else "deletion lost", name,
                            f"the queue is {'there' if found else 'gone'}")
            bound = ("fleeting.hub", name, name) in definitions.bindings
            if self.bound[name] is not None and self.bound[name] != bound:
                yield Fault("definition lost" if not bound else "deletion lost", name,
                            f"its binding is {'there' if bound else 'gone'}")
            self.exists[name], self.bound[name] = found, bound


class Founder(PikaActor):
    """Declares, binds, fills, unbinds and deletes. Deletion removes messages as an ack does."""

    def __init__(self, arena, workload):
        super().__init__(arena, "founder")
        self.workload = workload
        self.number = 0

    def connect(self):
        super().connect()
        self.channel.confirm_delivery()

    def work(self):
        name = self.random.choice(self.workload.names)
        if not self.workload.exists[name]:
            self.declare(name)
        elif self.random.random() < 0.4:
            self.fill(name)
        elif self.random.random() < 0.5:
            self.toggle_binding(name)
        else:
            self.delete(name)
        self.moved.set()
        self.pause(0.01)

    def declare(self, name):
        self.workload.exists[name] = None
        self.ask(self.channel.queue_declare, name, durable=True)
        self.workload.exists[name] = True

    def toggle_binding(self, name):
        change = self.channel.queue_unbind if self.workload.bound[name] else self.channel.queue_bind
        wanted = not self.workload.bound[name]
        self.workload.bound[name] = None
        self.ask(change, name, "fleeting.hub", name)
        self.workload.bound[name] = wanted

    def fill(self, name):
        self.number += 1
        id = self.ledger.new_id("founder", self.number)
        self.ledger.publish(id, [name])
        self.workload.inhabitants[name].append(id)
        properties = pika.BasicProperties(delivery_mode=2, **marks_of(id))
        self.ask(self.channel.basic_publish, "", name, body_of(id, 0), properties)
        self.ledger.answer(id, Publication.CONFIRMED)

    def delete(self, name):
        ids = self.workload.inhabitants[name]
        self.workload.exists[name] = self.workload.bound[name] = None
        self.ledger.remove(name, ids, Certainty.WISHED)
        self.ask(self.channel.queue_delete, name)
        self.ledger.remove(name, ids, Certainty.PROMISED)
        self.workload.inhabitants[name] = []
        self.workload.exists[name] = self.workload.bound[name] = False
