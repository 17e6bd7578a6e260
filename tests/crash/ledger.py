"""The knowledge of clients: every request they sent and every reply they received, as facts about messages.

A fact is recorded before a request is sent and after its reply arrived, so the true state is in between. Each message
has one publisher, and each copy is settled by one consumer at a time, so no lock is needed."""
import collections
import dataclasses
import enum
import zlib


class Publication(enum.Enum):
    WITHHELD = "published in a transaction that was not committed"
    SENT = "published, without an answer"
    CONFIRMED = "confirmed"
    REFUSED = "refused"
    ROLLED_BACK = "rolled back"


class Certainty(enum.IntEnum):
    """The state of a request to remove or reject a message."""
    NONE = 0
    WISHED = 1  # Sent; whether the broker has read it is unknown.
    DONE = 2  # The broker replied to a later request: it was done, but perhaps is not durable yet.
    PROMISED = 3  # Replied; it must hold permanently.


@dataclasses.dataclass
class Lane:
    """Queues of which a message must be in exactly one: its original queue and the targets of its dead letters."""
    name: str
    queues: tuple  # Every message enters the first; in the others it is a dead letter.
    deaths: dict = dataclasses.field(default_factory=dict)  # Queue: possible death histories of its messages.
    letters: str = "at-most-once"  # RabbitMQ's dead-letter strategy.
    ordered: tuple = ()  # Queues that keep messages of one publisher in order.
    lossy: bool = False  # A restart may empty it.
    repeats: bool = False  # The consumer receives messages again: requeued ones, or returned dead letters.

    @property
    def mortal(self):
        return len(self.queues) > 1


@dataclasses.dataclass
class Copy:
    message: "Message"
    removal: Certainty = Certainty.NONE
    death: Certainty = Certainty.NONE
    received: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # By epoch.


@dataclasses.dataclass
class Message:
    id: str
    size: int
    publication: Publication = Publication.SENT
    persistent: bool = True
    copies: dict = dataclasses.field(default_factory=dict)  # By the name of the lane.


@dataclasses.dataclass
class Transaction:
    """One attempt to consume a message and publish others instead."""
    input: str
    outputs: list
    outcome: str = "open"  # Later: committing and committed, or rolled back.


EMPTY = "empty"  # Publishers with this prefix send no bodies; only the properties contain the id.


def is_empty(id):
    return f"/{EMPTY}" in id


def body_of(id, size):
    """The id and padding that depends on it, so that mixed-up pieces of messages are noticed."""
    if is_empty(id):
        return b""
    head = f"{id} {size} ".encode()
    return head + (b"%08x" % zlib.crc32(head)) * (size // 8 + 1)


def marks_of(id):
    """Properties that identify the message in addition to the body: message-id and a header."""
    return {"message_id": id, "headers": {"mark": id}}


def id_in(body, message_id=None):
    """The id if the body is intact, else None. For messages without a body, the property is used."""
    if not body:
        return message_id if message_id is not None and is_empty(message_id) else None
    try:
        id, size, _ = bytes(body[:200]).decode("ascii", "replace").split(" ", 2)
        return id if bytes(body) == body_of(id, int(size)) else None
    except ValueError:
        return None


class Ledger:
    """Facts of one round. An epoch is one broker process."""

    def __init__(self, round_number):
        self.round = round_number
        self.epoch = 0
        self.lanes = {}
        self.messages = {}
        self.transactions = []
        self.receptions = collections.defaultdict(list)  # (lane, epoch): ids in the order of delivery.

    def add_lane(self, lane):
        self.lanes[lane.name] = lane

    # --- publishing ----------------------------------------------------------------------------------

    def new_id(self, publisher, number):
        return f"{self.round}/{publisher}/{self.epoch}/{number}"

    def publish(self, id, lanes, size=0, persistent=True, publication=Publication.SENT):
        message = Message(id, size, publication, persistent)
        message.copies = {lane: Copy(message) for lane in lanes}
        self.messages[id] = message
        return message

    def answer(self, id, publication):
        self.messages[id].publication = publication

    # --- settling ------------------------------------------------------------------------------------

    def copy(self, lane, id):
        """None if the message is not of this round; the checker reports it when it is found again."""
        message = self.messages.get(id)
        return message and message.copies.get(lane)

    def receive(self, lane, id):
        self.receptions[lane, self.epoch].append(id)
        copy = self.copy(lane, id)
        if copy is not None:
            copy.received[self.epoch] += 1

    def remove(self, lane, ids, certainty):
        for copy in filter(None, (self.copy(lane, id) for id in ids)):
            copy.removal = max(copy.removal, certainty)

    def reject(self, lane, ids, certainty):
        for copy in filter(None, (self.copy(lane, id) for id in ids)):
            copy.death = max(copy.death, certainty)

    # --- restarts ------------------------------------------------------------------------------------

    def end_epoch(self, orderly):
        """Before a clean end, a broker makes everything durable that it has done."""
        for message in self.messages.values():
            for copy in message.copies.values():
                if orderly:
                    copy.removal = promised_if_done(copy.removal)
                    copy.death = promised_if_done(copy.death)
                else:
                    # A change that was done but not replied may be undone, and may then be repeated by any consumer.
                    copy.removal = wished_if_done(copy.removal)
                    copy.death = wished_if_done(copy.death)
        self.epoch += 1


def promised_if_done(certainty):
    return Certainty.PROMISED if certainty == Certainty.DONE else certainty


def wished_if_done(certainty):
    return Certainty.WISHED if certainty == Certainty.DONE else certainty
