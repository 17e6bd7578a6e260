"""Existing rabbitmq.conf files: every key of RabbitMQ 4.3 is known, and no key that restricts access is ignored."""
import json
import os
import re
import subprocess

from cases_config import NODE, PORTS
from cases_tls import Authority
from world import SECONDS_MAX, Mismatch, case, contains, equal, lacks

HERE = os.path.dirname(os.path.abspath(__file__))
SILENT = ("has no effect in Revenant", "has no effect in this version", "applies to clusters only",
          "belongs to a plugin that is not supported")


def lines_of(name):
    with open(os.path.join(HERE, name)) as file:
        return [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]


def files_in(directory):
    authority = Authority(directory)
    certificate, key = authority.issue("server", "/CN=localhost")
    definitions = os.path.join(directory, "definitions.json")
    with open(definitions, "w") as file:
        json.dump({"vhosts": [{"name": "/"}]}, file)
    return {"{ca}": authority.path("ca.pem"), "{certificate}": certificate, "{key}": key, "{definitions}": definitions,
            "{directory}": directory}


@case
def rabbitmq_conf_with_every_key_starts(world):
    with world.directory() as directory:
        text = "\n".join(lines_of("rabbitmq_keys.txt")) + "\n"
        for name, path in files_in(directory).items():
            text = text.replace(name, path)
        with world.broker(directory, text, options=()) as broker:
            log = broker.log()
            values = dict(line.split(" = ", 1) for line in lines_of("rabbitmq_keys.txt"))
            warned = set(re.findall(r"revenant\.conf:\d+: (\S+): (?:" + "|".join(SILENT) + ")", log))
            shown = broker.get("/prefix/api/overview")[0]
            equal(shown, 200)
            # Every key takes effect according to the table, or has the default value, or is named in the log.
            table = world.revenant("--list-config-keys").stdout
            for key, value in values.items():
                rows = [row for row in table.splitlines() if matches(re.match(r"\| `(.*?)`", row), key)]
                if not rows:
                    raise Mismatch(f"{key} is in no row of the table")
                works = any("**" not in row or row.split(" | ")[1] == f"`{value}`" for row in rows)
                if not works and key not in warned:
                    raise Mismatch(f"{key} has no effect and is not named in the log")
            contains(warned, "raft.wal_max_size_bytes")
            lacks(warned, "heartbeat")


def matches(found, key):
    if not found:
        return False
    parts = ["[^.]+" if part.startswith("$") else ".+" if part == "*" else re.escape(part)
             for part in found.group(1).split(".")]
    return re.fullmatch(r"\.".join(parts), key) is not None


@case
def rabbitmq_conf_that_restricts_access_is_refused_by_name(world):
    lines = lines_of("rabbitmq_keys_that_restrict.txt")
    done = world.check("\n".join(lines) + "\n", status=1)
    told = dict(re.findall(r"r\.conf:\d+: (\S+?): (.*)", done.stderr))
    for line in lines:
        key, value = line.split(" = ")
        if key not in told:
            raise Mismatch(f"{key} is not refused: {done.stderr[:2000]}")
        contains(told[key], "restricts access in RabbitMQ and has no effect in Revenant")
        lacks(told[key], f"'{value}'")
    equal(len(done.stderr.splitlines()), len(lines))
    # A value with which RabbitMQ restricts nothing does not prevent the startup.
    world.check("management.oauth_enabled = false\nmanagement.disable_basic_auth = false\nssl_options.crl_check = false\n"
                "prometheus.authentication.enabled = false\nauth_backends.1.authn = internal\n"
                "queue_types.classic.enabled = true\n")
    # The node does not start, and no data directory is created.
    with world.directory() as directory:
        path = os.path.join(directory, "r.conf")
        with open(path, "w") as file:
            file.write(PORTS + "auth_backends.1 = ldap\nauth_ldap.servers.1 = ldap.example\n")
        done = world.revenant("--config", path, "--data-dir", os.path.join(directory, "data"), status=1)
        contains(done.stderr, "auth_backends.1")
        contains(done.stderr, "auth_ldap.servers.1")
        equal(os.path.exists(os.path.join(directory, "data")), False)


@case
def rabbitmq_conf_with_encrypted_values_is_refused(world):
    done = world.check("default_pass = encrypted:abcdef\nssl_options.password = encrypted:abcdef\n", status=1)
    equal(done.stderr.splitlines(), ["r.conf:1: default_pass: encrypted values are not supported",
                                     "r.conf:2: ssl_options.password: encrypted values are not supported"])


@case
def rabbitmq_conf_takes_variables_of_the_environment(world):
    text = PORTS + "default_user = $(SEED_USER)\ndefault_pass = a$(SEED_PASSWORD)b\ndefault_vhost = $(cluster_name)\n" \
           "cluster_name = burrow\n"
    with world.directory() as directory, world.broker(
            directory, text, options=(), environment={"SEED_USER": "seed", "SEED_PASSWORD": "word"}) as broker:
        equal(broker.get("/api/whoami", user="seed:awordb")[0], 200)
        equal([one["name"] for one in broker.json("/api/vhosts", user="seed:awordb")], ["burrow"])
    contains(world.check("default_user = $(NO_SUCH)\n", status=1).stderr, "NO_SUCH is neither an environment variable nor a key")


@case
def rabbitmq_conf_aliases_take_effect(world):
    text = "max_connections = 3\nmax_channels_per_connection = 7\nprometheus.tcp.listener = none\n" \
           "listeners.tcp.1 = 127.0.0.1:0\nmanagement.tcp.ip = 127.0.0.1\nmanagement.tcp.port = 0\n"
    with world.directory() as directory, world.broker(directory, text, options=()) as broker:
        contains(broker.first_line, "prometheus=none")
        equal(broker.json("/api/overview")["node"], NODE)
    contains(world.check("max_connections = 3\n").stdout, "max_connections = 3")


def container_options(world, directory):
    """The options of the image, with the test's directories instead of /etc."""
    with open(os.path.join(world.root, "deploy", "container", "Containerfile")) as file:
        entry = json.loads(re.search(r"^ENTRYPOINT (.*)", file.read(), re.M).group(1))
    return [option.replace("/etc/", directory + "/") for option in entry[1:]]


def write(directory, path, text):
    path = os.path.join(directory, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path


@case
def rabbitmq_conf_of_a_container_is_found(world):
    def shown(directory, status=0, **environment):
        done = subprocess.run([world.program, *container_options(world, directory), "--check-config"], capture_output=True,
                              text=True, timeout=SECONDS_MAX, env={"PATH": os.environ["PATH"], **environment})
        equal(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    with world.directory() as directory:
        with open(os.path.join(world.root, "deploy", "etc", "revenant.conf")) as file:
            write(directory, "revenant/revenant.conf", file.read())
        contains(shown(directory), "listeners.tcp.default = 5672  # ")
        write(directory, "rabbitmq/conf.d/10-users.conf", "default_user = further\nlisteners.tcp.own = 5673\n")
        text = shown(directory)
        contains(text, "default_user = further  # ")
        contains(text, "listeners.tcp.own = 5673  # ")
        # They replace the listeners of the image's own file.
        lacks(text, "listeners.tcp.default")
        contains(text, "data_dir = /var/lib/revenant  # ")
        write(directory, "rabbitmq/rabbitmq.conf", "heartbeat = 7\ndefault_user = first\n")
        text = shown(directory)
        contains(text, "heartbeat = 7  # ")
        contains(text, "default_user = further  # ")
        other = write(directory, "elsewhere/my.conf", "heartbeat = 9\n")
        for name in (other, other[:-len(".conf")]):
            text = shown(directory, RABBITMQ_CONFIG_FILE=name)
            contains(text, "heartbeat = 9  # ")
            contains(text, "default_user = further  # ")
        write(directory, "more/a.conf", "default_user = more\n")
        contains(shown(directory, RABBITMQ_CONFIG_FILES=os.path.join(directory, "more", "*.conf")), "default_user = more  # ")
        write(directory, "rabbitmq/advanced.config", "%% nothing\n[\n].\n")
        shown(directory)
        write(directory, "rabbitmq/advanced.config", "[{rabbit, [{auth_backends, [rabbit_auth_backend_ldap]}]}].\n")
        contains(shown(directory, status=1), "advanced.config: not supported")
