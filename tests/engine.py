"""A container engine for tests: ``python -m tests.engine [--image mysql] [--image lab] COMMAND...``.

Runs COMMAND with DOCKER_HOST set. An engine that answers already (DOCKER_HOST, or the machine's own socket) is used as
it is. Else a private one is started, as root, from Debian's packages docker.io, containerd and runc. Its data, socket
and state live in one temporary directory. It runs with COMMAND in network and mount namespaces of its own. So bridges,
packet filter rules and mounts are gone with the last process. Images are built before that, or taken from the user's
cache. The same engine builds them in the machine's own network (the package archive is there), with a data directory
that both share.

Exit code: that of COMMAND; 77 when no engine can be had (the last line of stderr says what is missing); 3 when it
cannot build an image, or cannot remove what it made.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.servers.install.cache import cache_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import DockerClient

NO_ENGINE = 77  # the code by which automake's test driver knows a skipped test
FAILED = 3
IMAGES = {
    "mysql": "binlog-lab-mysql:latest",
    "lab": "binlog-lab:latest",
    # The first with the entry point's behaviour of the official images (tests/containers/official).
    "official": "binlog-lab-official:latest",
    # What docker/clients makes of that one.
    "clients": "binlog-lab-clients:official",
}
# What an image stands on, and the folder that it is built from where docker/build.py does not know it.
_BASES = {"official": "mysql", "clients": "official"}
_FOLDERS = {"official": "tests/containers/official", "clients": "docker/clients"}
_ROOT = Path(__file__).resolve().parent.parent
_START_SECONDS = 60
_PROGRAMS = {
    "dockerd": "docker.io",
    "containerd": "containerd",
    "runc": "runc",
    "unshare": "util-linux",
    "setpriv": "util-linux",
}


class NoEngineError(Exception):
    """No engine can be had here; the text says what is missing."""


def say(text: str) -> None:
    """Narration goes to stderr."""
    sys.stderr.write(f"{text}\n")


def answering() -> str | None:
    """The address of an engine that answers, as DOCKER_HOST has it."""
    try:
        import docker
    except ImportError:
        raise NoEngineError("the Python package docker is not installed") from None
    address = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    try:
        if address.startswith("unix://"):  # the client, when it fails, leaves its socket open
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(address.removeprefix("unix://"))
    except OSError:
        return None
    try:
        client = docker.DockerClient(base_url=address, timeout=20)
    except docker.errors.DockerException:
        return None
    with contextlib.closing(client):
        try:
            client.ping()
        except docker.errors.DockerException:
            return None
    return address


def require_private() -> None:
    """Raise with what a private engine lacks here."""
    if os.geteuid() != 0:
        raise NoEngineError("no container engine answers, and starting one needs root")
    missing = [f"{name} (package {package})" for name, package in _PROGRAMS.items() if shutil.which(name) is None]
    if missing:
        raise NoEngineError(f"no container engine answers, and to start one there is no {', '.join(missing)}")
    tried = subprocess.run(["unshare", "--mount", "--net", "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        raise NoEngineError(f"no container engine answers, and this machine starts none: {tried.stderr.strip()}")


@contextlib.contextmanager
def private(directory: Path, *, bridge: str | None = None) -> Iterator[str]:
    """A running dockerd with everything in ``directory``.

    With the name of a ``bridge`` that is there it changes nothing else of the network that it runs in. (With none,
    dockerd 20.10 removes ``docker0``, which may be another engine's.)
    """
    socket_path, log = directory / "docker.sock", directory / "log"
    command = [
        "setpriv",
        "--pdeathsig",
        "TERM",
        "dockerd",
        "--host",
        f"unix://{socket_path}",
        "--data-root",
        str(directory / "data"),
    ]
    command += ["--exec-root", str(directory / "exec"), "--pidfile", str(directory / "pid")]
    if bridge is not None:
        command += [f"--bridge={bridge}", "--iptables=false", "--ip-masq=false", "--ip-forward=false"]
    elif shutil.which("iptables") is None:
        command += ["--iptables=false"]
    with log.open("ab") as output:
        daemon = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    try:
        address = f"unix://{socket_path}"
        _await(daemon, socket_path, log)
        yield address
    finally:
        daemon.send_signal(signal.SIGTERM)
        try:
            daemon.wait(30)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def _await(daemon: subprocess.Popen[bytes], path: Path, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and daemon.poll() is None:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(5)
            probe.connect(str(path))
            probe.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
            if b" 200 " in probe.recv(64):
                return
        time.sleep(0.1)
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    raise NoEngineError("dockerd does not start: " + (lines[-1] if lines else "it says nothing"))


def _address(dotted: str) -> bytes:
    return struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(dotted))


def bring_up(interface: str) -> None:
    """Bring up a network interface (netdevice(7): SIOCSIFFLAGS with IFF_UP)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", interface.encode(), 1))


@contextlib.contextmanager
def unused_bridge() -> Iterator[str]:
    """A bridge with an address of TEST-NET-1 (RFC 5737), for a dockerd whose containers use the machine's network."""
    name = f"lab{os.getpid()}"
    word = name.encode()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            fcntl.ioctl(any_socket, 0x89A0, word + b"\0")  # SIOCBRADDBR
        except OSError as error:
            raise NoEngineError(f"no network bridge can be made here: {error}") from None
        try:
            fcntl.ioctl(any_socket, 0x8916, struct.pack("16s16s", word, _address("192.0.2.1")))  # SIOCSIFADDR
            fcntl.ioctl(any_socket, 0x891C, struct.pack("16s16s", word, _address("255.255.255.0")))  # SIOCSIFNETMASK
            bring_up(name)
            yield name
        finally:
            fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", word, 0))  # SIOCSIFFLAGS: down
            fcntl.ioctl(any_socket, 0x89A1, word + b"\0")  # SIOCBRDELBR


def end_of(command: list[str], environment: dict[str, str]) -> int:
    """Run a child to its end; when this process is told to stop, the child is told so first."""
    with subprocess.Popen(command, env=environment) as child:
        try:
            return child.wait()
        except BaseException:
            child.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(60)
            child.kill()
            raise


def run(address: str, command: list[str]) -> int:
    """COMMAND with DOCKER_HOST; its exit code."""
    return end_of(command, {**os.environ, "DOCKER_HOST": address})


def build(address: str, images: list[str]) -> bool:
    """Take those images that the engine does not have from the cache, or build them; False if one cannot be built."""
    import docker

    with contextlib.closing(docker.DockerClient(base_url=address, timeout=600)) as client:
        wanted = {base for name in images for base in _with_bases(name)}
        for name in (name for name in IMAGES if name in wanted and not client.images.list(name=IMAGES[name])):
            kept = _kept(name)
            if kept.is_file():
                say(f"{IMAGES[name]}: from {kept}")
                with kept.open("rb") as stream:
                    client.images.load(stream)
                continue
            if name in _FOLDERS:
                client.images.build(
                    path=str(_ROOT / _FOLDERS[name]), tag=IMAGES[name], rm=True, network_mode="host",
                    buildargs={"SERVER": IMAGES[_BASES[name]]},
                )  # fmt: skip
            elif run(address, [sys.executable, str(_ROOT / "docker/build.py"), name]) != 0:
                return False
            _keep(client, name, kept)
    return True


def _with_bases(name: str) -> list[str]:
    """An image, and those that it stands on."""
    return [name, *(_with_bases(_BASES[name]) if name in _BASES else [])]


def _kept(name: str) -> Path:
    """Where an image is kept for the next private engine, by what it is made of."""
    digest = hashlib.sha256()
    own = ("docker/lab", "conformance", "generators", "fuzz", "scenarios")
    made = [_FOLDERS.get(each, f"docker/{each}") for each in reversed(_with_bases(name))]
    for directory in own if name == "lab" else made:
        files = (item for item in (_ROOT / directory).rglob("*") if item.is_file() and item.suffix != ".pyc")
        for path in sorted(files):
            digest.update(str(path.relative_to(_ROOT)).encode() + b"\0" + path.read_bytes())
    return cache_root() / "images" / f"{name}-{digest.hexdigest()[:16]}.tar"


def _keep(client: DockerClient, name: str, place: Path) -> None:
    """Write the image to the cache, whole or not at all; older ones of the name go."""
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = place.with_suffix(f".new-{os.getpid()}")
    try:
        with fresh.open("wb") as stream:
            for piece in client.images.get(IMAGES[name]).save(named=IMAGES[name]):
                stream.write(piece)
        for older in place.parent.glob(f"{name}-*.tar"):
            older.unlink()
        fresh.rename(place)
    except OSError as error:
        say(f"{IMAGES[name]} is not kept for the next time: {error}")
    finally:
        fresh.unlink(missing_ok=True)


def left_behind(address: str) -> list[str]:
    """Containers, networks and volumes of an engine that nobody else uses."""
    import docker

    with contextlib.closing(docker.DockerClient(base_url=address, timeout=60)) as client:
        found = [f"container {container.name}" for container in client.containers.list(all=True)]
        found += [f"network {net.name}" for net in client.networks.list() if net.name not in ("bridge", "host", "none")]
        found += [f"volume {volume.name}" for volume in client.volumes.list()]
    return found


def run_private(command: list[str], images: list[str]) -> int:
    """Start a private engine, build the images, run COMMAND with it in namespaces of their own, remove everything."""
    require_private()
    directory = Path(tempfile.mkdtemp(prefix="binlog-lab-engine-"))
    again = [sys.executable, "-m", "tests.engine", "--inside", str(directory)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_ROOT), *sys.path[1:]])}
    code = 0
    try:
        if images:
            wanted = [word for name in images for word in ("--image", name)]
            code = subprocess.run(
                ["unshare", "--mount", *again, *wanted, "--"], env=environment, check=False
            ).returncode
        if code == 0:
            words = ["unshare", "--mount", "--net", *again, "--", *command]
            code = end_of(words, environment)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    if directory.exists():
        say(f"the engine is gone, but not all of {directory} can be removed")
        return FAILED
    return code


def run_inside(directory: Path, command: list[str], images: list[str]) -> int:
    """Do in new namespaces what ``run_private`` asks for: build the images, or run COMMAND without the machine's
    network."""
    if images:
        with unused_bridge() as bridge, private(directory, bridge=bridge) as address:
            return 0 if build(address, images) else FAILED
    bring_up("lo")
    with private(directory) as address:
        code = run(address, command)
        left = left_behind(address)
        if left:
            say(f"the command ended with {code} and left behind: {', '.join(left)}")
        return code or (FAILED if left else 0)


def main() -> int:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.engine", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--image", action="append", default=[], choices=sorted(IMAGES), help="build it if missing")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command and arguments.inside is None:
        parser.error("expected a command")
    try:
        if arguments.inside is not None:
            return run_inside(arguments.inside, command, arguments.image)
        address = answering()
        if address is None:
            return run_private(command, arguments.image)
        return run(address, command) if build(address, arguments.image) else FAILED
    except NoEngineError as error:
        say(str(error))
        return NO_ENGINE


if __name__ == "__main__":
    sys.exit(main())
