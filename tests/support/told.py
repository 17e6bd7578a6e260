"""Reports cases line by line: the plan `1..N`, then `ok NAME` or `not ok NAME: reason` for each. The programs of the
client matrix use this protocol."""
import os
import signal
import traceback

CASE_SECONDS_MAX = 20
SUPPORT = os.path.dirname(os.path.abspath(__file__))


def place_of(error):
    """The innermost line outside the assertion functions."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if os.path.dirname(os.path.abspath(frame.filename)) != SUPPORT]
    where = own[-1]
    return f"{where.name}, line {where.lineno}: {where.line}"


def told(name, work, seconds_max=CASE_SECONDS_MAX):
    """Runs a case and reports its result; True on success."""
    def give_up(*_):
        raise TimeoutError(f"no end after {seconds_max} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds_max)
    try:
        work()
        print(f"ok {name}", flush=True)
        return True
    except Exception as error:
        traceback.print_exc()
        print(f"not ok {name}: " + f"{error!r} in {place_of(error)}".replace("\n", " "), flush=True)
        return False
    finally:
        signal.alarm(0)


def tell_all_cleaned(cases, clean_up):
    """Runs all cases with a cleanup before each and at the end; returns the exit status."""
    def run(case):
        def work():
            clean_up()
            case()

        return told(case.__name__, work)

    status = tell_all(cases, run)
    clean_up()
    return status


def tell_all(cases, run):
    """Runs all cases with `run`; returns the exit status."""
    print(f"1..{len(cases)}", flush=True)
    return 0 if all([run(case) for case in cases]) else 1
