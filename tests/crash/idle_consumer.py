#!/usr/bin/python3
"""Consumes a queue without a prefetch limit and acknowledges nothing, until it is stopped or killed: idle_consumer.py
PORT QUEUE."""
import ctypes
import signal
import sys

from brokers_to_crash import Client

PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # A stopped process must not outlive its test.
client = Client(int(sys.argv[1]), "/")
client.call("basic.consume", 0, sys.argv[2], "idle", False, False, False, False, [])
print("consuming", flush=True)
while True:
    client.receive(3600)
    client.deliveries.clear()
