"""Exported definitions: selection by name, and a check that an import restores deleted objects."""
import json

from promises import Mismatch, equal

LISTS = ("users", "vhosts", "permissions", "topic_permissions", "parameters", "global_parameters", "policies",
         "queues", "exchanges", "bindings")


def in_order(rows):
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


def lists_of(document):
    """The lists in a fixed order, without the fields about the exporting node."""
    return {kind: in_order(document[kind]) for kind in LISTS}


def named(document, prefix):
    """The objects whose names start with the prefix; other tests may change the rest. A document of one virtual
    host has fewer lists."""
    fields = ("name", "user", "vhost", "source", "destination")
    found = {kind: in_order(row for row in document.get(kind, ())
                            if any(str(row.get(field)).startswith(prefix) for field in fields)) for kind in LISTS}
    return {kind: rows for kind, rows in found.items() if rows}


def comes_back(prefix, export, take_away, bring_back):
    """Exports, deletes and imports objects, checks that they are unchanged, and returns them."""
    document = export()
    before = named(document, prefix)
    if not before:
        raise Mismatch(f"nothing that begins with {prefix} is exported")
    take_away()
    equal(named(export(), prefix), {}, "after it was taken away")
    bring_back(document)
    equal(named(export(), prefix), before, "after the import")
    return before
