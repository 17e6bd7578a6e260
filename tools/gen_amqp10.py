#!/usr/bin/python3
"""Writes src/amqp10/codec/performatives.gen.h and .cc from the table of composite types below.

The table is that of the AMQP 1.0 standard. Run it after changing the table; with --check it writes nothing and fails
when the files are not what it would write.
"""
import argparse
import pathlib
import sys

# Types: the C++ type of a field, the call that reads it and the call that writes it. A raw value is not decoded; its
# user decodes it.
TYPES = {
    "boolean": ("bool", "boolean", "boolean"),
    "ubyte": ("std::uint8_t", "ubyte", "ubyte"),
    "ushort": ("std::uint16_t", "ushort", "ushort"),
    "uint": ("std::uint32_t", "uint", "uint"),
    "ulong": ("std::uint64_t", "ulong", "ulong"),
    "timestamp": ("std::int64_t", "timestamp", "timestamp"),
    "binary": ("std::string_view", "binary", "binary"),
    "string": ("std::string_view", "string", "string"),
    "symbol": ("std::string_view", "symbol", "symbol"),
    "raw": ("Raw", "raw", "raw"),
}

# After a name: ! for a mandatory field, =value for one with a default.
SOURCE = ["address raw", "durable uint =0", "expiry-policy symbol", "timeout uint =0", "dynamic boolean =false",
          "dynamic-node-properties raw"]
COMPOSITES = [
    (0x10, "amqp:open:list", "Open",
     ["container-id string !", "hostname string", "max-frame-size uint =4294967295", "channel-max ushort =65535",
      "idle-time-out uint", "outgoing-locales raw", "incoming-locales raw", "offered-capabilities raw",
      "desired-capabilities raw", "properties raw"]),
    (0x11, "amqp:begin:list", "Begin",
     ["remote-channel ushort", "next-outgoing-id uint !", "incoming-window uint !", "outgoing-window uint !",
      "handle-max uint =4294967295", "offered-capabilities raw", "desired-capabilities raw", "properties raw"]),
    (0x12, "amqp:attach:list", "Attach",
     ["name string !", "handle uint !", "role boolean !", "snd-settle-mode ubyte =2", "rcv-settle-mode ubyte =0",
      "source raw", "target raw", "unsettled raw", "incomplete-unsettled boolean =false", "initial-delivery-count uint",
      "max-message-size ulong", "offered-capabilities raw", "desired-capabilities raw", "properties raw"]),
    (0x13, "amqp:flow:list", "Flow",
     ["next-incoming-id uint", "incoming-window uint !", "next-outgoing-id uint !", "outgoing-window uint !",
      "handle uint", "delivery-count uint", "link-credit uint", "available uint", "drain boolean =false",
      "echo boolean =false", "properties raw"]),
    (0x14, "amqp:transfer:list", "Transfer",
     ["handle uint !", "delivery-id uint", "delivery-tag binary", "message-format uint", "settled boolean",
      "more boolean =false", "rcv-settle-mode ubyte", "state raw", "resume boolean =false", "aborted boolean =false",
      "batchable boolean =false"]),
    (0x15, "amqp:disposition:list", "Disposition",
     ["role boolean !", "first uint !", "last uint", "settled boolean =false", "state raw", "batchable boolean =false"]),
    (0x16, "amqp:detach:list", "Detach", ["handle uint !", "closed boolean =false", "error raw"]),
    (0x17, "amqp:end:list", "End", ["error raw"]),
    (0x18, "amqp:close:list", "Close", ["error raw"]),
    (0x1d, "amqp:error:list", "Error", ["condition symbol !", "description string", "info raw"]),
    (0x23, "amqp:received:list", "Received", ["section-number uint !", "section-offset ulong !"]),
    (0x24, "amqp:accepted:list", "Accepted", []),
    (0x25, "amqp:rejected:list", "Rejected", ["error raw"]),
    (0x26, "amqp:released:list", "Released", []),
    (0x27, "amqp:modified:list", "Modified",
     ["delivery-failed boolean =false", "undeliverable-here boolean =false", "message-annotations raw"]),
    (0x28, "amqp:source:list", "Source",
     SOURCE + ["distribution-mode symbol", "filter raw", "default-outcome raw", "outcomes raw", "capabilities raw"]),
    (0x29, "amqp:target:list", "Target", SOURCE + ["capabilities raw"]),
    (0x40, "amqp:sasl-mechanisms:list", "SaslMechanisms", ["sasl-server-mechanisms raw"]),
    (0x41, "amqp:sasl-init:list", "SaslInit", ["mechanism symbol !", "initial-response binary", "hostname string"]),
    (0x42, "amqp:sasl-challenge:list", "SaslChallenge", ["challenge binary !"]),
    (0x43, "amqp:sasl-response:list", "SaslResponse", ["response binary !"]),
    (0x44, "amqp:sasl-outcome:list", "SaslOutcome", ["code ubyte !", "additional-data binary"]),
    (0x70, "amqp:header:list", "Header",
     ["durable boolean =false", "priority ubyte", "ttl uint", "first-acquirer boolean =false",
      "delivery-count uint =0"]),
    (0x73, "amqp:properties:list", "Properties",
     ["message-id raw", "user-id binary", "to string", "subject string", "reply-to string", "correlation-id raw",
      "content-type symbol", "content-encoding symbol", "absolute-expiry-time timestamp", "creation-time timestamp",
      "group-id string", "group-sequence uint", "reply-to-group-id string"]),
]
# Descriptors of types that are not composite.
OTHERS = [(0x2b, "amqp:delete-on-close:list"), (0x30, "amqp:coordinator:list"),
          (0x71, "amqp:delivery-annotations:map"), (0x72, "amqp:message-annotations:map"),
          (0x74, "amqp:application-properties:map"), (0x75, "amqp:data:binary"), (0x76, "amqp:amqp-sequence:list"),
          (0x77, "amqp:amqp-value:*"), (0x78, "amqp:footer:map")]


class Field:
    def __init__(self, text):
        name, self.type, *rest = text.split()
        self.wire_name = name
        self.name = name.replace("-", "_")
        mark = rest[0] if rest else ""
        self.mandatory = mark == "!"
        self.default = mark[1:] if mark.startswith("=") else None
        self.cpp, self.read, self.write = TYPES[self.type]

    def optional(self):
        return not self.mandatory and self.default is None and self.type != "raw"

    def declaration(self):
        if self.type == "raw":
            return f"    Raw {self.name};\n"
        if self.optional():
            return f"    std::optional<{self.cpp}> {self.name};\n"
        zero = {"bool": "false", "std::string_view": ""}.get(self.cpp, "0")
        value = self.default if self.default is not None else zero
        return f"    {self.cpp} {self.name}{' = ' + value if value else ''};\n"

    def reading(self):
        if self.type == "raw":
            return f"        out.{self.name} = unless_null(in.raw());\n"
        if self.optional():
            return f"        out.{self.name} = in.{self.read}();\n"
        if self.mandatory:
            return f"        take(in, in.{self.read}(), out.{self.name});\n"
        return f"        out.{self.name} = in.{self.read}().value_or(out.{self.name});\n"

    def is_default(self):
        """The condition under which it may be omitted."""
        if self.mandatory:
            return "false"
        if self.type == "raw":
            return f"{self.name}.empty()"
        if self.optional():
            return f"!{self.name}"
        return {"false": f"!{self.name}"}.get(self.default, f"{self.name} == {self.default}")

    def writing(self):
        value = f"*{self.name}" if self.optional() else self.name
        if self.mandatory:
            return f"    out.{self.write}({value});\n"
        return f"    {self.is_default()} ? out.null() : out.{self.write}({value});\n"


WARNING = "// Written by tools/gen_amqp10.py; change the table there.\n"


def header():
    text = WARNING + '''#pragma once

#include "amqp10/codec/type_reader.h"
#include "amqp10/codec/type_writer.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace revenant::amqp10 {

// The fields of each in the order of the wire. Text and raw values stay in the bytes they were read from.
'''
    for code, symbol, name, fields in COMPOSITES:
        text += f"\nstruct {name} {{\n    static constexpr std::uint64_t descriptor_code = {code:#04x};\n"
        text += "".join(Field(field).declaration() for field in fields)
        text += f"    // Of a list's items; nothing if they are wrong.\n"
        text += f"    static std::optional<{name}> decode(const TypeReader::Items& items);\n"
        text += "    void encode(TypeWriter& out) const;\n};\n"
    return text + "\n}  // namespace revenant::amqp10\n"


def decoder(name, fields):
    if not fields:
        return (f"\nstd::optional<{name}> {name}::decode(const TypeReader::Items&) {{ return {name}{{}}; }}\n")
    text = f"\nstd::optional<{name}> {name}::decode(const TypeReader::Items& items) {{\n"
    text += f"    {name} out;\n    TypeReader in(items.bytes);\n    std::uint32_t left = items.count;\n"
    parsed = [Field(field) for field in fields]
    for field in parsed:
        if field.mandatory:
            text += "    if (left == 0) return std::nullopt;\n    left -= 1;\n"
            text += field.reading()[4:]
        else:
            text += "    if (left > 0) {\n        left -= 1;\n" + field.reading() + "    }\n"
    return text + "    if (left > 0 || in.failed() || !in.at_end()) return std::nullopt;\n    return out;\n}\n"


def encoder(code, name, fields):
    text = f"\nvoid {name}::encode(TypeWriter& out) const {{\n    out.descriptor(descriptor_code);\n"
    parsed = [Field(field) for field in fields]
    if not parsed:
        return text + "    out.datum(Datum::list({}));\n}\n"
    text += f"    std::uint32_t count = {len(parsed)};\n"
    # Trailing fields that are not set are omitted.
    for index in range(len(parsed) - 1, -1, -1):
        field = parsed[index]
        if field.mandatory:
            break
        text += f"    if (count == {index + 1} && {field.is_default()}) count = {index};\n"
    text += "    TypeWriter::Open list = out.begin_list();\n    list.count = count;\n"
    for index, field in enumerate(parsed):
        text += f"    if (count > {index}) {{\n    " + field.writing().rstrip("\n") + "\n    }\n"
    return text + "    out.end(list);\n}\n"


def source():
    text = WARNING + '''#include "amqp10/codec/performatives.gen.h"

#include "amqp10/codec/descriptors.h"

namespace revenant::amqp10 {
namespace {

Raw unless_null(Raw raw) { return raw == "\\x40" ? Raw{} : raw; }

template <typename Value>
void take(TypeReader& in, const std::optional<Value>& value, Value& field) {
    if (value) {
        field = *value;
    } else {
        in.fail();
    }
}

struct Named {
    std::string_view name;
    std::uint64_t code;
};
constexpr Named descriptors[] = {
'''
    named = sorted([(code, symbol) for code, symbol, _, _ in COMPOSITES] + OTHERS)
    text += "".join(f'    {{"{symbol}", {code:#04x}}},\n' for code, symbol in named)
    text += '''};

}  // namespace

std::optional<std::uint64_t> descriptor_named(std::string_view name) {
    for (const Named& one : descriptors) {
        if (one.name == name) return one.code;
    }
    return std::nullopt;
}
'''
    for code, _, name, fields in COMPOSITES:
        text += decoder(name, fields) + encoder(code, name, fields)
    return text + "\n}  // namespace revenant::amqp10\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    folder = pathlib.Path(__file__).resolve().parent.parent / "src" / "amqp10" / "codec"
    stale = []
    for name, text in (("performatives.gen.h", header()), ("performatives.gen.cc", source())):
        path = folder / name
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not check:
            path.write_text(text)
    if check and stale:
        print(f"not what the table says: {', '.join(stale)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
