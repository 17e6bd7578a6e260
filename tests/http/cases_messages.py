"""Publishing and fetching over HTTP: ackmodes, encodings, permissions and refusals."""
import base64

from world import case, contains, equal

PUBLISH = "/exchanges/%2F/amq.default/publish"


def message(key, payload="hello", encoding="string", **properties):
    return {"properties": properties, "routing_key": key, "payload": payload, "payload_encoding": encoding}


def publish(world, body, exchange="amq.default", status=200, **options):
    answer = world.api("POST", f"/exchanges/%2F/{exchange}/publish", body, **options)
    equal(answer.status, status, f"publish {answer.body!r}")
    return answer.json()


def get(world, queue, ackmode="ack_requeue_true", count=1, status=200, encoding="auto", user="guest:guest", **more):
    body = {"count": count, "ackmode": ackmode, "encoding": encoding, **more}
    answer = world.api("POST", f"/queues/%2F/{queue}/get", body, user=user)
    equal(answer.status, status, f"get {answer.body!r}")
    return answer.json()


def bodies(messages):
    return [one["payload"] for one in messages]


@case
def a_publish_tells_whether_it_was_routed(world):  # management 4.18, C.4
    world.put("/queues/%2F/http1", {})
    equal(publish(world, message("http1")), {"routed": True})
    equal(publish(world, message("nowhere")), {"routed": False})
    got = get(world, "http1", "ack_requeue_false")
    equal(got, [{"payload_bytes": 5, "redelivered": False, "exchange": "", "routing_key": "http1",
                 "message_count": 0, "properties": {}, "payload": "hello", "payload_encoding": "string"}])
    equal(get(world, "http1"), [])
    world.delete("/queues/%2F/http1")


@case
def properties_go_in_and_come_out(world):
    world.put("/queues/%2F/http2", {})
    sent = {"content_type": "text/plain", "content_encoding": "gzip", "delivery_mode": 2, "priority": 7,
            "correlation_id": "c\u00e9", "reply_to": "r", "expiration": "100000", "message_id": "m",
            "timestamp": 1700000000, "type": "t", "user_id": "guest", "app_id": "a", "cluster_id": "k",
            "headers": {"n": 1, "s": "x", "b": True, "f": 1.5, "l": [1, "two", None], "t": {"deep": {"er": 1}}, "neg": -1}}
    publish(world, message("http2", **sent))
    equal(get(world, "http2")[0]["properties"], sent)
    with world.amqp() as connection:
        _, properties, body = connection.channel().basic_get("http2", auto_ack=True)
        equal((properties.priority, properties.headers["t"], body), (7, {"deep": {"er": 1}}, b"hello"))
        equal(properties.timestamp, 1700000000)
    publish(world, dict(message("http2"), properties=[]))
    publish(world, message("http2", unknown=1, headers=[]))
    equal([one["properties"] for one in get(world, "http2", "ack_requeue_false", 5)], [{}, {"headers": {}}])
    world.delete("/queues/%2F/http2")


@case
def wrong_messages_are_refused_by_what_is_wrong(world):
    world.put("/queues/%2F/http3", {})
    for name, value, reason in (
            ("delivery_mode", "2", ["not_int", "delivery_mode"]), ("priority", 256, ["not_int", "priority"]),
            ("priority", -1, ["not_int", "priority"]), ("timestamp", "x", ["not_int", "timestamp"]),
            ("content_type", 5, ["not_string", "content_type"]), ("message_id", None, ["not_string", "message_id"]),
            ("expiration", 100, ["not_string", "expiration"]), ("headers", 5, ["not_a_table", "headers"]),
            ("app_id", "x" * 256, ["longer_than_255_bytes", "app_id"])):
        equal(publish(world, message("http3", **{name: value}), status=400),
              {"error": "bad_request", "reason": reason}, name)
    for body, reason in (
            (message("http3", 5), "payload_not_string"), (message("http3", "%", "base64"), ["not_base64", "%"]),
            (message("http3", "x", "rot13"), ["unsupported_encoding", "rot13"]),
            (dict(message("http3"), properties=5), ["not_a_table", "properties"]),
            (message("k" * 256), "routing_key is longer than 255 bytes"),
            (message("http3", expiration="x"), "406 PRECONDITION_FAILED - invalid expiration 'x': no_integer"),
            (message("http3", user_id="bob"),
             "406 PRECONDITION_FAILED - user_id property set to 'bob' but authenticated user was 'guest'"),
            (message("http3", reply_to="amq.rabbitmq.reply-to"),
             "406 PRECONDITION_FAILED - fast reply consumer does not exist"),
            ({}, "[{key_missing,routing_key},{key_missing,properties},{key_missing,payload},"
                 "{key_missing,payload_encoding}]")):
        equal(publish(world, body, status=400)["reason"], reason)
    equal(publish(world, message("x"), "nosuch", status=404), {"error": "not_found", "reason": "exchange_not_found"})
    world.put("/exchanges/%2F/http3-internal", {"type": "direct", "internal": True})
    contains(publish(world, message("x"), "http3-internal", status=400)["reason"],
             "403 ACCESS_REFUSED - cannot publish to internal exchange")
    equal(world.api("POST", "/exchanges/nov/amq.direct/publish", message("x")).status, 404)
    equal(get(world, "http3"), [])
    world.delete("/exchanges/%2F/http3-internal")
    world.delete("/queues/%2F/http3")


@case
def a_full_queue_refuses_what_is_published(world):
    world.put("/queues/%2F/http4", {"arguments": {"x-max-length": 1, "x-overflow": "reject-publish"}})
    equal(publish(world, message("http4")), {"routed": True})
    equal(publish(world, message("http4"), status=400),
          {"error": "bad_request", "reason": "rejected Unable to publish message. Check queue limits."})
    world.delete("/queues/%2F/http4")


@case
def each_way_to_acknowledge(world):  # management 4.21, C.5
    world.put("/queues/%2F/http5-dead", {})
    world.put("/queues/%2F/http5", {"arguments": {"x-dead-letter-exchange": "",
                                                  "x-dead-letter-routing-key": "http5-dead"}})
    for text in ("a", "b", "c"):
        publish(world, message("http5", text, headers={"mine": 1}))
    equal(bodies(get(world, "http5", "ack_requeue_true", 2)), ["a", "b"])
    again = get(world, "http5", "reject_requeue_true", 10)
    equal(bodies(again), ["a", "b", "c"])
    equal([one["redelivered"] for one in again], [True, True, False])
    equal([one["message_count"] for one in again], [2, 1, 0])
    equal(bodies(get(world, "http5", "ack_requeue_false")), ["a"])
    equal(bodies(get(world, "http5", "reject_requeue_false")), ["b"])
    equal(bodies(get(world, "http5", "ack_requeue_true", 10)), ["c"])
    dead = get(world, "http5-dead")[0]
    equal((dead["payload"], dead["exchange"], dead["routing_key"]), ("b", "", "http5-dead"))
    headers = dead["properties"]["headers"]
    death = headers["x-death"][0]
    equal({name: death[name] for name in ("count", "exchange", "queue", "reason", "routing-keys")},
          {"count": 1, "exchange": "", "queue": "http5", "reason": "rejected", "routing-keys": ["http5"]})
    equal((headers["mine"], headers["x-first-death-queue"], isinstance(death["time"], int)), (1, "http5", True))
    world.delete("/queues/%2F/http5")
    world.delete("/queues/%2F/http5-dead")


@case
def fetching_from_a_quorum_queue_counts_as_amqp_does(world):
    world.put("/queues/%2F/http6", {"durable": True, "arguments": {"x-queue-type": "quorum", "x-delivery-limit": 1}})
    publish(world, message("http6", "q"))
    for _ in range(3):  # A nack with requeue does not count as a failure.
        equal(bodies(get(world, "http6", "ack_requeue_true")), ["q"])
    equal(bodies(get(world, "http6", "reject_requeue_true")), ["q"])
    equal(get(world, "http6", "reject_requeue_true")[0]["properties"]["headers"]["x-delivery-count"], 1)
    equal(get(world, "http6"), [])
    world.delete("/queues/%2F/http6")


@case
def payloads_are_text_or_base64_and_can_be_cut(world):  # management 4.21
    world.put("/queues/%2F/http7", {})
    publish(world, message("http7", base64.b64encode(b"\xff\x00\x01").decode(), "base64"))
    publish(world, message("http7", "gr\u00fc\u00dfe"))
    binary, text = get(world, "http7", count=2)
    equal((binary["payload"], binary["payload_encoding"], binary["payload_bytes"]), ("/wAB", "base64", 3))
    equal((text["payload"], text["payload_encoding"], text["payload_bytes"]), ("gr\u00fc\u00dfe", "string", 7))
    binary, text = get(world, "http7", count=2, encoding="base64")
    equal(base64.b64decode(text["payload"]).decode(), "gr\u00fc\u00dfe")
    binary, text = get(world, "http7", count=2, truncate=2)
    equal((binary["payload"], text["payload"], text["payload_bytes"]), ("/wA=", "gr", 7))
    # Truncated within a character, so it is not text any more.
    equal(get(world, "http7", count=2, truncate=3)[1]["payload_encoding"], "base64")
    equal(get(world, "http7", count=0), [])
    equal(bodies(get(world, "http7", count="1")), ["/wAB"])
    world.delete("/queues/%2F/http7")


@case
def wrong_wishes_to_fetch_are_refused(world):
    world.put("/queues/%2F/http8", {})
    path = "/queues/%2F/http8/get"
    whole = {"count": 1, "ackmode": "ack_requeue_true", "encoding": "auto"}
    for change, reason in (
            ({"ackmode": "x"}, "Invalid ackmode value: x. Valid values are: ack_requeue_true, ack_requeue_false, "
                               "reject_requeue_true, reject_requeue_false"),
            ({"encoding": "x"}, "Unsupported encoding. Please use auto or base64."),
            ({"count": "x"}, ["not_integer", "x"]), ({"count": -1}, "count is negative"),
            ({"count": 1.5}, ["not_integer", 1.5]), ({"truncate": "x"}, ["not_integer", "x"]),
            ({"truncate": -1}, "truncate is negative")):
        answer = world.api("POST", path, {**whole, **change})
        equal((answer.status, answer.json()["reason"]), (400, reason))
    equal(world.api("POST", path, {}).json()["reason"],
          "[{key_missing,ackmode},{key_missing,count},{key_missing,encoding}]")
    equal(world.api("POST", path, {"count": 1, "requeue": True, "encoding": "auto"}).json(), [])
    equal(world.api("POST", "/queues/%2F/nosuch/get", whole).json(),
          {"error": "not_found", "reason": "queue_not_found"})
    equal(world.api("GET", path).status, 405)
    with world.amqp() as connection:
        connection.channel().queue_declare("http8-own", exclusive=True)
        contains(get(world, "http8-own", status=400)["reason"], "405 RESOURCE_LOCKED")
    world.delete("/queues/%2F/http8")


@case
def publishing_and_fetching_need_their_permissions(world):
    world.put("/queues/%2F/http9", {})
    for name, tags in (("http9-m", "management"), ("http9-n", ""), ("http9-o", "monitoring")):
        world.put(f"/users/{name}", {"password": "p", "tags": tags})
    body = message("http9")
    equal(publish(world, body, user="http9-n:p", status=401)["reason"], "Not management user")
    for user in ("http9-m:p", "http9-o:p"):  # A monitoring user may only see the virtual host.
        equal(publish(world, body, user=user, status=401)["reason"], "User not authorised to access virtual host")
        equal(get(world, "http9", status=401, user=user)["reason"], "User not authorised to access virtual host")
    world.put("/permissions/%2F/http9-m", {"configure": "", "write": "^amq.topic$", "read": "^$"})
    equal(publish(world, body, user="http9-m:p", status=400)["reason"],
          "403 ACCESS_REFUSED - write access to exchange 'amq.default' in vhost '/' refused for user 'http9-m'")
    equal(get(world, "http9", status=401, user="http9-m:p")["reason"],
          "ACCESS_REFUSED - read access to queue 'http9' in vhost '/' refused for user 'http9-m'")
    equal(publish(world, body, "amq.topic", user="http9-m:p"), {"routed": False})
    world.put("/topic-permissions/%2F/http9-m", {"exchange": "amq.topic", "write": "^a", "read": ".*"})
    contains(publish(world, body, "amq.topic", user="http9-m:p", status=400)["reason"],
             "403 ACCESS_REFUSED - write access to topic 'http9' in exchange 'amq.topic'")
    extra = message("a.b", headers={"CC": ["b.c"]})
    contains(publish(world, extra, "amq.topic", user="http9-m:p", status=400)["reason"], "access to topic")
    equal(publish(world, message("a.b"), "amq.topic", user="http9-m:p"), {"routed": False})
    world.put("/permissions/%2F/http9-m", {"configure": "", "write": "", "read": "http9"}, status=204)
    equal(get(world, "http9", user="http9-m:p"), [])
    for name in ("http9-m", "http9-n", "http9-o"):
        world.delete(f"/users/{name}")
    world.delete("/queues/%2F/http9")


@case
def what_was_published_over_http_is_there_after_a_restart(world):
    world.put("/queues/%2F/http10", {"durable": True})
    publish(world, message("http10", "kept", delivery_mode=2))
    world.restart()
    equal(bodies(get(world, "http10", "ack_requeue_false")), ["kept"])
    world.delete("/queues/%2F/http10")


@case
def many_messages_at_once(world):
    world.put("/queues/%2F/http11", {})
    with world.amqp() as connection:
        channel = connection.channel()
        channel.confirm_delivery()
        for number in range(500):
            channel.basic_publish("", "http11", b"%d" % number)
    equal(bodies(get(world, "http11", count=1000)), [str(number) for number in range(500)])
    equal(len(get(world, "http11", "ack_requeue_false", count=10 ** 12)), 500)
    world.delete("/queues/%2F/http11")
