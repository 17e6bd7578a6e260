"""The page for Prometheus: read by Prometheus' own parser where Debian has it, and true."""
import re

from world import case, contains, equal

try:
    from prometheus_client.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None

NAMES = """rabbitmq_identity_info rabbitmq_build_info rabbitmq_connections rabbitmq_channels rabbitmq_queues
rabbitmq_consumers rabbitmq_queues_declared_total rabbitmq_queues_created_total rabbitmq_queues_deleted_total
rabbitmq_queue_messages_ready rabbitmq_queue_messages_unacked rabbitmq_queue_messages rabbitmq_process_open_fds
rabbitmq_process_max_fds rabbitmq_process_resident_memory_bytes rabbitmq_resident_memory_limit_bytes
rabbitmq_disk_space_available_bytes rabbitmq_erlang_uptime_seconds rabbitmq_alarms_memory_used_watermark
rabbitmq_global_messages_received_total rabbitmq_global_messages_received_confirm_total
rabbitmq_global_messages_routed_total rabbitmq_global_messages_unroutable_dropped_total
rabbitmq_global_messages_unroutable_returned_total rabbitmq_global_messages_confirmed_total
rabbitmq_global_messages_delivered_total rabbitmq_global_messages_delivered_consume_auto_ack_total
rabbitmq_global_messages_delivered_consume_manual_ack_total rabbitmq_global_messages_delivered_get_auto_ack_total
rabbitmq_global_messages_delivered_get_manual_ack_total rabbitmq_global_messages_redelivered_total
rabbitmq_global_messages_acknowledged_total rabbitmq_global_messages_get_empty_total
revenant_entries_entered_total revenant_entries_ended_total revenant_entries_present revenant_refusals_cut_total
rabbitmq_global_messages_dead_lettered_maxlen_total rabbitmq_global_messages_dead_lettered_expired_total
rabbitmq_global_messages_dead_lettered_rejected_total rabbitmq_global_messages_dead_lettered_delivery_limit_total
rabbitmq_global_messages_dead_lettered_confirmed_total""".split()
DEATHS = "rabbitmq_global_messages_dead_lettered_{}_total"


def scrape(world):
    answer = world.send("GET", "/metrics", user=None, port=world.prometheus_port)
    equal(answer.status, 200)
    contains(answer.headers["content-type"], "text/plain; version=0.0.4")
    return answer.body.decode()


def samples(text):
    """(name, labels as text) to value."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = re.fullmatch(r'([a-z_0-9]+)(\{(?:[a-z_]+="(?:[^"\\]|\\.)*",?)*\})? (\S+)', line)
        equal(match is not None, True, line)
        found[match[1], match[2] or ""] = float(match[3])
    return found


@case
def every_promised_name_is_there_once(world):
    text = scrape(world)
    names = [name for name, _ in samples(text)]
    for name in NAMES:
        contains(names, name)
        equal(text.count(f"# TYPE {name} "), 1, name)
        equal(text.count(f"# HELP {name} "), 1, name)
    equal(names.count("rabbitmq_identity_info"), 1)
    if text_string_to_metric_families is not None:
        parsed = {sample.name for family in text_string_to_metric_families(text) for sample in family.samples}
        equal(parsed, set(names))


@case
def counters_count_and_balance(world):
    before = samples(scrape(world))
    with world.amqp() as connection:
        channel = connection.channel()
        channel.queue_declare("counted", arguments={"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
        channel.queue_declare("dead")
        channel.confirm_delivery()
        for _ in range(5):
            channel.basic_publish("", "counted", b"12345")
        tags = [channel.basic_get("counted")[0].delivery_tag for _ in range(3)]
        channel.basic_ack(tags[0])
        channel.basic_reject(tags[1], requeue=False)
        equal(channel.basic_get("dead", auto_ack=True)[2], b"12345")
        after = samples(scrape(world))
        protocol = '{protocol="amqp091"}'
        queue = '{protocol="amqp091",queue_type="rabbit_classic_queue"}'

        def grown(name, labels=""):
            return after[name, labels] - before[name, labels]
        equal(grown("rabbitmq_global_messages_received_total", protocol), 5)
        equal(grown("rabbitmq_global_messages_received_confirm_total", protocol), 5)
        equal(grown("rabbitmq_global_messages_confirmed_total", protocol), 5)
        equal(grown("rabbitmq_global_messages_delivered_get_manual_ack_total", queue), 3)
        equal(grown("rabbitmq_global_messages_delivered_get_auto_ack_total", queue), 1)
        equal(grown("rabbitmq_global_messages_acknowledged_total", queue), 1)
        equal(grown("revenant_entries_entered_total"), 6)
        equal(grown("revenant_entries_ended_total", '{ending="dead_lettered"}'), 1)
        equal(grown("revenant_entries_ended_total", '{ending="acknowledged"}'), 1)
        equal(after["rabbitmq_connections", ""], 1)
        ended = sum(value for (name, _), value in after.items() if name == "revenant_entries_ended_total")
        equal(after["revenant_entries_entered_total", ""], ended + after["rabbitmq_queue_messages", ""])
        channel.queue_delete("counted")
        channel.queue_delete("dead")


def death_labels(kind, strategy):
    return f'{{queue_type="rabbit_{kind}_queue",dead_letter_strategy="{strategy}"}}'


@case
def deaths_exist_for_what_can_happen(world):  # DL-209
    disabled, once, guarded = "disabled", "at_most_once", "at_least_once"
    both = [(kind, strategy) for kind in ("classic", "quorum") for strategy in (disabled, once)]
    wanted = {"maxlen": both, "expired": [*both, ("quorum", guarded)], "rejected": [*both, ("quorum", guarded)],
              "delivery_limit": [("quorum", strategy) for strategy in (disabled, once, guarded)],
              "confirmed": [("quorum", guarded)]}
    found = samples(scrape(world))
    for reason, pairs in wanted.items():
        equal({labels for name, labels in found if name == DEATHS.format(reason)},
              {death_labels(*pair) for pair in pairs}, reason)


def get_and_reject(channel, queue):
    channel.basic_reject(channel.basic_get(queue)[0].delivery_tag, requeue=False)


def sum_of(found, wanted):
    return sum(value for (name, _), value in found.items() if name == wanted)


@case
def deaths_are_counted_by_type_and_strategy(world):  # DL-209, DL-210
    before = samples(scrape(world))
    quorum = {"x-queue-type": "quorum"}
    to_dead = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"}
    guarded = {"x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish"}
    with world.amqp() as connection:
        channel = connection.channel()
        channel.confirm_delivery()
        channel.queue_declare("dead")
        for name, arguments in (("c0", {}), ("c1", {**to_dead, "x-max-length": 1}), ("c2", {**to_dead, "x-message-ttl": 0}),
                                ("q0", quorum), ("q1", {**quorum, **to_dead, "x-delivery-limit": 0}),
                                ("q2", {**quorum, **to_dead, **guarded}),
                                ("q3", {**quorum, **guarded, "x-dead-letter-exchange": "not yet there"})):
            channel.queue_declare(name, durable=True, arguments=arguments)
            channel.basic_publish("", name, b"x")
        channel.basic_publish("", "c1", b"one too many")
        for name in ("c0", "c1", "q0", "q2", "q3"):
            get_and_reject(channel, name)
        channel.basic_reject(channel.basic_get("q1")[0].delivery_tag, requeue=True)
        world.eventually(lambda: world.get("/queues/%2F/dead")["messages"] == 5, "the dead letters have arrived")
        world.eventually(lambda: world.get("/queues/%2F/q3")["messages_dlx"] == 1, "one cannot")
        after = samples(scrape(world))
        grown = {(reason, *pair): after[DEATHS.format(reason), labels] - before[DEATHS.format(reason), labels]
                 for reason in ("maxlen", "expired", "rejected", "delivery_limit", "confirmed")
                 for pair in ((kind, strategy) for kind in ("classic", "quorum")
                              for strategy in ("disabled", "at_most_once", "at_least_once"))
                 if (DEATHS.format(reason), labels := death_labels(*pair)) in after}
        equal({key: count for key, count in grown.items() if count}, {
            ("maxlen", "classic", "at_most_once"): 1, ("expired", "classic", "at_most_once"): 1,
            ("rejected", "classic", "disabled"): 1, ("rejected", "classic", "at_most_once"): 1,
            ("rejected", "quorum", "disabled"): 1, ("delivery_limit", "quorum", "at_most_once"): 1,
            ("rejected", "quorum", "at_least_once"): 2, ("confirmed", "quorum", "at_least_once"): 1})
        equal(after["revenant_entries_present", '{state="dead_letter_waiting"}'], 1)
        present = sum_of(after, "revenant_entries_present")
        equal(present, after["rabbitmq_queue_messages", ""])
        equal(after["revenant_entries_entered_total", ""], sum_of(after, "revenant_entries_ended_total") + present)
        for name in ("dead", "c0", "c1", "c2", "q0", "q1", "q2", "q3"):
            channel.queue_delete(name)


@case
def no_counter_goes_back(world):
    world.put("/vhosts/passing")
    world.put("/queues/passing/q", {})
    with world.amqp(vhost="passing") as connection:
        channel = connection.channel()
        channel.confirm_delivery()
        channel.basic_publish("", "q", b"x")
    before = samples(scrape(world))
    world.delete("/vhosts/passing")
    after = samples(scrape(world))
    for (name, labels), value in before.items():
        if name.endswith("_total"):
            equal(after[name, labels] >= value, True, name)
    ended = sum(value for (name, _), value in after.items() if name == "revenant_entries_ended_total")
    equal(after["revenant_entries_entered_total", ""], ended + after["rabbitmq_queue_messages", ""])


@case
def only_the_page_is_served(world):
    equal(world.send("GET", "/", user=None, port=world.prometheus_port).status, 404)
    equal(world.send("GET", "/api/overview", port=world.prometheus_port).status, 404)
    equal(world.send("DELETE", "/metrics", port=world.prometheus_port).status, 405)
