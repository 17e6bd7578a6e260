"""The fields of every object and their types, and the errors common to all endpoints. management, appendix B and 1."""
import json

from world import case, contains, equal, quote

TYPES = {"string": str, "int": int, "number": (int, float), "bool": bool, "array": list, "object": dict}
DETAILS = {"rate": "number"}

# Without the fields that docs/compatibility.md lists as missing.
QUEUE = """name vhost type node state: string; durable auto_delete exclusive: bool; arguments effective_policy_definition: object;
    messages messages_ready messages_unacknowledged message_bytes message_bytes_ready message_bytes_unacknowledged
    message_bytes_ram messages_ram message_bytes_persistent messages_persistent memory consumers: int;
    consumer_capacity consumer_utilisation: number; consumer_details incoming deliveries: array; message_stats: object"""
EXCHANGE = """name vhost type user_who_performed_action: string; durable auto_delete internal: bool; arguments message_stats: object"""
BINDING = "source vhost destination destination_type routing_key properties_key: string; arguments: object"
CONNECTION = """name vhost user node type protocol state host peer_host auth_mechanism user_provided_name: string; ssl: bool;
    port peer_port connected_at channels channel_max frame_max timeout recv_oct send_oct recv_cnt send_cnt send_pend: int;
    client_properties recv_oct_details send_oct_details: object"""
CHANNEL = """name vhost user node state: string; confirm transactional: bool; connection_details message_stats: object;
    number consumer_count prefetch_count global_prefetch_count messages_unacknowledged messages_unconfirmed
    messages_uncommitted acks_uncommitted: int"""
CONSUMER = """consumer_tag activity_status: string; ack_required exclusive active: bool; prefetch_count consumer_timeout: int;
    queue channel_details arguments: object"""
NODE = """name type os_pid db_dir rates_mode: string; running being_drained mem_alarm disk_free_alarm: bool;
    uptime processors run_queue mem_used mem_limit disk_free disk_free_limit fd_used fd_total sockets_used sockets_total
    proc_used proc_total net_ticktime: int; partitions cluster_links applications exchange_types auth_mechanisms contexts
    enabled_plugins log_files config_files: array"""
OVERVIEW = """rabbitmq_version product_name product_version management_version erlang_version erlang_full_version cluster_name
    node: string; object_totals queue_totals message_stats churn_rates: object; listeners contexts exchange_types: array"""


def check(found, shape, what):
    for group in shape.split(";"):
        names, kind = group.rsplit(":", 1)
        for name in names.split():
            equal(name in found, True, f"{what} has {name}")
            value, wanted = found[name], TYPES[kind.strip()]
            right = isinstance(value, wanted) and (kind.strip() == "bool" or not isinstance(value, bool))
            equal(right, True, f"{name} of {what} is {value!r}, a {kind.strip()}")


def work(world):
    """A connection that has used all features."""
    connection = world.amqp(name="shaped")
    channel = connection.channel()
    channel.confirm_delivery()
    channel.queue_declare("shape", arguments={"x-max-length": 10})
    channel.queue_bind("shape", "amq.topic", "#")
    for _ in range(3):
        channel.basic_publish("amq.topic", "k", b"x")
    channel.basic_qos(prefetch_count=2)
    channel.basic_consume("shape", lambda *_: None, consumer_tag="shape-tag")
    connection.process_data_events(0.1)
    return connection


@case
def objects_have_all_their_fields(world):
    connection = work(world)
    try:
        world.eventually(lambda: world.get("/connections") and world.get("/channels"), "they are listed")
        queue = world.get("/queues/%2F/shape")
        for one in (queue, *world.get("/queues/%2F")):
            check({"consumer_details": [], "incoming": [], "deliveries": [], **one}, QUEUE, "queue")
        for name in ("messages", "messages_ready", "messages_unacknowledged"):
            check(queue[name + "_details"], "rate: number", name)
        check(world.get("/exchanges/%2F/amq.topic"), EXCHANGE, "exchange")
        for one in world.get("/bindings"):
            check(one, BINDING, "binding")
        name = world.get("/connections")[0]["name"]
        for one in (world.get("/connections/" + quote(name)), *world.get("/vhosts/%2F/connections")):
            check(one, CONNECTION, "connection")
            check(one["client_properties"], "capabilities: object", "client_properties")
            for field in ("recv_oct_details", "send_oct_details"):
                check(one[field], "rate: number", field)
        for one in (world.get("/channels/" + quote(name + " (1)")), *world.get("/channels")):
            check(one, CHANNEL, "channel")
            check(one["connection_details"], "name peer_host: string; peer_port: int", "connection_details")
        consumer = world.get("/consumers")[0]
        check(consumer, CONSUMER, "consumer")
        check(consumer["queue"], "name vhost: string", "queue of a consumer")
        check(consumer["channel_details"], "name connection_name peer_host node user: string; number peer_port: int",
              "channel_details")
        node = world.get("/nodes")[0]
        for one in (node, world.get("/nodes/" + quote(node["name"]))):
            check(one, NODE, "node")
        overview = world.get("/overview")
        check(overview, OVERVIEW, "overview")
        check(overview["object_totals"], "connections channels exchanges queues consumers: int", "object_totals")
        for one in overview["exchange_types"]:
            check(one, "name description: string; enabled: bool", "exchange_types")
        equal([one["name"] for one in overview["exchange_types"]],
              ["direct", "fanout", "headers", "topic", "x-consistent-hash", "x-local-random", "x-modulus-hash"])
        equal((overview["product_name"], overview["rabbitmq_version"][:4]), ("Revenant", "4.3."))
        connection.channel().queue_delete("shape")
    finally:
        connection.close()


@case
def a_quorum_queue_names_its_members(world):
    world.put("/queues/%2F/shape", {"durable": True, "arguments": {"x-queue-type": "quorum"}})
    queue = world.get("/queues/%2F/shape")
    check(queue, "leader: string; members online: array", "quorum queue")
    equal((queue["type"], queue["leader"] in queue["members"]), ("quorum", True))
    world.delete("/queues/%2F/shape")


BODIES = {  # path of a PUT or POST: required keys, in the order of the error text
    "PUT /permissions/%2F/guest": ["configure", "write", "read"],
    "PUT /topic-permissions/%2F/guest": ["exchange", "write", "read"],
    "PUT /policies/%2F/p": ["pattern", "definition"],
    "PUT /operator-policies/%2F/p": ["pattern", "definition"],
    "PUT /parameters/vhost-limits/%2F/limits": ["value"],
    "PUT /global-parameters/g": ["value"],
    "PUT /vhost-limits/%2F/max-queues": ["value"],
    "PUT /user-limits/guest/max-channels": ["value"],
    "PUT /cluster-name": ["name"],
    "POST /exchanges/%2F/amq.topic/publish": ["properties", "routing_key", "payload", "payload_encoding"],
    "POST /users/bulk-delete": ["users"],
}
OTHER_BODIES = ("PUT /queues/%2F/x", "PUT /exchanges/%2F/x", "PUT /users/x", "PUT /vhosts/x", "POST /definitions",
                "POST /definitions/%2F", "POST /bindings/%2F/e/amq.topic/e/amq.fanout", "POST /queues/%2F/none/get")


@case
def what_is_no_json_is_refused_everywhere(world):
    before = world.get("/definitions")
    for call in (*BODIES, *OTHER_BODIES):
        method, path = call.split()
        for body in (b"{", b"[1]", b"nonsense", b'"x"', b"\xff\xfe"):
            answer = world.api(method, path, body)
            wanted = (404,) if path.endswith("/none/get") else (400,)
            equal(answer.status in wanted + (400,), True, f"{call} {body!r} {answer}")
            equal(answer.json()["error"] in ("bad_request", "Object Not Found", "not_found"), True, call)
    equal(world.get("/definitions"), before)


@case
def missing_keys_are_all_named(world):
    for call, keys in BODIES.items():
        method, path = call.split()
        answer = world.api(method, path, {"unknown": 1})
        reason = answer.json()["reason"]
        equal(answer.status, 400, call)
        for key in keys:
            contains(reason, f"{{key_missing,{key}}}", call)


@case
def values_of_a_wrong_type_are_refused(world):
    before = world.get("/definitions")
    row = {"configure": "", "write": "", "read": ""}
    for call, body in (
            ("PUT /permissions/%2F/guest", {**row, "read": [1]}), ("PUT /permissions/%2F/guest", {**row, "read": {}}),
            ("PUT /topic-permissions/%2F/guest", {"exchange": {}, "write": "", "read": ""}),
            ("PUT /policies/%2F/p", {"pattern": {}, "definition": {"max-length": 1}}),
            ("PUT /policies/%2F/p", {"pattern": "", "definition": "x"}),
            ("PUT /policies/%2F/p", {"pattern": "", "definition": {"max-length": "1"}}),
            ("PUT /policies/%2F/p", {"pattern": "", "definition": {"max-length": 1}, "priority": "high"}),
            ("PUT /policies/%2F/p", {"pattern": "", "definition": {"max-length": 1}, "apply-to": 5}),
            ("PUT /vhost-limits/%2F/max-queues", {"value": "many"}), ("PUT /user-limits/guest/max-channels", {"value": {}}),
            ("PUT /parameters/vhost-limits/%2F/limits", {"value": [1]}), ("PUT /queues/%2F/x", {"durable": "perhaps"}),
            ("PUT /queues/%2F/x", {"arguments": [1]}), ("PUT /exchanges/%2F/x", {"type": {}}),
            ("PUT /exchanges/%2F/x", {"type": "topic", "internal": 5}), ("PUT /users/x", {"password": {}, "tags": ""}),
            ("PUT /users/x", {"password": "p", "tags": 5}), ("PUT /users/x", {"password": "p", "tags": [1]}),
            ("PUT /users/x", {"password_hash": 5.5, "tags": ""}), ("PUT /users/x", {"password_hash": "!", "tags": ""}),
            ("PUT /vhosts/x", {"description": {}}), ("PUT /vhosts/x", {"tags": 5}), ("PUT /cluster-name", {"name": {}}),
            ("POST /users/bulk-delete", {"users": 5}), ("POST /users/bulk-delete", {"users": [5]}),
            ("POST /definitions", {"users": 5}), ("POST /definitions", {"users": [5]}),
            ("POST /definitions", {"queues": [{"name": 5.5, "vhost": "/"}]}),
            ("POST /definitions/%2F", {"queues": {"a": 1}}),
            ("POST /bindings/%2F/e/amq.topic/e/amq.fanout", {"routing_key": {}}),
            ("POST /bindings/%2F/e/amq.topic/e/amq.fanout", {"arguments": 5})):
        method, path = call.split()
        answer = world.api(method, path, body)
        equal(answer.status, 400, f"{call} {json.dumps(body)}: {answer}")
        equal(answer.json()["error"], "bad_request", call)
    equal(world.get("/definitions"), before)


@case
def what_does_not_exist_is_not_found(world):
    before = world.get("/definitions")
    whole = {"properties": {}, "routing_key": "", "payload": "", "payload_encoding": "string"}
    wish = {"count": 1, "ackmode": "ack_requeue_true", "encoding": "auto"}
    paths = ["/queues/%2F/none", "/exchanges/%2F/none", "/users/none", "/vhosts/none", "/policies/%2F/none",
             "/operator-policies/%2F/none", "/global-parameters/none", "/parameters/vhost-limits/%2F/none", "/connections/none",
             "/permissions/%2F/none", "/bindings/%2F/e/amq.topic/e/amq.fanout/none"]
    calls = [(method, path, None) for path in paths for method in ("GET", "DELETE")]
    calls += [("GET", path, None) for path in (
        "/channels/none", "/nodes/none", "/nodes/none/memory", "/connections/none/channels", "/connections/none/sessions",
        "/vhosts/none/permissions", "/vhosts/none/connections", "/users/none/permissions", "/queues/none", "/exchanges/none",
        "/bindings/none", "/policies/none", "/consumers/none", "/queues/%2F/none/bindings",
        "/auth/attempts/none", "/none", "/queues/%2F/a/none", "/aliveness-test/none")]
    calls += [("POST", "/queues/%2F/none/get", wish),
              ("POST", "/exchanges/none/x/publish", whole), ("POST", "/queues/none/x/get", wish),
              ("DELETE", "/queues/%2F/none/contents", None), ("PUT", "/queues/none/x", {}),
              ("PUT", "/exchanges/none/x", {"type": "topic"}), ("POST", "/bindings/%2F/e/amq.topic/q/none", {}),
              ("POST", "/vhosts/none/deletion/protection", None), ("PUT", "/vhost-limits/none/max-queues", {"value": 1}),
              ("PUT", "/policies/none/p", {"pattern": "", "definition": {"max-length": 1}})]
    for method, path, body in calls:
        answer = world.api(method, path, body)
        equal(answer.status, 404, f"{method} {path}: {answer}")
        equal(sorted(answer.json()), ["error", "reason"], path)
    equal(world.get("/definitions"), before)
