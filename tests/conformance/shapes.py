"""Compares the responses of both HTTP APIs: the same objects and the same traffic on both brokers, then every field
and its type. Intentional differences are listed here and in docs/compatibility.md; a name that is missing there fails."""
import time

import pika
from places import Api, BrokerError, segment

SECONDS_MAX = 30
VHOST = "shapes"

# Fields that only RabbitMQ 3.10 or only Revenant has, by kind of object.
WITHOUT = {
    "overview": {"release_series_support_status", "message_stats.disk_reads", "message_stats.disk_reads_details",
                 "message_stats.disk_writes", "message_stats.disk_writes_details"},
    "node": {"context_switches", "context_switches_details", "gc_bytes_reclaimed", "gc_bytes_reclaimed_details",
             "gc_num", "gc_num_details", "metrics_gc_queue_length", "mnesia_disk_tx_count",
             "mnesia_disk_tx_count_details", "mnesia_ram_tx_count", "mnesia_ram_tx_count_details", "ra_open_file_metrics",
             "io_", "msg_store_", "queue_index_"},
    # RabbitMQ reports a queue as idle some seconds after its last message, even with a consumer.
    "queue": {"garbage_collection", "reductions",
              "reductions_details", "backing_queue_status.", "idle_since"},
    "quorum queue": {"open_files", "single_active_consumer_ctag"},
    "exchange": {"user_who_performed_action"},
    "connection": {"garbage_collection", "reductions", "reductions_details", "ssl_", "peer_cert_"},
    "channel": {"garbage_collection", "reductions", "reductions_details", "idle_since"},
    "consumer": set(),
    "vhost": set(),
    "user": set(), "permission": set(), "policy": set(), "binding": set(), "parameter": set(),
}
BEYOND = {
    "overview": {"queue_totals.messages_parked", "cluster_tags", "node_tags", "default_queue_type", "is_op_policy_updating_enabled"},
    "node": {"disk_free_details", "being_drained", "journal", "tls_versions"},
    "queue": {"deaths", "internal", "storage_version", "backing_queue_status.", "owner_pid_details", "consumer_timeout",
              "messages_parked", "message_bytes_parked"},
    "quorum queue": {"delivery_limit", "exclusive_consumer_tag", "head_message_timestamp", "idle_since",
                     "message_bytes_paged_out", "messages_delayed", "messages_paged_out", "messages_ready_ram", "messages_ready_returned",
                     "messages_unacknowledged_ram", "recoverable_slaves", "single_active_consumer_tag",
                     "message_stats"},
    "exchange": {"policy"},
    "connection": set(), "channel": {"consumer_timeout"}, "consumer": {"consumer_timeout"},
    "vhost": {"compat", "protected_from_deletion", "metadata.default_queue_type"},
    "user": set(), "permission": set(), "policy": set(), "binding": set(), "parameter": set(),
}


class Life:
    """The objects and the traffic on a broker, the same on both."""

    def __init__(self, broker):
        self.api = Api(broker.http_port)
        self.put(f"/vhosts/{VHOST}")
        self.put(f"/permissions/{VHOST}/guest", {"configure": ".*", "write": ".*", "read": ".*"})
        parameters = pika.ConnectionParameters("127.0.0.1", broker.port, VHOST, socket_timeout=SECONDS_MAX,
                                               client_properties={"connection_name": "shape"})
        self.connection = pika.BlockingConnection(parameters)
        channel = self.connection.channel()
        channel.confirm_delivery()
        channel.queue_declare("shape", durable=True, arguments={"x-max-length": 100})
        channel.queue_declare("shape-quorum", durable=True, arguments={"x-queue-type": "quorum"})
        channel.exchange_declare("shape", "topic", durable=True)
        channel.queue_bind("shape", "shape", "a.#")
        channel.basic_consume("shape", lambda channel, method, *_: channel.basic_ack(method.delivery_tag),
                              consumer_tag="shape")
        for _ in range(3):
            channel.basic_publish("shape", "a.b", b"x", pika.BasicProperties(delivery_mode=2))
        channel.basic_publish("", "shape-quorum", b"x")
        for kind in ("policies", "operator-policies"):
            self.put(f"/{kind}/{VHOST}/shape", {"pattern": "^shape$", "definition": {"max-length": 10}})

    def put(self, path, body=None):
        status, answer = self.api.request("PUT", "/api" + path, body)
        if status not in (201, 204):
            raise BrokerError(f"PUT {path} was answered with {status} {answer}")

    def get(self, path):
        status, answer = self.api.request("GET", "/api" + path)
        if status != 200:
            raise BrokerError(f"GET {path} was answered with {status} {answer}")
        return answer

    def of_vhost(self, path):
        """The first object of our virtual host in a list."""
        return next(one for one in self.get(path) if one.get("vhost") == VHOST and one.get("name") != "")

    def told(self):
        self.connection.process_data_events(0.05)
        channels = self.get(f"/vhosts/{VHOST}/channels")
        connections = self.get(f"/vhosts/{VHOST}/connections")
        queue = self.get(f"/queues/{VHOST}/shape")
        return channels and "message_stats" in channels[0] and queue.get("policy") == "shape" \
            and "message_stats" in queue and connections and "recv_oct_details" in connections[0]

    def wait(self):
        """Waits for the next interval of the statistics."""
        end = time.monotonic() + SECONDS_MAX
        while not self.told():
            if time.monotonic() > end:
                raise BrokerError(f"no statistics within {SECONDS_MAX} s")

    def answers(self):
        connection = segment(self.get(f"/vhosts/{VHOST}/connections")[0]["name"])
        return {
            "overview": self.get("/overview"), "node": self.get("/nodes")[0],
            "queue": self.get(f"/queues/{VHOST}/shape"), "quorum queue": self.get(f"/queues/{VHOST}/shape-quorum"),
            "listed queue": [one for one in self.get("/queues") if one["name"] == "shape"][0],
            "exchange": self.get(f"/exchanges/{VHOST}/shape"), "default exchange": self.get(f"/exchanges/{VHOST}/amq.default"),
            "listed exchange": [one for one in self.get("/exchanges") if one["name"] == "shape"][0],
            "connection": self.get(f"/connections/{connection}"), "listed connection": self.of_vhost("/connections"),
            "channel": self.get(f"/connections/{connection}/channels")[0], "listed channel": self.of_vhost("/channels"),
            "consumer": self.get(f"/consumers/{VHOST}")[0], "vhost": self.get(f"/vhosts/{VHOST}"),
            "listed vhost": [one for one in self.get("/vhosts") if one["name"] == VHOST][0],
            "user": self.get("/users/guest"), "listed user": self.get("/users")[0],
            "permission": self.get(f"/permissions/{VHOST}/guest"), "listed permission": self.of_vhost("/permissions"),
            "policy": self.get(f"/policies/{VHOST}/shape"), "listed policy": self.of_vhost("/policies"),
            "operator policy": self.get(f"/operator-policies/{VHOST}/shape"),
            "binding": self.get(f"/bindings/{VHOST}/e/shape/q/shape")[0], "listed binding": self.of_vhost("/bindings"),
            "parameter": self.of_vhost("/parameters"),
        }

    def end(self):
        self.connection.close()
        self.api.request("DELETE", f"/api/vhosts/{VHOST}")
        self.api.close()


def kind_of(value):
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    return type(value).__name__


# The keys of these depend on the object, not on the broker.
OPEN = {"arguments", "client_properties", "definition", "effective_policy_definition", "cluster_state", "socket_opts",
        "value", "limits", "cowboy_opts", "listeners", "contexts", "applications", "exchange_types"}


def fields(value, prefix=""):
    """Maps the path of every field to the type of its value."""
    found = {}
    for name, one in value.items():
        path = prefix + name
        found[path] = kind_of(one)
        if isinstance(one, dict) and name not in OPEN:
            found.update(fields(one, path + "."))
        elif isinstance(one, list) and one and isinstance(one[0], dict) and name not in OPEN:
            found.update(fields(one[0], path + "[]."))
    return found


def allowed(path, names):
    """A name matches the field and all fields below it; a name that ends with _ or . is a prefix."""
    leaf = path.rsplit("[].", 1)[-1]
    return any(leaf == name or leaf.startswith(name if name.endswith(("_", ".")) else name + ".") for name in names)


def compare_shapes(kind, ours, theirs):
    """The errors in our fields."""
    without, beyond = (rules[kind.split()[-1]] | rules.get(kind, set()) for rules in (WITHOUT, BEYOND))
    ours, theirs = fields(ours), fields(theirs)
    wrong = [f"{path} is missing" for path in theirs if path not in ours and not allowed(path, without)]
    wrong += [f"{path} is ours alone" for path in ours if path not in theirs and not allowed(path, beyond)]
    for path in set(ours) & set(theirs):
        kinds = {ours[path], theirs[path]}
        # Without a policy or a consumer, the field is null in Revenant, and sometimes absent or an empty list in RabbitMQ.
        if len(kinds) > 1 and "NoneType" not in kinds and not allowed(path, without):
            wrong.append(f"{path} is {ours[path]}, not {theirs[path]}")
    return sorted(wrong)


def named_differences():
    return {name for names in list(WITHOUT.values()) + list(BEYOND.values()) for name in names}


def differences_that_stay(ours, theirs):
    """The errors by kind of response. Every object has its own interval, so that some statistics arrive later."""
    end = time.monotonic() + SECONDS_MAX
    while True:
        for life in (ours, theirs):
            life.connection.process_data_events(0.05)
        mine = ours.answers()
        wrong = {kind: compare_shapes(kind, mine[kind], answer) for kind, answer in theirs.answers().items()}
        if not any(wrong.values()) or time.monotonic() > end:
            return wrong
        time.sleep(0.2)


def compare_answers(revenant, rabbitmq, page):
    """Prints the errors; returns the numbers of equal and different kinds of responses."""
    lives = []
    try:
        lives += [Life(revenant)]
        lives += [Life(rabbitmq)]
        for life in lives:
            life.wait()
        wrong = differences_that_stay(*lives)
    finally:
        for life in lives:
            life.end()
    for name in sorted(named_differences()):
        if f"`{name}`" not in page:
            wrong[f"difference {name}"] = ["not in docs/compatibility.md"]
    for kind, faults in wrong.items():
        for fault in faults:
            print(f"FAILED shape of {kind}: {fault}")
    failed = sum(1 for faults in wrong.values() if faults)
    return len(wrong) - failed, failed
