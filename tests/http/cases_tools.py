"""Tools written for RabbitMQ, unchanged: Debian's rabbitmqadmin. And two brokers that want the same port."""
import json
import os
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
