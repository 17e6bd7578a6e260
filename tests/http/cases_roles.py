"""Every endpoint as every kind of user: permitted or refused, and the response. The table is routes.txt."""
import json
import os
import re

import pika
from world import case, contains, equal, quote

HERE = os.path.dirname(os.path.abspath(__file__))
VHOST = "roles"
TAGS = ("management", "policymaker", "monitoring", "administrator")
# Users with and without access to the virtual host.
INSIDERS = ("none", *TAGS)
STRANGERS = tuple("strange-" + tag for tag in TAGS)
EVERYTHING = {"configure": ".*", "write": ".*", "read": ".*"}

NO_TAG, NO_OBJECT = "Not management user", "User not authorised to access object"
NO_VHOST, NO_ADMINISTRATOR = "User not authorised to access virtual host", "Not administrator user"
NO_MONITOR, REFUSED = "Not monitor user", "Access refused."


class Route:
    def __init__(self, line):
        self.method, self.pattern, self.role, status, *body = line.split(" ", 4)
        self.status, self.body = int(status), body[0] if body else None

    def __str__(self):
        return f"{self.method} {self.pattern}"


def routes():
    with open(os.path.join(HERE, "routes.txt")) as file:
        return [Route(line.strip()) for line in file if line.strip() and not line.startswith("#")]


def refusal(role, user):
    """The reason why the user is refused; None if the user is permitted."""
    tag, inside = user.removeprefix("strange-"), not user.startswith("strange-")
    administrates, sees = tag == "administrator", tag in ("monitoring", "administrator")
    makes_policies = tag in ("policymaker", "administrator")
    if role == "open":
        return None
    if tag == "none":
        return NO_TAG
    own = user == "management"  # The connection belongs to this user.
    allowed, reason = {
        "any": (True, None),
        "vhost": (inside or sees, NO_VHOST),
        "enter": (inside or administrates, NO_VHOST),
        # An administrator can access every virtual host, but has no AMQP permissions by default.
        "amqp": (inside, REFUSED if administrates else NO_VHOST),
        "pol": (administrates or (makes_policies and inside), NO_OBJECT),
        "pol_all": (makes_policies, NO_OBJECT),
        # Policymakers may use the path, but must not change limits.
        "pol_adm": (administrates, NO_ADMINISTRATOR if makes_policies and inside else NO_OBJECT),
        "mon": (sees, NO_MONITOR),
        "adm": (administrates, NO_ADMINISTRATOR),
        "own": (own or sees, NO_OBJECT),
        "own_kill": (own or administrates, NO_OBJECT)}[role]
    return None if allowed else reason


class Stage:
    """All objects that the paths name, restored after every permitted change."""

    def __init__(self, world):
        self.world, self.connection, self.definitions = world, None, None
        node = world.get("/overview")["node"]
        flag = world.get("/feature-flags")[0]["name"]
        self.names = {
            "vhost": VHOST, "node": node, "flag": flag, "component": "vhost-limits", "parameter": "limits",
            "vhost_limit": "max-queues", "user_limit": "max-channels", "topic": "amq.topic", "protocol": "amqp",
            "number": "1", "unit": "days", "pattern": "x", "global": "global", "policy": "policy", "user": "victim",
            "owner": "management", "exchange": "exchange", "target": "target", "queue": "queue", "binding": "~",
            "port": str(world.broker.port), "password": "p"}

    def set_up(self):
        world, vhost = self.world, self.names["vhost"]
        put = {"/vhosts/roles": None, "/users/victim": {"password": "p", "tags": ""}, "/global-parameters/global": {"value": 1},
               "/vhost-limits/roles/max-queues": {"value": 1000}, "/user-limits/victim/max-channels": {"value": 1000}}
        for user in (*INSIDERS, *STRANGERS):
            put["/users/" + user] = {"password": "p", "tags": user.removeprefix("strange-").replace("none", "")}
        for user in ("victim", *INSIDERS):
            put[f"/permissions/{vhost}/{user}"] = EVERYTHING
        put["/topic-permissions/roles/victim"] = {"exchange": "amq.topic", "write": "", "read": ""}
        for kind in ("policies", "operator-policies"):
            put[f"/{kind}/roles/policy"] = {"pattern": "^policed", "definition": {"max-length": 10}}
        # guest may have no permissions in the virtual host, so the objects in it are created by an insider.
        for path, body in put.items():
            equal(world.api("PUT", path, body).status in (201, 204), True, path)
        insider = {"user": "administrator:p"}
        for name in ("exchange", "target"):
            equal(world.api("PUT", f"/exchanges/roles/{name}", {"type": "topic"}, **insider).status in (201, 204), True)
        equal(world.api("PUT", "/queues/roles/queue", {}, **insider).status in (201, 204), True)
        for target in ("q/queue", "e/target"):
            equal(world.api("POST", f"/bindings/roles/e/exchange/{target}", {}, **insider).status, 201)
        self.connect()
        self.definitions = self.definitions_now()

    def restore(self):
        """Restores the objects after a permitted change."""
        answer = self.world.api("POST", "/definitions", self.definitions)
        equal(answer.status, 204, repr(answer))
        self.connect()
        self.definitions = self.definitions_now()

    def connect(self):
        if self.connection is not None and self.name_of_connection() == self.names["connection"]:
            return
        self.disconnect()
        self.connection = self.world.amqp(VHOST, "management", "p")
        self.connection.channel()
        self.world.eventually(self.name_of_connection, "the connection is listed")
        self.names["connection"] = self.name_of_connection()
        self.names["channel"] = self.names["connection"] + " (1)"

    def name_of_connection(self):
        listed = self.world.get(f"/vhosts/{VHOST}/connections")
        return listed[0]["name"] if listed and listed[0]["channels"] == 1 else None

    def connection_has_ended(self):
        try:
            self.connection.process_data_events(0.01)
        except (pika.exceptions.AMQPError, ValueError):  # ValueError if the connection closes while pika waits.
            pass
        return self.name_of_connection() is None

    def disconnect(self):
        try:
            if self.connection is not None:
                self.connection.close()
        except pika.exceptions.AMQPError:  # A permitted request closed it.
            pass
        self.connection = None

    def definitions_now(self):
        return self.world.get("/definitions")

    def path(self, pattern):
        return re.sub(r"\{(\w+)\}", lambda match: quote(self.names[match[1]]), pattern)

    def tear_down(self):
        self.disconnect()
        self.world.tidy()


def ask(world, stage, route, user):
    """The error in the response; None if it is correct."""
    headers = {"content-type": "application/x-www-form-urlencoded"} if route.pattern == "/login" else None
    answer = world.api(route.method, stage.path(route.pattern), route.body, user=f"{user}:p", headers=headers)
    reason = refusal(route.role, user)
    error = answer.json() if reason and answer.body else {}
    if reason is None:
        found, wanted = answer.status, route.status
    elif reason == REFUSED and route.pattern.endswith(("/publish", "/get")):
        # These have the texts of AMQP, and a closed channel is a bad request.
        found, wanted = answer.status in (400, 401) and "ACCESS_REFUSED - " in error.get("reason", ""), True
    else:
        found, wanted = (answer.status, error), (401, {"error": "not_authorised", "reason": reason})
    return None if found == wanted else f"{route} as {user}: found {found} {answer.body[:100]!r}, wanted {wanted}"


@case
def everybody_at_every_endpoint(world):
    stage = Stage(world)
    stage.set_up()
    faults = []
    try:
        for route in routes():
            for user in (*INSIDERS, *STRANGERS):
                faults.append(ask(world, stage, route, user))
                if route.method == "GET":
                    continue
                if refusal(route.role, user) is None:
                    if route.role == "own_kill":
                        world.eventually(stage.connection_has_ended, "the connection ends")
                    stage.restore()
                elif stage.definitions_now() != stage.definitions:
                    faults.append(f"{route} as {user} was refused and changed something")
                    stage.restore()
    finally:
        stage.tear_down()
    faults = [fault for fault in faults if fault]
    equal(faults, [], f"{len(faults)} faults")


@case
def nobody_gets_in_without_credentials(world):
    stage = Stage(world)
    stage.set_up()
    try:
        for route in routes():
            if route.role == "open":
                continue
            path = stage.path(route.pattern)
            answer = world.api(route.method, path, route.body, user=None)
            equal((answer.status, answer.body), (401, b""), str(route))
            answer = world.api(route.method, path, route.body, user="administrator:wrong")
            equal((answer.status, answer.json()["reason"]), (401, "Not_Authorized"), str(route))
        equal(stage.definitions_now(), stage.definitions)
    finally:
        stage.tear_down()


@case
def methods_that_a_path_does_not_know(world):
    stage = Stage(world)
    stage.set_up()
    known = {}
    for route in routes():
        known.setdefault(route.pattern, set()).add(route.method)
    try:
        for pattern, methods in known.items():
            path = stage.path(pattern)
            allowed = methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())
            for method in {"GET", "PUT", "POST", "DELETE", "PATCH", "NONSENSE"} - methods:
                answer = world.api(method, path, b"{}")
                equal((answer.status, answer.body), (405, b""), f"{method} {path}")
                equal(set(answer.headers["allow"].split(", ")), allowed, path)
            equal(set(world.api("OPTIONS", path, user=None).headers["allow"].split(", ")), allowed, path)
        equal(stage.definitions_now(), stage.definitions)
    finally:
        stage.tear_down()


@case
def lists_show_only_what_the_caller_may_see(world):
    stage = Stage(world)
    stage.set_up()
    try:
        for path in ("/queues", "/queues/detailed", "/exchanges", "/bindings", "/policies", "/operator-policies", "/consumers",
                     "/vhosts", "/vhost-limits", "/connections", "/channels", "/permissions", "/users"):
            for user in (*INSIDERS[1:], *STRANGERS):
                answer = world.api("GET", path, user=user + ":p")
                if answer.status != 200:
                    continue
                inside = not user.startswith("strange-")
                sees = inside or user.endswith(("monitoring", "administrator"))
                if path in ("/connections", "/channels"):
                    sees = user == "management" or user.endswith(("monitoring", "administrator"))
                shown = [one for one in answer.json() if VHOST in (one.get("vhost"), one.get("name"))]
                if not sees:
                    equal(shown, [], f"{path} as {user}")
                elif path not in ("/consumers", "/users"):
                    equal(len(shown) > 0, True, f"{path} as {user}")
        for user in ("management", "policymaker"):
            equal({"node", "listeners", "contexts"} & set(world.get("/overview", user=user + ":p")), set(), user)
        contains(world.get("/overview", user="monitoring:p"), "listeners")
    finally:
        stage.tear_down()


@case
def roles_are_not_gained_by_what_may_be_written(world):
    stage = Stage(world)
    stage.set_up()
    try:
        for user in ("management", "policymaker", "monitoring"):
            for method, path, body in (
                    ("PUT", f"/users/{user}", {"tags": "administrator"}), ("PUT", "/users/new", {"password": "p", "tags": "administrator"}),
                    ("PUT", f"/permissions/%2F/{user}", EVERYTHING), ("POST", "/definitions", {"users": []}),
                    ("POST", "/definitions/roles", {"policies": []}), ("PUT", "/vhosts/new", None),
                    ("PUT", "/parameters/operator_policy/roles/p", {"value": {"pattern": "", "definition": {"max-length": 1}}}),
                    ("DELETE", "/parameters/operator_policy/roles/policy", None),
                    ("PUT", "/parameters/vhost-limits/roles/limits", {"value": {}}),
                    ("DELETE", "/parameters/vhost-limits/roles/limits", None)):
                answer = world.api(method, path, body, user=user + ":p")
                equal(answer.status, 401, f"{method} {path} as {user}")
        equal(stage.definitions_now(), stage.definitions)
        equal(json.dumps(world.get("/whoami", user="policymaker:p")["tags"]), '["policymaker"]')
    finally:
        stage.tear_down()
