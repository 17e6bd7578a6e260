"""Clients that violate HTTP, send invalid JSON or break off. The broker continues to serve all others."""
import base64
import json
import os

from world import case, contains, equal, read_to_end

HEAD = b"PUT /api/queues/%2F/x HTTP/1.1\r\nHost: x\r\n"
LOGIN = b"Authorization: Basic Z3Vlc3Q6Z3Vlc3Q=\r\n"


@case
def what_is_no_json_is_a_400(world):
    bodies = [b"{", b"[]", b"5", b'"x"', b"\xff", b'{"a":"\xff"}', b"{" * 100000, b"[" * 1000000,
              b'{"arguments":' + b"[" * 1000 + b"]" * 1000 + b"}", b"\x00", b'{"a":1}x', b'{"\\ud800":1}']
    for body in bodies:
        answer = world.put("/queues/%2F/x", body, status=400)
        equal(answer.json(), {"error": "bad_request", "reason": "not_json"}, repr(body[:20]))
    for body in ({"durable": "x"}, {"durable": []}, {"arguments": 5}, {"arguments": {"a": 2 ** 64 - 1}},
                 {"arguments": {"n" * 300: 1}}, {"arguments": {"x-max-length": "5"}}):
        world.put("/queues/%2F/x", body, status=400)
    equal(world.get("/queues"), [])


@case
def numbers_beyond_all_bounds_are_a_400_or_none(world):
    largest = 2 ** 63 - 1
    quorum = {"x-queue-type": "quorum"}
    for arguments in ({"x-expires": largest}, {"x-message-ttl": largest}, {"x-max-priority": largest},
                      {**quorum, "x-delayed-retry-min": largest}, {**quorum, "x-consumer-timeout": largest}):
        answer = world.put("/queues/%2F/x", {"durable": True, "arguments": arguments}, status=400)
        contains(answer.json()["reason"], str(largest))
    for key in ("x-max-length", "x-max-length-bytes"):
        world.put("/queues/%2F/x", {"arguments": {key: largest}})
        world.api("POST", "/exchanges/%2F/amq.default/publish", {"properties": {}, "routing_key": "x", "payload": "there",
                                                                 "payload_encoding": "string"})
        got = world.api("POST", "/queues/%2F/x/get", {"count": largest, "ackmode": "ack_requeue_false", "encoding": "auto",
                                                      "truncate": largest}).json()
        equal([message["payload"] for message in got], ["there"])
        world.delete("/queues/%2F/x")
    reason = world.put("/queues/%2F/x", {"arguments": {"x-max-length": 2 ** 63}}, status=400).json()["reason"]
    contains(reason, "9223372036854775807")
    ranges = f"lengths_age={largest}&lengths_incr={largest}"
    for path in ("/overview", "/queues", "/nodes"):
        contains(world.api("GET", f"{path}?{ranges}").json()["reason"], "at most 315360000")
    definitions = {"policies": [{"vhost": "/", "name": "late", "pattern": "", "definition": {"expires": largest}}]}
    contains(world.api("POST", "/definitions", definitions).json()["reason"], "at most 315360000000")
    equal(world.get("/policies"), [])
    world.put("/vhost-limits/%2F/max-queues", {"value": largest}, status=204)
    world.put("/queues/%2F/x", {})
    world.delete("/queues/%2F/x")
    world.delete("/vhost-limits/%2F/max-queues")
    world.put("/vhost-limits/%2F/max-queues", {"value": 2 ** 64}, status=400)


@case
def a_topic_binding_has_two_hashes_at_most(world):
    world.put("/queues/%2F/x", {})
    world.api("POST", "/bindings/%2F/e/amq.topic/q/x", {"routing_key": "#.a.#"})
    answer = world.api("POST", "/bindings/%2F/e/amq.topic/q/x", {"routing_key": "#.a.#.#"})
    equal((answer.status, answer.json()["reason"]),
          (400, "Topic binding key '#.a.#.#' uses 3 '#' wildcards, at most 2 are allowed"))
    binding = {"source": "amq.topic", "vhost": "/", "destination": "x", "destination_type": "queue",
               "routing_key": "." * 300, "arguments": {}}
    contains(world.api("POST", "/definitions", {"bindings": [binding]}).json()["reason"], "at most 255 bytes")
    equal([one["routing_key"] for one in world.get("/queues/%2F/x/bindings")], ["x", "#.a.#"])
    world.delete("/queues/%2F/x")


@case
def paths_of_every_kind_are_answered(world):
    for path in ("/%", "/%zz", "/queues/%FF", "/queues/%2F/%C3%28", "/queues?columns=%FF", "//", "/queues//x"):
        equal(world.api("GET", path).status in (400, 404), True, path)
    equal(world.api("GET", "/nosuch").json(), {"error": "Object Not Found", "reason": "Not Found"})
    equal(world.api("GET", "/queues/nov/q").status, 404)
    equal(world.put("/queues/nov/q", {}, status=404).json(), {"error": "not_found", "reason": "vhost_not_found"})
    world.put("/queues/%2F/" + "x" * 256, {}, status=400)
    answer = world.api("DELETE", "/overview")
    equal((answer.status, answer.headers["allow"], answer.body), (405, "HEAD, GET, OPTIONS", b""))
    equal(world.api("OPTIONS", "/overview", user=None).status, 200)
    head = world.api("HEAD", "/whoami")
    equal((head.status, head.body), (200, b""))
    name = "a/b%c?d e\u00e9"
    quoted = "a%2Fb%25c%3Fd%20e%C3%A9"
    world.put("/queues/%2F/" + quoted, {})
    equal(world.get("/queues/%2F/" + quoted)["name"], name)
    world.delete("/queues/%2F/" + quoted)


@case
def a_body_beyond_twenty_million_bytes_is_refused(world):
    with world.raw() as peer:
        peer.sendall(HEAD + LOGIN + b"Content-Length: 20000001\r\n\r\n")
        answer = read_to_end(peer)
    contains(answer, b"HTTP/1.1 400")
    contains(answer, b'{"error":"bad_request","reason":"Exceeded HTTP request body size limit"}')
    body = json.dumps({"arguments": {}, "padding": "x" * 19_900_000})
    world.put("/queues/%2F/large", body)
    world.delete("/queues/%2F/large")


@case
def a_large_body_of_a_stranger_is_not_read(world):
    with world.raw() as peer:
        peer.sendall(HEAD + b"Content-Length: 19000000\r\n\r\n" + b"x" * 1000)
        contains(read_to_end(peer), b"HTTP/1.1 401")


@case
def ten_megabytes_of_headers_are_cut(world):
    with world.raw() as peer:
        try:
            peer.sendall(b"GET /api/whoami HTTP/1.1\r\nX: " + b"x" * 10_000_000 + b"\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass
        answer = read_to_end(peer)
    equal(answer[:12] in (b"HTTP/1.1 431", b""), True, repr(answer[:100]))


@case
def what_is_not_http_is_cut(world):
    for greeting in (b"AMQP\x00\x00\x09\x01", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", b"\x00" * 100, b"GET\r\n\r\n"):
        with world.raw() as peer:
            peer.sendall(greeting + b"\r\n\r\n")
            contains(read_to_end(peer), b"HTTP/1.1 400", repr(greeting))


@case
def idle_and_slow_clients_do_not_disturb_others(world):
    peers = [world.raw() for _ in range(100)]
    try:
        for number, peer in enumerate(peers):
            if number % 2:
                peer.sendall(b"GET /api/whoami HTTP/1.1\r\nX: ")
        equal(world.get("/whoami")["name"], "guest")
        with world.amqp() as connection:
            connection.channel().queue_declare("meanwhile", auto_delete=True)
            equal(world.get("/queues/%2F/meanwhile")["name"], "meanwhile")
            connection.channel().queue_delete("meanwhile")
    finally:
        for peer in peers:
            peer.close()


@case
def more_idle_clients_than_there_are_places_keep_nobody_out(world):
    peers = []
    try:
        for number in range(600):  # 512 are allowed.
            peers.append(world.raw())
            if number % 2:
                peers[-1].sendall(b"GET /api/whoami HTTP/1.1\r\nX: ")
        for _ in range(5):
            equal(world.get("/whoami")["name"], "guest")
        for peer in peers[:80]:  # The longest-idle connections were closed.
            equal(read_to_end(peer), b"")
    finally:
        for peer in peers:
            peer.close()


@case
def many_requests_on_one_connection(world):
    with world.raw() as peer:
        one = b"GET /api/whoami HTTP/1.1\r\nHost: x\r\n" + LOGIN
        peer.sendall((one + b"\r\n") * 50 + one + b"Connection: close\r\n\r\n")
        equal(read_to_end(peer).count(b'"name":"guest"'), 51)


def resident_bytes(world):
    with open(f"/proc/{world.broker.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Traffic:
    """Messages of another client, which must continue during an attack."""

    def __init__(self, world):
        self.connection = world.amqp()
        self.channel = self.connection.channel()
        self.channel.confirm_delivery()
        self.channel.queue_declare("attacked", auto_delete=False)

    def goes_on(self):
        for _ in range(20):
            self.channel.basic_publish("", "attacked", b"x")
            equal(self.channel.basic_get("attacked", auto_ack=True)[2], b"x")

    def end(self):
        self.channel.queue_delete("attacked")
        self.connection.close()


@case
def a_flood_of_connections_is_cut_and_amqp_goes_on(world):
    traffic, peers = Traffic(world), []
    before = resident_bytes(world)
    try:
        for number in range(700):
            peer = world.raw()
            peers.append(peer)
            # A header that never ends. Some connections are already closed.
            try:
                peer.sendall(HEAD + b"X: " + b"x" * 4000)
            except OSError:
                pass
            if number % 100 == 0:
                traffic.goes_on()
        cut = 0
        for peer in peers:
            peer.settimeout(0.001)
            try:
                cut += peer.recv(1) == b""
            except ConnectionResetError:
                cut += 1
            except OSError:
                pass
        equal(cut >= 150, True, f"only {cut} of 700 were cut")
        equal(resident_bytes(world) - before < 64_000_000, True, "memory")
        traffic.goes_on()
    finally:
        for peer in peers:
            peer.close()
    world.eventually(lambda: world.api("GET", "/whoami").status == 200, "the API answers again")
    traffic.end()


@case
def large_bodies_at_the_same_time_are_bounded(world):
    traffic, peers = Traffic(world), []
    before = resident_bytes(world)
    try:
        answers = b""
        for _ in range(8):  # 8 times 19 MB are announced, 100 MB are allowed.
            peer = world.raw()
            peers.append(peer)
            peer.sendall(HEAD + LOGIN + b"Content-Length: 19000000\r\n\r\n")
        for peer in peers:
            try:
                peer.sendall(b" " * 5_000_000)
            except OSError:
                pass
            peer.settimeout(0.2)
            try:
                answers += peer.recv(65536)
            except OSError:
                pass
        equal(answers.count(b"HTTP/1.1 503") >= 2, True, repr(answers[:300]))
        equal(resident_bytes(world) - before < 200_000_000, True, "memory")
        traffic.goes_on()
    finally:
        for peer in peers:
            peer.close()
    world.eventually(lambda: world.api("PUT", "/queues/%2F/later", b" " * 15_000_000 + b"{}").status == 201,
                     "there is room again")
    world.delete("/queues/%2F/later")
    traffic.end()


@case
def a_client_that_never_reads_its_answers(world):
    traffic, peers = Traffic(world), []
    world.put("/vhosts/much")
    for number in range(300):
        world.put(f"/exchanges/much/{'x' * 200}{number}", {"type": "fanout"})
    before = resident_bytes(world)
    one = b"GET /api/exchanges/much HTTP/1.1\r\nHost: x\r\n" + LOGIN + b"\r\n"
    try:
        for _ in range(20):
            peer = world.raw()
            peers.append(peer)
            peer.setblocking(False)
            try:
                while True:
                    peer.send(one * 100)
            except BlockingIOError:
                pass
        traffic.goes_on()
        equal(world.get("/whoami")["name"], "guest")
        equal(resident_bytes(world) - before < 100_000_000, True, "memory")
    finally:
        for peer in peers:
            peer.close()
    world.delete("/vhosts/much")
    traffic.end()


@case
def messages_with_wild_contents(world):
    world.put("/queues/%2F/wild", {})
    path = "/exchanges/%2F/amq.default/publish"
    deep = {}
    for _ in range(28):
        deep = {"d": deep}
    whole = {"routing_key": "wild", "payload": "x", "payload_encoding": "string", "properties": {}}
    equal(world.api("POST", path, {**whole, "properties": {"headers": deep}}).status, 200)
    for body in ({**whole, "properties": {"headers": {"d": deep, "e": {"f": {"g": {"h": deep}}}}}},
                 {**whole, "properties": {"headers": {"n" * 256: 1}}}, {**whole, "routing_key": ["x"]},
                 {**whole, "payload": {"a": 1}},
                 {**whole, "payload_encoding": None}, {**whole, "properties": {"timestamp": 2 ** 64}}):
        equal(world.api("POST", path, body).status, 400, str(body)[:100])
    for body in (b'{"routing_key":"wild","payload":"\xff","payload_encoding":"string","properties":{}}',
                 b'{"routing_key":"wild","payload":"\\ud800","payload_encoding":"string","properties":{}}'):
        equal(world.api("POST", path, body).status, 400)
    large = base64.b64encode(b"\x00" * 14_000_000).decode()
    equal(world.api("POST", path, {**whole, "payload": large, "payload_encoding": "base64"}).status, 200)
    answer = world.api("POST", "/queues/%2F/wild/get", {"count": 10, "ackmode": "ack_requeue_false", "encoding": "auto"})
    equal([one["payload_bytes"] for one in answer.json()], [1, 14_000_000])
    world.delete("/queues/%2F/wild")


@case
def a_get_of_everything_stays_bounded(world):
    world.put("/queues/%2F/heap", {})
    with world.amqp() as connection:
        channel = connection.channel()
        channel.confirm_delivery()
        for _ in range(120):
            channel.basic_publish("", "heap", b"x" * 1_000_000)
        wish = {"count": 10 ** 9, "ackmode": "ack_requeue_true", "encoding": "auto", "truncate": 10}
        got = world.api("POST", "/queues/%2F/heap/get", wish).json()
        equal(60 <= len(got) <= 80, True, str(len(got)))
        channel.queue_delete("heap")
