"""Cases and what they check, for the test programs written in Python."""
import time

SECONDS_MAX = 30
CASES = []


class Mismatch(Exception):
    """A promise does not hold."""


class Skipped(Exception):
    """This machine does not allow it."""


def case(function):
    """A function that is a case: it is called with the world it works in."""
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
    """What is sent without an answer is seen a moment later."""
    end = time.monotonic() + SECONDS_MAX
    while not condition():
        if time.monotonic() > end:
            raise Mismatch(f"not within {SECONDS_MAX} s: {what}")
        time.sleep(0.01)
