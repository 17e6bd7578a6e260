"""Test cases and assertions for the test programs written in Python."""
import time

SECONDS_MAX = 30
CASES = []


class Mismatch(Exception):
    """An assertion failed."""


class Skipped(Exception):
    """This machine cannot run the case."""


def case(function):
    """Registers a function as a case. It is called with its environment."""
    CASES.append(function)
    return function


def equal(found, wanted, what=""):
    if found != wanted:
        raise Mismatch(f"{what + ': ' if what else ''}found {found!r}, wanted {wanted!r}")


def contains(found, part, what=""):
    if part not in found:
        raise Mismatch(f"{what + ': ' if what else ''}{part!r} is not in {found!r}")


def lacks(found, part):
    if part in found:
        raise Mismatch(f"{part!r} is in {found!r}")


def eventually(condition, what):
    """Waits for a condition: commands without a reply take effect a moment later."""
    end = time.monotonic() + SECONDS_MAX
    while not condition():
        if time.monotonic() > end:
            raise Mismatch(f"not within {SECONDS_MAX} s: {what}")
        time.sleep(0.01)
