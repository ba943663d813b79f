"""Findings on the user's disk: one per target and signature, the input beside the facts about it.

``DIR/<target>/<name>.bin`` is the smallest input, ``<name>.json`` describes it, and ``<name>.original`` is the first
input. Findings of peers lie under ``DIR/peers``, with the log that they stand for (``.binlog``) and a text for the
vendor. They may crash released software, so the runner never writes findings inside a repository.
"""

from __future__ import annotations

import json
import os
import re
import threading
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.servers.install.cache import data_root
from conformance.subjects.specs import shown
from conformance.version import __version__
from fuzz.runner.errors import Unfit
from fuzz.runner.signature import identity
from fuzz.runner.targets import Target, find
from fuzz.runner.vendor import report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fuzz.runner.alone.sandbox import InputOutcome

VARIABLE: Final = "BINLOG_LAB_FINDINGS"
PEERS: Final = "peers"
LOG: Final = ".binlog"  # suffix of what a peer's vendor gets
SCHEMA: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The facts about a finding.

    ``checked``: whether its input ran again without the fuzzer; ``reproduced``: whether the finding occurred there.
    ``shrunk``: whether it had its time to become smaller.
    """

    target: str
    kind: str
    signature: str
    message: str
    trace: str
    seed: int
    kit: str = __version__
    first_seen: str
    last_seen: str
    size_before: int
    size: int
    reproduced: bool = False
    checked: bool = False
    fixed: str = ""  # when its input ran again without showing it
    shrunk: bool = False
    peer: str = ""  # package and version
    words: dict[str, Any] = field(default_factory=dict)  # that load the target, where its name does not
    replay: str = ""
    path: Path = Path()  # path of the input

    @property
    def is_new(self) -> bool:
        """Whether no earlier run has seen it."""
        return self.first_seen == self.last_seen

    @property
    def doubt(self) -> str:
        """The reason why it may be none, in words; empty for a confirmed one."""
        if self.reproduced:
            return ""
        return "not seen again without the fuzzer" if self.checked else "not yet confirmed"


class Store:
    """The findings of one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = Path(os.path.normpath(directory.absolute()))
        self._lock = threading.RLock()  # several processes of one target may find the same
        repository = next(
            (place for place in (self.directory, *self.directory.parents) if (place / ".git").exists()), None
        )
        if repository is not None:
            raise Unfit(
                f"{directory} lies in the repository {repository}: inputs that crash other people's software may be"
                " among the findings, so they are kept elsewhere (--findings, or BINLOG_LAB_FINDINGS)"
            )

    def add(self, target: Target, data: bytes, outcome: InputOutcome, *, seed: int, started: str) -> Finding:
        """Store a new finding, or note one that occurred again: the smaller input stays. ``started``: when this run
        began.
        """
        with self._lock:
            return self._add(target, data, outcome, seed=seed, started=started)

    def _add(self, target: Target, data: bytes, outcome: InputOutcome, *, seed: int, started: str) -> Finding:
        place = self._place(target)
        path = place / f"{_slug(outcome)}-{identity(outcome.signature)}.bin"
        earlier = read(path) if path.exists() else None
        finding = Finding(
            target=target.name,
            kind=outcome.kind,
            signature=outcome.signature,
            message=outcome.message,
            trace=outcome.trace,
            seed=seed,
            first_seen=started,
            last_seen=started,
            size_before=len(data),
            size=len(data),
            peer=_package(target),
            words=_words(target),
            replay=f"binlog-lab fuzz replay {path}",
            path=path,
        )
        if earlier is not None:
            finding = replace(
                earlier, last_seen=started, kit=__version__, fixed="", message=outcome.message, trace=outcome.trace
            )
        if earlier is None or len(data) < earlier.size:
            finding = replace(finding, size=len(data), size_before=len(data))
            _write(target, finding, data, original=data)
        else:
            _write(target, finding, path.read_bytes())
        return finding

    def of(self, target: Target) -> list[Finding]:
        """All findings of a target, also those of earlier runs."""
        return [known for path in sorted(self._place(target).glob("*.bin")) if (known := read(path)) is not None]

    def _place(self, target: Target) -> Path:
        return self.directory / PEERS / target.name if target.peer else self.directory / target.name

    def confirmed(self, target: Target, finding: Finding, *, again: bool) -> Finding:
        """Note that a finding's input ran again without the fuzzer, and whether the finding occurred there."""
        with self._lock:
            known = read(finding.path) or finding
            finding = replace(known, checked=True, reproduced=known.reproduced or again)
            _write(target, finding, finding.path.read_bytes())
            return finding

    def smaller(self, target: Target, finding: Finding, data: bytes, *, shrunk: bool = True) -> Finding:
        """Replace a finding's input by a smaller one, unless another process of the target has a smaller one still."""
        with self._lock:
            earlier = read(finding.path)
            if earlier is not None and earlier.shrunk and earlier.size <= len(data):
                return earlier
            finding = replace(finding, size=len(data), checked=True, reproduced=True, shrunk=shrunk)
            _write(target, finding, data)
            return finding

    @staticmethod
    def remove(finding: Finding) -> None:
        """Remove a finding that turned out to be another one."""
        for suffix in (".bin", ".json", ".original", LOG, ".md"):
            finding.path.with_suffix(suffix).unlink(missing_ok=True)


def _write(target: Target, finding: Finding, data: bytes, *, original: bytes | None = None) -> None:
    """Write a finding's files: all of their contents stand beside them before the first is replaced."""
    facts: dict[str, Any] = {"schema": SCHEMA, **asdict(finding), "path": finding.path.name}
    files = {".json": json.dumps(facts, indent=1).encode() + b"\n", finding.path.suffix: data}
    if finding.peer:
        log = getattr(target.module(), "log_of", bytes)(data)
        files |= {LOG: log, ".md": report(facts, target, log, finding.path.with_suffix(LOG).name).encode()}
    if original is not None:
        files[".original"] = original
    finding.path.parent.mkdir(parents=True, exist_ok=True)
    written = [(_beside(finding.path.with_suffix(suffix), content), suffix) for suffix, content in files.items()]
    for new, suffix in written:
        new.replace(finding.path.with_suffix(suffix))


def _beside(path: Path, content: bytes) -> Path:
    """Write a file's content under another name beside it."""
    new = path.with_name(f".{path.name}.new")
    new.write_bytes(content)
    return new


def findings_directory() -> Path:
    """The directory of the user's findings."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    return data_root() / "findings"


def read(path: Path) -> Finding | None:
    """The facts stored beside an input; None if there are none."""
    beside = path.with_suffix(".json")
    try:
        facts = json.loads(beside.read_text("utf-8"))
        known = {name: facts[name] for name in Finding.__dataclass_fields__ if name in facts}
        before = dict.fromkeys(("checked", "shrunk"), known.get("reproduced", False))  # kits that had no such keys
        return Finding(**{**before, **known, "path": path})
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def note_replay(path: Path, *, fixed: bool) -> None:
    """Note beside a stored finding whether its input still shows it."""
    facts = path.with_suffix(".json")
    known = read(path)
    if known is None or fixed is bool(known.fixed):
        return
    told = {**json.loads(facts.read_text("utf-8")), "fixed": now() if fixed else ""}
    _beside(facts, json.dumps(told, indent=1).encode() + b"\n").replace(facts)


def inputs_in(path: Path) -> Iterator[Path]:
    """The input itself, or every input below a directory."""
    if path.is_dir():
        yield from sorted(path.rglob("*.bin"))
    else:
        yield path.with_suffix(".bin") if path.suffix == ".json" else path


def now() -> str:
    """The present time in the findings' format."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _slug(outcome: InputOutcome) -> str:
    """The readable beginning of a name: the error, and the function."""
    head = outcome.signature.split(":")[0]
    words = re.findall(r"[A-Za-z0-9]+", head.split(" < ")[0])
    named = [words[0], *words[-1:]] if len(words) > 1 else words
    return "-".join(word.lower() for word in named) or outcome.kind


def target_of(finding: Finding) -> Target:
    """The target of a stored finding. Raises :class:`~fuzz.runner.errors.UnknownTarget`."""
    if not finding.words:
        return find([finding.target])[0]
    facts = {("module_name" if name == "module" else name): value for name, value in finding.words.items()}
    return Target(finding.target, **facts, peer=bool(finding.peer), software=finding.peer)


def _words(target: Target) -> dict[str, Any]:
    """The words of a target that only its words find again."""
    return asdict(replace(target.words, subject=shown(target.subject))) if target.subject or target.function else {}


def _package(target: Target) -> str:
    from importlib.metadata import PackageNotFoundError, version

    if not target.peer or not target.package:
        return (target.software or target.name) if target.peer else ""
    try:
        return f"{target.package} {version(target.package)}"
    except PackageNotFoundError:
        return target.package
