"""Definitions: export, import, and round trips."""
import json
import os
import tempfile

from brokers import BrokerError, Revenant
from exported_definitions import LISTS, lists_of
from world import Asked, case, contains, equal


def fill(world):
    world.put("/vhosts/defs", {"description": "a vhost", "tags": "a,b", "default_queue_type": "quorum"})
    world.put("/vhost-limits/defs/max-connections", {"value": 7}, status=204)
    world.put("/users/defs", {"password": "secret", "tags": "management,custom", "limits": {"max-channels": 3}})
    world.put("/users/defs-hash", {"password_hash": "", "tags": []})
    world.put("/permissions/defs/defs", {"configure": "^c", "write": "w", "read": ".*"})
    world.put("/topic-permissions/defs/defs", {"exchange": "amq.topic", "write": "^a", "read": "b$"})
    world.put("/global-parameters/defs", {"value": {"nested": [1, None, "x"]}})
    world.put("/operator-policies/defs/op", {"pattern": "^q", "definition": {"max-length": 100}, "priority": 2})
    world.put("/policies/defs/p", {"pattern": ".*", "definition": {"message-ttl": 60000}, "apply-to": "queues"})
    world.put("/exchanges/defs/x", {"type": "topic", "durable": True, "arguments": {"alternate-exchange": "amq.fanout"}})
    world.put("/exchanges/defs/inner", {"type": "headers", "auto_delete": True, "internal": True})
    world.put("/queues/defs/q", {"durable": True, "arguments": {"x-dead-letter-exchange": "x", "x-max-length": 10}})
    world.put("/queues/defs/quorum", {"durable": True, "arguments": {"x-queue-type": "quorum"}})
    world.put("/queues/defs/passing", {"auto_delete": True})
    for path, body in (("e/x/q/q", {"routing_key": "a.#"}), ("e/x/e/inner", {"routing_key": ""}),
                       ("e/inner/q/quorum", {"routing_key": "", "arguments": {"x-match": "any", "h": 1}})):
        equal(world.api("POST", "/bindings/defs/" + path, body).status, 201)


def wipe(world):
    for name in ("defs", "defs-hash"):
        world.delete(f"/users/{name}")
    world.delete("/vhosts/defs")
    world.delete("/global-parameters/defs")


@case
def an_export_has_the_shape_tools_know(world):  # management 4.26
    fill(world)
    with world.amqp("/") as connection:
        channel = connection.channel()
        channel.queue_declare("mine", exclusive=True)
        channel.queue_bind("mine", "amq.fanout")
        document = world.get("/definitions")
    for name in ("rabbit_version", "rabbitmq_version", "product_name", "product_version", "original_cluster_name",
                 "explanation"):
        equal(isinstance(document[name], str), True, name)
    equal(document["rabbitmq_definition_format"], "cluster")
    one = {name: document[name][0] for name in LISTS}
    equal(set(one["users"]), {"name", "password_hash", "hashing_algorithm", "tags", "limits"})
    equal(set(one["permissions"]), {"user", "vhost", "configure", "write", "read"})
    equal(set(one["topic_permissions"]), {"user", "vhost", "exchange", "write", "read"})
    equal(set(one["parameters"]), {"value", "vhost", "component", "name"})
    equal(set(one["policies"]), {"vhost", "name", "pattern", "apply-to", "definition", "priority"})
    equal(set(one["queues"]), {"name", "vhost", "type", "durable", "auto_delete", "arguments"})
    equal(set(one["exchanges"]), {"name", "vhost", "type", "durable", "auto_delete", "internal", "arguments"})
    equal(set(one["bindings"]), {"source", "vhost", "destination", "destination_type", "routing_key", "arguments"})
    vhost = [one for one in document["vhosts"] if one["name"] == "defs"][0]
    equal({"description", "tags", "metadata", "limits"} <= set(vhost), True)
    equal([queue["name"] for queue in document["queues"]], ["passing", "q", "quorum"])
    equal([exchange["name"] for exchange in document["exchanges"]], ["inner", "x"])
    equal(len(document["bindings"]), 3, "neither those of exclusive queues nor the implicit ones")
    wipe(world)


@case
def an_import_brings_everything_back(world):  # management 4.27, C.9
    fill(world)
    before = world.get("/definitions")
    wipe(world)
    equal("defs" in str(lists_of(world.get("/definitions"))["vhosts"]), False)
    equal(world.api("POST", "/definitions", before).status, 204)
    after = world.get("/definitions")
    equal(lists_of(after), lists_of(before))
    equal(world.get("/whoami", user="defs:secret")["tags"], ["management", "custom"])
    # A second import changes nothing, even if an existing object differs.
    before["queues"][0]["durable"] = not before["queues"][0]["durable"]
    equal(world.api("POST", "/definitions", before).status, 204)
    equal(lists_of(world.get("/definitions")), lists_of(after))
    world.restart()
    # Objects that are not durable do not survive the restart.
    kept = lists_of(after)
    kept["queues"] = [one for one in kept["queues"] if one["durable"]]
    kept["exchanges"] = [one for one in kept["exchanges"] if one["durable"]]
    kept["bindings"] = [one for one in kept["bindings"] if "inner" not in (one["source"], one["destination"])]
    equal(lists_of(world.get("/definitions")), kept)
    wipe(world)


@case
def one_vhost_by_itself(world):
    fill(world)
    document = world.get("/definitions/defs")
    equal(document["rabbitmq_definition_format"], "single_virtual_host")
    equal("users" in document or "vhosts" in document, False)
    equal("vhost" in document["queues"][0] or "vhost" in document["exchanges"][0], False)
    answer = world.api("GET", "/definitions/defs?download=v%22%0D%0Ax.json")
    equal(answer.headers["content-disposition"], 'attachment; filename="vx.json"')
    world.put("/vhosts/defs2")
    equal(world.api("POST", "/definitions/defs2", document).status, 204)
    copied = world.get("/definitions/defs2")
    for name in ("queues", "exchanges", "bindings"):
        equal(copied[name], document[name], name)
    equal([one["vhost"] for one in copied["policies"] + copied["parameters"]], ["defs2"] * 3)
    equal(world.api("GET", "/definitions/nov").json(), {"error": "bad_request", "reason": "vhost_not_found"})
    equal(world.api("POST", "/definitions/nov", {}).json(), {"error": "not_found", "reason": "vhost_not_found"})
    world.delete("/vhosts/defs2")
    wipe(world)


@case
def an_upload_by_a_form(world):
    def upload(fields, boundary="----x"):
        parts = "".join(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{content}\r\n'
                        for name, more, content in fields)
        return world.api("POST", "/definitions", (parts + f"--{boundary}--\r\n").encode(),
                         headers={"content-type": f"multipart/form-data; boundary={boundary}"})
    document = json.dumps({"queues": [{"name": "up", "vhost": "/", "durable": True, "auto_delete": False,
                                       "arguments": {}}]}, indent=1)
    file = ("file", '; filename="d.json"\r\nContent-Type: application/json', document)
    equal(upload([("other", "", "x"), file]).status, 204)
    equal(world.get("/queues/%2F/up")["durable"], True)
    world.delete("/queues/%2F/up")
    answer = upload([file, ("redirect", "", "/#/import-succeeded")])
    equal((answer.status, answer.headers["location"]), (303, "/#/import-succeeded"))
    equal(upload([("redirect", "", "//elsewhere"), file]).status, 204)
    equal(upload([("other", "", "x")]).json()["reason"], 'the form has no "file" field')
    for body in (b"", b"--", b"------x\r\n", b"------x\r\n\r\n", b"x" * 1000):
        answer = world.api("POST", "/definitions", body, headers={"content-type": "multipart/form-data; boundary=----x"})
        equal(answer.status, 400, repr(body))
    equal(world.api("POST", "/definitions", b"x", headers={"content-type": "multipart/form-data"}).status, 400)
    world.delete("/queues/%2F/up")


@case
def an_error_names_the_object(world):
    def refusal(document):
        answer = world.api("POST", "/definitions", document)
        equal(answer.status, 400, f"{document} {answer.body}")
        return answer.json()["reason"]
    queue = {"name": "a", "vhost": "/", "durable": True, "auto_delete": False, "arguments": {}}
    exchange = {"name": "e", "vhost": "/", "type": "nosuch", "durable": True, "arguments": {}}
    binding = {"source": "nox", "vhost": "/", "destination": "noq", "destination_type": "queue", "routing_key": "",
               "arguments": {}}
    permission = {"user": "nou", "vhost": "/", "configure": "", "write": "", "read": ""}
    for document, parts in (
            ({"queues": 5}, ['"queues" is not a list']), ({"queues": [5]}, ['"queues" contains an element that is not an object']),
            ({"queues": [{"vhost": "/"}]}, ["a queue has no name"]),
            ({"queues": [{"name": "a"}]}, ["a queue has no vhost", '"a"']),
            ({"queues": [{**queue, "vhost": "nov"}]}, ["queue 'a'", "Virtual host 'nov' does not exist"]),
            ({"queues": [{**queue, "arguments": {"x-max-length": "5"}}]}, ["queue 'a' in vhost '/'", "x-max-length"]),
            ({"queues": [{**queue, "type": "stream"}]}, ["queue 'a' in vhost '/'"]),
            ({"exchanges": [exchange]}, ["exchange 'e' in vhost '/'", "nosuch"]),
            ({"bindings": [binding]}, ["binding of exchange 'nox' to queue 'noq' in vhost '/'"]),
            ({"permissions": [permission]}, ["permissions of user 'nou' in vhost '/'", "does not exist"]),
            ({"permissions": [{**permission, "user": "guest", "read": "("}]}, ["guest", "invalid regexp"]),
            ({"users": [{"name": "u"}]}, ["user 'u'", "tags_not_present"]),
            ({"users": [{"name": "u", "tags": "", "password_hash": "%"}]}, ["user 'u'", "password hash"]),
            ({"vhosts": [{"name": ""}]}, ["virtual host ''", "empty"]),
            ({"vhosts": [{"name": "v", "default_queue_type": "stream"}]}, ["virtual host 'v'", "'stream'"]),
            ({"vhosts": [{"name": "v", "metadata": {"default_queue_type": "rabbit_stream_queue"}}]},
             ["virtual host 'v'", "'rabbit_stream_queue'"]),
            ({"policies": [{"name": "p", "vhost": "/", "pattern": "x", "definition": {"foo": 1}}]},
             ["policy 'p' in vhost '/'", "foo"]),
            ({"parameters": [{"name": "n", "vhost": "/", "component": "foo", "value": {}}]},
             ["foo parameter 'n' in vhost '/'", "component foo not found"]),
            ({"global_parameters": [{"name": "g"}]}, ["global parameter 'g'", "value is missing"])):
        for part in parts:
            contains(refusal(document), part)
    for body in (b"{", b"[]", b'{"queues":[', b"\xff", b"[" * 100000):
        equal(world.api("POST", "/definitions", body).status, 400, repr(body[:20]))
    equal(world.api("POST", "/definitions").status, 204)
    equal(world.get("/queues"), [])


@case
def an_export_of_rabbitmq_brings_its_own_exchanges(world):
    """RabbitMQ 4.3 exports amq.rabbitmq.log of the virtual host /, but clients must not declare such a name."""
    log = {"name": "amq.rabbitmq.log", "vhost": "/", "type": "topic", "durable": True, "auto_delete": False, "arguments": {}}
    queue = {"name": "logs", "vhost": "/", "type": "classic", "durable": True, "auto_delete": False,
             "arguments": {"x-queue-type": "classic"}}
    binding = {"source": "amq.rabbitmq.log", "vhost": "/", "destination": "logs", "destination_type": "queue",
               "routing_key": "error", "arguments": {}}
    document = {"rabbit_version": "4.3.6", "rabbitmq_version": "4.3.6", "exchanges": [log], "queues": [queue], "bindings": [binding]}
    equal(world.api("POST", "/definitions", document).status, 204)
    equal(world.get("/exchanges/%2F/amq.rabbitmq.log")["type"], "topic")
    equal(len(world.get("/bindings/%2F/e/amq.rabbitmq.log/q/logs")), 1)
    equal(world.api("PUT", "/exchanges/%2F/amq.other", {"type": "topic"}).status, 401)
    world.delete("/queues/%2F/logs")


@case
def ten_thousand_queues_are_imported_and_exported(world):
    queues = [{"name": f"many{number}", "vhost": "many", "durable": True, "auto_delete": False, "arguments": {}}
              for number in range(10_000)]
    bindings = [{"source": "amq.direct", "vhost": "many", "destination": queue["name"], "destination_type": "queue",
                 "routing_key": queue["name"], "arguments": {}} for queue in queues]
    answer = world.api("POST", "/definitions", {"vhosts": [{"name": "many"}], "queues": queues, "bindings": bindings})
    equal(answer.status, 204, answer.body)
    document = world.get("/definitions/many")
    equal((len(document["queues"]), len(document["bindings"])), (10_000, 10_000))
    world.delete("/vhosts/many")


@case
def definitions_are_loaded_at_the_start(world):
    fill(world)
    exported = world.get("/definitions")
    wipe(world)
    with tempfile.TemporaryDirectory() as directory:
        definitions = os.path.join(directory, "definitions.json")
        configuration = os.path.join(directory, "revenant.conf")
        with open(configuration, "w") as file:
            file.write(f"load_definitions = {definitions}\n")

        def start(document):
            with open(definitions, "w") as file:
                json.dump(document, file)
            broker = Revenant(world.broker.program, directory, ["--config", configuration])
            broker.start()
            return broker
        for _ in range(2):  # At the second startup, everything exists already.
            broker = start(exported)
            try:
                equal(lists_of(Asked(broker).get("/definitions")), lists_of(exported))
            finally:
                broker.stop()
        try:
            start({"queues": [{"name": "q", "vhost": "nov"}]}).stop()
            wrong = ""
        except BrokerError as error:
            wrong = str(error)
        contains(wrong, "queue 'q' in vhost 'nov'")


@case
def the_default_type_of_a_vhost_counts_over_http_as_well(world):
    world.put("/vhosts/dqt", {"default_queue_type": "quorum"})
    world.put("/queues/dqt/q", {"durable": True})
    world.put("/queues/dqt/classic", {"durable": True, "arguments": {"x-queue-type": "classic"}})
    world.put("/queues/dqt/passing", {"auto_delete": True})
    equal([queue["type"] for queue in world.get("/queues/dqt")], ["classic", "classic", "quorum"])
    world.delete("/vhosts/dqt")
