"""Messages that are damaged on disk while the broker is stopped. The broker parks them when it reads them."""
import glob
import os

import pika

QUEUE = "shipping.labels"  # the first two messages in it cannot be read
BODY = b'{"parcel": "PARCEL-%d", "weight": 2.4, "carrier": "parcel-post"}'
DAMAGED = 2
FILLER, FILLER_BYTES = "filler", 1_000_000


def prepare(broker, definitions):
    """A restarted broker; the queue was not read yet."""
    broker.start()
    definitions(broker)
    connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", broker.port))
    channel = connection.channel()
    channel.confirm_delivery()
    for number in range(DAMAGED):
        channel.basic_publish("", QUEUE, BODY % number, pika.BasicProperties(delivery_mode=2, content_type="application/json"))
    # The last segment is read at startup, which fails if it is damaged. So a full segment is damaged.
    channel.queue_declare(FILLER, durable=True)
    while len(segments_of(broker.data)) < 2:
        channel.basic_publish("", FILLER, bytes(FILLER_BYTES), pika.BasicProperties(delivery_mode=2))
    connection.close()
    broker.stop()
    for number in range(DAMAGED):
        damage(broker.data, b"PARCEL-%d" % number)
    broker.start()
    connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", broker.port))
    connection.channel().queue_delete(FILLER)
    connection.close()


def segments_of(data):
    """The segment files of the only virtual host."""
    return glob.glob(os.path.join(data, "vhosts", "*", "*.segment"))


def damage(data, text):
    found = 0
    for path in segments_of(data):
        with open(path, "r+b") as file:
            place = file.read().find(text)
            if place >= 0:
                file.seek(place)
                file.write(b"p")
                found += 1
    if found == 0:
        raise RuntimeError(f"no segment has the bytes {text!r}")
