"""A restart with messages in a durable queue: the time until the broker is ready and until a new consumer has its
first message, and whether all messages still exist."""
import time

from brokers import STOP_SECONDS_MAX, BrokerError


def end(broker, ending):
    if ending == "kill":
        broker.kill()
    else:
        broker.stop_server()


def lost(text, line):
    return {**line, "ok": False, "lost": True, "error": f"{text} (ready after {line['ready_seconds']:.3f} s)"}


def restart_line(load_line, options, broker):
    """load_line(mode, options, broker) runs bench_load and returns its result."""
    count, ending = options["messages"], options["ending"]
    filled = load_line("fill", {"messages": count, "persistent": 1, "keep": 1}, broker)
    if not filled["ok"]:
        return filled
    stop_start = time.monotonic()
    end(broker, ending)
    line = {"ok": True, "stop_seconds": time.monotonic() - stop_start, "unsaved_mb": filled.get("unsaved_mb", 0)}
    if line["stop_seconds"] >= STOP_SECONDS_MAX:
        return {**line, "ok": False, "error": f"the broker did not stop within {STOP_SECONDS_MAX} s and was killed"}
    start_ns = time.monotonic_ns()
    try:
        broker.start()
    except BrokerError as error:
        return {**line, "ok": False, "error": f"the broker did not restart: {error}"}
    line["ready_seconds"] = (time.monotonic_ns() - start_ns) / 1e9
    recovered = load_line("recovered", {"messages": count, "started-ns": start_ns}, broker)
    if not recovered["ok"]:
        if "NOT_FOUND" in recovered["error"]:
            return lost("lost: the durable queue does not exist", line)
        return {**line, **recovered}
    if recovered["found"] != count:
        return lost(f"lost: the queue contains {recovered['found']} of {count} messages", {**recovered, **line})
    return {**recovered, **line}
