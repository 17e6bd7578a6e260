"""Transactions of all sizes around the limit of 64 MiB, with kill -9 in between. Committed transactions are found
completely, refused or uncommitted ones not at all, and none in part. Their bytes are held until the commit, which is
more than chaos allows a broker to use, so these rounds have their own broker and memory limit."""
import collections
import dataclasses
import random
import threading
import time

from brokers_to_crash import ClosedByBroker, Lost
from cases import Case
from chaos_broker import Watch
from checker import Fault
from ledger import body_of, id_in
from sites import ANSWER_SECONDS_MAX, QUEUE

LIMIT_BYTES = 64 * 1024 * 1024
OVERHEAD_BYTES_MAX = 1000  # Counted per message in addition to its body.
ROUNDS = 6
KINDS = ("below", "beyond", "small")  # One of each per round.
SEED = random.randrange(1_000_000)
MESSAGE_BYTES = (200_000, 1_000_000, 6_000_000)
NEAR_BYTES = 300_000
KILL_SECONDS_MAX = 1.2
RESIDENT_BYTES_MAX = 450_000_000  # A few times the held bytes: a record being written, and the next one arriving.
REFUSED = 406


@dataclasses.dataclass
class Transaction:
    ids: list
    bytes: int  # Total of all bodies.
    outcome: str = "open"  # Later: committing, then committed or refused; or rolled back.

    @property
    def must_fit(self):
        return self.bytes + OVERHEAD_BYTES_MAX * len(self.ids) <= LIMIT_BYTES

    @property
    def must_be_refused(self):
        return self.bytes > LIMIT_BYTES


class Worker:
    """One client with consecutive transactions, so that the broker never holds two of this size."""

    def __init__(self, site, round_number, choice):
        self.site, self.round, self.choice = site, round_number, choice
        self.transactions = []
        self.complaints = []

    def run(self):
        try:
            client = self.site.client()
            for kind in self.choice.sample(KINDS, len(KINDS)):
                client.ready()
                client.call("tx.select")
                self.try_one(client, kind)
        except (Lost, OSError):  # The broker was killed.
            pass
        except Exception as error:  # Reported as a fault of the round.
            self.complaints.append(f"{type(error).__name__}: {error}")

    def total(self, kind):
        if kind == "below":
            return LIMIT_BYTES - self.choice.randint(0, NEAR_BYTES)
        if kind == "beyond":
            return LIMIT_BYTES + self.choice.randint(1, NEAR_BYTES)
        return self.choice.randint(1, LIMIT_BYTES // 2)

    def try_one(self, client, kind):
        transaction = Transaction([], 0)
        self.transactions.append(transaction)
        total, size = self.total(kind), self.choice.choice(MESSAGE_BYTES)
        roll_back = self.choice.random() < 0.15
        try:
            while transaction.bytes < total:
                id = f"site/{self.round}.{len(self.transactions)}/0/{len(transaction.ids)}"
                body = body_of(id, min(size, total - transaction.bytes))
                transaction.ids.append(id)
                transaction.bytes += len(body)
                client.publish("", QUEUE, body, {"delivery-mode": 2})
            transaction.outcome = "rolled back" if roll_back else "committing"
            client.call("tx.rollback" if roll_back else "tx.commit")
            transaction.outcome = "rolled back" if roll_back else "committed"
        except ClosedByBroker as closed:
            if closed.code != REFUSED or str(LIMIT_BYTES) not in str(closed):
                raise
            transaction.outcome = "refused"


def faults_of(transactions, found):
    """Compares the knowledge of the clients with the contents of the queue."""
    counts = collections.Counter(found)
    for transaction in transactions:
        there = sum(counts[id] > 0 for id in transaction.ids)
        text = f"{transaction.outcome}: {there} of {len(transaction.ids)} messages, {transaction.bytes} bytes"
        if any(counts[id] > 1 for id in transaction.ids):
            yield Fault("double", QUEUE, text)
        if there not in (0, len(transaction.ids)):
            yield Fault("half a transaction", QUEUE, text)
        elif there == 0 and transaction.outcome == "committed":
            yield Fault("lost", QUEUE, text)
        elif there > 0 and transaction.outcome not in ("committed", "committing"):
            yield Fault("not committed but there", QUEUE, text)
        if transaction.outcome == "refused" and transaction.must_fit:
            yield Fault("refused", QUEUE, text)
        if there > 0 and transaction.must_be_refused:
            yield Fault("beyond the limit", QUEUE, text)
    known = {id for transaction in transactions for id in transaction.ids}
    strangers = [id for id in counts if id not in known]
    if strangers:
        yield Fault("stranger", QUEUE, f"{len(strangers)} messages that nobody published, or damaged ones")


def take_all(site):
    """Empties the queue and returns the ids. One message at a time, because they are large."""
    client = site.client()
    found = []
    while (message := client.get(QUEUE, no_ack=True)) is not None:
        found.append(id_in(message.body))
    client.close()
    return found


def transactions_around_the_limit(ground):
    outcomes = collections.Counter()
    site = ground.site()
    for number in range(1, ROUNDS + 1):
        choice = random.Random(f"{SEED}/{number}")
        site.start()
        watches = [Watch(site.broker.process)]
        watches[0].start()
        worker = Worker(site, number, choice)
        thread = threading.Thread(target=worker.run, daemon=True)
        thread.start()
        killed = choice.random() < 0.7
        thread.join(choice.uniform(0, KILL_SECONDS_MAX) * choice.randint(1, len(KINDS)) if killed else None)
        watches[0].look()
        site.kill()
        thread.join(ANSWER_SECONDS_MAX)
        site.start()
        watches.append(Watch(site.broker.process))
        watches[1].start()
        yield from faults_of(worker.transactions, take_all(site))
        for complaint in worker.complaints:
            yield Fault("client", f"round {number}", complaint)
        watches[1].look()
        peak = max(watch.peak_bytes for watch in watches)
        if peak > RESIDENT_BYTES_MAX:
            yield Fault("memory", "broker", f"{peak / 1e6:.0f} MB resident")
        outcomes.update(transaction.outcome for transaction in worker.transactions)
        outcomes["peak MB"] = max(outcomes["peak MB"], peak // 1_000_000)
        site.stop()  # Makes the removal of drained messages durable.
    print(f"       seed {SEED}: {dict(outcomes)}")


CASES = [Case("transactions around the limit are whole or refused", transactions_around_the_limit)]
