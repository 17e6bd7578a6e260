"""One round: load, the end of the broker, its restart, and the count."""
import collections
import random
import time

from actors import Arena
from brokers_to_crash import Api, BrokerError, Client
from checker import Fault, check_everything
from definitions import Definitions, PoliciesChange, QueuesComeAndGo, check_definitions
from drain import Drain
from dying import Expired, ExpiredOneByOne, Failing, Overflowing, Refused, RefusedToMorgue, Rejected, Retried
from ledger import Ledger
from living import Consumed, Fanout, Passing, Plain, Ranked
from transactions import Transactions

ACTOR_SECONDS_MAX = 60
MOVEMENT_SECONDS_MAX = 20
WORKLOADS = (Plain, Fanout, Consumed, Ranked, Passing, Rejected, Expired, ExpiredOneByOne, Retried, Overflowing,
             Refused, RefusedToMorgue, Failing, Transactions, PoliciesChange, QueuesComeAndGo)

# The ends of the parts of a round, in order; they repeat after ten rounds. With "leave", the clients leave and the
# broker keeps running, as a control: a fault there is not one of recovery.
ENDINGS = (("kill",), ("kill", "kill while starting"), ("leave",), ("term",), ("kill", "kill"), ("kill",),
           ("kill", "kill while starting", "kill while starting"), ("kill", "term"), ("kill",), ("term", "kill"))


class Round:
    def __init__(self, broker, workloads, number, seed, seconds, endings=None):
        self.broker, self.workloads, self.number, self.seed = broker, workloads, number, seed
        self.random = random.Random(f"{seed}/{number}")
        self.seconds = seconds
        self.endings = endings or ENDINGS[(number - 1) % len(ENDINGS)]
        self.ledger = Ledger(number)
        self.faults = []
        self.survived = True
        self.tally = ""

    def run(self):
        api = Api(self.broker.http_port)
        for workload in self.workloads:
            workload.begin(self.ledger, api)
        api.close()
        lives = sum(ending != "kill while starting" for ending in self.endings)
        for ending in self.endings:
            if ending == "kill while starting":
                self.broker.start_and_kill(self.random.uniform(0, self.broker.recovery_seconds))
                continue
            if not self.broker.alive():
                self.restart()
            self.live(ending, self.seconds / lives)
        if not self.broker.alive():
            self.restart()
        findings = Drain(self.broker, self.ledger, self.workloads).run()
        self.faults += check_everything(self.ledger, findings)
        self.tally = tally_of(self.ledger, findings)
        return self.faults

    def restart(self):
        self.broker.start()
        definitions = Definitions(self.broker.http_port)
        self.faults += check_definitions(self.workloads, definitions)
        for workload in self.workloads:
            self.faults += workload.check(definitions)

    # --- one process ---------------------------------------------------------------------------------

    def live(self, ending, seconds):
        declare_all(self.broker, self.workloads)
        arena = self.arena()
        actors = [actor for workload in self.workloads for actor in workload.actors(arena)]
        for actor in actors:
            actor.start()
        for actor in actors:
            actor.connected.wait(ACTOR_SECONDS_MAX)
        self.let_work(arena, actors, seconds)
        self.await_movement_of(actors)
        self.survived = self.broker.alive()
        if not self.survived:
            self.faults.append(self.died())
        if ending == "leave" and self.survived:
            arena.over.set()
        else:
            arena.doomed.set()
            self.end_broker(ending)
        self.await_end_of(actors)
        self.faults += arena.faults
        self.ledger.end_epoch(self.is_orderly(ending))

    def arena(self):
        return Arena(self.broker, self.ledger, self.seed)

    def is_orderly(self, ending):
        """Whether everything done before this end must hold after it."""
        return self.survived and ending != "kill"

    def died(self):
        return Fault("broker died", "broker", "by itself")

    def let_work(self, arena, actors, seconds):
        time.sleep(self.random.uniform(0.3, 1) * seconds)

    def await_movement_of(self, actors):
        """A round in which a workload does nothing would prove nothing."""
        end = time.monotonic() + MOVEMENT_SECONDS_MAX
        for actor in actors:
            while not actor.moved.wait(0.01) and actor.is_alive():
                if time.monotonic() > end:
                    self.faults.append(Fault("stalled", actor.name, "nothing was confirmed, settled or changed"))
                    break

    def end_broker(self, ending):
        if ending == "kill":
            self.broker.kill()
        elif not self.broker.terminate():
            self.faults.append(Fault("broker", "shutdown", "it did not end in time and with status 0 at SIGTERM"))

    def await_end_of(self, actors):
        for actor in actors:
            actor.join(ACTOR_SECONDS_MAX)
            if actor.is_alive():
                raise BrokerError(f"the client {actor.name} did not notice the end of its broker")
            if actor.complaint:
                self.faults.append(Fault("client", actor.name, actor.complaint))


def declare_all(broker, workloads):
    client = Client(broker.port, "/")
    for workload in workloads:
        for exchange in workload.exchanges:
            client.call("exchange.declare", 0, exchange.name, exchange.kind, False, True, False, False, False, [])
        for queue in workload.queues:
            client.call("queue.declare", 0, queue.name, False, queue.durable, False, False, False,
                        typed(queue.arguments))
        for binding in workload.bindings:
            client.call("queue.bind", 0, binding.queue, binding.exchange, binding.key, False, [])
    client.close()


def typed(arguments):
    return [(name, "I" if isinstance(value, int) else "S", value) for name, value in arguments.items()]


def tally_of(ledger, findings):
    """A summary of the round, to show that it was not empty."""
    publications = collections.Counter(message.publication.name.lower() for message in ledger.messages.values())
    committed = sum(transaction.outcome == "committed" for transaction in ledger.transactions)
    removed = sum(copy.removal > 0 for message in ledger.messages.values() for copy in message.copies.values())
    found = sum(map(len, findings.values()))
    dead = sum(bool(message.deaths) for messages in findings.values() for message in messages)
    return (f"{publications['confirmed']} confirmed, {publications['sent']} unanswered, "
            f"{publications['refused']} refused; {removed} copies acked or deleted, {committed} transactions "
            f"committed; {found} found, {dead} of them dead")


def all_workloads():
    return [kind() for kind in WORKLOADS]
