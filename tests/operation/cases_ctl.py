"""revenantctl: the commands that tests/http does not cover, and a comparison of all with RabbitMQ's own program."""
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

import pika
from cases_tls import Authority, config_of, connected, context_of

from world import Mismatch, case, contains, equal, eventually, lacks

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
from brokers import RabbitMQ  # noqa: E402

RABBITMQ_HOME = os.path.dirname(os.path.dirname(os.path.realpath("/usr/lib/rabbitmq/bin/rabbitmqctl")))
RABBITMQ_CTL, RABBITMQ_PLUGINS = RABBITMQ_HOME + "/escript/rabbitmqctl", RABBITMQ_HOME + "/plugins"
COMMAND_SECONDS_MAX = 120
COMPARISON_SECONDS_MAX = 120


class Node:
    """A broker and its command line, under any name of the program."""

    def __init__(self, world, directory, broker):
        self.world, self.directory, self.broker = world, directory, broker
        self.url = f"http://127.0.0.1:{broker.ports['http']}"
        for name in ("rabbitmqctl", "rabbitmq-diagnostics", "rabbitmq-queues", "rabbitmq-plugins", "rabbitmq-upgrade"):
            os.symlink(world.ctl_program, os.path.join(directory, name))

    def ctl(self, *arguments, program="rabbitmqctl", **options):
        return self.world.ctl(*arguments, url=self.url, program=os.path.join(self.directory, program), **options)

    def json(self, *arguments, **options):
        return json.loads(self.ctl(*arguments, "--formatter", "json", **options).stdout)

    def shell(self, line):
        """Runs a line in a shell, with all its quotes."""
        done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=COMMAND_SECONDS_MAX, check=False,
                              env={"PATH": self.directory + ":" + os.environ["PATH"], "REVENANT_URL": self.url})
        equal(done.returncode, 0, f"{line}: {done.stdout}{done.stderr}")
        return done.stdout

    def amqp(self, vhost="/"):
        return pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", self.broker.ports["amqp"], vhost))


def with_node(function):
    def run(world):
        with world.directory() as directory, world.broker(directory) as broker:
            function(Node(world, directory, broker))
    run.__name__ = function.__name__
    return case(run)


# From RabbitMQ's documentation.
POLICY_LINE = """rabbitmqctl set_policy DLX ".*" '{"dead-letter-exchange":"my-dlx"}' --apply-to queues"""
LOOK_AHEAD_LINE = r"""rabbitmqctl set_policy not-amq '^(?!amq\.).*' '{"max-length":5}' --priority 1"""


@with_node
def ctl_takes_the_lines_of_the_documentation(node):
    node.shell(POLICY_LINE)
    with node.amqp() as connection:
        channel = connection.channel()
        channel.exchange_declare("my-dlx", "fanout")
        for name in ("orders", "dead"):
            channel.queue_declare(name)
        channel.queue_bind("dead", "my-dlx")
        channel.basic_publish("", "orders", b"x")
        method, _, _ = channel.basic_get("orders")
        channel.basic_reject(method.delivery_tag, requeue=False)
        eventually(lambda: channel.queue_declare("dead", passive=True).method.message_count == 1, "the letter is there")
        _, properties, _ = channel.basic_get("dead", auto_ack=True)
        equal(properties.headers["x-death"][0]["queue"], "orders")


@with_node
def ctl_patterns_may_look_ahead(node):
    node.shell(POLICY_LINE)
    node.shell(LOOK_AHEAD_LINE)
    connection = node.amqp()
    channel = connection.channel()
    channel.queue_declare("orders")
    channel.queue_declare("")
    policies = {one["name"]: one["policy"] for one in node.json("list_queues", "name", "policy")}
    equal(policies.pop("orders"), "not-amq")
    equal(list(policies.values()), ["DLX"])
    connection.close()


@with_node
def ctl_formats_lists_in_every_way(node):  # management 5.1
    equal(node.ctl("list_users", "--formatter", "pretty_table", "-q").stdout.splitlines(), [
        "┌───────┬─────────────────┐", "│ user  │ tags            │", "├───────┼─────────────────┤",
        "│ guest │ [administrator] │", "└───────┴─────────────────┘"])
    equal(node.ctl("list_users", "--formatter", "erlang", "-q").stdout,
          '[[{user,<<"guest">>},{tags,[<<"administrator">>]}]]\n')
    equal(node.ctl("list_users", "--formatter", "csv").stdout, '"user","tags"\n"guest","[administrator]"\n')
    equal(node.ctl("list_users", "--no-table-headers", "-q").stdout, "guest\t[administrator]\n")
    # A table without rows has no headers.
    equal(node.ctl("list_queues", "-q").stdout, "")
    equal(node.json("list_queues"), [])


@with_node
def ctl_sets_limits(node):
    node.ctl("add_vhost", "v")
    equal(node.ctl("set_vhost_limits", "-p", "v", '{"max-connections":0,"max-queues":7}').stdout,
          'Setting vhost limits to "{"max-connections":0,"max-queues":7}" for vhost "v" ...\n')
    equal(json.loads(node.ctl("list_vhost_limits", "-p", "v").stdout.splitlines()[1]), {"max-connections": 0, "max-queues": 7})
    equal([one["vhost"] for one in node.json("list_vhost_limits", "--global")], ["v"])
    contains(node.ctl("set_vhost_limits", "-p", "v", '{"nosuch":5}', status=69).stderr,
             'Unrecognised terms [{<<"nosuch">>,5}] in limits')
    node.ctl("set_vhost_limits", "-p", "nosuch", "{}", status=65)
    node.ctl("set_vhost_limits", "-p", "v", "nojson", status=69)
    node.ctl("set_permissions", "-p", "v", "guest", ".*", ".*", ".*")
    try:
        node.amqp("v")
        raise Mismatch("a connection came in beyond the limit")
    except pika.exceptions.AMQPConnectionError:
        pass
    node.ctl("clear_vhost_limits", "-p", "v")
    node.amqp("v").close()
    node.ctl("set_user_limits", "guest", '{"max-connections":3}')
    for option in ("-q", "-s"):
        equal(node.ctl("list_user_limits", option).stdout, '{"max-connections":3}\n')
    equal(node.ctl("list_user_limits").stdout.splitlines()[1], '{"max-connections":3}')
    node.ctl("clear_user_limits", "guest", "all")
    equal(node.json("list_user_limits", "--global"), [])
    node.ctl("set_user_limits", "nosuch", "{}", status=67)


@with_node
def ctl_sets_parameters(node):
    node.ctl("set_global_parameter", "mine", '{"a":1}')
    contains(node.json("list_global_parameters"), {"name": "mine", "value": '{"a":1}'})
    node.ctl("clear_global_parameter", "mine")
    equal(node.ctl("clear_global_parameter", "mine", status=69).stderr, "Error:\nParameter does not exist\n")
    contains(node.ctl("set_global_parameter", "mine", "nojson", status=69).stderr, "Could not parse JSON document")
    node.ctl("list_parameters", "-p", "nosuch", status=65)


@with_node
def ctl_exports_and_imports_definitions(node):
    node.ctl("set_policy", "P", ".*", '{"max-length":5}')
    path = os.path.join(node.directory, "definitions.json")
    node.ctl("export_definitions", path)
    equal(oct(os.stat(path).st_mode & 0o777), "0o600")
    node.ctl("clear_policy", "P")
    node.ctl("import_definitions", path)
    equal([one["name"] for one in node.json("list_policies")], ["P"])
    equal(json.loads(node.ctl("export_definitions", "-").stdout)["policies"][0]["name"], "P")
    contains(node.ctl("import_definitions", "-", stdin="nojson", status=69).stderr, "Could not parse JSON")
    contains(node.ctl("import_definitions", "/nowhere.json", status=65).stderr, "cannot read file /nowhere.json")


@with_node
def ctl_protects_and_tags_vhosts(node):
    node.ctl("add_vhost", "v")
    node.ctl("set_vhost_tags", "v", "a", "b")
    contains(node.json("list_vhosts", "name", "tags"), {"name": "v", "tags": ["a", "b"]})
    node.ctl("enable_vhost_protection_from_deletion", "v")
    node.ctl("delete_vhost", "v", status=65)
    node.ctl("disable_vhost_protection_from_deletion", "v")
    node.ctl("add_user", "u", "p")
    node.ctl("set_permissions_globally", "u", "^a", "^b", "^c")
    equal([one["vhost"] for one in node.json("list_user_permissions", "u")], ["/", "v"])
    node.ctl("delete_vhost", "v")
    node.ctl("set_vhost_tags", "v", "a", status=65)
    node.ctl("set_permissions_globally", "nosuch", "", "", "", status=67)
    node.ctl("wait", "/run/revenant.pid", "-t", "infinity")
    contains(node.ctl("wait", "-t", "soon", status=64).stderr, "--timeout: 'soon' is not a number of seconds")


@with_node
def ctl_closes_many_connections(node):
    for command in (("close_all_connections", "maintenance"), ("close_all_user_connections", "guest", "maintenance"),
                    ("close_all_connections", "--global", "maintenance")):
        connections = [node.amqp() for _ in range(2)]
        node.ctl(*command)
        for connection in connections:
            try:
                connection.process_data_events(20)
                raise Mismatch(f"{command}: the client was not told")
            except pika.exceptions.ConnectionClosedByBroker as closed:
                contains(closed.reply_text, "maintenance")
    node.ctl("close_all_connections", "-p", "nosuch", "x", status=65)
    node.ctl("close_all_user_connections", "nosuch", "x", status=67)
    node.ctl("close_all_connections", "line\nbreak", status=65)


@with_node
def ctl_checks_health_as_rabbitmq_diagnostics(node):  # management 5.8
    def check(*arguments, **options):
        return node.ctl(*arguments, program="rabbitmq-diagnostics", **options)

    running = f"RabbitMQ on node {node.url} is fully booted and running\n"
    for option in ("-q", "-s"):
        equal(check(option, "ping").stdout, "Ping succeeded\n")
        equal(check(option, "is_running").stdout, running)
        equal(check(option, "check_running").stdout, running)
    equal(check("-q", "check_local_alarms").stdout, f"Node {node.url} reported no local alarms\n")
    equal(check("-s", "check_local_alarms").stdout, "")
    for command in (("check_running",), ("check_local_alarms",), ("check_alarms",), ("check_virtual_hosts",),
                    ("check_port_connectivity",), ("check_port_listener", str(node.broker.ports["amqp"])),
                    ("check_protocol_listener", "amqp"), ("node_health_check",),
                    ("check_if_node_is_quorum_critical",), ("await_online_quorum_plus_one", "-t", "5"), ("alarms",), ("is_running",), ("is_booting",)):
        check(*command)
    check("check_port_listener", "1", status=69)
    check("check_protocol_listener", "nosuch", status=69)
    contains(check("listeners").stdout, f"Interface: 127.0.0.1, port: {node.broker.ports['amqp']}, protocol: amqp\n")
    equal(check("server_version", "-q").stdout, "4.3.0\n")
    node.broker.stop()
    for command in ("ping", "check_running", "check_port_connectivity", "status", "memory_breakdown"):
        contains(check(command, status=69).stderr, "Connection refused")
    contains(check("enable_feature_flag", "all", status=69).stderr, "Connection refused")


@with_node
def ctl_breaks_memory_down(node):
    def parts(*arguments):
        lines = node.ctl("-q", "memory_breakdown", *arguments, program="rabbitmq-diagnostics").stdout.splitlines()
        return {name: (float(amount), unit, float(percentage)) for name, amount, unit, percentage in
                (re.fullmatch(r"(\w+): ([\d.]+) (\w+) \(([\d.]+)%\)", line).groups() for line in lines)}

    found = parts("--unit", "mb")
    for name in ("queue_procs", "other_proc", "connection_readers", "mnesia", "binary"):
        equal(found[name][1], "mb")
    equal([part for part in found.values() if part[2] > 100], [])
    equal(round(sum(part[2] for part in found.values())), 100)
    equal(parts()["other_proc"][1], "gb")
    contains(node.json("memory_breakdown")["other_proc"], "percentage")
    whole = node.json("memory_breakdown")["other_proc"]["bytes"]
    amount = found["other_proc"][0]
    if not whole / 1e7 < amount < whole / 1e5:  # the value changes, but not tenfold
        raise Mismatch(f"{amount} mb, {whole} bytes")


@case
def ctl_shows_all_alarms(world):
    with world.directory() as directory:
        text = "vm_memory_high_watermark.absolute = 1MB\ndisk_free_limit.absolute = 8000TB\n"
        with world.broker(directory, text) as broker:
            node = Node(world, directory, broker)
            name = broker.json("/api/nodes")[0]["name"]
            eventually(lambda: len(node.json("status")["alarms"]) == 2, "both alarms are in effect")
            wanted = [{"type": "resource_limit", "resource": resource, "node": name} for resource in ("memory", "disk")]
            lines = f"Memory alarm on node {name}\nFree disk space alarm on node {name}\n"
            for command in ("status", "cluster_status"):
                equal(node.json(command)["alarms"], wanted)
                contains(node.ctl(command).stdout, "Alarms\n\n" + lines)
            equal(node.ctl("-q", "alarms").stdout, lines)
            node.ctl("check_alarms", status=69)


@case
def ctl_logs_in_as_the_first_user(world):
    """As in a container, where revenantctl has the variables that configure the default user."""
    with world.directory() as directory:
        password = os.path.join(directory, "password")
        with open(password, "w") as file:
            file.write("s3cret\n")
        with world.broker(directory, "default_user = admin\ndefault_pass = s3cret\n") as broker:
            node = Node(world, directory, broker)
            contains(node.ctl("list_users", status=69).stderr, "rejected user 'guest'")
            for prefix in ("REVENANT", "RABBITMQ"):
                user = {prefix + "_DEFAULT_USER": "admin"}
                equal(node.ctl("-s", "list_users", **user, **{prefix + "_DEFAULT_PASS": "s3cret"}).stdout, "admin\t[administrator]\n")
                node.ctl("list_users", **user, **{prefix + "_DEFAULT_PASS_FILE": password})
                node.ctl("list_users", **{prefix + "_DEFAULT_USER_FILE": password}, status=69)
            # Options and variables of revenantctl take precedence.
            wrong = {"RABBITMQ_DEFAULT_USER": "admin", "RABBITMQ_DEFAULT_PASS": "wrong"}
            node.ctl("list_users", **wrong, status=69)
            node.ctl("list_users", **wrong, REVENANT_PASSWORD="s3cret")
            node.ctl("list_users", "--password", "s3cret", **wrong)
            contains(node.ctl("list_users", RABBITMQ_DEFAULT_PASS_FILE="/nowhere", status=64).stderr,
                     "RABBITMQ_DEFAULT_PASS_FILE: cannot read /nowhere")


@case
def ctl_speaks_https(world):
    with world.directory() as directory:
        authority = Authority(directory)
        certificate, key = authority.issue("http", "/CN=localhost")
        text = f"management.ssl.port = 0\nmanagement.ssl.certfile = {certificate}\nmanagement.ssl.keyfile = {key}\n"
        with world.broker(directory, text) as broker:
            node = Node(world, directory, broker)
            port = re.search(r"protocol=https address=127\.0\.0\.1:(\d+)", broker.log()).group(1)
            trusted, wanted = ("--cacert", authority.path("ca.pem")), "guest\t[administrator]\n"
            for host in ("localhost", "127.0.0.1"):
                url = f"https://{host}:{port}"
                equal(node.ctl("-s", "list_users", "--url", url, *trusted).stdout, wanted)
                equal(node.ctl("-s", "list_users", "--url", url, SSL_CERT_FILE=trusted[1]).stdout, wanted)
                equal(node.ctl("-s", "list_users", "--url", url, "--insecure").stdout, wanted)
                contains(node.ctl("list_users", "--url", url, status=69).stderr, "certificate is not trusted")
            # A long request body and a long response.
            definitions = json.dumps({"global_parameters": [{"name": "long", "value": "x" * 300_000}]})
            node.ctl("import_definitions", "-", "--url", url, *trusted, stdin=definitions)
            contains(node.ctl("export_definitions", "-", "--url", url, *trusted).stdout, "x" * 300_000)
            node.ctl("ping", "--url", f"https://127.0.0.1:{broker.ports['http']}", "--insecure", status=69)
            contains(node.ctl("ping", "--url", url, "--cacert", "/nowhere", status=69).stderr, "/nowhere")
            # The certificate is for another name.
            stranger = authority.issue("http", "/CN=elsewhere", names="DNS:elsewhere")
            equal(stranger, (certificate, key))
            broker.reload()

            def not_the_host():
                done = subprocess.run([world.ctl_program, "ping", "--url", url, *trusted], capture_output=True, text=True,
                                      timeout=COMMAND_SECONDS_MAX, check=False, env={"PATH": os.environ["PATH"]})
                return done.returncode == 69 and "mismatch" in done.stderr

            eventually(not_the_host, "a certificate for another host is refused")


@case
def ctl_lists_how_connections_are_protected(world):
    with world.directory() as directory:
        authority = Authority(directory)
        text = config_of(authority, "ssl_options.verify = verify_peer")
        with world.broker(directory, text) as broker, \
                connected(broker, context_of(authority, authority.issue("client", "/CN=janeway"))):
            columns = ("ssl", "ssl_protocol", "ssl_key_exchange", "ssl_cipher", "peer_cert_subject", "peer_cert_issuer",
                       "peer_cert_validity")
            shown = Node(world, directory, broker).json("list_connections", "ssl_hash", *columns)[0]
            equal((shown["ssl"], shown["ssl_protocol"], shown["peer_cert_subject"], shown["peer_cert_issuer"]),
                  (True, "TLSv1.3", "CN=janeway", "CN=ca"))
            equal([column for column in columns if not shown[column]], [])


@with_node
def ctl_says_why_it_will_not(node):
    for command, part in ((("eval", "1."), "no Erlang"), (("stop_app",), "systemctl stop"), (("reset",), "data directory"),
                          (("join_cluster", "rabbit@x"), "clustering is not available"), (("set_log_level", "debug"), "log.default.level"),
                          (("set_disk_free_limit", "1GB"), "disk_free_limit"), (("trace_on",), "tracing is not available"),
                          (("encode", "value", "phrase"), "cannot be encrypted"),
                          (("decode", "value", "phrase"), "cannot be encrypted")):
        contains(node.ctl(*command, status=69).stderr, part)
    node.ctl("trace_off")


@case
def ctl_shows_what_was_configured(world):
    with world.directory() as directory:
        text = "heartbeat = 30\ndefault_pass = hunter2\nlog.console.level = warning\n"
        with world.broker(directory, text) as broker:
            node = Node(world, directory, broker)
            shown = node.ctl("environment", "--formatter", "json", "--password", "hunter2").stdout
            settings = json.loads(shown)
            equal((settings["heartbeat"], settings["listeners.tcp.default"]), ("30", "0"))
            lacks(shown, "hunter2")
            contains(node.ctl("environment", "-q", "--password", "hunter2").stdout, "heartbeat\t30\n")
            equal(broker.json("/api/nodes", user="guest:hunter2")[0]["config_files"], [broker.config])


@with_node
def ctl_helps(node):
    names = node.ctl("autocomplete").stdout.split()
    equal(len(names), len(set(names)))
    whole = node.ctl("help").stdout
    for name in names:
        contains(whole, f"\n  {name}")
        contains(node.ctl("help", name).stdout, f"Usage: rabbitmqctl {name}")
        contains(node.ctl("help", name).stdout, f"Example:\n  rabbitmqctl ")
    contains(node.ctl("lst_queues", status=64).stderr, "Did you mean 'list_queues'?")
    contains(node.ctl("list_queues", "--help").stdout, "Usage: rabbitmqctl list_queues")
    equal(node.ctl("autocomplete", "list_q").stdout, "list_queues\n")


# Simulates bash completion after the words: finds the function registered for the program and calls it.
COMPLETION = """
source "$0"; program=$1; shift
registered=$(complete -p "$program" 2>/dev/null) || exit 3
[[ $registered =~ -F\\ ([^ ]+) ]] || exit 4
COMP_WORDS=("$program" "$@"); COMP_CWORD=$#; COMP_LINE="$program $*"; COMP_POINT=${#COMP_LINE}
"${BASH_REMATCH[1]}" "$program" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def complete(node, program, *words, path=None):
    done = subprocess.run(["bash", "-c", COMPLETION, os.path.join(node.world.root, "deploy", "completion", "revenantctl"), program,
                           *words], capture_output=True, text=True, timeout=60, check=False,
                          env={"PATH": (path or node.directory) + ":" + os.environ["PATH"], "REVENANT_URL": node.url})
    equal(done.stderr, "")
    return done.stdout.split() if done.returncode == 0 else done.returncode


@with_node
def ctl_completes_words(node):
    os.symlink(node.world.ctl_program, os.path.join(node.directory, "revenantctl"))
    for program in ("revenantctl", "rabbitmqctl", "rabbitmq-diagnostics", "rabbitmq-queues"):
        equal(complete(node, program, "list_policies_"), ["list_policies_that_match"])
    equal(complete(node, "rabbitmq-plugins", "is_"), ["is_enabled"])
    for options in (("-p", "v"), ("-q", "-n", "rabbit@host"), ("--vhost", "=", "v"), ("--timeout", "5", "-s")):
        equal(complete(node, "rabbitmqctl", *options, "list_policies_"), ["list_policies_that_match"])
        # No command is completed after the command.
        equal(complete(node, "rabbitmqctl", *options, "list_queues", "list_pol"), [])
    equal(complete(node, "rabbitmqctl", "list_queues", "-p", "v", "list_pol"), [])
    equal(complete(node, "rabbitmqctl", "help", "list_policies_"), ["list_policies_that_match"])
    node.ctl("add_vhost", "vineyard")
    for words in (("list_queues", "-p", "vine"), ("list_queues", "--vhost", "=", "vine"), ("-p", "vine")):
        equal(complete(node, "rabbitmqctl", *words), ["vineyard"])
    equal(complete(node, "rabbitmqctl", "list_users", "--formatter", "pre"), ["pretty_table"])
    equal(complete(node, "rabbitmqctl", "status", "--unit", "="), ["bytes", "kb", "mb", "gb", "tb"])
    # The programs of RabbitMQ are not completed.
    equal(complete(node, "rabbitmqctl", "list_pol", path="/usr/sbin"), 3)


@with_node
def ctl_knows_plugins_and_quorum_queues(node):
    equal(node.ctl("list", "-m", "-E", "management", program="rabbitmq-plugins").stdout,
          "rabbitmq_management\nrabbitmq_management_agent\n")
    node.ctl("enable", "rabbitmq_management", program="rabbitmq-plugins")
    contains(node.ctl("enable", "nosuch", status=70, program="rabbitmq-plugins").stderr, "nosuch")
    built_in = ("rabbitmq_auth_mechanism_ssl", "rabbitmq_consistent_hash_exchange", "rabbitmq_prometheus", "rabbitmq_management",
                "rabbitmq_management_agent", "rabbitmq_amqp1_0")
    node.ctl("enable", *built_in, program="rabbitmq-plugins")
    equal(node.ctl("-q", "is_enabled", built_in[0], program="rabbitmq-plugins").stdout,
          f"Plugin {built_in[0]} is enabled on node {node.url}\n")
    node.ctl("is_enabled", *built_in, program="rabbitmq-plugins")
    contains(node.ctl("is_enabled", "rabbitmq_management", "rabbitmq_mqtt", status=69, program="rabbitmq-plugins").stderr,
             "Plugin rabbitmq_mqtt is not enabled")
    connection = node.amqp()
    channel = connection.channel()
    channel.queue_declare("q", durable=True, arguments={"x-queue-type": "quorum"})
    channel.queue_declare("c", durable=True)
    equal(node.json("quorum_status", "q", program="rabbitmq-queues")[0]["Raft State"], "leader")
    contains(node.ctl("quorum_status", "c", status=69, program="rabbitmq-queues").stderr, "classic")
    node.ctl("quorum_status", "nosuch", status=69, program="rabbitmq-queues")
    node.ctl("rebalance", "all", program="rabbitmq-queues")
    connection.close()


@with_node
def ctl_reads_passwords_where_nobody_sees_them(node):
    node.ctl("add_user", "u", stdin="from a pipe\n")
    contains(node.ctl("authenticate_user", "u", stdin="from a pipe\n").stdout, "Success")
    done = node.ctl("add_user", "v", stdin="", status=64)
    contains(done.stderr, "no password given")
    lacks(node.ctl("hash_password", stdin="s3cret\n", program="rabbitmqctl").stdout, "s3cret")


# The commands for both programs, in this order.
SAME = (
    ("add_user", "u1", "p1"),
    ("add_user", "u1", "p1"),
    ("authenticate_user", "u1", "wrong"),
    ("change_password", "nosuch", "p"),
    ("set_user_tags", "u1", "management", "x"),
    ("list_users", "--formatter", "csv"),
    ("add_vhost", "v1", "--description", "desc"),
    ("delete_vhost", "nosuch"),
    ("set_permissions", "-p", "v1", "u1", "^a", ".*", ""),
    ("list_permissions", "-p", "v1"),
    ("list_user_permissions", "u1", "--formatter", "json"),
    ("set_topic_permissions", "-p", "v1", "u1", "amq.topic", "^a", ".*"),
    ("list_topic_permissions", "-p", "v1", "-q"),
    ("set_policy", "DLX", ".*", '{"dead-letter-exchange":"my-dlx"}', "--apply-to", "queues"),
    ("set_policy", "LOOK", r"^(?!amq\.)", '{"max-length":5}', "--priority", "3"),
    ("set_policy", "BAD", ".*", '{"foo":1}'),
    ("set_policy", "BAD", ".*"),
    ("list_policies", "--formatter", "json"),
    ("clear_policy", "nosuch"),
    ("set_vhost_limits", "-p", "v1", '{"max-connections":5}'),
    ("list_vhost_limits", "-p", "v1"),
    ("set_user_limits", "u1", '{"max-connections":5}'),
    ("list_user_limits", "--user", "u1"),
    ("list_user_limits", "--user", "u1", "-q"),
    ("list_user_limits", "--user", "guest", "-s"),
    ("list_vhost_limits", "-p", "v1", "-q"),
    ("list_vhost_limits", "-p", "v1", "-s"),
    ("list_vhost_limits",),
    ("list_vhost_limits", "-q"),
    ("list_vhost_limits", "--global"),
    ("list_vhost_limits", "--global", "-s"),
    ("clear_user_limits", "u1", "bogus"),
    ("clear_user_limits", "u1", "all"),
    ("clear_vhost_limits", "-p", "v1"),
    ("add_user", "u2", "p2", "-q"),
    ("add_user", "u3", "p3", "-s"),
    ("authenticate_user", "u2", "p2", "-q"),
    ("authenticate_user", "u2", "p2", "-s"),
    ("list_users", "-q"),
    ("list_users", "-s"),
    ("ping", "-q"),
    ("ping", "-s"),
    ("close_all_connections", "--global", "maintenance", "-q"),
    ("close_all_user_connections", "u1", "maintenance", "-q"),
    ("enable_feature_flag", "all", "-q"),
    ("await_startup", "-q"),
    ("list_connections", "nosuch"),
    ("list_connections", "ssl_protocol", "ssl_key_exchange", "ssl_cipher", "ssl_hash", "peer_cert_subject", "peer_cert_issuer",
     "peer_cert_validity", "recv_cnt", "send_cnt", "send_pend"),
    ("list_queues", "--offline"),
    ("list_queues", "--online", "-s"),
    ("list_queues", "nosuch"),
    ("list_queues",),
    ("nosuch_command",),
)


def told(done):
    """The parts that scripts rely on: the exit code, the unordered output, the beginning of an error."""
    lines = done.stdout.splitlines()
    head = [line for line in lines if line.endswith("...")]
    rows = sorted(line.lstrip(",") for line in lines if not line.endswith("..."))
    error = [line for line in done.stderr.splitlines() if line not in ("", "Error:")]
    return done.returncode, head, rows, error[0].strip() if error else ""


def rabbitmqctl_modules(directory):
    """RabbitMQ's programs are archives of Erlang modules after a few lines of text."""
    with open(RABBITMQ_CTL, "rb") as file:
        program = file.read()
    with zipfile.ZipFile(io.BytesIO(program[program.index(b"PK\x03\x04"):])) as archive:
        archive.extractall(directory)
    return directory


def rabbitmqctl(reference, directory, commands):
    """The results of RabbitMQ's own program for each command."""
    # The program's behaviour depends on its name.
    program, path = os.path.join(directory, "rabbitmqctl"), os.path.join(directory, "commands")
    os.symlink(os.path.join(os.path.dirname(os.path.abspath(__file__)), "rabbitmqctl_session.escript"), program)
    with open(path, "w") as file:
        for command in commands:
            # A JSON string is a valid Erlang string.
            file.write(json.dumps(["-n", reference.variables["RABBITMQ_NODENAME"], *command]) + ".\n")
    modules = rabbitmqctl_modules(os.path.join(directory, "modules"))
    done = subprocess.run(["escript", program, path], capture_output=True, text=True, timeout=COMPARISON_SECONDS_MAX, check=True,
                          stdin=subprocess.DEVNULL, env=dict(reference.variables, ERL_LIBS=RABBITMQ_PLUGINS,
                                                             ERL_FLAGS=f"-pa {modules} -hidden"))
    # The exit codes are between the outputs.
    outputs, errors = (re.split(r"\x1e(\d+)\n", text) for text in (done.stdout, done.stderr))
    equal((len(outputs), len(errors)), (2 * len(commands) + 1,) * 2, "pieces of output")
    return [subprocess.CompletedProcess(command, int(outputs[2 * index + 1]), outputs[2 * index], errors[2 * index])
            for index, command in enumerate(commands)]


@with_node
def ctl_speaks_as_rabbitmqctl_does(node):
    with tempfile.TemporaryDirectory(prefix="rabbitmqctl_") as directory:
        reference = RabbitMQ(directory)
        reference.start()
        try:
            differences = []
            for arguments, theirs in zip(SAME, rabbitmqctl(reference, directory, SAME), strict=True):
                ours = subprocess.run([os.path.join(node.directory, "rabbitmqctl"), *arguments],
                                      env={"PATH": os.environ["PATH"], "REVENANT_URL": node.url}, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=COMMAND_SECONDS_MAX, check=False)
                if told(theirs) != told(ours):
                    differences.append(f"{' '.join(arguments)}\n  theirs: {told(theirs)}\n  ours:   {told(ours)}")
            if differences:
                raise Mismatch("\n".join(differences))
        finally:
            reference.stop()
