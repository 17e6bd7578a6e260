"""Floods over TLS: handshakes that never end, garbage after them, renegotiation, as many connections as there are
descriptors. Messages of another client continue during the flood, and the broker recovers afterwards."""
import contextlib
import os
import re
import resource
import socket
import ssl
import subprocess

from cases_tls import Authority, config_of, connected, context_of, tls_port
from world import SECONDS_MAX, Mismatch, case, equal, eventually

# The first bytes of a 512-byte record with a ClientHello.
HALF_HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40
GROWTH_BYTES_MAX = 96 * 1024 * 1024
DESCRIPTORS = 600


def https_port(broker):
    return int(re.search(r"protocol=https address=127\.0\.0\.1:(\d+)", broker.log()).group(1))


def resident_bytes(broker):
    with open(f"/proc/{broker.process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors(broker):
    return len(os.listdir(f"/proc/{broker.process.pid}/fd"))


class Bystander:
    """Another client that publishes messages over TLS, each confirmed and fetched."""

    def __init__(self, connection):
        self.channel = connection.channel()
        self.channel.confirm_delivery()
        self.channel.queue_declare("bystander")

    def goes_on(self):
        for number in range(20):
            body = str(number).encode()
            self.channel.basic_publish("", "bystander", body)
            equal(self.channel.basic_get("bystander", auto_ack=True)[2], body)


@contextlib.contextmanager
def attacked(world, *lines, descriptor_limit=None):
    """A broker with AMQP and HTTP over TLS and a bystander. Checks that it returns to its initial state."""
    with world.directory() as directory, contextlib.ExitStack() as open_things:
        authority = Authority(directory)
        text = config_of(authority, "management.ssl.port = 0",
                         f"management.ssl.certfile = {authority.path('server.pem')}",
                         f"management.ssl.keyfile = {authority.path('server.key')}", *lines)
        command = ("prlimit", f"--nofile={descriptor_limit}:{descriptor_limit}") if descriptor_limit else ()
        broker = open_things.enter_context(world.broker(directory, text, command=command))
        connection = open_things.enter_context(connected(broker, context_of(authority)))
        bystander = Bystander(connection)
        bystander.goes_on()
        before, open_before = resident_bytes(broker), descriptors(broker)
        yield broker, authority, bystander
        bystander.goes_on()
        grown = resident_bytes(broker) - before
        equal(grown < GROWTH_BYTES_MAX, True, f"{grown} bytes more than before")
        eventually(lambda: descriptors(broker) <= open_before + 5, "all sockets are closed")
        with connected(broker, context_of(authority)) as later:
            Bystander(later).goes_on()
        equal(broker.json("/api/whoami")["name"], "guest")


def open_many(port, count, first_bytes=b""):
    peers = []
    for _ in range(count):
        try:
            peer = socket.create_connection(("127.0.0.1", port), timeout=SECONDS_MAX)
        except OSError:
            break
        peers.append(peer)
        try:
            peer.sendall(first_bytes)
        except OSError:
            pass  # The connection is already closed.
    return peers


def close_all(peers):
    for peer in peers:
        peer.close()


def wait_for_end(peer):
    """Waits until the server closes the connection; ignores its output."""
    peer.settimeout(SECONDS_MAX)
    try:
        while peer.recv(65536):
            pass
    except TimeoutError as late:
        raise Mismatch("the connection was not closed") from late
    except (ConnectionError, ssl.SSLError):
        pass


def shake_hands(port, authority, version=None):
    context = context_of(authority)
    if version:
        context.minimum_version = context.maximum_version = version
    peer = socket.create_connection(("127.0.0.1", port), timeout=SECONDS_MAX)
    return context.wrap_socket(peer, server_hostname="localhost")


@case
def flood_of_half_open_handshakes(world):
    with attacked(world, "handshake_timeout = 2000") as (broker, _, bystander):
        for port in (tls_port(broker), https_port(broker)):
            peers = []
            for begun in (b"", b"\x16", HALF_HELLO):
                peers += open_many(port, 130, begun)
                bystander.goes_on()
            close_all(peers[::2])
            bystander.goes_on()
            for peer in peers[1::40]:
                wait_for_end(peer)
            close_all(peers)


@case
def flood_of_garbage_instead_of_a_handshake_and_after_it(world):
    with attacked(world, "handshake_timeout = 2000") as (broker, authority, bystander):
        for port in (tls_port(broker), https_port(broker)):
            for garbage in (b"\x00" * 1000, os.urandom(5000), b"GET / HTTP/1.1\r\n\r\n", b"AMQP\x00\x00\x09\x01",
                            b"\x16\x03\x01\xff\xff" + b"\x01" * 70000, b"\x15\x03\x01\x00\x02\x02\x28"):
                for peer in open_many(port, 10, garbage):
                    wait_for_end(peer)
                    peer.close()
            bystander.goes_on()
            for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                for garbage in (os.urandom(3000), b"\x00" * 100):
                    with shake_hands(port, authority, version) as peer:
                        peer.sendall(garbage)  # Inside TLS: neither AMQP nor HTTP.
                        wait_for_end(peer)
                    with shake_hands(port, authority, version) as peer:
                        os.write(peer.fileno(), garbage)  # Outside TLS: not a TLS record.
                        wait_for_end(peer)
            bystander.goes_on()


@case
def flood_of_renegotiations_is_refused(world):
    with attacked(world) as (broker, authority, bystander):
        for port in (tls_port(broker), https_port(broker)):
            # A line with the letter R makes s_client request a new handshake.
            done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_2", "-CAfile",
                                   authority.path("ca.pem")], input=b"R\nR\nR\n", capture_output=True,
                                  timeout=SECONDS_MAX * 2, check=False)
            said = done.stdout + done.stderr
            equal(b"RENEGOTIATING" in said, True, said[-500:].decode(errors="replace"))
            equal(b"no renegotiation" in said or done.returncode != 0, True, said[-500:].decode(errors="replace"))
            bystander.goes_on()


@case
def flood_of_slow_requests_over_https(world):
    with attacked(world) as (broker, authority, bystander):
        peers = []
        try:
            for number in range(60):
                peer = shake_hands(https_port(broker), authority)
                peers.append(peer)
                peer.sendall(b"GET /api/whoami HTTP/1.1\r\nHost: x\r\n" if number % 2 else b"G")
            for peer in peers:
                peer.sendall(b"X")
            bystander.goes_on()
            equal(broker.json("/api/whoami")["name"], "guest")
            wait_for_end(peers[0])  # The time for headers is bounded, even if bytes keep arriving.
        finally:
            close_all(peers)


@case
def flood_of_as_many_connections_as_there_are_descriptors(world):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        with attacked(world, "handshake_timeout = 60000", descriptor_limit=DESCRIPTORS) as (broker, _, bystander):
            peers = []
            try:
                for port in (tls_port(broker), https_port(broker), broker.ports["amqp"]):
                    peers += open_many(port, DESCRIPTORS, HALF_HELLO)
                    bystander.goes_on()
                equal(descriptors(broker) <= DESCRIPTORS, True)
                # Durable changes are still written to disk.
                for _ in range(5):
                    bystander.channel.queue_declare("durable", durable=True)
                    bystander.channel.basic_publish("", "durable", b"x" * 100_000)
                    bystander.channel.queue_delete("durable")
            finally:
                close_all(peers)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
