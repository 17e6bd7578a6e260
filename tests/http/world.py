"""The environment of the cases: a broker, its HTTP API, its command line and AMQP connections."""
import base64
import http.client
import json
import os
import re
import socket
import subprocess
import urllib.parse

import pika
from places import RabbitMQWithManagement
from promises import CASES, Mismatch, case, contains, equal, eventually  # noqa: F401
from proton.utils import BlockingConnection

SECONDS_MAX = 20
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def quote(name):
    return urllib.parse.quote(name, safe="")


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:200]!r}"


class Asked:
    """A broker and its HTTP API."""

    def __init__(self, broker):
        self.broker = broker

    def send(self, method, path, body=None, user="guest:guest", headers=None, port=None):
        all_headers = dict(headers or {})
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
            all_headers.setdefault("content-type", "application/json")
        if user:
            all_headers["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
        connection = http.client.HTTPConnection("127.0.0.1", port or self.broker.http_port, timeout=SECONDS_MAX)
        try:
            connection.request(method, path, body=body, headers=all_headers)
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, response.read())
        finally:
            connection.close()

    def api(self, method, path, body=None, **options):
        return self.send(method, "/api" + path, body, **options)

    def get(self, path, **options):
        answer = self.api("GET", path, **options)
        equal(answer.status, 200, path)
        return answer.json()

    def put(self, path, body=None, status=201, **options):
        answer = self.api("PUT", path, body, **options)
        equal(answer.status, status, f"PUT {path} {answer.body!r}")
        return answer

    def delete(self, path, status=204, **options):
        answer = self.api("DELETE", path, **options)
        equal(answer.status, status, f"DELETE {path} {answer.body!r}")
        return answer


class World(Asked):
    eventually = staticmethod(eventually)

    def __init__(self, broker, ctl):
        super().__init__(broker)
        self.ctl_program = ctl
        self.reference = None
        self.find_ports()

    def find_ports(self):
        with open(self.broker.output) as file:
            self.prometheus_port = int(re.search(r"prometheus=\S+:(\d+)", file.read())[1])

    def restart(self):
        self.broker.stop()
        self.broker.start()
        self.find_ports()

    def tidy(self):
        """Restores the initial state after a case."""
        for user in self.get("/users"):
            if user["name"] != "guest":
                self.api("DELETE", "/users/" + quote(user["name"]))
        for vhost in self.get("/vhosts"):
            path = "/vhosts/" + quote(vhost["name"])
            self.api("DELETE", path + "/deletion/protection")
            self.api("DELETE", path)
        self.put("/vhosts/%2F")
        self.api("PUT", "/permissions/%2F/guest", {"configure": ".*", "write": ".*", "read": ".*"})
        for parameter in self.get("/global-parameters"):
            if parameter["name"] == "internal_cluster_id":
                continue
            self.api("DELETE", "/global-parameters/" + quote(parameter["name"]))

    # --- a real RabbitMQ ---

    def rabbitmq(self):
        """A RabbitMQ for comparison, started by the first case that needs it."""
        if self.reference is None:
            broker = RabbitMQWithManagement(os.path.join(self.broker.directory, "rabbitmq"))
            self.reference = Asked(broker)
            broker.start()
        return self.reference

    def stop(self):
        if self.reference is not None:
            self.reference.broker.stop()

    # --- AMQP ---

    def amqp(self, vhost="/", user="guest", password="guest", name=None):
        properties = {"connection_name": name} if name else None
        return pika.BlockingConnection(pika.ConnectionParameters(
            "127.0.0.1", self.broker.port, vhost, pika.PlainCredentials(user, password),
            client_properties=properties, socket_timeout=SECONDS_MAX))

    def amqp10(self, user="guest", password="guest"):
        return BlockingConnection(f"amqp://127.0.0.1:{self.broker.port}", timeout=SECONDS_MAX, user=user,
                                  password=password, allowed_mechs="PLAIN")

    def raw(self, port=None):
        peer = socket.create_connection(("127.0.0.1", port or self.broker.http_port), timeout=SECONDS_MAX)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return peer

    # --- the command line ---

    def ctl(self, *arguments, status=0, user=None, stdin="", program=None, **environment):
        settings = {"PATH": os.environ["PATH"], "REVENANT_URL": f"http://127.0.0.1:{self.broker.http_port}",
                    **environment}
        if user:
            settings["REVENANT_USER"], settings["REVENANT_PASSWORD"] = user.split(":")
        done = subprocess.run([program or self.ctl_program, *arguments], input=stdin, capture_output=True,
                              text=True, timeout=SECONDS_MAX * 2, env=settings)
        equal(done.returncode, status, f"{' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done

    def ctl_json(self, *arguments, **options):
        return json.loads(self.ctl(*arguments, "--formatter", "json", **options).stdout)



def read_to_end(peer):
    """Everything that the server sends until it closes the connection."""
    text = b""
    try:
        while part := peer.recv(65536):
            text += part
    except ConnectionResetError:
        pass
    return text
