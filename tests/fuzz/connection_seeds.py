#!/usr/bin/python3
"""Writes the seeds of connection_fuzz to corpus/connection_fuzz: small sessions, each with one
subject, as client bytes or as script octets (connection_fuzz.cc reads both)."""
import pathlib
import struct

# The first octet of an input.
FAR, OTHER_FAR, NO_HANDSHAKE, RAW, RECORD = 1, 2, 4, 8, 16
PIECES_OF_10, PIECES_OF_64 = 1 << 5, 7 << 5


# --- frames ---


def short(text):
    return struct.pack(">B", len(text)) + text.encode()


def long(data):
    return struct.pack(">I", len(data)) + data


def field(value):
    if isinstance(value, bool):
        return b"t" + bytes([value])
    if isinstance(value, int):
        return b"I" + struct.pack(">i", value)
    if isinstance(value, dict):
        return b"F" + table(value)
    if isinstance(value, list):
        return b"A" + long(b"".join(map(field, value)))
    return b"S" + long(value.encode())


def table(fields):
    return long(b"".join(short(name) + field(value) for name, value in fields.items()))


def frame(kind, channel, payload):
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"


def method(channel, class_id, method_id, arguments=b""):
    return frame(1, channel, struct.pack(">HH", class_id, method_id) + arguments)


def content(channel, body, properties=b"\0\0", announced=None):
    size = len(body) if announced is None else announced
    header = struct.pack(">HHQ", 60, 0, size) + properties
    return frame(2, channel, header) + (frame(3, channel, body) if body else b"")


def publish(channel, exchange, key, body, bits=0, properties=b"\0\0"):
    arguments = b"\0\0" + short(exchange) + short(key) + bytes([bits])
    return method(channel, 60, 40, arguments) + content(channel, body, properties)


def declare_queue(channel, name, bits=0, arguments=None):
    return method(channel, 50, 10, b"\0\0" + short(name) + bytes([bits]) + table(arguments or {}))


def declare_exchange(channel, name, kind, bits=0, arguments=None):
    body = b"\0\0" + short(name) + short(kind) + bytes([bits]) + table(arguments or {})
    return method(channel, 40, 10, body)


def bind(channel, queue, exchange, key, arguments=None):
    body = b"\0\0" + short(queue) + short(exchange) + short(key) + b"\0" + table(arguments or {})
    return method(channel, 50, 20, body)


def consume(channel, queue, tag, bits=0, arguments=None):
    body = b"\0\0" + short(queue) + short(tag) + bytes([bits]) + table(arguments or {})
    return method(channel, 60, 20, body)


def get(channel, queue, no_ack=0):
    return method(channel, 60, 70, b"\0\0" + short(queue) + bytes([no_ack]))


def ack(channel, tag, multiple=0):
    return method(channel, 60, 80, struct.pack(">QB", tag, multiple))


def nack(channel, tag, bits):
    return method(channel, 60, 120, struct.pack(">QB", tag, bits))


def qos(channel, count, whole_channel=0):
    return method(channel, 60, 10, struct.pack(">IHB", 0, count, whole_channel))


OPEN = method(1, 20, 10, short(""))
CLOSE_CONNECTION = method(0, 10, 50, struct.pack(">H", 200) + short("bye") + bytes(4))
HEARTBEAT = frame(8, 0, b"")


def greeting(mechanism="PLAIN", response=b"\0guest\0guest", vhost="/", frame_max=8192):
    start_ok = table({"product": "seed", "capabilities": {"basic.nack": True}})
    start_ok += short(mechanism) + long(response) + short("en_US")
    return (b"AMQP\0\0\x09\x01" + method(0, 10, 11, start_ok) +
            method(0, 10, 31, struct.pack(">HIH", 10, frame_max, 20)) +
            method(0, 10, 40, short(vhost) + short("") + b"\0"))


DEAD_LETTERS = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "r"}

SESSIONS = {
    "hello-and-bye": (NO_HANDSHAKE, greeting() + OPEN + CLOSE_CONNECTION),
    "wrong-password": (NO_HANDSHAKE, greeting(response=b"\0guest\0nonsense")),
    "amqplain": (NO_HANDSHAKE, greeting(
        "AMQPLAIN", table({"LOGIN": "guest", "PASSWORD": "guest"})[4:]) + OPEN),
    "other-protocol": (NO_HANDSHAKE, b"AMQP\x03\x01\x00\x00"),
    "http": (NO_HANDSHAKE, b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n"),
    "missing-vhost": (NO_HANDSHAKE, greeting(vhost="nowhere") + OPEN),
    "frame-max-too-small": (NO_HANDSHAKE, greeting(frame_max=4096) + OPEN),
    "publish-and-get": (0, publish(1, "", "q", b"one") + publish(1, "", "q", b"") + get(1, "q") +
                        ack(1, 1) + get(1, "q", 1) + get(1, "q")),
    "consume": (0, qos(1, 2) + consume(1, "q", "one") + publish(2, "", "q", b"a") +
                publish(2, "", "q", b"b") + publish(2, "", "q", b"c") + ack(1, 2, 1) +
                method(1, 60, 30, short("one") + b"\0")),
    "confirms": (0, method(1, 85, 10, b"\0") + publish(1, "", "q", b"a") +
                 publish(1, "", "nobody", b"b", bits=1) + publish(1, "amq.fanout", "", b"c")),
    "transaction": (0, method(1, 90, 10) + publish(1, "", "q", b"a") + method(1, 90, 20) +
                    publish(1, "", "q", b"b") + method(1, 90, 30) + get(1, "q") + ack(1, 1) +
                    method(1, 90, 20)),
    "dead-letter": (RECORD, declare_queue(1, "d", arguments=DEAD_LETTERS) + declare_queue(1, "r") +
                    publish(1, "", "d", b"x") + get(1, "d") + nack(1, 1, 0) + get(1, "r")),
    "overflow": (RECORD, declare_queue(1, "o", arguments={
        "x-max-length": 1, "x-overflow": "reject-publish-dlx", **DEAD_LETTERS}) +
                 publish(1, "", "o", b"1") + publish(1, "", "o", b"2")),
    "requeue": (RECORD, publish(1, "", "q", b"x") + get(1, "q") + nack(1, 1, 2) + get(1, "q") +
                method(1, 60, 110, b"\x01")),
    "headers-exchange": (0, declare_exchange(1, "h", "headers") + bind(
        1, "q", "h", "", {"x-match": "any", "a": 1}) + publish(
            1, "h", "", b"x", properties=b"\x20\0" + table({"a": 1}))),
    "topic-exchange": (0, declare_exchange(1, "t", "topic") + bind(1, "q", "t", "a.*.#") +
                       publish(1, "t", "a.b.c", b"x") + publish(1, "t", "b", b"y", bits=1)),
    "exchange-to-exchange": (RECORD, declare_exchange(1, "e", "fanout") + method(
        1, 40, 30, b"\0\0" + short("e") + short("amq.direct") + short("k") + b"\0" + table({})) +
                             bind(1, "q", "e", "") + publish(1, "amq.direct", "k", b"x")),
    "carbon-copies": (0, declare_queue(1, "r") + publish(
        1, "", "q", b"x", properties=b"\x20\0" + table({"CC": ["r"], "BCC": ["q", "nobody"]}))),
    "direct-reply": (0, consume(1, "amq.rabbitmq.reply-to", "", bits=2) + publish(
        1, "", "q", b"x", properties=b"\x02\0" + short("amq.rabbitmq.reply-to"))),
    "priorities": (0, declare_queue(1, "p", arguments={"x-max-priority": 5}) + publish(
        1, "", "p", b"low", properties=b"\x08\0\x01") + publish(
            1, "", "p", b"high", properties=b"\x08\0\x05") + get(1, "p", 1)),
    "exclusive-queue": (0, declare_queue(1, "mine", bits=4) + declare_queue(2, "mine", bits=4)),
    "refused-channel": (0, declare_queue(1, "missing", bits=1) + publish(1, "", "q", b"late") +
                        method(1, 20, 41) + OPEN + get(1, "q")),
    "huge-body-announced": (0, method(1, 60, 40, b"\0\0" + short("") + short("q") + b"\0") +
                            content(1, b"few", announced=1 << 40)),
    "interleaved-bodies": (0, method(1, 60, 40, b"\0\0" + short("") + short("q") + b"\0") + method(
        2, 60, 40, b"\0\0" + short("") + short("q") + b"\0") + content(1, b"one") +
                           content(2, b"two")),
    "body-without-publish": (0, content(1, b"x")),
    "heartbeats": (0, HEARTBEAT * 3 + frame(8, 1, b"")),
    "bad-frame-end": (0, HEARTBEAT[:-1] + b"\0"),
    "unknown-method": (0, method(1, 60, 999)),
}


# --- scripts: one octet per choice, in the order in which connection_fuzz.cc makes them ---

QUEUES = ["q", "r", "", "mine", "amq.rabbitmq.reply-to", "missing"]
EXCHANGES = ["", "e", "t", "amq.direct", "amq.headers", "amq.fanout", "h", "missing"]
KEYS = ["q", "r", "a.b", "#", "", "3"]
TAGS = ["one", "two", ""]
ARGUMENTS = ["x-message-ttl", "x-expires", "x-max-length", "x-overflow", "x-max-priority",
             "x-priority", "x-match", "x-dead-letter-exchange", "x-dead-letter-routing-key",
             "x-single-active-consumer", "alternate-exchange", "hash-header"]
NOTHING = bytes([0])


def some_arguments(**numbers):
    fields = [bytes([ARGUMENTS.index(name.replace("_", "-")), 0, value])
              for name, value in numbers.items()]
    return bytes([len(fields)]) + b"".join(fields)


def dead_lettered(*more):
    # Published to the default exchange, whose name is the third in QUEUES, with the key "r".
    fields = [bytes([7, 1, 2]), bytes([8, 1, 1]), *more]
    return bytes([len(fields)]) + b"".join(fields)


def on(wire, choice, channel=1):
    return bytes([wire << 7 | choice, channel])


def shape(wire, what, queue="q", exchange="", key="q", bits=0, arguments=NOTHING):
    return on(wire, 2) + arguments + bytes(
        [QUEUES.index(queue), EXCHANGES.index(exchange), 0, KEYS.index(key), bits, what])


def send(wire, key="q", exchange="", expiration=None, body=5, large=False):
    chosen = 0 if expiration is None else 2
    return on(wire, 3) + bytes([EXCHANGES.index(exchange), KEYS.index(key), 0]) + NOTHING + bytes(
        [expiration or 0, chosen, 0 if large else 1, *([] if large else [body])])


def take(wire, what, queue="q", tag="one", delivery=1, bits=0, arguments=NOTHING):
    return on(wire, 5) + arguments + bytes(
        [QUEUES.index(queue), TAGS.index(tag), delivery, bits, what])


def mode(wire, what):
    return on(wire, 6) + bytes([what] + ([0] if what == 0 else []))


def world(what, *octets, wire=0):
    return on(0, 7, 0) + bytes([wire, what, *octets])


CARRY_COMMANDS, CARRY_EFFECTS, CARRY = world(0), world(1), world(7)
SECOND = world(2, 100)
DECLARE, BIND, DELETE = 0, 3, 7
CONSUME, GET, ACK, NACK, CANCEL, QOS = 0, 2, 3, 4, 6, 8

SCRIPTS = {
    "script-expiry": (RECORD, shape(0, DECLARE, "r", arguments=NOTHING) + shape(
        0, DECLARE, "mine", arguments=dead_lettered(bytes([0, 0, 50]))) + shape(
            0, BIND, "mine", "amq.fanout") + send(0, exchange="amq.fanout") + SECOND +
                      take(0, GET, "r")),
    "script-message-expiry": (RECORD, send(0, expiration=20) + send(0) + SECOND + take(0, GET)),
    "script-queue-expiry": (RECORD, shape(0, DECLARE, "r", arguments=some_arguments(
        x_expires=90)) + send(0, "r") + SECOND * 3),
    "script-two-consumers": (FAR | PIECES_OF_10, take(0, CONSUME) + take(1, CONSUME, tag="two") +
                             CARRY + send(0) + send(1) + send(0) + CARRY + take(1, ACK) + CARRY),
    "script-lost-with-unsettled": (FAR | OTHER_FAR | RECORD, take(1, CONSUME) + send(0) + send(0) +
                                   CARRY + world(5, 0, wire=1) + CARRY + take(0, GET) + CARRY),
    "script-letters-late": (FAR, take(0, CONSUME) + send(1) + CARRY_COMMANDS + send(0) +
                            take(0, CANCEL) + CARRY_EFFECTS + CARRY_COMMANDS + send(1) + CARRY),
    "script-alarm": (OTHER_FAR, send(0) + world(3, 1) + send(0) + send(1) + SECOND + world(3, 0)),
    "script-not-read": (0, take(0, CONSUME) + world(4, 0) + send(1, large=True) * 4 + SECOND +
                        world(4, 1) + CARRY),
    "script-closed-by-operator": (FAR, take(0, CONSUME) + send(1) + CARRY_COMMANDS +
                                  world(6, 0) + CARRY),
    "script-transaction": (FAR | RECORD, mode(0, 1) + send(0) + send(0) + take(0, GET) + mode(
        0, 2) + CARRY + send(0) + mode(0, 3) + CARRY),
    "script-confirms": (FAR | PIECES_OF_64, mode(0, 0) + send(0) * 3 + CARRY + send(0, "3") + CARRY),
    "script-deleted-under-consumer": (FAR | RECORD, take(0, CONSUME) + send(1) + CARRY + shape(
        1, DELETE) + take(0, ACK) + CARRY),
    "script-requeued": (RECORD, take(0, QOS, delivery=1) + take(0, CONSUME) + send(1) + send(1) +
                        take(0, NACK, bits=2) + take(0, NACK, delivery=2, bits=3) +
                        mode(0, 4)),
    "script-limits": (RECORD | PIECES_OF_10, shape(0, DECLARE, "mine", arguments=dead_lettered(
        bytes([2, 0, 1]))) + shape(0, BIND, "mine", "amq.fanout") + shape(0, DECLARE, "r") +
                      send(0, exchange="amq.fanout") * 3 + take(0, GET, "r")),
    "script-idle": (0, SECOND * 40),
}


def main():
    folder = pathlib.Path(__file__).parent / "corpus" / "connection_fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (choice, session) in SESSIONS.items():
        (folder / name).write_bytes(bytes([choice | RAW]) + session)
    for name, (choice, steps) in SCRIPTS.items():
        (folder / name).write_bytes(bytes([choice]) + steps)
    print(f"{len(SESSIONS) + len(SCRIPTS)} seeds")


if __name__ == "__main__":
    main()
