#!/usr/bin/python3
"""Debian's rabbitmqadmin, unchanged, as people type it (management 8.1). Usage: cases.py HOST PORT HTTP_PORT"""

import json
import os
import re
import subprocess
import sys
import tempfile

import pika

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from exported_definitions import comes_back  # noqa: E402
from promises import CASES, case, contains, equal  # noqa: E402
from told import CASE_SECONDS_MAX, tell_all_cleaned  # noqa: E402

HOST, PORT, HTTP_PORT = sys.argv[1], int(sys.argv[2]), sys.argv[3]
PREFIX = "clients.rabbitmqadmin."
QUEUE, EXCHANGE, VHOST, USER, POLICY = (PREFIX + name for name in ("queue", "exchange", "vhost", "user", "policy"))


def call(*arguments):
    return subprocess.run(["/usr/bin/rabbitmqadmin", "-H", HOST, "-P", HTTP_PORT, *arguments], capture_output=True, text=True)


def admin(*arguments, status=0):
    done = call(*arguments)
    assert done.returncode == status, f"rabbitmqadmin {' '.join(arguments)}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def listed(*arguments):
    return json.loads(admin("-f", "raw_json", "list", *arguments))


def ours(rows, field="name"):
    return [row for row in rows if str(row[field]).startswith(PREFIX)]


@case
def declares_lists_and_deletes():
    equal(admin("declare", "queue", f"name={QUEUE}", "durable=true", 'arguments={"x-max-length":5}'), "queue declared\n")
    admin("declare", "exchange", f"name={EXCHANGE}", "type=topic")
    admin("declare", "binding", f"source={EXCHANGE}", f"destination={QUEUE}", "routing_key=a.#")
    arguments, = (row["arguments"] for row in ours(listed("queues", "name", "arguments")))
    equal(arguments["x-max-length"], 5)
    contains(listed("exchanges", "name", "type"), {"name": EXCHANGE, "type": "topic"})
    contains(listed("bindings", "source", "properties_key"), {"source": EXCHANGE, "properties_key": "a.%23"})
    contains(admin("declare", "queue", f"name={QUEUE}", "durable=false", status=1),
             f"inequivalent arg 'durable' for queue '{QUEUE}' in vhost '/'")
    equal(admin("purge", "queue", f"name={QUEUE}"), "queue purged\n")
    admin("delete", "binding", f"source={EXCHANGE}", "destination_type=queue", f"destination={QUEUE}",
          "properties_key=a.%23")
    admin("delete", "queue", f"name={QUEUE}")
    admin("delete", "exchange", f"name={EXCHANGE}")
    equal(ours(listed("queues", "name")), [])
    contains(admin("delete", "queue", f"name={QUEUE}", status=1), f"*** Not found: /api/queues/%2F/{QUEUE}")


@case
def manages_users_and_vhosts():
    admin("declare", "vhost", f"name={VHOST}")
    admin("declare", "user", f"name={USER}", "password=p", "tags=management")
    admin("declare", "permission", f"vhost={VHOST}", f"user={USER}", "configure=.*", "write=.*", "read=.*")
    contains(listed("users", "name", "tags")[0], "tags")
    contains([row["name"] for row in listed("vhosts")], VHOST)
    contains(listed("permissions"), {"user": USER, "vhost": VHOST, "configure": ".*", "write": ".*", "read": ".*"})
    admin("declare", "vhost_limit", f"vhost={VHOST}", "name=max-queues", "value=5")
    contains(listed("vhost_limits"), {"vhost": VHOST, "value": {"max-queues": 5}})
    admin("delete", "vhost_limit", f"vhost={VHOST}", "name=max-queues")
    admin("delete", "user", f"name={USER}")
    admin("delete", "vhost", f"name={VHOST}")
    contains(admin("show", "overview"), "rabbitmq_version")
    equal(len(listed("nodes")), 1)


@case
def knows_policies_and_parameters():
    pattern = "pattern=^" + QUEUE
    admin("declare", "policy", f"name={POLICY}", pattern, 'definition={"message-ttl":1000}', "apply-to=queues")
    admin("declare", "operator_policy", f"name={POLICY}", pattern, 'definition={"max-length":5}', "apply-to=queues",
          "priority=1")
    admin("declare", "queue", f"name={QUEUE}")
    equal(len(ours(listed("policies"))), 1)
    equal(len(ours(listed("operator_policies"))), 1)
    equal([row["component"] for row in ours(listed("parameters"))], ["operator_policy"])
    for kind in ("connections", "channels", "consumers"):
        listed(kind)
    shown = re.sub(r"\s+", " ", admin("list", "queues", "name", "durable"))
    contains(shown, f"| {QUEUE} | True |")
    for kind, name in (("policy", POLICY), ("operator_policy", POLICY), ("queue", QUEUE)):
        contains(admin("delete", kind, f"name={name}"), f"{kind} deleted")


@case
def publishes_and_gets():
    admin("declare", "queue", f"name={QUEUE}")
    contains(admin("publish", f"routing_key={QUEUE}", "payload=hello"), "Message published\n")
    contains(admin("publish", f"routing_key={QUEUE}.nosuch", "payload=x"), "Message published but NOT routed")
    contains(admin("get", f"queue={QUEUE}", "ackmode=ack_requeue_true"), "hello")
    got, = json.loads(admin("-f", "raw_json", "get", f"queue={QUEUE}", "ackmode=ack_requeue_false"))
    equal((got["payload"], got["redelivered"]), ("hello", True))
    admin("publish", f"routing_key={QUEUE}", "payload=x", 'properties={"delivery_mode":2,"headers":{"a":1}}')
    got, = json.loads(admin("-f", "raw_json", "get", f"queue={QUEUE}", "ackmode=reject_requeue_false", "encoding=base64"))
    equal((got["payload"], got["properties"]), ("eA==", {"delivery_mode": 2, "headers": {"a": 1}}))
    admin("delete", "queue", f"name={QUEUE}")


@case
def exports_and_imports():
    admin("declare", "queue", f"name={QUEUE}", "durable=true")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "definitions.json")
        for where in ((), ("-V", "/")):
            def export():
                contains(admin(*where, "export", path), "Exported definitions")
                with open(path) as file:
                    return json.load(file)

            def bring_back(document):
                with open(path, "w") as file:
                    json.dump(document, file)
                contains(admin(*where, "import", path), "Uploaded definitions")

            there = comes_back(PREFIX, export, lambda: admin("delete", "queue", f"name={QUEUE}"), bring_back)
            equal([queue["durable"] for queue in there["queues"]], [True])
    admin("delete", "queue", f"name={QUEUE}")


@case
def closes_connections():
    connection = pika.BlockingConnection(pika.ConnectionParameters(
        HOST, PORT, client_properties={"connection_name": PREFIX + "connection"}))
    name = None
    while name is None:  # Bounded by the timeout of the case: statistics arrive a moment later.
        name = next((row["name"] for row in listed("connections")
                     if row.get("client_properties", {}).get("connection_name") == PREFIX + "connection"), None)
    admin("close", "connection", f"name={name}")
    try:
        connection.process_data_events(CASE_SECONDS_MAX)
    except (pika.exceptions.AMQPError, ValueError) as closed:  # ValueError if the connection closes while pika waits.
        contains(repr(closed), "losed")
    else:
        raise AssertionError("the client was not told")


def clean_up():
    """Removes the objects that a failed case or an interrupted run has left."""
    for kind, name in (("queue", QUEUE), ("exchange", EXCHANGE), ("user", USER), ("vhost", VHOST), ("policy", POLICY),
                       ("operator_policy", POLICY)):
        call("delete", kind, f"name={name}")


sys.exit(tell_all_cleaned(CASES, clean_up))
