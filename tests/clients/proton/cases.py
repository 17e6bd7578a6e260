#!/usr/bin/python3
"""AMQP 1.0 cases, written as users of Qpid Proton write them.

Usage: cases.py HOST PORT HTTP_PORT [CASE]...
"""

import sys

import peer
# Each of them adds its cases to the list.
import cases_connections
import cases_messages
import cases_outcomes
import cases_links
import cases_addresses
import cases_dead_letters
import cases_management
import cases_rabbitmq43

sys.exit(peer.run_all())
