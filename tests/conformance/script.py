"""The parser of the script language: scenario files to scenarios, lines to steps. README.md describes the language."""
import collections
import glob
import json
import os
import re

Step = collections.namedtuple("Step", "session verb words options line place")
Scenario = collections.namedtuple("Scenario", "name title steps place since until", defaults=(None,))

HEAD = re.compile(r"== ([a-z0-9][a-z0-9.-]*): (\S.*)$")
OPTION = re.compile(r"([A-Za-z][A-Za-z0-9-]*)=")
TAGGED = re.compile(r"([tbBsuIilLfdDSATFVx]):")
BARE = re.compile(r'[^\s,\[\]{}"]+')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
SINCE = re.compile(r"since (\S+)$")
UNTIL = re.compile(r"until (\S+)$")
NAME = re.compile(r"[^\s=,\[\]{}\"]+")


class ScriptError(Exception):
    pass


def quoted(body):
    return json.loads(f'"{body}"')


class Line:
    """A cursor over one line."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def rest(self):
        return self.text[self.at:]

    def skip(self, pattern):
        found = re.compile(pattern).match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def match(self, pattern):
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def need(self, pattern):
        found = self.skip(pattern)
        if not found:
            raise ScriptError(f"expected {pattern} at: {self.rest()!r}")
        return found

    def value(self):
        """A field value with its type letter, which is derived from the value unless it is given."""
        tagged = self.match(TAGGED)
        if self.skip(r"\["):
            return "A", self.items(r"\]", Line.value)
        if self.skip(r"\{"):
            return "F", self.items(r"\}", Line.field)
        string = self.match(STRING)
        if string:
            letter, content = "S", quoted(string[1])
        else:
            bare = self.match(BARE)
            letter, content = guess(bare[0] if bare else "")
            if tagged and tagged[1] in "Sx":
                content = bare[0] if bare else ""
        if not tagged:
            return letter, content
        return tagged[1], convert(tagged[1], content)

    def field(self):
        name = self.match(NAME)
        if not name:
            raise ScriptError(f"expected the name of a field at: {self.rest()!r}")
        self.need("=")
        return (name[0], *self.value())

    def items(self, end, read):
        found = []
        while not self.skip(r"\s*" + end):
            if found:
                self.need(r"\s*,")
            self.skip(r"\s*")
            found.append(read(self))
        return found

    def word(self):
        string = self.match(STRING)
        if string:
            return quoted(string[1])
        if self.rest().startswith(("{", "[")):
            try:
                content, end = json.JSONDecoder().raw_decode(self.rest())
            except ValueError as error:
                raise ScriptError(f"no JSON: {error}") from error
            self.at += end
            return content
        return self.need(r"\S+")[0]


def guess(bare):
    if re.fullmatch(r"-?\d+", bare):
        number = int(bare)
        return ("I" if -2**31 <= number < 2**31 else "l"), number
    if bare in ("true", "false"):
        return "t", bare == "true"
    if re.fullmatch(r"-?\d+\.\d+", bare):
        return "d", float(bare)
    return "S", bare


def convert(letter, content):
    if letter == "V":
        return None
    if letter == "D":
        return 0, int(content)
    if letter in "fd":
        return float(content)
    return content


def parse_step(text, place):
    line = Line(text)
    session = line.skip(r"@(\w+)\s+")
    verb = line.need(r"[a-z-]+")[0]
    words, options = [], []
    while line.skip(r"\s+"):
        option = line.match(OPTION)
        if option:
            options.append((option[1], *line.value()))
        else:
            words.append(line.word())
    if line.rest():
        raise ScriptError(f"not understood: {line.rest()!r}")
    return Step(session[1] if session else "a", verb, words, options, text, place)


def parse_file(path):
    scenarios, steps = [], None
    with open(path, encoding="utf-8") as file:
        for number, raw in enumerate(file, 1):
            text, place = raw.strip(), f"{os.path.basename(path)}:{number}"
            if not text or text.startswith("#"):
                continue
            head, since, until = HEAD.match(text), SINCE.match(text), UNTIL.match(text)
            try:
                if head:
                    steps = []
                    scenarios.append(Scenario(head[1], head[2], steps, place, None))
                elif since and steps == []:
                    scenarios[-1] = scenarios[-1]._replace(since=since[1])
                elif until and steps == []:
                    scenarios[-1] = scenarios[-1]._replace(until=until[1])
                elif steps is None:
                    raise ScriptError("a step before the first scenario")
                else:
                    steps.append(parse_step(text, place))
            except ScriptError as error:
                raise ScriptError(f"{place}: {error}") from error
    return scenarios


def read_scenarios(folder):
    scenarios = [scenario for path in sorted(glob.glob(os.path.join(folder, "*.txt"))) for scenario in parse_file(path)]
    for name, count in collections.Counter(scenario.name for scenario in scenarios).items():
        if count > 1:
            raise ScriptError(f"two scenarios are called {name}")
    return scenarios


def expand(pattern):
    """Expands m{1..3} to m1, m2, m3."""
    found = re.search(r"\{(\d+)\.\.(\d+)\}", pattern)
    if not found:
        return [pattern]
    return [pattern[:found.start()] + str(number) + pattern[found.end():]
            for number in range(int(found[1]), int(found[2]) + 1)]
