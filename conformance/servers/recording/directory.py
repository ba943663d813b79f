"""The directory of a recording: a manifest, and the tape of each module of checks.

``manifest.json`` says what was recorded, and the size and SHA-256 of each tape. It is written at the beginning of a
run, which it calls incomplete, and again at the end. The lab takes a directory only if it is empty or holds an earlier
recording, and removes its own files only.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from conformance.servers.errors import ServerError, SpecError
from conformance.servers.recording.files import DamagedTape, TapeContent, read_tape

if TYPE_CHECKING:
    from pathlib import Path

FORMAT: Final = "binlog-lab recording"
VERSION: Final = 1
MANIFEST: Final = "manifest.json"
TAPES: Final = "tapes"
_NAME: Final = re.compile(r"[a-z0-9_]{1,60}\.[a-z0-9_]{1,60}\.tape")
_MOST_MANIFEST: Final = 4 << 20
_MOST_TAPE: Final = 1 << 30  # bytes of a compressed tape
_BLOCK: Final = 1 << 20
WHAT: Final = "recording"


class RecordingRefused(SpecError):
    """A recording that cannot be read, or a directory that is none."""

    def __init__(self, path: Path, problem: str, expected: str) -> None:
        super().__init__(str(path), problem, expected=expected, what=WHAT)


class RecordingUnwritable(ServerError):
    """The recording cannot be written; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The description of a recording.

    ``tapes``: size and SHA-256 of each, by name. ``complete``: the run came to its end.
    """

    kit: str
    seed: str
    profile: str
    updates: int
    requirements: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()  # versions: source, then replicas
    options: dict[str, Any] = field(default_factory=dict)
    digest: str = ""  # of the verdicts of the run that was recorded
    complete: bool = False
    reason: str = ""  # why it is not complete
    tapes: dict[str, tuple[int, str]] = field(default_factory=dict)


def claim(path: Path) -> None:
    """Take a directory for a new recording, and remove an earlier one from it."""
    try:
        if path.exists() and not path.is_dir():
            raise RecordingRefused(path, "it is not a directory", "a directory, new or empty")
        path.mkdir(parents=True, exist_ok=True)
        names = {item.name for item in path.iterdir()}
        if names and not _is_recording(path):
            raise RecordingRefused(
                path, "it is not empty and holds no earlier recording: it is left alone", "another directory"
            )
        for tape in (path / TAPES).glob("*.tape"):
            tape.unlink()
        (path / MANIFEST).unlink(missing_ok=True)
        (path / TAPES).mkdir(exist_ok=True)
    except OSError as error:
        raise RecordingUnwritable(f"{path}: {error.strerror or error}") from error


def _is_recording(path: Path) -> bool:
    try:
        with (path / MANIFEST).open("rb") as file:
            return bool(json.loads(file.read(_MOST_MANIFEST)).get("format") == FORMAT)
    except (OSError, ValueError, AttributeError):
        return False


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write the manifest beside its place, then rename it."""
    data = {"format": FORMAT, "version": VERSION, **asdict(manifest)}
    new = path / f".{MANIFEST}.new"
    try:
        new.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        new.replace(path / MANIFEST)
    except OSError as error:
        raise RecordingUnwritable(f"{path}: {error.strerror or error}") from error


def tapes_in(path: Path) -> dict[str, tuple[int, str]]:
    """Size and SHA-256 of each tape that is there."""
    found = sorted((path / TAPES).glob("*.tape"))
    return {tape.name: (tape.stat().st_size, _sha256(tape)) for tape in found}


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def read_manifest(path: Path) -> Manifest:
    """Read a manifest that anybody may have written. Raises :class:`RecordingRefused`."""
    file = path / MANIFEST
    try:
        with file.open("rb") as opened:
            text = opened.read(_MOST_MANIFEST + 1)
    except OSError as error:
        raise RecordingRefused(path, f"{MANIFEST}: {error.strerror or error}", "a directory of --record") from None
    if len(text) > _MOST_MANIFEST:
        raise RecordingRefused(file, f"got more than {_MOST_MANIFEST} bytes", "a manifest")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordingRefused(file, f"got no JSON: {error}", "a whole manifest") from None
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise RecordingRefused(file, "it is the file of something else", f'"format": "{FORMAT}"')
    version = data.pop("version", None)
    if version != VERSION:
        raise RecordingRefused(file, f"got format version {version!r}", f"{VERSION}, or a newer binlog-lab")
    return _manifest(file, data)


def _manifest(file: Path, data: dict[str, Any]) -> Manifest:
    kinds: dict[str, tuple[type, ...]] = {
        "kit": (str,), "seed": (str,), "profile": (str,), "updates": (int,), "requirements": (list,),
        "servers": (list,), "options": (dict,), "digest": (str,), "complete": (bool,), "reason": (str,),
        "tapes": (dict,),
    }  # fmt: skip
    for name, kind in kinds.items():
        if not isinstance(data.get(name), kind) or (kind == (int,) and isinstance(data[name], bool)):
            raise RecordingRefused(file, f"{name}: got {data.get(name)!r:.80}", f"a value of type {kind[0].__name__}")
    for name in ("requirements", "servers"):
        if not all(isinstance(word, str) for word in data[name]):
            raise RecordingRefused(file, f"{name}: got {data[name]!r:.80}", "a list of words")
    tapes: dict[str, tuple[int, str]] = {}
    for name, about in data["tapes"].items():
        match about:
            case [int(size), str(digest)] if _NAME.fullmatch(name) and 0 <= size <= _MOST_TAPE:
                tapes[name] = size, digest
            case _:
                raise RecordingRefused(file, f"tapes: got {name!r:.80}: {about!r:.80}", "name, size and SHA-256")
    known = {name: data[name] for name in kinds}
    return Manifest(
        **{
            **known,
            "requirements": tuple(data["requirements"]),
            "servers": tuple(data["servers"]),
            "tapes": tapes,
        }
    )


def verify_tape(path: Path, manifest: Manifest, name: str) -> None:
    """Hold a tape against the manifest. Raises :class:`RecordingRefused`."""
    file = path / TAPES / name
    size, digest = manifest.tapes[name]
    try:
        there = file.stat().st_size
        if there != size:
            raise RecordingRefused(file, f"got {there} bytes", f"{size} bytes")
        found = _sha256(file)
    except OSError as error:
        raise RecordingRefused(file, f"{error.strerror or error}", f"{size} bytes") from None
    if found != digest:
        raise RecordingRefused(file, f"got SHA-256 {found[:16]}…", f"{digest[:16]}…, as the manifest says")


def open_tape(path: Path, manifest: Manifest, name: str) -> TapeContent:
    """Read the tape of a module. Raises :class:`RecordingRefused` for one that is damaged."""
    verify_tape(path, manifest, name)
    file = path / TAPES / name
    try:
        return read_tape(file)
    except DamagedTape as damage:
        raise RecordingRefused(file, str(damage), "a whole tape") from None
