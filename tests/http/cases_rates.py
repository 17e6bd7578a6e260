"""Rates and charts of the last seconds, sampled by the broker."""
import threading
import time

from world import SECONDS_MAX, case, equal

RANGES = "lengths_age=60&lengths_incr=5&msg_rates_age=60&msg_rates_incr=5&data_rates_age=60&data_rates_incr=5"


@case
def rates_are_seen_while_messages_pass(world):  # management 2.6
    world.get("/queues")  # Starts the sampling of objects.
    done = threading.Event()

    def publish():
        with world.amqp(name="rates") as connection:
            channel = connection.channel()
            channel.confirm_delivery()
            channel.queue_declare("rates")
            channel.basic_consume("rates", lambda *_: None, auto_ack=True)
            while not done.is_set():
                channel.basic_publish("", "rates", b"x" * 100)
                connection.process_data_events(0.01)
            channel.queue_delete("rates")
    thread = threading.Thread(target=publish)
    thread.start()
    try:
        def rate_in(found, *names):
            """The value at the path of these names; 0 if there is none yet."""
            for name in names:
                found = found.get(name, {}) if isinstance(found, dict) else {}
            return found.get("rate", 0) if isinstance(found, dict) else 0

        def rate(path, *names):
            answer = world.api("GET", path)
            return rate_in(answer.json() if answer.status == 200 else {}, *names)

        def rate_in_list(path, is_ours, *names):
            return max((rate_in(one, *names) for one in world.get(path) if is_ours(one)), default=0)

        for path, *names in (("/queues/%2F/rates", "message_stats", "publish_details"),
                             ("/queues/%2F/rates", "message_stats", "deliver_no_ack_details"),
                             ("/exchanges/%2F/amq.default", "message_stats", "publish_in_details"),
                             ("/vhosts/%2F", "message_stats", "confirm_details"),
                             ("/overview", "message_stats", "publish_details"),
                             ("/vhosts/%2F", "recv_oct_details")):
            world.eventually(lambda: rate(path, *names) > 0, f"{path} {names}")

        def is_ours(connection):
            return connection.get("user_provided_name") == "rates"

        world.eventually(lambda: rate_in_list("/connections", is_ours, "recv_oct_details") > 0, "rate of a connection")
        name = [one["name"] for one in world.get("/connections") if is_ours(one)][0]
        world.eventually(lambda: rate_in_list("/channels", lambda one: one["connection_details"]["name"] == name,
                                              "message_stats", "confirm_details") > 0, "rate of a channel")
        world.eventually(lambda: rate_in_list("/queues?columns=name,message_stats.publish_details.rate",
                                              lambda one: one["name"] == "rates",
                                              "message_stats", "publish_details") > 0, "rate in a list")
        world.get("/queues/%2F/rates?" + RANGES)
        world.eventually(lambda: "samples" in world.get("/queues/%2F/rates?" + RANGES)["messages_details"], "samples")
        details = world.get("/queues/%2F/rates?" + RANGES)["message_stats"]["publish_details"]
        equal(set(details), {"rate", "samples", "avg", "avg_rate"})
        equal(len(details["samples"]), 13)
        stamps = [one["timestamp"] for one in details["samples"]]
        equal(stamps, sorted(stamps, reverse=True))
        equal({a - b for a, b in zip(stamps, stamps[1:])}, {5000})
        overview = world.get("/overview?" + RANGES)
        equal(len(overview["queue_totals"]["messages_details"]["samples"]), 13)
        equal("samples" in overview["churn_rates"]["queue_declared_details"], True)
        node = world.get("/nodes?node_stats_age=60&node_stats_incr=5")[0]
        equal(len(node["mem_used_details"]["samples"]), 13)
    finally:
        done.set()
        thread.join(SECONDS_MAX)


@case
def what_was_just_made_has_samples_at_once(world):
    world.put("/queues/%2F/young", {"durable": True})
    for queue in (world.get("/queues/%2F/young?" + RANGES), world.get("/queues/%2F?" + RANGES)[0]):
        for name in ("messages", "messages_ready", "messages_unacknowledged"):
            equal([one["sample"] for one in queue[name + "_details"]["samples"]], [0] * 13, name)
    with world.amqp():
        world.eventually(lambda: len(world.get("/connections")) == 1, "the connection is listed")
        connection, = world.get("/connections?" + RANGES)
        equal(len(connection["recv_oct_details"]["samples"]), 13)
    world.delete("/reset")
    node, = world.get("/nodes?node_stats_age=60&node_stats_incr=5")
    equal(len(node["mem_used_details"]["samples"]), 13)
    world.delete("/queues/%2F/young")


@case
def ten_thousand_queues_cost_little_to_watch(world):
    def resident():
        return world.get("/nodes")[0]["mem_used"]
    queues = [{"name": f"w{number}", "vhost": "watched", "durable": False, "auto_delete": False, "arguments": {}}
              for number in range(10_000)]
    equal(world.api("POST", "/definitions", {"vhosts": [{"name": "watched"}], "queues": queues}).status, 204)
    before = resident()
    page = world.get("/queues/watched?page=1&page_size=100")
    equal(len(page["items"]), 100)
    end = time.monotonic() + 11  # Two samples of all objects.
    while time.monotonic() < end:
        world.get("/queues/watched?page=1&page_size=100&" + RANGES)
        time.sleep(0.5)
    grown = resident() - before
    equal(grown < 60_000_000, True, f"{grown} bytes more")
    world.delete("/vhosts/watched")
