"""Removes everything from the queues after a restart, so that each message can be counted."""
import time

from brokers_to_crash import Api, Client, ClosedByBroker, segment
from checker import Found, is_missing
from ledger import id_in

BATCH = 1000
PAUSE_SECONDS = 0.02


class Drain:
    """Consumes and acks in transactions, so that drained messages do not reappear in a later round."""

    def __init__(self, broker, ledger, workloads, client=None):
        self.broker, self.ledger = broker, ledger
        self.client, self.api = client or Client(broker.port, "/"), Api(broker.http_port)
        self.expiring = [queue for workload in workloads for queue in workload.expiring]
        self.outboxes = [queue for workload in workloads for queue in workload.letters_wait_in]
        self.queues = [queue for lane in ledger.lanes.values() for queue in lane.queues if queue not in self.expiring]
        self.findings = {queue: [] for queue in self.queues + self.expiring}

    def run(self):
        """Returns the findings by queue. Ends when nothing is missing, or when nothing has arrived for a while."""
        last_progress = time.monotonic()
        while time.monotonic() < last_progress + self.broker.patience_seconds:
            if sum(map(self.take_all, self.queues)):
                last_progress = time.monotonic()
            elif self.is_complete() and not sum(map(self.take_all, self.queues)):
                break  # Only now: messages that expired between the two checks are in their dead-letter queue.
            else:
                time.sleep(PAUSE_SECONDS)
        for queue in self.expiring:
            self.take_all(queue)
        self.client.close()
        self.api.close()
        return self.findings

    def is_complete(self):
        return not (any(self.count(queue) for queue in self.expiring)
                    or any(self.letters_waiting(queue) for queue in self.outboxes) or self.anything_missing())

    def anything_missing(self):
        found = {(queue, message.id) for queue, messages in self.findings.items() for message in messages}
        for message in self.ledger.messages.values():
            for name, copy in message.copies.items():
                lane = self.ledger.lanes[name]
                if is_missing(lane, message, copy) and not any((queue, message.id) in found for queue in lane.queues):
                    return True
        return False

    def letters_waiting(self, queue):
        _, answer = self.api.request("GET", f"/api/queues/%2F/{segment(queue)}")
        return answer.get("messages_dlx", 0) if isinstance(answer, dict) else 0

    def count(self, queue):
        """Number of ready messages; 0 if the queue does not exist, which the definitions report."""
        try:
            return self.client.call("queue.declare", 0, queue, True, False, False, False, False, [])[1]
        except ClosedByBroker as closed:
            if closed.code != 404:
                raise
            return 0

    def take_all(self, queue):
        """Returns the number of messages."""
        taken = 0
        while count := self.count(queue):
            messages = self.take(queue, min(count, BATCH))
            self.findings[queue] += map(found_in, messages)
            taken += len(messages)
            if not messages:
                break
        return taken

    def take(self, queue, count):
        """Takes at least this many, as long as they arrive, and all further messages that are delivered."""
        client = self.client
        client.call("tx.select")
        client.call("basic.consume", 0, queue, "drain", False, False, False, False, [])
        client.read_until(lambda: len(client.deliveries) >= count, self.broker.patience_seconds)
        client.call("basic.cancel", "drain", False)
        messages = list(client.deliveries)
        client.deliveries.clear()
        if messages:
            client.send("basic.ack", messages[-1].values[1], True)
        client.call("tx.commit")
        return messages


def found_in(message):
    properties = dict(message.properties)
    headers = {name: content for name, _, content in properties.get("headers", [])}
    records = [{name: value for name, _, value in record} for _, record in headers.get("x-death", [])]
    deaths = tuple((record["queue"], record["reason"], record["count"]) for record in records)
    id = id_in(message.body, properties.get("message-id"))
    if (properties.get("message-id"), headers.get("mark")) == (id, id):
        return Found(id, deaths, redelivered=message.values[2])
    return Found(None, deaths, f"{message.body[:80]!r} with {properties}", message.values[2])
