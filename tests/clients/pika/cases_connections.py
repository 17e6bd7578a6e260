"""Connections: their properties, channels, heartbeats and refused logins."""

import pika
from pika.exceptions import ProbableAccessDeniedError, ProbableAuthenticationError

from peer import case, check_usable, declare_queue, parameters


@case
def connection_properties(channel):
    properties = channel.connection._impl.server_properties
    assert properties["product"] == "RabbitMQ", properties
    assert int(properties["version"].split(".")[0]) >= 3, properties
    assert channel.connection.basic_nack_supported
    assert channel.connection.consumer_cancel_notify_supported
    assert channel.connection.exchange_exchange_bindings_supported
    assert channel.connection.publisher_confirms_supported
    for capability in ["connection.blocked", "consumer_priorities", "per_consumer_qos",
                       "authentication_failure_close", "direct_reply_to"]:
        assert properties["capabilities"][capability] is True, properties


@case
def many_channels(channel):
    queue = declare_queue(channel)
    channels = [channel.connection.channel() for _ in range(200)]
    for index, publisher in enumerate(channels):
        publisher.confirm_delivery()
        publisher.basic_publish("", queue, b"%d" % index)
    received = []
    for consumer in channels:
        method, _, body = consumer.basic_get(queue)
        consumer.basic_ack(method.delivery_tag)
        received.append(int(body))
    assert received == list(range(200)), received
    for each in channels:
        each.close()


@case
def heartbeat_keeps_idle_connection(_):
    with pika.BlockingConnection(parameters(heartbeat=1)) as connection:
        assert connection._impl.params.heartbeat == 1
        # pika and the broker both disconnect from a peer that is silent for two intervals.
        connection.process_data_events(time_limit=3.5)
        check_usable(connection)


@case
def wrong_password_403(_):
    credentials = pika.PlainCredentials("guest", "wrong")
    try:
        pika.BlockingConnection(parameters(credentials=credentials))
    except ProbableAuthenticationError as error:
        assert "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN" in str(
            error), error
    else:
        raise AssertionError("the broker let us in")


@case
def unknown_vhost_530(_):
    try:
        pika.BlockingConnection(parameters(virtual_host="no-such-vhost"))
    except ProbableAccessDeniedError as error:
        assert "(530) 'NOT_ALLOWED - vhost no-such-vhost not found'" in str(error), error
    else:
        raise AssertionError("the broker opened a vhost that does not exist")
