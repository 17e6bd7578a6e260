"""The Prometheus pages: readable by Prometheus' own parsers, complete and correct."""
import json
import os
import re

import pika
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open_metrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from proton import Delivery, Message
from proton.reactor import AtLeastOnce
from world import ROOT, SECONDS_MAX, Mismatch, case, contains, equal

# management 6.2 to 6.4, and the metrics that alert rules commonly use (management 6.3a)
NAMES = """rabbitmq_identity_info rabbitmq_build_info rabbitmq_connections rabbitmq_channels rabbitmq_queues
rabbitmq_connections_opened_total rabbitmq_connections_closed_total rabbitmq_channels_opened_total
rabbitmq_channels_closed_total rabbitmq_queues_declared_total rabbitmq_queues_created_total rabbitmq_queues_deleted_total
rabbitmq_queue_messages_ready rabbitmq_queue_messages_unacked rabbitmq_process_open_fds rabbitmq_process_max_fds
rabbitmq_process_resident_memory_bytes rabbitmq_resident_memory_limit_bytes rabbitmq_disk_space_available_bytes
rabbitmq_disk_space_available_limit_bytes rabbitmq_erlang_uptime_seconds
rabbitmq_consumers rabbitmq_queue_messages rabbitmq_queue_consumers rabbitmq_queue_messages_bytes
rabbitmq_connection_incoming_bytes_total rabbitmq_channel_messages_published_total
rabbitmq_alarms_memory_used_watermark rabbitmq_alarms_free_disk_space_watermark rabbitmq_alarms_file_descriptor_limit
rabbitmq_global_messages_received_total rabbitmq_global_messages_received_confirm_total
rabbitmq_global_messages_routed_total rabbitmq_global_messages_unroutable_dropped_total
rabbitmq_global_messages_unroutable_returned_total rabbitmq_global_messages_confirmed_total
rabbitmq_global_messages_delivered_total rabbitmq_global_messages_delivered_consume_auto_ack_total
rabbitmq_global_messages_delivered_consume_manual_ack_total rabbitmq_global_messages_delivered_get_auto_ack_total
rabbitmq_global_messages_delivered_get_manual_ack_total rabbitmq_global_messages_redelivered_total
rabbitmq_global_messages_acknowledged_total rabbitmq_global_messages_get_empty_total
rabbitmq_global_publishers rabbitmq_global_consumers
rabbitmq_global_messages_dead_lettered_maxlen_total rabbitmq_global_messages_dead_lettered_expired_total
rabbitmq_global_messages_dead_lettered_rejected_total rabbitmq_global_messages_dead_lettered_delivery_limit_total
rabbitmq_global_messages_dead_lettered_confirmed_total""".split()
SINGLE = [name for name in NAMES if "_global_" not in name and not name.endswith("_info")]
PAGES = {"/metrics": "aggregated", "/metrics/per-object": "per-object", "/metrics/memory-breakdown": "memory-breakdown",
         "/metrics/detailed?family=queue_metrics&family=connection_metrics&family=revenant_deaths": "detailed"}
OF_091, OF_10 = '{protocol="amqp091"}', '{protocol="amqp10"}'
DEATHS = "rabbitmq_global_messages_dead_lettered_{}_total"
OPEN_METRICS = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"


def of_queues(protocol, kind):
    return f'{{protocol="{protocol}",queue_type="rabbit_{kind}_queue"}}'


def scrape(world, page="/metrics"):
    answer = world.send("GET", page, user=None, port=world.prometheus_port)
    equal(answer.status, 200)
    contains(answer.headers["content-type"], "text/plain; version=0.0.4")
    return answer.body.decode()


def types(text):
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))


def without_suffix(name, families):
    """The family that a sample belongs to."""
    base = re.sub(r"_(bucket|sum|count)$", "", name)
    return base if families.get(base) == "histogram" else name


def samples(text):
    """Maps (name, labels as text) to the value."""
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
    found = samples(text)
    names = [name for name, _ in found]
    for name in NAMES:
        contains(names, name)
        equal(text.count(f"# TYPE {name} "), 1, name)
        equal(text.count(f"# HELP {name} "), 1, name)
    for name in SINGLE:
        equal([labels for other, labels in found if other == name], [""], name)
    buckets = [re.search('le="([^"]*)"', labels)[1] for name, labels in found
               if name == "rabbitmq_message_size_bytes_bucket"]
    equal(buckets, 2 * "100 1000 10000 100000 1000000 10000000 50000000 100000000 +Inf".split())
    for name in ("publishers", "consumers", "messages_received_total", "messages_routed_total", "messages_confirmed_total"):
        equal([labels for other, labels in found if other == "rabbitmq_global_" + name], [OF_091, OF_10])
    for name in ("delivered", "redelivered", "acknowledged", "get_empty", "delivered_consume_manual_ack"):
        equal([labels for other, labels in found if other == f"rabbitmq_global_messages_{name}_total"],
              [of_queues(protocol, kind) for protocol in ("amqp091", "amqp10") for kind in ("classic", "quorum")], name)


@case
def every_page_is_read_by_both_parsers(world):  # management 6.1, 6.5
    with world.amqp() as connection:
        channel = connection.channel()
        channel.queue_declare('a "quoted\\ name', arguments={"x-max-length": 0})
        channel.basic_publish("", 'a "quoted\\ name', b"dies")
        world.eventually(lambda: 'reason="maxlen"' in scrape(world, "/metrics/per-object"), "it has died")
        for page, endpoint in PAGES.items():
            text = scrape(world, page)
            found, families = samples(text), types(text)
            identities = [labels for name, labels in found if name == "rabbitmq_identity_info"]
            equal(len(identities), 1, page)
            contains(identities[0], f'rabbitmq_endpoint="{endpoint}"')
            equal({without_suffix(name, families) for name, _ in found} - families.keys(), set(), page)
            for name, kind in families.items():
                equal(text.count(f"# TYPE {name} "), 1, name)
                equal(text.count(f"# HELP {name} "), 1, name)
                equal(kind == "counter", name.endswith("_total"), name)
            answer = world.send("GET", page, user=None, port=world.prometheus_port, headers={"Accept": OPEN_METRICS})
            contains(answer.headers["content-type"], "application/openmetrics-text; version=1.0.0")
            parsed = {sample.name for family in parse_text(text) for sample in family.samples}
            equal(parsed, {name for name, _ in found}, page)
            parsed = {sample.name for family in parse_open_metrics(answer.body.decode()) for sample in family.samples}
            equal(parsed, {name for name, _ in found}, page)
        channel.queue_delete('a "quoted\\ name')


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
        protocol, queue = OF_091, of_queues("amqp091", "classic")

        def grown(name, labels=""):
            return after[name, labels] - before[name, labels]
        equal(grown("rabbitmq_global_messages_received_total", protocol), 5)
        equal(grown("rabbitmq_global_messages_received_confirm_total", protocol), 5)
        equal(grown("rabbitmq_global_messages_confirmed_total", protocol), 5)
        equal(grown("rabbitmq_global_messages_delivered_get_manual_ack_total", queue), 3)
        equal(grown("rabbitmq_global_messages_delivered_get_auto_ack_total", queue), 1)
        equal(grown("rabbitmq_global_messages_acknowledged_total", queue), 1)
        equal(grown("rabbitmq_queue_messages_published_total"), 5)
        equal(grown("rabbitmq_channel_messages_published_total"), 5)
        equal(grown("rabbitmq_message_size_bytes_bucket", '{protocol="amqp091",le="100"}'), 5)
        equal(grown("rabbitmq_message_size_bytes_sum", protocol), 25)
        equal(after["rabbitmq_global_publishers", protocol], 1)
        equal(grown("rabbitmq_connection_incoming_bytes_total") > 100, True)
        equal(grown("revenant_entries_entered_total"), 6)
        equal(grown("revenant_entries_ended_total", '{ending="dead_lettered"}'), 1)
        equal(grown("revenant_entries_ended_total", '{ending="acknowledged"}'), 1)
        equal(after["rabbitmq_connections", ""], 1)
        ended = sum(value for (name, _), value in after.items() if name == "revenant_entries_ended_total")
        equal(after["revenant_entries_entered_total", ""], ended + after["rabbitmq_queue_messages", ""])
        channel.queue_delete("counted")
        channel.queue_delete("dead")


@case
def nobody_learns_where_in_the_journal_a_message_lies(world):
    """The page requires no login. With the position of the next message, a client could forge journal bytes."""
    sizes = (5_000, 70_000)
    with world.amqp() as connection:
        channel = connection.channel()
        channel.queue_declare("placed", durable=True)
        channel.confirm_delivery()
        seen = [samples(scrape(world))]
        for size in sizes:
            channel.basic_publish("", "placed", bytes(size), pika.BasicProperties(delivery_mode=2))
            seen.append(samples(scrape(world)))
        channel.queue_delete("placed")
    of_journals = [key for key in seen[0] if "journal" in key[0]]
    equal(len(of_journals) > 5, True)
    follows = [key for key in of_journals
               if all(after[key] - before[key] >= size for before, after, size in zip(seen, seen[1:], sizes))]
    equal(follows, [])


@case
def each_protocol_is_counted_by_itself(world):
    world.put("/queues/%2F/spoken", {"durable": True, "arguments": {"x-queue-type": "quorum"}})
    before = samples(scrape(world))
    connection = world.amqp10()
    sender = connection.create_sender("/queues/spoken", options=AtLeastOnce())
    receiver = connection.create_receiver("/queues/spoken", credit=3)
    for _ in range(3):
        sender.send(Message(body=b"12345"))
    for settle in (receiver.accept, receiver.accept, receiver.reject):
        receiver.receive()
        settle()
    unroutable = connection.create_sender("/exchanges/amq.direct/nobody", options=AtLeastOnce())
    equal(unroutable.send(Message(body=b"12345"), error_states=[]).remote_state, Delivery.RELEASED)
    acknowledged = "rabbitmq_global_messages_acknowledged_total", of_queues("amqp10", "quorum")
    world.eventually(lambda: samples(scrape(world))[acknowledged] == before[acknowledged] + 2, "both are accepted")
    after = samples(scrape(world))

    def grown(name, labels=OF_10):
        return after[name, labels] - before[name, labels]
    equal(grown("rabbitmq_global_messages_received_total"), 4)
    equal(grown("rabbitmq_global_messages_received_confirm_total"), 4)
    equal(grown("rabbitmq_global_messages_routed_total"), 3)
    equal(grown("rabbitmq_global_messages_unroutable_returned_total"), 1)
    equal(grown("rabbitmq_global_messages_delivered_total", of_queues("amqp10", "quorum")), 3)
    equal(grown("rabbitmq_global_messages_delivered_total", of_queues("amqp10", "classic")), 0)
    equal(grown("rabbitmq_message_size_bytes_count"), 4)
    equal(grown("rabbitmq_message_size_bytes_sum") > 20, True)
    equal(after["rabbitmq_global_publishers", OF_10], 2)
    equal(after["rabbitmq_global_consumers", OF_10], 1)
    of_others = {key for key in after if 'protocol="amqp091"' in key[1]}
    equal({key: after[key] for key in of_others}, {key: before[key] for key in of_others})
    equal(grown("rabbitmq_queue_messages_published_total", ""), 3)
    equal([one["protocol"] for one in world.get("/connections")], ["AMQP 1-0"])
    equal(world.get("/channels"), [])
    connection.close()
    world.eventually(lambda: samples(scrape(world))["rabbitmq_global_publishers", OF_10] == 0, "the senders are gone")
    equal(samples(scrape(world))["rabbitmq_global_consumers", OF_10], 0)
    world.delete("/queues/%2F/spoken")


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
        fates = {labels: value - before[name, labels] for (name, labels), value in after.items()
                 if name == "revenant_deaths_total"}
        equal({labels: count for labels, count in fates.items() if count}, {
            '{reason="maxlen",outcome="dead_lettered"}': 1, '{reason="expired",outcome="dead_lettered"}': 1,
            '{reason="rejected",outcome="no_dlx"}': 2, '{reason="rejected",outcome="dead_lettered"}': 2,
            '{reason="delivery_limit",outcome="dead_lettered"}': 1, '{reason="rejected",outcome="waiting"}': 1})
        count = "revenant_expiry_lateness_seconds_count", ""
        equal(after[count] - before[count], 1)
        of_queues = samples(scrape(world, "/metrics/detailed?family=revenant_deaths&vhost=%2F"))
        equal({labels: value for (name, labels), value in of_queues.items() if name == "revenant_detailed_deaths_total"}, {
            f'{{vhost="/",queue="{queue}",reason="{reason}",outcome="{outcome}"}}': 1 for queue, reason, outcome in (
                ("c0", "rejected", "no_dlx"), ("c1", "rejected", "dead_lettered"), ("c1", "maxlen", "dead_lettered"),
                ("c2", "expired", "dead_lettered"), ("q0", "rejected", "no_dlx"),
                ("q1", "delivery_limit", "dead_lettered"), ("q2", "rejected", "dead_lettered"),
                ("q3", "rejected", "waiting"))})
        waiting = "revenant_detailed_queue_dead_letters_waiting", '{vhost="/",queue="q3"}'
        equal(of_queues[waiting], 1)
        equal(after["revenant_entries_unaccounted", ""], 0)
        equal(after["revenant_entries_present", '{state="dead_letter_waiting"}'], 1)
        present = sum_of(after, "revenant_entries_present")
        equal(present, after["rabbitmq_queue_messages", ""])
        equal(after["revenant_entries_entered_total", ""], sum_of(after, "revenant_entries_ended_total") + present)
        for name in ("dead", "c0", "c1", "c2", "q0", "q1", "q2", "q3"):
            channel.queue_delete(name)


def only_grows(name):
    return re.search("_(total|bucket|count|sum)$", name) is not None


def see_the_end(connection):
    """Lets a client notice that its virtual host was deleted; pika replies only when it processes events."""
    try:
        connection.process_data_events(SECONDS_MAX)
    except (pika.exceptions.AMQPError, ValueError):  # ValueError if the connection closes while pika waits.
        return
    raise Mismatch("the connection outlives its virtual host")


@case
def no_counter_goes_back_while_everything_comes_and_goes(world):  # management C.13
    last = samples(scrape(world))
    for turn in range(6):
        vhost = f"churn{turn % 2}"
        world.put("/vhosts/" + vhost)
        connections = [world.amqp(vhost=vhost if i % 2 else "/") for i in range(3)]
        for i, connection in enumerate(connections):
            channel = connection.channel()
            name = f"churn{i}"
            channel.queue_declare(name, arguments={"x-message-ttl": 0} if turn % 2 else {})
            channel.basic_publish("", name, b"x" * 200)
            channel.basic_get(name, auto_ack=True)
            if i != 1:
                channel.queue_delete(name)
            channel.close()
            after = samples(scrape(world))
            for key, value in last.items():
                equal(not only_grows(key[0]) or after[key] >= value, True, key)
            last = after
        connections[0].close()
        world.delete("/vhosts/" + vhost)
        see_the_end(connections[1])
        connections[2].close()
    world.eventually(lambda: world.get("/connections") == [], "no connection is left")
    after = samples(scrape(world))
    for key, value in last.items():
        equal(not only_grows(key[0]) or after[key] >= value, True, key)
    equal(after["revenant_entries_unaccounted", ""], 0)


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


def table_below(document, title):
    """The cells of the table in a section."""
    with open(os.path.join(ROOT, document)) as file:
        section = file.read().split(f"\n## {title}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def labels_of(found, families, wanted):
    names = {label for name, labels in found if without_suffix(name, families) == wanted
             for label in re.findall(r'[{,]([a-z_]+)="', labels)}
    return names - {"le"}


@case
def the_documented_metrics_are_those_there_are(world):
    text = scrape(world)
    found, families = samples(text), types(text)
    wanted = {row[0].strip("`"): (row[1], set(re.findall("`([a-z_]+)`", row[2])))
              for row in table_below("docs/metrics.md", "Revenant metrics")}
    equal({name: (kind, labels_of(found, families, name)) for name, kind in families.items()
           if name.startswith("revenant_")}, wanted)


@case
def the_documented_families_are_those_there_are(world):
    everywhere = {"rabbitmq_identity_info", "rabbitmq_build_info", "rabbitmq_detailed_queue_info"}
    for row in table_below("docs/metrics.md", "Metric families"):
        asked = re.findall("`([a-z_]+)`", row[0])
        names = set(re.findall("`([a-z_]+)`", row[2])) - {"reason", "outcome"}
        if asked == ["queue_metrics"]:
            names.add("queue_consumers")
        page = "/metrics/detailed?" + "&".join("family=" + family for family in asked)
        prefix = "rabbitmq_cluster_" if asked[0] in ("vhost_status", "exchange_names") else \
            "revenant_detailed_" if asked[0].startswith("revenant") else "rabbitmq_detailed_"
        equal(types(scrape(world, page)).keys() - everywhere, {prefix + name for name in names},
              " ".join(asked))
    equal(types(scrape(world, "/metrics/detailed?family=ra_metrics")).keys() - everywhere, set())


@case
def the_dashboard_asks_for_what_there_is(world):  # management 9.3
    with open(os.path.join(ROOT, "deploy", "grafana", "dead-letters.json")) as file:
        dashboard = json.load(file)
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    expressions += [variable["definition"] for variable in dashboard["templating"]["list"] if "definition" in variable]
    equal(len(expressions) > 30, True)
    with world.amqp() as connection:
        channel = connection.channel()
        channel.queue_declare("charted", arguments={"x-max-length": 0})
        channel.basic_publish("", "charted", b"dies")
        detailed = "/metrics/detailed?family=queue_coarse_metrics&family=queue_delivery_metrics&family=revenant_deaths"
        world.eventually(lambda: 'reason="maxlen"' in scrape(world, detailed), "it has died")
        there = [key for page in ("/metrics", detailed) for key in samples(scrape(world, page))]
        channel.queue_delete("charted")
    by_prometheus = {"instance", "le"}
    for expression in expressions:
        names = set(re.findall(r"\b(?:rabbitmq|revenant)_[a-z_]+", expression))
        equal(names - {name for name, _ in there}, set(), expression)
        labels = {label for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(", ")}
        labels |= set(re.findall(r'([a-z_]+)(?:=~|!~|=)"', expression))
        known = {label for name, shown in there if name in names for label in re.findall(r'[{,]([a-z_]+)="', shown)}
        equal(labels - known - by_prometheus, set(), expression)


@case
def only_the_page_is_served(world):
    equal(world.send("GET", "/", user=None, port=world.prometheus_port).status, 404)
    equal(world.send("GET", "/api/overview", port=world.prometheus_port).status, 404)
    equal(world.send("GET", "/metrics/nosuch", port=world.prometheus_port).status, 404)
    equal(world.send("GET", "/metrics/detailed?vhost=%zz", port=world.prometheus_port).status, 404)
    equal(world.send("DELETE", "/metrics", port=world.prometheus_port).status, 405)
