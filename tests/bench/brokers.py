"""Brokers for benchmarks and load tests: each is started on free ports of 127.0.0.1 with its own directory,
observed by its process id, and stopped with all processes it started."""
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import time

START_SECONDS_MAX = 90
STOP_SECONDS_MAX = 60
RABBITMQ_SERVER = "/usr/lib/rabbitmq/bin/rabbitmq-server"
OPEN_FILES = 65536


class BrokerError(Exception):
    pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def text_of(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def accepts_connections(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def descendants(pid):
    """All descendants of a process."""
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                for child in map(int, file.read().split()):
                    found += [child] + descendants(child)
    except OSError:
        pass
    return found


def raise_open_files_limit():
    """Raises it to the hard limit. Child processes inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(OPEN_FILES, hard), max(OPEN_FILES, hard)))
    except (ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def end_process(process, signal_number=signal.SIGTERM):
    if process.poll() is None:
        process.send_signal(signal_number)
    try:
        process.wait(STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Revenant:
    name = "Revenant"

    def __init__(self, program, directory, arguments=(), wrapper=()):
        """A wrapper is a command that runs the program, such as valgrind with its options."""
        self.program, self.directory = os.path.abspath(program), directory
        self.arguments, self.wrapper = list(arguments), list(wrapper)
        self.process = None
        self.port = self.pid = 0
        self.http_port = 0
        self.data = os.path.join(directory, "data")
        self.output = os.path.join(directory, "revenant.out")
        self.log = os.path.join(directory, "revenant.log")

    def start(self):
        os.makedirs(self.directory, exist_ok=True)
        command = self.wrapper + [self.program, "--port", str(self.port), "--http-port", "0", "--prometheus-port", "0",
                                  "--data-dir", self.data] + self.arguments
        with open(self.output, "wb") as output, self.open_log() as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=log,
                                            preexec_fn=raise_open_files_limit, cwd=self.directory)
        # Wrappers such as valgrind exec the program, so this process is the broker.
        self.pid = self.process.pid
        self.wait_for_ready_line()

    def open_log(self):
        """Uses a file because a pipe would not be read while the broker runs."""
        return open(self.log, "ab")

    def wait_for_ready_line(self):
        end = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < end:
            ended = self.process.poll() is not None
            ready = re.search(r"^revenant ready amqp=\S+:(\d+) http=\S+:(\d+).*\n", text_of(self.output), re.MULTILINE)
            if ready:
                self.port, self.http_port = int(ready[1]), int(ready[2])
                return
            if ended:
                break
            time.sleep(0.002)
        self.kill()
        raise BrokerError(f"Revenant did not become ready: {(text_of(self.output) + text_of(self.log)).strip()[-500:]}")

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def stop(self, signal_number=signal.SIGTERM):
        if self.process is not None:
            end_process(self.process, signal_number)
        self.process = None

    def stop_server(self):
        self.stop(signal.SIGTERM)

    def kill(self):
        self.stop(signal.SIGKILL)


class RabbitMQ:
    """Debian's rabbitmq-server without plugins, with its own epmd so that no process is left over."""

    name = "RabbitMQ"

    def __init__(self, directory):
        self.directory = directory
        self.process = self.epmd = None
        self.port = self.pid = 0
        self.data = os.path.join(directory, "mnesia")
        self.log = os.path.join(directory, "output.log")

    @staticmethod
    def installed():
        return os.access(RABBITMQ_SERVER, os.X_OK) and shutil.which("epmd") is not None

    def environment(self, epmd_port):
        configuration = os.path.join(self.directory, "rabbitmq.conf")
        with open(configuration, "w") as file:
            file.write(f"listeners.tcp.1 = 127.0.0.1:{self.port}\n")
        plugins = os.path.join(self.directory, "enabled_plugins")
        with open(plugins, "w") as file:
            file.write("[].\n")
        return dict(os.environ,
                    HOME=self.directory,
                    ERL_EPMD_ADDRESS="127.0.0.1",
                    ERL_EPMD_PORT=str(epmd_port),
                    RABBITMQ_NODENAME=f"bench{os.getpid()}x{epmd_port}@localhost",
                    RABBITMQ_NODE_PORT=str(self.port),
                    RABBITMQ_DIST_PORT=str(free_port()),
                    RABBITMQ_CONFIG_FILE=configuration,
                    RABBITMQ_CONF_ENV_FILE="/dev/null",
                    RABBITMQ_ENABLED_PLUGINS_FILE=plugins,
                    RABBITMQ_MNESIA_BASE=self.data,
                    RABBITMQ_LOG_BASE=os.path.join(self.directory, "log"))

    def start(self):
        os.makedirs(self.directory, exist_ok=True)
        self.port = self.port or free_port()
        if self.epmd is None:
            self.epmd_port = free_port()
            self.epmd = subprocess.Popen(["epmd", "-port", str(self.epmd_port), "-address", "127.0.0.1"],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.variables = self.environment(self.epmd_port)
            self.wait_for_port(self.epmd_port, self.epmd)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([RABBITMQ_SERVER], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.variables, preexec_fn=raise_open_files_limit)
        self.wait_for_port(self.port, self.process)
        self.pid = next((pid for pid in descendants(self.process.pid) if self.is_beam(pid)), 0)
        if self.pid == 0:
            self.stop()
            raise BrokerError("the Erlang process of RabbitMQ was not found")

    @staticmethod
    def is_beam(pid):
        try:
            with open(f"/proc/{pid}/comm") as file:
                return file.read().startswith("beam")
        except OSError:
            return False

    def wait_for_port(self, port, process):
        end = time.monotonic() + START_SECONDS_MAX
        while not accepts_connections(port):
            if process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise BrokerError(f"RabbitMQ did not start: {text_of(self.log).strip()[-500:]}")
            time.sleep(0.05)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def end_server(self, signal_number):
        """Signals the Erlang process, because the script waits for it."""
        if self.process is None:
            return
        try:
            os.kill(self.pid or self.process.pid, signal_number)
        except ProcessLookupError:
            pass
        try:
            self.process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            for pid in descendants(self.process.pid) + [self.process.pid]:
                os.kill(pid, signal.SIGKILL)
            self.process.wait()
        self.process, self.pid = None, 0

    def stop_server(self):
        self.end_server(signal.SIGTERM)

    def kill(self):
        self.end_server(signal.SIGKILL)

    def stop(self):
        self.kill()  # Its directory is no longer needed, and a kill is fast.
        if self.epmd is not None:
            end_process(self.epmd)
            self.epmd = None
