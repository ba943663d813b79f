"""Builds the images of this directory, also where no registry can be reached: ``python docker/build.py [IMAGE]...``.

The base image is Debian's unstable suite: mmdebstrap makes it from the archive that this machine's apt already uses,
and the engine imports it. The Dockerfiles build on it (build argument ``BASE``). With a registry,
``--base debian:sid-slim`` takes an image from there instead. The script talks to the engine that DOCKER_HOST names
through its API; it needs no client program.

Exit codes: 0 built, 3 something is missing (the message says what).
"""

# Starting programs is the job of this script.
# ruff: noqa: INP001, S603, T201

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from docker import DockerClient

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))  # run from a checkout, the lab need not be installed

from conformance.extras import to_install  # noqa: E402
from conformance.servers.errors import ServerUnavailable  # noqa: E402
from conformance.servers.install.apt import machine_acquire_settings, require_program  # noqa: E402
from conformance.servers.install.apt_sources import archives, distribution, read_sources  # noqa: E402

SUITE = "sid"
BASE = "binlog-lab-base"
MYSQL = "binlog-lab-mysql"
LAB = "binlog-lab"
LABEL = "org.binlog-lab.image"  # label on every stage of the Dockerfiles

# Nobody reads documentation in a container; licences stay.
_NOT_INSTALLED = """\
path-exclude=/usr/share/doc/*
path-include=/usr/share/doc/*/copyright
path-exclude=/usr/share/man/*
path-exclude=/usr/share/info/*
path-exclude=/usr/share/locale/*
path-exclude=/usr/share/lintian/*
path-exclude=/usr/share/bug/*
"""
# No translated descriptions, which nobody reads here.
_APT_SETTINGS = """
Acquire::Languages "none";
APT::Install-Recommends "false";
"""


def say(text: str) -> None:
    """Print narration to stderr; stdout has the names of the images."""
    print(text, file=sys.stderr, flush=True)


def connect() -> DockerClient:
    """Connect to the engine that DOCKER_HOST names, else to the machine's own."""
    try:
        import docker
    except ImportError:
        raise ServerUnavailable("the Python package docker is not installed", to_install("docker")) from None
    try:
        client: DockerClient = docker.from_env(timeout=600)
        client.ping()
    except docker.errors.DockerException as error:
        raise ServerUnavailable(
            f"no Docker engine answers: {error}", "start one, or set DOCKER_HOST to its socket"
        ) from None
    return client


def bootstrap(tar: Path) -> None:
    """Write a root file system of Debian's essential packages and apt to ``tar``."""
    mmdebstrap = require_mmdebstrap()
    found = [source for source in archives(read_sources(), distribution()) if not source.uri.startswith("mirror")]
    if distribution().id != "debian" or not found:
        raise ServerUnavailable(
            "this machine's apt configuration names no Debian archive",
            "give --base an image of Debian",
        )
    with tempfile.TemporaryDirectory(prefix="binlog-lab-base-") as name:
        work = Path(name)
        (work / "archive.sources").write_text(found[0].stanza((SUITE,), ("main",)), encoding="utf-8")
        (work / "apt.conf").write_text(
            machine_acquire_settings(require_program("apt-config", "apt")) + _APT_SETTINGS,
            encoding="utf-8",
        )
        (work / "dpkg.conf").write_text(_NOT_INSTALLED, encoding="utf-8")
        options = [f"--aptopt={work / 'apt.conf'}", f"--dpkgopt={work / 'dpkg.conf'}"]
        answer = subprocess.run(
            [mmdebstrap, "--variant=apt", *options, SUITE, str(tar), str(work / "archive.sources")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    if answer.returncode != 0:
        last = "\n".join(f"  | {line}" for line in answer.stdout.splitlines()[-12:])
        raise ServerUnavailable(f"mmdebstrap fails ({answer.returncode})", "see its messages", detail=last)


def require_mmdebstrap() -> str:
    """The path of mmdebstrap."""
    import shutil

    found = shutil.which("mmdebstrap")
    if found is None:
        raise ServerUnavailable(
            "mmdebstrap is not on this machine, so no base image can be made without a registry",
            "apt-get install mmdebstrap, or give --base an image that the engine has or can pull",
        )
    return found


def build_base(client: DockerClient, *, refresh: bool) -> str:
    """The imported base image; an existing one is used again, unless ``refresh``."""
    tag = f"{BASE}:{SUITE}"
    if not refresh and client.images.list(name=tag):
        return tag
    with tempfile.TemporaryDirectory(prefix="binlog-lab-base-") as name:
        tar = Path(name) / "base.tar"
        bootstrap(tar)
        with tar.open("rb") as stream:  # as an iterator: docker 7.2 frames a file wrongly ("header line too long")
            pieces = iter(lambda: stream.read(1 << 20), b"")
            client.api.import_image_from_stream(pieces, repository=BASE, tag=SUITE, changes=['CMD ["bash"]'])
    return tag


def build(client: DockerClient, dockerfile: Path, context: Path, base: str, tag: str) -> None:
    """Build one Dockerfile; print its output line by line."""
    lines: Iterable[dict[str, Any]] = client.api.build(
        path=str(context),
        dockerfile=str(dockerfile),
        buildargs={"BASE": base},
        tag=tag,
        rm=True,
        forcerm=True,
        network_mode="host",  # the way to the package archive may be a proxy on this machine
        decode=True,
    )
    for line in lines:
        if "error" in line:
            raise ServerUnavailable(f"{tag} cannot be built: {line['error']}", "see the lines above")
        text = str(line.get("stream", "")).rstrip()
        if text:
            say(f"  {text}")
    # Removes unnamed images that an earlier build of the same image left, its first stages among them.
    client.images.prune(filters={"dangling": True, "label": LABEL})


def output_of(client: DockerClient, image: str, *command: str) -> str:
    """The output of a program in an image. (``containers.run`` would leave the image's volume behind.)"""
    container = client.containers.create(image, list(command), network_mode="none")
    try:
        container.start()
        container.wait(timeout=120)
        return bytes(container.logs(stderr=False)).decode("utf-8", "replace")
    finally:
        container.remove(force=True, v=True)


def build_mysql(client: DockerClient, base: str) -> list[str]:
    """Build the server's image; tag it with its full version, its release and ``latest``."""
    build(client, HERE / "mysql/Dockerfile", HERE / "mysql", base, f"{MYSQL}:latest")
    printed = output_of(client, f"{MYSQL}:latest", "mysqld", "--version")
    version = re.search(r"Ver (\d+\.\d+)\.\d+", printed)
    if version is None:
        raise ServerUnavailable(f"the built image's mysqld prints no version: {printed!r}", "tell the maintainers")
    tags = [version[0].removeprefix("Ver "), version[1], "latest"]
    for tag in tags:
        client.images.get(f"{MYSQL}:latest").tag(MYSQL, tag)
    return [f"{MYSQL}:{tag}" for tag in tags]


def build_lab(client: DockerClient, base: str) -> list[str]:
    """Build the lab's own image."""
    build(client, HERE / "lab/Dockerfile", ROOT, base, f"{LAB}:latest")
    return [f"{LAB}:latest"]


def run(wanted: list[str], base: str | None, *, refresh: bool) -> Iterator[str]:
    """Build the wanted images, each after the images it depends on; yield their names."""
    client = connect()
    start = time.monotonic()
    stands_on = base or build_base(client, refresh=refresh)
    for name in (name for name in IMAGES if name in wanted):
        images = IMAGES[name](client, stands_on)
        size = client.images.get(images[0]).attrs["Size"] / 1e6
        say(f"{images[0]}: {size:.0f} MB ({time.monotonic() - start:.0f} s)")
        yield from images


IMAGES: dict[str, Callable[[DockerClient, str], list[str]]] = {
    "base": lambda _, base: [base],
    "mysql": build_mysql,
    "lab": build_lab,
}


def main() -> int:
    """Parse the command line and build the images."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("image", nargs="*", metavar="IMAGE", help=f"{', '.join(IMAGES)} (default: mysql lab)")
    parser.add_argument("--base", help="stand on this image instead of one made here")
    parser.add_argument("--refresh", action="store_true", help="make the base image anew")
    arguments = parser.parse_args()
    wanted = arguments.image or ["mysql", "lab"]
    unknown = sorted(set(wanted) - set(IMAGES))
    if unknown:
        parser.error(f"expected {', '.join(IMAGES)}; got {', '.join(unknown)}")
    try:
        for image in run(wanted, arguments.base, refresh=arguments.refresh):
            print(image)
    except ServerUnavailable as error:
        say(str(error))
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
