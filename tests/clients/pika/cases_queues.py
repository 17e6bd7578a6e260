"""Queues: refused declarations, exclusive queues, priorities, deletion."""

import pika

from peer import bodies_in, case, check_usable, declare_queue, expect_close, name_of, parameters


@case
def missing_queue_404(channel):
    name = name_of("missing")
    expect_close(404, f"no queue '{name}' in vhost '/'", channel.queue_declare, name, passive=True)
    check_usable(channel.connection)


@case
def inequivalent_argument_406(channel):
    queue = declare_queue(channel, arguments={"x-message-ttl": 60000})
    expect_close(406, f"inequivalent arg 'x-message-ttl' for queue '{queue}' in vhost '/'",
                 channel.queue_declare, queue, durable=True, arguments={"x-message-ttl": 1})
    check_usable(channel.connection)


@case
def reserved_name_403(channel):
    expect_close(403, "contains reserved prefix 'amq.*'", channel.queue_declare,
                 "amq.clients.pika", durable=True)
    check_usable(channel.connection)


@case
def exclusive_queue_405(channel):
    queue = name_of("exclusive")
    channel.queue_declare(queue, exclusive=True)
    with pika.BlockingConnection(parameters()) as second:
        expect_close(405, f"cannot obtain exclusive access to locked queue '{queue}'",
                     second.channel().queue_declare, queue, passive=True)
        channel.connection.close()
        expect_close(404, f"no queue '{queue}'", second.channel().queue_declare, queue,
                     passive=True)


@case
def priority_order(channel):
    queue = declare_queue(channel, arguments={"x-max-priority": 5})
    channel.confirm_delivery()
    for priority in [1, 5, None, 3, 5, 9]:
        channel.basic_publish("", queue, f"{priority}".encode(),
                              pika.BasicProperties(priority=priority))
    assert bodies_in(channel, queue) == [b"5", b"5", b"9", b"3", b"1", b"None"]


@case
def auto_delete_queue(channel):
    queue = name_of("auto_delete")
    channel.queue_declare(queue, durable=True, auto_delete=True)
    tag = channel.basic_consume(queue, lambda *_: None)
    channel.basic_cancel(tag)
    expect_close(404, f"no queue '{queue}'", channel.queue_declare, queue, passive=True)


@case
def purge_and_delete_counts(channel):
    queue = declare_queue(channel)
    channel.confirm_delivery()
    for _ in range(3):
        channel.basic_publish("", queue, b"x")
    assert channel.queue_purge(queue).method.message_count == 3
    channel.basic_publish("", queue, b"x")
    expect_close(406, "not empty", channel.queue_delete, queue, if_empty=True)
    channel = channel.connection.channel()
    assert channel.queue_delete(queue).method.message_count == 1
