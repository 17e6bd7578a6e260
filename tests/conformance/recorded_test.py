"""A recording must be read as it was written, and one that does not match its scenarios must be detected."""
import os
import tempfile
import unittest

from recorded import RecordingError, Versions, not_recorded, read_recording, versions_of, write_recording
from script import Scenario, parse_step

VERSIONS = Versions("4.3.6", "29.0")


def scenario(name, *steps, group="group.txt"):
    return Scenario(name, "a test", [parse_step(step, "here") for step in steps], f"{group}:1", None)


class FakeApi:
    def __init__(self, product, version):
        self.product, self.version = product, version

    def request(self, *_):
        return 200, {"product_name": self.product, "rabbitmq_version": self.version, "erlang_version": "29.0"}


class Recording(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.folder = self.directory.name
        self.addCleanup(self.directory.cleanup)

    def test_what_is_written_is_read(self):
        one, two, other = scenario("one", "queue q"), scenario("two", "settle"), scenario("other", group="b.txt")
        transcripts = {"one": ["> queue q", "  ok messages 0 consumers 0"], "two": ["> settle"], "other": []}
        write_recording(self.folder, [one, two, other], transcripts, VERSIONS)
        self.assertEqual(sorted(os.listdir(self.folder)), ["b.txt", "group.txt"])
        self.assertEqual(read_recording(self.folder), (transcripts, VERSIONS))

    def test_a_group_that_is_gone_goes(self):
        write_recording(self.folder, [scenario("one", group="a.txt")], {"one": []}, VERSIONS)
        write_recording(self.folder, [scenario("two", group="b.txt")], {"two": []}, VERSIONS)
        self.assertEqual(os.listdir(self.folder), ["b.txt"])

    def test_nothing_is_recorded_at_first(self):
        self.assertEqual(read_recording(self.folder), ({}, None))

    def test_two_versions_do_not_mix(self):
        write_recording(self.folder, [scenario("one", group="a.txt")], {"one": []}, VERSIONS)
        with open(os.path.join(self.folder, "a.txt"), encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(self.folder, "b.txt"), "w", encoding="utf-8") as file:
            file.write(text.replace("4.3.6", "4.3.7"))
        self.assertRaises(RecordingError, read_recording, self.folder)

    def test_a_changed_scenario_is_found(self):
        transcripts = {"same": ["> queue q", "  ok"], "changed": ["> queue q", "  ok"], "gone": []}
        scenarios = [scenario("same", "queue q"), scenario("changed", "queue q2"), scenario("new", "queue q")]
        self.assertEqual([line.split(":")[0] for line in not_recorded(scenarios, transcripts)], ["changed", "gone", "new"])

    def test_another_broker_is_not_recorded(self):
        self.assertEqual(versions_of(FakeApi("RabbitMQ", "4.3.6")), VERSIONS)
        self.assertRaises(RecordingError, versions_of, FakeApi("RabbitMQ", "3.10.8"))
        self.assertRaises(RecordingError, versions_of, FakeApi("Revenant", "4.3.0"))
