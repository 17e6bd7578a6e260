"""The files of a journal as docs/formats/journal.md describes them: the positions of batches, and forged batches."""
import ctypes
import os
import struct

from brokers_to_crash import segment

HEADER = struct.Struct(">Q4sIQQII")  # checksum, magic, size, lsn, synced, epoch, secret
MAGIC = b"RVB1"
ALIGNMENT = 8
PAGE_BYTES = 4096
NAME_BYTES_MAX = 4096
BLOCK_BYTES = 512


def checksum_of(data, seed):
    library = checksum_of.library
    if library is None:
        library = checksum_of.library = ctypes.CDLL("libxxhash.so.0")
        library.XXH3_64bits_withSeed.restype = ctypes.c_uint64
        library.XXH3_64bits_withSeed.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64)
    return library.XXH3_64bits_withSeed(data, len(data), seed)


checksum_of.library = None


def forged_batch(lsn, epoch, magic=MAGIC, secret=0):
    """A complete batch without records, which claims that everything before this position was synced. It has the secret
    0 of journals without one; real secrets are unknown to clients."""
    rest = HEADER.pack(0, magic, HEADER.size, lsn, lsn, epoch, secret)[8:]
    return struct.pack(">Q", checksum_of(rest, lsn)) + rest


def directory_of(data, vhost):
    """The directory of a virtual host: named after it, or identified by a file in it."""
    vhosts = os.path.join(data, "vhosts")
    for entry in sorted(os.listdir(vhosts)):
        path = os.path.join(vhosts, entry)
        if os.path.isdir(path) and (entry == segment(vhost) or names(path, vhost)):
            return path
    return None


def names(directory, vhost):
    """Whether the directory belongs to the virtual host; it may also be that of a deleted one with the same name."""
    if os.path.exists(os.path.join(directory, "deleted")):
        return False
    for entry in os.scandir(directory):
        if entry.is_file() and entry.stat().st_size < NAME_BYTES_MAX:
            with open(entry.path, "rb") as file:
                if file.read().strip() == vhost.encode():
                    return True
    return False


def bytes_in(directory):
    """Disk space of its files without spares, which are removed when disk space is low."""
    total = 0
    for folder, _, files in os.walk(directory):
        for name in files:
            if name.endswith(".spare"):
                continue
            try:
                total += os.stat(os.path.join(folder, name)).st_blocks * BLOCK_BYTES
            except OSError:  # It was removed in the meantime.
                pass
    return total


class Tail:
    """The last segment of a journal, up to its last intact batch."""

    def __init__(self, directory):
        names = [name for name in os.listdir(directory) if name.endswith(".segment")]
        self.path = os.path.join(directory, max(names))
        self.start = int(max(names).split(".")[0], 16)
        with open(self.path, "rb") as file:
            self.data = file.read()
        self.end = 0  # Offset after the last batch.
        self.last = None  # Offset of the last batch.
        self.epoch = 0
        while (size := self.batch_at(self.end)) is not None:
            self.last, self.end = self.end, self.end + size
        snapshots = [int(name.split(".")[0], 16) for name in os.listdir(directory) if name.endswith(".snapshot")]
        self.snapshot = max(snapshots, default=0)

    @property
    def end_lsn(self):
        return self.start + self.end

    def batch_at(self, offset):
        """Its size if it is intact."""
        head = self.data[offset:offset + HEADER.size]
        if len(head) < HEADER.size:
            return None
        checksum, magic, size, lsn, _, epoch, _ = HEADER.unpack(head)
        batch = self.data[offset:offset + size]
        if magic[:3] != MAGIC[:3] or lsn != self.start + offset or size < HEADER.size or len(batch) != size:
            return None
        if magic == MAGIC and checksum_of(batch[8:], lsn) != checksum:
            return None
        self.epoch = epoch
        return size

    def last_batch(self):
        return b"" if self.last is None else self.data[self.last:self.end]

    def is_replayed(self):
        """Whether startup reads the last batch: there is no snapshot after it."""
        return self.last is not None and self.snapshot <= self.start + self.last

    def tear(self, random):
        """Leaves of the last batch what a crash could leave: its beginning, its end, or both without a page in between.
        Returns a description."""
        first = self.last // PAGE_BYTES + 1
        last = self.end // PAGE_BYTES
        if last <= first:
            return None
        kind = random.choice(("only the beginning", "only the end", "a hole in it"))
        begin, end = self.last, self.end
        if kind == "only the beginning":
            begin = random.randint(first, last) * PAGE_BYTES
        elif kind == "only the end":
            end = first * PAGE_BYTES
        else:
            begin = random.randint(first, last - 1) * PAGE_BYTES
            end = begin + PAGE_BYTES
        with open(self.path, "r+b") as file:
            file.seek(begin)
            file.write(bytes(end - begin))
        return kind
