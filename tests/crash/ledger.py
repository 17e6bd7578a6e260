"""What clients know: every wish they sent and every promise they were given, as facts about messages.

Facts are written down before a wish leaves and after an answer came, so the truth lies in between. Each message has
one publisher and each copy is settled by one consumer at a time; so no lock is needed."""
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
    """How far a wish to remove or to reject a message got."""
    NONE = 0
    WISHED = 1  # It was sent; whether the broker read it is unknown.
    DONE = 2  # The broker answered something sent later: it was done, but perhaps not yet durable.
    PROMISED = 3  # It was answered itself, and must hold forever.


@dataclasses.dataclass
class Lane:
    """Queues of which a message is to be in exactly one: where it was published to, and where it goes when it dies."""
    name: str
    queues: tuple  # Of the first, every message comes; in the others it is dead.
    deaths: dict = dataclasses.field(default_factory=dict)  # Queue: the histories that a message in it may have.
    letters: str = "at-most-once"  # What RabbitMQ calls the strategy.
    ordered: tuple = ()  # Queues that hold messages of one publisher in the order of their numbers.
    lossy: bool = False  # A restart may empty it.
    repeats: bool = False  # The consumer sees messages again that it has put back, or that return from the dead.

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
    """One attempt to take a message and to publish others instead."""
    input: str
    outputs: list
    outcome: str = "open"  # Then: committing and committed, or rolled back.


EMPTY = "empty"  # Publishers whose names begin so send no bodies; only properties tell the id then.


def is_empty(id):
    return f"/{EMPTY}" in id


def body_of(id, size):
    """The id and a filling that depends on it, so that no piece of another message goes unnoticed."""
    if is_empty(id):
        return b""
    head = f"{id} {size} ".encode()
    return head + (b"%08x" % zlib.crc32(head)) * (size // 8 + 1)


def marks_of(id):
    """What properties say of the message, beside the body: message-id and a header."""
    return {"message_id": id, "headers": {"mark": id}}


def id_in(body, message_id=None):
    """The id if the body is whole, else nothing. The property counts for messages without a body."""
    if not body:
        return message_id if message_id is not None and is_empty(message_id) else None
    try:
        id, size, _ = bytes(body[:200]).decode("ascii", "replace").split(" ", 2)
        return id if bytes(body) == body_of(id, int(size)) else None
    except ValueError:
        return None


class Ledger:
    """Facts of one round. An epoch is the life of one broker process."""

    def __init__(self, round_number):
        self.round = round_number
        self.epoch = 0
        self.lanes = {}
        self.messages = {}
        self.transactions = []
        self.receptions = collections.defaultdict(list)  # (lane, epoch): ids in the order of their deliveries.

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
        """Nothing if the message is none of this round: the checker tells of it when it finds it again."""
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
        """Before an orderly end a broker brings to disk what it has done."""
        for message in self.messages.values():
            for copy in message.copies.values():
                if orderly:
                    copy.removal = promised_if_done(copy.removal)
                    copy.death = promised_if_done(copy.death)
                else:
                    # What was done but not promised may be undone, and is then anyone's to do again.
                    copy.removal = wished_if_done(copy.removal)
                    copy.death = wished_if_done(copy.death)
        self.epoch += 1


def promised_if_done(certainty):
    return Certainty.PROMISED if certainty == Certainty.DONE else certainty


def wished_if_done(certainty):
    return Certainty.WISHED if certainty == Certainty.DONE else certainty
