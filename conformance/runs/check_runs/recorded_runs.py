"""A run that makes a recording (``--record DIR``), or judges one (``--server recorded:DIR``)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from conformance.servers.recording.directory import Manifest
from conformance.servers.recording.recordings import Recording, finish_recording, open_recording, start_recording
from conformance.servers.recording.tape import NoAnswer
from conformance.servers.specs import SpecKind, parse_spec
from conformance.user_errors import Usage
from conformance.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conformance.harness.session import Lab
    from conformance.harness.settings import Settings
    from conformance.report.results import Summary
    from conformance.servers.specs import ServerSpec
    from conformance.stream import AnyRecord


class RecordedRun:
    """The tapes of a run, and what the run says of them. ``running``: a check has begun and not ended."""

    def __init__(self, tapes: Recording, manifest: Manifest, *, makes: bool) -> None:
        self.tapes = tapes
        self.manifest = manifest
        self.running = False
        self._makes = makes
        self._module = ""
        self._introduced: list[AnyRecord] = []

    @property
    def words(self) -> dict[str, str]:
        """The words about the recording in the run's record: made or judged, and where."""
        return {"made" if self._makes else "judged": str(self.tapes.path)}

    @property
    def incomplete(self) -> str | None:
        """Why a run that judges this recording cannot be complete."""
        if self._makes or self.manifest.complete:
            return None
        return f"the recording is incomplete: {self.manifest.reason or 'its run was broken off'}"

    def is_new(self, record: AnyRecord) -> bool:
        """Whether the stream lacks this record: each module of checks asks for its server anew."""
        if record.type not in ("subject", "asked"):
            return True
        if record in self._introduced:
            return False
        self._introduced.append(record)
        return True

    def begin(self, module: Path, check: str, lab: Lab | None, former: str = "") -> None:
        """A check begins, maybe as the first of its module. ``former``: its name in older recordings."""
        name = f"{module.parent.name}.{module.stem}"
        if name != self._module:
            self._end_module(lab)
            self.tapes.begin_module(name, f"{former.partition('/')[0]}.{module.stem}")
            self._module = name
        self.running = True
        self.tapes.begin(check, former)

    def close(self, lab: Lab) -> None:
        """Close the lab, and the tape of the last module."""
        if self.tapes.open:
            self._end_module(lab)
        else:
            lab.close()

    def _end_module(self, lab: Lab | None) -> None:
        try:
            if lab is not None:
                with suppress(NoAnswer):  # the end of a server changes no verdict
                    lab.renew()
        finally:
            self.tapes.end_module(whole=not self.running)

    def finish(self, summary: Summary, reason: str, narrate: Callable[[str], None]) -> None:
        """Write the manifest of a recording that was made."""
        if not self._makes:
            return
        versions = dict.fromkeys(subject.version for subject in summary.subjects.values() if subject.version)
        manifest = Manifest(
            kit=self.manifest.kit,
            seed=self.manifest.seed,
            profile=self.manifest.profile,
            updates=self.manifest.updates,
            requirements=self.manifest.requirements,
            servers=tuple(versions),
            options=self.manifest.options,
            digest=summary.digest(),
            complete=not reason,
            reason=reason,
        )
        size = finish_recording(self.tapes.path, manifest)
        narrate(f"recording: {self.tapes.path}, {size:,} bytes{f', incomplete: {reason}' if reason else ''}")


def recorded_run(settings: Settings) -> RecordedRun | None:
    """Return the run with a recording, if the settings ask for one. Raises errors of the family of servers."""
    spec = parse_spec(settings.server)
    if spec.kind is SpecKind.RECORDED:
        assert spec.path is not None
        tapes = open_recording(spec.path)
        assert tapes.manifest is not None
        return RecordedRun(tapes, tapes.manifest, makes=False)
    if settings.record is None:
        return None
    manifest = Manifest(
        kit=__version__,
        seed=settings.seed,
        profile=settings.profile,
        updates=settings.updates,
        requirements=tuple(sorted(settings.requirements)),
        options={"server": str(spec), "server-option": [list(option) for option in settings.server_options]},
        reason="its run was broken off",
    )
    return RecordedRun(start_recording(settings.record, manifest), manifest, makes=True)


def recording_in(specs: Sequence[ServerSpec]) -> Manifest | None:
    """The manifest of the recording that a run is about. Raises :class:`SpecError` for a damaged one."""
    found = [spec.path for spec in specs if spec.kind is SpecKind.RECORDED and spec.path is not None]
    if not found:
        return None
    if len(specs) > 1:
        raise Usage("a recording is judged alone: give one --server recorded:DIR")
    return open_recording(found[0]).manifest


def refuse_with_recording(given: dict[str, Any], *, judging: bool) -> None:
    """Refuse options that a run with a recording cannot follow."""
    wrong = [name for name, value in given.items() if value]
    if wrong and judging:
        raise Usage(f"{', '.join(wrong)}: a recording is judged as it was made, without a server")
    if wrong:
        raise Usage(f"{', '.join(wrong)} cannot be recorded: --record takes one server and the checks about it")
