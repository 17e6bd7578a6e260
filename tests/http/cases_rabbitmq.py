"""Compared with a real RabbitMQ: definitions in both directions, and the shape of what is answered.

What differs on purpose is named here and in docs/compatibility.md; a name that is missing there fails."""
import json
import os

import pika
from cases_definitions import LISTS, fill, lists_of
from world import ROOT, SECONDS_MAX, World, case, equal, quote

# Fields that RabbitMQ 3.10 has and Revenant has not, and the other way round, by kind of object.
WITHOUT = {
    "overview": {"release_series_support_status", "message_stats.disk_reads", "message_stats.disk_reads_details",
                 "message_stats.disk_writes", "message_stats.disk_writes_details"},
    "node": {"context_switches", "context_switches_details", "gc_bytes_reclaimed", "gc_bytes_reclaimed_details",
             "gc_num", "gc_num_details", "metrics_gc_queue_length", "mnesia_disk_tx_count",
             "mnesia_disk_tx_count_details", "mnesia_ram_tx_count", "mnesia_ram_tx_count_details", "ra_open_file_metrics",
             "io_", "msg_store_", "queue_index_"},
    "queue": {"garbage_collection", "memory", "message_bytes_persistent", "messages_persistent", "reductions",
              "reductions_details", "backing_queue_status."},
    "quorum queue": {"open_files", "single_active_consumer_ctag"},
    "exchange": {"user_who_performed_action"},
    "connection": {"garbage_collection", "reductions", "reductions_details", "ssl_", "peer_cert_"},
    "channel": {"garbage_collection", "reductions", "reductions_details", "idle_since"},
    "consumer": {"consumer_timeout"},
    "vhost": set(),
    "user": set(), "permission": set(), "policy": set(), "binding": set(), "parameter": set(),
}
BEYOND = {
    "overview": {"cluster_tags", "node_tags", "default_queue_type", "is_op_policy_updating_enabled"},
    "node": {"disk_free_details", "being_drained"},
    "queue": {"deaths", "internal", "storage_version", "backing_queue_status.", "owner_pid_details"},
    "quorum queue": {"delivery_limit", "exclusive_consumer_tag", "head_message_timestamp", "idle_since",
                     "message_bytes_paged_out", "messages_delayed", "messages_paged_out", "messages_ready_ram",
                     "messages_unacknowledged_ram", "recoverable_slaves", "single_active_consumer_tag",
                     "message_stats"},
    "exchange": {"policy"},
    "connection": set(), "channel": set(), "consumer": set(),
    "vhost": {"compat", "protected_from_deletion", "metadata.default_queue_type"},
    "user": set(), "permission": set(), "policy": set(), "binding": set(), "parameter": set(),
}


def documented(names):
    with open(os.path.join(ROOT, "docs", "compatibility.md"), encoding="utf-8") as file:
        page = file.read()
    equal(sorted(name for name in names if f"`{name}`" not in page), [], "not in docs/compatibility.md")


# --- definitions ---


def comparable(document):
    """RabbitMQ 3.10 exports the names of vhosts alone and no type beside the arguments of a queue."""
    lists = lists_of(document)
    lists["vhosts"] = sorted(vhost["name"] for vhost in lists["vhosts"])
    for queue in lists["queues"]:
        queue.pop("type", None)
    lists["global_parameters"] = [one for one in lists["global_parameters"] if one["name"] != "internal_cluster_id"]
    for name in LISTS:
        if name != "vhosts":
            lists[name].sort(key=lambda one: json.dumps(one, sort_keys=True))
    return lists


def compare_lists(found, wanted):
    for name in LISTS:
        equal(found[name], wanted[name], name)


def wipe(asked):
    for path in ("/users/defs", "/users/defs-hash", "/vhosts/defs", "/global-parameters/defs"):
        equal(asked.api("DELETE", path).status in (204, 404), True, path)


@case
def definitions_of_rabbitmq_are_imported_and_exported_the_same(world):
    documented(["definitions-vhosts", "definitions-queue-type"])
    rabbitmq = world.rabbitmq()
    world.tidy()
    try:
        fill(rabbitmq)
        exported = rabbitmq.get("/definitions")
        equal(world.api("POST", "/definitions", exported).status, 204)
        compare_lists(comparable(world.get("/definitions")), comparable(exported))
        equal(world.get("/whoami", user="defs:secret")["name"], "defs")
        equal(world.get("/whoami")["name"], "guest")
    finally:
        wipe(rabbitmq)
        world.tidy()


@case
def rabbitmq_imports_definitions_and_exports_the_same(world):
    rabbitmq = world.rabbitmq()
    try:
        fill(world)
        exported = world.get("/definitions")
        answer = rabbitmq.api("POST", "/definitions", exported)
        equal((answer.status, answer.body), (204, b""))
        compare_lists(comparable(rabbitmq.get("/definitions")), comparable(exported))
        equal(rabbitmq.get("/whoami", user="defs:secret")["name"], "defs")
    finally:
        wipe(rabbitmq)
        wipe(world)


# --- shapes ---


class Life:
    """The same objects and the same traffic on a broker, so that its answers can be compared."""

    def __init__(self, asked):
        self.asked = asked
        parameters = pika.ConnectionParameters("127.0.0.1", asked.broker.port, socket_timeout=SECONDS_MAX,
                                               client_properties={"connection_name": "shape"})
        self.connection = pika.BlockingConnection(parameters)
        self.channel = self.connection.channel()
        self.channel.confirm_delivery()
        self.channel.queue_declare("shape", durable=True, arguments={"x-max-length": 100})
        self.channel.queue_declare("shape-quorum", durable=True, arguments={"x-queue-type": "quorum"})
        self.channel.exchange_declare("shape", "topic", durable=True)
        self.channel.queue_bind("shape", "shape", "a.#")
        self.channel.basic_consume("shape", lambda channel, method, *_: channel.basic_ack(method.delivery_tag),
                                   consumer_tag="shape")
        for _ in range(3):
            self.channel.basic_publish("shape", "a.b", b"x", pika.BasicProperties(delivery_mode=2))
        self.channel.basic_publish("", "shape-quorum", b"x")
        self.connection.process_data_events(0.3)
        asked.put("/policies/%2F/shape", {"pattern": "^shape$", "definition": {"max-length": 10}})
        asked.put("/operator-policies/%2F/shape", {"pattern": "^shape$", "definition": {"max-length": 10}})

    def wait(self):
        """Statistics come with the next interval."""
        def told():
            self.connection.process_data_events(0.05)
            found = self.asked.get("/channels")
            queue = self.asked.get("/queues/%2F/shape")
            return found and "message_stats" in found[0] and queue.get("policy") == "shape" \
                and "message_stats" in queue and "recv_oct_details" in self.asked.get("/connections")[0]
        World.eventually(told, "statistics")

    def answers(self):
        asked = self.asked
        connection = quote(asked.get("/connections")[0]["name"])
        return {
            "overview": asked.get("/overview"), "node": asked.get("/nodes")[0],
            "queue": asked.get("/queues/%2F/shape"), "quorum queue": asked.get("/queues/%2F/shape-quorum"),
            "listed queue": [one for one in asked.get("/queues") if one["name"] == "shape"][0],
            "exchange": asked.get("/exchanges/%2F/shape"), "default exchange": asked.get("/exchanges/%2F/amq.default"),
            "connection": asked.get(f"/connections/{connection}"),
            "channel": asked.get(f"/connections/{connection}/channels")[0],
            "consumer": asked.get("/consumers")[0], "vhost": asked.get("/vhosts/%2F"),
            "user": asked.get("/users/guest"), "permission": asked.get("/permissions/%2F/guest"),
            "policy": asked.get("/policies/%2F/shape"), "operator policy": asked.get("/operator-policies/%2F/shape"),
            "binding": asked.get("/bindings/%2F/e/shape/q/shape")[0], "parameter": asked.get("/parameters")[0],
        }

    def end(self):
        self.channel.queue_delete("shape")
        self.channel.queue_delete("shape-quorum")
        self.channel.exchange_delete("shape")
        self.connection.close()
        self.asked.delete("/policies/%2F/shape")
        self.asked.delete("/operator-policies/%2F/shape")


def kind_of(value):
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    return type(value).__name__


# What the keys of these are depends on the object, not on the broker.
OPEN = {"arguments", "client_properties", "definition", "effective_policy_definition", "cluster_state", "socket_opts",
        "value", "limits", "cowboy_opts", "listeners", "contexts", "applications", "exchange_types"}


def fields(value, prefix=""):
    """Every field by its path, with the type of its value."""
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
    """A name stands for itself and what is below it; one that ends with _ or . for all that begin so."""
    leaf = path.rsplit("[].", 1)[-1]
    return any(leaf == name or leaf.startswith(name if name.endswith(("_", ".")) else name + ".") for name in names)


def compare_shapes(kind, ours, theirs):
    without, beyond = (rules[kind.split()[-1]] | rules.get(kind, set()) for rules in (WITHOUT, BEYOND))
    ours, theirs = fields(ours), fields(theirs)
    wrong = [f"{path} is missing" for path in theirs if path not in ours and not allowed(path, without)]
    wrong += [f"{path} is ours alone" for path in ours if path not in theirs and not allowed(path, beyond)]
    for path in set(ours) & set(theirs):
        kinds = {ours[path], theirs[path]}
        # No policy, no consumer: null here, sometimes absent or an empty list there.
        if len(kinds) > 1 and "NoneType" not in kinds and not allowed(path, without):
            wrong.append(f"{path} is {ours[path]}, not {theirs[path]}")
    equal(sorted(wrong), [], kind)


@case
def answers_have_the_fields_and_types_of_rabbitmq(world):
    documented({name for names in list(WITHOUT.values()) + list(BEYOND.values()) for name in names})
    lives = [Life(world), Life(world.rabbitmq())]
    try:
        for life in lives:
            life.wait()
        ours, theirs = (life.answers() for life in lives)
    finally:
        for life in lives:
            life.end()
    wrong = []
    for kind, answer in theirs.items():
        try:
            compare_shapes(kind, ours[kind], answer)
        except Exception as mismatch:  # All kinds at once: one difference rarely comes alone.
            wrong.append(str(mismatch))
    equal(wrong, [])
