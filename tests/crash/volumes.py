"""A small file system in an unprivileged namespace: it can be full or read-only."""
import errno
import os
import shutil
import subprocess
import threading

from sites import Skipped

COMMAND_SECONDS_MAX = 20
PIECE_BYTES = 65536
GROWTH_SECONDS = 0.02
KEEPER = 'mount -t tmpfs -o size="$2" none "$1" && echo mounted && exec cat'


class Volume:
    """Exists as long as its keeper, a process that waits in the namespace."""

    def __init__(self, directory, size):
        if not (shutil.which("unshare") and shutil.which("nsenter")):
            raise Skipped("unshare and nsenter are not installed")
        os.makedirs(directory, exist_ok=True)
        self.directory = directory
        self.keeper = subprocess.Popen(["unshare", "-rm", "sh", "-c", KEEPER, "sh", directory, str(size)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if self.keeper.stdout.readline() != b"mounted\n":
            _, complaint = self.keeper.communicate()
            raise Skipped(f"no file system can be mounted in a namespace: {complaint.decode().strip()}")

    @property
    def wrapper(self):
        """Prefix for a command that must see the volume."""
        return ["nsenter", "-t", str(self.keeper.pid), "-U", "-m", "--preserve-credentials", "--"]

    def outside(self, path):
        """The path of the file for processes that do not see the volume."""
        return f"/proc/{self.keeper.pid}/root{path}"

    def make_read_only(self):
        subprocess.run(self.wrapper + ["mount", "-o", "remount,bind,ro", self.directory], check=True,
                       timeout=COMMAND_SECONDS_MAX)

    def free_bytes(self):
        status = os.statvfs(self.outside(self.directory))
        return status.f_bavail * status.f_frsize

    def close(self):
        self.keeper.stdin.close()
        self.keeper.wait(COMMAND_SECONDS_MAX)
        self.keeper.stdout.close()
        self.keeper.stderr.close()


class Ballast:
    """A file that uses up disk space: all of it, and, if kept growing, all that becomes free."""

    def __init__(self, volume, leave_bytes):
        self.volume, self.leave_bytes = volume, leave_bytes
        self.grower, self.removed = None, threading.Event()
        self.path = volume.outside(os.path.join(volume.directory, "ballast"))
        self.grow()

    def grow(self):
        """Takes the space that has become free."""
        with open(self.path, "ab", buffering=0) as file:
            wanted = (self.volume.free_bytes() - self.leave_bytes) // PIECE_BYTES * PIECE_BYTES
            while wanted >= PIECE_BYTES:
                try:
                    os.posix_fallocate(file.fileno(), os.path.getsize(self.path), wanted)
                    break
                except OSError as error:  # Another process wrote in the meantime.
                    if error.errno != errno.ENOSPC:
                        raise
                    wanted //= 2

    def keep_growing(self):
        self.grower = threading.Thread(target=self.grow_until_removed, daemon=True)
        self.grower.start()

    def grow_until_removed(self):
        while not self.removed.wait(GROWTH_SECONDS):
            self.grow()

    def remove(self):
        self.removed.set()
        if self.grower is not None:
            self.grower.join()
        os.remove(self.path)
