"""What the broker writes down, what a reload changes, what a supervisor is told."""
import json
import os
import re
import select
import socket

import pika

from cases_config import NODE
from world import SECONDS_MAX, Mismatch, case, contains, equal, eventually, lacks

LINE = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}\+00:00 \[(debug|info|notice|warning|error|critical)\] [a-z]+: .+$")


def fail_login(broker, password):
    try:
        pika.BlockingConnection(pika.ConnectionParameters(
            "127.0.0.1", broker.ports["amqp"], "/", pika.PlainCredentials("guest", password), socket_timeout=SECONDS_MAX))
        raise Mismatch("logged in with a wrong password")
    except pika.exceptions.AMQPConnectionError:
        pass


@case
def log_lines_can_be_read_by_people_and_programs(world):
    with world.directory() as directory, world.broker(directory, "management_agent.disable_metrics_collector = true\n") as broker:
        fail_login(broker, "n0t-the-passw0rd")
        eventually(lambda: "connection: " in broker.log(), "the refused login is logged")
        broker.stop()
        for line in broker.log().splitlines():
            if not LINE.match(line):
                raise Mismatch(f"not a log line: {line!r}")
        contains(broker.log(), "[warning] node: " + broker.config + ":1: management_agent.disable_metrics_collector: has no effect in this version")
        contains(broker.log(), "[info] node: listening protocol=amqp address=127.0.0.1:")
        contains(broker.log(), "[info] node: stopping signal=15\n")
        lacks(broker.log(), "n0t-the-passw0rd")


@case
def log_as_json_is_one_object_per_line(world):
    with world.directory() as directory, world.broker(directory, "log.console.formatter = json\n") as broker:
        broker.stop()
        lines = [json.loads(line) for line in broker.log().splitlines()]
        contains([(line["level"], line["component"], line["msg"]) for line in lines], ("info", "node", "stopped"))


@case
def log_goes_to_a_file_and_its_levels_are_reloaded(world):
    with world.directory() as directory:
        text = f"log.console = false\nlog.dir = {directory}/logs\nlog.file = r.log\nlog.file.level = error\n"
        path = os.path.join(directory, "logs", "r.log")

        def lines():
            with open(path) as file:
                return file.read()

        with world.broker(directory, text) as broker:
            equal(broker.log(), "")
            equal(lines(), "")
            broker.write_config(text.replace("error", "info") + "heartbeat = 5\ndisk_free_limit.absolute = 1MB\n")
            os.rename(path, path + ".old")
            broker.reload()
            eventually(lambda: os.path.exists(path) and "configuration reloaded" in lines(), "the reload is logged")
            contains(lines(), "node: log.file.level changed from error to info\n")
            contains(lines(), "node: heartbeat changed from 60 to 5: needs a restart\n")
            contains(lines(), "node: configuration reloaded changes=3\n")
            broker.write_config("nonsense\n")
            broker.reload()
            eventually(lambda: "configuration not reloaded" in lines(), "the fault is logged")
            contains(lines(), f"[error] node: configuration not reloaded: not of the form key = value at={broker.config}:1")
            equal(broker.json("/api/overview")["node"], NODE)
        contains(lines(), "node: stopped\n")


@case
def log_reload_moves_the_limit_of_the_disk(world):
    with world.directory() as directory, world.broker(directory, "disk_free_limit.absolute = 1MB\n") as broker:
        connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", broker.ports["amqp"]))
        channel = connection.channel()
        blocked = []
        connection.add_on_connection_blocked_callback(lambda *_: blocked.append("blocked"))
        connection.add_on_connection_unblocked_callback(lambda *_: blocked.append("unblocked"))

        def seen(what):
            connection.process_data_events(0.05)
            return blocked[-1:] == [what]

        broker.write_config("disk_free_limit.absolute = 8000TB\n")
        broker.reload()
        channel.basic_publish("", "nowhere", b"")
        eventually(lambda: seen("blocked"), "the publisher is blocked")
        contains(broker.log(), "alarm: publishers are blocked reason=\"low on disk\"")
        node, = broker.json("/api/nodes")
        equal((node["disk_free_limit"], node["disk_free_alarm"]), (8 * 10**15, True))
        contains(broker.get("/metrics", port="prometheus")[1].decode(),
                 "rabbitmq_disk_space_available_limit_bytes 8000000000000000\n")
        broker.write_config("disk_free_limit.absolute = 1MB\n")
        broker.reload()
        eventually(lambda: seen("unblocked"), "the publisher goes on")
        connection.close()


@case
def log_supervisor_is_told(world):
    with world.directory() as directory:
        path = os.path.join(directory, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
            supervisor.bind(path)

            def told():
                if not select.select([supervisor], [], [], SECONDS_MAX)[0]:
                    raise Mismatch("nothing was told")
                return supervisor.recv(4096).decode().split("\n")[0]

            with world.broker(directory, environment={"NOTIFY_SOCKET": path}) as broker:
                equal(told(), "READY=1")
                broker.reload()
                equal([told(), told()], ["RELOADING=1", "READY=1"])
                equal(broker.stop(), 0)
                equal(told(), "STOPPING=1")
