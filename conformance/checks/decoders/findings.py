"""Findings about other people's decoders: stored on this disk alone, each with a text for the maintainer.

``findings/SUBJECT/SIGNATURE/`` has ``REPORT.md``, the log, the expected changes and the decoder's. Only the owner of
the account can read them. Nobody sends anything: a person reads the text first (SECURITY.md).
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import os
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import DECODE, Allowed, DecoderCase, Equality
from conformance.harness.findings import write_private
from conformance.judge.decoding.exact_json import parse
from conformance.subjects.place import Place
from conformance.verdict import Verdict
from conformance.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from conformance.judge.decoding.difference import Difference
    from conformance.stream import KnownIssue, Subject

REPORT: Final = "REPORT.md"
WHOLE: Final = "whole-"  # before the name of the Case's own log, where a smaller one was made of it
EXPECTED: Final = "expected.jsonl"
RESOLVED: Final = "resolved.jsonl"
OBSERVED: Final = "observed.jsonl"
CASE: Final = "case.json"
SCRIPT: Final = "show.py"
REPRODUCED: Final = "reproduced"
NOT_SENT: Final = "No script has shown it of the program alone, so it may be the lab's adapter that is wrong."
_INLINE: Final = 4_096  # bytes of a log that the text itself holds
_CHANGES: Final = 5  # of each side in the text
_NAME: Final = re.compile(r"[^a-z0-9]+")
_LONGEST: Final = 60
_PRIVATE: Final = frozenset((Verdict.CRASH, Verdict.TIMEOUT))


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderFinding:
    """One distinct defect of a subject, shown by a Case as small as it could be made.

    ``first``: the Case of the suite that it was made of, ``cases``: how many count for the defect, ``behind``: how many
    more show it behind another. ``title``, ``reason`` and ``why``: see ``causes.clusters``.
    ``statement``: the requirement in words. ``changes``: what the subject gave. ``size_before``: bytes of the log
    before it was shrunk. ``sentence``: the defect in words.
    ``expected`` and ``resolved``: the lines of the Case's changes, whose numbers keep MySQL's text. ``program``: the
    program at fault. ``script`` calls it without the lab; ``said``: the script's output; ``proof``: whether that shows
    the defect.
    """

    subject: Subject
    signature: str
    verdict: Verdict
    requirement: str
    statement: str
    case: DecoderCase
    first: DecoderCase | None = None
    cases: int = 1
    behind: int = 0
    title: str = ""
    reason: str = ""
    why: str = ""
    difference: Difference | None = None
    changes: Sequence[dict[str, Any]] = ()
    error: str = ""
    stderr: str = ""
    issues: Sequence[KnownIssue] = ()
    size_before: int | None = None
    sentence: str = ""
    expected: Sequence[str] = ()
    resolved: Sequence[str] = ()
    program: str = ""
    proof: str = ""
    script: str = ""
    said: str = ""

    @property
    def private(self) -> bool:
        """Whether whoever has the log can do harm with it."""
        return self.verdict in _PRIVATE


def directory_name(text: str) -> str:
    """A directory's name for a text: its words, and a hash where the words alone would not tell two texts apart."""
    words = _NAME.sub("-", text.lower()).strip("-")
    if words and len(words) <= _LONGEST and words == text.lower().replace(" ", "-").replace(":", ""):
        return words
    return f"{words[:_LONGEST].rstrip('-') or 'finding'}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def write_report(root: Path, finding: DecoderFinding) -> Path:
    """Write the finding below ``root``; returns its directory. An earlier finding of the same signature is replaced."""
    directory = directory_of(root, finding.subject, finding.signature)
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    log = os.path.basename(finding.case.file_name)  # noqa: PTH119 - a Case may name a file in a directory
    expected = finding.expected or [_json(change) for change in finding.case.expected]
    files = {
        log: finding.case.log,
        EXPECTED: _lined(expected),
        OBSERVED: _lined(map(_json, finding.changes)),
        CASE: (json.dumps(_described(finding), indent=1, ensure_ascii=False) + "\n").encode(
            "utf-8", "backslashreplace"
        ),
        REPORT: report(finding).encode("utf-8", "backslashreplace"),
    }
    if (whole := whole_log(finding)) is not None:
        files[f"{WHOLE}{log}"] = whole
    if finding.script:
        files[SCRIPT] = finding.script.encode("utf-8", "backslashreplace")
    if finding.resolved != finding.expected:
        files[RESOLVED] = _lined(finding.resolved)
    for file, content in files.items():
        write_private(directory / file, content)
    return directory


def whole_log(finding: DecoderFinding) -> bytes | None:
    """The log of the Case that a smaller one was made of; ``None`` if there is no smaller one."""
    first = finding.first
    return None if first is None or first.log == finding.case.log else first.log


def directory_of(root: Path, subject: Subject, signature: str) -> Path:
    """The directory of a finding."""
    return root / directory_name(subject.name or subject.id) / directory_name(signature)


def read_finding(directory: Path) -> tuple[DecoderCase, str, Place]:
    """The Case of a stored finding, the subject that it is about, and where that was started.

    Raises :class:`ValueError`, :class:`OSError`.
    """
    try:
        data = json.loads((directory / CASE).read_bytes())
        expected = _parsed(directory / EXPECTED)
        resolved = _parsed(directory / RESOLVED) if (directory / RESOLVED).exists() else expected
        subject = str(data.pop("subject"))
        place = Place(str(data.pop("folder", "")), str(data.pop("python_path", "")))
        log = (directory / os.path.basename(data["file_name"])).read_bytes()  # noqa: PTH119
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in data.items()
        }
        fields |= {"allowed": Allowed(data["allowed"]), "equality": Equality(data["equality"])}
        return DecoderCase(log=log, expected=expected, resolved=resolved, **fields), subject, place
    except (KeyError, TypeError) as problem:
        raise ValueError(f"{directory / CASE} is no finding: {problem}") from problem


def finding_json(directory: Path) -> str:
    """All about a stored finding as JSON, its changes and its log included.

    Raises :class:`ValueError`, :class:`OSError`.
    """
    case, *_ = read_finding(directory)
    data = json.loads((directory / CASE).read_bytes())
    more = {"expected": case.expected, "resolved": case.resolved, "log": case.log.hex()}
    return json.dumps({**data, **more}, indent=1, ensure_ascii=False)


def _parsed(path: Path) -> tuple[dict[str, Any], ...]:
    return tuple(parse(line) for line in path.read_text(encoding="utf-8").split("\n") if line)


def _described(finding: DecoderFinding) -> dict[str, Any]:
    case = finding.case
    names = [field.name for field in dataclasses.fields(case) if field.name not in ("log", "expected", "resolved")]
    subject = finding.subject
    place = {"folder": subject.folder, "python_path": subject.python_path}
    return {
        "subject": subject.spec or subject.id,
        **{name: value for name, value in place.items() if value},
        **{name: getattr(case, name) for name in names},
    }


def _lined(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


def report(finding: DecoderFinding) -> str:
    """The text for the maintainer."""
    return "\n".join(_lines(finding)) + "\n"


def _lines(finding: DecoderFinding) -> Iterator[str]:
    subject, case = finding.subject, finding.case
    thing = _thing(case)
    name = subject.name or subject.id
    yield f"# {name} {subject.version or ''}".rstrip() + f": {finding.title.rstrip('.') or finding.signature}"
    if finding.private:
        yield ""
        who = "can write to a source's binary log" if case.role == DECODE else "can give somebody a data file"
        yield f"Private until the maintainer has answered: whoever {who} can do this to every reader."
    if finding.proof and finding.proof != REPRODUCED:
        yield ""
        yield f"**Not to be sent: {finding.proof}.** {NOT_SENT}"
    yield ""
    if finding.program:
        yield f"At fault: {finding.program}."
        yield ""
    yield finding.statement
    yield f"Here that does not hold ({finding.verdict}, requirement {finding.requirement})."
    if finding.reason:
        yield finding.reason
    yield f"Why it matters: {finding.why or case.why}"
    yield _amount(finding)
    if finding.sentence:
        yield ""
        yield f"The smallest log shows it: {finding.sentence}"
    if finding.issues:
        yield ""
        yield "Public reports that may be about the same:"
        yield from (f"- {issue.issue}{f': {issue.note}' if issue.note else ''}" for issue in finding.issues)
    yield ""
    yield "## Versions"
    yield ""
    yield f"- {name} {subject.version or 'of unknown version'}{f', {subject.url}' if subject.url else ''}"
    origin = f"MySQL {case.server_version}" if case.server_version else "binlog-lab, byte for byte as a server would"
    smaller = finding.size_before is not None and finding.size_before != len(case.log)
    yield f"- the {thing}: written by {origin}{', then made smaller by binlog-lab' if smaller else ''}"
    yield f"- found with binlog-lab {__version__}, Case `{case.id}` rev {case.rev}: {case.title}"
    yield ""
    yield "## Expected"
    yield ""
    if finding.difference is not None:
        yield f"At `{finding.difference.place}`: `{_code(finding.difference.expected)}`"
        yield ""
    yield from _changes(case.expected)
    yield ""
    yield "## Observed"
    yield ""
    if finding.difference is not None:
        yield f"At `{finding.difference.place}`: `{_code(finding.difference.got)}`"
        yield ""
    if finding.error:
        yield f"Its own words: `{_code(finding.error)}`"
        yield ""
    yield from _changes(finding.changes)
    if finding.stderr:
        yield ""
        yield "On stderr:"
        yield ""
        yield from _block(finding.stderr.rstrip("\n"))
    yield ""
    yield "## How to see it without the lab"
    yield ""
    yield from _reproduction(finding)
    yield ""
    yield "With the lab, in the directory of this file (`--subject` names an adapter of your own):"
    yield ""
    yield from _block("binlog-lab replay .", "sh")


def _amount(finding: DecoderFinding) -> str:
    """Return how many Cases show the defect, in the same numbers as the run's own report."""
    behind = f"; {finding.behind:,} more show it behind another defect" if finding.behind else ""
    return f"Cases: {finding.cases:,}{behind}."


def _reproduction(finding: DecoderFinding) -> Iterator[str]:
    case = finding.case
    shrunk = finding.size_before not in (None, len(case.log))
    before = f", shrunk from {finding.size_before:,}" if shrunk else ""
    size = f"{len(case.log):,} bytes{before}, SHA-256 {hashlib.sha256(case.log).hexdigest()}"
    log = os.path.basename(case.file_name)  # noqa: PTH119
    if len(case.log) <= _INLINE:
        yield f"This makes the {_thing(case)} ({size}):"
        yield ""
        lines = base64.encodebytes(case.log).decode().split()
        yield from _block("\n".join([f"base64 -d >{shlex.quote(log)} <<'END'", *lines, "END"]), "sh")
    else:
        yield f"The {_thing(case)} is `{log}` beside this file ({size})."
    whole = whole_log(finding)
    if whole is not None:
        size = f"{len(whole):,} bytes, SHA-256 {hashlib.sha256(whole).hexdigest()}"
        yield ""
        yield f"The Case's own {_thing(case)} is `{WHOLE}{log}` beside this file ({size})."
    yield ""
    if finding.script:
        yield ""
        yield f"`{SCRIPT}` beside this file has the {_thing(case)} in it and calls the program alone. It printed here:"
        yield ""
        yield from _block(finding.said)
        yield ""
    kind = "binary log" if case.role == DECODE else "data file of InnoDB"
    yield f"Read `{log}` as any {kind}. What must come out is under Expected, whole in `{EXPECTED}`."
    if case.statements:
        yield ""
        yield f"A server writes such a {_thing(case)} from:"
        yield ""
        yield from _block("\n".join(f"{text.rstrip(';')};" for text in (*case.prepare, *case.statements)), "sql")


def _thing(case: DecoderCase) -> str:
    """The word for what the subject reads."""
    return "log" if case.role == DECODE else "data file"


def _changes(changes: Sequence[dict[str, Any]]) -> Iterator[str]:
    if not changes:
        yield "No row change."
        return
    yield from _block("\n".join(_json(change) for change in changes[:_CHANGES]), "json")
    if len(changes) > _CHANGES:
        yield f"and {len(changes) - _CHANGES:,} more."


def _block(text: str, language: str = "") -> Iterator[str]:
    """Code that Markdown leaves as it is, whatever fences the text has itself."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{language}"
    yield text
    yield fence


def _code(text: str) -> str:
    return " ".join(text.replace("`", "'").split())


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
