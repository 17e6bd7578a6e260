"""Connections through a proxy: the PROXY protocol before AMQP and before TLS."""
import socket
import ssl

from cases_tls import Authority, config_of, context_of, tls_port
from world import SECONDS_MAX, case, contains, equal, eventually, lacks

GREETING = b"AMQP\x00\x00\x09\x01"
LINE = b"PROXY TCP4 192.0.2.1 198.51.100.7 56324 5672\r\n"
BINARY = b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xc0\x00\x02\x01\xc6\x33\x64\x07\xdc\x04\x16\x28"
LOCAL = b"\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00"
ON = "proxy_protocol = true\n"


def dial(port):
    return socket.create_connection(("127.0.0.1", port), timeout=SECONDS_MAX)


def names(broker):
    return [one["name"] for one in broker.json("/api/connections")]


def log_in(peer, password=b"guest"):
    """Logs in until the connection is listed or refused."""
    peer.sendall(GREETING)
    contains(peer.recv(65536), b"PLAIN")
    response = b"\x00guest\x00" + password
    arguments = b"\x00\x00\x00\x00" + b"\x05PLAIN" + len(response).to_bytes(4, "big") + response + b"\x05en_US"
    payload = b"\x00\x0a\x00\x0b" + arguments
    peer.sendall(b"\x01\x00\x00" + len(payload).to_bytes(4, "big") + payload + b"\xce")
    return peer.recv(65536)


@case
def proxy_names_the_peer(world):
    with world.directory() as directory, world.broker(directory, ON + "loopback_users = none\n") as broker:
        for header in (LINE, BINARY):
            with dial(broker.ports["amqp"]) as peer:
                peer.sendall(header)
                contains(log_in(peer), b"\x00\x0a\x00\x1e")  # connection.tune
                eventually(lambda: names(broker) == ["192.0.2.1:56324 -> 198.51.100.7:5672"], "the connection has its name")
                shown, = broker.json("/api/connections")
                equal((shown["peer_host"], shown["peer_port"]), ("192.0.2.1", 56324))
            eventually(lambda: not names(broker), "the connection is gone")
        for header in (LOCAL, b"PROXY UNKNOWN\r\n"):
            with dial(broker.ports["amqp"]) as peer:
                peer.sendall(header)
                log_in(peer)
                host, port = peer.getsockname()
                eventually(lambda: [name.split(" ")[0] for name in names(broker)] == [f"{host}:{port}"], "it is the proxy's own")
            eventually(lambda: not names(broker), "the connection is gone")


@case
def proxy_decides_who_is_on_this_machine(world):
    with world.directory() as directory, world.broker(directory, ON) as broker:
        with dial(broker.ports["amqp"]) as peer:
            peer.sendall(LINE)
            lacks(log_in(peer), b"\x00\x0a\x00\x1e")  # guest is not on localhost
        with dial(broker.ports["amqp"]) as peer:
            peer.sendall(b"PROXY TCP6 ::1 ::1 1 2\r\n")
            contains(log_in(peer), b"\x00\x0a\x00\x1e")


@case
def proxy_decides_whose_wrong_passwords_are_counted(world):
    text = ON + "login_failures.per_minute = 1\nlogin_failures.per_minute_loopback = 1\nloopback_users = none\n"
    with world.directory() as directory, world.broker(directory, text) as broker:
        for _ in range(2):
            with dial(broker.ports["amqp"]) as peer:
                peer.sendall(LINE)
                equal(log_in(peer, b"wrong"), b"")
        eventually(lambda: "throttling logins from this address address=192.0.2.1" in broker.log(), "the address that waits is the named one")


@case
def proxy_header_must_be_there_and_whole(world):
    with world.directory() as directory, world.broker(directory, ON + "handshake_timeout = 300\n") as broker:
        for wrong in (GREETING, b"PROXY TCP4 nonsense\r\n", b"PROXY " + b"x" * 200, LOCAL[:-2] + b"\xff\xff"):
            with dial(broker.ports["amqp"]) as peer:
                peer.sendall(wrong)
                try:
                    equal(peer.recv(64), b"")
                except ConnectionResetError:
                    pass
        eventually(lambda: broker.log().count("PROXY header") == 4, "each is told in the log")
        for beginning in (b"", LINE[:-1], BINARY[:-1]):  # incomplete headers
            with dial(broker.ports["amqp"]) as peer:
                peer.sendall(beginning)
                equal(peer.recv(64), b"")
        with dial(broker.ports["amqp"]) as peer:
            for index in range(len(BINARY)):
                peer.sendall(BINARY[index:index + 1])
            peer.sendall(GREETING)
            contains(peer.recv(65536), b"PLAIN")


@case
def proxy_header_precedes_tls(world):
    with world.directory() as directory:
        authority = Authority(directory)
        with world.broker(directory, config_of(authority, ON, "loopback_users = none")) as broker:
            for header in (LINE, BINARY):
                with dial(tls_port(broker)) as raw:
                    raw.sendall(header)
                    with context_of(authority).wrap_socket(raw, server_hostname="localhost") as peer:
                        contains(log_in(peer), b"\x00\x0a\x00\x1e")
                        eventually(lambda: names(broker) == ["192.0.2.1:56324 -> 198.51.100.7:5672"], "it has its name")
                eventually(lambda: not names(broker), "the connection is gone")
            with dial(tls_port(broker)) as raw:
                try:
                    context_of(authority).wrap_socket(raw, server_hostname="localhost").close()
                except (ssl.SSLError, OSError):
                    pass
            eventually(lambda: "closed: no PROXY header" in broker.log(), "it is told in the log")
