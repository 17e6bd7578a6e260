"""Named differences, and the comparison of two transcripts with them.

Two transcripts agree if they can be aligned line by line so that every line is either the same or
explained by a named difference. The result includes the differences that were needed; one that no scenario needs any
more is stale."""
import collections
import fnmatch
import html
import re
import tomllib

KINDS = {"only-in-revenant": {"line"}, "only-in-rabbitmq": {"line"}, "rewrite": {"line", "becomes"},
         "html-escaped": set(), "block": {"rabbitmq", "revenant"}, "field-order": set(), "record-order": set()}
ALWAYS = {"id", "profiles", "reason", "kind"}
OPTIONAL = {"scenarios", "message_has", "step_before"}
MESSAGE_START = re.compile(r"(got|delivered|returned) ")
STEP_COST, INFINITE = 1, float("inf")


class DifferenceError(Exception):
    pass


class Difference:
    def __init__(self, entry):
        self.id, self.kind, self.reason = entry.get("id"), entry.get("kind"), entry.get("reason")
        if self.kind not in KINDS:
            raise DifferenceError(f"difference {self.id}: no such kind: {self.kind}")
        wrong = (ALWAYS | KINDS[self.kind]) ^ (set(entry) - OPTIONAL)
        if wrong:
            raise DifferenceError(f"difference {self.id}: missing or unknown: {', '.join(sorted(wrong))}")
        if self.kind == "block" and "scenarios" not in entry:
            raise DifferenceError(f"difference {self.id}: a block belongs to scenarios")
        self.profiles = entry["profiles"]
        self.scenarios = entry.get("scenarios", ["*"])
        self.line = re.compile(entry["line"]) if "line" in entry else None
        self.message_has = re.compile(entry["message_has"]) if "message_has" in entry else None
        self.step_before = re.compile(entry["step_before"]) if "step_before" in entry else None
        self.becomes = entry.get("becomes", [])
        self.rabbitmq, self.revenant = (lines_of(entry.get(side, "")) for side in ("rabbitmq", "revenant"))

    def concerns(self, profile, scenario):
        return profile in self.profiles and any(fnmatch.fnmatch(scenario, pattern) for pattern in self.scenarios)

    def fits(self, lines, place):
        """Whether this difference applies to the message and the steps around a line."""
        if self.message_has and not any(map(self.message_has.fullmatch, message_around(lines, place))):
            return False
        return not self.step_before or any(map(self.step_before.fullmatch, lines[:place]))

    def moves(self, left, i, right, j):
        """The numbers of lines of both sides that this difference explains here, as pairs."""
        if not self.fits(left, i):
            return
        if self.kind == "only-in-rabbitmq" and i < len(left) and self.line.fullmatch(left[i]):
            yield 1, 0
        elif self.kind == "only-in-revenant" and j < len(right) and self.line.fullmatch(right[j]):
            yield 0, 1
        elif self.kind == "rewrite" and i < len(left) and j < len(right):
            found = self.line.fullmatch(left[i])
            if found and right[j] in [found.expand(text) for text in self.becomes]:
                yield 1, 1
        elif self.kind == "html-escaped" and i < len(left) and j < len(right):
            if html.unescape(left[i]) == right[j]:
                yield 1, 1
        elif self.kind == "block":
            a, b = len(self.rabbitmq), len(self.revenant)
            if left[i:i + a] == self.rabbitmq and right[j:j + b] == self.revenant:
                yield a, b


def message_around(lines, place):
    """The lines of the message that a line belongs to."""
    start, end = min(place, len(lines) - 1), place + 1
    while start > 0 and not MESSAGE_START.match(lines[start]):
        start -= 1
    while end < len(lines) and not MESSAGE_START.match(lines[end]) and not lines[end].startswith("> "):
        end += 1
    return lines[start:end]


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def read_differences(path, common):
    """The entries of a file; `common` has the fields that all of them share."""
    with open(path, "rb") as file:
        return [Difference(common | entry) for entry in tomllib.load(file).get("difference", [])]


def check_names(differences):
    for name, count in collections.Counter(difference.id for difference in differences).items():
        if count > 1:
            raise DifferenceError(f"two differences are called {name}")


def compare(rabbitmq, revenant, differences):
    """The ids of the differences that explain the two transcripts, or None if they cannot be explained."""
    if rabbitmq == revenant:
        return set()
    orders = [difference for difference in differences if difference.kind in ORDERS]
    for allowed in sorted(subsets(orders), key=len):
        left, right = rabbitmq, revenant
        for difference in allowed:
            left, right = ORDERS[difference.kind](left), ORDERS[difference.kind](right)
        used = explain(stripped(left), stripped(right), differences)
        if used is not None:
            return used | {difference.id for difference in allowed}
    return None


def subsets(items):
    return [[item for place, item in enumerate(items) if bits >> place & 1] for bits in range(1 << len(items))]


def stripped(lines):
    return [line.strip() for line in lines]


def explain(left, right, differences):
    """The cheapest alignment of both transcripts; a difference has a cost, an equal line has none."""
    cost = [[INFINITE] * (len(right) + 1) for _ in range(len(left) + 1)]
    came = {}
    cost[0][0] = 0
    for i in range(len(left) + 1):
        for j in range(len(right) + 1):
            if cost[i][j] == INFINITE:
                continue
            for a, b, price, name in steps(left, i, right, j, differences):
                if cost[i][j] + price < cost[i + a][j + b]:
                    cost[i + a][j + b] = cost[i][j] + price
                    came[i + a, j + b] = i, j, name
    if cost[-1][-1] == INFINITE:
        return None
    used, at = set(), (len(left), len(right))
    while at != (0, 0):
        i, j, name = came[at]
        used.add(name)
        at = i, j
    return used - {None}


def steps(left, i, right, j, differences):
    if i < len(left) and j < len(right) and left[i] == right[j]:
        yield 1, 1, 0, None
    for difference in differences:
        for a, b in difference.moves(left, i, right, j):
            yield a, b, STEP_COST, difference.id


def rearranged(lines, rearrange):
    """The transcript with the records of every x-death rearranged; a record is a list of lines."""
    out, at = [], 0
    while at < len(lines):
        out.append(lines[at])
        at += 1
        if out[-1].strip() == "x-death A":
            end = at
            while end < len(lines) and indent(lines[end]) > indent(out[-1]):
                end += 1
            out += [line for record in rearrange(groups(lines[at:end])) for line in record]
            at = end
    return out


def sort_fields(lines):
    """Sorts the fields of every x-death record alphabetically."""
    return rearranged(lines, lambda records: [record[:1] + sorted(record[1:]) for record in records])


def sort_records(lines):
    """Sorts the records of every x-death alphabetically, except the newest."""
    return rearranged(lines, lambda records: records[:1] + sorted(
        [re.sub(r"\[\d+\]", "[older]", record[0])] + record[1:] for record in records[1:]))


def groups(lines):
    """Groups lines with the more deeply indented lines that follow them."""
    found = []
    for line in lines:
        if not found or indent(line) <= indent(found[-1][0]):
            found.append([])
        found[-1].append(line)
    return found


def indent(line):
    return len(line) - len(line.lstrip())


# The order matters: records are compared as text, so their fields must be sorted first.
ORDERS = {"field-order": sort_fields, "record-order": sort_records}
