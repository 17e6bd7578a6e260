"""The AMQP 0-9-1 wire format: field values that keep their type letter and order, methods, properties, frames.

A value is a pair (letter, content); a table is a list of (name, letter, content). Client libraries convert both to
native types, which hides the differences that are compared here."""
import struct

FRAME_METHOD, FRAME_HEADER, FRAME_BODY, FRAME_HEARTBEAT, FRAME_END = 1, 2, 3, 8, 0xCE

# Type letters of field values with a fixed size, and their formats in the struct module.
FIXED = {"t": ">?", "b": ">b", "B": ">B", "s": ">h", "u": ">H", "I": ">i", "i": ">I", "l": ">q", "L": ">Q",
         "f": ">f", "d": ">d", "T": ">Q", "V": ""}

# o octet, h short, l long, q longlong, s short string, S long string, T table, b bit.
METHODS = {
    "connection.start": (10, 10, "ooTSS"), "connection.start-ok": (10, 11, "TsSs"),
    "connection.tune": (10, 30, "hlh"), "connection.tune-ok": (10, 31, "hlh"),
    "connection.open": (10, 40, "ssb"), "connection.open-ok": (10, 41, "s"),
    "connection.close": (10, 50, "hshh"), "connection.close-ok": (10, 51, ""),
    "channel.open": (20, 10, "s"), "channel.open-ok": (20, 11, "S"),
    "channel.flow": (20, 20, "b"), "channel.flow-ok": (20, 21, "b"),
    "channel.close": (20, 40, "hshh"), "channel.close-ok": (20, 41, ""),
    "exchange.declare": (40, 10, "hssbbbbbT"), "exchange.declare-ok": (40, 11, ""),
    "exchange.delete": (40, 20, "hsbb"), "exchange.delete-ok": (40, 21, ""),
    "exchange.bind": (40, 30, "hsssbT"), "exchange.bind-ok": (40, 31, ""),
    "exchange.unbind": (40, 40, "hsssbT"), "exchange.unbind-ok": (40, 51, ""),
    "queue.declare": (50, 10, "hsbbbbbT"), "queue.declare-ok": (50, 11, "sll"),
    "queue.bind": (50, 20, "hsssbT"), "queue.bind-ok": (50, 21, ""),
    "queue.purge": (50, 30, "hsb"), "queue.purge-ok": (50, 31, "l"),
    "queue.delete": (50, 40, "hsbbb"), "queue.delete-ok": (50, 41, "l"),
    "queue.unbind": (50, 50, "hsssT"), "queue.unbind-ok": (50, 51, ""),
    "basic.qos": (60, 10, "lhb"), "basic.qos-ok": (60, 11, ""),
    "basic.consume": (60, 20, "hssbbbbT"), "basic.consume-ok": (60, 21, "s"),
    "basic.cancel": (60, 30, "sb"), "basic.cancel-ok": (60, 31, "s"),
    "basic.publish": (60, 40, "hssbb"), "basic.return": (60, 50, "hsss"),
    "basic.deliver": (60, 60, "sqbss"), "basic.get": (60, 70, "hsb"),
    "basic.get-ok": (60, 71, "qbssl"), "basic.get-empty": (60, 72, "s"),
    "basic.ack": (60, 80, "qb"), "basic.reject": (60, 90, "qb"),
    "basic.recover": (60, 110, "b"), "basic.recover-ok": (60, 111, ""),
    "basic.nack": (60, 120, "qbb"),
    "confirm.select": (85, 10, "b"), "confirm.select-ok": (85, 11, ""),
    "tx.select": (90, 10, ""), "tx.select-ok": (90, 11, ""),
    "tx.commit": (90, 20, ""), "tx.commit-ok": (90, 21, ""),
    "tx.rollback": (90, 30, ""), "tx.rollback-ok": (90, 31, ""),
}
NAMES = {(class_id, method_id): name for name, (class_id, method_id, _) in METHODS.items()}

# In the order of their flags, highest bit first.
PROPERTIES = (("content-type", "s"), ("content-encoding", "s"), ("headers", "T"), ("delivery-mode", "o"),
              ("priority", "o"), ("correlation-id", "s"), ("reply-to", "s"), ("expiration", "s"),
              ("message-id", "s"), ("timestamp", "q"), ("type", "s"), ("user-id", "s"), ("app-id", "s"),
              ("cluster-id", "s"))
NUMBERS = {"o": ">B", "h": ">H", "l": ">I", "q": ">Q"}


class WireError(Exception):
    pass


def octets(text):
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def text(data):
    return data.decode("utf-8", "surrogateescape")


def encode_value(letter, content):
    if letter in FIXED:
        return struct.pack(FIXED[letter], *([] if letter == "V" else [content]))
    if letter == "D":
        return struct.pack(">BI", *content)
    if letter in "Sx":
        data = octets(content)
    elif letter == "A":
        data = b"".join(octets(inner) + encode_value(inner, value) for inner, value in content)
    elif letter == "F":
        return encode_table(content)
    else:
        raise WireError(f"no field value has the letter {letter!r}")
    return struct.pack(">I", len(data)) + data


def encode_table(table):
    data = b"".join(short_string(name) + octets(letter) + encode_value(letter, content)
                    for name, letter, content in table)
    return struct.pack(">I", len(data)) + data


def short_string(string):
    data = octets(string)
    return struct.pack(">B", len(data)) + data


def encode_fields(layout, values):
    """Encodes the fields of a method or of properties; consecutive bits share octets."""
    out, bits = bytearray(), []

    def flush():
        for start in range(0, len(bits), 8):
            out.append(sum(1 << place for place, bit in enumerate(bits[start:start + 8]) if bit))
        bits.clear()

    for kind, value in zip(layout, values, strict=True):
        if kind == "b":
            bits.append(value)
            continue
        flush()
        if kind in NUMBERS:
            out += struct.pack(NUMBERS[kind], value)
        elif kind == "s":
            out += short_string(value)
        elif kind == "S":
            out += struct.pack(">I", len(octets(value))) + octets(value)
        else:
            out += encode_table(value)
    flush()
    return bytes(out)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise WireError("a field reaches beyond its frame")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, layout):
        return struct.unpack(layout, self.take(struct.calcsize(layout)))[0]

    def long_string(self):
        return self.take(self.number(">I"))

    def short_string(self):
        return text(self.take(self.number(">B")))

    def value(self):
        letter = text(self.take(1))
        if letter == "V":
            return letter, None
        if letter in FIXED:
            return letter, self.number(FIXED[letter])
        if letter == "D":
            return letter, (self.number(">B"), self.number(">I"))
        if letter in "Sx":
            return letter, text(self.long_string())
        if letter == "A":
            inner = Reader(self.long_string())
            items = []
            while inner.at < len(inner.data):
                items.append(inner.value())
            return letter, items
        if letter == "F":
            return letter, self.table()
        raise WireError(f"unknown letter of a field value: {letter!r}")

    def table(self):
        inner = Reader(self.long_string())
        fields = []
        while inner.at < len(inner.data):
            name = inner.short_string()
            fields.append((name, *inner.value()))
        return fields

    def fields(self, layout):
        values, bits, used = [], 0, 8
        for kind in layout:
            if kind == "b":
                if used == 8:
                    bits, used = self.number(">B"), 0
                values.append(bool(bits >> used & 1))
                used += 1
                continue
            used = 8
            if kind in NUMBERS:
                values.append(self.number(NUMBERS[kind]))
            elif kind == "s":
                values.append(self.short_string())
            elif kind == "S":
                values.append(text(self.long_string()))
            else:
                values.append(self.table())
        return values


def encode_method(name, values):
    class_id, method_id, layout = METHODS[name]
    return struct.pack(">HH", class_id, method_id) + encode_fields(layout, values)


def decode_method(payload):
    reader = Reader(payload)
    ids = reader.number(">H"), reader.number(">H")
    if ids not in NAMES:
        raise WireError(f"unknown method {ids}")
    return NAMES[ids], reader.fields(METHODS[NAMES[ids]][2])


def encode_header(body_size, properties):
    flags, layout, values = 0, "", []
    for place, (name, kind) in enumerate(PROPERTIES):
        if name in properties:
            flags |= 1 << (15 - place)
            layout += kind
            values.append(properties[name])
    return struct.pack(">HHQH", 60, 0, body_size, flags) + encode_fields(layout, values)


def decode_header(payload):
    """The size of the body, and the properties as a list in wire order."""
    reader = Reader(payload)
    reader.number(">I")
    size, flags = reader.number(">Q"), reader.number(">H")
    present = [PROPERTIES[place] for place in range(14) if flags >> (15 - place) & 1]
    return size, list(zip((name for name, _ in present), reader.fields("".join(kind for _, kind in present))))


def frame(kind, channel, payload):
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + bytes([FRAME_END])
