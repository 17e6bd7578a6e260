"""/dead-letters: deaths by queue, reason and outcome, the queues with dead letters, and broken dead-letter paths. Also the
web pages next to the API."""
import gzip

from world import case, contains, equal


def die(world, queue, times):
    for _ in range(times):
        answer = world.api("POST", f"/queues/graves/{queue}/get", {"count": 1, "ackmode": "reject_requeue_false", "encoding": "auto"})
        equal(answer.status, 200)
        equal(len(answer.json()), 1, f"a message to reject in {queue}")


def publish(world, queue, times):
    for _ in range(times):
        equal(world.api("POST", "/exchanges/graves/amq.default/publish",
                        {"properties": {}, "routing_key": queue, "payload": "x", "payload_encoding": "string"}).json(), {"routed": True})


def bury(world):
    """wares → dead, waits → stop → dead; the exchange of lost does not exist, and the key of astray has no binding."""
    world.put("/vhosts/graves")
    world.put("/exchanges/graves/dlx", {"type": "direct", "durable": True})
    dead_letter = {"x-dead-letter-exchange": "dlx"}
    for name, arguments in (("dead", {}), ("wares", {**dead_letter, "x-dead-letter-routing-key": "d"}), ("lost", {"x-dead-letter-exchange": "nosuch"}),
                            ("astray", {**dead_letter, "x-dead-letter-routing-key": "nothing"}), ("bare", {}),
                            ("stop", {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"}),
                            ("waits", {**dead_letter, "x-dead-letter-routing-key": "s"})):
        world.put(f"/queues/graves/{name}", {"durable": True, "arguments": arguments})
    for queue, key in (("dead", "d"), ("stop", "s")):
        equal(world.api("POST", f"/bindings/graves/e/dlx/q/{queue}", {"routing_key": key}).status, 201)
    for queue, times in (("wares", 3), ("lost", 2), ("astray", 1), ("bare", 4)):
        publish(world, queue, times)
        die(world, queue, times)


@case
def deaths_are_summed_up_by_reason_and_outcome(world):
    bury(world)
    summary = world.get("/dead-letters?vhost=graves")
    equal(summary["deaths"]["rejected"], {"dead_lettered": 3, "no_dlx": 4, "dlx_missing": 2, "unroutable": 1})
    equal(summary["deaths"]["expired"], {})
    accounts = summary["accounts"]
    equal(accounts["entered"] - accounts["ended"] - accounts["present"], 0, "the accounts")
    # `dead` but not `stop`, which sends its dead letters on.
    equal({name: summary["targets"][name] for name in ("queues", "messages", "unattended")}, {"queues": 1, "messages": 3, "unattended": 1})
    equal(summary["targets"]["oldest"] >= summary["since"], True, "when the oldest died")
    equal(summary["problems"], {"exchange_missing": 1, "no_route": 1})
    equal(summary["sources"], 4)
    equal([(row["name"], row["deaths"], row["dropped"]) for row in summary["top"]], [("bare", 4, 4), ("wares", 3, 0), ("lost", 2, 2), ("astray", 1, 1)])
    equal((summary["top"][1]["targets"], summary["top"][1]["target_messages"]), (["dead"], [3]))
    equal(summary["top"][2]["target_messages"], [])
    equal(summary["top"][2]["problem"], "exchange_missing")
    # The totals of all visible virtual hosts are at least as large.
    everywhere = world.get("/dead-letters?msg_rates_age=60&msg_rates_incr=5")
    equal(everywhere["deaths"]["rejected"]["no_dlx"] >= 4, True, "of all virtual hosts")
    equal(sorted(everywhere["deaths_details"]), ["delivery_limit", "expired", "maxlen", "rejected"])
    equal(world.get("/dead-letters?vhost=nosuch")["top"], [])
    equal(world.api("GET", "/dead-letters?msg_rates_age=60").status, 400)
    world.delete("/vhosts/graves")


@case
def queues_that_dead_letters_go_to_are_listed_with_their_sources(world):
    bury(world)
    rows = {row["name"]: row for row in world.get("/dead-letters/queues?vhost=graves")}
    equal(sorted(rows), ["dead", "stop"])
    equal((rows["stop"]["rests"], rows["stop"]["sources"]), (False, ["waits"]))
    dead = rows["dead"]
    equal((dead["messages"], dead["consumers"], dead["rests"], dead["sources"], dead["source_count"]), (3, 0, True, ["stop", "wares"], 2))
    equal(dead["deaths"], {"rejected": 3, "expired": 0, "maxlen": 0, "delivery_limit": 0})
    page = world.get("/dead-letters/queues?vhost=graves&page=1&page_size=1&sort=messages")
    equal((page["total_count"], page["items"][0]["name"]), (2, "stop"))
    world.delete("/vhosts/graves")


@case
def queues_in_which_messages_die_are_listed_with_what_is_wrong(world):
    bury(world)

    def names(query=""):
        return [row["name"] for row in world.get("/dead-letters/sources?vhost=graves" + query)]
    equal(names(), ["astray", "bare", "lost", "stop", "waits", "wares"])
    equal(names("&only=died"), ["astray", "bare", "lost", "wares"])
    equal(names("&only=problems"), ["astray", "lost"])
    equal(names("&exchange=nosuch"), ["lost"])
    equal(world.get("/dead-letters/sources?vhost=graves&exchange=amq.match"), [])
    exchanges = {row["name"]: row for row in world.get("/dead-letters/exchanges?vhost=graves")}
    equal((exchanges["nosuch"]["exists"], exchanges["nosuch"]["sources"], exchanges["nosuch"]["died"]), (False, ["lost"], 2))
    equal((exchanges["dlx"]["exists"], exchanges["dlx"]["source_count"] >= 2), (True, True))
    # `stop` is not listed although it is not empty, because it sends its dead letters on. Source queues contain none.
    equal([row["name"] for row in world.get("/queues/graves?only=dead-letters")], ["dead"])
    equal(world.get("/queues/graves?only=dead-letters&page=1")["total_count"], 1)
    equal(names("&only=died&sort=died&sort_reverse=true")[0], "bare")
    wares = world.get("/queues/graves/wares/deaths")
    equal((wares["dead_letter_exchange"], wares["dead_letter_routing_key"], wares["exchange_type"], wares["problem"], wares["targets"]),
          ("dlx", "d", "direct", None, ["dead"]))
    equal(wares["deaths"]["rejected"], {"dead_lettered": 3})
    dead = world.get("/queues/graves/dead/deaths")
    equal([row["name"] for row in dead["fed_by"]], ["stop", "wares"])
    equal((dead["dead_letter_exchange"], dead["targets"]), (None, []))
    equal(world.api("GET", "/queues/graves/nosuch/deaths").status, 404)
    world.delete("/vhosts/graves")


@case
def callers_see_the_dead_letters_of_their_virtual_hosts_only(world):
    bury(world)
    world.put("/users/narrow", {"password": "p", "tags": "management"})
    summary = world.get("/dead-letters", user="narrow:p")
    equal((summary["deaths"]["rejected"], summary["top"], summary["accounts"]["entered"]), ({}, [], 0))
    equal(world.get("/dead-letters/queues", user="narrow:p"), [])
    equal(world.get("/whoami/permissions", user="narrow:p"), [])
    world.put("/permissions/graves/narrow", {"configure": "", "write": "^a", "read": ".*"})
    equal(world.get("/whoami/permissions", user="narrow:p"), [{"user": "narrow", "vhost": "graves", "configure": "", "write": "^a", "read": ".*"}])
    equal(len(world.get("/dead-letters", user="narrow:p")["top"]), 4)
    world.delete("/users/narrow")
    world.delete("/vhosts/graves")


@case
def the_web_pages_stand_beside_the_api(world):
    page = world.send("GET", "/", user=None)
    equal((page.status, page.headers["content-type"], page.headers["cache-control"]), (200, "text/html; charset=utf-8", "no-cache"))
    contains(page.headers["content-security-policy"], "default-src 'none'; script-src 'self'; style-src 'self';")
    equal(b"<style" in page.body or b"style=" in page.body or b"javascript:" in page.body, False, "inline code")
    script = page.body.decode().split('src="')[1].split('"')[0]
    plain = world.send("GET", "/" + script, user=None)
    packed = world.send("GET", "/" + script, user=None, headers={"accept-encoding": "gzip"})
    equal((plain.status, packed.headers["content-encoding"], packed.headers["cache-control"]), (200, "gzip", "public, max-age=31536000, immutable"))
    equal(gzip.decompress(packed.body), plain.body)
    equal(world.send("GET", "/" + script, user=None, headers={"if-none-match": plain.headers["etag"]}).status, 304)
    equal(world.send("HEAD", "/", user=None).status, 200)
    equal(world.send("POST", "/", "x", user=None).status, 405)
    equal(world.send("GET", "/nosuch.js", user=None).status, 404)
