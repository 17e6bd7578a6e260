"""The compiled programs of the benchmarks and of the load test."""
import os
import subprocess
import sys

BENCH = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(BENCH))


def load_program(name, given, revenant):
    """Returns the given program, or the one built with the broker, or builds it."""
    beside = os.path.join(os.path.dirname(os.path.abspath(revenant)), name)
    if given or os.access(beside, os.X_OK):
        return given or beside
    directory = os.path.join(ROOT, "build", "bench")
    for command in (["cmake", "-S", BENCH, "-B", directory], ["cmake", "--build", directory, "--parallel", "2"]):
        subprocess.run(command, check=True, stdout=sys.stderr)
    return os.path.join(directory, name)
