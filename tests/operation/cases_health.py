"""Requests of an operator's probes: health checks, and the effective configuration of the node."""
import json
import re

import pika
from cases_tls import Authority

from world import case, contains, equal, eventually


def check(broker, name):
    status, body = broker.get("/api/health/checks/" + name)
    return status, json.loads(body)


def tls_config(authority, certificate, key):
    return "\n".join(["listeners.ssl.default = 127.0.0.1:0", f"ssl_options.cacertfile = {authority.path('ca.pem')}",
                      f"ssl_options.certfile = {certificate}", f"ssl_options.keyfile = {key}",
                      "management.ssl.port = 0", ""])


@case
def health_a_certificate_that_ends_soon_is_told(world):
    with world.directory() as directory:
        authority = Authority(directory)
        files = authority.issue("server", "/CN=localhost", days=20)
        with world.broker(directory, tls_config(authority, *files)) as broker:
            for soon in ("2/weeks", "19/days", "19/Days"):
                equal(check(broker, "certificate-expiration/" + soon), (200, {"status": "ok"}), soon)
            for late in ("3/weeks", "21/days", "1/months", "1/years", "99999999999999999999/years"):
                status, answer = check(broker, "certificate-expiration/" + late)
                equal((status, answer["status"], answer["reason"]), (503, "failed", "Certificates expiring"), late)
                equal([one["protocol"] for one in answer["expired"]], ["amqp/ssl", "https"])
                equal(bool(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", answer["expired"][0]["certfile_expires_on"][0])),
                      True, str(answer))
            for value in ("0", "-1", "x", "1x", "1.5"):
                equal(check(broker, f"certificate-expiration/{value}/days"),
                      (400, {"error": "bad_request", "reason": "Invalid expiration value."}), value)
            equal(check(broker, "certificate-expiration/1/moons"),
                  (400, {"error": "bad_request",
                         "reason": "Time unit not recognised. Supported units: days, weeks, months, years."}))
            # After a reload, the new certificate is checked.
            authority.issue("server", "/CN=localhost", days=60)
            broker.reload()
            eventually(lambda: check(broker, "certificate-expiration/1/months")[0] == 200, "the new one is looked at")
            equal(check(broker, "certificate-expiration/2/months")[0], 503)


@case
def health_without_tls_nothing_expires(world):
    with world.directory() as directory, world.broker(directory) as broker:
        equal(check(broker, "certificate-expiration/10/years"), (200, {"status": "ok"}))
        equal(check(broker, "protocol-listener/amqps")[0], 503)


@case
def health_listeners_are_known_by_all_their_names(world):
    with world.directory() as directory:
        authority = Authority(directory)
        files = authority.issue("server", "/CN=localhost")
        with world.broker(directory, tls_config(authority, *files)) as broker:
            for name, listener in (("amqps", "amqp/ssl"), ("amqp%2Fssl", "amqp/ssl"), ("https", "https"), ("http", "http"),
                                   ("prometheus", "http/prometheus"), ("AMQP10", "amqp"), ("mqtt,amqps", "amqp/ssl")):
                equal(check(broker, "protocol-listener/" + name), (200, {"status": "ok", "protocol": listener}), name)
            overview = broker.json("/api/overview")
            equal({one["protocol"]: one["tls"] for one in overview["listeners"]},
                  {"amqp": False, "amqp/ssl": True, "http": False, "https": True, "http/prometheus": False})
            management, secure, prometheus = overview["contexts"]
            equal([one["description"] for one in overview["contexts"]],
                  ["RabbitMQ Management", "RabbitMQ Management", "RabbitMQ Prometheus"])
            equal((management["ssl_opts"], secure["ssl_opts"]["certfile"], prometheus["ssl_opts"]), ([], files[0], []))


@case
def health_a_node_full_of_connections_says_so(world):
    with world.directory() as directory, world.broker(directory, "connection_max = 1\n") as broker:
        name = "below-node-connection-limit"
        equal(check(broker, name), (200, {"status": "ok", "limit": 1, "connections": 0}))
        connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", broker.ports["amqp"]))
        equal(check(broker, name), (503, {"status": "failed", "reason": "node connection limit is reached", "limit": 1,
                                          "connections": 1}))
        connection.close()
        eventually(lambda: check(broker, name)[0] == 200, "there is room again")


@case
def health_a_node_tells_its_mechanisms_and_logs(world):
    with world.directory() as directory:
        text = f"auth_mechanisms.1 = PLAIN\nauth_mechanisms.2 = EXTERNAL\nlog.file = {directory}/its.log\n"
        with world.broker(directory, text) as broker:
            node = broker.json("/api/nodes")[0]
            equal({one["name"] for one in node["auth_mechanisms"] if one["enabled"]}, {"PLAIN", "EXTERNAL"})
            contains(node["log_files"], f"{directory}/its.log")
            equal([one["description"] for one in node["contexts"]], ["RabbitMQ Management", "RabbitMQ Prometheus"])


@case
def health_a_cluster_keeps_its_id(world):
    def cluster_id(broker):
        found = {one["name"]: one["value"] for one in broker.json("/api/global-parameters")}
        metrics = broker.get("/metrics", port="prometheus")[1].decode()
        equal(re.search('rabbitmq_cluster_permanent_id="([^"]*)"', metrics).group(1), found["internal_cluster_id"])
        return found["internal_cluster_id"]

    with world.directory() as directory, world.directory() as other:
        with world.broker(directory) as broker:
            first = cluster_id(broker)
            equal(bool(re.fullmatch("rabbitmq-cluster-id-[A-Za-z0-9_-]{22}", first)), True, first)
            exported = broker.json("/api/definitions")
            equal(exported["global_parameters"], [{"name": "internal_cluster_id", "value": first}])
        with world.broker(directory) as broker:
            equal(cluster_id(broker), first, "after a restart")
        with world.broker(other) as broker:
            second = cluster_id(broker)
            equal(second != first, True, "two nodes have two ids")
            equal(broker.send("POST", "/api/definitions", exported)[0], 204)
            equal(cluster_id(broker), second, "definitions of another cluster do not change it")
