"""Recorded behaviour of RabbitMQ 4.3.6 that tools rely on, compared with the broker."""
import datetime
import decimal
import time

import pika

from promises import lacks
from world import case, contains, equal

# Arguments of bindings and their properties_key in RabbitMQ 4.3.6. Terraform uses the key as the identity of a binding.
BINDINGS = {
    "match": ({"x-match": "all"}, "k+match~3ujGfg"),
    "any": ({"x-match": "any-with-x", "type": "report", "format": "pdf"}, "k+any~p5jong"),
    "numbers": ({"a": 1, "b": -5, "c": 2**31 - 1, "d": -2**31, "e": 2**40, "f": -2**40, "g": 134217727, "h": 134217728,
                 "i": -134217729}, "k+numbers~T9Ll7Q"),
    "kinds": ({"t": True, "f": False, "n": None, "s": ""}, "k+kinds~-WlJ9g"),
    "time": ({"when": datetime.datetime(2026, 1, 2, 3, 4, 5), "price": decimal.Decimal("12.34")}, "k+time~LmroJg"),
    "nested": ({"list": [1, "two", True, [2]], "table": {"z": 1, "a": {"b": "c"}}, "empty": [], "none": {}},
               "k+nested~02FImA"),
    "long": ({"a-name-of-some-length-beyond-twelve": "a value that is much longer than twelve bytes, and then some",
              "ü": "ö€"}, "k+long~SCAb8A"),
    "bytes": ({"raw": b"\x00\x01\xff", "weight": "10"}, "k+bytes~OhDLdA"),
}


@case
def bindings_have_the_properties_key_of_rabbitmq(world):  # management 4.22, 9.2
    with world.amqp() as connection:
        channel = connection.channel()
        channel.exchange_declare("hx", "headers")
        channel.queue_declare("hq", durable=True)
        for name, (arguments, _) in BINDINGS.items():
            channel.queue_bind("hq", "hx", "k " + name, arguments)
    found = {one["routing_key"]: one["properties_key"] for one in world.get("/bindings/%2F/e/hx/q/hq")}
    equal(found, {"k " + name: key for name, (_, key) in BINDINGS.items()})
    # Over HTTP, numbers become 64-bit integers. The location ends with the key.
    arguments = {"b": True, "f": 1.5, "l": [1, "two"], "n": 5, "t": {"z": 1, "a": "b"}, "x-match": "all"}
    made = world.api("POST", "/bindings/%2F/e/hx/q/hq", {"routing_key": "k", "arguments": arguments})
    equal((made.status, made.headers["location"]), (201, "hq/k~lbAiJg"))
    equal(world.get("/bindings/%2F/e/hx/q/hq/k~lbAiJg")["arguments"], arguments)
    world.delete("/bindings/%2F/e/hx/q/hq/k~lbAiJg")
    world.delete("/exchanges/%2F/hx")
    world.delete("/queues/%2F/hq")


@case
def features_are_those_of_our_version(world):  # management 4.5
    flags = {one["name"]: (one["state"], one["stability"], one["require_level"], one["provided_by"])
             for one in world.get("/feature-flags")}
    wanted = {"rabbitmq_4.0.0": ("enabled", "required", "soft", "rabbit"),
              "rabbitmq_4.2.0": ("enabled", "required", "soft", "rabbit"),
              "rabbitmq_4.3.0": ("enabled", "stable", "none", "rabbit"),
              "khepri_db": ("enabled", "required", "soft", "rabbit"),
              "message_containers_deaths_v2": ("enabled", "required", "soft", "rabbit"),
              "track_qq_members_uids": ("enabled", "stable", "none", "rabbit"),
              "detailed_queues_endpoint": ("enabled", "required", "soft", "rabbitmq_management")}
    equal({name: flags.get(name) for name in wanted}, wanted)
    # There are no streams, so no flag of streams may be listed.
    equal([name for name in flags if "stream" in name], [])


@case
def the_old_health_check_knows_the_node_by_its_name(world):
    node = world.get("/overview")["node"]
    equal(node.split("@")[0], "rabbit")
    equal(world.get("/healthchecks/node"), {"status": "ok"})
    equal(world.get("/healthchecks/node/" + node), {"status": "ok"})
    equal(world.api("GET", "/healthchecks/node/rabbit@nowhere").status, 404)


@case
def what_rabbitmqs_pages_ask_for_is_there(world):  # management 4.3, 4.4, 9.1
    equal(world.get("/extensions"), [{"javascript": "dispatcher.js"}])
    equal(world.send("GET", "/api/version", user=None).status, 200)
    equal(world.get("/deprecated-features/used"), [])
    world.put("/queues/%2F/fresh", {"durable": True})
    queue = world.get("/queues/%2F/fresh?lengths_age=60&lengths_incr=5")
    contains(queue["messages_details"], "samples")
    node = world.get("/overview")["node"]
    contains(world.get(f"/nodes/{node}?memory=true&binary=true"), "memory")
    contains(world.get(f"/nodes/{node}?memory=true&binary=true"), "binary")
    contains(world.get(f"/nodes/{node}/memory/ets"), "ets_tables_memory")
    equal(world.api("DELETE", "/login").status, 204)
    world.delete("/queues/%2F/fresh")


def metrics(world, path="/metrics"):
    text = world.send("GET", path, port=world.prometheus_port).body.decode()
    samples = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            samples[name] = float(value)
    return samples


@case
def metrics_of_dashboards_have_real_values(world):
    before = metrics(world)
    with world.amqp() as connection:
        channel = connection.channel()
        channel.exchange_declare("mx", "fanout")
        channel.queue_declare("mq", durable=True)
        channel.queue_bind("mq", "mx")
        channel.confirm_delivery()
        when = int(time.time()) - 100
        for _ in range(3):
            channel.basic_publish("mx", "", b"x", pika.BasicProperties(delivery_mode=2, timestamp=when))
        channel.basic_publish("", "mq", b"x", pika.BasicProperties(delivery_mode=2, timestamp=when))
        try:
            channel.basic_publish("amq.direct", "nowhere", b"x", mandatory=True)
        except pika.exceptions.UnroutableError:
            pass
        channel.basic_publish("amq.direct", "nowhere", b"x")
        found = metrics(world, "/metrics/per-object")
        labels = 'vhost="/",queue="mq"'
        equal(found[f"rabbitmq_queue_head_message_timestamp{{{labels}}}"], when)
        equal(found[f"rabbitmq_queue_consumer_capacity{{{labels}}}"], 0)
        by_exchange = 'queue_vhost="/",queue="mq",exchange_vhost="/",exchange='
        equal(found[f'rabbitmq_queue_exchange_messages_published_total{{{by_exchange}"mx"}}'], 3)
        equal(found[f'rabbitmq_queue_exchange_messages_published_total{{{by_exchange}""}}'], 1)
        direct = 'vhost="/",exchange="amq.direct"'
        equal(found[f"rabbitmq_exchange_messages_unroutable_returned_total{{{direct}}}"], 1)
        equal(found[f"rabbitmq_exchange_messages_unroutable_dropped_total{{{direct}}}"], 1)
        equal(found['rabbitmq_exchange_messages_confirmed_total{vhost="/",exchange="mx"}'], 3)
        waiting = [value for name, value in found.items() if name.startswith("rabbitmq_channel_messages_unconfirmed{")]
        equal(len(waiting) >= 1, True)
        after = metrics(world)
        contains(after, "rabbitmq_channel_messages_unconfirmed")
        for name, least in (("exchange_messages_published_total", 6), ("exchange_messages_confirmed_total", 4),
                            ("exchange_messages_unroutable_returned_total", 1), ("io_write_ops_total", 1),
                            ("exchange_messages_unroutable_dropped_total", 1), ("io_write_bytes_total", 4),
                            ("io_sync_ops_total", 1), ("queue_exchange_messages_published_total", 4)):
            grown = after["rabbitmq_" + name] - before["rabbitmq_" + name]
            equal(grown >= least, True, f"{name} grew by {grown}")
        for name in ("io_sync_time_seconds_total", "io_write_time_seconds_total"):
            equal(after["rabbitmq_" + name] > before["rabbitmq_" + name], True, name)
        contains(after, "rabbitmq_io_read_ops_total")
        channel.queue_delete("mq")
        channel.exchange_delete("mx")
    equal(abs(time.time() - after["process_start_time_seconds"]) < 3600, True, "the process started lately")
    lacks(after, "rabbitmq_queue_head_message_timestamp")
    detailed = metrics(world, "/metrics/detailed?family=auth_attempt_metrics&family=node_persister_metrics")
    contains(detailed, 'rabbitmq_detailed_auth_attempts_total{protocol="http"}')
    contains(detailed, "rabbitmq_detailed_io_sync_ops_total")


@case
def metrics_count_logins_of_every_protocol(world):
    def counts():
        found = metrics(world)
        return [found.get(f'rabbitmq_auth_attempts_{kind}total{{protocol="{protocol}"}}', 0)
                for protocol in ("amqp091", "http") for kind in ("", "succeeded_", "failed_")]
    before = counts()
    world.amqp().close()
    try:
        world.amqp(password="wrong")
    except (pika.exceptions.ProbableAuthenticationError, pika.exceptions.AMQPConnectionError):
        pass
    world.get("/whoami")
    equal(world.api("GET", "/whoami", user="guest:wrong").status, 401)
    equal([after - then for after, then in zip(counts(), before)], [2, 1, 1, 2, 1, 1])
    node = world.get("/overview")["node"]
    rows = {one["protocol"]: one for one in world.get("/auth/attempts/" + node)}
    equal(rows["amqp091"]["auth_attempts_failed"] >= 1, True)
    world.delete("/auth/attempts/" + node)
    equal([one["protocol"] for one in world.get("/auth/attempts/" + node)], ["http"])
