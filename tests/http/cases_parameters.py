"""Parameters, the cluster name, features, logins and other small parts of the API."""
import base64
import gzip
import json
import urllib.parse

from world import case, contains, equal, quote

OBJECT = "User not authorised to access object"


def node(world):
    return quote(world.get("/overview")["node"])


def refused(world, method, path, body=None, **options):
    answer = world.api(method, path, body, **options)
    return answer.status, answer.json().get("reason")


def with_users(world, *tags):
    for tag in tags:
        world.put(f"/users/params-{tag}", {"password": "p", "tags": tag})
    return [f"params-{tag}:p" for tag in tags]


@case
def parameters_show_limits_and_operator_policies(world):
    world.put("/vhosts/params")
    world.put("/vhost-limits/params/max-queues", {"value": 50}, status=204)
    world.put("/operator-policies/params/op", {"pattern": "^q", "definition": {"max-length": 5}})
    world.put("/policies/params/p", {"pattern": "^q", "definition": {"max-length": 6}})
    limits = {"value": {"max-queues": 50}, "vhost": "params", "component": "vhost-limits", "name": "limits"}
    operator = {"value": {"pattern": "^q", "definition": {"max-length": 5}, "priority": 0, "apply-to": "all"},
                "vhost": "params", "component": "operator_policy", "name": "op"}
    equal(world.get("/parameters"), [operator, limits])
    equal(world.get("/parameters/vhost-limits"), [limits])
    equal(world.get("/parameters/vhost-limits/params"), [limits])
    equal(world.get("/parameters/vhost-limits/params/limits"), limits)
    equal(world.get("/parameters/operator_policy/params/op"), operator)
    equal([one["name"] for one in world.get("/parameters/policy")], ["p"])
    equal(world.get("/parameters/nosuch"), [])
    equal(world.get("/parameters/nosuch/params"), [])
    equal(world.api("GET", "/parameters/nosuch/params/x").status, 404)
    equal(world.api("GET", "/parameters/vhost-limits/nov").status, 404)
    world.delete("/vhosts/params")


@case
def parameters_are_set_where_they_live(world):
    world.put("/vhosts/params")
    path = "/parameters/vhost-limits/params/limits"
    world.put(path, {"value": {"max-queues": 3}})
    world.put(path, {"value": {"max-connections": 4}}, status=204)
    equal(world.get("/vhost-limits/params"), [{"vhost": "params", "value": {"max-connections": 4}}])
    world.delete(path)
    world.delete(path, status=404)
    policy = {"value": {"pattern": "a", "definition": {"max-length": 1}, "priority": 0, "apply-to": "queues"}}
    world.put("/parameters/operator_policy/params/x", policy)
    equal(world.get("/operator-policies/params/x")["apply-to"], "queues")
    world.delete("/parameters/operator_policy/params/x")
    equal(world.get("/operator-policies/params"), [])
    for name, body, reason in (
            ("foo/params/x", {"value": 1}, "Validation failed\n\ncomponent foo not found\n"),
            ("policy/params/x", policy, "policies may not be set using this method"),
            ("vhost-limits/params/limits", {"value": {"foo": 1}},
             'Validation failed\n\nUnrecognised terms [{<<"foo">>,1}] in limits\n'),
            ("vhost-limits/params/limits", {}, "[{key_missing,value}]"),
            ("operator_policy/params/x", {"value": {"pattern": "a"}}, "[{key_missing,definition}]")):
        equal(refused(world, "PUT", "/parameters/" + name, body), (400, reason))
    world.delete("/parameters/foo/params/x", status=404)
    world.delete("/vhosts/params")


@case
def parameters_are_for_policymakers(world):
    world.put("/vhosts/params")
    management, policymaker, monitoring = with_users(world, "management", "policymaker", "monitoring")
    for user in (management, monitoring):
        for path in ("/parameters", "/parameters/vhost-limits", "/parameters/vhost-limits/params",
                     "/global-parameters", "/global-parameters/x"):
            equal(refused(world, "GET", path, user=user), (401, OBJECT), f"{user} {path}")
        equal(refused(world, "PUT", "/global-parameters/x", {"value": 1}, user=user), (401, OBJECT))
        equal(refused(world, "PUT", "/parameters/vhost-limits/params/limits", {"value": {}}, user=user), (401, OBJECT))
    equal(world.get("/parameters", user=policymaker), [])
    equal(refused(world, "GET", "/parameters/vhost-limits/params", user=policymaker), (401, OBJECT))
    world.put("/permissions/params/params-policymaker", {"configure": "", "write": "", "read": ""})
    world.put("/parameters/vhost-limits/params/limits", {"value": {"max-queues": 1}})
    equal(world.get("/parameters/vhost-limits/params/limits", user=policymaker)["value"], {"max-queues": 1})
    for path, body in (("vhost-limits/params/limits", {"value": {"max-queues": 2}}),
                       ("operator_policy/params/x", {"value": {"pattern": "a", "definition": {}}})):
        equal(refused(world, "PUT", "/parameters/" + path, body, user=policymaker), (401, "Not administrator user"))
    equal(refused(world, "DELETE", "/parameters/vhost-limits/params/limits", user=policymaker),
          (401, "Not administrator user"))
    equal(world.get("/vhost-limits/params"), [{"vhost": "params", "value": {"max-queues": 1}}])
    world.put("/global-parameters/x", {"value": {"a": [1]}}, user=policymaker)
    equal(world.get("/global-parameters/x", user=policymaker), {"name": "x", "value": {"a": [1]}})
    world.delete("/global-parameters/x", user=policymaker)
    for tag in ("management", "policymaker", "monitoring"):
        world.delete(f"/users/params-{tag}")
    world.delete("/vhosts/params")


@case
def global_parameters_survive_a_restart(world):
    value = {"a": [1, "x", None], "\u00e9": {"deep": True}}
    named = world.get("/global-parameters")
    equal([one["name"] for one in named], ["cluster_name", "internal_cluster_id"], "of a node that is fresh")
    equal(world.get("/global-parameters/cluster_name")["value"], world.get("/overview")["cluster_name"])
    cluster_id = named[1]["value"]
    world.put("/global-parameters/g%2Fh", {"value": value})
    world.put("/global-parameters/g%2Fh", {"value": 5}, status=204)
    world.put("/global-parameters/g%2Fh", {"value": value}, status=204)
    world.put("/cluster-name", {"name": "here"}, status=204)
    world.restart()
    shown = {one["name"]: one["value"] for one in world.get("/global-parameters")}
    equal(shown.pop("internal_cluster_id"), cluster_id)
    equal(shown, {"cluster_name": "here", "g/h": value})
    equal(world.get("/cluster-name"), {"name": "here"})
    equal(world.get("/overview")["cluster_name"], "here")
    world.delete("/global-parameters/g%2Fh")
    world.delete("/global-parameters/g%2Fh", status=404)
    equal(world.api("GET", "/global-parameters/g%2Fh").status, 404)
    equal(refused(world, "PUT", "/global-parameters/x", {}), (400, "[{key_missing,value}]"))
    equal(refused(world, "PUT", "/cluster-name", {}), (400, "[{key_missing,name}]"))
    equal(refused(world, "PUT", "/cluster-name", {"name": 5}), (400, "name is not a string"))
    user, = with_users(world, "monitoring")
    equal(refused(world, "PUT", "/cluster-name", {"name": "x"}, user=user), (401, "Not administrator user"))
    world.delete("/users/params-monitoring")
    world.delete("/global-parameters/cluster_name")
    equal(world.get("/global-parameters"), named, "as it was started with")


@case
def features_are_all_there(world):  # management 4.5
    flags = world.get("/feature-flags")
    equal({flag["state"] for flag in flags}, {"enabled"})
    equal(set(flags[0]), {"name", "state", "stability", "provided_by", "desc", "doc_url", "require_level", "experiment_level", "callbacks"})
    contains([flag["name"] for flag in flags], "khepri_db")
    world.put("/feature-flags/khepri_db/enable", {"name": "khepri_db"}, status=204)
    equal(refused(world, "PUT", "/feature-flags/nosuch/enable"), (400, "unsupported"))
    equal({one["state"] for one in world.get("/deprecated-features")}, {"permitted"})
    world.put("/queues/%2F/passing", {"durable": False})
    equal([one["name"] for one in world.get("/deprecated-features/used")], ["transient_nonexcl_queues"])
    world.delete("/queues/%2F/passing")
    equal("transient_nonexcl_queues" in [one["name"] for one in world.get("/deprecated-features/used")], False)


@case
def the_memory_of_the_node_has_parts(world):  # management 4.4
    memory = world.get(f"/nodes/{node(world)}/memory")["memory"]
    equal(memory["strategy"], "rss")
    for name in ("mnesia", "metadata_store", "metadata_store_ets"):  # Tools for RabbitMQ with Mnesia or Khepri read them.
        equal(isinstance(memory[name], int), True, name)
    parts = [value for value in memory.values() if isinstance(value, int)]
    equal(memory["total"]["rss"] > 1_000_000, True)
    equal(abs(sum(parts) - memory["total"]["rss"]) < 100_000, True, "the parts make the whole")
    shares = world.get(f"/nodes/{node(world)}/memory/relative")["memory"]
    equal(shares["total"], 100)
    equal(set(shares) - {"total"}, set(memory) - {"total", "strategy"})
    equal(world.api("GET", "/nodes/nosuch/memory").status, 404)
    user, = with_users(world, "management")
    equal(refused(world, "GET", f"/nodes/{node(world)}/memory", user=user), (401, "Not monitor user"))
    world.delete("/users/params-management")


@case
def logging_in_by_a_form(world):  # management 4.3
    def log_in(body):
        return world.api("POST", "/login", body, user=None,
                         headers={"content-type": "application/x-www-form-urlencoded"})
    world.put("/users/f%20m", {"password": "a&b=c+d", "tags": "management"})
    answer = log_in(urllib.parse.urlencode({"username": "f m", "password": "a&b=c+d"}))
    equal(answer.status, 200)
    token = answer.json()["token"]
    equal((token["type"], base64.b64decode(token["value"])), ("basic", b"f m:a&b=c+d"))
    equal(answer.json()["user"], {"name": "f m", "tags": ["management"], "is_internal_user": True})
    for body in ("username=guest&password=x", "username=nobody&password=x", "", "username=guest"):
        answer = log_in(body)
        equal((answer.status, answer.json()), (401, {"error": "not_authorized", "reason": "Login failed"}), body)
    equal(log_in("username=%zz&password=").status, 400)
    world.delete("/users/f%20m")


@case
def attempts_to_log_in_are_counted(world):  # management 4.30
    path = f"/auth/attempts/{node(world)}"
    world.delete(path)
    equal(world.api("GET", "/whoami", user="guest:wrong").status, 401)
    counted, = world.get(path)
    equal((counted["protocol"], counted["auth_attempts_failed"]), ("http", 1))
    equal(counted["auth_attempts"], counted["auth_attempts_succeeded"] + 1)
    equal(world.get(path + "/source"), [])
    equal(world.api("GET", "/auth/attempts/nosuch").status, 404)
    digest = world.get("/auth/hash_password/s%C3%A9cret")["ok"]
    world.put("/users/hashed", {"password_hash": digest, "tags": "management"})
    equal(world.get("/whoami", user="hashed:s\u00e9cret")["name"], "hashed")
    world.delete("/users/hashed")


@case
def a_protected_vhost_is_not_deleted(world):
    world.put("/vhosts/params", {"description": "d", "tags": "a,b", "default_queue_type": "quorum"})
    equal(world.api("POST", "/vhosts/params/deletion/protection").status, 204)
    equal(world.get("/vhosts/params")["protected_from_deletion"], True)
    answer = world.delete("/vhosts/params", status=412)
    equal(answer.json()["error"], "precondition_failed")
    world.delete("/vhosts/params/deletion/protection")
    world.delete("/vhosts/params")
    equal(world.api("POST", "/vhosts/params/deletion/protection").status, 404)


@case
def answers_are_compressed_for_those_who_want_it(world):
    plain = world.api("GET", "/exchanges")
    equal("content-encoding" in plain.headers, False)
    packed = world.api("GET", "/exchanges", headers={"accept-encoding": "deflate, gzip;q=0.5"})
    equal(packed.headers["content-encoding"], "gzip")
    equal(json.loads(gzip.decompress(packed.body)), plain.json())
    equal("content-encoding" in world.api("GET", "/exchanges", headers={"accept-encoding": "gzip;q=0"}).headers, False)
    equal("content-encoding" in world.api("GET", "/whoami", headers={"accept-encoding": "gzip"}).headers, False)
    world.put("/vhosts/many")
    for number in range(200):
        world.put(f"/exchanges/many/x{number}", {"type": "fanout"})
    packed = world.api("GET", "/exchanges/many", headers={"accept-encoding": "gzip"})
    equal(len(json.loads(gzip.decompress(packed.body))), 207)
    equal(len(packed.body) < 5000, True)
    world.delete("/vhosts/many")


@case
def small_things_of_the_api(world):  # management 4.3, 4.29
    equal(world.get("/aliveness-test/%2F"), {"status": "ok"})
    equal(world.get("/healthchecks/node"), {"status": "ok"})
    equal(world.get("/auth", user=None), {"oauth_enabled": False})
    equal(isinstance(world.get("/version", user=None), str), True)
    equal(world.api("DELETE", "/login", user=None).status, 204)
    equal(world.get("/extensions"), [{"javascript": "dispatcher.js"}])
    equal(isinstance(world.get("/config/effective"), dict), True)
    world.delete("/reset")
    world.delete(f"/reset/{node(world)}")
    world.delete("/reset/nosuch", status=404)
    equal(world.api("POST", "/rebalance/queues").status, 204)
    user, = with_users(world, "monitoring")
    for method, path in (("DELETE", "/reset"), ("POST", "/rebalance/queues"), ("GET", "/config/effective"),
                         ("GET", "/definitions"), ("POST", "/definitions"), ("GET", "/definitions/%2F")):
        equal(refused(world, method, path, user=user), (401, "Not administrator user"), path)
    world.delete("/users/params-monitoring")
    head = world.api("HEAD", "/definitions")
    equal((head.status, head.body), (200, b""))
    options = world.api("OPTIONS", "/definitions", user=None, headers={"origin": "http://elsewhere"})
    equal((options.status, options.headers["allow"]), (200, "HEAD, GET, POST, OPTIONS"))
    equal("access-control-allow-origin" in options.headers, False)
