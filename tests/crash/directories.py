"""Directories that are unusable or used twice; foreign files in them; too few file descriptors."""
import os
import shutil
import signal
import socket
import subprocess
import time

from brokers_to_crash import BrokerError, Lost
from cases import case_of
from checker import Fault
from damage import stopped, with_many_users
from ledger import body_of
from sites import END_SECONDS_MAX, QUEUE, complaint_about, segments_of
from volumes import Volume

NAME_BYTES_MAX, PATH_BYTES_MAX = 255, 4096
VOLUME_BYTES = 20_000_000
DESCRIPTORS = (4, 8, 12, 14, 16, 18, 20, 24, 32)
ENOUGH_DESCRIPTORS = 60
FILES_WAVE, FILES_BODY_BYTES = 20, 4_000_000


# --- two processes -------------------------------------------------------------------------------------


def a_directory_has_one_broker(ground):
    first, second = ground.site(), ground.site()
    first.start()
    first.publish(10, 100)
    second.broker.data = first.data
    before = first.fingerprint()
    refusal = second.try_to_start()
    if refusal is None:
        yield Fault("shared", "directory", "two brokers run on it")
        return
    yield from complaint_about(refusal, f"directory {first.data}", "in use", f"process {first.broker.pid}")
    if first.fingerprint() != before:
        yield Fault("changed", "directory", "the second broker changed files of the first")
    first.publish(10, 100)
    yield from first.losses()
    first.kill()
    first.start()
    yield from first.losses()


def of_two_that_start_together_one_wins(ground):
    sites = [ground.site() for _ in range(4)]
    processes = []
    for site in sites:
        os.makedirs(site.broker.directory)
        with open(site.broker.log, "wb") as log:
            processes.append(subprocess.Popen(
                [site.broker.program, "--port", "0", "--http-port", "0", "--prometheus-port", "0",
                 "--data-dir", sites[0].data], stdout=subprocess.DEVNULL, stderr=log))
    end = time.monotonic() + END_SECONDS_MAX
    while sum(process.poll() is None for process in processes) > 1 and time.monotonic() < end:
        time.sleep(0.01)
    for site, process in zip(sites, processes):
        if process.poll() is not None:
            yield from complaint_about((process.returncode, site.told()), sites[0].data, "in use")
    running = [process for process in processes if process.poll() is None]
    if len(running) != 1:
        yield Fault("shared", "directory", f"{len(running)} brokers run on it")
    for process in running:
        process.send_signal(signal.SIGTERM)
        process.wait(END_SECONDS_MAX)


# --- unusable directories ------------------------------------------------------------------------------


def must_not_start(site, *needed):
    refusal = site.try_to_start()
    if refusal is None:
        yield Fault("started", "broker", f"on {site.data!r}")
    else:
        yield from complaint_about(refusal, *needed)


def a_file_in_place_of_the_directory_is_refused(ground):
    site = ground.site()
    os.makedirs(site.broker.directory)
    with open(site.data, "w") as file:
        file.write("somebody's notes")
    yield from must_not_start(site, site.data)
    site.broker.data = os.path.join(site.data, "below", "it")
    yield from must_not_start(site, site.data)
    with open(os.path.join(site.broker.directory, "data")) as file:
        if file.read() != "somebody's notes":
            yield Fault("changed", "file", "what was in the file is gone")


def a_file_in_place_of_a_part_of_the_directory_is_refused(ground):
    for part in ("vhosts", "catalog", "lock"):
        site = ground.copy_of(with_many_users)
        path = os.path.join(site.data, part)
        if part == "lock":
            os.remove(path)
            os.mkdir(path)
        else:
            os.rename(path, os.path.join(site.broker.directory, part))
            open(path, "w").close()
        yield from must_not_start(site, path)


def a_name_or_path_that_is_too_long_is_refused(ground):
    site = ground.site()
    for path in ("x" * (NAME_BYTES_MAX + 1), "/".join(["x" * 100] * (PATH_BYTES_MAX // 100))):
        site.broker.data = os.path.join(site.broker.directory, path)
        yield from must_not_start(site, site.data, "File name too long")


def an_empty_name_is_refused(ground):
    site = ground.site()
    site.broker.data = ""
    yield from must_not_start(site, "--data-dir")


def without_privileges():
    """Wrapper for a command that must be subject to permissions even if it runs as root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]


def a_directory_without_permission_is_refused(ground):
    for mode in (0o500, 0o400, 0o000):
        site = ground.copy_of(stopped)
        site.broker.wrapper = without_privileges()
        before = site.fingerprint()
        os.chmod(site.front_door, mode)
        yield from must_not_start(site, site.front_door, "Permission denied")
        os.chmod(site.front_door, 0o700)
        if site.fingerprint() != before:
            yield Fault("changed", "directory", "the broker refused to start, but changed files")
        refusal = site.try_to_start()
        yield from site.losses() if refusal is None else [Fault("not started", "broker", f"{refusal}")]
    site = ground.site(wrapper=without_privileges())
    os.makedirs(site.broker.directory)
    site.broker.data = os.path.join(site.broker.directory, "closed", "data")
    os.mkdir(os.path.dirname(site.data), 0o500)
    yield from must_not_start(site, site.data, "Permission denied")


def a_read_only_file_system_is_refused(ground):
    directory = ground.place()
    volume = Volume(directory, VOLUME_BYTES)
    try:
        site = ground.site(("--disk-free-limit", "0"), volume.wrapper)
        site.broker.data = os.path.join(directory, "data")
        site.start()
        site.publish(10, 100)
        site.stop()
        volume.make_read_only()
        yield from must_not_start(site, site.data, "Read-only file system")
        site.broker.data = os.path.join(directory, "new")
        yield from must_not_start(site, site.data, "Read-only file system")
    finally:
        ground.clear()
        volume.close()


# --- foreign files -------------------------------------------------------------------------------------


def foreign_files_are_left_alone(ground):
    site = ground.copy_of(stopped)
    paths = [os.path.join(folder, name) for folder in (site.data, site.catalog, site.front_door)
             for name in ("README", ".hidden", "0000.segment", "00000000000000000.segment", "zzzzzzzzzzzzzzzz.segment")]
    for path in paths:
        with open(path, "w") as file:
            file.write("not the broker's")
    os.mkdir(os.path.join(site.front_door, "folder"))
    yield from site_with_everything(site)
    for path in paths:
        if not os.path.exists(path):
            yield Fault("removed", "foreign file", os.path.relpath(path, site.data))


def site_with_everything(site):
    refusal = site.try_to_start()
    if refusal is None:
        yield from site.losses()
    else:
        yield Fault("not started", "broker", f"{refusal}")


def a_copy_beside_the_directory_of_a_virtual_host_is_left_alone(ground):
    site = ground.copy_of(stopped)
    copy = site.front_door + ".before-the-repair"
    shutil.copytree(site.front_door, copy)
    yield from site_with_everything(site)
    if not os.path.exists(copy):
        yield Fault("removed", "copy", "the copy of a virtual host's directory is gone without a word")


# --- descriptors ---------------------------------------------------------------------------------------


def limited_to(count):
    return ["prlimit", f"--nofile={count}:{count}"]


def is_greeted(site):
    """Whether a client can connect."""
    with socket.create_connection(("127.0.0.1", site.broker.port), timeout=1) as connection:
        try:
            connection.sendall(b"AMQP\0\0\x09\x01")
            return connection.recv(1) != b""
        except OSError:
            return False


def with_too_few_descriptors_a_start_is_refused(ground):
    for count in DESCRIPTORS:
        site = ground.copy_of(with_many_users)
        site.broker.wrapper = limited_to(count)
        refusal = site.try_to_start()
        if refusal is None and not is_greeted(site):
            refusal = 1, site.told()
        if refusal is not None and refusal[0] != 127:  # 127: the loader failed and did not start the broker.
            needed = "open file limit" if "open file limit" in refusal[1] else "Too many open files"
            yield from complaint_about((refusal[0], f"{count} descriptors: {refusal[1]}"), needed)
        site.kill()
        site.broker.wrapper = []
        yield from site_with_everything(site)
        ground.clear()


def connections_do_not_take_the_descriptors_of_the_journal(ground):
    site = ground.site(wrapper=limited_to(ENOUGH_DESCRIPTORS))
    site.start()
    client = site.client()
    client.call("confirm.select", False)
    crowd = [socket.create_connection(("127.0.0.1", site.broker.port)) for _ in range(2 * ENOUGH_DESCRIPTORS)]
    try:
        for number in range(300):  # More than fit in one segment.
            id = f"site/one/0/{number}"
            site.sent.append(id)
            client.publish("", QUEUE, body_of(id, 100_000), {"delivery-mode": 2})
        client.read_until(lambda: client.events and client.events[-1][1][0] == len(site.sent), END_SECONDS_MAX)
    except Lost:
        pass
    for connection in crowd:
        connection.close()
    site.confirmed = site.sent[:client.events[-1][1][0]] if client.events else []
    client.drop()
    if site.broker.process.poll() is not None or len(segments_of(site.front_door)) < 2:
        yield Fault("broker died", "broker", site.told().strip()[-300:])
        site.broker.process = None
    site.kill()
    site.start()
    yield from site.losses()


def a_backlog_of_more_files_than_there_are_descriptors(ground):
    """The backlog is written, recovered by the next startup, and read completely."""
    site = ground.site(wrapper=limited_to(ENOUGH_DESCRIPTORS))
    site.start()
    try:
        while len(segments_of(site.front_door)) < ENOUGH_DESCRIPTORS + 5:
            site.publish(FILES_WAVE, FILES_BODY_BYTES)
        site.kill()
        site.start()
        yield from site.losses()
    except (Lost, BrokerError, OSError) as error:
        yield Fault("broker died", f"{len(segments_of(site.front_door))} files", f"{error}; {site.told().strip()[-300:]}")


CASES = [case_of(function) for function in (
    a_directory_has_one_broker, of_two_that_start_together_one_wins, a_file_in_place_of_the_directory_is_refused,
    a_file_in_place_of_a_part_of_the_directory_is_refused, a_name_or_path_that_is_too_long_is_refused,
    an_empty_name_is_refused, a_directory_without_permission_is_refused, a_read_only_file_system_is_refused,
    foreign_files_are_left_alone, a_copy_beside_the_directory_of_a_virtual_host_is_left_alone,
    with_too_few_descriptors_a_start_is_refused, connections_do_not_take_the_descriptors_of_the_journal,
    a_backlog_of_more_files_than_there_are_descriptors)]
