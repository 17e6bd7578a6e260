#!/usr/bin/python3
"""The HTTP API through Python's requests, as operators' scripts use it. Usage: cases.py HOST PORT HTTP_PORT"""

import os
import sys

import requests

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from exported_definitions import comes_back  # noqa: E402
from promises import CASES, case, equal  # noqa: E402
from told import CASE_SECONDS_MAX, tell_all_cleaned  # noqa: E402

BASE = f"http://{sys.argv[1]}:{sys.argv[3]}/api"
PREFIX = "clients.requests."
QUEUE, EXCHANGE = PREFIX + "queue", PREFIX + "exchange"
session = requests.Session()
session.auth = ("guest", "guest")


def send(method, path, *statuses, **options):
    answer = session.request(method, BASE + path, timeout=CASE_SECONDS_MAX, **options)
    assert not statuses or answer.status_code in statuses, f"{method} {path}: {answer.status_code} {answer.text}"
    return answer


def publish(exchange, key, payload, **properties):
    message = {"properties": properties, "routing_key": key, "payload": payload, "payload_encoding": "string"}
    return send("POST", f"/exchanges/%2F/{exchange}/publish", 200, json=message).json()


def get(queue, **more):
    wish = {"count": 1, "ackmode": "ack_requeue_false", "encoding": "auto", **more}
    return send("POST", f"/queues/%2F/{queue}/get", 200, json=wish).json()


@case
def declares_and_lists():
    send("PUT", f"/queues/%2F/{QUEUE}", 201, json={"durable": True})
    send("PUT", f"/queues/%2F/{QUEUE}", 204, json={"durable": True})
    equal(send("PUT", f"/queues/%2F/{QUEUE}", 400, json={"durable": False}).json()["error"], "bad_request")
    send("PUT", f"/exchanges/%2F/{EXCHANGE}", 201, json={"type": "fanout"})
    bound = send("POST", f"/bindings/%2F/e/{EXCHANGE}/q/{QUEUE}", 201, json={})
    where = requests.compat.urljoin(bound.url, bound.headers["location"])
    equal(session.get(where, timeout=CASE_SECONDS_MAX).json()["destination"], QUEUE)
    rows = send("GET", "/queues", 200, params={"columns": "name,durable", "sort": "name"}).json()
    equal([row for row in rows if row["name"].startswith(PREFIX)], [{"name": QUEUE, "durable": True}])
    page = send("GET", "/exchanges", 200, params={"page": 1, "page_size": 5, "name": PREFIX}).json()
    equal((page["filtered_count"], page["items"][0]["type"]), (1, "fanout"))


@case
def unpacks_what_was_packed():
    answer = send("GET", "/exchanges", 200)
    equal(answer.headers["content-encoding"], "gzip")
    assert len(answer.json()) >= 7


@case
def publishes_and_gets():
    send("PUT", f"/queues/%2F/{QUEUE}", 201, json={})
    equal(publish("amq.default", QUEUE, "x" * 1_000_000, headers={"n": 1}), {"routed": True})
    equal(publish("amq.default", QUEUE + ".nosuch", "x"), {"routed": False})
    got, = get(QUEUE, truncate=10)
    equal((got["payload"], got["payload_bytes"], got["properties"]["headers"]), ("x" * 10, 1_000_000, {"n": 1}))
    equal(get(QUEUE), [])


@case
def exports_and_imports():
    send("PUT", f"/queues/%2F/{QUEUE}", 201, json={"durable": True, "arguments": {"x-max-length": 5}})
    there = comes_back(PREFIX, export=lambda: send("GET", "/definitions", 200).json(),
                       take_away=lambda: send("DELETE", f"/queues/%2F/{QUEUE}", 204),
                       bring_back=lambda document: send("POST", "/definitions", 204, json=document))
    equal([queue["arguments"]["x-max-length"] for queue in there["queues"]], [5])


@case
def is_told_what_is_wrong():
    send("DELETE", f"/queues/%2F/{QUEUE}", 404)
    equal(send("GET", "/whoami", 401, auth=("guest", "wrong")).json()["error"], "not_authorized")
    equal(send("PUT", f"/queues/%2F/{QUEUE}", 400, data="{").json(), {"error": "bad_request", "reason": "not_json"})


def clean_up():
    send("DELETE", f"/queues/%2F/{QUEUE}")
    send("DELETE", f"/exchanges/%2F/{EXCHANGE}")


sys.exit(tell_all_cleaned(CASES, clean_up))
