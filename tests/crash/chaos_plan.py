"""The plan of a chaos round, determined by the seed before the round begins."""
import dataclasses
import random

from churn import VhostsComeAndGo
from definitions import PoliciesChange, QueuesComeAndGo
from depth import Deep, Space
from dying import Expired, ExpiredOneByOne, Failing, Overflowing, Refused, RefusedToMorgue, Rejected, Retried
from forged import Damaged, Forged
from heavy import Addressed, Chain, Cycle, DeathOfMany, DueAtOnce, Large, Purged, TimesChange, Topics
from living import Consumed, Fanout, Passing, Plain, Ranked
from transactions import Transactions
from trouble import Deserted, Errors, HugeNumbers, LargeDefinitions, Lists

# Three decks: regular workloads, heavy ones, and ones that cause trouble. Each round gets some of each.
USUAL = (Plain, Fanout, Consumed, Ranked, Passing, Rejected, Expired, ExpiredOneByOne, Retried, Overflowing, Refused,
         RefusedToMorgue, Failing, Transactions, PoliciesChange, QueuesComeAndGo)
HEAVY = (Addressed, Chain, Cycle, DeathOfMany, DueAtOnce, Large, Purged, TimesChange, Topics, Deserted, HugeNumbers)
TROUBLE = (VhostsComeAndGo, Forged, Damaged, Deep, Space, LargeDefinitions, Lists)
WORKLOADS = {kind.name: kind for kind in (*USUAL, *HEAVY, *TROUBLE, Errors)}

ENDINGS = ("kill", "kill", "kill", "term", "leave")
EVENTS = ("freeze", "full", "full at the end", "abandoned", "deaf", "freeze")
DEALT = ((USUAL, 6), (HEAVY, 4), (TROUBLE, 2))
LEAVE_BYTES = (0, 0, 50_000, 1_000_000)
DISK_FREE_LIMITS = (0, 0, 4_000_000, 8_000_000)
PLACEMENTS = ("auto", "auto", "home", "spread")


@dataclasses.dataclass
class Event:
    at: float  # Seconds after the clients started.
    kind: str
    seconds: float
    leave_bytes: int = 0

    def __str__(self):
        return f"{self.kind} ({self.at:.1f} s + {self.seconds:.1f} s)"


@dataclasses.dataclass
class Life:
    """One process: its arguments, the working time of the clients, the events in it, and its end."""
    arguments: list
    seconds: float
    events: list
    ending: str
    false_starts: list  # After the end: seconds until a start is killed.


@dataclasses.dataclass
class Plan:
    number: int
    workloads: list
    lives: list

    def __str__(self):
        return "; ".join(", ".join([*(event.kind for event in life.events), life.ending]) for life in self.lives)


class Deck:
    """Deals its cards in random order and reshuffles when all are dealt, so that every card appears regularly."""

    def __init__(self, random, cards):
        self.random, self.cards, self.left = random, list(cards), []

    def deal(self, count):
        dealt = []
        while len(dealt) < min(count, len(self.cards)):
            if not self.left:
                self.left = self.random.sample(self.cards, len(self.cards))
            card = self.left.pop()
            if card not in dealt:
                dealt.append(card)
        return dealt


def plans(seed, only=None, without=()):
    """Plans of round 1, 2, 3 … The first rounds do not depend on the number of rounds. To narrow down a failure, a plan
    can be limited to certain workloads, or exclude workloads and events."""
    shuffle = random.Random(f"{seed}/decks")
    decks = [(Deck(shuffle, [kind.name for kind in kinds]), count) for kinds, count in DEALT]
    events = Deck(shuffle, EVENTS)
    number = 0
    while True:
        number += 1
        names = [name for deck, count in decks for name in deck.deal(count)]
        plan = plan_of(number, random.Random(f"{seed}/plan/{number}"), list(only or names), events)
        plan.workloads = [name for name in plan.workloads if name not in without]
        for life in plan.lives:
            life.events = [event for event in life.events if event.kind not in without]
        yield plan


def plan_of(number, choice, names, events):
    lives = []
    for _ in range(choice.choice((1, 2, 2, 3))):
        kinds = events.deal(choice.choice((0, 1, 1, 2)))
        lives.append(life_of(choice, kinds, choice.choice(ENDINGS)))
    # Some troubles need a certain end.
    if "damaged" in names:
        lives[-1].ending = "term"
    if "forged" in names or "churn" in names:
        lives[0].ending = "kill"
        if len(lives) == 1:
            lives.append(life_of(choice, events.deal(1), lives[0].ending if "damaged" not in names else "term"))
    if any(event.kind == "deaf" for life in lives for event in life.events):
        names = [*names, "errors"]
    if ("deep" in names or "notes" in names) and not any(event.kind.startswith("full") for event in lives[0].events):
        lives[0].events.append(Event(0.5, "full", 2.0, 0))
    return Plan(number, names, lives)


def life_of(choice, kinds, ending):
    events, at = [], 0.0
    for kind in kinds:
        at += choice.uniform(0.2, 0.8)
        seconds = choice.uniform(0.05, 1.0) if kind == "freeze" else choice.uniform(0.8, 2.2)
        events.append(Event(at, kind, seconds, choice.choice(LEAVE_BYTES)))
    # Events that last beyond the end are last, because clients of a broker with a full disk cannot leave.
    events.sort(key=lambda event: event.kind == "full at the end")
    for event in events:
        if ending == "leave" and event.kind == "full at the end":
            event.kind = "full"
    arguments = ["--disk-free-limit", str(choice.choice(DISK_FREE_LIMITS)),
                 "--placement", choice.choice(PLACEMENTS), "--reactors", choice.choice(("1", "2"))]
    false_starts = [choice.uniform(0, 0.08) for _ in range(choice.choice((0, 0, 0, 1, 2)))]
    return Life(arguments, choice.uniform(0.8, 2.5), events, ending, false_starts)
