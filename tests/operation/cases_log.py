"""Logging, reloading the configuration, and notifications to a supervisor."""
import json
import os
import re
import select
import signal
import socket
import threading

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
            contains(lines(), "node: heartbeat changed from 60 to 5: takes effect after a restart\n")
            contains(lines(), "node: configuration reloaded changes=3\n")
            broker.write_config("nonsense\n")
            broker.reload()
            eventually(lambda: "configuration not reloaded" in lines(), "the fault is logged")
            contains(lines(), f"[error] node: configuration not reloaded: expected key = value at={broker.config}:1")
            equal(broker.json("/api/overview")["node"], NODE)
        contains(lines(), "node: stopped\n")


def frame(channel, payload, kind=1):
    return bytes([kind]) + channel.to_bytes(2, "big") + len(payload).to_bytes(4, "big") + payload + b"\xce"


def method(number, arguments=b""):
    return bytes.fromhex(number) + arguments


NOISE = "[warning] connection: closing channel: NOT_FOUND"


def make_noise(broker):
    """Opens 2,000 channels that end with an error, each with a log line of one kilobyte."""
    name = b"\x01" * 255
    with socket.create_connection(("127.0.0.1", broker.ports["amqp"]), timeout=SECONDS_MAX) as peer:
        peer.sendall(b"AMQP\x00\x00\x09\x01")
        login = b"\x00guest\x00guest"
        peer.sendall(frame(0, method("000a000b", b"\x00\x00\x00\x00\x05PLAIN" + len(login).to_bytes(4, "big") + login + b"\x05en_US")))
        peer.sendall(frame(0, method("000a001f", b"\x07\xff" + (131072).to_bytes(4, "big") + b"\x00\x00")))
        peer.sendall(frame(0, method("000a0028", b"\x01/\x00\x00")))
        passive_declare = method("0032000a", b"\x00\x00\xff" + name + b"\x01\x00\x00\x00\x00")
        peer.sendall(b"".join(frame(n, method("0014000a", b"\x00")) + frame(n, passive_declare) for n in range(1, 2001)))
        received, closed = b"", method("00140028")
        while received.count(closed) < 2000:
            part = peer.recv(1 << 20)
            if not part:
                raise Mismatch("the broker closed the connection")
            received += part


def passes_a_message(broker):
    connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", broker.ports["amqp"], socket_timeout=SECONDS_MAX,
                                                                   blocked_connection_timeout=SECONDS_MAX))
    channel = connection.channel()
    channel.queue_declare("q")
    channel.confirm_delivery()
    channel.basic_publish("", "q", b"through")
    equal(channel.basic_get("q", auto_ack=True)[2], b"through")
    connection.close()


def lines_dropped(broker):
    text = broker.get("/metrics", port="prometheus")[1].decode()
    return int(re.search(r"^revenant_log_lines_dropped_total (\d+)$", text, re.M)[1])


@case
def log_that_nobody_reads_stops_nobody(world):
    with world.directory() as directory:
        reading, writing = os.pipe()
        text = f"log.dir = {directory}/logs\nlog.file = r.log\n"
        with world.broker(directory, text, stderr=writing) as broker:
            os.close(writing)
            make_noise(broker)
            passes_a_message(broker)
            equal(broker.get("/api/overview")[0], 200)
            dropped = lines_dropped(broker)
            if dropped == 0:
                raise Mismatch("a pipe took more than a megabyte")
            with open(os.path.join(directory, "logs", "r.log")) as file:
                eventually(lambda: file.seek(0) == 0 and file.read().count(NOISE) == 2000, "the file has every line")
            equal(broker.stop(), 0)  # no process has read the log
        os.close(reading)


@case
def log_says_how_much_of_it_is_missing(world):
    with world.directory() as directory:
        reading, writing = os.pipe()
        with world.broker(directory, stderr=writing) as broker:
            os.close(writing)
            make_noise(broker)
            eventually(lambda: lines_dropped(broker) > 0, "lines are dropped")
            dropped = lines_dropped(broker)
            parts = []
            with open(reading, "rb") as pipe:
                reader = threading.Thread(target=lambda: parts.extend(iter(lambda: pipe.read1(65536), b"")))
                reader.start()
                eventually(lambda: b"log lines were dropped" in b"".join(parts), "the gap is told")
                fail_login(broker, "wrong")
                equal(broker.stop(), 0)
                reader.join()
        lines = b"".join(parts).decode().splitlines()
        for line in lines:
            if not LINE.match(line):
                raise Mismatch(f"not a log line: {line!r}")
        gap, = [line for line in lines if "log lines were dropped" in line]
        contains(gap, f"lines={dropped}")
        equal(sum(NOISE in line for line in lines), 2000 - dropped)
        contains(lines[-1], "[info] node: stopped")


@case
def log_has_what_was_said_before_an_abort(world):
    with world.directory() as directory, world.broker(directory) as broker:
        make_noise(broker)
        broker.process.send_signal(signal.SIGABRT)
        equal(broker.process.wait(timeout=SECONDS_MAX), -signal.SIGABRT)
        equal(broker.log().count(NOISE), 2000)


@case
def log_names_who_deleted_over_http(world):
    with world.directory() as directory, world.broker(directory) as broker:
        equal(broker.send("PUT", "/api/queues/%2F/q", {})[0], 201)
        equal(broker.send("DELETE", "/api/queues/%2F/q/contents")[0], 204)
        equal(broker.send("POST", "/api/queues/%2F/q/get",
                          {"count": 1, "ackmode": "ack_requeue_false", "encoding": "auto"})[0], 200)
        equal(broker.send("DELETE", "/api/queues/%2F/q?if-empty=true")[0], 204)
        equal(broker.send("DELETE", "/api/queues/%2F/q")[0], 404)
        broker.stop()
        told = [line.split("] ", 1)[1] for line in broker.log().splitlines() if "] http: " in line]
        by = "user=guest address=127.0.0.1"
        equal(told, [f"http: purged over HTTP path=/api/queues/%2F/q/contents {by}",
                     f"http: messages read over HTTP path=/api/queues/%2F/q/get {by}",
                     f"http: deleted over HTTP path=/api/queues/%2F/q {by}"])


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
        eventually(lambda: "alarm raised: publishers blocked reason=\"low on disk\"" in broker.log(), "the alarm is logged")
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
