#!/usr/bin/python3
"""A Celery application with one worker: tasks, results, retries. Usage: cases.py HOST PORT

This file is both the application, which the worker imports, and the program that calls it. The
broker's address comes to the worker through the environment.
"""

import os
import subprocess
import sys
import time

import celery
import celery.exceptions
from kombu import Exchange, Queue

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from promises import CASES, case  # noqa: E402
from told import told  # noqa: E402

NAME = "clients.celery"
PATIENCE_SECONDS = 20
WORKER_START_SECONDS = 30
CASE_SECONDS_MAX = WORKER_START_SECONDS + 5

if __name__ == "__main__":
    os.environ["CELERY_BROKER"] = f"amqp://guest:guest@{sys.argv[1]}:{sys.argv[2]}//"

app = celery.Celery("cases", broker=os.environ["CELERY_BROKER"], backend="rpc://")
app.conf.update(
    task_default_queue=NAME,
    task_queues=[
        Queue(NAME, Exchange(NAME), NAME, max_priority=5),
        Queue(f"{NAME}.dead", Exchange(f"{NAME}.dead", "fanout")),
        Queue(f"{NAME}.guarded", Exchange(NAME), f"{NAME}.guarded",
              queue_arguments={"x-dead-letter-exchange": f"{NAME}.dead"})],
    broker_transport_options={"confirm_publish": True},
    result_expires=60,
    worker_hijack_root_logger=False,
)


@app.task
def add(left, right):
    return left + right


@app.task(bind=True, max_retries=3, default_retry_delay=0.05)
def succeed_on_third_attempt(self):
    if self.request.retries < 2:
        raise self.retry(exc=ConnectionError("not yet"))
    return {"retries": self.request.retries, "redelivered":
            self.request.delivery_info["redelivered"]}


@app.task(bind=True, max_retries=2, default_retry_delay=0.05)
def never_succeed(self):
    raise self.retry(exc=ConnectionError("still down"))


@app.task(autoretry_for=(KeyError,), retry_backoff=False, default_retry_delay=0, max_retries=1)
def fail():
    raise KeyError("wrong")


@app.task(acks_late=True, bind=True)
def reject(self):
    raise celery.exceptions.Reject("poison", requeue=False)


@app.task(acks_late=True, bind=True)
def requeue_once(self):
    if not self.request.delivery_info["redelivered"]:
        raise celery.exceptions.Reject("again", requeue=True)
    return "redelivered"


@app.task(bind=True)
def report_progress(self):
    for step in range(3):
        self.update_state(state="PROGRESS", meta={"step": step})
    return "finished"


@case
def worker_answers_ping():
    """The control commands use a fanout exchange and transient reply queues."""
    deadline = time.monotonic() + WORKER_START_SECONDS
    while not (answers := app.control.ping(timeout=0.5)):
        assert time.monotonic() < deadline, "the worker does not answer"
    assert list(answers[0].values()) == [{"ok": "pong"}], answers


@case
def task_result():
    assert add.delay(2, 3).get(timeout=PATIENCE_SECONDS) == 5


@case
def retried_task_succeeds():
    result = succeed_on_third_attempt.delay().get(timeout=PATIENCE_SECONDS)
    assert result == {"retries": 2, "redelivered": False}, result


@case
def retries_run_out():
    try:
        never_succeed.delay().get(timeout=PATIENCE_SECONDS)
    except ConnectionError as error:
        assert str(error) == "still down", error
    else:
        raise AssertionError("the task succeeded")


@case
def failure_reaches_the_caller():
    result = fail.delay()
    try:
        result.get(timeout=PATIENCE_SECONDS)
    except KeyError as error:
        assert error.args == ("wrong",), error
    else:
        raise AssertionError("the task succeeded")
    assert result.state == "FAILURE", result.state


@case
def countdown_is_kept():
    started = time.monotonic()
    assert add.apply_async((1, 1), countdown=0.5).get(timeout=PATIENCE_SECONDS) == 2
    assert time.monotonic() - started >= 0.5


@case
def group_of_fifty():
    results = celery.group(add.s(number, number) for number in range(50))().get(
        timeout=PATIENCE_SECONDS)
    assert results == [2 * number for number in range(50)], results


@case
def chain_of_tasks():
    assert celery.chain(add.s(1, 2), add.s(3), add.s(4))().get(timeout=PATIENCE_SECONDS) == 10


@case
def progress_states_arrive():
    states = []
    result = report_progress.delay()
    assert result.get(timeout=PATIENCE_SECONDS, on_message=lambda message: states.append(
        message["status"])) == "finished"
    assert states == ["PROGRESS"] * 3 + ["SUCCESS"], states


@case
def rejected_task_is_dead_lettered():
    reject.apply_async(queue=f"{NAME}.guarded")
    with app.connection_for_read() as connection:
        queue = app.amqp.queues[f"{NAME}.dead"](connection.default_channel)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (message := queue.get(no_ack=True)) is None:
            assert time.monotonic() < deadline, "no dead letter"
            time.sleep(0.05)
    death = message.headers["x-death"][0]
    assert (death["queue"], death["reason"], death["count"]) == (
        f"{NAME}.guarded", "rejected", 1), death
    assert message.headers["task"].endswith("reject"), message.headers


@case
def requeued_task_runs_again():
    assert requeue_once.delay().get(timeout=PATIENCE_SECONDS) == "redelivered"


@case
def inspection_sees_the_queues():
    queues = app.control.inspect(timeout=2).active_queues()
    names = {queue["name"] for queue in list(queues.values())[0]}
    assert f"{NAME}.guarded" in names, names


def start_worker():
    # The case reads the dead letters itself, so the worker must not consume them.
    return subprocess.Popen(
        [sys.executable, "-m", "celery", "--quiet", "--app", "cases", "worker", "--pool", "solo",
         "--loglevel", "WARNING", "--hostname", "clients@localhost",
         "--queues", f"{NAME},{NAME}.guarded"],
        cwd=os.path.dirname(os.path.abspath(__file__)), stdout=sys.stderr,
        env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))


def clean_up():
    with app.connection_for_write() as connection:
        channel = connection.default_channel
        for queue in [NAME, f"{NAME}.dead", f"{NAME}.guarded"]:
            channel.queue_delete(queue)
        for exchange in [NAME, f"{NAME}.dead", "celery.pidbox", "celeryev", "reply.celery.pidbox"]:
            channel.exchange_delete(exchange)


def run(function):
    return told(function.__name__, function, CASE_SECONDS_MAX)


def main():
    print(f"1..{len(CASES) + 1}")
    clean_up()
    with app.connection_for_write() as connection:
        for queue in app.amqp.queues.values():
            queue(connection.default_channel).declare()
    worker = start_worker()
    try:
        passed = [run(function) for function in CASES]
        worker.terminate()
        stopped = worker.wait(timeout=PATIENCE_SECONDS) == 0
        print("ok worker_stops" if stopped else f"not ok worker_stops: {worker.returncode}")
    finally:
        if worker.poll() is None:
            worker.kill()
        clean_up()
    return 0 if all(passed) and stopped else 1


if __name__ == "__main__":
    sys.exit(main())
