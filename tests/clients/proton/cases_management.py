"""The /management link pair: requests that declare, bind, get and delete, and their refusals."""

import urllib.parse

from proton import UNDESCRIBED, Array, Data, Delivery, Link, Message, symbol, uint, ulong
from proton.utils import BlockingReceiver, BlockingSender

from peer import (Change, Inbox, add_user, address_of, bodies_in, case, check_usable, connect,
                  created_exchanges, created_queues, declare_exchange, declare_queue, expect_detach,
                  expect_end, name_of, new_session, publish, ready_count, receiver_of)

QUOTE = {"safe": ""}


class Management:
    """A pair of links with the same name, as RabbitMQ's own clients open it."""

    def __init__(self, connection, session=None, credit=10):
        self.connection = connection
        self.session = session or new_session(connection)
        self.requests = BlockingSender(connection, connection.container.create_sender(
            self.session, "/management", source="$me", name="management-link-pair",
            options=Change(paired)))
        self.inbox = Inbox()
        self.responses = BlockingReceiver(connection, connection.container.create_receiver(
            self.session, "/management", target="$me", name="management-link-pair",
            handler=self.inbox, options=Change(paired)), None, credit=credit)
        self.number = 0

    def send(self, verb, path, body=None):
        self.number += 1
        # Proton sends no body for None, but a request must have one.
        self.requests.link.send(Message(id=f"r{self.number}", address=path, subject=verb,
                                        reply_to="$me", body={} if body is None else body))

    def ask(self, verb, path, body=None):
        """(status, body) of the response."""
        self.send(verb, path, body)
        message = self.answers(1)[0]
        assert message.correlation_id == f"r{self.number}", message
        assert message.properties == {"http:response": "1.1"}, message
        return message.subject, message.body

    def answers(self, count):
        self.connection.wait(lambda: len(self.inbox.arrived) == count, msg="the answers")
        messages = []
        for delivery, encoded in self.inbox.arrived:
            assert delivery.settled, "an answer is settled"
            messages.append(Message())
            messages[-1].decode(encoded)
        self.inbox.arrived.clear()
        self.responses.link.flow(count)
        return messages


def paired(link):
    link.snd_settle_mode = Link.SND_SETTLED
    link.properties = {symbol("paired"): True}


def queue_path(name):
    return "/queues/" + urllib.parse.quote(name, **QUOTE)


def owned_queue(suffix="queue"):
    """The name of a queue that the case creates itself."""
    name = name_of(suffix)
    created_queues.append(name)
    return name


def owned_exchange(suffix="exchange"):
    name = name_of(suffix)
    created_exchanges.append(name)
    return name


def binding_path(source, queue, key, mark=""):
    values = [urllib.parse.quote(value, **QUOTE) for value in [source, queue, key]]
    return "/bindings/src={};dstq={};key={};args=".format(*values) + mark


def bindings_query(source, queue, key):
    values = [urllib.parse.quote(value, **QUOTE) for value in [source, queue, key]]
    return "/bindings?src={}&dstq={}&key={}".format(*values)


@case
def declare_quorum_queue(proton, channel):
    management, queue = Management(proton), owned_queue()
    wish = {"durable": True, "arguments": {"x-queue-type": "quorum", "x-delivery-limit": ulong(5),
                                           "x-dead-letter-exchange": "amq.fanout"}}
    status, body = management.ask("PUT", queue_path(queue), wish)
    assert status == "201", (status, body)
    node = body.pop("leader")
    assert body == {
        "name": queue, "vhost": "/", "durable": True, "auto_delete": False, "exclusive": False,
        "type": "quorum", "message_count": 0, "consumer_count": 0,
        "arguments": {"x-queue-type": "quorum", "x-delivery-limit": 5,
                      "x-dead-letter-exchange": "amq.fanout"},
        "replicas": Array(UNDESCRIBED, Data.STRING, node)}, body
    assert (type(body["message_count"]), type(body["consumer_count"])) == (ulong, uint)
    assert {type(key) for key in body} == {str}
    assert management.ask("PUT", queue_path(queue), wish)[0] == "200"
    publish(proton, address_of(queue), "x")
    assert ready_count(channel, queue) == 1


@case
def declare_queue_with_defaults(proton, _):
    management, queue = Management(proton), owned_queue()
    status, body = management.ask("PUT", queue_path(queue), {})
    assert (status, body["durable"], body["exclusive"], body["auto_delete"], body["type"],
            body["arguments"]) == ("201", True, False, False, "classic", {})


@case
def declare_exclusive_queue(_, channel):
    owner = connect()
    management, queue = Management(owner), name_of("exclusive")
    status, body = management.ask("PUT", queue_path(queue), {"durable": False, "exclusive": True})
    assert (status, body["exclusive"]) == ("201", True)
    second = connect()
    expect_detach("amqp:resource-locked", lambda text: "locked queue" in text,
                  receiver_of, second, queue)
    owner.close()
    status, text = Management(second).ask("GET", queue_path(queue))
    assert (status, text) == ("404", f"queue '{queue}' in vhost '/' not found")


@case
def inequivalent_queue_409(proton, _):
    management, queue = Management(proton), owned_queue()
    assert management.ask("PUT", queue_path(queue), {
        "arguments": {"x-queue-type": "quorum"}})[0] == "201"
    status, text = management.ask("PUT", queue_path(queue), {
        "arguments": {"x-queue-type": "classic"}})
    assert status == "409", (status, text)
    assert text == (f"inequivalent arg 'x-queue-type' for queue '{queue}' in vhost '/': received "
                    "'classic' but current is 'quorum'"), text
    status, text = management.ask("PUT", queue_path(queue), {
        "arguments": {"x-queue-type": "quorum", "x-max-length": 5}})
    assert status == "409" and text.startswith("inequivalent arg 'x-max-length'"), (status, text)
    assert management.ask("GET", queue_path(queue))[0] == "200"


@case
def bad_queues_are_refused(proton, _):
    management, queue = Management(proton), owned_queue()
    status, text = management.ask("PUT", queue_path(queue),
                                  {"arguments": {"x-message-ttl": "soon"}})
    assert status == "409" and "invalid arg 'x-message-ttl'" in text, (status, text)
    status, text = management.ask("PUT", queue_path(queue), {"colour": "blue"})
    assert status == "400" and text.startswith("bad queue property"), (status, text)
    status, text = management.ask("PUT", queue_path("amq.mine"), {})
    assert (status, text) == (
        "403", "queue 'amq.mine' in vhost '/' starts with reserved prefix 'amq.'"), (status, text)
    assert management.ask("PUT", "/queues/", {})[0] == "400"
    assert management.ask("PUT", "/queues/a%0Ab", {})[0] == "400"
    assert management.ask("PUT", "/queues/%zz", {})[0] == "400"
    assert management.ask("GET", queue_path(queue))[0] == "404"


@case
def get_queue(proton, channel):
    management, queue = Management(proton), declare_queue(channel, "a/b c")
    publish(proton, address_of(queue), "1", "2")
    receiver = receiver_of(proton, queue)
    status, body = management.ask("GET", queue_path(queue))
    assert (status, body["name"], body["message_count"], body["consumer_count"]) == (
        "200", queue, 2, 1)
    receiver.close()
    missing = name_of("missing")
    assert management.ask("GET", queue_path(missing)) == (
        "404", f"queue '{missing}' in vhost '/' not found")


@case
def purge_and_delete_queue(proton, channel):
    management, queue = Management(proton), declare_queue(channel)
    publish(proton, address_of(queue), "1", "2", "3")
    status, body = management.ask("DELETE", queue_path(queue) + "/messages")
    assert (status, body, type(body["message_count"])) == ("200", {"message_count": 3}, ulong)
    publish(proton, address_of(queue), "4")
    assert management.ask("DELETE", queue_path(queue)) == ("200", {"message_count": 1})
    assert management.ask("DELETE", queue_path(queue)) == ("200", {"message_count": 0})
    status, text = management.ask("DELETE", queue_path(queue) + "/messages")
    assert status == "404", (status, text)


@case
def exchanges(proton, channel):
    management, exchange = Management(proton), owned_exchange()
    path = "/exchanges/" + exchange
    assert management.ask("PUT", path, {"type": "topic"}) == ("204", None)
    assert management.ask("PUT", path, {"type": "topic", "durable": True}) == ("204", None)
    channel.exchange_declare(exchange, "topic", passive=True)
    status, text = management.ask("PUT", path, {"type": "fanout"})
    assert status == "409", (status, text)
    assert text == (f"inequivalent arg 'type' for exchange '{exchange}' in vhost '/': received "
                    "'fanout' but current is 'topic'"), text
    status, text = management.ask("PUT", "/exchanges/" + name_of("odd"), {"type": "odd"})
    assert status == "400", (status, text)
    status, text = management.ask("PUT", "/exchanges/amq.mine", {})
    assert (status, text) == (
        "403", "exchange 'amq.mine' in vhost '/' starts with reserved prefix 'amq.'"), text
    assert management.ask("PUT", "/exchanges/", {})[0] == "403"
    assert management.ask("PUT", path, {"colour": 1})[0] == "400"
    assert management.ask("DELETE", path) == ("204", None)
    assert management.ask("DELETE", path) == ("204", None)


@case
def bind_list_and_unbind(proton, channel):
    management, queue = Management(proton), declare_queue(channel, "a/b;c")
    exchange, key = declare_exchange(channel, "topic", "x&y"), "order.#"
    assert management.ask("POST", "/bindings", {
        "source": exchange, "destination_queue": queue, "binding_key": key, "arguments": {}}) == (
            "204", None)
    status, body = management.ask("GET", bindings_query(exchange, queue, key))
    location = binding_path(exchange, queue, key)
    assert (status, body) == ("200", [{
        "source": exchange, "destination_queue": queue, "binding_key": key, "arguments": {},
        "location": location}]), (status, body, location)
    target = "/exchanges/" + urllib.parse.quote(exchange, **QUOTE) + "/order.eu"
    publish(proton, target, "bound")
    assert management.ask("DELETE", location) == ("204", None)
    assert management.ask("GET", bindings_query(exchange, queue, key)) == ("200", [])
    assert management.ask("DELETE", location) == ("204", None)
    assert bodies_in(proton, queue) == ["bound"]


@case
def unbind_with_arguments(proton, channel):
    management, queue = Management(proton), declare_queue(channel)
    exchange = declare_exchange(channel, "headers")
    for arguments in [{}, {"x-match": "all", "kind": "pdf"}, {"x-match": "any", "kind": "txt"}]:
        assert management.ask("POST", "/bindings", {
            "source": exchange, "destination_queue": queue, "binding_key": "",
            "arguments": arguments}) == ("204", None)
    query = bindings_query(exchange, queue, "")
    status, listed = management.ask("GET", query)
    assert (status, len(listed)) == ("200", 3)
    by_kind = {each["arguments"].get("kind"): each["location"] for each in listed}
    assert by_kind[None] == binding_path(exchange, queue, "")
    assert len(set(by_kind.values())) == 3, by_kind
    assert management.ask("DELETE", by_kind["pdf"]) == ("204", None)
    _, listed = management.ask("GET", query)
    assert sorted(each["arguments"].get("kind", "") for each in listed) == ["", "txt"]
    assert management.ask("DELETE", by_kind[None]) == ("204", None)
    _, listed = management.ask("GET", query)
    assert [each["arguments"] for each in listed] == [{"x-match": "any", "kind": "txt"}]


@case
def bind_exchange_to_exchange(proton, channel):
    management, queue = Management(proton), declare_queue(channel)
    source = declare_exchange(channel, "direct", "source")
    destination = declare_exchange(channel, "fanout", "destination")
    channel.queue_bind(queue, destination, "")
    wish = {"source": source, "destination_exchange": destination, "binding_key": "k",
            "arguments": {}}
    assert management.ask("POST", "/bindings", wish) == ("204", None)
    publish(proton, f"/exchanges/{source}/k", "through")
    status, listed = management.ask("GET", f"/bindings?src={source}&dste={destination}&key=k")
    assert (status, listed[0]["destination_exchange"]) == ("200", destination)
    assert listed[0]["location"] == f"/bindings/src={source};dste={destination};key=k;args="
    assert management.ask("DELETE", listed[0]["location"]) == ("204", None)
    sender = proton.create_sender(f"/exchanges/{source}/k")
    assert sender.send(Message(body="cut off"), error_states=[]).remote_state == Delivery.RELEASED
    assert bodies_in(proton, queue) == ["through"]


@case
def bad_bindings_400(proton, channel):
    management, queue = Management(proton), declare_queue(channel)
    wish = {"source": "amq.direct", "destination_queue": queue, "binding_key": "k", "arguments": {}}
    missing = name_of("missing")
    status, text = management.ask("POST", "/bindings", {**wish, "destination_queue": missing})
    assert (status, text) == ("400", f"no queue '{missing}' in vhost '/'"), (status, text)
    status, text = management.ask("POST", "/bindings", {**wish, "source": missing})
    assert (status, text) == ("400", f"no exchange '{missing}' in vhost '/'"), (status, text)
    status, text = management.ask("POST", "/bindings", {**wish, "colour": "blue"})
    assert status == "400" and text.startswith("bad binding field"), (status, text)
    for field in ["source", "destination_queue", "binding_key"]:
        assert management.ask("POST", "/bindings", {
            key: value for key, value in wish.items() if key != field})[0] == "400", field
    assert management.ask("GET", "/bindings?src=amq.direct")[0] == "400"
    assert management.ask("POST", "/bindings", wish)[0] == "204"


@case
def body_before_properties(proton, channel):
    """RabbitMQ's Python client writes the sections of a request in this order."""
    management, queue = Management(proton), declare_queue(channel)
    management.number += 1
    message = Message(id=f"r{management.number}", address=queue_path(queue), subject="GET",
                      reply_to="$me", body={})
    encoded = message.encode()
    properties = encoded.index(b"\x00\x53\x73")
    body = encoded.index(b"\x00\x53\x77")
    link = management.requests.link
    delivery = link.delivery(link.delivery_tag())
    link.stream(encoded[body:] + encoded[properties:body])
    link.advance()
    delivery.settle()
    answer = management.answers(1)[0]
    assert (answer.subject, answer.correlation_id) == ("200", f"r{management.number}"), answer
    assert answer.body["name"] == queue, answer


@case
def unknown_request_404(proton, _):
    management = Management(proton)
    assert management.ask("GET", "/nothing/here")[0] == "404"
    assert management.ask("PATCH", "/queues/q")[0] in ("404", "405")
    assert management.ask("GET", "no/path")[0] == "400"


@case
def forty_requests_in_a_row(proton, _):
    management, queue = Management(proton, credit=50), owned_queue()
    for number in range(40):
        proton.wait(lambda: management.requests.link.credit > 0, msg="credit")
        management.send("PUT", queue_path(queue), {})
    answers = management.answers(40)
    assert [message.correlation_id for message in answers] == [f"r{n}" for n in range(1, 41)]
    assert [message.subject for message in answers] == ["201"] + ["200"] * 39


@case
def configure_refused_ends_session(_, channel):
    user = add_user("observer", read=".*")
    observer = connect(user=user, password=user)
    management, queue = Management(observer), name_of("forbidden")
    management.send("PUT", queue_path(queue), {})
    expect_end(observer, management.session, "amqp:unauthorized-access",
               f"configure access to queue '{queue}' in vhost '/' refused for user '{user}'")
    assert Management(observer).ask("GET", queue_path(queue))[0] == "404"


@case
def unpaired_link_is_refused(proton, channel):
    expect_detach("amqp:invalid-field",
                  "Link property 'paired' is not set to boolean value 'true'",
                  proton.create_sender, "/management")
    expect_detach("amqp:invalid-field",
                  "Link property 'paired' is not set to boolean value 'true'",
                  proton.create_receiver, "/management")
    check_usable(proton, channel)


@case
def half_a_pair_ends_session(proton, _):
    session = new_session(proton)
    sender = BlockingSender(proton, proton.container.create_sender(
        session, "/management", source="$me", name="half", options=Change(paired)))
    sender.link.send(Message(id="r1", address="/queues/q", subject="GET", body={}))
    expect_end(proton, session, "amqp:precondition-failed",
               "received transfer on half open management link pair")


@case
def answers_need_credit(proton, _):
    management = Management(proton, credit=0)
    management.send("GET", "/queues/q")
    expect_end(proton, management.session, "amqp:precondition-failed",
               "insufficient credit (0) for management link from RabbitMQ to client")
