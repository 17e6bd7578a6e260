"""The brokers that scenarios run on, each started once, with one virtual host per worker and an HTTP API."""
import base64
import http.client
import json
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bench"))

from brokers import BrokerError, RabbitMQ, Revenant, descendants, free_port  # noqa: E402

HTTP_SECONDS_MAX = 30


class RabbitMQWithManagement(RabbitMQ):
    """A RabbitMQ with shorter intervals than by default for retries of at-least-once dead-lettering, ticks of quorum
    queues and statistics (from which the HTTP API takes a queue's policy), so that no scenario waits for minutes."""

    def environment(self, epmd_port):
        variables = super().environment(epmd_port)
        self.http_port = free_port()
        with open(variables["RABBITMQ_CONFIG_FILE"], "a") as file:
            file.write(f"management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = {self.http_port}\n"
                       "collect_statistics_interval = 500\n")
        with open(variables["RABBITMQ_ENABLED_PLUGINS_FILE"], "w") as file:
            file.write("[rabbitmq_management].\n")
        advanced = os.path.join(self.directory, "advanced.config")
        samples = "[{605, 1}]"
        with open(advanced, "w") as file:
            file.write("[{rabbit, [{dead_letter_worker_publisher_confirm_timeout, 300}, {quorum_tick_interval, 250}]},"
                       f" {{rabbitmq_management, [{{sample_retention_policies, [{{global, {samples}}},"
                       f" {{basic, {samples}}}, {{detailed, {samples}}}]}}]}}].\n")
        return dict(variables, RABBITMQ_ADVANCED_CONFIG_FILE=advanced,
                    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+sbwt none +sbwtdcpu none +sbwtdio none")

    def start(self):
        super().start()
        self.wait_for_port(self.http_port, self.process)

    def stop(self):
        # After an interrupted startup, the Erlang process is not known yet.
        if self.process is not None and self.pid == 0:
            self.pid = next((pid for pid in descendants(self.process.pid) if self.is_beam(pid)), 0)
        super().stop()


class Running:
    """A broker that is already running and is not stopped."""

    def __init__(self, port, http_port):
        self.port, self.http_port = port, http_port


class Api:
    """The HTTP API of a broker, over one connection that is reopened if it was lost."""

    def __init__(self, port):
        self.port = port
        self.connection = None

    def request(self, method, path, body=None):
        """Status, and the body as JSON or as text."""
        for attempt in (1, 2):
            try:
                return self.try_request(method, path, body)
            except (OSError, http.client.HTTPException):
                self.close()
                if attempt == 2:
                    raise

    def try_request(self, method, path, body):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HTTP_SECONDS_MAX)
        login = base64.b64encode(b"guest:guest").decode()
        self.connection.request(method, path, None if body is None else json.dumps(body),
                                {"authorization": f"Basic {login}", "content-type": "application/json"})
        response = self.connection.getresponse()
        text = response.read().decode("utf-8", "replace")
        try:
            return response.status, json.loads(text) if text else ""
        except ValueError:
            return response.status, text

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


def segment(name):
    return urllib.parse.quote(name, safe="")


class Place:
    """A broker with one of its profiles. All places of a process can be used concurrently."""

    def __init__(self, name, broker, vhost_prefix, vhost_body):
        self.name, self.broker = name, broker
        self.vhost_prefix, self.vhost_body = vhost_prefix, vhost_body

    def vhost(self, worker):
        return f"{self.vhost_prefix}-{worker}"

    def make_vhosts(self, workers):
        api = Api(self.broker.http_port)
        for worker in range(workers):
            path = f"/api/vhosts/{segment(self.vhost(worker))}"
            status, answer = api.request("PUT", path, self.vhost_body)
            if status not in (201, 204):
                raise BrokerError(f"{self.name}: PUT {path} was answered with {status} {answer}")
            permission = {"configure": ".*", "write": ".*", "read": ".*"}
            api.request("PUT", f"/api/permissions/{segment(self.vhost(worker))}/guest", permission)
        api.close()

    def delete_vhosts(self, workers):
        api = Api(self.broker.http_port)
        for worker in range(workers):
            api.request("DELETE", f"/api/vhosts/{segment(self.vhost(worker))}")
        api.close()
