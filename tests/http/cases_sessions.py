"""AMQP 1.0 connections: sessions and links."""
from proton import Endpoint, Message
from proton.reactor import AtLeastOnce, AtMostOnce
from world import case, equal, quote

SESSION = {"channel_number", "handle_max", "next_incoming_id", "incoming_window", "next_outgoing_id",
           "remote_incoming_window", "remote_outgoing_window", "outgoing_unsettled_deliveries", "incoming_links",
           "outgoing_links"}


@case
def sessions_of_amqp_1_0_are_listed_with_their_links(world):  # amqp10 9.4
    world.put("/queues/%2F/sessions", {"durable": True})
    connection = world.amqp10()
    try:
        world.eventually(lambda: len(world.get("/connections")) == 1, "the connection is listed")
        shown = world.get("/connections")[0]
        path = f"/connections/{quote(shown['name'])}"
        sender = connection.create_sender("/queues/sessions", name="out", options=AtLeastOnce())
        for _ in range(3):
            sender.send(Message(body="x"))
        connection.create_receiver("/queues/sessions", credit=5, name="in")
        connection.create_receiver("/queues/sessions", credit=0, name="settled", options=AtMostOnce())

        def sessions():
            return world.get(path + "/sessions")

        world.eventually(lambda: sessions()[0]["outgoing_unsettled_deliveries"] == 3, "the messages are under way")
        session, = sessions()
        equal(set(session), SESSION)
        equal({name: type(value) for name, value in session.items() if not name.endswith("_links")},
              {name: int for name in SESSION if not name.endswith("_links")})
        equal((session["next_incoming_id"], session["next_outgoing_id"]), (3, 3))
        out, = session["incoming_links"]
        handle, credit = out.pop("handle"), out.pop("credit")
        equal(isinstance(handle, int) and credit > 0, True)
        equal(out, {"link_name": "out", "target_address": "/queues/sessions", "snd_settle_mode": out["snd_settle_mode"],
                    "max_message_size": 16777216, "delivery_count": 3, "unconfirmed_messages": 0})
        first, second = sorted(session["outgoing_links"], key=lambda link: link["link_name"])
        del first["handle"], second["handle"]
        equal(first, {"link_name": "in", "source_address": "/queues/sessions", "queue_name": "sessions",
                      "send_settled": False, "max_message_size": "unlimited", "filter": [], "delivery_count": 3,
                      "credit": first["credit"], "consumer_timeout": False})
        equal(first["credit"] >= 2, True, "of five at least")
        equal((second["link_name"], second["send_settled"]), ("settled", True))
        second_session = connection.conn.session()
        second_session.open()
        connection.wait(lambda: second_session.state & Endpoint.REMOTE_ACTIVE, msg="opening a second session")
        equal([one["channel_number"] for one in sessions()], [0, 1])
        equal(world.get(path)["channels"], 2, "sessions are counted, not links")
    finally:
        connection.close()
    world.delete("/queues/%2F/sessions")


@case
def a_link_that_was_too_slow_says_so(world):
    world.put("/queues/%2F/slow", {"durable": True, "arguments": {"x-queue-type": "quorum", "x-consumer-timeout": 1}})
    connection = world.amqp10()
    try:
        world.eventually(lambda: len(world.get("/connections")) == 1, "the connection is listed")
        path = f"/connections/{quote(world.get('/connections')[0]['name'])}/sessions"
        connection.create_receiver("/queues/slow", credit=1, name="in")
        connection.create_sender("/queues/slow", name="out").send(Message(body="x"))

        def timed_out():
            (session,) = world.get(path)
            return session["outgoing_links"][0]["consumer_timeout"]

        world.eventually(timed_out, "the message was taken back")
        queue = world.get("/queues/%2F/slow")
        equal((queue["messages_ready"], queue["messages_ready_returned"]), (1, 1), "it comes first")
    finally:
        connection.close()
    world.delete("/queues/%2F/slow")


@case
def a_connection_of_amqp_0_9_1_has_no_sessions(world):
    with world.amqp():
        world.eventually(lambda: len(world.get("/connections")) == 1, "the connection is listed")
        name = quote(world.get("/connections")[0]["name"])
        equal(world.get(f"/connections/{name}/sessions"), [])
