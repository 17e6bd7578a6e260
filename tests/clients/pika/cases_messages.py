"""Messages: bodies of all sizes, properties and headers."""

import datetime
import decimal

import pika

from peer import case, check_usable, declare_queue, expect_close, next_message

BODY_BYTES_MAX = 16 * 1024 * 1024


@case
def large_bodies(channel):
    queue = declare_queue(channel)
    channel.confirm_delivery()
    for size in [BODY_BYTES_MAX - 7, BODY_BYTES_MAX]:
        body = bytes(range(251)) * (size // 251 + 1)
        channel.basic_publish("", queue, body[:size])
        assert next_message(channel, queue)[2] == body[:size], f"a body of {size} bytes changed"


@case
def too_large_body_406(channel):
    queue = declare_queue(channel)
    channel.confirm_delivery()
    expect_close(406, f"message size {BODY_BYTES_MAX + 1} is larger than configured max size "
                 f"{BODY_BYTES_MAX}", channel.basic_publish, "", queue, bytes(BODY_BYTES_MAX + 1))
    check_usable(channel.connection)


@case
def empty_body(channel):
    queue = declare_queue(channel)
    channel.basic_publish("", queue, b"", pika.BasicProperties(message_id="empty"))
    _, properties, body = next_message(channel, queue)
    assert (properties.message_id, body) == ("empty", b"")


@case
def properties_echo(channel):
    queue = declare_queue(channel)
    sent = pika.BasicProperties(
        content_type="text/plain", content_encoding="utf-8", headers={"a": 1}, delivery_mode=2,
        priority=7, correlation_id="c1", reply_to="r1", expiration="600000", message_id="m1",
        timestamp=1700000000, type="kind", user_id="guest", app_id="app", cluster_id="cluster")
    channel.basic_publish("", queue, b"", sent)
    received = next_message(channel, queue)[1]
    assert vars(received) == vars(sent), received


@case
def header_types_echo(channel):
    queue = declare_queue(channel)
    sent = {
        "string": "caf\u00e9", "empty": "", "bytes": b"\x00\xff\x80", "true": True, "false": False,
        "int32": -123456, "int64": 2 ** 40, "decimal": decimal.Decimal("3.14"), "void": None,
        "timestamp": datetime.datetime(2024, 2, 29, 12, 30, 45),
        "table": {"inner": {"deep": 1}, "list": [1, "two"]},
        "array": [1, "two", True, None, {"three": 3}, [4]], "no_table": {}, "no_array": []}
    channel.basic_publish("", queue, b"", pika.BasicProperties(headers=sent))
    received = next_message(channel, queue)[1].headers
    assert received == sent, received
    assert {key: type(value) for key, value in received.items()} == {
        key: type(value) if key != "int64" else type(received["int64"])
        for key, value in sent.items()}  # pika decodes int64 to its own int type.
