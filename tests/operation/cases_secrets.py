"""Secrets do not appear in the log at its most verbose level or in anything that other users of the machine can see."""
import base64
import http.client
import json
import os
import subprocess
import time

import pika
from cases_tls import Authority, connected, context_of, tls_port
from world import SECONDS_MAX, Mismatch, case, contains, equal, lacks

# None of these may be found anywhere.
DEFAULT, RIGHT, WRONG, KEY, BODY = "sEcReT-default", "sEcReT-right", "sEcReT-wrong", "sEcReT-key", "sEcReT-body"


def request(broker, method, path, body=None, user="guest:" + DEFAULT):
    connection = http.client.HTTPConnection("127.0.0.1", broker.ports["http"], timeout=SECONDS_MAX)
    try:
        connection.request(method, path, body if isinstance(body, (str, type(None))) else json.dumps(body),
                           {"Authorization": "Basic " + base64.b64encode(user.encode()).decode()})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def log_in(broker, user, password):
    return pika.BlockingConnection(pika.ConnectionParameters(
        "127.0.0.1", broker.ports["amqp"], credentials=pika.PlainCredentials(user, password), socket_timeout=SECONDS_MAX))


def must_not_log_in(broker, user, password):
    try:
        log_in(broker, user, password).close()
        raise Mismatch("let in with a wrong password")
    except pika.exceptions.AMQPError:
        pass


def everything_with_a_secret(broker, authority):
    equal(request(broker, "PUT", "/api/users/somebody", {"password": RIGHT, "tags": "administrator"})[0], 201)
    _, definitions = request(broker, "GET", "/api/definitions")
    hashes = [user["password_hash"] for user in json.loads(definitions)["users"]]
    equal(request(broker, "POST", "/api/definitions", definitions)[0], 204)
    equal(request(broker, "POST", "/api/definitions", definitions.replace('"users":[', '"users":[{"name":5},'))[0], 400)
    equal(request(broker, "GET", "/api/whoami", user="somebody:" + RIGHT)[0], 200)
    equal(request(broker, "GET", "/api/whoami", user="somebody:" + WRONG)[0], 401)
    equal(request(broker, "POST", "/api/login", f"username=somebody&password={WRONG}")[0], 401)
    equal(request(broker, "GET", "/api/auth/hash_password/" + RIGHT)[0], 200)
    equal(request(broker, "PUT", "/api/permissions/%2F/somebody", {"configure": ".*", "write": ".*", "read": ".*"})[0], 201)
    must_not_log_in(broker, "somebody", WRONG)
    must_not_log_in(broker, "nobody", WRONG)
    with connected(broker, context_of(authority), pika.PlainCredentials("somebody", RIGHT)) as connection:
        channel = connection.channel()
        channel.queue_declare("secrets")
        channel.basic_publish("", "secrets", BODY.encode(), pika.BasicProperties(headers={"x": BODY}))
        channel.queue_delete("secrets")
    return hashes


@case
def secrets_are_not_in_the_log_at_its_loudest(world):
    with world.directory() as directory:
        authority = Authority(directory)
        certificate, key = authority.issue("server", "/CN=localhost")
        locked = authority.path("locked.key")
        authority.openssl("pkey", "-in", key, "-aes256", "-passout", "pass:" + KEY, "-out", locked)
        log = os.path.join(directory, "revenant.log")
        text = "\n".join(["listeners.ssl.default = 127.0.0.1:0", f"ssl_options.certfile = {certificate}",
                          f"ssl_options.keyfile = {locked}", f"ssl_options.password = {KEY}", f"default_pass = {DEFAULT}",
                          "log.default.level = debug", "log.console.level = debug", f"log.file = {log}",
                          "log.file.level = debug", ""])
        with world.broker(directory, text) as broker:
            tls_port(broker)  # The key was decrypted.
            hashes = everything_with_a_secret(broker, authority)
            broker.reload()
            _, effective = request(broker, "GET", "/api/config/effective")
            shown = effective + world.revenant("--check-config", "--config", broker.config).stdout
            with open(f"/proc/{broker.process.pid}/cmdline") as file:
                shown += file.read()
        with open(log) as file:
            written = file.read() + broker.log()
        contains(written, "login refused")
        for secret in (DEFAULT, RIGHT, WRONG, KEY, BODY, *hashes):
            for place in (written, shown):
                lacks(place, secret)
                lacks(place, base64.b64encode(secret.encode()).decode().rstrip("=")[:-1])
        # The data directory contains hashes, not passwords.
        found = subprocess.run(["grep", "-rlaE", "|".join((DEFAULT, RIGHT, WRONG, KEY)), os.path.join(directory, "data")],
                               capture_output=True, text=True, check=False, timeout=SECONDS_MAX)
        equal((found.returncode, found.stdout), (1, ""))


@case
def secrets_of_revenantctl_are_not_in_its_arguments(world):
    with world.directory() as directory, world.broker(directory, f"default_pass = {DEFAULT}\n") as broker:
        environment = {"PATH": os.environ["PATH"], "REVENANT_URL": f"http://127.0.0.1:{broker.ports['http']}",
                       "REVENANT_USER": "guest", "REVENANT_PASSWORD": DEFAULT}
        process = subprocess.Popen([world.ctl_program, "add_user", "somebody"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        try:
            process.stdin.write(RIGHT[:3])
            process.stdin.flush()
            seen = wait_for_arguments(process.pid)
            said, _ = process.communicate(RIGHT[3:] + "\n", timeout=SECONDS_MAX)
        finally:
            process.kill()
            process.wait()
        contains(seen, "add_user")
        for secret in (DEFAULT, RIGHT):
            lacks(seen, secret)
            lacks(said, secret)
        equal(process.returncode, 0, said)
        equal(request(broker, "GET", "/api/users/somebody")[0], 200)
        done = subprocess.run([world.ctl_program, "authenticate_user", "somebody"], input=RIGHT + "\n", env=environment,
                              capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        equal(done.returncode, 0, done.stdout + done.stderr)


def wait_for_arguments(pid):
    """The command line that ps shows. Waits until the process has started the program."""
    end = time.monotonic() + SECONDS_MAX
    while time.monotonic() < end:
        shown = subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, timeout=SECONDS_MAX,
                               check=False).stdout
        if "add_user" in shown:
            return shown
    raise Mismatch("it was not seen by ps")
