"""revenant.conf: keys, precedence of sources, and error texts."""
import json
import os
import re
import socket

import pika

from world import Mismatch, case, contains, equal, eventually, lacks

PORTS = "listeners.tcp.default = 127.0.0.1:0\nmanagement.tcp.ip = 127.0.0.1\nmanagement.tcp.port = 0\n" \
        "prometheus.tcp.ip = 127.0.0.1\nprometheus.tcp.port = 0\n"

# The default node name.
NODE = "rabbit@" + (socket.gethostname().split(".")[0] or "localhost")


def connect(broker, user="guest", password="guest", vhost="/"):
    return pika.BlockingConnection(pika.ConnectionParameters(
        "127.0.0.1", broker.ports["amqp"], vhost, pika.PlainCredentials(user, password), socket_timeout=20))


@case
def config_check_tells_all_faults_at_once(world):
    done = world.check("heartbeat = often\nno_such.key = 1\nbroken line\ndisk_free_limit.absolute = 1XB\n", status=1)
    equal(done.stdout, "")
    equal(done.stderr.splitlines(), [
        "r.conf:3: expected key = value",
        "r.conf:1: heartbeat: 'often' is not an integer from 0 to 65535",
        "r.conf:2: unknown key 'no_such.key'",
        "r.conf:4: disk_free_limit.absolute: '1XB' is not a size: a number of bytes, or a number with a unit such as 50MB or 2GiB, "
        "at most 9007199254740992 bytes",
    ])
    contains(world.revenant("--config", "/nowhere/r.conf", "--check-config", status=1).stderr,
             "/nowhere/r.conf: cannot read file: No such file or directory")
    contains(world.revenant("--check-config", "--port", "x", status=1).stderr, "--port: listeners.tcp.default: 'x'")
    contains(world.revenant("--check-config", status=1, RABBITMQ_NODE_PORT="x").stderr, "RABBITMQ_NODE_PORT: ")


@case
def config_numbers_have_a_largest_one_that_is_named(world):
    largest = 2 ** 63 - 1
    done = world.check("".join(f"{key} = {value}\n" for key, value in (
        ("consumer_timeout", largest), ("handshake_timeout", largest), ("collect_statistics_interval", 86400001),
        ("login_failures.wait_max", largest), ("connection_max", 2 ** 64), ("consumer_max_per_channel", 2 ** 32),
        ("frame_max", 2 ** 32), ("vm_memory_high_watermark.absolute", 2 ** 64 - 1), ("disk_free_limit.absolute", "9PiB"),
        ("disk_free_limit.absolute", "9000TiB"), ("default_limits.vhosts.a.max_queues", 2 ** 63))), status=1)
    equal([line.split(": ", 2)[1:] for line in done.stderr.splitlines()], [
        ["consumer_timeout", f"'{largest}' is not an integer from 0 to 315360000000, or 'infinity'"],
        ["handshake_timeout", f"'{largest}' is not an integer from 1 to 86400000"],
        ["collect_statistics_interval", "'86400001' is not an integer from 1 to 86400000"],
        ["login_failures.wait_max", f"'{largest}' is not an integer from 1 to 86400000"],
        ["connection_max", f"'{2 ** 64}' is not an integer from 0 to {largest}, or 'infinity'"],
        ["consumer_max_per_channel", f"'{2 ** 32}' is not an integer from 0 to {2 ** 32 - 1}, or 'infinity'"],
        ["frame_max", "must be 0, or from 8192 to 4294967295"],
        *(["vm_memory_high_watermark.absolute" if value == 2 ** 64 - 1 else "disk_free_limit.absolute",
           f"'{value}' is not a size: a number of bytes, or a number with a unit such as 50MB or 2GiB, "
           "at most 9007199254740992 bytes"] for value in (2 ** 64 - 1, "9PiB", "9000TiB")),
        ["default_limits.vhosts.a.max_queues", f"'{2 ** 63}' is not an integer from 0 to {largest}"]])
    world.check(f"consumer_timeout = 315360000000\nconnection_max = {largest}\ntotal_memory_available_override_value = 8192TiB\n"
                "disk_free_limit.relative = 1000\n")


@case
def config_check_shows_what_is_in_force(world):
    text = "heartbeat = 30\ndefault_pass = hunter2\nmanagement_agent.disable_metrics_collector = true\ncluster_formation.dns.hostname = x\n"
    done = world.check(text, "--max-message-size", "1MiB", RABBITMQ_DEFAULT_USER="admin")
    for line in ("heartbeat = 30  # r.conf:1", "frame_max = 131072  # default",
                 "# listeners.tcp.$name = 5672  # default", "default_pass = (hidden)  # r.conf:2",
                 "max_message_size = 1MiB  # --max-message-size", "default_user = admin  # RABBITMQ_DEFAULT_USER",
                 "management_agent.disable_metrics_collector = true  # r.conf:3, has no effect in this version",
                 "cluster_formation.dns.hostname = x  # r.conf:4, applies to clusters only"):
        contains(done.stdout.splitlines(), line)
    equal(done.stderr.splitlines(), [
        "warning: r.conf:3: management_agent.disable_metrics_collector: has no effect in this version",
        "warning: r.conf:4: cluster_formation.dns.hostname: applies to clusters only"])
    lacks(done.stdout + done.stderr, "hunter2")
    lacks(world.check("listeners.tcp = none\n").stdout, "listeners.tcp.$name")
    # The output is a valid configuration file.
    world.check(done.stdout.replace("(hidden)", "x"))


@case
def config_with_a_fault_starts_nothing(world):
    with world.directory() as directory:
        path = os.path.join(directory, "r.conf")
        with open(path, "w") as file:
            file.write("hearbeat = 5\ndefault_pass = hunter2 # x\n")
        data = os.path.join(directory, "data")
        done = world.revenant("--config", path, "--data-dir", data, status=1)
        contains(done.stderr, f"{path}:1: unknown key 'hearbeat'; did you mean 'heartbeat'?")
        equal(os.path.exists(data), False)


@case
def config_file_takes_effect(world):  # management 1.1
    text = PORTS + """
heartbeat = 7
frame_max = 65536
channel_max = 5
max_message_size = 1000
default_user = admin
default_pass = 'pass#word'
default_vhost = prod
default_user_tags.administrator = true
default_permissions.configure = ^mine
cluster_name = rabbits
node_name = broker@test
management.path_prefix = /broker
prometheus.path = /numbers
default_queue_type = quorum
vhost_max = 1
connection_max = 1
auth_mechanisms.1 = AMQPLAIN
auth_mechanisms.2 = PLAIN
"""
    with world.directory() as directory, world.broker(directory, text, options=()) as broker:
        admin = "admin:pass#word"
        equal(broker.get("/api/overview", user=admin)[0], 404)
        overview = broker.json("/broker/api/overview", user=admin)
        equal((overview["cluster_name"], overview["node"]), ("rabbits", "broker@test"))
        # The web pages and their files are served under the prefix, too.
        equal(broker.get("/broker/")[0], 200)
        contains(broker.get("/broker/")[1], b'<script type="module" src="main-')
        equal(broker.get("/")[0], 404)
        equal(broker.get("/metrics", port="prometheus")[0], 404)
        contains(broker.get("/numbers", port="prometheus")[1], b"rabbitmq_identity_info")
        connection = connect(broker, "admin", "pass#word", "prod")
        equal(connection._impl.params.heartbeat, 7)
        equal(connection._impl.params.frame_max, 65536)
        equal(connection._impl.params.channel_max, 5)
        with socket.create_connection(("127.0.0.1", broker.ports["amqp"]), timeout=20) as peer:
            peer.sendall(b"AMQP\x00\x00\x09\x01")
            contains(peer.recv(4096), b"AMQPLAIN PLAIN\x00")
        channel = connection.channel()
        channel.queue_declare("mine", durable=True)
        equal(broker.json("/broker/api/queues/prod/mine", user=admin)["type"], "quorum")
        refused = "connection limit"
        try:
            connect(broker, "admin", "pass#word", "prod")
            raise Mismatch("a second connection came in")
        except (pika.exceptions.ConnectionClosedByBroker, pika.exceptions.ProbableAccessDeniedError) as error:
            contains(str(error), refused)
        try:
            channel.basic_publish("", "mine", b"x" * 1001)
            channel.queue_declare("mine", passive=True)
            raise Mismatch("a message that is too large came in")
        except pika.exceptions.ChannelClosedByBroker as closed:
            equal(closed.reply_code, 406)
        try:
            connection.channel().queue_declare("yours", durable=True)
            raise Mismatch("a queue was declared without the permission")
        except pika.exceptions.ChannelClosedByBroker as closed:
            equal(closed.reply_code, 403)
        connection.close()


@case
def config_of_statistics_and_restrictions_takes_effect(world):
    text = """management.disable_stats = true
management.enable_queue_totals = true
management.rates_mode = none
management.restrictions.operator_policy_changes.disabled = true
cluster_tags.region = eu
node_tags.rack = 7
"""
    with world.directory() as directory, world.broker(directory, text) as broker:
        equal(broker.send("PUT", "/api/queues/%2F/q", {})[0], 201)
        overview = broker.json("/api/overview")
        told = {"disable_stats": True, "enable_queue_totals": True, "rates_mode": "none", "cluster_tags": {"region": "eu"},
                "node_tags": {"rack": "7"}, "is_op_policy_updating_enabled": False}
        equal({name: overview[name] for name in told}, told)
        lacks(overview, "churn_rates")
        queue, = broker.json("/api/queues")
        equal(sorted(queue), ["arguments", "auto_delete", "durable", "exclusive", "messages", "messages_ready",
                              "messages_unacknowledged", "name", "node", "state", "type", "vhost"])
        path = "/api/operator-policies/%2F/p"
        equal(broker.send("PUT", path, {"pattern": "", "definition": {"max-length": 1}}), (405, b""))
        equal(broker.json("/api/operator-policies"), [])


@case
def config_without_rates_of_messages(world):
    with world.directory() as directory, world.broker(directory, "management.rates_mode = none\n") as broker:
        equal(broker.send("PUT", "/api/queues/%2F/q", {})[0], 201)
        message = {"properties": {}, "routing_key": "q", "payload": "x", "payload_encoding": "string"}
        equal(broker.send("POST", "/api/exchanges/%2F/amq.default/publish", message), (200, b'{"routed":true}'))
        queue = broker.json("/api/queues/%2F/q")
        equal((queue["messages"], "messages_details" in queue, "message_stats" in queue), (1, True, False))
        equal(broker.json("/api/nodes")[0]["rates_mode"], "none")


@case
def config_of_passwords_takes_effect(world):
    text = """password_hashing_module = rabbit_password_hashing_sha512
credential_validator.validation_backend = rabbit_credential_validator_min_password_length
credential_validator.min_length = 12
"""
    with world.directory() as directory, world.broker(directory, text) as broker:
        # The configured algorithm applies to the default user, too.
        equal(broker.json("/api/users/guest")["hashing_algorithm"], "rabbit_password_hashing_sha512")
        status, body = broker.send("PUT", "/api/users/u", {"password": "short", "tags": ""})
        equal((status, json.loads(body)["reason"]), (400, "minimum required password length is 12"))
        document = {"users": [{"name": "u", "password": "short", "tags": ""}]}
        status, body = broker.send("POST", "/api/definitions", document)
        equal((status, json.loads(body)["reason"]), (400, "user 'u': minimum required password length is 12"))
        equal(broker.send("PUT", "/api/users/u", {"password": "long enough, really", "tags": "management"})[0], 201)
        equal(broker.json("/api/whoami", user="u:long enough, really")["name"], "u")
        equal(broker.json("/api/users/u")["hashing_algorithm"], "rabbit_password_hashing_sha512")
        # A hash is not checked against the password rules.
        equal(broker.send("PUT", "/api/users/h", {"password_hash": "", "tags": ""})[0], 201)


@case
def config_of_passwords_may_be_a_pattern(world):
    text = "credential_validator.validation_backend = rabbit_credential_validator_password_regexp\n" \
           "credential_validator.regexp = ^(?=.*[0-9]).{4}\n"
    with world.directory() as directory, world.broker(directory, text) as broker:
        status, body = broker.send("PUT", "/api/users/u", {"password": "letters", "tags": ""})
        equal((status, json.loads(body)["reason"]),
              (400, "provided password does not match the validator regular expression"))
        equal(broker.send("PUT", "/api/users/u", {"password": "letters1", "tags": ""})[0], 201)
    world.check("credential_validator.validation_backend = mine\ncredential_validator.regexp = (\n", status=1)


@case
def config_limits_the_channels_of_a_node(world):
    with world.directory() as directory, world.broker(directory, "channel_max_per_node = 3\n") as broker:
        connections = [connect(broker) for _ in range(3)]
        channels = [connections[i].channel() for i in (0, 0, 1)]
        reason = refused_channel(connections[1])
        equal(reason, "NOT_ALLOWED - number of channels opened on node '" + NODE + "' has reached the maximum "
                      "allowed limit of (3)")
        # The refused connection was closed with its channel. Closing a channel frees its slot as well.
        eventually(lambda: len(broker.json("/api/channels")) == 2, "the channel is gone")
        connections[2].channel()
        channels[0].close()
        connections[2].channel()
        equal(refused_channel(connections[2]), reason)
        connections[0].close()


def refused_channel(connection):
    try:
        connection.channel()
    except pika.exceptions.ConnectionClosedByBroker as closed:
        equal(closed.reply_code, 530)
        return closed.reply_text
    raise Mismatch("the channel was opened")


@case
def config_of_the_first_start_is_not_forced_on_later_ones(world):
    with world.directory() as directory:
        with world.broker(directory, PORTS + "default_user = one\ndefault_pass = p\n", options=()) as broker:
            equal(broker.get("/api/whoami", user="one:p")[0], 200)
        with world.broker(directory, PORTS + "default_user = two\ndefault_pass = p\n", options=()) as broker:
            equal(broker.get("/api/whoami", user="one:p")[0], 200)
            equal(broker.get("/api/whoami", user="two:p")[0], 401)


@case
def config_environment_speaks_as_for_rabbitmq(world):  # management 7.3
    with world.directory() as directory:
        secret = os.path.join(directory, "secret")
        with open(secret, "w") as file:
            file.write("from a file\n")
        environment = {"RABBITMQ_DEFAULT_USER": "env", "RABBITMQ_DEFAULT_PASS_FILE": secret,
                       "RABBITMQ_DEFAULT_VHOST": "v", "RABBITMQ_NODE_PORT": "0", "RABBITMQ_NODENAME": "rabbit@env"}
        ports = "management.tcp.port = 0\nprometheus.tcp.port = 0\ndefault_user = file\n"
        with world.broker(directory, ports, options=(), environment=environment) as broker:
            equal(broker.json("/api/overview", user="env:from a file")["node"], "rabbit@env")
            connect(broker, "env", "from a file", "v").close()


@case
def config_several_listeners_and_none(world):
    text = "listeners.tcp.1 = 127.0.0.1:0\nlisteners.tcp.2 = 127.0.0.2:0\n" + \
        PORTS.replace("listeners.tcp.default = 127.0.0.1:0\n", "")
    with world.directory() as directory, world.broker(directory, text, options=()) as broker:
        listeners = [(one["ip_address"], one["port"]) for one in broker.json("/api/overview")["listeners"]
                     if one["protocol"] == "amqp"]
        equal([address for address, _ in listeners], ["127.0.0.1", "127.0.0.2"])
        for listener in listeners:
            socket.create_connection(listener, timeout=10).close()
    text = "listeners.tcp = none\n" + PORTS.replace("listeners.tcp.default = 127.0.0.1:0\n", "")
    with world.directory() as directory, world.broker(directory, text, options=()) as broker:
        contains(broker.first_line, "amqp=none ")
        overview = broker.json("/api/overview")
        equal((overview["node"], overview["cluster_name"]), (NODE, NODE))


def timers(port):
    """The timers of the established connections to the port in /proc/net/tcp; 2 is keep-alive."""
    with open("/proc/net/tcp") as file:
        rows = [line.split() for line in file.readlines()[1:]]
    return [int(row[5].split(":")[0], 16) for row in rows if row[3] == "01" and int(row[1].split(":")[1], 16) == port]


@case
def config_sockets_are_kept_alive_when_asked(world):
    for text, wanted in (("tcp_listen_options.keepalive = true\ntcp_listen_options.backlog = 16\n", 2), ("", 0)):
        with world.directory() as directory, world.broker(directory, text) as broker:
            connection = connect(broker)
            eventually(lambda: timers(broker.ports["amqp"]) == [wanted], f"the timer of the connection is {wanted}")
            connection.close()


@case
def config_loopback_users_are_kept_out(world):
    # A client on another machine cannot be simulated here, so the list that the API gets is checked.
    done = world.check("loopback_users.guest = false\nloopback_users.bob = true\n")
    contains(done.stdout, "loopback_users.guest = false  # r.conf:1")
    world.check("loopback_users = none\n")
    contains(world.check("loopback_users = all\n", status=1).stderr, "loopback_users: 'all' is not none")


@case
def config_definitions_must_be_json(world):
    with world.directory() as directory:
        path = os.path.join(directory, "d.json")
        with open(path, "w") as file:
            file.write("[]")
        contains(world.check(f"load_definitions = {path}x\n", status=1).stderr, "cannot read file")
        contains(world.check(f"load_definitions = {path}\n", status=1).stderr, f"{path}: not a JSON object")
        with open(path, "w") as file:
            file.write("{")
        contains(world.check(f"management.load_definitions = {directory}\n", status=1).stderr, f"{path}: invalid JSON")
        with open(path, "w") as file:
            file.write('{"vhosts": []}')
        world.check(f"load_definitions = {path}\n")


@case
def config_definitions_are_there_from_the_start(world):
    document = {
        "users": [{"name": "from-file", "password": "p", "tags": ["administrator"]}], "vhosts": [{"name": "v"}],
        "permissions": [{"user": "from-file", "vhost": "v", "configure": ".*", "write": ".*", "read": ".*"}],
        "queues": [{"name": "q", "vhost": "v", "durable": True, "auto_delete": False, "arguments": {}}]}
    with world.directory() as directory:
        path = os.path.join(directory, "d.json")
        with open(path, "w") as file:
            json.dump(document, file)
        for _ in range(2):  # at the second startup, everything exists already
            with world.broker(directory, PORTS + f"load_definitions = {path}\n", options=()) as broker:
                equal(broker.json("/api/queues/v/q", user="from-file:p")["name"], "q")
                equal([one["name"] for one in broker.json("/api/users", user="from-file:p")], ["from-file"])
                connect(broker, "from-file", "p", "v").close()
                contains(broker.log(), f"definitions imported file={path}")
        document["queues"][0]["vhost"] = "nosuch"
        with open(path, "w") as file:
            json.dump(document, file)
        try:
            world.broker(directory, PORTS + f"load_definitions = {path}\n", options=()).stop()
        except Mismatch as mismatch:
            contains(str(mismatch), "nosuch")
        else:
            raise Mismatch("started with definitions that cannot be")


@case
def config_definitions_that_have_not_changed_are_skipped(world):
    def queue(name):
        return {"name": name, "vhost": "/", "durable": True, "auto_delete": False, "arguments": {}}

    def start(directory, names, skip=True):
        path = os.path.join(directory, "d.json")
        with open(path, "w") as file:
            json.dump({"queues": [queue(name) for name in names]}, file)
        return world.broker(directory, f"load_definitions = {path}\n"
                                       f"definitions.skip_if_unchanged = {'true' if skip else 'false'}\n")

    def queues(broker):
        return [one["name"] for one in broker.json("/api/queues")]

    with world.directory() as directory:
        with start(directory, ["a"]) as broker:
            equal(queues(broker), ["a"])
            equal(broker.send("DELETE", "/api/queues/%2F/a")[0], 204)
        with start(directory, ["a"]) as broker:
            equal(queues(broker), [])
            contains(broker.log(), "definitions unchanged since the last import")
        with start(directory, ["a", "b"]) as broker:
            equal(queues(broker), ["a", "b"])
            equal(broker.send("DELETE", "/api/queues/%2F/a")[0], 204)
        # Without the option, the file is always imported and its hash is not stored.
        with start(directory, ["a"], skip=False) as broker:
            equal(queues(broker), ["a", "b"])
            lacks([one["name"] for one in broker.json("/api/global-parameters")], "imported_definition_hash_value")
            equal(broker.send("DELETE", "/api/queues/%2F/a")[0], 204)
        with start(directory, ["a", "b"]) as broker:
            equal(queues(broker), ["a", "b"])


@case
def config_of_rabbitmq_3_takes_small_frames(world):
    for compat, taken in (("3.12", True), ("4.3", False)):
        with world.directory() as directory, world.broker(directory, f"compat = {compat}\n") as broker:
            parameters = pika.ConnectionParameters("127.0.0.1", broker.ports["amqp"], frame_max=4096, socket_timeout=20)
            try:
                connection = pika.BlockingConnection(parameters)
                channel = connection.channel()
                channel.queue_declare("q")
                channel.basic_publish("", "q", b"x" * 10_000)
                equal(len(channel.basic_get("q", auto_ack=True)[2]), 10_000)
                connection.close()
                equal(taken, True, compat)
            except (pika.exceptions.ConnectionClosedByBroker, pika.exceptions.AMQPConnectionError) as error:
                equal(taken, False, f"{compat}: {error!r}")
    world.check("compat = 3.12\nframe_max = 4096\n")
    contains(world.check("frame_max = 4096\n", status=1).stderr, "frame_max: must be 0, or from 8192 to 4294967295")


@case
def config_names_the_node_as_rabbitmq_does(world):
    host = NODE.split("@")[1]
    for environment, name in (({}, NODE), ({"RABBITMQ_NODENAME": "bunny"}, "bunny@" + host),
                              ({"RABBITMQ_NODENAME": "bunny@burrow"}, "bunny@burrow")):
        with world.directory() as directory:
            # The data directory opens under another node name, as after an upgrade.
            with world.broker(directory, "node_name = revenant@before\n") as broker:
                equal(broker.send("PUT", "/api/queues/%2F/q", {"durable": True})[0], 201)
            with world.broker(directory, environment=environment) as broker:
                equal(broker.json("/api/overview")["node"], name)
                equal(broker.json("/api/queues/%2F/q")["node"], name)


@case
def config_two_nodes_do_not_share(world):
    with world.directory() as directory, world.broker(directory) as broker:
        data = os.path.join(directory, "data")
        ports = ("--http-port", "0", "--prometheus-port", "0")
        contains(world.revenant("--data-dir", data, "--port", "0", *ports, status=1).stderr, data)
        other = os.path.join(directory, "other")
        taken = str(broker.ports["amqp"])
        contains(world.revenant("--data-dir", other, *ports, "--port", taken, status=1).stderr,
                 f"cannot bind 127.0.0.1:{taken}: Address already in use")


@case
def config_documentation_has_every_key(world):
    table = world.revenant("--list-config-keys").stdout
    with open(os.path.join(world.root, "docs", "configuration.md")) as file:
        text = file.read()
    if table not in text:
        rows = [row for row in table.splitlines() if row not in text]
        raise Mismatch("docs/configuration.md lacks rows of `revenant --list-config-keys`: " + "\n".join(rows[:5]))
    equal(len(re.findall(r"^\| `[a-z0-9_]+(\.[a-z0-9_$*]+)*` \|", text, re.M)), len(table.splitlines()) - 2)
