"""Policies and operator policies: setting, clearing, permissions, and the fields of queues and exchanges."""
from world import case, contains, equal

DLX = {"pattern": "^pq", "definition": {"dead-letter-exchange": "dlx"}}
NO_OBJECT = "User not authorised to access object"


def columns(world, path, *names):
    found = world.get(f"{path}?columns={','.join(names)}")
    return tuple(found[name] for name in names)


def policy_of(world, queue):
    return columns(world, f"/queues/%2F/{queue}", "policy", "operator_policy", "effective_policy_definition")


@case
def policies_come_and_go(world):
    for kind in ("policies", "operator-policies"):
        one = f"/{kind}/%2F/p%2F1"
        body = {"pattern": "^pq", "definition": {"max-length": 5}}
        world.put(one, body)
        defaults = {"vhost": "/", "name": "p/1", **body, "apply-to": "all", "priority": 0}
        equal(world.get(one), defaults)
        full = {"pattern": "x", "definition": {"message-ttl": 7, "overflow": "drop-head"}, "apply-to": "quorum_queues",
                "priority": -3}
        world.put(one, full, status=204)
        equal(world.get(one), {**defaults, **full})
        equal(world.get(f"/{kind}"), [{**defaults, **full}])
        equal(world.get(f"/{kind}/%2F"), [{**defaults, **full}])
        world.delete(one)
        world.delete(one, status=404)
        equal(world.api("GET", one).json(), {"error": "Object Not Found", "reason": "Not Found"})
        equal(world.get(f"/{kind}"), [])


@case
def policies_are_listed_by_priority(world):
    for name, priority in (("a", 5), ("b", -1), ("c", 0), ("d", -1)):
        world.put(f"/policies/%2F/{name}", {**DLX, "priority": priority})
    equal([policy["name"] for policy in world.get("/policies/%2F")], ["b", "d", "c", "a"])
    equal([policy["name"] for policy in world.get("/policies?sort=name&sort_reverse=true&columns=name")],
          ["d", "c", "b", "a"])
    for name in "abcd":
        world.delete(f"/policies/%2F/{name}")


@case
def mistakes_in_policies_are_named(world):  # management 4.13, C.7
    def reason(body, kind="policies"):
        return world.put(f"/{kind}/%2F/wrong", body, status=400).json()["reason"]

    def fault(kind="policies", **fields):
        text = reason({"pattern": "", "definition": {"max-length": 1}, **fields}, kind)
        equal((text[:19], text[-1]), ("Validation failed\n\n", "\n"))
        return text[19:-1]
    equal(reason({}), "[{key_missing,pattern},{key_missing,definition}]")
    equal(reason({"pattern": ""}), "[{key_missing,definition}]")
    equal(reason(b"nojson"), "not_json")
    equal(fault(definition={}), "no policy provided")
    equal(fault(definition=[]), "no policy provided")
    equal(fault(definition="x"), 'definition must be a dictionary: <<"x">>')
    equal(fault(definition=[{"a": True}]), 'definition must be a dictionary: [#{<<"a">> => true}]')
    equal(fault(definition={"foo": 1}), '[{<<"foo">>,1}] are not recognised policy settings')
    equal(fault(definition={"message-ttl": -1}), "-1 is not a valid message TTL")
    equal(fault(definition={"message-ttl": "5"}), '<<"5">> is not a valid message TTL')
    equal(fault(definition={"dead-letter-exchange": 5}), "5 is not a valid dead letter exchange name")
    equal(fault(definition={"overflow": "x"}), '<<"x">> is not a valid overflow value')
    for key, meaning in (("expires", "queue expiry"), ("message-ttl", "message TTL"),
                         ("delayed-retry-min", "delayed retry min"), ("delayed-retry-max", "delayed retry max")):
        for kind in ("policies", "operator-policies"):
            for number in (315360000001, 2 ** 63 - 1):
                equal(fault(kind, definition={key: number}), f"{number} is not a valid {meaning}: at most 315360000000")
    equal(fault(pattern=5), "pattern should be a binary but was 5")
    contains(fault(pattern="("), "pattern should be regular expression but is invalid: ")
    equal(fault(priority="x"), 'priority should be a number, actually was <<"x">>')
    equal(fault(priority=1.5), "priority should be a number, actually was 1.5E0")
    equal(fault(priority=None), "priority should be a number, actually was null")
    contains(fault(**{"apply-to": "x"}), "apply-to 'x' unrecognised; should be one of: 'queues', ")
    contains(fault(**{"apply-to": 5}), "apply-to '5' unrecognised")
    contains(fault("operator-policies", definition=DLX["definition"]), '[{<<"dead-letter-exchange">>,<<"dlx">>}] are not')
    equal(world.put("/policies/%2F/wrong", {**DLX, "definition": {"max-length": 2 ** 63}}, status=400).status, 400)
    equal(world.get("/policies") + world.get("/operator-policies"), [])
    world.put("/policies/%2F/whole", {**DLX, "priority": 2.0, "unknown": 1})
    equal(world.get("/policies/%2F/whole")["priority"], 2)
    world.delete("/policies/%2F/whole")


@case
def policies_need_their_roles(world):
    world.put("/vhosts/roles")
    for role in ("management", "policymaker", "monitoring"):
        world.api("PUT", f"/users/{role}-p", {"password": "p", "tags": role})
    for role in ("management", "policymaker"):
        world.put(f"/permissions/roles/{role}-p", {"configure": "", "write": "", "read": ""})
    world.put("/policies/%2F/p", DLX)
    world.put("/policies/roles/p", DLX)
    limit = {"pattern": "", "definition": {"max-length": 5}}
    world.put("/operator-policies/roles/o", limit)
    no_vhost, administrator = "User not authorised to access virtual host", "Not administrator user"
    expected = {  # management, policymaker, monitoring; None means success
        ("GET", "/policies"): (None, None, None), ("GET", "/operator-policies"): (None, None, None),
        ("GET", "/policies/%2F"): (no_vhost, no_vhost, None), ("GET", "/policies/roles"): (None, None, None),
        ("GET", "/policies/roles/p"): (NO_OBJECT, None, NO_OBJECT),
        ("PUT", "/policies/roles/p"): (NO_OBJECT, None, NO_OBJECT), ("PUT", "/policies/%2F/p"): (NO_OBJECT,) * 3,
        ("GET", "/policies/%2F/p"): (NO_OBJECT,) * 3, ("DELETE", "/policies/%2F/p"): (NO_OBJECT,) * 3,
        ("GET", "/operator-policies/roles"): (None, None, None),
        ("GET", "/operator-policies/roles/o"): (None, None, None),
        ("PUT", "/operator-policies/roles/o"): (administrator,) * 3,
        ("DELETE", "/operator-policies/roles/o"): (administrator,) * 3}
    for (method, path), reasons in expected.items():
        for role, wanted in zip(("management", "policymaker", "monitoring"), reasons):
            answer = world.api(method, path, limit if method == "PUT" else None, user=f"{role}-p:p")
            found = None if answer.status < 300 else answer.json()["reason"]
            equal(found, wanted, f"{role}: {method} {path}")
    seen = {role: [policy["vhost"] for policy in world.get("/policies", user=f"{role}-p:p")]
            for role in ("policymaker", "monitoring")}
    equal(seen, {"policymaker": ["roles"], "monitoring": ["/", "roles"]})
    world.delete("/policies/roles/p", user="policymaker-p:p")
    world.delete("/policies/%2F/p")
    for role in ("management", "policymaker", "monitoring"):
        world.delete(f"/users/{role}-p")
    world.delete("/vhosts/roles")


@case
def policies_of_no_vhost_are_not_found(world):  # management 1.6
    missing = {"error": "Object Not Found", "reason": "Not Found"}
    for kind in ("policies", "operator-policies"):
        for method, path in (("GET", ""), ("GET", "/p"), ("DELETE", "/p")):
            answer = world.api(method, f"/{kind}/nosuch{path}")
            equal((answer.status, answer.json()), (404, missing), f"{method} {kind}{path}")
        answer = world.put(f"/{kind}/nosuch/p", DLX, status=404)
        equal(answer.json(), {"error": "not_found", "reason": "vhost_not_found"})
    equal(world.api("POST", "/policies/%2F/p", DLX).status, 405)


@case
def queues_and_exchanges_tell_their_policy(world):  # management C.6
    world.put("/queues/%2F/pq", {"durable": True})
    world.put("/exchanges/%2F/pqx", {"type": "fanout"})
    equal(policy_of(world, "pq"), (None, None, {}))
    equal(columns(world, "/exchanges/%2F/pqx", "policy"), (None,))
    world.put("/policies/%2F/dead", {"pattern": "^pq", "definition": {"max-length": 9, "dead-letter-exchange": "dlx"}})
    world.put("/operator-policies/%2F/limit", {"pattern": "q$", "definition": {"message-ttl": 70000, "max-length": 5}})
    found = policy_of(world, "pq")
    equal(found, ("dead", "limit", {"dead-letter-exchange": "dlx", "max-length": 5, "message-ttl": 70000}))
    equal(list(found[2]), sorted(found[2]))
    equal(columns(world, "/exchanges/%2F/pqx", "policy"), ("dead",))
    world.put("/policies/%2F/better", {"pattern": "pq", "definition": {"expires": 60000}, "priority": 1,
                                       "apply-to": "classic_queues"})
    equal(policy_of(world, "pq"), ("better", "limit", {"expires": 60000, "max-length": 5, "message-ttl": 70000}))
    equal(columns(world, "/exchanges/%2F/pqx", "policy"), ("dead",))
    for path in ("/policies/%2F/better", "/policies/%2F/dead", "/operator-policies/%2F/limit"):
        world.delete(path)
    equal(policy_of(world, "pq"), (None, None, {}))
    world.delete("/queues/%2F/pq")
    world.delete("/exchanges/%2F/pqx")


@case
def policy_set_over_http_dead_letters(world):
    with world.amqp() as connection:
        channel = connection.channel()
        channel.queue_declare("pq1", auto_delete=False)
        channel.queue_declare("taken")
        channel.confirm_delivery()
        channel.basic_publish("", "pq1", b"before")
        world.put("/policies/%2F/dead", {"pattern": "^pq1$", "apply-to": "queues", "definition": {
            "dead-letter-exchange": "", "dead-letter-routing-key": "taken"}})
        channel.basic_reject(channel.basic_get("pq1")[0].delivery_tag, requeue=False)
        world.eventually(lambda: world.get("/queues/%2F/taken")["messages"] == 1, "the letter has arrived")
        equal(channel.basic_get("taken", auto_ack=True)[2], b"before")
        deaths = {"rejected": 1, "expired": 0, "maxlen": 0, "delivery_limit": 0}
        equal(world.get("/queues/%2F/pq1")["deaths"], deaths)
        contains(world.ctl_json("list_queues", "-q", "name", "deaths"), {"name": "pq1", "deaths": deaths})
        world.delete("/policies/%2F/dead")
        channel.queue_delete("pq1")
        channel.queue_delete("taken")


@case
def quorum_queue_tells_what_it_holds(world):
    node = world.get("/overview")["node"]
    world.put("/queues/%2F/quorum", {"durable": True, "arguments": {
        "x-queue-type": "quorum", "x-dead-letter-exchange": "not yet there", "x-overflow": "reject-publish",
        "x-dead-letter-strategy": "at-least-once", "x-delivery-limit": 3, "x-delayed-retry-type": "all",
        "x-delayed-retry-min": 600000}})
    queue = world.get("/queues/%2F/quorum")
    equal((queue["type"], queue["leader"], queue["members"], queue["online"]), ("quorum", node, [node], [node]))
    equal(queue["delivery_limit"], 3)
    before = world.get("/overview")["queue_totals"]["messages"]
    with world.amqp() as connection:
        channel = connection.channel()
        channel.confirm_delivery()
        for _ in range(4):
            channel.basic_publish("", "quorum", b"12345")
        tags = [channel.basic_get("quorum")[0].delivery_tag for _ in range(3)]
        channel.basic_reject(tags[0], requeue=False)
        channel.basic_nack(tags[1], requeue=True)

        def counts():
            return columns(world, "/queues/%2F/quorum", "messages", "messages_ready", "messages_unacknowledged",
                           "messages_delayed", "messages_dlx")
        world.eventually(lambda: counts()[3:] == (1, 1), "one message is delayed, one in the outbox")
        equal(counts(), (4, 1, 1, 1, 1))
        body, ready = columns(world, "/queues/%2F/quorum", "message_bytes_dlx", "message_bytes_ready")
        equal((body >= 5, body), (True, ready))
        equal(world.get("/overview")["queue_totals"]["messages"], before + 4)
        equal(world.get("/vhosts/%2F")["messages"], world.get("/overview")["queue_totals"]["messages"])
    world.delete("/queues/%2F/quorum")
    equal(world.get("/overview")["queue_totals"]["messages"], before)


@case
def classic_queue_tells_nothing_of_quorums(world):
    world.put("/queues/%2F/plain", {})
    queue = world.get("/queues/%2F/plain")
    equal(queue["type"], "classic")
    for field in ("leader", "members", "online", "messages_dlx", "delivery_limit"):
        equal(field in queue, False, field)
    world.delete("/queues/%2F/plain")


@case
def vhost_follows_the_rabbitmq_it_names(world):
    world.put("/vhosts/old", {"compat": "3.12"})
    equal(world.get("/vhosts/old")["compat"], "3.12")
    equal(world.get("/vhosts/%2F")["compat"], "4.3")
    arguments = {"x-queue-type": "quorum"}
    world.put("/queues/old/q", {"durable": True, "arguments": arguments})
    equal("delivery_limit" in world.get("/queues/old/q"), False)  # DL-148
    world.put("/vhosts/old", {"description": "untouched"}, status=204)
    equal(world.get("/vhosts/old")["compat"], "3.12")
    world.put("/vhosts/old", {"compat": "4.3"}, status=204)
    equal(world.get("/queues/old/q")["delivery_limit"], 20)
    for wrong in ("3.13", "nosuch"):
        contains(world.put("/vhosts/old", {"compat": wrong}, status=400).json()["reason"], f"compat '{wrong}'")
    contains(world.put("/vhosts/never", {"compat": "5"}, status=400).json()["reason"], "compat '5'")
    equal(world.api("GET", "/vhosts/never").status, 404)
    world.put("/vhosts/old", {"default_queue_type": "quorum"}, status=204)
    equal(world.get("/vhosts/old")["default_queue_type"], "quorum")
    world.delete("/vhosts/old")
