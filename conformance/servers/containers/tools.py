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
from typing import IO, TYPE_CHECKING, Any, Final

from conformance.servers.child_process import Ended, Limits
from conformance.servers.containers.engine import new_name, telling
from conformance.servers.containers.files import new_archive, read_tree
from conformance.servers.errors import ServerUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from docker.models.containers import Container

    from conformance.servers.containers.engine_run import EngineRun

MEMORY: Final = 4 << 30  # bytes; the engine ends a program that grows beyond it
_PLACE: Final = "/tmp"  # noqa: S108 - of a container that the lab made
_SIGNALS: Final = range(129, 192)
_FORBIDDEN: Final = 125  # the script's own failure
_INPUT: Final = ".input"
_POLL_SECONDS: Final = 0.02
# Output goes through files, as the stream of an exec loses bytes now and then: with Podman 4.3 (seen: 4 of 135 short
# runs on a busy machine), and with Docker where the first bytes come together with the headers of the answer (seen:
# "110 is not a valid stream"). The shell's own words ("Segmentation fault") are not the program's.
_SCRIPT: Final = (
    'rm -rf "$1"; shift; exec >/dev/null 2>&1; mkdir "$0.out" && cd "$0" || exit {failed}; {limits}'
    '(exec {timeout}"$@" <{input} >"$0.out/output" 2>"$0.out/errors"); code=$?; rm -rf "$0"; exit $code'
)
_has: dict[tuple[str, str], bool] = {}  # by an image's content and a program's name
_left: dict[str, str] = {}  # by container: the folder of the last program's output, which the next run removes


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
        """The shell's exit code, and what the program wrote."""
        script = _SCRIPT.format(
            failed=_FORBIDDEN,
            limits="" if limits is None else _limit_words(limits),
            timeout="" if timeout is None else f"timeout -s KILL {timeout:g} ",
            input=_INPUT,
        )
        identity = str(self.container.id)
        command = ["sh", "-c", script, folder, _left.pop(identity, f"{folder}.none"), *words]
        api: Any = self._run.client.api
        with telling(f"run {words[0]} in {self.container.name}"):
            execution = api.exec_create(identity, command, user="0")["Id"]
            api.exec_start(execution)
            while (state := api.exec_inspect(execution))["Running"]:
                time.sleep(_POLL_SECONDS)
        code = state["ExitCode"]
        if code is None:
            raise ServerUnavailable(f"the container engine broke off while {words[0]} was running")
        if code == _FORBIDDEN:
            raise ServerUnavailable(f"{words[0]} cannot be started in {self.container.name}")
        _left[identity] = f"{folder}.out"
        written = {
            member.name: content.read() for member, content in self._written(f"{folder}.out") if content is not None
        }
        return int(code), written.get("output", b""), written.get("errors", b"")

    def _written(self, folder: str) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
        with telling(f"read {folder} of {self.container.name}"):
            yield from read_tree(self.container, folder)


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
