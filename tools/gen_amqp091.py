#!/usr/bin/python3
"""Writes src/amqp091/codec/spec.gen.h and spec.gen.cc from the method table below.

The table is the AMQP 0-9-1 specification with RabbitMQ's extensions. Run it after changing the
table; with --check it writes nothing and fails when the files are not what it would write.
"""

import argparse
import pathlib
import sys

# Argument types: o octet, h uint16, w uint32, q uint64, b bit, s shortstr, L longstr, T table.
# The name "-" is a reserved argument: skipped when read, zero or empty when written.
TICKET = ("-", "h")
# connection.close and channel.close name the method that failed. The prefix keeps these fields apart
# from the class_id and method_id of the method itself.
CLOSE = [
    ("reply-code", "h"),
    ("reply-text", "s"),
    ("failing-class-id", "h"),
    ("failing-method-id", "h"),
]
TUNE = [("channel-max", "h"), ("frame-max", "w"), ("heartbeat", "h")]
EXCHANGE_BINDING = [
    TICKET,
    ("destination", "s"),
    ("source", "s"),
    ("routing-key", "s"),
    ("no-wait", "b"),
    ("arguments", "T"),
]
QUEUE_BINDING = [TICKET, ("queue", "s"), ("exchange", "s"), ("routing-key", "s")]

METHODS = [
    (10, 10, "connection.start", [("version-major", "o"), ("version-minor", "o"),
                                  ("server-properties", "T"), ("mechanisms", "L"),
                                  ("locales", "L")]),
    (10, 11, "connection.start-ok", [("client-properties", "T"), ("mechanism", "s"),
                                     ("response", "L"), ("locale", "s")]),
    (10, 20, "connection.secure", [("challenge", "L")]),
    (10, 21, "connection.secure-ok", [("response", "L")]),
    (10, 30, "connection.tune", TUNE),
    (10, 31, "connection.tune-ok", TUNE),
    (10, 40, "connection.open", [("virtual-host", "s"), ("-", "s"), ("-", "b")]),
    (10, 41, "connection.open-ok", [("-", "s")]),
    (10, 50, "connection.close", CLOSE),
    (10, 51, "connection.close-ok", []),
    (10, 60, "connection.blocked", [("reason", "s")]),
    (10, 61, "connection.unblocked", []),
    (10, 70, "connection.update-secret", [("new-secret", "L"), ("reason", "s")]),
    (10, 71, "connection.update-secret-ok", []),
    (20, 10, "channel.open", [("-", "s")]),
    (20, 11, "channel.open-ok", [("-", "L")]),
    (20, 20, "channel.flow", [("active", "b")]),
    (20, 21, "channel.flow-ok", [("active", "b")]),
    (20, 40, "channel.close", CLOSE),
    (20, 41, "channel.close-ok", []),
    (30, 10, "access.request", [("realm", "s"), ("exclusive", "b"), ("passive", "b"),
                                ("active", "b"), ("write", "b"), ("read", "b")]),
    (30, 11, "access.request-ok", [("ticket", "h")]),
    (40, 10, "exchange.declare", [TICKET, ("exchange", "s"), ("type", "s"), ("passive", "b"),
                                  ("durable", "b"), ("auto-delete", "b"), ("internal", "b"),
                                  ("no-wait", "b"), ("arguments", "T")]),
    (40, 11, "exchange.declare-ok", []),
    (40, 20, "exchange.delete", [TICKET, ("exchange", "s"), ("if-unused", "b"), ("no-wait", "b")]),
    (40, 21, "exchange.delete-ok", []),
    (40, 30, "exchange.bind", EXCHANGE_BINDING),
    (40, 31, "exchange.bind-ok", []),
    (40, 40, "exchange.unbind", EXCHANGE_BINDING),
    (40, 51, "exchange.unbind-ok", []),
    (50, 10, "queue.declare", [TICKET, ("queue", "s"), ("passive", "b"), ("durable", "b"),
                               ("exclusive", "b"), ("auto-delete", "b"), ("no-wait", "b"),
                               ("arguments", "T")]),
    (50, 11, "queue.declare-ok", [("queue", "s"), ("message-count", "w"),
                                  ("consumer-count", "w")]),
    (50, 20, "queue.bind", QUEUE_BINDING + [("no-wait", "b"), ("arguments", "T")]),
    (50, 21, "queue.bind-ok", []),
    (50, 30, "queue.purge", [TICKET, ("queue", "s"), ("no-wait", "b")]),
    (50, 31, "queue.purge-ok", [("message-count", "w")]),
    (50, 40, "queue.delete", [TICKET, ("queue", "s"), ("if-unused", "b"), ("if-empty", "b"),
                              ("no-wait", "b")]),
    (50, 41, "queue.delete-ok", [("message-count", "w")]),
    (50, 50, "queue.unbind", QUEUE_BINDING + [("arguments", "T")]),
    (50, 51, "queue.unbind-ok", []),
    (60, 10, "basic.qos", [("prefetch-size", "w"), ("prefetch-count", "h"), ("global", "b")]),
    (60, 11, "basic.qos-ok", []),
    (60, 20, "basic.consume", [TICKET, ("queue", "s"), ("consumer-tag", "s"), ("no-local", "b"),
                               ("no-ack", "b"), ("exclusive", "b"), ("no-wait", "b"),
                               ("arguments", "T")]),
    (60, 21, "basic.consume-ok", [("consumer-tag", "s")]),
    (60, 30, "basic.cancel", [("consumer-tag", "s"), ("no-wait", "b")]),
    (60, 31, "basic.cancel-ok", [("consumer-tag", "s")]),
    (60, 40, "basic.publish", [TICKET, ("exchange", "s"), ("routing-key", "s"),
                               ("mandatory", "b"), ("immediate", "b")]),
    (60, 50, "basic.return", [("reply-code", "h"), ("reply-text", "s"), ("exchange", "s"),
                              ("routing-key", "s")]),
    (60, 60, "basic.deliver", [("consumer-tag", "s"), ("delivery-tag", "q"),
                               ("redelivered", "b"), ("exchange", "s"), ("routing-key", "s")]),
    (60, 70, "basic.get", [TICKET, ("queue", "s"), ("no-ack", "b")]),
    (60, 71, "basic.get-ok", [("delivery-tag", "q"), ("redelivered", "b"), ("exchange", "s"),
                              ("routing-key", "s"), ("message-count", "w")]),
    (60, 72, "basic.get-empty", [("-", "s")]),
    (60, 80, "basic.ack", [("delivery-tag", "q"), ("multiple", "b")]),
    (60, 90, "basic.reject", [("delivery-tag", "q"), ("requeue", "b")]),
    (60, 100, "basic.recover-async", [("requeue", "b")]),
    (60, 110, "basic.recover", [("requeue", "b")]),
    (60, 111, "basic.recover-ok", []),
    (60, 120, "basic.nack", [("delivery-tag", "q"), ("multiple", "b"), ("requeue", "b")]),
    (85, 10, "confirm.select", [("no-wait", "b")]),
    (85, 11, "confirm.select-ok", []),
    (90, 10, "tx.select", []),
    (90, 11, "tx.select-ok", []),
    (90, 20, "tx.commit", []),
    (90, 21, "tx.commit-ok", []),
    (90, 30, "tx.rollback", []),
    (90, 31, "tx.rollback-ok", []),
]

CONTENT_METHODS = ["basic.publish", "basic.return", "basic.deliver", "basic.get-ok"]

# Code, name, and whether it closes the connection (hard) or only the channel.
REPLY_CODES = [
    (200, "success", False),
    (311, "content_too_large", False),
    (312, "no_route", False),
    (313, "no_consumers", False),
    (320, "connection_forced", True),
    (402, "invalid_path", True),
    (403, "access_refused", False),
    (404, "not_found", False),
    (405, "resource_locked", False),
    (406, "precondition_failed", False),
    (501, "frame_error", True),
    (502, "syntax_error", True),
    (503, "command_invalid", True),
    (504, "channel_error", True),
    (505, "unexpected_frame", True),
    (506, "resource_error", True),
    (530, "not_allowed", True),
    (540, "not_implemented", True),
    (541, "internal_error", True),
]

FIELD_TYPES = {
    "o": ("std::uint8_t", " = 0", "u8"),
    "h": ("std::uint16_t", " = 0", "u16"),
    "w": ("std::uint32_t", " = 0", "u32"),
    "q": ("std::uint64_t", " = 0", "u64"),
    "b": ("bool", " = false", None),
    "s": ("std::string_view", "", "short_string"),
    "L": ("std::string_view", "", "long_string"),
    "T": ("std::string_view", "", "long_string"),
}

HEADER_TOP = """\
// The methods and constants of AMQP 0-9-1. Written by tools/gen_amqp091.py: do not edit, change the
// table there and run it.
//
// Strings of a decoded method are views into the frame it came from. A table is the view of its raw
// body, without the four bytes of length, for decode_table or walk_table. Reserved arguments and
// tickets are skipped when read and zero when written.
//
// decode() expects the arguments of a method frame, behind its class and method id, and takes
// exactly these: as in RabbitMQ, bytes behind the last argument are a failure. Short strings must
// be valid UTF-8 (amqp091 1.12), except in methods with content, which RabbitMQ leaves unchecked
// for speed, so that routing keys of arbitrary bytes are in use.
#pragma once

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/result.h"
#include "base/utf8.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace revenant::amqp091 {

// amqp091 1.1
enum class FrameType : std::uint8_t {
    method = 1,
    header = 2,
    body = 3,
    heartbeat = 8,
};
constexpr std::uint8_t frame_end = 206;
// Type, channel, size and frame_end.
constexpr std::uint32_t frame_overhead_bytes = 8;
// No peer may negotiate less.
constexpr std::uint32_t frame_max_min = 4096;

// Why the arguments of a method could not be decoded; the first that applies, in this order.
enum class DecodeFailure : std::uint8_t {
    truncated,       // amqp091 12.4
    trailing_bytes,  // amqp091 12.4
    malformed_utf8,  // amqp091 1.12
};
"""

HEADER_KEYS = """
// Class and method id in one number, for switch.
constexpr std::uint32_t method_key(std::uint16_t class_id, std::uint16_t method_id) {
    return std::uint32_t{class_id} << 16 | method_id;
}
"""

SOURCE_TOP = """\
// Written by tools/gen_amqp091.py: do not edit, change the table there and run it.
#include "amqp091/codec/spec.gen.h"

namespace revenant::amqp091 {
"""


def struct_name(method):
    return "".join(word.capitalize() for word in method.replace(".", "-").split("-"))


def field_name(field):
    return field.replace("-", "_")


def pack(arguments):
    """Arguments as read: single (name, type), or a list of names for consecutive bits (1.2)."""
    packed = []
    for name, kind in arguments:
        if kind != "b":
            packed.append((name, kind))
        elif packed and isinstance(packed[-1], list) and len(packed[-1]) < 8:
            packed[-1].append(name)
        else:
            packed.append([name])
    return packed


def decode_lines(arguments):
    """The reading of every argument, in order."""
    for item in pack(arguments):
        if isinstance(item, tuple):
            name, kind = item
            read = f"in.{FIELD_TYPES[kind][2]}();"
            yield read if name == "-" else f"method.{field_name(name)} = {read}"
        elif item == ["-"]:
            yield "in.u8();"
        elif len(item) == 1:
            yield f"method.{field_name(item[0])} = (in.u8() & 1) != 0;"
        else:
            yield "const std::uint8_t bits = in.u8();"
            for index, name in enumerate(item):
                yield f"method.{field_name(name)} = (bits & {1 << index}) != 0;"


def encode_lines(arguments):
    """The writing of every argument, in order."""
    for item in pack(arguments):
        if isinstance(item, tuple):
            name, kind = item
            value = field_name(name)
            if name == "-":
                value = "{}" if kind in "sLT" else "0"
            yield f"out.{FIELD_TYPES[kind][2]}({value});"
        elif item == ["-"]:
            yield "out.u8(0);"
        elif len(item) == 1:
            yield f"out.u8({field_name(item[0])} ? 1 : 0);"
        else:
            yield "unsigned bits = 0;"
            for index, name in enumerate(item):
                yield f"if ({field_name(name)}) bits |= {1 << index};"
            yield "out.u8(static_cast<std::uint8_t>(bits));"


def struct_text(class_id, method_id, method, arguments):
    name = struct_name(method)
    used = [argument for argument in arguments if argument[0] != "-"]
    has_bits = any(isinstance(item, list) and len(item) > 1 for item in pack(arguments))
    assert sum(isinstance(item, list) for item in pack(arguments)) <= 1 or not has_bits, method
    lines = [
        "",
        f"// {method}",
        f"struct {name} {{",
        f"    static constexpr std::uint16_t class_id = {class_id};",
        f"    static constexpr std::uint16_t method_id = {method_id};",
        "    static constexpr std::uint32_t key = method_key(class_id, method_id);",
        "",
    ]
    for field, kind in used:
        cpp_type, default, _ = FIELD_TYPES[kind]
        lines.append(f"    {cpp_type} {field_name(field)}{default};")
    if used:
        lines.append("")
    checked = [] if method in CONTENT_METHODS else [f for f, kind in used if kind == "s"]
    lines.append(f"    static Result<{name}, DecodeFailure> decode(std::string_view arguments) {{")
    if not arguments:
        lines += [
            "        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};",
            f"        return {name}{{}};",
            "    }",
            "    void encode(ByteWriter&) const {}",
        ]
    else:
        variable = "method" if used else None
        lines.append("        ByteReader in(arguments);")
        if variable:
            lines.append(f"        {name} method;")
        lines += [f"        {line}" for line in decode_lines(arguments)]
        lines += [
            "        if (in.failed()) return Unexpected{DecodeFailure::truncated};",
            "        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};",
        ]
        for field in checked:
            condition = f"if (!is_utf8(method.{field_name(field)}))"
            line = f"        {condition} return Unexpected{{DecodeFailure::malformed_utf8}};"
            if len(line) <= 100:
                lines.append(line)
            else:
                lines += [f"        {condition}",
                          "            return Unexpected{DecodeFailure::malformed_utf8};"]
        lines += [f"        return {'method' if used else name + '{}'};", "    }"]
        writes = list(encode_lines(arguments))
        if len(writes) == 1:
            lines.append(f"    void encode(ByteWriter& out) const {{ {writes[0]} }}")
        else:
            lines.append("    void encode(ByteWriter& out) const {")
            lines += [f"        {line}" for line in writes]
            lines.append("    }")
    equality = f"    friend bool operator==(const {name}&, const {name}&) = default;"
    if len(equality) > 100:
        equality = equality.replace("&, const", "&,\n" + " " * 27 + "const")
    lines += [equality, "};"]
    return "\n".join(lines) + "\n"


def header_text():
    text = HEADER_TOP
    text += "\nenum class ReplyCode : std::uint16_t {\n"
    text += "".join(f"    {name} = {code},\n" for code, name, _ in REPLY_CODES)
    text += "};\n"
    text += "// The name in reply texts: NOT_FOUND. Empty for a number that is no reply code.\n"
    text += "std::string_view reply_name(ReplyCode code);\n"
    text += "// Whether the error closes the connection (amqp091 4.2) or the channel only (amqp091 4.1).\n"
    text += "constexpr bool is_hard(ReplyCode code) {\n    switch (code) {\n"
    text += "".join(f"        case ReplyCode::{name}:\n" for _, name, hard in REPLY_CODES if not hard)
    text += "            return false;\n        default:\n            return true;\n    }\n}\n"
    text += HEADER_KEYS
    text += "// basic.publish; empty for an unknown method.\n"
    text += "std::string_view method_name(std::uint16_t class_id, std::uint16_t method_id);\n"
    text += "".join(struct_text(*method) for method in METHODS)
    text += "\n// Whether a content header and body follow the method.\n"
    text += "constexpr bool has_content(std::uint16_t class_id, std::uint16_t method_id) {\n"
    text += "    switch (method_key(class_id, method_id)) {\n"
    text += "".join(f"        case {struct_name(name)}::key:\n" for name in CONTENT_METHODS)
    text += "            return true;\n        default:\n            return false;\n    }\n}\n"
    text += "\n// Every method, in the order of its key.\n"
    text += f"inline constexpr std::array<std::uint32_t, {len(METHODS)}> all_method_keys = {{\n"
    text += "".join(f"    {struct_name(method[2])}::key,\n" for method in METHODS)
    text += "};\n"
    text += """
// Calls visitor.template operator()<Method>() with the struct of that key; false if there is none.
template <typename Visitor>
bool with_method_type(std::uint32_t key, Visitor&& visitor) {
    switch (key) {
"""
    for method in METHODS:
        name = struct_name(method[2])
        text += f"        case {name}::key:\n"
        text += f"            visitor.template operator()<{name}>();\n"
        text += "            return true;\n"
    text += "        default:\n            return false;\n    }\n}\n"
    text += "\n}  // namespace revenant::amqp091\n"
    return text


def source_text():
    text = SOURCE_TOP
    text += "\nstd::string_view reply_name(ReplyCode code) {\n    switch (code) {\n"
    for _, name, _ in REPLY_CODES:
        text += f"        case ReplyCode::{name}:\n            return \"{name.upper()}\";\n"
    text += "    }\n    return {};\n}\n"
    text += "\nstd::string_view method_name(std::uint16_t class_id, std::uint16_t method_id) {\n"
    text += "    switch (method_key(class_id, method_id)) {\n"
    for _, _, name, _ in METHODS:
        text += f"        case {struct_name(name)}::key:\n            return \"{name}\";\n"
    text += "        default:\n            return {};\n    }\n}\n"
    text += "\n}  // namespace revenant::amqp091\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail when the files are stale")
    options = parser.parse_args()
    assert METHODS == sorted(METHODS, key=lambda method: method[:2])
    folder = pathlib.Path(__file__).resolve().parent.parent / "src" / "amqp091" / "codec"
    stale = []
    for name, text in (("spec.gen.h", header_text()), ("spec.gen.cc", source_text())):
        path = folder / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if options.check:
            stale.append(f"src/amqp091/codec/{name}")
        else:
            path.write_text(text, encoding="utf-8")
    if stale:
        sys.exit("stale, run tools/gen_amqp091.py: " + ", ".join(stale))


if __name__ == "__main__":
    main()
