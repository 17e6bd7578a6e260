"""Two brokers on the same port."""
import os
import subprocess
import tempfile

from world import SECONDS_MAX, case, contains, equal


@case
def a_broker_that_cannot_listen_says_so(world):
    with tempfile.TemporaryDirectory() as directory:
        for option, port in (("--http-port", world.broker.http_port), ("--prometheus-port", world.prometheus_port)):
            ports = {"--port": 0, "--http-port": 0, "--prometheus-port": 0, option: port}
            command = [world.broker.program, "--data-dir", os.path.join(directory, "data")]
            for name, value in ports.items():
                command += [name, str(value)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX)
            equal(done.returncode, 1, option)
            equal(done.stdout, "")
            contains(done.stderr, f"cannot listen for HTTP on 127.0.0.1:{port}")
