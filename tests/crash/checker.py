"""Compares the guarantees given to clients with the messages found after the restart."""
import collections
import dataclasses
import itertools

from ledger import Certainty, Publication


NEVER_DIED = ()


@dataclasses.dataclass
class Found:
    """A message taken out of a queue after the restart."""
    id: str  # None if the body or the properties are damaged.
    deaths: tuple = ()  # (queue, reason, count) of each record of x-death.
    picture: str = ""  # Description, if it is damaged.
    redelivered: bool = False


@dataclasses.dataclass
class Fault:
    kind: str
    place: str  # A lane, or the name of a definition.
    text: str
    letters: str = ""  # Dead-letter strategy of the lane, if any.

    def __str__(self):
        return f"{self.kind}: {self.place}: {self.text}"


def check_everything(ledger, findings):
    """Findings are lists of Found by queue, in queue order."""
    faults = []
    places = places_by_id(findings)
    for lane in ledger.lanes.values():
        faults += check_lane(ledger, lane, findings, places)
        faults += check_receptions(ledger, lane)
    faults += check_publishes(ledger, places)
    faults += check_transactions(ledger, places)
    return faults


def places_by_id(findings):
    places = collections.defaultdict(list)
    for queue, messages in findings.items():
        for message in messages:
            places[message.id].append((queue, message))
    return places


# --- one lane ----------------------------------------------------------------------------------------


def check_lane(ledger, lane, findings, places):
    faults = []

    def report(kind, text):
        faults.append(Fault(kind, lane.name, text, lane.letters if lane.mortal else ""))

    for message in ledger.messages.values():
        copy = message.copies.get(lane.name)
        if copy is not None:
            found = [place for place in places.get(message.id, ()) if place[0] in lane.queues]
            for kind, text in judge_copy(lane, message, copy, found):
                report(kind, text)
    for queue in lane.queues:
        for found in findings.get(queue, ()):
            for kind, text in judge_finding(ledger, lane, queue, found):
                report(kind, text)
        if queue in lane.ordered:
            for text in disorder([found.id for found in findings.get(queue, ())]):
                report("order", f"{queue} holds {text}")
    return faults


def judge_copy(lane, message, copy, found):
    """Faults in the number of queues in which a message was found."""
    where = ", ".join(f"{queue} (redelivered)" if one.redelivered else queue for queue, one in found)
    if len(found) > 1:
        yield "double", f"{message.id} is in {where}"
    if not found and is_missing(lane, message, copy):
        yield "lost", f"{message.id} was {message.publication.value} and is nowhere{history(copy)}"
    if found and copy.removal == Certainty.PROMISED:
        yield "came back", f"{message.id} was gone for certain and is in {where}"
    if found and message.publication in (Publication.WITHHELD, Publication.ROLLED_BACK):
        yield "uncommitted", f"{message.id} was {message.publication.value} and is in {where}"
    if copy.death == Certainty.PROMISED and any(queue == lane.queues[0] for queue, _ in found) and not lane.repeats:
        yield "death undone", f"{message.id} was rejected for certain and is in {where}"
    if message.publication == Publication.REFUSED and any(queue == lane.queues[0] for queue, _ in found):
        yield "refused but stored", f"{message.id} is in {where}"


def is_missing(lane, message, copy):
    """Whether a message that was not found should have been found."""
    durable = message.persistent and not lane.lossy
    return durable and message.publication == Publication.CONFIRMED and copy.removal == Certainty.NONE


def history(copy):
    told = [f"received in epoch {epoch}" for epoch in copy.received]
    if copy.death != Certainty.NONE:
        told.append("rejected")
    return f" ({', '.join(told)})" if told else ""


def judge_finding(ledger, lane, queue, found):
    """Faults in one message that was found."""
    message = ledger.messages.get(found.id)
    if found.id is None:
        yield "damaged", f"{queue} holds {found.picture}"
    elif message is None:
        kind = "stranger" if found.id.startswith(f"{ledger.round}/") else "from an earlier round"
        yield kind, f"{found.id} is in {queue}"
    elif lane.name not in message.copies:
        yield "misplaced", f"{found.id} is in {queue}"
    elif found.deaths not in lane.deaths.get(queue, [NEVER_DIED]):
        yield "history", f"{found.id} is in {queue} with {found.deaths}"


def disorder(ids):
    """Adjacent messages of one publisher in the wrong order. Numbers of a later epoch follow those of an earlier
    one."""
    latest = {}
    for id in filter(None, ids):
        round_number, publisher, epoch, number = id.split("/")
        position = int(epoch), int(number)
        before = latest.get((round_number, publisher))
        if before is not None and position < before[0]:
            yield f"{id} behind {before[1]}"
        latest[round_number, publisher] = position, id


# --- messages in several queues ----------------------------------------------------------------------


def check_publishes(ledger, places):
    """A publish reaches all its queues or none, even without a reply."""
    for message in ledger.messages.values():
        whole = [name for name, copy in message.copies.items() if copy.removal == Certainty.NONE]
        if message.publication != Publication.SENT or not message.persistent or len(whole) < 2:
            continue
        queues = {queue for queue, _ in places.get(message.id, ())}
        missing = [name for name in whole if not queues & set(ledger.lanes[name].queues)]
        if queues and missing:
            yield Fault("torn publish", missing[0], f"{message.id} is in {', '.join(sorted(queues))} only")


# --- deliveries --------------------------------------------------------------------------------------


def check_receptions(ledger, lane):
    """A consumer that does not requeue receives each message once per broker process, in order."""
    if lane.repeats:
        return
    for epoch in range(ledger.epoch + 1):
        ids = ledger.receptions.get((lane.name, epoch), [])
        for id, count in collections.Counter(ids).items():
            if count > 1:
                yield Fault("double", lane.name, f"{id} was delivered {count} times in epoch {epoch}")
        if lane.queues[0] in lane.ordered:
            for text in disorder(ids):
                yield Fault("order", lane.name, f"delivered in epoch {epoch}: {text}")


# --- transactions ------------------------------------------------------------------------------------


def check_transactions(ledger, places):
    by_input = itertools.groupby(sorted(ledger.transactions, key=lambda transaction: transaction.input),
                                 key=lambda transaction: transaction.input)
    for input, transactions in by_input:
        yield from check_attempts(ledger.messages.get(input), input, list(transactions), places)


def check_attempts(message, input, transactions, places):
    """At most one attempt took effect, completely, and then the input is removed."""
    came_true = []
    for transaction in transactions:
        there = [output for output in transaction.outputs if output in places]
        if there:
            came_true.append(transaction)
        if there and len(there) < len(transaction.outputs):
            missing = sorted(set(transaction.outputs) - set(there))
            yield Fault("broken transaction", "transactions",
                        f"{transaction.outcome}, took {input}: {', '.join(there)} without {', '.join(missing)}")
    if len(came_true) > 1:
        yield Fault("repeated transaction", "transactions", f"{input} was taken by {len(came_true)} transactions")
    if came_true and input in places:
        yield Fault("broken transaction", "transactions",
                    f"{came_true[0].outcome}: {', '.join(came_true[0].outputs)} came of {input}, which is still there")
    confirmed = message is not None and message.publication == Publication.CONFIRMED
    if not came_true and confirmed and input not in places:
        yield Fault("broken transaction", "transactions",
                    f"{input} is gone, but nothing came of it ({', '.join(t.outcome for t in transactions)})")
