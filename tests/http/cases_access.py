"""Users and permissions."""
import pika
from world import Mismatch, case, contains, equal

NO_VHOST = "User not authorised to access virtual host"


def users_of_every_role(world):
    for tag in ("none", "management", "policymaker", "monitoring", "administrator"):
        world.api("PUT", f"/users/{tag}-user", {"password": "p", "tags": "" if tag == "none" else tag})


@case
def credentials_are_checked(world):
    answer = world.api("GET", "/whoami", user=None)
    equal((answer.status, answer.body), (401, b""))
    equal(answer.headers["www-authenticate"], 'Basic realm="RabbitMQ Management"')
    for wrong in ("guest:wrong", "nobody:guest", "guest:"):
        answer = world.api("GET", "/whoami", user=wrong)
        equal((answer.status, answer.json()), (401, {"error": "not_authorized", "reason": "Not_Authorized"}), wrong)
        equal("www-authenticate" in answer.headers, False)
    equal(world.get("/whoami"), {"name": "guest", "tags": ["administrator"], "is_internal_user": True})
    for malformed in ("Basic !", "Basic", "Digest x"):
        equal(world.api("GET", "/whoami", headers={"Authorization": malformed}, user=None).status, 400, malformed)
    for token in ("Bearer x", "bearer  x.y.z", "Bearer"):
        answer = world.api("GET", "/whoami", headers={"Authorization": token}, user=None)
        equal((answer.status, answer.json()), (401, {"error": "not_authorized", "reason": "Not_Authorized"}), token)


@case
def each_role_reaches_what_it_may(world):
    users_of_every_role(world)
    administrator, monitor, visible = "Not administrator user", "Not monitor user", NO_VHOST
    expected = {  # path: management, policymaker, monitoring; None means 200
        "/overview": (None, None, None), "/vhosts": (None, None, None), "/connections": (None, None, None),
        "/nodes": (monitor, monitor, None), "/users": (administrator,) * 3, "/permissions": (administrator,) * 3,
        "/vhosts/%2F": (administrator,) * 3, "/users/guest": (administrator,) * 3,
        "/queues/%2F": (visible, visible, None), "/exchanges/%2F/amq.topic": (visible, visible, None),
        "/bindings/%2F": (visible, visible, None), "/consumers/%2F": (visible, visible, None)}
    for path, reasons in expected.items():
        for role, reason in zip(("management", "policymaker", "monitoring"), reasons):
            answer = world.api("GET", path, user=f"{role}-user:p")
            found = None if answer.status == 200 else answer.json()["reason"]
            equal(found, reason, f"{role} at {path}")
        equal(world.api("GET", path, user="none-user:p").json()["reason"], "Not management user", path)
        equal(world.api("GET", path, user="administrator-user:p").status, 200, path)
    equal(world.get("/vhosts", user="management-user:p"), [])
    equal(len(world.get("/vhosts", user="monitoring-user:p")), 1)


@case
def amqp_permissions_hold_over_http(world):
    users_of_every_role(world)
    user = "management-user:p"
    world.put("/permissions/%2F/management-user", {"configure": "^mine", "write": "^mine", "read": "^mine"})
    world.put("/queues/%2F/mine", {}, user=user)
    for method, path, body in (("PUT", "/queues/%2F/other", {}), ("PUT", "/exchanges/%2F/other", {"type": "fanout"}),
                               ("POST", "/bindings/%2F/e/amq.topic/q/mine", {"routing_key": "a"}),
                               ("PUT", "/queues/%2F/mine-too", {"arguments": {"x-dead-letter-exchange": "amq.topic"}})):
        equal(world.api(method, path, body, user=user).json(),
              {"error": "not_authorised", "reason": "Access refused."}, path)
    world.delete("/queues/%2F/mine", user=user)
    world.delete("/permissions/%2F/management-user")
    equal(world.api("PUT", "/queues/%2F/mine", {}, user=user).json()["reason"], NO_VHOST)


@case
def user_made_over_http_logs_in_everywhere(world):  # management 4.2
    world.put("/users/made", {"password": "secret", "tags": "management,custom"})
    equal(world.get("/users/made")["tags"], ["management", "custom"])
    equal(world.get("/whoami", user="made:secret")["name"], "made")
    world.put("/permissions/%2F/made", {"configure": "", "write": ".*", "read": ".*"})
    world.amqp(user="made", password="secret").close()
    hashed = world.get("/users/made")
    world.put("/users/twin", {"password_hash": hashed["password_hash"], "tags": ["management"]})
    equal(world.get("/whoami", user="twin:secret")["name"], "twin")
    contains([user["name"] for user in world.get("/users/without-permissions")], "twin")
    equal(world.api("POST", "/users/bulk-delete", {"users": ["made", "twin"]}).status, 204)
    equal(world.api("GET", "/whoami", user="made:secret").status, 401)


@case
def mistakes_in_users_and_permissions_are_named(world):
    def reason(path, body):
        return world.put(path, body, status=400).json()["reason"]
    equal(reason("/users/u", {}), "tags_not_present")
    equal(reason("/users/u", {"tags": "", "password": "p", "password_hash": "h"}),
          "both_password_and_password_hash_are_provided")
    row = {"configure": "", "write": "", "read": ""}
    equal(reason("/permissions/%2F/nobody", row), "vhost_or_user_not_found")
    equal(reason("/permissions/nowhere/guest", row), "vhost_or_user_not_found")
    equal(reason("/permissions/%2F/guest", {"write": ""}), "[{key_missing,configure},{key_missing,read}]")
    contains(reason("/permissions/%2F/guest", {**row, "read": "("}), "(")
    world.delete("/permissions/%2F/nobody", status=404)
    world.delete("/users/nobody", status=404)


@case
def topic_permissions_are_rows_of_their_own(world):
    world.put("/users/topical", {"password": "p", "tags": ""})
    row = {"exchange": "amq.topic", "write": "^a", "read": "^b"}
    world.put("/topic-permissions/%2F/topical", row)
    world.put("/topic-permissions/%2F/topical", row, status=204)
    wanted = [{"user": "topical", "vhost": "/", **row}]
    for path in ("/topic-permissions", "/topic-permissions/%2F/topical", "/users/topical/topic-permissions",
                 "/vhosts/%2F/topic-permissions"):
        equal(world.get(path), wanted, path)
    world.delete("/topic-permissions/%2F/topical/amq.topic")
    world.delete("/topic-permissions/%2F/topical", status=404)
    world.delete("/users/topical")


@case
def limits_are_set_and_hold(world):
    world.put("/vhost-limits/%2F/max-queues", {"value": 1}, status=204)
    equal(world.get("/vhost-limits"), [{"vhost": "/", "value": {"max-queues": 1}}])
    world.put("/queues/%2F/first", {})
    equal(world.api("PUT", "/queues/%2F/second", {}).status in (400, 401), True)
    world.delete("/vhost-limits/%2F/max-queues")
    world.put("/queues/%2F/second", {})
    for name in ("first", "second"):
        world.delete("/queues/%2F/" + name)
    equal(world.put("/vhost-limits/%2F/nosuch", {"value": 1}, status=400).json()["reason"], "Unrecognised limit: nosuch")
    world.put("/user-limits/guest/max-channels", {"value": 5}, status=204)
    equal(world.get("/user-limits/guest"), [{"user": "guest", "value": {"max-channels": 5}}])
    world.delete("/user-limits/guest/max-channels")


@case
def a_user_opens_as_many_channels_as_he_may(world):  # amqp091 5.2
    world.put("/users/channels", {"password": "p", "tags": ""})
    world.put("/permissions/%2F/channels", {"configure": "", "write": "", "read": ""})
    world.put("/user-limits/channels/max-channels", {"value": 2}, status=204)
    first, second = (world.amqp(user="channels", password="p") for _ in range(2))
    with world.amqp() as other:
        opened = [first.channel(), second.channel()]
        other.channel()
        try:
            second.channel()
            raise Mismatch("one channel too many was opened")
        except pika.exceptions.ConnectionClosedByBroker as closed:
            equal((closed.reply_code, closed.reply_text), (
                530, "NOT_ALLOWED - number of channels opened for user 'channels' has reached the maximum allowed user "
                     "limit of 2"))
        # The refused connection was closed with its channel. Closing a channel frees its slot as well.
        world.eventually(lambda: len(world.get("/channels")) == 2, "the channel is gone")
        first.channel()
        opened[0].close()
        first.channel()
    world.delete("/user-limits/channels/max-channels")
    first.channel()
    first.close()
    world.delete("/users/channels")


@case
def a_page_of_another_origin_changes_nothing(world):
    """Browsers send the origin of a request; scripts such as `curl -d` do not, and forms may have any content type."""
    wish = {"pattern": "", "definition": {"max-length": 1}}
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
                    {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"}):
        for content_type in ("text/plain", "application/x-www-form-urlencoded", "application/json"):
            headers["content-type"] = content_type
            for method, path, body in (("POST", "/definitions", {}), ("PUT", "/policies/%2F/foreign", wish),
                                       ("DELETE", "/queues/%2F/any", None)):
                equal(world.api(method, path, body, headers=headers).status, 403, f"{method} {headers}")
    equal(world.get("/policies"), [])
    form = {"content-type": "application/x-www-form-urlencoded"}
    equal(world.api("POST", "/definitions", "{}", headers=form).status, 204)
    here = {"Origin": f"http://127.0.0.1:{world.broker.http_port}", "Sec-Fetch-Site": "same-origin"}
    equal(world.api("PUT", "/policies/%2F/ours", wish, headers=here).status, 201)
    world.delete("/policies/%2F/ours")
