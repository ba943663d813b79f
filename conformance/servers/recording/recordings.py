"""The recording of a run: one tape for each module of checks, written or asked as the checks come.

A module begins with servers and sessions of its own (:meth:`Lab.renew`), so that its tape can be judged alone, in any
order, beside others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.servers import clock
from conformance.servers.recording.directory import (
    TAPES,
    Manifest,
    RecordingRefused,
    claim,
    open_tape,
    read_manifest,
    tapes_in,
    verify_tape,
    write_manifest,
)
from conformance.servers.recording.files import TapeContent, TapeWriter
from conformance.servers.recording.servers import taped_maker, taped_server
from conformance.servers.recording.tape import RecordingTape, ReplayTape, TapedClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.servers.base import Server
    from conformance.servers.recording.tape import Tape
    from conformance.servers.run.owned import Maker


class Recording:
    """The tapes of one run. ``manifest``: the manifest of the recording that is judged; ``None`` while one is made."""

    def __init__(self, path: Path, manifest: Manifest | None = None) -> None:
        self.path = path
        self.manifest = manifest
        self._tape: Tape | None = None
        self._answers: dict[str, Any] | None = None  # of the questions about the version, which the run asks once

    @property
    def tape(self) -> Tape:
        """The tape of the running module."""
        assert self._tape is not None
        return self._tape

    @property
    def problem(self) -> str | None:
        """The first request of the running check that had no answer."""
        return self._tape.problem if isinstance(self._tape, ReplayTape) else None

    def begin_module(self, name: str, former: str = "") -> None:
        """Open the tape of a module of checks (``room.module``). Raises :class:`RecordingRefused`.

        ``former``: the name of the module in older recordings.
        """
        file = f"{name}.tape"
        if self.manifest is None:
            self._tape = RecordingTape(TapeWriter(self.path / TAPES / file))
        else:
            file = file if file in self.manifest.tapes else f"{former}.tape"
            # The checks of a module without a tape have no answers; they are named one by one.
            content = open_tape(self.path, self.manifest, file) if file in self.manifest.tapes else TapeContent()
            self._tape = ReplayTape(content)
        clock.use(TapedClock(self._tape))

    def end_module(self, *, whole: bool = True) -> None:
        """Close the tape."""
        clock.use(clock.REAL)
        if isinstance(self._tape, RecordingTape):
            self._tape.end(whole=whole)
        self._tape = None

    @property
    def open(self) -> bool:
        """Whether a module is running."""
        return self._tape is not None

    def begin(self, check: str, former: str = "") -> None:
        """A check of the module begins. ``former``: its name in older recordings."""
        self.tape.begin(check, former)

    # --- what the lab asks for ---------------------------------------------------------------------------------------

    def server(self, live: Callable[[], Server | None]) -> Server | None:
        """The server under test."""
        return taped_server(self.tape, live)

    def maker(self, what: str, live: Callable[[], Maker]) -> Maker:
        """A maker of other servers."""
        return taped_maker(self.tape, what, live)

    def answers(self, server: Server, gather: Callable[[Server], dict[str, Any]]) -> dict[str, Any]:
        """Return the answers of the server under test about its version: asked once in a run, and on every tape."""

        def ask(beneath: Any) -> Any:
            if self._answers is None:
                self._answers = gather(beneath)
            return self._answers

        return dict(server.observed("what it shows of its version", ask))


def start_recording(path: Path, manifest: Manifest) -> Recording:
    """Take the directory, and say in it that the run has not ended."""
    claim(path)
    write_manifest(path, manifest)
    return Recording(path)


def finish_recording(path: Path, manifest: Manifest) -> int:
    """Write the manifest at the end of a run; returns the bytes of all tapes."""
    from dataclasses import replace

    tapes = tapes_in(path)
    write_manifest(path, replace(manifest, tapes=tapes))
    return sum(size for size, _ in tapes.values())


def open_recording(path: Path) -> Recording:
    """A recording to be judged. Raises :class:`RecordingRefused`."""
    manifest = read_manifest(path)
    if not manifest.tapes:
        raise RecordingRefused(path, "it has no tapes", "what a server answered to at least one module of checks")
    for name in manifest.tapes:
        verify_tape(path, manifest, name)
    return Recording(path, manifest)
