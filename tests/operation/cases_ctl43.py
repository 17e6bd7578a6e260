"""Recorded exit codes and output of RabbitMQ 4.3.6's programs, and the effects of the commands."""
import os
import socket
import threading

import pika

from cases_ctl import with_node
from cases_tls import Authority, config_of
from world import Mismatch, case, contains, equal, eventually, lacks

# Program, arguments, the exit code of 4.3.6 and a part of its output.
RECORDED = (
    ("rabbitmqctl", ("delete_user", "nosuch"), 0, 'Deleting user "nosuch" ...'),
    ("rabbitmqctl", ("purge_queue", "nosuch"), 65, "Object (queue, stream, exchange, etc) was not found"),
    ("rabbitmqctl", ("delete_queue", "nosuch"), 64, "No such queue was found"),
    ("rabbitmqctl", ("enable_feature_flag", "nosuch"), 64, 'Enabling feature flag "nosuch" ...'),
    ("rabbitmqctl", ("--version",), 0, "4.3."),
    ("rabbitmqctl", ("version",), 0, "4.3."),
    ("rabbitmqctl", ("enable_vhost_deletion_protection", "/"), 0,
     'Protecting virtual host "/" from removal by updating its metadata...'),
    ("rabbitmqctl", ("delete_vhost", "/"), 65, ""),
    ("rabbitmqctl", ("disable_vhost_deletion_protection", "/"), 0,
     'Removing deletion protection from virtual host "/" by updating its metadata...'),
    ("rabbitmqctl", ("enable_vhost_deletion_protection", "nosuch"), 65, "Virtual host 'nosuch' does not exist"),
    ("rabbitmqctl", ("list_deprecated_features",), 0, "Listing deprecated features ..."),
    ("rabbitmqctl", ("list_deprecated_features", "--used"), 0, "Listing deprecated features in use ..."),
    ("rabbitmqctl", ("change_password", "nosuch", "x"), 67, 'User "nosuch" does not exist'),
    ("rabbitmqctl", ("await_online_nodes", "1"), 0, "Will wait for at least 1 nodes to join the cluster of"),
    ("rabbitmqctl", ("restart_vhost",), 0, "is already running on node"),
    ("rabbitmqctl", ("list_unresponsive_queues",), 0, "Listing unresponsive queues for vhost / ..."),
    ("rabbitmqctl", ("report",), 0, "Reporting server status of node"),
    ("rabbitmqctl", ("force_gc",), 0, ""),
    ("rabbitmq-diagnostics", ("check_certificate_expiration", "--within", "1", "--unit", "weeks"), 0,
     "No certificates are expiring within 1 week."),
    ("rabbitmq-diagnostics", ("list_policies_that_match", "nosuch"), 65, ""),
    ("rabbitmq-diagnostics", ("message_size_stats",), 0, "between 100KB and 1MB"),
    ("rabbitmq-diagnostics", ("log_location",), 0, "Log file location(s) on node"),
    ("rabbitmq-diagnostics", ("check_if_any_deprecated_features_are_used",), 0,
     "Cluster reported no deprecated features in use"),
    ("rabbitmq-diagnostics", ("check_for_quorum_queues_without_an_elected_leader", ".*"), 0,
     "reported all quorum queue as having responsive leader replicas"),
    ("rabbitmq-diagnostics", ("check_if_metadata_store_is_initialized",), 0, "has completed its initialization"),
    ("rabbitmq-diagnostics", ("tls_versions",), 0, "tlsv1.3"),
    ("rabbitmq-diagnostics", ("list_node_auth_attempt_stats",), 0,
     "protocol\tauth_attempts\tauth_attempts_failed\tauth_attempts_succeeded"),
    ("rabbitmq-diagnostics", ("nosuch_command",), 64, "Command 'nosuch_command' not found."),
    ("rabbitmq-queues", ("check_if_node_is_mirror_sync_critical",), 0, ""),
    ("rabbitmq-upgrade", ("await_online_quorum_plus_one", "-t", "5"), 0, ""),
    ("rabbitmq-upgrade", ("post_upgrade",), 0, "Executing post upgrade tasks"),
    ("rabbitmq-upgrade", ("has_reached_target_cluster_size",), 0, ""),
)


@with_node
def ctl_ends_as_rabbitmq_43_does(node):  # management 5.9
    differences = []
    for program, arguments, code, part in RECORDED:
        try:
            done = node.ctl(*arguments, program=program, status=code)
            contains(done.stdout + done.stderr, part)
        except Mismatch as mismatch:
            differences.append(f"{program} {' '.join(arguments)}: {mismatch}"[:400])
    equal(differences, [])


@with_node
def ctl_prints_arguments_to_programs_as_rabbitmq_43_does(node):
    with node.amqp() as connection:
        channel = connection.channel()
        channel.queue_declare("q", durable=True, arguments={"x-max-length": 5, "x-queue-type": "quorum"})
        channel.exchange_declare("h", "headers", durable=True, arguments={"alternate-exchange": "amq.fanout"})
        channel.queue_bind("q", "h", "k", {"x-match": "all", "b": True, "l": [1, "two"], "t": {"a": "b"}})
        channel.basic_consume("q", lambda *_: None, arguments={"x-priority": 3})
        equal(node.json("list_queues", "name", "arguments"),
              [{"name": "q", "arguments": [["x-max-length", "signedint", 5], ["x-queue-type", "longstr", "quorum"]]}])
        contains(node.json("list_exchanges", "name", "arguments"),
                 {"name": "h", "arguments": [["alternate-exchange", "longstr", "amq.fanout"]]})
        contains(node.json("list_exchanges", "name", "arguments"), {"name": "amq.fanout", "arguments": []})
        contains([one["arguments"] for one in node.json("list_bindings")],
                 [["b", "bool", True], ["l", "array", {"signedint": 1, "longstr": "two"}],
                  ["t", "table", [["a", "longstr", "b"]]], ["x-match", "longstr", "all"]])
        equal(node.json("list_consumers", "arguments"), [{"arguments": [["x-priority", "signedint", 3]]}])
        properties, = [one["client_properties"] for one in node.json("list_connections", "client_properties")]
        contains(properties, ["product", "longstr", "Pika Python Client Library"])
        # The human-readable output has no types.
        contains(node.ctl("list_queues", "arguments").stdout, '[{"x-max-length",5},{"x-queue-type","quorum"}]')
    # The API adds types only on request.
    equal(node.broker.json("/api/queues/%2F/q")["arguments"], {"x-max-length": 5, "x-queue-type": "quorum"})


@with_node
def ctl_suspends_and_resumes_listeners(node):
    port = node.broker.ports["amqp"]

    def accepts():
        try:
            socket.create_connection(("127.0.0.1", port), timeout=10).close()
            return True
        except ConnectionRefusedError:
            return False

    connection = node.amqp()
    node.ctl("suspend_listeners")
    equal(accepts(), False)
    equal(node.broker.json("/api/nodes")[0]["being_drained"], True)
    node.ctl("check_running", program="rabbitmq-diagnostics", status=69)
    connection.channel().queue_declare("still-open")  # open connections stay open
    node.ctl("suspend_listeners")
    node.ctl("resume_listeners")
    equal(accepts(), True)
    node.amqp().close()
    node.ctl("drain", program="rabbitmq-upgrade")
    equal(accepts(), False)
    try:
        connection.process_data_events(20)
        raise Mismatch("the connection was not closed")
    except pika.exceptions.ConnectionClosedByBroker as closed:
        contains(closed.reply_text, "Node was put into maintenance mode")
    node.ctl("revive", program="rabbitmq-upgrade")
    node.amqp().close()
    node.ctl("check_running", program="rabbitmq-diagnostics")
    equal(node.broker.stop(), 0)


@with_node
def ctl_suspends_listeners_while_clients_connect(node):
    """A client that connects during the switch is served or refused, never left waiting."""
    port, path = node.broker.ports["amqp"], f"/api/nodes/{node.broker.json('/api/nodes')[0]['name']}/listeners/suspended"
    over, found = threading.Event(), {"served": 0, "refused": 0, "left waiting": 0}

    def connect_always():
        while not over.is_set():
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
                    client.sendall(b"AMQP\x00\x00\x09\x01")
                    found["served" if client.recv(7)[:1] == b"\x01" else "refused"] += 1
            except (ConnectionRefusedError, ConnectionResetError, BrokenPipeError):
                found["refused"] += 1
            except TimeoutError:
                found["left waiting"] += 1

    def is_served():
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
                client.sendall(b"AMQP\x00\x00\x09\x01")
                return client.recv(7)[:1] == b"\x01"
        except ConnectionRefusedError:
            return False

    clients = [threading.Thread(target=connect_always) for _ in range(4)]
    for client in clients:
        client.start()
    try:
        wrong = []
        for turn in range(40):
            for method, served in (("PUT", False), ("DELETE", True)):
                status = node.broker.send(method, path)[0]
                if status != 204 or is_served() != served:
                    wrong.append((turn, method, status))
    finally:
        over.set()
        for client in clients:
            client.join()
    equal(wrong, [])
    equal(found["left waiting"], 0)
    equal(found["served"] > 0 and found["refused"] > 0, True)
    equal(node.broker.stop(), 0)


@with_node
def ctl_lists_policies_that_match(node):
    node.ctl("set_policy", "low", "^q", '{"max-length":1}', "--priority", "1")
    node.ctl("set_policy", "high", "q$", '{"max-length":2}', "--priority", "9", "--apply-to", "queues")
    node.ctl("set_policy", "other", "^x", '{"max-length":3}')
    node.ctl("set_policy", "exchanges", ".*", '{"alternate-exchange":"x"}', "--apply-to", "exchanges")
    with node.amqp() as connection:
        connection.channel().queue_declare("q", durable=True)
        equal([one["name"] for one in node.json("list_policies_that_match", "q", program="rabbitmq-diagnostics")],
              ["high", "low"])


@with_node
def ctl_counts_message_sizes(node):
    with node.amqp() as connection:
        channel = connection.channel()
        for size in (10, 20, 5000):
            channel.basic_publish("", "nowhere", b"x" * size)
        channel.queue_declare("q")
    rows = {one["Message Size"]: (one["Count"], one["Percentage"])
            for one in node.json("message_size_stats", program="rabbitmq-diagnostics")}
    equal((rows["below 100B"], rows["between 1KB and 10KB"], rows["above 100MB"]),
          ((2, "66.67"), (1, "33.33"), (0, "0.00")))


@case
def ctl_shows_the_log_of_the_node(world):
    from cases_ctl import Node
    with world.directory() as directory, world.broker(directory, f"log.dir = {directory}\nlog.file = r.log\n") as broker:
        node = Node(world, directory, broker)
        path = os.path.join(directory, "r.log")
        contains(node.ctl("log_location", program="rabbitmq-diagnostics").stdout, path)
        eventually(lambda: "listening" in node.ctl("log_tail", "-N", "100", program="rabbitmq-diagnostics").stdout,
                   "the log tells of listeners")
        lines = node.ctl("-q", "log_tail", "-N", "2", program="rabbitmq-diagnostics").stdout.splitlines()
        equal(len(lines), 2)
    with world.directory() as directory, world.broker(directory) as broker:
        node = Node(world, directory, broker)
        contains(node.ctl("log_tail", program="rabbitmq-diagnostics", status=69).stderr, "writes no log file")


@case
def ctl_checks_certificates(world):
    from cases_ctl import Node
    with world.directory() as directory:
        text = config_of(Authority(directory))
        with world.broker(directory, text) as broker:
            node = Node(world, directory, broker)
            def check(within, unit, status):
                return node.ctl("check_certificate_expiration", "--within", within, "--unit", unit, status=status,
                                program="rabbitmq-diagnostics")
            # It expires within a day.
            contains(check("2", "weeks", 69).stderr, "Certificates expiring")
            check("0", "weeks", 64)
            lacks(check("2", "weeks", 69).stdout, "No certificates")
