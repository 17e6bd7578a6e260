"""A blocking AMQP 0-9-1 client with one channel that records everything it receives."""
import collections
import socket
import struct
import time

import wire

ANSWER_SECONDS_MAX = 15
BODY_FRAME_MAX = 100_000

Message = collections.namedtuple("Message", "method values properties body")


class ClosedByBroker(Exception):
    """The broker closed the channel or the connection."""

    def __init__(self, scope, code, reason):
        super().__init__(f"{scope} closed {code} {reason}")
        self.scope, self.code, self.reason = scope, code, reason


class Lost(Exception):
    """The socket was closed or no reply arrived."""


class Client:
    def __init__(self, port, vhost, user="guest", password="guest"):
        self.where = port, vhost, user, password
        self.socket = None
        self.channel_open = False
        self.forget_channel()

    def forget_channel(self):
        self.deliveries = collections.deque()  # Messages of basic.deliver that are not consumed yet.
        self.events = collections.deque()  # basic.return, basic.ack, basic.nack, basic.cancel.
        self.pending = None  # A message whose body is incomplete.
        self.answers = collections.deque()
        self.published = 0
        self.confirming = False
        self.unacked = {}  # Body to delivery tag of its latest delivery.

    # --- the connection ------------------------------------------------------------------------------

    def open(self):
        port, vhost, user, password = self.where
        self.buffer = b""
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS_MAX)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(b"AMQP\x00\x00\x09\x01")
        self.await_answer("connection.start", 0)
        capabilities = [(name, "t", True) for name in ("publisher_confirms", "basic.nack", "consumer_cancel_notify",
                                                       "exchange_exchange_bindings", "authentication_failure_close")]
        self.send("connection.start-ok", [("capabilities", "F", capabilities)], "PLAIN",
                  f"\0{user}\0{password}", "en_US", channel=0)
        self.await_answer("connection.tune", 0)
        self.send("connection.tune-ok", 2047, 131072, 0, channel=0)
        self.send("connection.open", vhost, "", False, channel=0)
        self.await_answer("connection.open-ok", 0)

    def ready(self):
        """Opens the connection and the channel if they are closed."""
        if self.socket is None:
            self.open()
            self.channel_open = False
        if not self.channel_open:
            self.forget_channel()
            self.send("channel.open", "")
            self.await_answer("channel.open-ok", 1)
            self.channel_open = True

    def drop(self):
        """Closes the socket without connection.close."""
        if self.socket is not None:
            self.socket.close()
        self.socket, self.channel_open = None, False

    def close(self):
        if self.socket is None:
            return
        try:
            self.send("connection.close", 200, "", 0, 0, channel=0)
            self.await_answer("connection.close-ok", 0)
        except (OSError, Lost, ClosedByBroker):
            pass
        self.drop()

    def close_channel(self):
        self.send("channel.close", 200, "", 0, 0)
        self.await_answer("channel.close-ok", 1)
        self.channel_open = False

    # --- sending -------------------------------------------------------------------------------------

    def send(self, name, *values, channel=1):
        self.write(wire.frame(wire.FRAME_METHOD, channel, wire.encode_method(name, values)))

    def write(self, data):
        try:
            self.socket.sendall(data)
        except OSError as error:
            # The broker may have sent a reason before it closed the socket.
            self.read_what_is_there()
            raise Lost(f"writing failed: {error}") from error

    def call(self, name, *values):
        """The values of the reply."""
        self.ready()
        self.send(name, *values)
        return self.await_answer(f"{name}-ok", 1)

    def publish(self, exchange, key, body, properties, mandatory=False):
        self.ready()
        method = wire.encode_method("basic.publish", (0, exchange, key, mandatory, False))
        frames = [wire.frame(wire.FRAME_METHOD, 1, method),
                  wire.frame(wire.FRAME_HEADER, 1, wire.encode_header(len(body), properties))]
        for start in range(0, len(body), BODY_FRAME_MAX):
            frames.append(wire.frame(wire.FRAME_BODY, 1, body[start:start + BODY_FRAME_MAX]))
        self.write(b"".join(frames))
        self.published += 1

    def get(self, queue, no_ack):
        """A message, or None."""
        self.ready()
        self.send("basic.get", 0, queue, no_ack)
        answer = self.await_answer(("basic.get-ok", "basic.get-empty"), 1)
        return answer if isinstance(answer, Message) else None

    def sync(self):
        """Returns when the broker has processed everything sent before."""
        self.call("channel.flow", True)

    # --- receiving -----------------------------------------------------------------------------------

    def await_answer(self, names, channel):
        names = (names,) if isinstance(names, str) else names
        end = time.monotonic() + ANSWER_SECONDS_MAX
        while True:
            while self.answers:
                on, name, answer = self.answers.popleft()
                if on == channel and name in names:
                    return answer
                raise wire.WireError(f"expected {names} on channel {channel}, got {name} on {on}")
            if not self.receive(end - time.monotonic()):
                raise Lost(f"no answer {' or '.join(names)}")

    def read_until(self, condition, seconds):
        """Whether the condition became true in time."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() >= end:
                return False
            self.receive(end - time.monotonic())
        return True

    def read_what_is_there(self):
        try:
            while self.receive(0.0):
                pass
        except OSError:
            pass

    def receive(self, seconds):
        """Handles one frame; returns whether there was one."""
        while not self.whole_frame():
            self.socket.settimeout(max(seconds, 0.0005))
            try:
                data = self.socket.recv(262144)
            except (TimeoutError, BlockingIOError):
                return False
            except OSError as error:
                self.drop()
                raise Lost(f"connection lost: {error.strerror}") from error
            finally:
                if self.socket is not None:
                    self.socket.settimeout(ANSWER_SECONDS_MAX)
            if not data:
                self.drop()
                raise Lost("connection lost: end of stream")
            self.buffer += data
        kind, channel, size = struct.unpack(">BHI", self.buffer[:7])
        payload, self.buffer = self.buffer[7:7 + size], self.buffer[8 + size:]
        self.take_frame(kind, channel, payload)
        return True

    def whole_frame(self):
        return len(self.buffer) >= 7 and len(self.buffer) >= 8 + struct.unpack(">I", self.buffer[3:7])[0]

    def take_frame(self, kind, channel, payload):
        if kind == wire.FRAME_METHOD:
            self.take_method(channel, *wire.decode_method(payload))
        elif kind == wire.FRAME_HEADER:
            size, properties = wire.decode_header(payload)
            self.pending = (*self.pending, size, properties, [])
            self.take_body(b"")
        elif kind == wire.FRAME_BODY:
            self.take_body(payload)

    def take_method(self, channel, name, values):
        if name in ("channel.close", "connection.close"):
            self.closed_by_broker(name, *values)
        elif name in ("basic.deliver", "basic.get-ok", "basic.return"):
            self.pending = (name, values)
        elif name in ("basic.ack", "basic.nack", "basic.cancel"):
            self.events.append((name, values))
        elif channel == 0 and name == "connection.close-ok":
            self.answers.append((0, name, values))
        elif self.channel_open or channel == 0 or name == "channel.open-ok":
            self.answers.append((channel, name, values))

    def take_body(self, data):
        name, values, size, properties, parts = self.pending
        parts.append(data)
        if sum(map(len, parts)) < size:
            return
        self.pending = None
        message = Message(name, values, properties, b"".join(parts))
        if name == "basic.deliver":
            self.deliveries.append(message)
        elif name == "basic.return":
            self.events.append((name, message))
        else:
            self.answers.append((1, name, message))

    def closed_by_broker(self, name, code, reason, class_id, method_id):
        scope = name.split(".")[0]
        if scope == "channel":
            self.send("channel.close-ok")
            self.channel_open = False
        else:
            try:
                self.send("connection.close-ok", channel=0)
            except Lost:
                pass
            self.drop()
        raise ClosedByBroker(scope, code, reason)
