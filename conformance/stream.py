"""The result stream: one JSON object a line, typed here, written as the run goes on, read by every report.

A run writes ``run`` first and ``end`` last; a stream without ``end`` is incomplete and never counts as conformant
(design 6, design 10). This module knows only records and lines: no pytest, no rendering, the standard library alone.
Readers ignore unknown types and keys, so newer streams stay readable.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, TextIO, TypeAlias

from conformance.verdict import Verdict, failing_of

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = 1
_SURROGATES = re.compile("[\ud800-\udfff]")
INLINE_LIMIT = 64 * 1024  # characters; the writer stores a longer value in a file in evidence/ (design 6)
RUN_FILE = "run.jsonl"
EVIDENCE_DIR = "evidence"
DECODER = "decoder"  # the role of a subject that reads binary logs; its verdicts are about decoder Cases
MODEL = "model"  # id and role of the kit's own model: what is judged on it is no verdict about a server


class StreamError(Exception):
    """The stream is unreadable: no such file, or not a result stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One field of the two byte strings, side by side. ``None``: this side has no such field.

    A decoder gives values and no bytes: then ``expected`` are bytes of the log, ``meaning`` says what they mean, and
    ``first`` marks the field whose value differs first.
    """

    field: str
    expected: str | None = None
    got: str | None = None
    offset: int | None = None
    meaning: str = ""
    first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementInfo:
    """A requirement's facts for the reports, so that they need no catalogue.

    ``within``: the requirement whose checks judge this one as well. ``reason``: why no check judges it. ``finite``: why
    its Cases are enumerated and not generated. ``judged_on``: the object of its verdicts. That is the server, an old
    one, an unreleased one, or the kit's own model on a server's output.
    """

    title: str
    level: str = "must"
    basis: str = "worklog"
    group: str = ""
    source: str = ""  # document and section
    allowed: str = ""
    needs: tuple[str, ...] = ()
    within: str | None = None
    reason: str | None = None
    finite: str | None = None
    judged_on: str = "server"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviationInfo:
    """A listed deviation's facts for the reports: why the difference is known, and where it occurs.

    ``versions``: where it is expected. ``observed``: the versions on which it was seen; on another version it is
    unconfirmed until its witness has shown it there. ``ends``: the program that dies of it; empty if none does.
    """

    reason: str
    requirements: tuple[str, ...] = ()
    versions: str = ""
    observed: str = ""
    ends: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Base of all lines. Fields with their default value are not written."""

    type: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """The record as the object of one line, ``type`` first."""
        return {"type": self.type, **_compact(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """A record from the object of one line; ignores unknown keys, and raises TypeError without a required one."""
        names = {item.name: item for item in dataclasses.fields(cls)}
        values = {name: _revive(name, value) for name, value in data.items() if name in names}
        return cls(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Record):
    """The first line: what the user asked for, and all facts that reports need without importing the kit."""

    type: ClassVar[str] = "run"
    schema: int = SCHEMA
    kit: str
    seed: int | str
    profile: str
    started: str  # ISO 8601, UTC
    command: str  # as typed, without secrets
    selected: int  # checks (pytest items) chosen
    census_rules: dict[str, str] = field(default_factory=dict)  # rule id (GROUP/NAME) -> sentence
    # Group -> rules that together are all it counts: the group's figures are then shown as shares of their sum.
    census_wholes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    census_mix: dict[str, float] = field(default_factory=dict)  # rule -> least share that a representative run has
    requirements: dict[str, RequirementInfo] = field(default_factory=dict)
    deviations: dict[str, DeviationInfo] = field(default_factory=dict)
    trust: dict[str, str] = field(default_factory=dict)  # what is taken on trust -> which part of it
    environment: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    report: str = ""  # the report's directory, whole: commands and paths of later records begin with it


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject(Record):
    """An implementation under test. ``note``: facts that a reader must know, such as the origin of a server.

    The capability ``recorded`` marks a subject that is no living server but captures of one, made earlier. A decoder
    has the role :data:`DECODER`; ``name`` is the same in all its versions (else the id without the version). The kit's
    own model has the role :data:`MODEL`.
    """

    type: ClassVar[str] = "subject"
    id: str
    role: str
    version: str | None = None
    dialect: str | None = None
    capabilities: tuple[str, ...] = ()
    note: str | None = None
    name: str = ""
    language: str = ""  # that the decoder is written in
    url: str = ""  # of its project
    spec: str = ""  # the word of --subject that opened it
    folder: str = ""  # where it was started; with what follows only of a user's own subject
    python_path: str = ""  # PYTHONPATH, its paths whole
    unavailable: str = ""  # why it could not be had here: no verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Record):
    """The answers of a live server about the table of versions, beside the table's prediction for its version.

    Each row has ``row``, ``predicted``, ``known`` (false: the table only assumes), and ``mark`` (how it is known). It
    has ``found`` with ``agrees``, or a ``note`` why the lab found nothing. The record's own ``note`` says why the lab
    asked no server.
    """

    type: ClassVar[str] = "asked"
    subject: str
    rows: tuple[dict[str, Any], ...] = ()
    note: str = ""

    def contradictions(self) -> list[dict[str, Any]]:
        """Rows that the table claimed to know and the server contradicted: findings about the table."""
        return [row for row in self.rows if row["known"] and row.get("agrees") is False]

    def settled(self) -> list[dict[str, Any]]:
        """Rows that the table only assumes, and the server showed."""
        return [row for row in self.rows if not row["known"] and "found" in row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(Record):
    """A fact about the surroundings of the run, which is no verdict: a clock that was set, say, in a check.

    ``kind``: a word for what is alike, such as ``clock-step``. ``message``: a sentence for people.
    """

    type: ClassVar[str] = "notice"
    subject: str
    kind: str
    message: str
    check: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LobUpdate(Record):
    """The pages of one large JSON document in copies of its data file, before and after an update.

    Each piece has ``number``, ``offset`` in the document, and ``pages``, the current one first. A page has ``page``,
    ``type``, ``version``, ``length``, ``live``, and ``new``. ``changed``: offset and length of the bytes that differ
    from the page it is a copy of.
    """

    type: ClassVar[str] = "lob_update"
    subject: str
    statement: str
    length: int
    before: tuple[dict[str, Any], ...]
    after: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite(Record):
    """The suite of decoder Cases that the run judges subjects by."""

    type: ClassVar[str] = "suite"
    version: str
    digest: str
    cases: int
    name: str = "decoder-suite"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseInfo(Record):
    """A decoder Case's facts for the reports; it stands in the stream before the verdicts about the Case.

    ``why``: what users suffer when the log is read wrongly. ``size``: bytes of the log. ``server_version``: the
    version of the server that wrote the log; empty if the kit wrote it.
    """

    type: ClassVar[str] = "case"
    id: str
    title: str
    why: str
    group: str
    requirements: tuple[str, ...] = ()
    rev: int = 1
    size: int = 0
    server_version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownIssue(Record):
    """A public report of a defect of a subject: ``issue`` is ``owner/repo#number``.

    It belongs to the defects that have one of ``signatures``, or else one of ``requirements``; neither: to the subject.
    """

    type: ClassVar[str] = "known_issue"
    subject: str  # the subject's name, without version
    issue: str
    requirements: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block(Record):
    """Some hundred cases that the lab judges together.

    ``verdicts`` counts the cases by verdict, except those that a listed deviation explains. The latter are
    ``deviating``, so ``cases`` is the sum of both. ``failed`` is needed only if a failing verdict does not count as a
    failure (``differs`` outside the observed versions).

    Of a block about several requirements, ``broken`` has those that its cases concern: for each, the cases by verdict
    (``deviates`` among them, without passes). ``broken_failed``: how many of them are failures, where ``failed`` is
    needed. A block about one requirement has neither. ``experiment``: the check that ran, or its room.
    """

    type: ClassVar[str] = "block"
    check: str  # id of the pytest item
    subject: str
    requirements: tuple[str, ...]
    block: int
    cases: int
    verdicts: dict[str, int]
    failed: int | None = None
    updates_compared: int = 0
    updates_given_up: int = 0  # behind the first difference of their row
    bytes_compared: int = 0  # the sum of the next three
    bytes_predicted: int = 0
    bytes_by_rule: int = 0
    bytes_on_trust: int = 0
    texts_compared: int = 0
    sizes_compared: int = 0
    mismatches: int = 0
    deviating: int = 0
    deviations: dict[str, int] = field(default_factory=dict)  # id of the listed deviation -> count of cases it explains
    broken: dict[str, dict[str, int]] = field(default_factory=dict)
    broken_failed: dict[str, int] = field(default_factory=dict)
    census: dict[str, int] = field(default_factory=dict)
    census_rules: dict[str, str] = field(default_factory=dict)  # the experiment's own rules: rule id -> sentence
    digest: str | None = None
    seconds: float = 0.0
    experiment: str = ""

    @property
    def failures(self) -> int:
        """Cases that count as failures."""
        if self.failed is not None:
            return self.failed
        return failing_of(self.verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseVerdict(Record):
    """One case that did not pass (or a sample of those that did), with the evidence and a command that repeats it.

    Of a decoder every Case has a record, passes included. A case that a listed deviation explains is ``deviates``,
    whatever the outcome is without the list. ``failed``: whether the case counts as a failure, if the verdict alone
    does not decide that.
    """

    type: ClassVar[str] = "verdict"
    case: str
    requirement: str
    verdict: Verdict
    subject: str
    check: str
    block: int | None = None
    field: str | None = None  # first differing field
    offset: int | None = None  # offset of the first differing byte, inside that field
    expected: str | None = None  # hex or text
    got: str | None = None
    message: str = ""
    signature: str | None = None
    replay: str | None = None  # the command that repeats the failure
    statements: tuple[str, ...] = ()  # SQL that reproduces the failure
    evidence: tuple[Evidence, ...] = ()
    deviation: str | None = None  # id of the listed deviation that explains it, or that is gone
    case_file: str | None = None  # where the Case is stored, relative to the report
    error_log: str | None = None  # the part about this failure
    data_directory: str | None = None  # the server's data directory, as it was left
    data_bytes: int | None = None
    nearest: str = ""  # the nearest listed deviation, and why it does not explain this case
    failed: bool | None = None
    broken: tuple[str, ...] = ()  # all requirements that the case breaks, where they are several
    ends: str = ""  # of a crash: the program that died, as in DeviationInfo
    kind: str = ""  # of the first difference: missing, altered, invented, ...
    level: str = ""  # the level of equality that a decoder reached: structure, value, type
    error: str = ""  # the subject's own error or mark
    stderr: str = ""  # the end of what it wrote there
    program: str = ""  # of a built-in decoder: the library, wrapper or adapter that is at fault
    proof: str = ""  # and whether a script showed that: reproduced, not reproduced, adapter's fault

    def __post_init__(self) -> None:
        if self.deviation is not None and self.verdict is not Verdict.FIXED:
            object.__setattr__(self, "verdict", Verdict.DEVIATES)

    @property
    def requirements(self) -> tuple[str, ...]:
        """All requirements that the case is about."""
        return self.broken or (self.requirement,)

    @property
    def fails(self) -> bool:
        """Whether the case counts as a failure."""
        return self.verdict.failing if self.failed is None else self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Record):
    """A distinct failure after shrinking: one per signature.

    Of a decoder it is one defect: ``cases`` are the Cases that count for it, ``behind`` how many more show it behind
    another defect. ``reason``: what they share and passing Cases lack. ``detail``: what the smallest log shows.
    """

    type: ClassVar[str] = "finding"
    signature: str
    case_file: str
    replay: str
    case: str | None = None
    requirement: str | None = None
    subject: str | None = None
    check: str | None = None
    size_before: int | None = None
    size_after: int | None = None
    hits: int = 1
    message: str = ""
    verdict: Verdict | None = None  # with what follows: of a decoder's defect that no Case of the suite shows first
    title: str = ""
    why: str = ""
    kind: str = ""
    field: str | None = None
    expected: str | None = None
    got: str | None = None
    cases: tuple[str, ...] = ()
    behind: int = 0
    reason: str = ""
    detail: str = ""
    program: str = ""  # with what follows as in a verdict
    proof: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Record):
    """How far a long job is. ``total`` None: unknown. A job ends with ``done == total`` or when the label changes."""

    type: ClassVar[str] = "progress"
    label: str
    done: float = 0
    total: float | None = None
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class End(Record):
    """The last line. Without it, or with ``complete`` false, the run is incomplete."""

    type: ClassVar[str] = "end"
    exit_code: int
    seconds: float
    complete: bool = True
    incomplete_reason: str | None = None
    totals: dict[str, Any] = field(default_factory=dict)


AnyRecord: TypeAlias = (
    Run
    | Subject
    | Asked
    | Notice
    | LobUpdate
    | Suite
    | CaseInfo
    | KnownIssue
    | Block
    | CaseVerdict
    | Finding
    | Progress
    | End
)
ProgressSink: TypeAlias = Callable[[Progress], None]
TYPES: dict[str, type[AnyRecord]] = {
    record.type: record
    for record in (
        Run,
        Subject,
        Asked,
        Notice,
        LobUpdate,
        Suite,
        CaseInfo,
        KnownIssue,
        Block,
        CaseVerdict,
        Finding,
        Progress,
        End,
    )
}


def _compact(value: Any) -> dict[str, Any]:
    """A dataclass as a dictionary, without the fields that hold their default."""
    out: dict[str, Any] = {}
    for item in dataclasses.fields(value):
        content = getattr(value, item.name)
        default = item.default_factory() if item.default_factory is not dataclasses.MISSING else item.default
        if content != default or item.name == "schema":
            out[item.name] = _plain(content)
    return out


def _plain(value: Any) -> Any:
    if isinstance(value, (Evidence, RequirementInfo, DeviationInfo)):
        return _compact(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _known(cls: type[Evidence | RequirementInfo | DeviationInfo], data: Mapping[str, Any]) -> dict[str, Any]:
    names = {item.name for item in dataclasses.fields(cls)}
    return {name: value for name, value in data.items() if name in names}


def _revive(name: str, value: Any) -> Any:
    """The typed form of a field's JSON value. A field name means the same in every record that has the field."""
    if name == "verdict":
        return Verdict(value)
    if name == "evidence":
        return tuple(Evidence(**_known(Evidence, item)) for item in value)
    if name == "requirements" and isinstance(value, dict):
        return {key: _requirement(item) for key, item in value.items()}
    if name == "deviations":
        return {key: item if isinstance(item, int) else _deviation(item) for key, item in value.items()}
    if name == "census_wholes":
        return {group: tuple(rules) for group, rules in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _requirement(data: Mapping[str, Any]) -> RequirementInfo:
    known = _known(RequirementInfo, data)
    return RequirementInfo(**{**known, "needs": tuple(known.get("needs", ()))})


def _deviation(data: Mapping[str, Any]) -> DeviationInfo:
    known = _known(DeviationInfo, data)
    return DeviationInfo(**{**known, "requirements": tuple(known.get("requirements", ()))})


class Writer:
    """Appends records to ``DIR/run.jsonl`` and flushes each one, so that verdicts survive the death of the run."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._file: TextIO = (directory / RUN_FILE).open("x", encoding="utf-8", newline="\n")

    def write(self, record: AnyRecord) -> AnyRecord:
        """Append one record; move values that are too long for a line to ``evidence/``.

        Returns the record as every report can write it: what a server or a program said may hold invalid bytes, which
        become the text ``\\udcff``.
        """
        data = {key: self._outline(value) for key, value in record.to_json().items()}
        line = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        try:
            line.encode()
        except UnicodeEncodeError:
            line = _SURROGATES.sub(lambda found: f"\\\\u{ord(found[0]):04x}", line)
            record = from_line(line) or record
        self._file.write(line + "\n")
        self._file.flush()
        return record

    def close(self) -> None:
        """Close the file; closing twice is harmless."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _outline(self, value: Any) -> Any:
        if isinstance(value, str) and len(value) > INLINE_LIMIT:
            return self._store(value)
        if isinstance(value, list):
            return [self._outline(item) for item in value]
        if isinstance(value, dict):
            return {key: self._outline(item) for key, item in value.items()}
        return value

    def _store(self, text: str) -> str:
        """Keep a long value in a file of its own: bytes if the value is hex, else the text. Equal values share the
        file.
        """
        try:
            content, suffix = bytes.fromhex(text), "bin"
        except ValueError:
            content, suffix = text.encode("utf-8", "surrogatepass"), "txt"
        name = f"{EVIDENCE_DIR}/{hashlib.sha256(content).hexdigest()[:16]}.{suffix}"
        path = self._directory / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_bytes(content)
        return f"{text[:64]}… ({len(content):,} bytes in {name})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """The readable part of a run. ``problem`` says what is wrong with the file: torn, damaged, without end."""

    records: tuple[AnyRecord, ...]
    problem: str | None = None


def read_stream(path: Path) -> Stream:
    """Read a result stream, complete or not; ``path`` is the file, or the report's directory."""
    path = path / RUN_FILE if path.is_dir() else path
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise StreamError(f"{path}: no such file") from None
    except OSError as error:
        raise StreamError(f"{path}: {error.strerror}") from error
    problems: list[str] = []
    records = tuple(_records(data, problems))
    if not records or not isinstance(records[0], Run):
        raise StreamError(f"{path}: not a result stream (its first line is not a run record)")
    if records[0].schema != SCHEMA:
        raise StreamError(f"{path}: schema {records[0].schema} of the stream is not known, only {SCHEMA}")
    if not isinstance(records[-1], End):
        problems.append("the last record is missing: the run was broken off")
    return Stream(records=records, problem=problems[0] if problems else None)


def _records(data: bytes, problems: list[str]) -> Iterator[AnyRecord]:
    lines = data.split(b"\n")
    if lines.pop():  # the incomplete line after the last newline
        problems.append("the last line is torn: the run was broken off")
    for number, line in enumerate(lines, 1):
        try:
            record = from_line(line)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            problems.append(f"line {number} is damaged")
            continue
        if record is not None:
            yield record


def from_line(line: str | bytes) -> AnyRecord | None:
    """The record of one line; None for a type that this version does not know."""
    data = json.loads(line)
    record = TYPES.get(data["type"])
    return None if record is None else record.from_json(data)
