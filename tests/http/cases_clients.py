"""HTTP clients of other languages, unchanged: rabbitmq-admin from npm, and Python's requests."""
import os
import re
import shutil
import subprocess

import requests
from world import ROOT, SECONDS_MAX, case, equal

INSTALL_SECONDS_MAX = 300


def installed_packages():
    """Where npm has put what the program needs; installed once, below build."""
    source = os.path.join(ROOT, "tests", "http", "nodejs")
    target = os.path.join(ROOT, "build", "test", "http-nodejs")
    os.makedirs(target, exist_ok=True)
    fresh = True
    for name in ("package.json", "package-lock.json"):
        copy = os.path.join(target, name)
        with open(os.path.join(source, name), "rb") as file:
            wanted = file.read()
        if not os.path.exists(copy) or open(copy, "rb").read() != wanted:
            shutil.copy(os.path.join(source, name), copy)
            fresh = False
    modules = os.path.join(target, "node_modules")
    if not fresh or not os.path.isdir(modules):
        done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=target,
                              capture_output=True, text=True, timeout=INSTALL_SECONDS_MAX)
        equal(done.returncode, 0, done.stderr)
    return source, modules


@case
def the_npm_package_rabbitmq_admin(world):
    source, modules = installed_packages()
    done = subprocess.run(["node", os.path.join(source, "cases.js"), str(world.broker.http_port)],
                          capture_output=True, text=True, timeout=SECONDS_MAX * 3,
                          env={**os.environ, "NODE_PATH": modules})
    equal([line for line in done.stdout.splitlines() if line.startswith("not ok")], [])
    planned = int(re.match(r"1\.\.(\d+)", done.stdout)[1])
    equal((done.stdout.count("\nok "), done.returncode), (planned, 0), done.stderr)
    world.delete("/global-parameters/cluster_name")


@case
def a_session_of_requests(world):
    base = f"http://127.0.0.1:{world.broker.http_port}/api"
    with requests.Session() as session:
        session.auth = ("guest", "guest")

        def send(method, path, status, **options):
            answer = session.request(method, base + path, timeout=SECONDS_MAX, **options)
            equal(answer.status_code, status, f"{method} {path} {answer.text}")
            return answer
        send("PUT", "/queues/%2F/req", 201, json={"durable": True})
        send("PUT", "/queues/%2F/req", 204, json={"durable": True})
        listed = send("GET", "/queues", 200, params={"columns": "name,messages", "sort": "name"}).json()
        equal(listed, [{"name": "req", "messages": 0}])
        packed = send("GET", "/exchanges", 200)
        equal((packed.headers["content-encoding"], len(packed.json())), ("gzip", 7))
        message = {"properties": {}, "routing_key": "req", "payload": "x" * 1_000_000, "payload_encoding": "string"}
        equal(send("POST", "/exchanges/%2F/amq.default/publish", 200, json=message).json(), {"routed": True})
        wish = {"count": 1, "ackmode": "ack_requeue_false", "encoding": "auto", "truncate": 10}
        got, = send("POST", "/queues/%2F/req/get", 200, json=wish).json()
        equal((got["payload"], got["payload_bytes"]), ("x" * 10, 1_000_000))
        document = send("GET", "/definitions", 200).json()
        send("DELETE", "/queues/%2F/req", 204)
        send("DELETE", "/queues/%2F/req", 404)
        send("POST", "/definitions", 204, files={"file": ("d.json", requests.compat.json.dumps(document))})
        equal(send("GET", "/queues/%2F/req", 200).json()["durable"], True)
        send("DELETE", "/queues/%2F/req", 204)
        equal(send("GET", "/whoami", 401, auth=("guest", "wrong")).json()["error"], "not_authorized")
