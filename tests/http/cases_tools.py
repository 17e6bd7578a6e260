"""Tools written for RabbitMQ, unchanged: Debian's rabbitmqadmin. And two brokers that want the same port."""
import json
import os
import re
import subprocess
import tempfile

from world import SECONDS_MAX, Mismatch, case, contains, equal

RABBITMQADMIN = "/usr/bin/rabbitmqadmin"


def admin(world, *arguments, status=0):
    done = subprocess.run([RABBITMQADMIN, "-H", "127.0.0.1", "-P", str(world.broker.http_port), *arguments],
                          capture_output=True, text=True, timeout=SECONDS_MAX)
    equal(done.returncode, status, f"rabbitmqadmin {' '.join(arguments)}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def listed(world, *arguments):
    return json.loads(admin(world, "-f", "raw_json", "list", *arguments))


@case
def rabbitmqadmin_declares_lists_and_deletes(world):
    equal(admin(world, "declare", "queue", "name=aq", "durable=true", 'arguments={"x-max-length":5}'),
          "queue declared\n")
    admin(world, "declare", "exchange", "name=ax", "type=topic")
    admin(world, "declare", "binding", "source=ax", "destination=aq", "routing_key=a.#")
    equal(listed(world, "queues", "name", "arguments"), [{"name": "aq", "arguments": {"x-max-length": 5}}])
    contains(listed(world, "exchanges", "name", "type"), {"name": "ax", "type": "topic"})
    contains(listed(world, "bindings", "source", "properties_key"), {"source": "ax", "properties_key": "a.%23"})
    contains(admin(world, "declare", "queue", "name=aq", "durable=false", status=1),
             "inequivalent arg 'durable' for queue 'aq' in vhost '/'")
    equal(admin(world, "purge", "queue", "name=aq"), "queue purged\n")
    admin(world, "delete", "binding", "source=ax", "destination_type=queue", "destination=aq", "properties_key=a.%23")
    admin(world, "delete", "queue", "name=aq")
    admin(world, "delete", "exchange", "name=ax")
    equal(listed(world, "queues"), [])


@case
def rabbitmqadmin_manages_users_and_vhosts(world):
    admin(world, "declare", "vhost", "name=av")
    admin(world, "declare", "user", "name=au", "password=p", "tags=management")
    admin(world, "declare", "permission", "vhost=av", "user=au", "configure=.*", "write=.*", "read=.*")
    contains(listed(world, "permissions"), {"user": "au", "vhost": "av", "configure": ".*", "write": ".*", "read": ".*"})
    admin(world, "declare", "vhost_limit", "vhost=av", "name=max-queues", "value=5")
    equal(listed(world, "vhost_limits"), [{"vhost": "av", "value": {"max-queues": 5}}])
    admin(world, "delete", "vhost_limit", "vhost=av", "name=max-queues")
    admin(world, "delete", "user", "name=au")
    admin(world, "delete", "vhost", "name=av")
    contains(admin(world, "show", "overview"), "4.3.0")


@case
def rabbitmqadmin_knows_policies_and_parameters(world):
    admin(world, "declare", "policy", "name=p", "pattern=^aq", 'definition={"message-ttl":1000}', "apply-to=queues")
    admin(world, "declare", "operator_policy", "name=op", "pattern=^aq", 'definition={"max-length":5}',
          "apply-to=queues", "priority=1")
    admin(world, "declare", "queue", "name=aq")
    equal([one["name"] for one in listed(world, "policies")], ["p"])
    equal([one["name"] for one in listed(world, "operator_policies")], ["op"])
    equal([one["component"] for one in listed(world, "parameters")], ["operator_policy"])
    equal(len(listed(world, "nodes")), 1)
    for kind in ("connections", "channels", "consumers"):
        equal(listed(world, kind), [], kind)
    contains(re.sub(r"\s+", " ", admin(world, "list", "queues", "name", "messages", "policy")), "| aq | 0 | p |")
    for kind, name in (("policy", "p"), ("operator_policy", "op"), ("queue", "aq")):
        contains(admin(world, "delete", kind, f"name={name}"), f"{kind} deleted")
    contains(admin(world, "delete", "queue", "name=nosuch", status=1), "*** Not found: /api/queues/%2F/nosuch")


@case
def rabbitmqadmin_publishes_and_gets(world):
    admin(world, "declare", "queue", "name=adm")
    contains(admin(world, "publish", "routing_key=adm", "payload=hello"), "Message published\n")
    contains(admin(world, "publish", "routing_key=nosuch", "payload=x"), "Message published but NOT routed")
    contains(admin(world, "get", "queue=adm", "ackmode=ack_requeue_true"), "hello")
    got = json.loads(admin(world, "-f", "raw_json", "get", "queue=adm", "ackmode=ack_requeue_false"))
    equal([one["payload"] for one in got], ["hello"])
    admin(world, "publish", "routing_key=adm", "payload=x", 'properties={"delivery_mode":2,"headers":{"a":1}}')
    got = json.loads(admin(world, "-f", "raw_json", "get", "queue=adm", "ackmode=reject_requeue_false", "encoding=base64"))
    equal((got[0]["payload"], got[0]["properties"]), ("eA==", {"delivery_mode": 2, "headers": {"a": 1}}))
    admin(world, "delete", "queue", "name=adm")


@case
def rabbitmqadmin_exports_and_imports(world):
    admin(world, "declare", "queue", "name=adm-kept", "durable=true")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "definitions.json")
        for where in ((), ("-V", "/")):
            contains(admin(world, *where, "export", path), "Exported definitions")
            admin(world, "delete", "queue", "name=adm-kept")
            contains(admin(world, *where, "import", path), "Uploaded definitions")
            equal(world.get("/queues/%2F/adm-kept")["durable"], True)
    world.delete("/queues/%2F/adm-kept")


@case
def rabbitmqadmin_closes_connections(world):
    connection = world.amqp()
    try:
        name = listed(world, "connections", "name")[0]["name"]
        admin(world, "close", "connection", f"name={name}")
        connection.process_data_events(5)
        raise Mismatch("the client was not told")
    except Mismatch:
        raise
    except Exception as closed:  # pika has several ways to say it, depending on the moment
        contains(repr(closed), "Closed")
    world.eventually(lambda: world.get("/connections") == [], "the connection is gone")


@case
def a_broker_that_cannot_listen_says_so(world):
    with tempfile.TemporaryDirectory() as directory:
        for option, port in (("--http-port", world.broker.http_port), ("--prometheus-port", world.prometheus_port)):
            ports = {"--port": 0, "--http-port": 0, "--prometheus-port": 0, option: port}
            command = [world.broker.program, "--data-dir", os.path.join(directory, "data")]
            for name, value in ports.items():
                command += [name, str(value)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX)
            equal(done.returncode, 1, option)
            equal(done.stdout, "")
            contains(done.stderr, f"cannot listen for HTTP on 127.0.0.1:{port}")
