"""The events of a round with their times, so that a failure can be described in a few lines: actions on the broker, and
facts about the affected messages."""
import collections
import re
import time

from ledger import Ledger

ID = re.compile(r"\d+/[\w.-]+/\d+/\d+")
MESSAGES_TOLD_MAX = 3
LINES_TOLD_MAX = 60


class Story:
    def __init__(self):
        self.began = time.monotonic()
        self.lines = []  # (seconds since the beginning, text)

    def tell(self, text):
        self.lines.append((time.monotonic() - self.began, text))

    def about(self, faults, facts):
        """The relevant lines for these faults, in order. `facts` has such lines by message id."""
        ids = []
        for fault in faults:
            ids += [id for id in ID.findall(fault.text) if id not in ids]
        told = [(at, "broker", text) for at, text in self.lines]
        for id in ids[:MESSAGES_TOLD_MAX]:
            told += [(at, id, text) for at, text in facts.get(id, ())]
        told.sort(key=lambda line: line[0])
        left_out = max(0, len(told) - LINES_TOLD_MAX)
        shown = [f"{at:7.3f} s  {who}: {text}" for at, who, text in told[left_out:]]
        return [f"({left_out} earlier lines)"] * bool(left_out) + shown


class StoryLedger(Ledger):
    """A ledger that records when it learned its facts."""

    def __init__(self, round_number, story):
        super().__init__(round_number)
        self.story = story
        self.facts = collections.defaultdict(list)

    def note(self, id, text):
        self.facts[id].append((time.monotonic() - self.story.began, text))

    def publish(self, id, lanes, size=0, persistent=True, **options):
        self.note(id, f"sent to {', '.join(lanes)}, {size} bytes{'' if persistent else ', transient'}")
        return super().publish(id, lanes, size, persistent, **options)

    def answer(self, id, publication):
        self.note(id, publication.value)
        super().answer(id, publication)

    def receive(self, lane, id):
        self.note(id, f"received from {lane}")
        super().receive(lane, id)

    def remove(self, lane, ids, certainty):
        for id in ids:
            self.note(id, f"removal from {lane}: {certainty.name.lower()}")
        super().remove(lane, ids, certainty)

    def reject(self, lane, ids, certainty):
        for id in ids:
            self.note(id, f"rejection in {lane}: {certainty.name.lower()}")
        super().reject(lane, ids, certainty)
