"""AMQP over TLS: versions, client certificates, logins by certificate, reloaded certificates."""
import contextlib
import http.client
import json
import os
import re
import socket
import ssl
import subprocess

import pika
from pika.credentials import ExternalCredentials

from world import SECONDS_MAX, Mismatch, case, contains, equal, eventually, lacks

BODY = b"carried over TLS" * 10_000
LOGIN_BY_CERTIFICATE = "auth_mechanisms.1 = PLAIN\nauth_mechanisms.2 = EXTERNAL\n"


class Authority:
    """A certificate authority with files in a directory."""

    def __init__(self, directory, name="ca"):
        self.directory, self.name = directory, name
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                     "-subj", f"/CN={name}", "-keyout", self.path(f"{name}.key"), "-out", self.path(f"{name}.pem"))

    def path(self, name):
        return os.path.join(self.directory, name)

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=self.directory, timeout=SECONDS_MAX)

    def issue(self, file, subject, days=1, names="DNS:localhost,IP:127.0.0.1"):
        """The certificate and its key."""
        certificate, key, request = (self.path(file + end) for end in (".pem", ".key", ".csr"))
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject, "-keyout",
                     key, "-out", request)
        with open(self.path(file + ".ext"), "w") as extensions:
            extensions.write(f"subjectAltName={names}\n")
        self.openssl("x509", "-req", "-in", request, "-CA", self.path(self.name + ".pem"), "-CAkey",
                     self.path(self.name + ".key"), "-CAcreateserial", "-days", str(days), "-extfile", self.path(file + ".ext"),
                     "-out", certificate)
        return certificate, key


def config_of(authority, *lines):
    certificate, key = authority.issue("server", "/CN=localhost")
    return "\n".join(["listeners.ssl.default = 127.0.0.1:0", f"ssl_options.cacertfile = {authority.path('ca.pem')}",
                      f"ssl_options.certfile = {certificate}", f"ssl_options.keyfile = {key}", *lines, ""])


def tls_port(broker):
    found = re.search(r"listening protocol=amqp/ssl address=127\.0\.0\.1:(\d+)", broker.log())
    if not found:
        raise Mismatch(f"no TLS listener in {broker.log()!r}")
    return int(found.group(1))


def context_of(authority, certificate=None):
    context = ssl.create_default_context(cafile=authority.path("ca.pem"))
    if certificate:
        context.load_cert_chain(*certificate)
    return context


@contextlib.contextmanager
def connected(broker, context, credentials=None, port=None):
    connection = pika.BlockingConnection(pika.ConnectionParameters(
        "localhost", port or tls_port(broker), "/", credentials or pika.PlainCredentials("guest", "guest"),
        ssl_options=pika.SSLOptions(context, "localhost"), socket_timeout=SECONDS_MAX,
        blocked_connection_timeout=SECONDS_MAX))
    try:
        yield connection
    finally:
        if connection.is_open:
            connection.close()


def must_not_connect(broker, context, credentials=None):
    try:
        with connected(broker, context, credentials):
            raise Mismatch("the connection was let in")
    except (pika.exceptions.AMQPError, ssl.SSLError, OSError):
        pass


def carry(connection):
    channel = connection.channel()
    channel.confirm_delivery()
    channel.queue_declare("tls")
    for _ in range(50):
        channel.basic_publish("", "tls", BODY)
    for _ in range(50):
        equal(channel.basic_get("tls", auto_ack=True)[2], BODY)


@case
def tls_carries_messages_both_ways(world):
    with world.directory() as directory:
        authority = Authority(directory)
        with world.broker(directory, config_of(authority)) as broker:
            for version in (ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2):
                context = context_of(authority)
                context.minimum_version = context.maximum_version = version
                with connected(broker, context) as connection:
                    carry(connection)
                    eventually(lambda: broker.json("/api/connections"), "the connection is listed")
                    shown = broker.json("/api/connections")[0]
                    equal(shown["ssl"], True)
                    equal(shown["ssl_protocol"], {"TLSv1_3": "TLSv1.3", "TLSv1_2": "TLSv1.2"}[version.name])


@case
def tls_old_versions_and_plain_text_are_refused(world):
    with world.directory() as directory:
        authority = Authority(directory)
        with world.broker(directory, config_of(authority, "ssl_options.versions.1 = tlsv1.3")) as broker:
            context = context_of(authority)
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            must_not_connect(broker, context)
            try:
                pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", tls_port(broker), socket_timeout=SECONDS_MAX))
                raise Mismatch("plain text was let in")
            except pika.exceptions.AMQPError:
                pass
            with connected(broker, context_of(authority)) as connection:
                carry(connection)


@case
def tls_a_certificate_of_the_client_logs_it_in(world):
    with world.directory() as directory:
        authority = Authority(directory)
        bunny = authority.issue("bunny", "/O=rabbits/CN=bunny")
        text = config_of(authority, "ssl_options.verify = verify_peer", LOGIN_BY_CERTIFICATE)
        with world.broker(directory, text) as broker:
            must_not_connect(broker, context_of(authority, bunny), ExternalCredentials())  # The user does not exist yet.
            ctl = f"http://127.0.0.1:{broker.ports['http']}"
            world.ctl("add_user", "CN=bunny,O=rabbits", "unused", url=ctl)
            world.ctl("set_permissions", "CN=bunny,O=rabbits", ".*", ".*", ".*", url=ctl)
            with connected(broker, context_of(authority, bunny), ExternalCredentials()) as connection:
                carry(connection)
                eventually(lambda: broker.json("/api/connections"), "the connection is listed")
                shown = broker.json("/api/connections")[0]
                equal(shown["user"], "CN=bunny,O=rabbits")
                equal(shown["auth_mechanism"], "EXTERNAL")
                equal(shown["peer_cert_subject"], "CN=bunny,O=rabbits")
            must_not_connect(broker, context_of(authority), ExternalCredentials())
            lacks(broker.log(), "unused")


@case
def tls_by_its_common_name_if_that_is_wished(world):
    with world.directory() as directory:
        authority = Authority(directory)
        text = config_of(authority, "ssl_options.verify = verify_peer", "ssl_options.fail_if_no_peer_cert = true",
                         "ssl_cert_login_from = common_name", LOGIN_BY_CERTIFICATE)
        with world.broker(directory, text) as broker:
            with connected(broker, context_of(authority, authority.issue("guest", "/O=x/CN=guest")),
                           ExternalCredentials()) as connection:
                carry(connection)
            must_not_connect(broker, context_of(authority))
            stranger = Authority(directory, "stranger").issue("strange", "/CN=guest")
            must_not_connect(broker, context_of(authority, stranger), ExternalCredentials())


@case
def tls_certificates_are_loaded_again_without_a_restart(world):
    with world.directory() as directory:
        authority = Authority(directory)
        with world.broker(directory, config_of(authority)) as broker:
            def serial():
                return ssl.get_server_certificate(("127.0.0.1", tls_port(broker)))

            first = serial()
            with connected(broker, context_of(authority)) as connection:
                authority.issue("server", "/CN=localhost")
                broker.reload()
                eventually(lambda: serial() != first, "new connections get the new certificate")
                carry(connection)  # The old connection continues.
            with open(authority.path("server.pem"), "w") as file:
                file.write("nonsense")
            second = serial()
            broker.reload()
            eventually(lambda: "certificates not reloaded" in broker.log(), "the fault is told")
            equal(serial(), second)


@case
def tls_files_that_cannot_be_used_are_named(world):
    with world.directory() as directory:
        authority = Authority(directory)
        certificate, key = authority.issue("other", "/CN=other")
        text = config_of(authority).replace(authority.path("server.key"), key)
        try:
            with world.broker(directory, text):
                raise Mismatch("it started with a key that is not that of its certificate")
        except Mismatch as refusal:
            contains(str(refusal), key)


@case
def tls_handshakes_that_stall_end_in_time(world):
    with world.directory() as directory:
        authority = Authority(directory)
        with world.broker(directory, config_of(authority, "handshake_timeout = 300")) as broker:
            stalled = [socket.create_connection(("127.0.0.1", tls_port(broker))) for _ in range(20)]
            for connection in stalled:
                connection.settimeout(SECONDS_MAX)
                connection.sendall(b"\x16\x03\x01")  # The beginning of a handshake.
            for connection in stalled:
                equal(connection.recv(1), b"")
                connection.close()
            with connected(broker, context_of(authority)) as connection:
                carry(connection)


def https_get(port, path, context):
    connection = http.client.HTTPSConnection("localhost", port, timeout=SECONDS_MAX, context=context)
    try:
        connection.request("GET", path, headers={"Authorization": "Basic Z3Vlc3Q6Z3Vlc3Q="})
        return connection.getresponse().read()
    finally:
        connection.close()


@case
def tls_asks_clients_of_the_http_api_for_certificates(world):
    with world.directory() as directory:
        authority = Authority(directory)
        certificate, key = authority.issue("http", "/CN=localhost")
        authority.openssl("ec", "-in", key, "-out", key + ".locked", "-aes256", "-passout", "pass:open sesame")
        text = "\n".join(["management.ssl.port = 0", f"management.ssl.certfile = {certificate}",
                          f"management.ssl.keyfile = {key}.locked", "management.ssl.password = open sesame",
                          f"management.ssl.cacertfile = {authority.path('ca.pem')}", "management.ssl.verify = verify_peer",
                          "management.ssl.fail_if_no_peer_cert = true", ""])
        with world.broker(directory, text) as broker:
            port = int(re.search(r"protocol=https address=127\.0\.0\.1:(\d+)", broker.log()).group(1))
            for context in (context_of(authority),
                            context_of(authority, Authority(directory, "stranger").issue("strange", "/CN=x"))):
                try:
                    https_get(port, "/api/whoami", context)
                    raise Mismatch("a client without a good certificate was answered")
                except (http.client.HTTPException, OSError):
                    pass
            known = context_of(authority, authority.issue("client", "/CN=client"))
            equal(json.loads(https_get(port, "/api/whoami", known))["name"], "guest")
            lacks(broker.log(), "sesame")


@case
def tls_alone_is_served_over_http_if_it_alone_is_configured(world):
    with world.directory() as directory:
        authority = Authority(directory)
        certificate, key = authority.issue("http", "/CN=localhost")
        text = "".join(f"{room}.ssl.port = 0\n{room}.ssl.certfile = {certificate}\n{room}.ssl.keyfile = {key}\n"
                       for room in ("management", "prometheus"))
        with world.broker(directory, text, options=("--port", "0")) as broker:
            context = context_of(authority)
            overview = json.loads(https_get(broker.ports["http"], "/api/overview", context))
            equal([one["protocol"] for one in overview["listeners"]], ["amqp", "https", "https/prometheus"])
            contains(https_get(broker.ports["prometheus"], "/metrics", context), b"rabbitmq_identity_info")


@case
def tls_ciphers_are_those_that_are_named(world):
    one, other = "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-GCM-SHA256"
    lines = [f"ssl_options.ciphers.1 = {one}", f"ssl_options.ciphers.2 = {other}", "ssl_options.depth = 2"]
    for honor, wanted in (("true", one), ("false", other)):
        with world.directory() as directory:
            authority = Authority(directory)
            with world.broker(directory, config_of(authority, *lines, f"ssl_options.honor_cipher_order = {honor}")) as broker:
                context = context_of(authority)
                context.set_ciphers(f"{other}:{one}")
                with socket.create_connection(("127.0.0.1", tls_port(broker)), timeout=SECONDS_MAX) as raw:
                    with context.wrap_socket(raw, server_hostname="localhost") as peer:
                        equal((peer.version(), peer.cipher()[0]), ("TLSv1.2", wanted))
                context.set_ciphers("ECDHE-ECDSA-CHACHA20-POLY1305")
                must_not_connect(broker, context)
    contains(world.check("ssl_options.ciphers.1 = ROT13\n", status=1).stderr, "'ROT13' is not the name of a cipher")


@case
def tls_serves_the_http_api(world):
    with world.directory() as directory:
        authority = Authority(directory)
        certificate, key = authority.issue("http", "/CN=localhost")
        text = f"management.ssl.port = 0\nmanagement.ssl.certfile = {certificate}\nmanagement.ssl.keyfile = {key}\n"
        with world.broker(directory, text) as broker:
            port = int(re.search(r"protocol=https address=127\.0\.0\.1:(\d+)", broker.log()).group(1))
            connection = http.client.HTTPSConnection("localhost", port, timeout=SECONDS_MAX, context=context_of(authority))
            for _ in range(3):  # On one connection.
                connection.request("GET", "/api/whoami", headers={"Authorization": "Basic Z3Vlc3Q6Z3Vlc3Q="})
                equal(json.loads(connection.getresponse().read())["name"], "guest")
            connection.close()
            plain = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS_MAX)
            try:
                plain.request("GET", "/api/whoami")
                plain.getresponse()
                raise Mismatch("plain HTTP was answered")
            except (http.client.HTTPException, OSError):
                pass
            plain.close()
            stalled = [socket.create_connection(("127.0.0.1", port)) for _ in range(30)]
            equal(broker.json("/api/whoami")["name"], "guest")
            for one in stalled:
                one.close()
