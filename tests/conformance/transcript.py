"""The observations of a client, as lines of text. Values that differ from run to run are replaced by a description."""
import re
import time

import wire

TIME_TOLERANCE_SECONDS = 300
SHOWN_BODY_MAX = 40


class Transcript:
    def __init__(self, vhost):
        self.lines = []
        self.vhost = vhost

    def add(self, text, depth=1):
        self.lines.append(("  " * depth + self.plain(text)).rstrip())

    def plain(self, text):
        text = text.replace(self.vhost, "<vhost>")
        text = re.sub(r"amq\.gen-[\w-]+", "<generated>", text)
        text = re.sub(r"amq\.rabbitmq\.reply-to\.[\w+/=-]+\.[\w+/=-]+(?![\w.+/=-])", "<reply-to>", text)
        text = re.sub(r"amq\.rabbitmq\.reply-to\.[\w+/=-]+", "<reply-to of one part>", text)
        return re.sub(r"amq\.ctag-[\w-]+", "<tag>", text)

    def message(self, label, message, depth=1):
        """A delivery: its source, its properties in wire order, its headers with their types."""
        self.add(f"{label} {body_text(message.body)}", depth)
        for name, value in where(message):
            self.add(f"{name} {value}", depth + 1)
        for name, value in message.properties:
            if name == "headers":
                self.add("headers", depth + 1)
                self.table(value, depth + 2)
            else:
                self.add(f"property {name} {value}", depth + 1)

    def table(self, table, depth):
        for name, letter, content in table:
            self.value(name, letter, content, depth)

    def value(self, label, letter, content, depth):
        if letter == "F":
            self.add(f"{label} F", depth)
            self.table(content, depth + 1)
        elif letter == "A" and all(inner not in "FA" for inner, _ in content):
            self.add(f"{label} A [{', '.join(f'{inner} {shown(inner, value)}' for inner, value in content)}]", depth)
        elif letter == "A":
            self.add(f"{label} A", depth)
            for index, (inner, value) in enumerate(content):
                self.value(f"[{index}]", inner, value, depth + 1)
        else:
            self.add(f"{label} {letter} {shown(letter, content, label)}", depth)


def where(message):
    if message.method == "basic.deliver":
        tag, _, redelivered, exchange, key = message.values
        return [("consumer", tag), ("from", f'exchange "{exchange}" key "{key}" redelivered {str(redelivered).lower()}')]
    if message.method == "basic.get-ok":
        _, redelivered, exchange, key, left = message.values
        return [("from", f'exchange "{exchange}" key "{key}" redelivered {str(redelivered).lower()}'), ("left", left)]
    code, reason, exchange, key = message.values
    return [("because", f"{code} {reason}"), ("from", f'exchange "{exchange}" key "{key}"')]


def body_text(body):
    text = wire.text(body)
    return text if len(text) <= SHOWN_BODY_MAX else f"{text[:text.find('.') if '.' in text else 8]} ({len(body)} bytes)"


def shown(letter, content, label=""):
    if letter == "S":
        return f'"{content}"'
    if letter == "t":
        return str(content).lower()
    if letter == "T" and label == "time":
        return "<time>" if abs(content - time.time()) < TIME_TOLERANCE_SECONDS else str(content)
    return str(content)
