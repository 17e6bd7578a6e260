"""A broker on a small volume. Its log goes to a pipe that is not always read, and its memory is monitored."""
import fcntl
import os
import shutil
import signal
import subprocess
import threading
import time

from brokers_to_crash import RevenantToCrash
from journal_files import bytes_in

SAMPLE_SECONDS = 0.05
READER_SECONDS_MAX = 5
STOP_SECONDS_MAX = 20
PIPE_BYTES = 4096  # About twenty lines.
RESIDENT_BYTES_MAX = 100_000_000
RESIDENT_BYTES_RUINOUS = 1_500_000_000  # The process is killed at this size to protect the machine.


class LogReader(threading.Thread):
    """Copies a pipe to a file, except while it is deaf."""

    def __init__(self, pipe, path, deaf):
        super().__init__(daemon=True)
        self.pipe, self.path, self.deaf = pipe, path, deaf

    def run(self):
        with open(self.path, "ab", buffering=0) as log, open(self.pipe, "rb", buffering=0) as pipe:
            while True:
                while self.deaf.is_set():
                    time.sleep(SAMPLE_SECONDS)
                data = pipe.read(65536)
                if not data:
                    return
                log.write(data)


class Watch(threading.Thread):
    """Records the peak memory of a process."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process = process
        self.peak_bytes = 0

    def run(self):
        while self.process.poll() is None:
            self.look()
            if self.peak_bytes > RESIDENT_BYTES_RUINOUS:
                self.process.kill()
            time.sleep(SAMPLE_SECONDS)

    def look(self):
        """Uses the kernel's high-water mark, so that no peak between two samples is missed."""
        try:
            with open(f"/proc/{self.process.pid}/status") as file:
                for line in file:
                    if line.startswith(("VmHWM:", "VmRSS:")):
                        self.peak_bytes = max(self.peak_bytes, int(line.split()[1]) * 1024)
        except OSError:
            pass


class ChaosBroker(RevenantToCrash):
    patience_seconds = 6

    def __init__(self, program, directory, volume):
        super().__init__(program, directory, wrapper=volume.wrapper)
        self.volume = volume
        self.data = os.path.join(volume.directory, "data")
        self.deaf = threading.Event()
        self.reader = self.watch = None
        self.peak_bytes = 0  # Over all processes so far.
        self.copies = 0

    # --- process -------------------------------------------------------------------------------------

    def open_log(self):
        read_end, write_end = os.pipe()
        fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.reader = LogReader(read_end, self.log, self.deaf)
        self.reader.start()
        return open(write_end, "wb")

    def wait_for_ready_line(self):
        self.watch = Watch(self.process)
        self.watch.start()
        super().wait_for_ready_line()

    def stop(self, signal_number=signal.SIGTERM):
        if self.alive() and signal_number == signal.SIGKILL:
            self.watch.look()
        super().stop(signal_number)
        self.note_end()

    def terminate(self):
        self.deaf.clear()
        self.process.send_signal(signal.SIGTERM)
        try:
            orderly = self.process.wait(STOP_SECONDS_MAX) == 0
        except subprocess.TimeoutExpired:
            orderly = False
        self.kill()
        return orderly

    def note_end(self):
        """On return, the log is complete and the peak is known."""
        self.deaf.clear()
        if self.reader is not None:
            self.reader.join(READER_SECONDS_MAX)
            self.watch.join(READER_SECONDS_MAX)
            self.peak_bytes = max(self.peak_bytes, self.watch.peak_bytes)

    def life_peak_bytes(self):
        return self.watch.peak_bytes if self.watch is not None else 0

    def freeze(self, seconds):
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)

    def busiest_share(self, seconds):
        """The fraction of the given seconds in which the busiest thread was running or runnable. Waiting for a core
        counts, because a spinning thread may get little CPU time on a busy machine."""
        before, began = self.busy_nanoseconds(), time.monotonic_ns()
        time.sleep(seconds)
        after, passed = self.busy_nanoseconds(), time.monotonic_ns() - began
        return max((after[thread] - before.get(thread, 0) for thread in after), default=0) / passed

    def busy_nanoseconds(self):
        """By thread: time on a core, and time waiting for one."""
        found = {}
        try:
            for thread in os.listdir(f"/proc/{self.pid}/task"):
                with open(f"/proc/{self.pid}/task/{thread}/schedstat") as file:
                    running, waiting, _ = map(int, file.read().split())
                found[thread] = running + waiting
        except OSError:  # The thread or the process has ended.
            pass
        return found

    # --- disk ----------------------------------------------------------------------------------------

    @property
    def data_outside(self):
        return self.volume.outside(self.data)

    def describe_disk(self):
        """Lists the files that use the space."""
        vhosts = os.path.join(self.data_outside, "vhosts")
        sizes = {name: bytes_in(os.path.join(vhosts, name)) for name in os.listdir(vhosts)}
        return (f"{self.volume.free_bytes() / 1e6:.1f} MB are free, "
                + ", ".join(f"{name} takes {size / 1e6:.1f} MB" for name, size in sizes.items()))

    def keep_copy(self):
        """Copies the current directory outside of the volume and returns the path."""
        self.copies += 1
        copy = os.path.join(self.directory, f"data.{self.copies}")
        subprocess.run(["cp", "-r", self.data_outside, copy], check=False)
        return copy

    def start_afresh(self):
        self.kill()
        shutil.rmtree(self.data_outside, ignore_errors=True)
        self.start()
