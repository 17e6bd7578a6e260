"""The environment of the cases: brokers started as an operator starts them, and their output."""
import base64
import http.client
import json
import os
import re
import select
import signal
import subprocess
import tempfile
import time

from promises import CASES, SECONDS_MAX, Mismatch, Skipped, case, contains, equal, eventually, lacks  # noqa: F401


class Broker:
    """One broker process, on free ports unless the configuration names ports."""

    def __init__(self, program, directory, text="", options=("--port", "0", "--http-port", "0", "--prometheus-port", "0"),
                 environment=None, command=(), config=None, stderr=None):
        self.directory = directory
        self.config = config or os.path.join(directory, "revenant.conf")
        if not config:
            self.write_config(text)
        self.log_path = os.path.join(directory, "stderr")
        self.log_file = open(self.log_path, "ab")
        # A test broker must not be reachable from other machines.
        variables = {"PATH": os.environ["PATH"], "REVENANT_BIND": "127.0.0.1",
                     "REVENANT_DATA_DIR": os.path.join(directory, "data"), **(environment or {})}
        self.process = subprocess.Popen([*command, program, "--config", self.config, *options], stdout=subprocess.PIPE,
                                        stderr=self.log_file if stderr is None else stderr, env=variables)
        self.first_line = self.read_line()
        ports = dict(re.findall(r"(\w+)=\S*?(?::(\d+))?(?=\s|$)", self.first_line))
        self.ports = {name: int(port) for name, port in ports.items() if port}

    def read_line(self):
        end, text = time.monotonic() + SECONDS_MAX, b""
        while b"\n" not in text:
            readable, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            part = os.read(self.process.stdout.fileno(), 4096) if readable else b""
            if not part:
                self.stop()
                raise Mismatch(f"the broker did not get ready: {text!r} {self.log()}")
            text += part
        return text.decode()

    def write_config(self, text):
        with open(self.config, "w") as file:
            file.write(text)

    def log(self):
        with open(self.log_path) as file:
            return file.read()

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def get(self, path, port="http", user="guest:guest"):
        return self.send("GET", path, port=port, user=user)

    def send(self, method, path, body=None, port="http", user="guest:guest"):
        """Sends JSON; returns status and body of the response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[port], timeout=SECONDS_MAX)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Authorization": "Basic " + base64.b64encode(user.encode()).decode()})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def json(self, path, **options):
        status, body = self.get(path, **options)
        equal(status, 200, path)
        return json.loads(body)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.log_file.close()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class World:
    def __init__(self, root, program, ctl):
        self.root, self.program, self.ctl_program = root, program, ctl

    def directory(self):
        return tempfile.TemporaryDirectory(prefix="operation_")

    def broker(self, directory, text="", **options):
        return Broker(self.program, directory, text, **options)

    def revenant(self, *arguments, status=0, **environment):
        """Runs the program without starting a broker."""
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True, timeout=SECONDS_MAX,
                              env={"PATH": os.environ["PATH"], **environment})
        equal(done.returncode, status, f"{' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done

    def ctl(self, *arguments, status=0, stdin="", url="http://127.0.0.1:9", program=None, **environment):
        done = subprocess.run([program or self.ctl_program, *arguments], input=stdin, capture_output=True, text=True,
                              timeout=SECONDS_MAX * 2, check=False,
                              env={"PATH": os.environ["PATH"], "REVENANT_URL": url, **environment})
        equal(done.returncode, status, f"{' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done

    def check(self, text, *arguments, status=0, **environment):
        with self.directory() as directory:
            path = os.path.join(directory, "r.conf")
            with open(path, "w") as file:
                file.write(text)
            done = self.revenant("--check-config", "--config", path, *arguments, status=status, **environment)
            done.stdout, done.stderr = done.stdout.replace(path, "r.conf"), done.stderr.replace(path, "r.conf")
            return done
