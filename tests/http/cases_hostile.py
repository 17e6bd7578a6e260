"""Clients that break HTTP, JSON or their word. Whatever they do, the broker goes on for the others."""
import json

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
def many_requests_on_one_connection(world):
    with world.raw() as peer:
        one = b"GET /api/whoami HTTP/1.1\r\nHost: x\r\n" + LOGIN
        peer.sendall((one + b"\r\n") * 50 + one + b"Connection: close\r\n\r\n")
        equal(read_to_end(peer).count(b'"name":"guest"'), 51)
