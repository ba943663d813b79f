"""The suite of Cases: listed, shown, and exported as plain files that are read without the lab."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import DECODE
from conformance.cases.files import dump_case
from conformance.checks.decoders.data_files import load_files
from conformance.checks.decoders.replay import decoder_json, decoder_sql
from conformance.checks.decoders.suite import load_suite
from conformance.checks.decoders.suite.archive import DATA_FILES, LOGS, files_of, write_archive
from conformance.checks.suite import CAPTURE, row_changes, suite
from conformance.console import narrate
from conformance.harness.promoted import PromotionError
from conformance.harness.scripts.of_case import script_of
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.user_errors import CouldNotRun, Usage, unknown
from conformance.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from conformance.checks.decoders.suite.archive import Entry
    from conformance.checks.suite import SuiteCase

MARKER: Final = ".binlog-lab-cases"  # in every export: a later one may replace only such a directory
_README: Final = """\
# Cases of binlog-lab {version}

Each directory holds one Case: what is done to a server, and what must come of it.
`index.json` lists them all with their requirements.

| file | holds |
|---|---|
| `case.json` | the Case as data; `binlog-lab replay case.json` runs it again |
| `script.sql`, `script.sh` | a script for `mysql` or `bash`, which prints what is expected beside what came |
| `{capture}` | recorded Cases: a binary log with the events that a real server wrote, from the rows' INSERT on |
| `expected.jsonl` | the row changes in it, one JSON object a line, as `binlog-lab decode --format jsonl` prints them |
| `resolved.jsonl` | the same with the diffs applied: whole documents |

A decoder is right if it gives the changes of `expected.jsonl` for `{capture}`.
One that applies diffs is right if it gives those of `resolved.jsonl`.
A value of a JSON column is `{{"json": DOCUMENT}}`, or `{{"diffs": [...]}}` with `operation`, `path` and `value`.
Numbers keep MySQL's text.
The description event and the positions in `{capture}` are the export's, all else is as it was recorded.

`decoders/` holds the suite for decoders: logs with names, over every row type. Its README says how it is read.
`data-files/` holds the suite for readers of InnoDB's data files.
"""


def listed(requirements: Sequence[str]) -> list[str]:
    """A line for each Case of these requirements, or of all: id, kind, requirements, where it comes from."""
    if wrong := [name for name in requirements if name not in REQUIREMENTS]:
        raise unknown("requirement", wrong, REQUIREMENTS)
    rows = [(item.id, item.case.kind, item.case.requirements, item.origin) for item in suite_cases()]
    rows += [(entry.case.id, entry.case.kind, entry.case.requirements, entry.case.title) for entry in _subjects()]
    found = [row for row in rows if not requirements or set(requirements) & set(row[2])]
    if not found:
        raise Usage(f"no Case of the suite is for {', '.join(requirements)}")
    width = max(len(row[0]) for row in found)
    return [
        f"{identity:{width}}  {kind:7}  [{', '.join(needed)}]  {origin}" for identity, kind, needed, origin in found
    ]


def shown(identity: str, form: str) -> str:
    """A Case as JSON, or as a SQL script with what is expected as comments."""
    if entry := next((entry for entry in _subjects() if entry.case.id == identity), None):
        return (decoder_json(entry.case) if form == "json" else decoder_sql(entry.case)) + "\n"
    item = _find(identity)
    return _json(item) if form == "json" else script_of(item.case)


def export_suite(identities: Sequence[str], directory: Path | None, archive: Path | None) -> None:
    """Write Cases, all or those named, as files into a directory, and those for decoders into an archive too."""
    known = {entry.case.id: entry for entry in _subjects()}
    wanted = dict.fromkeys(identities)
    items = [_find(identity) for identity in wanted if identity not in known] if wanted else list(suite_cases())
    chosen = [known[identity] for identity in wanted if identity in known] if wanted else list(known.values())
    entries, files = ([entry for entry in chosen if (entry.case.role == DECODE) is logs] for logs in (True, False))
    try:
        if directory is not None:
            _prepare(directory)
            for item in items:
                _write(item, directory)
            index = [
                {"id": item.id, "kind": item.case.kind, "requirements": item.case.requirements, "origin": item.origin}
                for item in items
            ]
            (directory / "index.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
            _write_files(files_of(load_suite().version, entries, LOGS), directory / "decoders")
            _write_files(files_of(load_files().version, files, DATA_FILES), directory / "data-files")
        if archive is not None:
            _write_archive(entries, archive)
    except OSError as problem:
        raise CouldNotRun(f"{problem.filename or directory}: {problem.strerror or problem}") from problem
    recorded = sum(item.recording is not None for item in items)
    if directory is not None:
        told = f"{len(entries)} logs for decoders, {len(files)} data files"
        narrate(f"{len(items)} Cases in {directory}, {recorded} with a binary log; {told}")
    if archive is not None:
        narrate(f"{len(entries)} logs for decoders in {archive}")


def suite_cases() -> Iterable[SuiteCase]:
    """The Cases of the suite, with those that users keep."""
    try:
        yield from suite()
    except PromotionError as problem:
        raise Usage(str(problem)) from problem


def _subjects() -> tuple[Entry, ...]:
    """The Cases of subjects: logs, then data files."""
    return (*load_suite().entries, *load_files().entries)


def _write_files(files: Iterable[tuple[str, bytes]], directory: Path) -> None:
    for name, data in files:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _write_archive(entries: Sequence[Entry], path: Path) -> None:
    write_archive(path, load_suite().version, entries)


def _find(identity: str) -> SuiteCase:
    for item in suite_cases():
        if item.id == identity:
            return item
    known = [item.id for item in suite_cases()] + [entry.case.id for entry in _subjects()]
    raise unknown("Case", [identity], known, hint="binlog-lab cases list names those of the suite")


def _json(item: SuiteCase) -> str:
    return json.dumps(dump_case(item.case), indent=1, ensure_ascii=False) + "\n"


def _prepare(directory: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise Usage(f"{directory} is no directory")
    if directory.exists() and any(directory.iterdir()) and not (directory / MARKER).exists():
        raise Usage(f"{directory} holds other things", hint="give a directory that is new, empty, or an earlier export")
    directory.mkdir(parents=True, exist_ok=True)
    (directory / MARKER).write_text(f"{__version__}\n", encoding="utf-8")
    (directory / "README.md").write_text(_README.format(version=__version__, capture=CAPTURE), encoding="utf-8")


def _write(item: SuiteCase, directory: Path) -> None:
    place = directory / item.id
    place.mkdir(parents=True, exist_ok=True)
    (place / "case.json").write_text(_json(item), encoding="utf-8")
    script = script_of(item.case)
    name = "script.sh" if script.startswith("#!") else "script.sql"
    (place / name).write_text(script, encoding="utf-8", errors="backslashreplace")
    if item.recording is None:
        return
    log = item.recording.binary_log()
    (place / CAPTURE).write_bytes(log)
    for name, resolve in (("expected.jsonl", False), ("resolved.jsonl", True)):
        text = "".join(f"{line}\n" for line in row_changes(log, resolve=resolve))
        (place / name).write_text(text, encoding="utf-8", errors="backslashreplace")
