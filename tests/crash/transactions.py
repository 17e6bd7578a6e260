"""A worker that consumes a message and publishes others instead, in one transaction."""
import pika

from actors import PikaActor, Publisher
from ledger import Certainty, Lane, Publication, Transaction, body_of, id_in, marks_of
from workload import Queue, Workload

INPUT, OUTPUTS = "transaction.in", ("transaction.out.a", "transaction.out.b", "transaction.out.quorum")


class Transactions(Workload):
    """A committed transaction took effect completely, any other completely or not at all."""
    name = "transactions"
    queues = (Queue(INPUT), Queue(OUTPUTS[0]), Queue(OUTPUTS[1]), Queue(OUTPUTS[2], {"x-queue-type": "quorum"}))
    lanes = (Lane(INPUT, (INPUT,), repeats=True), *(Lane(name, (name,), ordered=(name,)) for name in OUTPUTS))

    def actors(self, arena):
        return [Publisher(arena, "transaction.in", [INPUT], key=INPUT, pause=0.1), Worker(arena, "transaction.worker")]


class Worker(PikaActor):
    def connect(self):
        super().connect()
        self.channel.tx_select()
        self.number = 0

    def work(self):
        method, _, body = self.channel.basic_get(INPUT)
        if method is None:
            self.pause(0.02)
            return
        id = id_in(body)
        self.ledger.receive(INPUT, id)
        while not self.replace(id, method.delivery_tag):
            pass

    def replace(self, input, tag):
        """Returns whether the transaction was committed; otherwise the message is still unacked."""
        transaction = Transaction(input, [])
        self.ledger.transactions.append(transaction)
        for _ in range(self.random.randint(1, 4)):
            transaction.outputs.append(self.publish(self.random.choice(OUTPUTS)))
        self.channel.basic_ack(tag)
        if self.random.random() < 0.15:
            self.roll_back(transaction)
            return False
        self.commit(transaction)
        return True

    def publish(self, queue):
        self.number += 1
        id = self.ledger.new_id(self.name, self.number)
        size = self.random.randint(0, 300)
        self.ledger.publish(id, [queue], size, publication=Publication.WITHHELD)
        self.channel.basic_publish("", queue, body_of(id, size), pika.BasicProperties(delivery_mode=2, **marks_of(id)))
        return id

    def commit(self, transaction):
        transaction.outcome = "committing"
        self.answer(transaction, Publication.SENT)
        self.ledger.remove(INPUT, [transaction.input], Certainty.WISHED)
        self.ask(self.channel.tx_commit)
        self.moved.set()
        transaction.outcome = "committed"
        self.answer(transaction, Publication.CONFIRMED)
        self.ledger.remove(INPUT, [transaction.input], Certainty.PROMISED)

    def roll_back(self, transaction):
        self.ask(self.channel.tx_rollback)
        transaction.outcome = "rolled back"
        self.answer(transaction, Publication.ROLLED_BACK)

    def answer(self, transaction, publication):
        for id in transaction.outputs:
            self.ledger.answer(id, publication)
