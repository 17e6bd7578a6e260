"""A small file system of its own, in a namespace that anybody may make: it can be full and it can be read-only."""
import os
import shutil
import subprocess

from sites import Skipped

COMMAND_SECONDS_MAX = 20
KEEPER = 'mount -t tmpfs -o size="$2" none "$1" && echo mounted && exec cat'


class Volume:
    """Exists while its keeper does, a process that waits in the namespace."""

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
        """Before a command that is to see the volume."""
        return ["nsenter", "-t", str(self.keeper.pid), "-U", "-m", "--preserve-credentials", "--"]

    def outside(self, path):
        """The same file, as it is reached by those who do not see the volume."""
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
    """A file that takes room."""

    def __init__(self, volume, leave_bytes):
        self.path = volume.outside(os.path.join(volume.directory, "ballast"))
        with open(self.path, "wb") as file:
            for _ in range(max(0, volume.free_bytes() - leave_bytes) // 65536):
                file.write(bytes(65536))

    def remove(self):
        os.remove(self.path)
