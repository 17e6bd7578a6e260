"""The Debian package: its contents, and that it works on a system with only its dependencies."""
import glob
import os
import re
import shutil
import subprocess

from world import Broker, Skipped, case, contains, equal, lacks

SECONDS_MAX = 300
# The essential packages that the package's scripts need.
ESSENTIAL = ("base-files", "base-passwd", "coreutils", "dash", "diffutils", "dpkg", "libc-bin", "tar", "sed", "grep", "findutils")
PACKAGE = {}


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX, check=False, **options)
    equal(done.returncode, 0, f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def package(world):
    """The package of the tested programs, built once."""
    if not all(map(shutil.which, ("dpkg-deb", "dpkg-shlibdeps", "strip"))):
        raise Skipped("dpkg-dev and binutils are not installed")
    if not PACKAGE:
        output = PACKAGE["directory"] = world.directory()
        run(os.path.join(world.root, "deploy", "debian", "build"), os.path.dirname(world.program), output.name)
        PACKAGE["path"], = glob.glob(os.path.join(output.name, "revenant_*.deb"))
    return PACKAGE["path"]


@case
def package_holds_what_a_service_needs(world):
    path = package(world)
    names = {line.split()[5].lstrip("."): line.split()[0] for line in run("dpkg-deb", "-c", path).splitlines()}
    for name in ("/usr/sbin/revenant", "/usr/bin/revenantctl", "/etc/revenant/revenant.conf", "/etc/revenant/conf.d/",
                 "/lib/systemd/system/revenant.service", "/usr/share/man/man8/revenant.8.gz",
                 "/usr/share/man/man8/revenantctl.8.gz", "/usr/share/man/man5/revenant.conf.5.gz",
                 "/usr/share/bash-completion/completions/revenantctl", "/usr/share/bash-completion/completions/rabbitmqctl",
                 "/usr/lib/revenant/bin/rabbitmqctl"):
        contains(names, name)
    depends = run("dpkg-deb", "-f", path, "Depends")
    for library in ("libc6", "libstdc++6", "libssl3"):
        contains(depends, library)
    equal(run("dpkg-deb", "-I", path, "conffiles"), "/etc/revenant/revenant.conf\n/etc/logrotate.d/revenant\n")
    contains(run("dpkg-deb", "--info", path), "postinst")


@case
def package_man_pages_tell_every_option_command_and_key(world):
    path = package(world)
    with world.directory() as directory:
        run("dpkg-deb", "-x", path, directory)
        pages = {}
        for page in glob.glob(directory + "/usr/share/man/man*/*.gz"):
            pages[os.path.basename(page)] = run("zcat", page)
            if shutil.which("groff"):
                done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=pages[os.path.basename(page)],
                                      capture_output=True, text=True, timeout=60, check=True)
                equal(done.stderr, "", page)
    for text in pages.values():
        if marks := re.findall(r"@[A-Z]+@", text):
            equal(marks, [])
    plain = {name: text.replace("\\-", "-") for name, text in pages.items()}
    for option in ("--config", "--check-config", "--data-dir"):
        contains(plain["revenant.8.gz"], option)
    for command in world.ctl("autocomplete").stdout.split():
        contains(plain["revenantctl.8.gz"], "\n.B " + command)
    for key in re.findall(r"^\| `(.*?)`", world.revenant("--list-config-keys").stdout, re.M):
        contains(plain["revenant.conf.5.gz"], f"\n.B {key}\n")


@case
def package_unit_is_understood_by_systemd(world):
    if not shutil.which("systemd-analyze"):
        raise Skipped("systemd-analyze is not installed")
    with world.directory() as directory:
        with open(os.path.join(world.root, "deploy", "systemd", "revenant.service")) as file:
            text = file.read()
        # The packaged program is not installed, so the unit names the tested one.
        path = os.path.join(directory, "revenant.service")
        with open(path, "w") as file:
            file.write(text.replace("/usr/sbin/revenant", world.program).replace("man:", "https://localhost/"))
        done = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True, timeout=60, check=False)
        lacks(done.stderr, "revenant.service:")
        contains(text, "Type=notify")


def closure(names):
    """The packages and all their dependencies, as installed on this machine."""
    found, waiting = {}, list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        done = subprocess.run(["dpkg-query", "-W", "-f", "${Depends}, ${Pre-Depends}\n", name], capture_output=True,
                              text=True, timeout=60, check=False)
        if done.returncode != 0:
            raise Skipped(f"{name} is not installed here")
        found[name] = True
        for group in done.stdout.strip().split(","):
            for choice in group.split("|"):
                wanted = re.sub(r"\(.*\)|:any|\s", "", choice)
                if wanted and subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", wanted], capture_output=True,
                                             text=True, timeout=60, check=False).stdout == "installed":
                    waiting.append(wanted)
                    break
    return sorted(found)


def copy_packages(names, tree):
    """Creates a system with only these packages from the files of this machine."""
    listed = run("dpkg-query", "-L", *names).splitlines()
    paths = sorted({line.lstrip("/") for line in listed
                    if line.startswith("/") and line != "/." and os.path.lexists(line) and "/share/doc/" not in line
                    and "/share/locale/" not in line and "/share/man/" not in line})
    for link in ("bin", "sbin", "lib", "lib64"):
        if os.path.islink("/" + link):
            os.makedirs(os.path.join(tree, os.readlink("/" + link)), exist_ok=True)
            os.symlink(os.readlink("/" + link), os.path.join(tree, link))
    archive = subprocess.run(["tar", "-C", "/", "--no-recursion", "-cf", "-", "-T", "-"], input="\n".join(paths).encode(),
                             capture_output=True, timeout=SECONDS_MAX, check=True).stdout
    subprocess.run(["tar", "-C", tree, "-xf", "-"], input=archive, timeout=SECONDS_MAX, check=True)


def fill_system(names, tree):
    copy_packages(names, tree)
    for folder in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "var/log", "tmp", "etc", "dev"):
        os.makedirs(os.path.join(tree, folder), exist_ok=True)
    with open(os.path.join(tree, "var/lib/dpkg/status"), "w") as file:
        file.write(run("dpkg-query", "-s", *names))
    for name in names:  # dpkg needs the list of files of each package
        for path in glob.glob(f"/var/lib/dpkg/info/{name}.list") + glob.glob(f"/var/lib/dpkg/info/{name}:*.list"):
            shutil.copy(path, os.path.join(tree, "var/lib/dpkg/info"))
    for name in ("passwd", "group"):
        shutil.copy(f"/usr/share/base-passwd/{name}.master", os.path.join(tree, "etc", name))
    run("mknod", "-m", "666", os.path.join(tree, "dev/null"), "c", "1", "3")


def bootstrap(tree, path):
    """Installs Debian from its mirror and the package with apt; False if no mirror is available."""
    if not shutil.which("debootstrap"):
        return False
    mirror = os.environ.get("DEBIAN_MIRROR", "")  # debootstrap has a default mirror.
    done = subprocess.run(["debootstrap", "--variant=minbase", "bookworm", tree, *([mirror] if mirror else [])],
                          capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    if done.returncode != 0:
        print(f"debootstrap did not succeed, so the packages of this machine are taken: {done.stdout[-200:]!r}")
        shutil.rmtree(tree)
        os.mkdir(tree)
        return False
    shutil.copy(path, os.path.join(tree, "tmp", "revenant.deb"))
    run(*inside(tree), "apt-get", "install", "-y", "--no-install-recommends", "/tmp/revenant.deb")
    print("        by apt in a Debian that debootstrap made")
    return True


def install_beside(tree, path):
    """Without a mirror: creates a system from the files of the installed packages that ours depends on."""
    depends = [re.sub(r"\(.*\)|\s", "", one.split("|")[0]) for one in run("dpkg-deb", "-f", path, "Depends").split(",")]
    fill_system(closure([*depends, *ESSENTIAL]), tree)
    shutil.copy(path, os.path.join(tree, "tmp", "revenant.deb"))
    run(*inside(tree), "dpkg", "-i", "/tmp/revenant.deb")


def inside(tree):
    return ("chroot", tree, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive")


@case
def package_works_on_a_system_of_its_own(world):
    path = package(world)
    if os.geteuid() != 0:
        raise Skipped("only root may change into another system")
    with world.directory() as tree:
        os.chmod(tree, 0o755)
        if not bootstrap(tree, path):
            install_beside(tree, path)
        os.chmod(tree, 0o755)
        contains(run(*inside(tree), "dpkg", "-s", "revenant"), "Status: install ok installed")
        contains(run(*inside(tree), "getent", "passwd", "revenant"), ":/var/lib/revenant:/usr/sbin/nologin")
        owner = os.stat(os.path.join(tree, "var/lib/revenant"))
        equal((oct(owner.st_mode & 0o777), owner.st_uid != 0), ("0o750", True))
        equal(oct(os.stat(os.path.join(tree, "etc/revenant/revenant.conf")).st_mode & 0o777), "0o640")
        contains(run(*inside(tree), "revenant", "--check-config", "--config", "/etc/revenant/revenant.conf"),
                 "data_dir = /var/lib/revenant  # /etc/revenant/revenant.conf:")
        start_and_ask(world, tree)
        run(*inside(tree), "dpkg", "--purge", "revenant")
        equal(os.path.exists(os.path.join(tree, "var/lib/revenant")), False)


def start_and_ask(world, tree):
    """Starts the broker as the service does: as its own user, with the packaged configuration."""
    with world.directory() as directory:
        command = ("chroot", "--userspec=revenant:revenant", tree)
        options = ("--port", "0", "--http-port", "0", "--prometheus-port", "0")
        environment = {"REVENANT_BIND": "127.0.0.1", "REVENANT_DATA_DIR": "/var/lib/revenant"}
        with Broker("/usr/sbin/revenant", directory, "", options, environment, command,
                    config="/etc/revenant/revenant.conf") as broker:
            url = f"http://127.0.0.1:{broker.ports['http']}"
            contains(run(*inside(tree), f"REVENANT_URL={url}", "/usr/lib/revenant/bin/rabbitmqctl", "list_users"),
                     "guest\t[administrator]")
            run(*inside(tree), f"REVENANT_URL={url}", "revenantctl", "-q", "check_running")
            equal(broker.stop(), 0)


@case
def package_container_file_names_what_the_package_has(world):
    with open(os.path.join(world.root, "deploy", "container", "Containerfile")) as file:
        text = file.read()
    names = {line.split()[5].lstrip(".") for line in run("dpkg-deb", "-c", package(world)).splitlines()}
    entry = re.search(r"^ENTRYPOINT \[(.*)\]$", text, re.M)[1].replace('"', "").split(", ")
    contains(names, entry[0])
    contains(names, entry[2])
    contains(names, re.search(r"^ENV PATH=(\S+?):", text, re.M)[1] + "/")
