"""Brokers that are killed and restarted on the same directory."""
import os
import shutil
import signal
import sys
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path += [os.path.join(TESTS, "conformance"), os.path.join(TESTS, "bench")]

from brokers import BrokerError, Revenant  # noqa: E402
import wire  # noqa: E402
from client import Client, ClosedByBroker, Lost  # noqa: E402
from places import Api, RabbitMQWithManagement, descendants, segment  # noqa: E402


class KilledWhileStarting(Exception):
    pass


class RevenantToCrash(Revenant):
    recovery_seconds = 0.08  # A kill within this time hits a broker that is starting.
    patience_seconds = 4
    farewell = (signal.SIGTERM,)

    def __init__(self, program, directory, arguments=(), wrapper=()):
        super().__init__(program, directory, arguments, wrapper)
        self.seconds_to_live = None
        self.last_process = None  # Also set by a start that failed.

    def start(self):
        self.port = 0
        super().start()

    def wait_for_ready_line(self):
        self.last_process = self.process
        if self.seconds_to_live is None:
            super().wait_for_ready_line()
        else:
            time.sleep(self.seconds_to_live)
            raise KilledWhileStarting

    def start_and_kill(self, seconds):
        self.seconds_to_live = seconds
        try:
            self.start()
        except KilledWhileStarting:
            self.kill()
        finally:
            self.seconds_to_live = None

    def terminate(self):
        """Returns whether it ended cleanly."""
        for number in self.farewell:
            self.process.send_signal(number)
        status = self.process.wait(60)
        self.process = None
        return status == 0

    def start_afresh(self):
        """Starts on an empty directory if the old one cannot be recovered. The old one is kept."""
        self.kill()
        data = os.path.join(self.directory, "data")
        if os.path.exists(data):
            os.rename(data, f"{data}.{time.time_ns()}")
        self.start()

    def excuses(self, fault):
        return False


class RabbitMQToCrash(RabbitMQWithManagement):
    recovery_seconds = 5
    patience_seconds = 12

    def __init__(self, directory):
        super().__init__(directory)
        self.seconds_to_live = None

    def wait_for_port(self, port, process):
        if self.seconds_to_live is not None and process is self.process:
            time.sleep(self.seconds_to_live)
            raise KilledWhileStarting
        super().wait_for_port(port, process)

    def start_and_kill(self, seconds):
        self.seconds_to_live = seconds
        try:
            self.start()
        except KilledWhileStarting:
            self.pid = next((pid for pid in descendants(self.process.pid) if self.is_beam(pid)), 0)
            self.kill()
        finally:
            self.seconds_to_live = None

    def terminate(self):
        self.stop_server()
        return True

    def start_afresh(self):
        self.kill()
        shutil.rmtree(os.path.join(self.directory, "mnesia"), ignore_errors=True)
        self.start()

    def excuses(self, fault):
        """Guarantees that RabbitMQ does not give: that dead-lettering, a publish to several queues or a transaction is
        atomic, and that acks are on disk when a transaction is committed. After a restart, a full queue with
        reject-publish also drops its head if requeued messages exceed its limit."""
        if fault.kind in ("from an earlier round", "torn publish"):
            return True
        if fault.letters == "at-most-once":
            return fault.kind in ("lost", "double", "death undone", "order")
        if fault.letters == "at-least-once":
            return fault.kind == "double"
        if fault.place == "transactions" or fault.place.startswith(("transaction.", "taken")):
            return fault.kind in ("broken transaction", "repeated transaction", "came back")
        return fault.kind == "lost" and fault.place == "refused"


__all__ = ["Api", "BrokerError", "Client", "ClosedByBroker", "KilledWhileStarting", "Lost", "RabbitMQToCrash",
           "RevenantToCrash", "segment", "wire"]
