"""Exchange of definitions with a real RabbitMQ. docs/compatibility.md lists intentional differences."""
import json
import os

from cases_definitions import fill
from exported_definitions import LISTS, lists_of
from world import ROOT, case, equal

def documented(names):
    with open(os.path.join(ROOT, "docs", "compatibility.md"), encoding="utf-8") as file:
        page = file.read()
    equal(sorted(name for name in names if f"`{name}`" not in page), [], "not in docs/compatibility.md")


# --- definitions ---


def comparable(document):
    """RabbitMQ 3.10 exports only the names of virtual hosts, and no type field of queues."""
    lists = lists_of(document)
    lists["vhosts"] = sorted(vhost["name"] for vhost in lists["vhosts"])
    for queue in lists["queues"]:
        queue.pop("type", None)
    lists["global_parameters"] = [one for one in lists["global_parameters"] if one["name"] != "internal_cluster_id"]
    for name in LISTS:
        if name != "vhosts":
            lists[name].sort(key=lambda one: json.dumps(one, sort_keys=True))
    return lists


def compare_lists(found, wanted):
    for name in LISTS:
        equal(found[name], wanted[name], name)


def wipe(asked):
    for path in ("/users/defs", "/users/defs-hash", "/vhosts/defs", "/global-parameters/defs"):
        equal(asked.api("DELETE", path).status in (204, 404), True, path)


@case
def definitions_of_rabbitmq_are_imported_and_exported_the_same(world):
    documented(["definitions-vhosts", "definitions-queue-type"])
    rabbitmq = world.rabbitmq()
    world.tidy()
    try:
        fill(rabbitmq)
        exported = rabbitmq.get("/definitions")
        equal(world.api("POST", "/definitions", exported).status, 204)
        compare_lists(comparable(world.get("/definitions")), comparable(exported))
        equal(world.get("/whoami", user="defs:secret")["name"], "defs")
        equal(world.get("/whoami")["name"], "guest")
    finally:
        wipe(rabbitmq)
        world.tidy()


@case
def rabbitmq_imports_definitions_and_exports_the_same(world):
    rabbitmq = world.rabbitmq()
    try:
        fill(world)
        exported = world.get("/definitions")
        answer = rabbitmq.api("POST", "/definitions", exported)
        equal((answer.status, answer.body), (204, b""))
        compare_lists(comparable(rabbitmq.get("/definitions")), comparable(exported))
        equal(rabbitmq.get("/whoami", user="defs:secret")["name"], "defs")
    finally:
        wipe(rabbitmq)
        wipe(world)
