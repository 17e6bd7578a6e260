"""Transcripts of RabbitMQ 4.3 in the repository: one file of transcripts per file of scenarios. `run --record`
writes them, and every other run compares Revenant with them without a server."""
import collections
import glob
import os
import re

from transcript import Transcript

FIRST_LINE = "# RabbitMQ {version} on Erlang {erlang}. Written by tests/conformance/run --record; do not edit."
VERSIONS = re.compile(re.escape(FIRST_LINE).replace(r"\{version\}", r"(\S+)").replace(r"\{erlang\}", r"(\S+)"))
SERIES = "4.3"

Versions = collections.namedtuple("Versions", "rabbitmq erlang")


class RecordingError(Exception):
    pass


def read_recording(folder):
    """The transcripts by name of the scenario, and the recorded versions."""
    transcripts, versions = {}, set()
    for path in sorted(glob.glob(os.path.join(folder, "*.txt"))):
        with open(path, encoding="utf-8") as file:
            found = VERSIONS.fullmatch(file.readline().rstrip("\n"))
            if not found:
                raise RecordingError(f"{path}: the first line does not tell the versions")
            versions.add(Versions(*found.groups()))
            transcripts.update(parse(file.read()))
    if len(versions) > 1:
        raise RecordingError(f"{folder} has transcripts of several versions: record all again")
    return transcripts, next(iter(versions), None)


def parse(text):
    found, lines = {}, None
    for line in text.splitlines():
        if line.startswith("== "):
            lines = found[line[3:]] = []
        elif line:
            lines.append(line)
    return found


def write_recording(folder, scenarios, transcripts, versions):
    """Writes one file per file of scenarios, in their order. Removes files without scenarios."""
    os.makedirs(folder, exist_ok=True)
    groups = collections.defaultdict(list)
    for scenario in scenarios:
        groups[scenario.place.split(":")[0]].append(scenario.name)
    for path in glob.glob(os.path.join(folder, "*.txt")):
        if os.path.basename(path) not in groups:
            os.remove(path)
    for group, names in groups.items():
        with open(os.path.join(folder, group), "w", encoding="utf-8") as file:
            file.write(FIRST_LINE.format(version=versions.rabbitmq, erlang=versions.erlang) + "\n")
            for name in names:
                file.write("\n".join(["", f"== {name}", *transcripts[name], ""]))


def versions_of(api):
    status, overview = api.request("GET", "/api/overview")
    if status != 200:
        raise RecordingError(f"GET /api/overview was answered with {status} {overview}")
    versions = Versions(overview["rabbitmq_version"], overview["erlang_version"])
    if overview.get("product_name") != "RabbitMQ" or not versions.rabbitmq.startswith(SERIES + "."):
        raise RecordingError(f"this is {overview.get('product_name')} {versions.rabbitmq}, not RabbitMQ {SERIES}")
    return versions


def not_recorded(scenarios, transcripts):
    """The errors in a recording: scenarios that are missing, changed since, or do not exist any more."""
    wrong = [f"{name}: there is no such scenario any more; record again"
             for name in transcripts.keys() - {scenario.name for scenario in scenarios}]
    for scenario in scenarios:
        if scenario.name not in transcripts:
            wrong.append(f"{scenario.name}: not recorded; record it")
        elif [line for line in transcripts[scenario.name] if line.startswith("> ")] != steps_of(scenario):
            wrong.append(f"{scenario.name}: the scenario changed since it was recorded; record it again")
    return sorted(wrong)


def steps_of(scenario):
    transcript = Transcript("<vhost>")
    for step in scenario.steps:
        transcript.add(f"> {step.line}", 0)
    return transcript.lines
