#!/usr/bin/python3
"""AMQP 1.0 cases, written as users of Qpid Proton write them. Usage: cases.py HOST PORT HTTP_PORT [CASE]..."""

import sys

import peer
import cases_messages
import cases_outcomes
import cases_links
import cases_dead_letters
import cases_management

sys.exit(peer.run_all())
