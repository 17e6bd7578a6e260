#!/usr/bin/python3
"""AMQP 0-9-1 cases, written as users of pika write them. Usage: cases.py HOST PORT"""

import sys

import peer
# Each of them adds its cases to the list.
import cases_connections
import cases_exchanges
import cases_queues
import cases_publishers
import cases_messages
import cases_consumers
import cases_dead_letters

sys.exit(peer.run_all())
