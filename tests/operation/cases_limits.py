"""Limits and features that the configuration sets for the whole node."""
import json

import pika

from cases_config import connect
from world import Mismatch, case, contains, equal, eventually, lacks


def vhost(broker, name):
    equal(broker.send("PUT", f"/api/vhosts/{name}", {})[0], 201)
    equal(broker.send("PUT", f"/api/permissions/{name}/guest", {"configure": ".*", "write": ".*", "read": ".*"})[0] // 100, 2)


def refused(work):
    try:
        work()
    except (pika.exceptions.ChannelClosedByBroker, pika.exceptions.ConnectionClosedByBroker) as closed:
        return closed.reply_code, closed.reply_text
    raise Mismatch("it was not refused")


@case
def limits_of_queues_hold_over_all_vhosts(world):
    with world.directory() as directory, world.broker(directory, "cluster_queue_limit = 2\n") as broker:
        vhost(broker, "other")
        connection, elsewhere = connect(broker), connect(broker, vhost="other")
        connection.channel().queue_declare("a", durable=True)
        elsewhere.channel().queue_declare("b", exclusive=True)
        reason = "cannot declare queue 'c': queue limit in cluster (2) is reached"
        equal(refused(lambda: connection.channel().queue_declare("c")), (406, "PRECONDITION_FAILED - " + reason))
        status, body = broker.send("PUT", "/api/queues/other/c", {})
        equal((status, json.loads(body)["reason"]), (400, reason))
        document = {"queues": [{"name": "c", "vhost": "/", "durable": True, "auto_delete": False, "arguments": {}}]}
        contains(broker.send("POST", "/api/definitions", document)[1].decode(), reason)
        # Redeclaring an existing queue does not exceed the limit.
        connection.channel().queue_declare("a", durable=True)
        connection.channel().queue_declare("a", passive=True)
        elsewhere.close()  # also deletes its exclusive queue
        eventually(lambda: broker.send("PUT", "/api/queues/%2F/c", {})[0] == 201, "there is room again")
        equal(refused(lambda: connection.channel().queue_declare("d"))[0], 406)
        connection.close()
        equal(broker.send("DELETE", "/api/queues/%2F/c")[0], 204)
        equal(broker.send("PUT", "/api/queues/other/c", {})[0], 201)
        equal(broker.send("DELETE", "/api/vhosts/other")[0], 204)
        eventually(lambda: broker.send("PUT", "/api/queues/%2F/c", {})[0] == 201, "a virtual host that went makes room")


@case
def limits_count_what_a_restart_finds(world):
    with world.directory() as directory:
        text = "cluster_queue_limit = 1\n"
        with world.broker(directory, text) as broker:
            equal(broker.send("PUT", "/api/queues/%2F/q", {"durable": True})[0], 201)
        with world.broker(directory, text) as broker:
            vhost(broker, "other")
            equal(broker.send("PUT", "/api/queues/other/q", {})[0], 400)


@case
def limits_of_exchanges_hold_over_all_vhosts(world):
    with world.directory() as directory, world.broker(directory) as broker:
        vhost(broker, "other")
        present = len(broker.json("/api/exchanges"))
    with world.directory() as directory, world.broker(directory, f"cluster_exchange_limit = {present + 1}\n") as broker:
        vhost(broker, "other")
        with connect(broker) as connection:
            connection.channel().exchange_declare("x")
            connection.channel().exchange_declare("x")
            connection.channel().exchange_declare("x", passive=True)
        reason = f"cannot declare exchange 'y' in vhost 'other': exchange limit of {present + 1} is reached"
        connection = connect(broker, vhost="other")
        equal(refused(lambda: connection.channel().exchange_declare("y")), (406, "PRECONDITION_FAILED - " + reason))
        connection.close()
        status, body = broker.send("PUT", "/api/exchanges/other/y", {"type": "fanout"})
        equal((status, json.loads(body)["reason"]), (400, reason))


@case
def limits_are_given_to_new_vhosts(world):
    text = """default_limits.vhosts.1.pattern = ^dev
default_limits.vhosts.1.max_connections = 10
default_limits.vhosts.1.max_queues = 1
default_limits.vhosts.2.max_queues = 5
"""
    with world.directory() as directory, world.broker(directory, text) as broker:
        for name in ("dev1", "prod"):
            vhost(broker, name)
        equal(broker.json("/api/vhost-limits/dev1"),
              [{"vhost": "dev1", "value": {"max-connections": 10, "max-queues": 1}}])
        equal(broker.json("/api/vhost-limits/prod"), [{"vhost": "prod", "value": {"max-queues": 5}}])
        equal(broker.send("PUT", "/api/queues/dev1/a", {})[0], 201)
        contains(broker.send("PUT", "/api/queues/dev1/b", {})[1].decode(), "queue limit in vhost 'dev1' (1) is reached")


@case
def limits_deprecated_features_can_be_denied(world):
    text = "deprecated_features.permit.transient_nonexcl_queues = false\ndeprecated_features.permit.global_qos = false\n"
    with world.directory() as directory, world.broker(directory, text) as broker:
        states = {one["name"]: one["state"] for one in broker.json("/api/deprecated-features")}
        equal(states, {"transient_nonexcl_queues": "denied", "global_qos": "denied",
                       "management_metrics_collection": "permitted"})
        connection = connect(broker)
        channel = connection.channel()
        channel.queue_declare("durable", durable=True)
        channel.queue_declare("exclusive", exclusive=True)
        channel.basic_qos(prefetch_count=5, global_qos=True)
        equal(broker.json("/api/channels")[0]["global_prefetch_count"], 0)
        code, reason = refused(lambda: channel.queue_declare("q"))
        equal(code, 541)
        contains(reason, "INTERNAL_ERROR - Feature `transient_nonexcl_queues` is deprecated.")
        equal(connection.is_open, False)
        status, body = broker.send("PUT", "/api/queues/%2F/q", {"durable": False})
        equal(status, 400)
        contains(json.loads(body)["reason"], "deprecated_features.permit.transient_nonexcl_queues = false")
        lacks([one["name"] for one in broker.json("/api/queues")], "q")
    contains(world.check("deprecated_features.permit.nonsense = true\n", status=1).stderr,
             "deprecated_features.permit.nonsense: there is no deprecated feature 'nonsense'")


DEFAULTS_OF_NEW_VHOSTS = r"""default_users.ann.vhost_pattern = ^dev
default_users.ann.password = secret
default_users.ann.tags = monitoring, management
default_users.ann.write = ^q|^amq\.default$
default_policies.operator.limit.vhost_pattern = ^dev
default_policies.operator.limit.queue_pattern = ^q
default_policies.operator.limit.apply_to = queues
default_policies.operator.limit.max_length = 1
default_policies.operator.limit.message_ttl = 1h
default_policies.operator.limit.classic_queues.ha_mode = all
"""


@case
def default_users_and_policies_are_given_to_new_vhosts(world):
    with world.directory() as directory:
        with world.broker(directory) as broker:
            vhost(broker, "dev-old")
        with world.broker(directory, DEFAULTS_OF_NEW_VHOSTS) as broker:
            lacks([one["name"] for one in broker.json("/api/users")], "ann")
            equal(broker.json("/api/operator-policies"), [])
            vhost(broker, "prod")
            lacks([one["name"] for one in broker.json("/api/users")], "ann")
            vhost(broker, "dev1")
            equal(broker.json("/api/users/ann")["tags"], ["monitoring", "management"])
            equal(broker.json("/api/users/ann/permissions"),
                  [{"user": "ann", "vhost": "dev1", "configure": ".*", "write": r"^q|^amq\.default$", "read": ".*"}])
            policy = {"vhost": "dev1", "name": "limit", "pattern": "^q", "apply-to": "queues", "priority": 0,
                      "definition": {"max-length": 1, "message-ttl": 3600000}}
            equal(broker.json("/api/operator-policies"), [policy])
            contains(broker.log(), "default_policies.operator.limit.classic_queues.ha_mode: has no effect in Revenant")
            with connect(broker, vhost="dev1", user="ann", password="secret") as connection:
                channel = connection.channel()
                channel.confirm_delivery()
                channel.queue_declare("q", durable=True)
                for body in (b"one", b"two"):
                    channel.basic_publish("", "q", body)
                equal(channel.queue_declare("q", passive=True).method.message_count, 1)
            # An existing user keeps its password, and an existing virtual host is not changed.
            broker.send("PUT", "/api/users/ann", {"password": "changed", "tags": ""})
            broker.send("DELETE", "/api/operator-policies/dev1/limit")
            equal(broker.send("PUT", "/api/vhosts/dev1", {"description": "changed"})[0], 204)
            vhost(broker, "dev2")
            equal([one["vhost"] for one in broker.json("/api/operator-policies")], ["dev2"])
            connect(broker, vhost="dev2", user="ann", password="changed").close()
        with world.broker(directory, DEFAULTS_OF_NEW_VHOSTS) as broker:
            equal([one["vhost"] for one in broker.json("/api/operator-policies")], ["dev2"])
            equal(sorted(one["vhost"] for one in broker.json("/api/users/ann/permissions")), ["dev1", "dev2"])


@case
def default_users_and_policies_are_given_to_the_first_vhost(world):
    text = DEFAULTS_OF_NEW_VHOSTS.replace("^dev", ".")
    with world.directory() as directory, world.broker(directory, text) as broker:
        equal([(one["vhost"], one["name"]) for one in broker.json("/api/operator-policies")], [("/", "limit")])
        connect(broker, user="ann", password="secret").close()
        connect(broker).close()
