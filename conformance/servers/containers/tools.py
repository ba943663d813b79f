"""Programs of an image, run in a container beside the servers: one for each image and run of the lab.

The container has no server in it. So a program that dies or takes all memory harms no server, and it can run while the
server is stopped. All data go in and out through the engine: no path of this machine is seen inside.
"""

from __future__ import annotations

import io
import secrets
import signal
import tarfile
import time
from typing import TYPE_CHECKING, Any, Final

from conformance.servers.containers.engine import new_name, telling
from conformance.servers.containers.files import new_archive, read_bytes
from conformance.servers.errors import ServerUnavailable
from conformance.servers.programs import Ended, Limits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from docker.models.containers import Container

    from conformance.servers.containers.run import EngineRun

MEMORY: Final = 4 << 30  # bytes; the engine ends a program that grows beyond it
_PLACE: Final = "/tmp"  # noqa: S108 - of a container that the lab made
_SIGNALS: Final = range(129, 192)
_FORBIDDEN: Final = 125  # the script's own failure
_INPUT: Final = ".input"
# The shell's own words ("Segmentation fault") are not the program's: descriptor 3 is the program's standard error.
_SCRIPT: Final = (
    'cd "$0" || exit {failed}; exec 3>&2 2>/dev/null; {limits}(exec {timeout}"$@" <{input} {output}2>&3 3>&-)'
)
_has: dict[tuple[str, str], bool] = {}  # by an image's content and a program's name
_REMOVE: Final = '; code=$?; rm -rf "$0"; exit $code'


class Tool:
    """Where an image's programs run: a container that is made on first use and goes with the run's other objects."""

    def __init__(self, run: EngineRun, image: str) -> None:
        self._run = run
        self._image = image
        self.container = run.tools.get(image) or self._make()

    def _make(self) -> Container:
        run = self._run
        with telling(f"make a container for the programs of {self._image}"):
            made = run.tools[self._image] = run.client.containers.create(
                self._image,
                ["infinity"],
                entrypoint=["sleep"],
                name=new_name(),
                labels=run.labels(),
                network=str(run.network().name),
                ulimits=run.limits,
                mem_limit=MEMORY,
                cap_drop=["ALL"],
                security_opt=["no-new-privileges"],
                user="0",
            )
        return made

    def has(self, name: str) -> bool:
        """Whether the image brings a program that can say its version."""
        key = self._image, name
        if key not in _has:
            _has[key] = self.run([name, "--version"]).returncode == 0
        return _has[key]

    def run(
        self,
        words: Sequence[str],
        *,
        stdin: bytes = b"",
        files: Mapping[str, bytes] | None = None,
        timeout: float | None = None,
        limits: Limits | None = None,
    ) -> Ended:
        """Run a command to its end, in a fresh folder with these files; as ``Program.run``."""
        self._start()
        folder = f"{_PLACE}/binlog-lab-{secrets.token_hex(6)}"
        with telling(f"give files to {words[0]} in {self.container.name}"):
            self.container.put_archive(_PLACE, _folder(folder, {**(files or {}), _INPUT: stdin}))
        begun = time.monotonic()
        code, out, errors = self._execute(folder, words, timeout, limits)
        if code == _FORBIDDEN:
            raise ServerUnavailable(f"{words[0]} cannot be started in {self.container.name}")
        status = 128 - code if code in _SIGNALS else code
        slow = timeout is not None and time.monotonic() - begun >= timeout
        too_long = (slow and status == -signal.SIGKILL) or (limits is not None and status == -signal.SIGXCPU)
        return Ended(None if too_long else status, out, errors)

    def _start(self) -> None:
        """The container runs from the first program on; it starts again if the engine ended it."""
        with telling(f"start {self.container.name}"):
            self.container.reload()
            if self.container.status != "running":
                self.container.start()

    def _execute(
        self, folder: str, words: Sequence[str], timeout: float | None, limits: Limits | None
    ) -> tuple[int, bytes, bytes]:
        # Podman 4.3 loses the output of an exec now and then (seen: 4 of 135 short runs on a busy machine): it goes
        # through files there.
        podman = self._run.podman
        script = _SCRIPT.format(
            failed=_FORBIDDEN,
            limits="" if limits is None else _limit_words(limits),
            timeout="" if timeout is None else f"timeout -s KILL {timeout:g} ",
            input=_INPUT,
            output="3>.errors >.output " if podman else "",
        )
        command = ["sh", "-c", script if podman else script + _REMOVE, folder, *words]
        with telling(f"run {words[0]} in {self.container.name}"):
            answer: Any = self.container.exec_run(command, demux=True, user="0")
        if answer.exit_code is None:
            raise ServerUnavailable(f"the container engine broke off while {words[0]} was running")
        if not podman:
            out, errors = answer.output
            return int(answer.exit_code), out or b"", errors or b""
        outputs = [read_bytes(self.container, f"{folder}/{name}") for name in (".output", ".errors")]
        with telling(f"remove {folder} in {self.container.name}"):
            self.container.exec_run(["rm", "-rf", folder], user="0")
        return int(answer.exit_code), outputs[0], outputs[1]


def _limit_words(limits: Limits) -> str:
    """Commands of a shell: a second behind the soft limit, whose signal tells what happened, the kernel kills."""
    seconds = limits.processor_seconds
    return f"ulimit -c 0; ulimit -H -t {seconds + 1}; ulimit -S -t {seconds}; ulimit -v {limits.address_space >> 10}; "


def _folder(place: str, files: Mapping[str, bytes]) -> bytes:
    """An archive of one folder with files that only root may read: one may hold a password."""
    name = place.rpartition("/")[2]
    buffer = io.BytesIO()
    with new_archive(buffer) as archive:
        top = tarfile.TarInfo(name)
        top.type, top.mode = tarfile.DIRTYPE, 0o700
        archive.addfile(top)
        for file, data in files.items():
            entry = tarfile.TarInfo(f"{name}/{file}")
            entry.size, entry.mode = len(data), 0o600
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()
