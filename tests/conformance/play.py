"""Plays scenarios on a broker, several at the same time, each worker in a virtual host of its own."""
import queue
import threading
import traceback

from script import ScriptError
from stage import Stage


def play(place, scenarios, jobs):
    """The workers that play, and where the transcripts will be by scenario; one that broke has the error in its place."""
    waiting, transcripts = queue.SimpleQueue(), {}
    for scenario in scenarios:
        waiting.put(scenario)
    place.make_vhosts(jobs)
    workers = [threading.Thread(target=work, args=(place, number, waiting, transcripts), daemon=True)
               for number in range(jobs)]
    for worker in workers:
        worker.start()
    return workers, transcripts


def play_all(place, scenarios, jobs):
    """The transcripts, when all are there."""
    workers, transcripts = play(place, scenarios, jobs)
    for worker in workers:
        worker.join()
    return transcripts


def work(place, number, waiting, transcripts):
    stage = None
    while not waiting.empty():
        try:
            scenario = waiting.get_nowait()
        except queue.Empty:
            break
        try:
            stage = stage or Stage(place, number)
            transcripts[scenario.name] = stage.perform(scenario)
        except ScriptError as error:
            transcripts[scenario.name] = [f"! {error}"]
        except Exception:  # Whatever breaks a scenario is its result, and the next one starts afresh.
            transcripts[scenario.name] = ["! " + line for line in traceback.format_exc(limit=-4).splitlines()]
            stage = None
    if stage:
        stage.close()
