"""An empty system of another suite of Debian, made from this machine's own package mirror.

A template is made once (``mmdebstrap``: essential packages, apt, git, Python with venv, certificates). Each use is an
overlay whose upper layer goes with the use. Mounts and processes live in namespaces of their own, so nothing stays
mounted and no process stays behind, however the use ends. A system sees these parts of the machine, and no more: the
mirror and the ``Acquire`` settings of apt, pip's settings about the network, the resolver's files and the trusted
certificates.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from conformance.servers.install.apt import machine_acquire_settings
from conformance.servers.install.apt_sources import archives, distribution, read_sources
from tests.systems.machines import MACHINES, PLAIN, Machine

if TYPE_CHECKING:
    from collections.abc import Iterator

PYTHONS: Final = {"bookworm": "3.11", "trixie": "3.13", "sid": "3.14"}
USER: Final = "newcomer"
_ID: Final = 1000
_PACKAGES: Final = ("python3", "python3-venv", "ca-certificates", "git")
_COMPILERS: Final = ("gcc", "g++", "python3-dev")
_PROGRAMS: Final = {"mmdebstrap": "mmdebstrap", "git": "git", "mount": "mount"}
_PIP_SETTINGS: Final = (
    "index-url",
    "extra-index-url",
    "proxy",
    "trusted-host",
    "cert",
    "timeout",
    "default-timeout",
    "retries",
)
_SEEN: Final = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/ssl/certs",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
)
_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty")
_UNSHARE: Final = ("unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child")
_LAYERS: Final = "lowerdir=lower,upperdir=changes,workdir=work"
_ENTER: Final = """
set -e
upper=$1 template=$2 root=$3; shift 3
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$template,upperdir=$upper/changes,workdir=$upper/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for name in $DEVICES; do touch "$root/dev/$name"; mount --bind "/dev/$name" "$root/dev/$name"; done
for path in $SEEN; do
  [ -e "$path" ] || continue
  if [ -d "$path" ]; then mkdir -p "$root$path"; else rm -f "$root$path"; touch "$root$path"; fi
  mount --bind -o ro "$path" "$root$path"
done
eval "$MOUNTS"
exec chroot "$@"
"""


class NoSystemError(Exception):
    """No empty system can be made here; the text says what is missing."""


def require(work: Path) -> None:
    """Raise :class:`NoSystemError` with what this machine lacks to make systems in ``work``."""
    missing = [f"{name} (package {package})" for name, package in _PROGRAMS.items() if shutil.which(name) is None]
    if missing:
        raise NoSystemError(f"there is no {', no '.join(missing)}")
    require_layers(work)


def require_layers(work: Path) -> None:
    """Raise :class:`NoSystemError` where nothing can be laid over files in ``work`` in a namespace of its own."""
    if os.geteuid() != 0:
        raise NoSystemError("an empty system needs root: for its mounts and its users")
    with tempfile.TemporaryDirectory(dir=work) as place:
        for name in ("lower", "changes", "work", "root"):
            Path(place, name).mkdir()
        tried = subprocess.run(
            [*_UNSHARE, "sh", "-c", 'cd "$1"; exec mount -t overlay overlay -o "$2" root', "try", place, _LAYERS],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if tried.returncode:
        raise NoSystemError(f"no layer can be mounted in {work}: {tried.stderr.strip()}")


@dataclass(frozen=True, slots=True)
class Template:
    """The files of an empty system; ``work`` holds them and the layers of its uses."""

    suite: str
    root: Path
    work: Path


def make_template(suite: str, work: Path, *, compilers: bool = False) -> Template:
    """Make the files. ``compilers``: with what a compiled build needs. Raises :class:`NoSystemError`."""
    here = distribution()
    found = archives(read_sources(), here)
    if here.id != "debian" or not found:
        raise NoSystemError("this machine's apt has no archive of Debian, from which the system would come")
    root = work / f"{suite}{'-compilers' * compilers}"
    options = [
        f"--aptopt={line}" for line in machine_acquire_settings("apt-config").splitlines() if not line.endswith('"";')
    ]
    packages = f"--include={','.join((*_PACKAGES, *(_COMPILERS if compilers else ())))}"
    log = work / "mmdebstrap.log"
    with log.open("wb") as output:
        code = subprocess.run(
            [*_UNSHARE, "--mount-proc", "mmdebstrap", "--variant=apt", packages, *options, suite, root, found[0].uri],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False,
        ).returncode  # fmt: skip
    if code:
        last = log.read_text("utf-8", "replace").splitlines()[-6:]
        raise NoSystemError(f"mmdebstrap makes no system of {suite}:\n" + "\n".join(last))
    (root / "etc/pip.conf").write_text(pip_settings(), "utf-8")
    _add_user(root)
    return Template(suite, root, work)


def _add_user(root: Path) -> None:
    # By hand: the programs that do it are not among the essential packages of every suite.
    for name, line in (("passwd", f"{USER}:x:{_ID}:{_ID}::/home/{USER}:/bin/sh"), ("group", f"{USER}:x:{_ID}:")):
        with (root / "etc" / name).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    home = root / "home" / USER
    home.mkdir(mode=0o755)
    os.chown(home, _ID, _ID)


def pip_settings() -> str:
    """pip's settings about the network, as a configuration file; what names a path of this machine is left out."""
    answer = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True)
    kept: dict[str, str] = {}
    for line in answer.stdout.splitlines():
        name, _, value = line.partition("=")
        key, words = name.rpartition(".")[2], shlex.split(value)[0].split()
        words = [word for word in words if key == "cert" or not word.startswith(("/", "file:"))]
        if key in _PIP_SETTINGS and words:
            kept[key.removeprefix("default-")] = " ".join(words)
    return "[global]\n" + "".join(f"{key} = {value}\n" for key, value in kept.items())


@dataclass(frozen=True, slots=True)
class System:
    """One use of a template: what is written goes with it."""

    template: Template
    layer: Path
    user: str

    @property
    def home(self) -> str:
        """The user's home inside."""
        return "/root" if self.user == "root" else f"/home/{self.user}"

    def place(self, source: Path, name: str) -> str:
        """Put a folder into the user's home; its path inside."""
        home = self.layer / "changes" / self.home.lstrip("/")
        shutil.copytree(source, home / name, symlinks=True)  # which makes all folders above
        if self.user != "root":
            for path in (home, *home.rglob("*")):
                os.lchown(path, _ID, _ID)
        return f"{self.home}/{name}"

    def run(self, script: str, output: IO[bytes], *, seconds: float, machine: Machine = MACHINES[PLAIN]) -> int:
        """Paste lines into the user's shell; its exit code, 124 where it took too long. Nothing of it stays behind."""
        root = self.layer / "root"
        root.mkdir(exist_ok=True)
        environment = {
            "HOME": self.home, "USER": self.user, "LANG": "C.UTF-8", "TERM": "dumb",
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", **machine.environment,
        }  # fmt: skip
        inner = [
            "env",
            "-i",
            *(f"{name}={value}" for name, value in environment.items()),
            "sh",
            "-euc",
            machine.lines + script,
        ]
        command = [
            *_UNSHARE, "sh", "-c", _ENTER, "enter",
            str(self.layer), str(self.template.root), str(root),
            *([] if self.user == "root" else [f"--userspec={self.user}:{self.user}", "--groups="]), str(root), *inner,
        ]  # fmt: skip
        outside = {**os.environ, "DEVICES": " ".join(_DEVICES), "SEEN": " ".join(_SEEN), "MOUNTS": machine.mounts}
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=outside, start_new_session=True
        ) as child:
            try:
                return child.wait(seconds)
            except subprocess.TimeoutExpired:
                return 124
            finally:
                if child.poll() is None:  # with its first process the whole namespace ends
                    os.killpg(child.pid, signal.SIGKILL)


@contextmanager
def system(template: Template, user: str = "root") -> Iterator[System]:
    """A system as new."""
    layer = template.work / f"layer-{os.getpid()}-{user}"
    for name in ("changes", "work"):
        (layer / name).mkdir(parents=True)
    try:
        yield System(template, layer, user)
    finally:
        shutil.rmtree(layer)


def clone(source: Path, target: Path) -> str:
    """Make a clean clone of what is committed; the commit."""
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(source), str(target)], check=True)
    asked = ["git", "-C", str(target), "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
