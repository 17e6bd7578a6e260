"""Plays scenarios on a broker concurrently, each worker in its own virtual host."""
import queue
import threading
import traceback

from script import ScriptError
from stage import Stage


def play(place, scenarios, jobs):
    """The workers, and the transcripts by scenario, which they fill in. A scenario that failed has its error instead."""
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
    """Waits for all transcripts and returns them."""
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
        except Exception:  # An exception is the result of its scenario; the next scenario starts from scratch.
            transcripts[scenario.name] = ["! " + line for line in traceback.format_exc(limit=-4).splitlines()]
            stage = None
    if stage:
        stage.close()
