"""A realistic virtual host: exchanges, queues, policies, deaths with every reason, and connected clients."""
import base64
import json
import math
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import pika
from proton import Timeout
from proton.utils import BlockingConnection


def quorum(**arguments):
    return {"x-queue-type": "quorum", **{name.replace("_", "-"): value for name, value in arguments.items()}}


def classic(**arguments):
    return {"x-queue-type": "classic", **{name.replace("_", "-"): value for name, value in arguments.items()}}


QUEUES = {
    "orders": quorum(x_delivery_limit=20, x_overflow="reject-publish", x_max_length=500000),
    "orders.wait-30s": classic(x_message_ttl=30000, x_dead_letter_exchange="", x_dead_letter_routing_key="orders"),
    "orders.dead": quorum(),
    "payments": quorum(x_delivery_limit=2),
    "payments.parked": quorum(),
    "invoices": classic(x_dead_letter_exchange="shop.dlx", x_dead_letter_routing_key="invoices"),
    "invoices.dead": classic(),
    "emails": classic(),
    "mail.dead": classic(x_expires=86400000),
    "stock.sync": classic(x_max_length=40, x_dead_letter_exchange="stock.dlx"),
    "webhooks.out": classic(x_message_ttl=1500, x_dead_letter_exchange="webhooks.dlx"),
    "webhooks.retry": classic(x_message_ttl=60000, x_dead_letter_exchange="webhooks", x_dead_letter_routing_key="out"),
    "webhooks.dead": classic(),
    "search.index": classic(x_max_priority=5),
    "search.dead": classic(),
    "shipping.labels": classic(x_dead_letter_exchange="shop.dlx", x_dead_letter_routing_key="shipping"),
    "shipping.dead": classic(),
    "returns": quorum(x_dead_letter_exchange="shop.dlx", x_dead_letter_routing_key="return.refused"),
    "audit.sink": classic(),
    "rpc.quotes": classic(x_expires=1800000, x_single_active_consumer=True),
}
EXCHANGES = {"shop": "topic", "shop.dlx": "direct", "notify": "topic", "mail.dlx": "fanout", "stock": "fanout", "webhooks": "direct",
             "webhooks.dlx": "fanout", "delayed": "direct"}
BINDINGS = [
    ("shop", "orders", "order.*"), ("shop", "payments", "payment.*"), ("shop", "invoices", "order.paid"), ("shop", "search.index", "#"),
    ("shop", "shipping.labels", "order.paid"), ("shop", "audit.sink", "#"), ("notify", "emails", "email.#"), ("stock", "stock.sync", ""),
    ("webhooks", "webhooks.out", "out"), ("delayed", "orders.wait-30s", "orders"), ("shop.dlx", "orders.dead", "orders"),
    ("shop.dlx", "payments.parked", "payments"), ("shop.dlx", "invoices.dead", "invoices"), ("shop.dlx", "search.dead", "search"),
    ("shop.dlx", "shipping.dead", "shipping"), ("mail.dlx", "mail.dead", ""), ("webhooks.dlx", "webhooks.retry", ""),
    ("webhooks.dlx", "webhooks.dead", ""),
]
POLICIES = [
    ("dead-letters", "^orders$", "queues", {"dead-letter-exchange": "shop.dlx", "dead-letter-routing-key": "orders", "max-length": 250000}, 10),
    ("payments", "^payments$", "quorum_queues", {"dead-letter-exchange": "shop.dlx", "dead-letter-routing-key": "payments"}, 10),
    ("search", r"^search\.index$", "queues", {"dead-letter-exchange": "shop.dlx", "dead-letter-routing-key": "search", "max-length": 100000}, 0),
    ("mail", "^emails$", "classic_queues", {"message-ttl": 2000, "dead-letter-exchange": "mail.dlx"}, 5),
    ("small-dlq", r"^webhooks\.dead$", "classic_queues", {"max-length": 100000}, 0),
    ("alternates", "^shop$", "exchanges", {"alternate-exchange": "stock"}, 0),
    ("old-retry", r"^legacy\.", "queues", {"message-ttl": 60000}, 0),
]


class Api:
    def __init__(self, port):
        self.port = port

    def ask(self, method, path, body=None, user="guest:guest"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/api{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode())
        request.add_header("authorization", "Basic " + base64.b64encode(user.encode()).decode())
        request.add_header("content-type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.code} {error.read()[:500]!r}") from error
        return json.loads(text) if text else None


def definitions():
    return {
        "exchanges": [{"name": name, "vhost": "/", "type": kind, "durable": True, "auto_delete": False, "arguments": {}}
                      for name, kind in EXCHANGES.items()],
        "queues": [{"name": name, "vhost": "/", "durable": True, "auto_delete": False, "arguments": arguments}
                   for name, arguments in QUEUES.items()],
        "bindings": [{"source": source, "vhost": "/", "destination": queue, "destination_type": "queue", "routing_key": key,
                      "arguments": {}} for source, queue, key in BINDINGS],
        "policies": [{"vhost": "/", "name": name, "pattern": pattern, "apply-to": applies, "definition": definition,
                      "priority": priority} for name, pattern, applies, definition, priority in POLICIES],
    }


class Shop:
    """Fills the broker, then keeps clients connected that publish and consume at a low rate."""

    def __init__(self, port, http_port):
        self.port, self.api = port, Api(http_port)
        self.stopping = threading.Event()
        self.threads = []

    def connect(self, name):
        return pika.BlockingConnection(pika.ConnectionParameters(
            "127.0.0.1", self.port, client_properties={"connection_name": name}, heartbeat=60))

    def fill(self):
        self.api.ask("POST", "/definitions", definitions())
        self.api.ask("PUT", "/operator-policies/%2F/cap", {"pattern": r"^(orders|payments|returns)$", "apply-to": "queues",
                                                          "definition": {"max-length": 100000}, "priority": 0})
        self.api.ask("PUT", "/cluster-name", {"name": "shop-production"})
        for name, tags in (("oncall", "administrator"), ("grafana", "monitoring"), ("team-shop", "policymaker,management"), ("checkout", "")):
            self.api.ask("PUT", f"/users/{name}", {"password": name, "tags": tags})
        everything = {"configure": ".*", "write": ".*", "read": ".*"}
        self.api.ask("PUT", "/permissions/%2F/oncall", everything)
        self.api.ask("PUT", "/permissions/%2F/team-shop", {"configure": "^team", "write": ".*", "read": ".*"})
        self.api.ask("PUT", "/permissions/%2F/checkout", {"configure": "", "write": "^shop$", "read": "^orders$"})
        self.kill_messages()

    def kill_messages(self):
        connection = self.connect("seed")
        channel = connection.channel()
        channel.confirm_delivery()
        body = json.dumps({"order": 481207, "total": 129.9, "customer": {"name": "A. Person"}, "items": [1, 2]})
        properties = pika.BasicProperties(content_type="application/json", delivery_mode=2, headers={"tenant": "nl-02"})

        def publish(exchange, key, times):
            for _ in range(times):
                channel.basic_publish(exchange, key, body, properties)

        def reject(queue, times, requeue=False):
            for _ in range(times):
                method, _, _ = channel.basic_get(queue)
                if method:
                    channel.basic_nack(method.delivery_tag, requeue=requeue)

        publish("shop", "order.placed", 60)
        reject("orders", 42)
        publish("shop", "payment.taken", 8)
        reject("payments", 18, requeue=True)
        publish("shop", "order.paid", 12)
        reject("invoices", 6)
        reject("search.index", 9)
        publish("stock", "", 71)
        publish("notify", "email.welcome", 23)
        publish("webhooks", "out", 14)
        publish("", "returns", 3)
        reject("returns", 1)
        publish("", "audit.sink", 2)
        connection.close()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if self.api.ask("GET", "/queues/%2F/mail.dead")["messages"] >= 23 and self.api.ask("GET", "/queues/%2F/webhooks.dead")["messages"] >= 14:
                return
            time.sleep(0.2)
        raise RuntimeError("the messages did not expire")

    # --- connected clients ---

    def start_clients(self):
        for work in (self.publish_orders, self.consume_orders, self.consume_search, self.stay_with_amqp10):
            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            self.threads.append(thread)

    def publish_orders(self):
        connection = self.connect("shop-frontend")
        channel = connection.channel()
        channel.confirm_delivery()
        number = 0
        others = {40: ("shop", "payment.taken"), 25: ("notify", "email.receipt"), 33: ("stock", ""), 70: ("webhooks", "out")}
        while not self.stopping.is_set():
            number += 1
            channel.basic_publish("shop", "order.placed", json.dumps({"order": number}), pika.BasicProperties(delivery_mode=2))
            for every, (exchange, key) in others.items():
                if number % every == 0:
                    channel.basic_publish(exchange, key, "{}")
            connection.sleep(0.12 + 0.08 * math.sin(time.monotonic() / 7))  # a varying rate, for the charts
        connection.close()

    def consume_orders(self):
        connection = self.connect("checkout-worker")
        channel = connection.channel()
        channel.basic_qos(prefetch_count=50)
        seen = 0
        unacked = []

        def take(_channel, method, _properties, _body):
            nonlocal seen
            seen += 1
            unacked.append(method.delivery_tag)
            if len(unacked) > 5:
                tag = unacked.pop(0)
                if seen % 9 == 0:
                    _channel.basic_reject(tag, requeue=False)
                else:
                    _channel.basic_ack(tag)

        channel.basic_consume("orders", take, consumer_tag="checkout-1")
        while not self.stopping.is_set():
            connection.process_data_events(0.2)
        connection.close()

    def consume_search(self):
        connection = self.connect("search-indexer")
        channel = connection.channel()
        channel.basic_qos(prefetch_count=10)
        channel.basic_consume("search.index", lambda one, method, _p, _b: one.basic_ack(method.delivery_tag), consumer_tag="indexer")
        channel.basic_consume("payments", lambda *_: None, consumer_tag="payments-1")
        while not self.stopping.is_set():
            connection.process_data_events(0.2)
        connection.close()

    def stay_with_amqp10(self):
        connection = BlockingConnection(f"amqp://guest:guest@127.0.0.1:{self.port}", timeout=10)
        connection.create_receiver("/queues/audit.sink", credit=2)
        connection.create_sender("/exchanges/shop/order.audit")
        while not self.stopping.is_set():
            try:
                connection.wait(self.stopping.is_set, timeout=1)
            except Timeout:
                pass
        connection.close()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(5)
        self.threads = []


def vhost_of_queues(api, vhost, count):
    """A virtual host with many queues, most of which dead-letter to one of twenty queues."""
    quoted = urllib.parse.quote(vhost, safe="")
    api.ask("PUT", f"/vhosts/{quoted}")
    exchange = {"type": "direct", "durable": True, "auto_delete": False, "arguments": {}}
    queues = [{"name": f"dead.{number}", "durable": True, "auto_delete": False, "arguments": {}} for number in range(20)]
    bindings = [{"source": "dlx", "destination": f"dead.{number}", "destination_type": "queue", "routing_key": f"k{number}", "arguments": {}}
                for number in range(20)]
    for number in range(count - 20):
        queues.append({"name": f"work.{number:05}", "durable": True, "auto_delete": False, "arguments": {
            "x-dead-letter-exchange": "dlx", "x-dead-letter-routing-key": f"k{number % 20}"}})
        if number % 3 == 0:
            bindings.append({"source": "work", "destination": f"work.{number:05}", "destination_type": "queue",
                             "routing_key": f"w.{number}", "arguments": {}})
    api.ask("POST", f"/definitions/{quoted}", {"exchanges": [{"name": "dlx", **exchange}, {"name": "work", **exchange, "type": "topic"}],
                                              "queues": queues, "bindings": bindings})
