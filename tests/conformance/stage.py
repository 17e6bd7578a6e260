"""Performs the steps of a scenario on one broker and records the observable results."""
import json
import time

import wire
from client import Client, ClosedByBroker, Lost
from places import Api, segment
from script import ScriptError, expand
from transcript import Transcript, body_text

WAIT_SECONDS_MAX = 5
POLL_SECONDS = 0.015
STABLE_POLLS = 4
TOLD_SECONDS = 2.0  # Longer than the interval of RabbitMQ's statistics, see places.py.
POLICY_SECONDS = 0.06  # A broker may apply a policy to its queues after its response.

# Short names of the arguments of queues and exchanges.
ARGUMENTS = {"dlx": "x-dead-letter-exchange", "dlrk": "x-dead-letter-routing-key", "strategy": "x-dead-letter-strategy",
             "ttl": "x-message-ttl", "expires": "x-expires", "max-length": "x-max-length",
             "max-bytes": "x-max-length-bytes", "overflow": "x-overflow", "max-priority": "x-max-priority",
             "type": "x-queue-type", "limit": "x-delivery-limit", "alternate": "alternate-exchange"}
PROPERTY_KINDS = dict(wire.PROPERTIES)

VERBS = {}


def verb(name, flags=""):
    """Registers a method for a verb; flags are the words that may follow in any order."""
    def register(function):
        VERBS[name] = function, set(flags.split())
        return function
    return register


class Stage:
    """A worker's environment on a broker: a virtual host, an observer's connection and the HTTP API."""

    def __init__(self, place, worker):
        self.place, self.vhost = place, place.vhost(worker)
        self.observer = Client(place.broker.port, self.vhost)
        self.api = Api(place.broker.http_port)

    def perform(self, scenario):
        return Performance(self, scenario).run()

    def close(self):
        self.observer.close()
        self.api.close()

    def ready_count(self, queue):
        """Ready messages of a queue, or None if there is no such queue."""
        return self.stat(queue)[0]

    def stat(self, queue):
        try:
            _, messages, consumers = self.observer.call("queue.declare", 0, queue, True, False, False, False, False, [])
            return messages, consumers
        except ClosedByBroker as closed:
            if closed.code != 404:
                raise
            return None, None


class Performance:
    def __init__(self, stage, scenario):
        self.stage, self.scenario = stage, scenario
        self.transcript = Transcript(stage.vhost)
        self.clients = {}
        self.logins = {}
        self.queues, self.exchanges = {}, {}  # Used as ordered sets.
        self.policies = {}

    def run(self):
        try:
            for step in self.scenario.steps:
                self.perform(step)
        finally:
            self.clean_up()
        return self.transcript.lines

    def perform(self, step):
        self.transcript.add(f"> {step.line}", 0)
        if step.verb not in VERBS:
            raise ScriptError(f"{step.place}: no such step: {step.verb}")
        function, known_flags = VERBS[step.verb]
        words = [word for word in step.words if not (isinstance(word, str) and word in known_flags)]
        flags = {word for word in step.words if isinstance(word, str) and word in known_flags}
        try:
            function(self, step, words, flags)
        except ClosedByBroker as closed:
            self.transcript.add(f"{closed.scope} closed {closed.code} {closed.reason}")
        except Lost as lost:
            self.transcript.add(f"! {lost}")
            self.clients.pop(step.session, None)
        except (TypeError, ValueError, IndexError, KeyError) as error:
            raise ScriptError(f"{step.place}: {step.line}: {error!r}") from error

    def client(self, step):
        if step.session not in self.clients:
            login = self.logins.get(step.session, ("guest", "guest"))
            self.clients[step.session] = Client(self.stage.place.broker.port, self.stage.vhost, *login)
        return self.clients[step.session]

    def clean_up(self):
        for client in self.clients.values():
            client.close()
        for kind, name in self.policies:
            self.stage.api.request("DELETE", self.api_path(kind, name))
        observer = self.stage.observer
        for name in self.queues:
            self.forgiving(lambda: observer.call("queue.delete", 0, name, False, False, False))
        for name in self.exchanges:
            self.forgiving(lambda: observer.call("exchange.delete", 0, name, False, False))

    @staticmethod
    def forgiving(action):
        try:
            action()
        except ClosedByBroker:
            pass

    def api_path(self, *parts):
        return "/api/" + "/".join(map(segment, (parts[0], self.stage.vhost) + parts[1:]))

    # --- definitions ---------------------------------------------------------------------------------

    @verb("queue", "transient exclusive auto-delete passive")
    def declare_queue(self, step, words, flags):
        name, = words
        self.queues[name] = True
        if name == "-":
            name = ""
        made = self.client(step).call("queue.declare", 0, name, "passive" in flags, "transient" not in flags,
                                      "exclusive" in flags, "auto-delete" in flags, False, arguments_of(step))
        self.queues[made[0]] = True
        label = f" {made[0]}" if made[0] != name else ""
        self.transcript.add(f"ok{label} messages {made[1]} consumers {made[2]}")

    @verb("exchange", "transient internal auto-delete passive")
    def declare_exchange(self, step, words, flags):
        name, kind = words
        self.exchanges[name] = True
        self.client(step).call("exchange.declare", 0, name, kind, "passive" in flags, "transient" not in flags,
                               "auto-delete" in flags, "internal" in flags, False, arguments_of(step))

    @verb("bind")
    def bind(self, step, words, _):
        queue, exchange, key = (words + [""])[:3]
        self.client(step).call("queue.bind", 0, queue, exchange, key, False, step.options)

    @verb("unbind")
    def unbind(self, step, words, _):
        queue, exchange, key = (words + [""])[:3]
        self.client(step).call("queue.unbind", 0, queue, exchange, key, step.options)

    @verb("bind-exchange")
    def bind_exchange(self, step, words, _):
        destination, source, key = (words + [""])[:3]
        self.client(step).call("exchange.bind", 0, destination, source, key, False, step.options)

    @verb("delete", "if-empty if-unused")
    def delete_queue(self, step, words, flags):
        name, = words
        client = self.client(step)
        count, = client.call("queue.delete", 0, name, "if-unused" in flags, "if-empty" in flags, False)
        self.show_events(client)  # Events before the reply; the next step shows the others.
        self.transcript.add(f"deleted, messages {count}")

    @verb("delete-over-http")
    def delete_queue_over_http(self, _, words, __):
        self.show_answer(*self.stage.api.request("DELETE", self.api_path("queues", words[0])))

    @verb("delete-exchange")
    def delete_exchange(self, step, words, _):
        self.client(step).call("exchange.delete", 0, words[0], False, False)

    @verb("purge")
    def purge(self, step, words, _):
        count, = self.client(step).call("queue.purge", 0, words[0], False)
        self.transcript.add(f"purged, messages {count}")

    # --- publishing ----------------------------------------------------------------------------------

    @verb("publish", "mandatory")
    def publish(self, step, words, flags):
        exchange, key, pattern = words
        client = self.client(step)
        client.ready()
        pad, properties = properties_of(step)
        for text in expand(pattern):
            body = wire.octets(text).ljust(pad, b".")
            client.publish(exchange, key, body, properties, "mandatory" in flags)
            if client.confirming:
                self.await_confirm(client, text)
        client.sync()
        self.show_events(client)

    @verb("send", "mandatory")
    def send(self, step, words, flags):
        """Publishes to a queue through the default exchange."""
        queue, pattern = words
        self.publish(step, ["", queue, pattern], flags)

    @verb("burst")
    def burst(self, step, words, _):
        """Publishes all messages without waiting for each confirm."""
        queue, pattern = words
        client = self.client(step)
        client.ready()
        pad, properties = properties_of(step)
        bodies = expand(pattern)
        for text in bodies:
            client.publish("", queue, wire.octets(text).ljust(pad, b"."), properties)
        client.sync()

    def await_confirm(self, client, text):
        """Waits for each confirm before the next publish, so that the confirm belongs to that message."""
        def told():
            return any(name in ("basic.ack", "basic.nack") for name, _ in client.events)
        if not client.read_until(told, WAIT_SECONDS_MAX):
            self.transcript.add(f"! no confirm of {text}")
        self.show_events(client, text)

    def show_events(self, client, text=""):
        while client.events:
            name, values = client.events.popleft()
            if name == "basic.return":
                self.transcript.message("returned", values)
            elif name == "basic.cancel":
                self.transcript.add(f"consumer {values[0]} cancelled")
            else:
                self.transcript.add(f"{text} {'confirmed' if name == 'basic.ack' else 'refused'}")

    @verb("confirm")
    def confirm_select(self, step, _, __):
        self.client(step).call("confirm.select", False)
        self.client(step).confirming = True

    @verb("tx")
    def tx_select(self, step, _, __):
        self.client(step).call("tx.select")

    @verb("commit")
    def tx_commit(self, step, _, __):
        self.client(step).call("tx.commit")

    @verb("rollback")
    def tx_rollback(self, step, _, __):
        self.client(step).call("tx.rollback")

    # --- consuming -----------------------------------------------------------------------------------

    @verb("get", "no-ack")
    def get(self, step, words, flags):
        """Waits for a message. If none arrives, the script is wrong."""
        queue, count = words[0], int(words[1]) if len(words) > 1 else 1
        for _ in range(count):
            message = self.poll(lambda: self.client(step).get(queue, "no-ack" in flags))
            self.show_got(step, queue, message, "!")

    @verb("get-now", "no-ack")
    def get_now(self, step, words, flags):
        self.show_got(step, words[0], self.client(step).get(words[0], "no-ack" in flags), "")

    def show_got(self, step, queue, message, mark):
        if message is None:
            self.transcript.add(f"{mark} {queue} is empty".strip())
            return
        self.client(step).unacked[message.body] = message.values[0]
        self.transcript.message("got", message)

    @verb("drain")
    def drain(self, step, words, _):
        """Waits for the number of messages and a moment longer, then shows all messages."""
        for message in self.all_messages(step, *words):
            self.transcript.message("got", message)

    @verb("order")
    def order(self, step, words, _):
        """Like `drain`, but shows only the bodies in order."""
        bodies = [body_text(message.body) for message in self.all_messages(step, *words)]
        self.transcript.add(f"{len(bodies)}: {' '.join(bodies)}")

    def all_messages(self, step, queue, count):
        self.await_count(queue, int(count))
        self.await_stillness()
        messages = []
        while (message := self.client(step).get(queue, True)) is not None:
            messages.append(message)
        return messages

    @verb("consume", "no-ack exclusive")
    def consume(self, step, words, flags):
        queue, tag = (words + [""])[:2]
        answer = self.client(step).call("basic.consume", 0, queue, tag, False, "no-ack" in flags, "exclusive" in flags,
                                        False, step.options)
        self.transcript.add(f"consumer {answer[0]}")

    @verb("cancel")
    def cancel(self, step, words, _):
        self.client(step).call("basic.cancel", words[0], False)

    @verb("qos")
    def qos(self, step, words, _):
        self.client(step).call("basic.qos", 0, int(words[0]), False)

    @verb("deliveries")
    def deliveries(self, step, words, _):
        """Waits for the number of deliveries to the session's consumers and a moment longer, then shows them."""
        client, count = self.client(step), int(words[0])
        client.ready()
        if not client.read_until(lambda: len(client.deliveries) >= count, WAIT_SECONDS_MAX):
            self.transcript.add(f"! {len(client.deliveries)} deliveries came")
        self.await_stillness()
        client.sync()
        while client.deliveries:
            message = client.deliveries.popleft()
            client.unacked[message.body] = message.values[1]
            self.transcript.message("delivered", message)
        self.show_events(client)

    @verb("ack", "multiple")
    def ack(self, step, words, flags):
        client = self.client(step)
        for tag in self.tags(client, words):
            client.send("basic.ack", tag, "multiple" in flags)
        client.sync()

    @verb("nack", "multiple requeue")
    def nack(self, step, words, flags):
        client = self.client(step)
        for tag in self.tags(client, words):
            client.send("basic.nack", tag, "multiple" in flags, "requeue" in flags)
        client.sync()

    @verb("reject", "requeue")
    def reject(self, step, words, flags):
        client = self.client(step)
        for tag in self.tags(client, words):
            client.send("basic.reject", tag, "requeue" in flags)
        client.sync()

    @staticmethod
    def tags(client, words):
        """Delivery tags: #7 is the tag itself, a body means its latest delivery, all means 0."""
        client.ready()
        for word in words:
            for text in expand(word):
                if text == "all":
                    yield 0
                elif text.startswith("#"):
                    yield int(text[1:])
                else:
                    yield known_tag(client, text)

    @verb("recover")
    def recover(self, step, _, __):
        self.client(step).call("basic.recover", True)

    # --- connections ---------------------------------------------------------------------------------

    @verb("login")
    def login(self, step, words, _):
        user, password = (words + words)[:2]
        self.logins[step.session] = user, password

    @verb("close-channel")
    def close_channel(self, step, _, __):
        self.client(step).close_channel()

    @verb("close")
    def close(self, step, _, __):
        self.client(step).close()

    @verb("drop")
    def drop(self, step, _, __):
        self.client(step).drop()

    # --- waiting and inspecting ----------------------------------------------------------------------

    def poll(self, look, seconds=WAIT_SECONDS_MAX):
        end = time.monotonic() + seconds
        while (found := look()) is None and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
        return found

    def await_count(self, queue, count):
        if not self.poll(lambda: self.stage.ready_count(queue) == count or None):
            self.transcript.add(f"! {queue} has {self.stage.ready_count(queue)} messages, not {count}")

    @verb("wait")
    def wait(self, step, words, _):
        """Waits until each queue has the number of ready messages."""
        for name, _, count in step.options:
            self.await_count(name, count)

    @verb("gone")
    def gone(self, _, words, __):
        """Waits until the queue does not exist. Uses HTTP, because a declare would keep an expiring queue alive."""
        path = self.api_path("queues", words[0])
        if not self.poll(lambda: self.stage.api.request("GET", path)[0] == 404 or None):
            self.transcript.add(f"! {words[0]} is still there")

    @verb("settle")
    def settle(self, *_):
        self.await_stillness()

    def await_stillness(self):
        """Waits until the message counts of all queues of the scenario are stable."""
        before, same = None, 0
        end = time.monotonic() + WAIT_SECONDS_MAX
        while same < STABLE_POLLS and time.monotonic() < end:
            now = [self.stage.stat(queue) for queue in self.queues if queue != "-"]
            same = same + 1 if now == before else 0
            before = now
            time.sleep(POLL_SECONDS)

    @verb("counts")
    def counts(self, _, words, __):
        self.await_stillness()
        for queue in words:
            messages, consumers = self.stage.stat(queue)
            self.transcript.add(f"{queue}: no such queue" if messages is None
                                else f"{queue}: messages {messages} consumers {consumers}")

    @verb("pause")
    def pause(self, step, words, _):
        """Sleeps for milliseconds. Only for checks that something does not happen within a time."""
        time.sleep(int(words[0]) / 1000)

    # --- HTTP ----------------------------------------------------------------------------------------

    @verb("policy")
    def policy(self, step, words, _):
        self.put_policy(step, "policies", *words)

    @verb("operator-policy")
    def operator_policy(self, step, words, _):
        self.put_policy(step, "operator-policies", *words)

    def put_policy(self, step, kind, name, pattern, definition):
        body = {"pattern": pattern, "definition": definition}
        body.update((key, content) for key, _, content in step.options)
        self.policies[kind, name] = True
        self.show_answer(*self.stage.api.request("PUT", self.api_path(kind, name), body))
        time.sleep(POLICY_SECONDS)

    @verb("clear-policy")
    def clear_policy(self, _, words, __):
        self.show_answer(*self.stage.api.request("DELETE", self.api_path("policies", words[0])))
        time.sleep(POLICY_SECONDS)

    @verb("clear-operator-policy")
    def clear_operator_policy(self, _, words, __):
        self.show_answer(*self.stage.api.request("DELETE", self.api_path("operator-policies", words[0])))
        time.sleep(POLICY_SECONDS)

    def show_answer(self, status, answer):
        self.transcript.add(str(status))
        if isinstance(answer, dict) and "reason" in answer:
            for line in str(answer["reason"]).splitlines():
                if line.strip():
                    self.transcript.add(line.strip(), 2)
        elif answer:
            self.transcript.add(json.dumps(answer, sort_keys=True), 2)

    @verb("show")
    def show(self, _, words, __):
        """Fields of a queue in the HTTP API, once they are stable."""
        path, before, since = self.api_path("queues", words[0]), None, time.monotonic()
        end = since + WAIT_SECONDS_MAX
        while time.monotonic() < min(end, since + TOLD_SECONDS):
            status, answer = self.stage.api.request("GET", path)
            told = [f"{field}: {told_field(answer, field)}" for field in words[1:]] if status == 200 else [str(status)]
            if told != before:
                before, since = told, time.monotonic()
            time.sleep(POLL_SECONDS)
        for line in before:
            self.transcript.add(line)

    @verb("show-policy")
    def show_policy(self, _, words, __):
        self.show_answer(*self.stage.api.request("GET", self.api_path("policies", words[0])))

    @verb("user")
    def user(self, _, words, __):
        """Creates a user whose password is its name, with these permissions: configure, write, read."""
        name, configure, write, read = words
        self.stage.api.request("PUT", f"/api/users/{segment(name)}", {"password": name, "tags": ""})
        self.stage.api.request("PUT", self.api_path("permissions", name),
                               {"configure": configure, "write": write, "read": read})


def known_tag(client, text):
    for body, tag in client.unacked.items():
        if wire.text(body).rstrip(".") == text:
            return tag
    raise Lost(f"no delivery of {text}")


def told_field(answer, field):
    """Normalizes a missing policy, which may be null, an empty name, an empty object or absent."""
    content = answer.get(field)
    return json.dumps(content, sort_keys=True) if content else "none"


def arguments_of(step):
    return [(ARGUMENTS.get(name, name), letter, content) for name, letter, content in step.options]


def properties_of(step):
    """The minimum length of the body, and the properties of a message."""
    pad, properties = 0, {}
    for name, _, content in step.options:
        if name == "pad":
            pad = content
        elif name not in PROPERTY_KINDS:
            raise ScriptError(f"{step.place}: no such property: {name}")
        else:
            properties[name] = str(content) if PROPERTY_KINDS[name] == "s" else content
    return pad, properties
