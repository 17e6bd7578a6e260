"""Queues, exchanges, bindings, consumers, connections, channels, virtual hosts: HTTP shows objects created over AMQP, and
objects created over HTTP work over AMQP."""
import pika

from world import Mismatch, case, contains, equal, quote

NUMBER = (int, float)


def check_shape(found, shape, what):
    """Presence and type of every field, as in appendix B of the management rules."""
    for field, kind in shape.items():
        if field not in found:
            raise Mismatch(f"{what} has no {field}")
        if not isinstance(found[field], kind) or (kind is int and isinstance(found[field], bool)):
            raise Mismatch(f"{what}.{field} is {found[field]!r}")


@case
def queue_declared_by_a_client_is_listed(world):
    with world.amqp() as connection:
        channel = connection.channel()
        channel.queue_declare("seen", durable=True, arguments={"x-max-length": 7, "x-dead-letter-exchange": "dlx"})
        channel.confirm_delivery()
        for _ in range(3):
            channel.basic_publish("", "seen", b"12345")
        channel.basic_get("seen")
        world.eventually(lambda: world.get("/queues/%2F/seen")["messages_unacknowledged"] == 1, "one message unacked")
        queue = world.get("/queues/%2F/seen")
        check_shape(queue, {
            "name": str, "vhost": str, "type": str, "node": str, "state": str, "durable": bool, "auto_delete": bool,
            "exclusive": bool, "arguments": dict, "messages": int, "messages_ready": int,
            "messages_unacknowledged": int, "message_bytes": int, "message_bytes_ready": int, "consumers": int,
            "effective_policy_definition": dict, "consumer_details": list, "incoming": list, "deliveries": list,
        }, "queue")
        equal((queue["messages"], queue["messages_ready"], queue["message_bytes"]), (3, 2, 15))
        equal(queue["arguments"]["x-max-length"], 7)
        equal(queue["arguments"]["x-dead-letter-exchange"], "dlx")
        contains([one["name"] for one in world.get("/queues/%2F")], "seen")
        contains([one["name"] for one in world.get("/queues")], "seen")
        channel.queue_delete("seen")
    equal(world.api("GET", "/queues/%2F/seen").status, 404)


@case
def queue_declared_over_http_equals_the_clients(world):  # management 1.3, 4.20
    world.put("/queues/%2F/same", {"durable": True, "arguments": {"x-message-ttl": 60000}})
    with world.amqp() as connection:
        channel = connection.channel()
        channel.queue_declare("same", durable=True, arguments={"x-message-ttl": 60000})
        channel.confirm_delivery()
        channel.basic_publish("", "same", b"x")
        world.delete("/queues/%2F/same/contents")
        equal(world.get("/queues/%2F/same")["messages"], 0)
        channel.basic_consume("same", lambda *_: None)
        answer = world.delete("/queues/%2F/same?if-unused=true", status=400)
        equal(answer.json()["reason"], "queue 'same' in vhost '/' in use")
        world.delete("/queues/%2F/same")
        # The consumer is notified, and pika cancels it automatically.
        connection.process_data_events(1)
        equal(channel.consumer_tags, [])


@case
def locked_queue_is_not_deleted_by_others(world):
    with world.amqp() as connection:
        connection.channel().queue_declare("locked", exclusive=True)
        queue = world.get("/queues/%2F/locked")
        equal(queue["owner_pid_details"]["name"], world.get("/connections")[0]["name"])
        contains(world.delete("/queues/%2F/locked", status=400).json()["reason"], "locked queue 'locked'")


@case
def exchange_declared_over_http_routes(world):  # management 4.16
    world.put("/exchanges/%2F/hx", {"type": "topic", "durable": True, "arguments": {"alternate-exchange": "ae"}})
    world.put("/exchanges/%2F/hx", {"type": "topic", "durable": True, "arguments": {"alternate-exchange": "ae"}},
              status=204)
    contains(world.put("/exchanges/%2F/hx", {"type": "fanout", "durable": True}, status=400).json()["reason"],
             "inequivalent arg 'type' for exchange 'hx' in vhost '/': received 'fanout' but current is 'topic'")
    equal(world.put("/exchanges/%2F/hx2", {"type": "nosuch"}, status=400).json()["reason"],
          "unknown exchange type 'nosuch'")
    exchange = world.get("/exchanges/%2F/hx")
    check_shape(exchange, {"name": str, "vhost": str, "type": str, "durable": bool, "auto_delete": bool,
                           "internal": bool, "arguments": dict, "incoming": list, "outgoing": list}, "exchange")
    equal(exchange["arguments"], {"alternate-exchange": "ae"})
    world.put("/queues/%2F/hq", {})
    equal(world.api("POST", "/bindings/%2F/e/hx/q/hq", {"routing_key": "a.#"}).status, 201)
    with world.amqp() as connection:
        channel = connection.channel()
        channel.confirm_delivery()
        channel.basic_publish("hx", "a.b", b"routed", mandatory=True)
        equal(channel.basic_get("hq", auto_ack=True)[2], b"routed")
    equal(world.delete("/exchanges/%2F/hx?if-unused=true", status=400).json()["reason"],
          "exchange 'hx' in vhost '/' in use")
    world.delete("/exchanges/%2F/hx")
    world.delete("/exchanges/%2F/hx", status=404)
    world.delete("/queues/%2F/hq")
    equal(world.get("/exchanges/%2F/amq.default")["name"], "")
    for system in ("amq.default", "amq.topic"):
        equal(world.delete("/exchanges/%2F/" + system, status=401).json()["reason"], "Access refused.")


@case
def binding_is_found_under_its_location(world):  # management 1.3, 4.17, 4.22
    world.put("/queues/%2F/bound", {})
    pair = "/bindings/%2F/e/amq.topic/q/"
    for body in ({"routing_key": "a.#"}, {"routing_key": "b c/~é", "arguments": {"k": 1, "nested": {"x": [1, "y"]}}},
                 {}, None):
        answer = world.api("POST", pair + "bound", body)
        equal(answer.status, 201)
        binding = world.get(pair + answer.headers["location"])
        check_shape(binding, {"source": str, "vhost": str, "destination": str, "destination_type": str,
                              "routing_key": str, "arguments": dict, "properties_key": str}, "binding")
        equal(binding["arguments"], (body or {}).get("arguments", {}))
    equal(len(world.get(pair + "bound")), 3)
    equal(len(world.get("/queues/%2F/bound/bindings")), 4)
    equal(len(world.get("/exchanges/%2F/amq.topic/bindings/source")), 3)
    for binding in world.get(pair + "bound"):
        world.delete(pair + "bound/" + quote(binding["properties_key"]))
        world.delete(pair + "bound/" + quote(binding["properties_key"]), status=404)
    equal(world.api("POST", pair + "nosuch", {}).json(),
          {"error": "not_found", "reason": "no queue 'nosuch' in vhost '/'"})
    equal(world.api("POST", "/bindings/%2F/e/amq.topic/e/amq.fanout", {"routing_key": "x"}).status, 201)
    equal(world.get("/exchanges/%2F/amq.fanout/bindings/destination")[0]["source"], "amq.topic")
    world.delete("/bindings/%2F/e/amq.topic/e/amq.fanout/x")
    world.delete("/queues/%2F/bound")


@case
def connection_with_its_channels_and_consumers(world):  # management 4.23, 4.25
    with world.amqp(name="my client") as connection:
        channel = connection.channel()
        channel.queue_declare("consumed")
        channel.basic_qos(prefetch_count=5)
        channel.basic_consume("consumed", lambda *_: None, consumer_tag="tag", exclusive=True)
        second = connection.channel()
        second.tx_select()
        second.basic_publish("", "consumed", b"later")
        third = connection.channel()
        third.confirm_delivery()
        listed = world.get("/connections")
        equal(len(listed), 1)
        check_shape(listed[0], {
            "name": str, "vhost": str, "user": str, "node": str, "type": str, "protocol": str, "state": str,
            "host": str, "port": int, "peer_host": str, "peer_port": int, "ssl": bool, "connected_at": int,
            "channels": int, "channel_max": int, "frame_max": int, "timeout": int, "auth_mechanism": str,
            "client_properties": dict, "user_provided_name": str, "recv_oct": int, "send_oct": int}, "connection")
        equal((listed[0]["state"], listed[0]["channels"], listed[0]["user_provided_name"]), ("running", 3, "my client"))
        equal(listed[0]["port"], world.broker.port)
        name = listed[0]["name"]
        equal(world.get("/connections/" + quote(name))["name"], name)
        equal(world.get("/connections/username/guest")[0]["name"], name)
        equal(world.get("/vhosts/%2F/connections")[0]["name"], name)

        world.eventually(lambda: world.get("/channels")[1]["messages_uncommitted"] == 1, "a publish held back")
        channels = world.get("/connections/" + quote(name) + "/channels")
        equal([one["number"] for one in channels], [1, 2, 3])
        check_shape(channels[0], {
            "name": str, "number": int, "vhost": str, "user": str, "node": str, "state": str,
            "connection_details": dict, "confirm": bool, "transactional": bool, "consumer_count": int,
            "prefetch_count": int, "global_prefetch_count": int, "messages_unacknowledged": int,
            "messages_unconfirmed": int, "messages_uncommitted": int, "acks_uncommitted": int}, "channel")
        equal((channels[0]["consumer_count"], channels[0]["prefetch_count"]), (1, 5))
        equal([one["transactional"] for one in channels], [False, True, False])
        equal([one["confirm"] for one in channels], [False, False, True])
        one = world.get("/channels/" + quote(name + " (1)"))
        equal(one["consumer_details"][0]["consumer_tag"], "tag")
        equal(world.api("GET", "/channels/" + quote(name + " (9)")).status, 404)

        consumer = world.get("/consumers/%2F")[0]
        check_shape(consumer, {"consumer_tag": str, "queue": dict, "channel_details": dict, "ack_required": bool,
                               "exclusive": bool, "active": bool, "activity_status": str, "prefetch_count": int,
                               "arguments": dict}, "consumer")
        equal(consumer["queue"], {"name": "consumed", "vhost": "/"})
        equal(consumer["consumer_timeout"], 0, "a classic queue has no such limit")
        equal(consumer["channel_details"]["name"], name + " (1)")
        equal(consumer["exclusive"], True)
        equal(world.get("/queues/%2F/consumed")["exclusive_consumer_tag"], "tag")
        channel.queue_delete("consumed")


@case
def consumers_tell_how_long_they_may_keep_a_message(world):
    world.put("/queues/%2F/timed", {"durable": True, "arguments": {"x-queue-type": "quorum"}})
    with world.amqp() as connection:
        channel = connection.channel()
        channel.basic_consume("timed", lambda *_: None, consumer_tag="a")
        channel.basic_consume("timed", lambda *_: None, consumer_tag="b", arguments={"x-consumer-timeout": 60000})
        shown = {one["consumer_tag"]: one["consumer_timeout"] for one in world.get("/consumers")}
        equal(shown, {"a": 1800000, "b": 60000})
        channel.queue_delete("timed")


@case
def connection_is_closed_with_the_operators_words(world):  # management C.11
    for headers, text in (({"X-Reason": "for tea"}, "for tea"), ({}, "Closed via management plugin")):
        connection = world.amqp()
        name = world.get("/connections")[0]["name"]
        world.delete("/connections/" + quote(name), headers=headers)
        try:
            connection.process_data_events(5)
            raise Mismatch("the client was not told")
        except pika.exceptions.ConnectionClosedByBroker as closed:
            equal(closed.reply_code, 320)
            contains(closed.reply_text, text)
        world.eventually(lambda: world.get("/connections") == [], "the connection is gone")
    world.delete("/connections/nosuch", status=404)


@case
def a_vhost_cannot_make_streams_by_default(world):
    refusal = {"error": "bad_request", "reason": "invalid default queue type 'stream': must be 'classic' or 'quorum'"}
    equal(world.put("/vhosts/team", {"default_queue_type": "stream"}, status=400).json(), refusal)
    equal(world.api("GET", "/vhosts/team").status, 404)
    world.put("/vhosts/team", {"default_queue_type": "quorum"})
    equal(world.put("/vhosts/team", {"default_queue_type": "stream"}, status=400).json(), refusal)
    equal(world.get("/vhosts/team")["default_queue_type"], "quorum")
    world.delete("/vhosts/team")
    contains(world.ctl("add_vhost", "team", "--default-queue-type", "stream", status=65).stderr, "'stream'")


@case
def vhost_goes_with_everything_in_it(world):
    world.put("/vhosts/team", {"description": "d", "tags": "a,b"})
    world.put("/vhosts/team", status=204)
    vhost = world.get("/vhosts/team")
    equal((vhost["description"], vhost["tags"], vhost["cluster_state"]), ("d", ["a", "b"], {vhost_node(world): "running"}))
    connection = world.amqp(vhost="team")
    channel = connection.channel()
    channel.queue_declare("inside")
    channel.confirm_delivery()
    channel.basic_publish("", "inside", b"x")
    equal(world.get("/vhosts/team")["messages"], 1)
    world.delete("/vhosts/team")
    try:
        connection.process_data_events(5)
        raise Mismatch("the client was not told")
    except pika.exceptions.ConnectionClosedByBroker as closed:
        contains(closed.reply_text, "vhost 'team' is deleted")
    world.delete("/vhosts/team", status=404)
    world.put("/vhosts/team")
    equal(world.get("/queues/team"), [])
    world.delete("/vhosts/team")


def vhost_node(world):
    return world.get("/overview")["node"]


@case
def a_vhost_made_again_is_empty_and_safe(world):
    """The files of the deleted virtual host are removed before those of the new one are created."""
    for _ in range(15):
        world.put("/vhosts/again")
        equal(world.get("/queues/again"), [])
        world.put("/queues/again/q", {"durable": True, "arguments": {"x-queue-type": "quorum"}})
        body = {"properties": {}, "routing_key": "q", "payload": "x", "payload_encoding": "string"}
        equal(world.api("POST", "/exchanges/again/amq.default/publish", body).json(), {"routed": True})
        world.delete("/vhosts/again")
    world.put("/vhosts/again")
    world.put("/queues/again/kept", {"durable": True})
    world.restart()
    equal([queue["name"] for queue in world.get("/queues/again")], ["kept"])
    world.delete("/vhosts/again")


@case
def lists_have_columns_order_and_pages(world):  # management C.10
    for name in ("page-b", "page-a", "page-c"):
        world.put("/queues/%2F/" + name, {})
    equal(world.get("/queues/%2F?columns=name&sort=name&sort_reverse=true"),
          [{"name": "page-c"}, {"name": "page-b"}, {"name": "page-a"}])
    page = world.get("/queues?page=1&page_size=2&name=page-&sort=name&columns=name")
    equal(page, {"filtered_count": 3, "item_count": 2, "items": [{"name": "page-a"}, {"name": "page-b"}], "page": 1,
                 "page_count": 2, "page_size": 2, "total_count": 3})
    equal(world.get("/queues?page=1&name=%5Epage-%5Bab%5D%24&use_regex=true")["filtered_count"], 2)
    equal(world.get("/queues?page=1&name=PAGE-")["filtered_count"], 3, "in any case")
    equal(world.get("/queues?page=1&name=%5EPage-%5BAB%5D%24&use_regex=true")["filtered_count"], 2)
    equal(world.api("GET", "/queues?page=99").json()["error"], "page_out_of_range")
    equal(world.api("GET", "/queues?page=x").json()["reason"], "Pagination parameters are invalid")
    for name in ("page-b", "page-a", "page-c"):
        world.delete("/queues/%2F/" + name)


@case
def overview_and_node_tell_what_there_is(world):  # management 4.4
    overview = world.get("/overview")
    check_shape(overview, {
        "rabbitmq_version": str, "product_name": str, "product_version": str, "management_version": str,
        "erlang_version": str, "erlang_full_version": str, "cluster_name": str, "node": str, "object_totals": dict,
        "queue_totals": dict, "message_stats": dict, "churn_rates": dict, "listeners": list, "contexts": list,
        "exchange_types": list}, "overview")
    check_shape(overview["object_totals"], dict.fromkeys(
        ("connections", "channels", "exchanges", "queues", "consumers"), int), "object_totals")
    ports = {listener["protocol"]: listener["port"] for listener in overview["listeners"]}
    equal(ports, {"amqp": world.broker.port, "http": world.broker.http_port,
                  "http/prometheus": world.prometheus_port})
    node = world.get("/nodes")[0]
    check_shape(node, {
        "name": str, "type": str, "running": bool, "uptime": int, "os_pid": str, "processors": int, "run_queue": int,
        "being_drained": bool, "mem_used": int, "mem_limit": int, "mem_alarm": bool, "disk_free": int,
        "disk_free_limit": int, "disk_free_alarm": bool, "fd_used": int, "fd_total": int, "sockets_used": int,
        "sockets_total": int, "proc_used": int, "proc_total": int, "partitions": list, "cluster_links": list,
        "applications": list, "exchange_types": list, "auth_mechanisms": list, "contexts": list,
        "enabled_plugins": list, "log_files": list, "config_files": list, "db_dir": str, "rates_mode": str,
        "net_ticktime": int}, "node")
    equal(int(node["os_pid"]), world.broker.pid)
    equal(world.get("/nodes/" + quote(node["name"]))["name"], node["name"])


@case
def health_checks(world):  # management 4.28
    for check in ("alarms", "local-alarms", "virtual-hosts", "node-is-quorum-critical", "ready-to-serve-clients",
                  "metadata-store/initialized", "metadata-store/initialized/with-data", "reached-target-cluster-size",
                  "quorum-queues-without-elected-leaders/vhost/%2F/pattern/.*", "is-in-service",
                  f"port-listener/{world.broker.port}", "protocol-listener/amqp", "certificate-expiration/1/weeks",
                  "below-node-connection-limit", "protocol-listener/mqtt,http"):
        equal(world.get("/health/checks/" + check)["status"], "ok", check)
    for name in ("amqp", "amqp10", "amqp1.0", "amqp1-0", "amqp091", "amqp0-9-1", "AMQP0.9.1"):
        equal(world.get("/health/checks/protocol-listener/" + name), {"status": "ok", "protocol": "amqp"}, name)
    answer = world.api("GET", "/health/checks/protocol-listener/amqps,mqtt")
    equal((answer.status, answer.json()["missing"]), (503, "amqp/ssl,mqtt"))
    equal(world.get("/aliveness-test/%2F"), {"status": "ok"})
    answer = world.api("GET", "/health/checks/port-listener/1")
    equal((answer.status, answer.json()["missing"]), (503, 1))
