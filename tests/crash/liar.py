#!/usr/bin/python3
"""A broker that lies, to test the test: liar.py LIE REVENANT ARGUMENTS… runs the real broker and corrupts its work."""
import ctypes
import os
import re
import shutil
import signal
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
QUEUE = "plain"
PR_SET_PDEATHSIG = 1
LIES_SECONDS = 0.2
SWOLLEN_BYTES = 120_000_000


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def data_of(command):
    return command[command.index("--data-dir") + 1]


def port_of_broker():
    """Reads the port from standard output, which is a file."""
    while True:
        with open("/proc/self/fd/1") as output:
            ready = re.search(r"^revenant ready amqp=\S+:(\d+) ", output.read(), re.MULTILINE)
        if ready:
            return int(ready[1])
        time.sleep(0.01)


def spoil(copies):
    """Removes messages from the queue one by one and publishes this many copies of each."""
    sys.path.insert(0, HERE)
    from brokers_to_crash import Client, ClosedByBroker
    client = Client(port_of_broker(), "/")
    while True:
        try:
            message = client.get(QUEUE, no_ack=True)
            for _ in range(copies if message else 0):
                client.publish("", QUEUE, message.body, dict(message.properties))
        except ClosedByBroker:
            pass  # The queue does not exist yet.
        time.sleep(LIES_SECONDS)


def beside(work, command):
    """Runs the lie in a child while the broker runs in this process."""
    parent = os.getpid()
    if os.fork() == 0:
        die_with_parent()
        if os.getppid() == parent:
            try:
                work()
            except Exception:  # The broker has ended.
                pass
        os._exit(0)
    os.execv(command[0], command)


def in_front(work, command):
    """Runs the lie in this process, which acts as the broker, while the broker runs in another."""
    child = os.fork()
    if child == 0:
        die_with_parent()
        os.execv(command[0], command)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    threading.Thread(target=work, daemon=True).start()
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status))


def swell():
    swell.ballast = bytes(os.urandom(1)) * SWOLLEN_BYTES


def spin():
    while True:
        pass


def refuse(command):
    """Fails at the second start and at every later one."""
    mark = f"{data_of(command)}.refused"
    if os.path.exists(mark):
        print("cannot start: once was enough", file=sys.stderr)
        sys.exit(1)
    open(mark, "w").close()
    os.execv(command[0], command)


def forget(command):
    """Starts with the contents that the directory had at the previous start."""
    data = data_of(command)
    saved = f"{data}.saved"
    if os.path.exists(saved):
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(saved, data)
    elif os.path.exists(data):
        shutil.copytree(data, saved)
    os.execv(command[0], command)


LIES = {"loses": lambda command: beside(lambda: spoil(0), command),
        "doubles": lambda command: beside(lambda: spoil(2), command),
        "swells": lambda command: in_front(swell, command),
        "spins": lambda command: in_front(spin, command),
        "refuses": refuse,
        "forgets": forget,
        "nothing": lambda command: os.execv(command[0], command)}

if __name__ == "__main__":
    LIES[sys.argv[1]](sys.argv[2:])
