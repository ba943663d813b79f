"""Cases of the decoder suite again, to a subject, or printed.

A finding about a decoder is replayed by its directory.
"""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from conformance.cases.decoder_case import DECODE
from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.messages import printable
from conformance.replay_word import Word
from conformance.subjects.place import Place
from conformance.user_errors import CouldNotRun, Usage, unknown
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.cases.decoder_case import DecoderCase
    from conformance.harness.decoders import JudgedCase

PREFIX: Final = "decoder:"
_DIFFERENCES: Final = 8
_STDERR: Final = 5  # lines


def chosen(words: Sequence[str]) -> list[DecoderCase]:
    """The Cases that words such as ``decoder:diffs/*`` name."""
    from conformance.checks.decoders.data_files import load_files
    from conformance.checks.decoders.suite import load_suite
    from conformance.harness.updates.generated_logs import named_case

    cases = (*load_suite().cases, *load_files().cases)
    found: dict[str, DecoderCase] = {}
    for word in words:
        pattern = word.removeprefix(PREFIX)
        made = named_case(pattern)
        matching = (
            {case.id: case for case in cases if fnmatchcase(case.id, pattern)} if made is None else {pattern: made}
        )
        if not matching:
            raise unknown(
                "decoder Case", [pattern], [case.id for case in cases], hint="binlog-lab cases list names all"
            )
        found.update(matching)
    return list(found.values())


def is_finding(path: str) -> bool:
    """Whether a path is the directory of a stored finding about a decoder."""
    from conformance.checks.decoders.findings import CASE

    return (Path(path) / CASE).is_file()


def replay_decoders(words: Sequence[str], subject: str) -> int:
    """Let a subject read the logs of Cases again, and print a word for each.

    A finding's directory names its own subject, where that was started, and what failed before.
    """
    if not subject and not all(map(is_finding, words)):
        raise Usage("a decoder Case needs a subject that reads it: --subject SUBJECT, as in 'conformance'")
    wanted: dict[tuple[str, Place], list[tuple[DecoderCase, bool]]] = {}
    for word in words:
        if is_finding(word):
            case, own, place = _finding(word)
            whose = (subject, Place()) if subject else (own, place)
            wanted.setdefault(whose, []).append((case, whose[0] == own))
        else:
            wanted.setdefault((subject, Place()), []).extend((case, False) for case in chosen([word]))
    return int(max(_replay(cases, *whose) for whose, cases in wanted.items()))


def _finding(word: str) -> tuple[DecoderCase, str, Place]:
    from conformance.checks.decoders.findings import read_finding

    try:
        return read_finding(Path(word))
    except (OSError, ValueError) as problem:
        raise Usage(f"{word}: {problem}") from problem


def _whole(case: DecoderCase) -> DecoderCase:
    """The Case of the suite that a finding's smaller log was made of: a server wrote that one."""
    return case if case.statements else next((one for one in chosen(["*"]) if one.id == case.id), case)


def _finding_json(directory: Path) -> str:
    from conformance.checks.decoders.findings import finding_json

    try:
        return finding_json(directory)
    except (OSError, ValueError) as problem:
        raise Usage(f"{directory}: {problem}") from problem


def _replay(cases: list[tuple[DecoderCase, bool]], subject: str, place: Place) -> ExitCode:
    """Replay Cases, each with whether it failed before."""
    from conformance.harness.decoders import OpenedSubject
    from conformance.subjects.answers import SubjectUnavailable
    from conformance.subjects.specs import SubjectSpecError

    if place.folder and not Path(place.folder).is_dir():
        raise CouldNotRun(
            f"{subject} was started in {place.folder}, which is not here",
            hint="go to the folder of your adapter, and name it with --subject",
        )
    code = ExitCode.OK
    try:
        with place.entered(), OpenedSubject(subject, narrate) as opened:
            for case, failed in cases:
                judged = opened.judge(case)
                word = _word(judged).after(failed)
                code = max(code, word.code)
                click.echo(f"{word:6} {case.id}  {_verdict(judged)}")
                for line in _lines(case, judged):
                    click.echo(f"  {printable(line)}")
    except SubjectSpecError as problem:
        raise Usage(str(problem)) from problem
    except SubjectUnavailable as problem:
        raise CouldNotRun(str(problem)) from problem
    return code


def _word(judged: JudgedCase) -> Word:
    match judged.verdict:
        case Verdict.PASS:
            return Word.PASS
        case Verdict.CRASH:
            return Word.DIED
        case Verdict.NOT_RUN | Verdict.NOT_APPLICABLE:
            return Word.ERROR
        case _:
            return Word.FAILED


def _verdict(judged: JudgedCase) -> str:
    judgement = judged.judgement
    message = judged.reason if judgement is None else judgement.message
    return f"{judged.verdict}: {message}" if message else str(judged.verdict)


def _lines(case: DecoderCase, judged: JudgedCase) -> Iterator[str]:
    judgement, answer = judged.judgement, judged.answer
    if judgement is None or judgement.verdict is Verdict.PASS:
        return
    yield f"why: {case.why}"
    for found in judgement.differences[:_DIFFERENCES]:
        at = f" (position {found.position})" if found.position is not None else ""
        yield f"{found.place}{at}"
        yield f"  expected {found.expected}"
        yield f"  got      {found.got}"
    if len(judgement.differences) > _DIFFERENCES:
        yield f"and {len(judgement.differences) - _DIFFERENCES} more differences"
    if answer.error:
        yield f"error of the subject: {answer.error}"
    yield from (f"mark of the subject: {mark.message}" for mark in answer.marks)
    yield from (f"standard error: {line}" for line in answer.stderr.splitlines()[-_STDERR:])


def print_decoders(words: Sequence[str], form: str) -> None:
    """Print Cases and findings: the SQL that makes a log again, or everything as JSON."""
    for word in words:
        if is_finding(word):
            click.echo(decoder_sql(_whole(_finding(word)[0])) if form == "sql" else _finding_json(Path(word)))
        else:
            for case in chosen([word]):
                click.echo(decoder_sql(case) if form == "sql" else decoder_json(case))


def decoder_sql(case: DecoderCase) -> str:
    """The SQL that makes a Case's log or data file again."""
    if not case.statements:
        raise Usage(f"{case.id}: the kit wrote this log; no SQL makes it", hint="--as json prints the log")
    before = [f"{statement};" for statement in case.prepare]
    begin = ["FLUSH BINARY LOGS;"] if case.role == DECODE else []
    return "\n".join([f"-- {case.id}: {case.title}", *before, *begin, *(f"{one};" for one in case.statements)])


def decoder_json(case: DecoderCase) -> str:
    """All about a Case, its changes and its log included."""
    from conformance.checks.decoders.data_files import load_files
    from conformance.checks.decoders.suite import load_suite
    from conformance.checks.decoders.suite.archive import described

    suite = load_suite() if case.role == DECODE else load_files()
    entry = next(entry for entry in suite.entries if entry.case.id == case.id)
    lines = (("expected", entry.expected), ("resolved", entry.resolved))
    data = {**described(entry), **{name: [json.loads(line) for line in found] for name, found in lines}}
    return json.dumps({**data, "log": case.log.hex()}, indent=1, ensure_ascii=False)
