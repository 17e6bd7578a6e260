"""Definitions, as all tools export and import them: which of them are whose, and that an import undoes a loss."""
import json

from promises import Mismatch, equal

LISTS = ("users", "vhosts", "permissions", "topic_permissions", "parameters", "global_parameters", "policies",
         "queues", "exchanges", "bindings")


def in_order(rows):
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


def lists_of(document):
    """Without what names the exporting node, and in an order of its own."""
    return {kind: in_order(document[kind]) for kind in LISTS}


def named(document, prefix):
    """All whose names begin so: others may come and go meanwhile. A document of one vhost has fewer lists."""
    fields = ("name", "user", "vhost", "source", "destination")
    found = {kind: in_order(row for row in document.get(kind, ())
                            if any(str(row.get(field)).startswith(prefix) for field in fields)) for kind in LISTS}
    return {kind: rows for kind, rows in found.items() if rows}


def comes_back(prefix, export, take_away, bring_back):
    """What is exported, taken away and imported is there again as it was, and that is returned."""
    document = export()
    before = named(document, prefix)
    if not before:
        raise Mismatch(f"nothing that begins with {prefix} is exported")
    take_away()
    equal(named(export(), prefix), {}, "after it was taken away")
    bring_back(document)
    equal(named(export(), prefix), before, "after the import")
    return before
