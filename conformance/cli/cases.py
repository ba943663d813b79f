"""``binlog-lab cases``: show the case suite, and export it as plain files that are read without the lab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from conformance.cli.groups import NamedCommands
from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.user_errors import CouldNotRun, Usage, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
"""


@click.group(name="cases", cls=NamedCommands)
def command() -> None:
    """List, show, export and extend the case suite."""


@command.command(name="list")
@click.option("-r", "--requirement", "requirements", multiple=True, metavar="REQ", help="Cases of this requirement.")
def list_(requirements: tuple[str, ...]) -> int:
    """Print one line a Case: id, kind, requirements, where it comes from."""
    from conformance.requirements.catalogue import REQUIREMENTS

    if wrong := [name for name in requirements if name not in REQUIREMENTS]:
        raise unknown("requirement", wrong, REQUIREMENTS)
    rows = [(item.id, item.case.kind, item.case.requirements, item.origin) for item in _suite()]
    rows += [(entry.case.id, entry.case.kind, entry.case.requirements, entry.case.title) for entry in _decoders()]
    found = [row for row in rows if not requirements or set(requirements) & set(row[2])]
    if not found:
        raise Usage(f"no Case of the suite is for {', '.join(requirements)}")
    width = max(len(row[0]) for row in found)
    for identity, kind, needed, origin in found:
        click.echo(f"{identity:{width}}  {kind:7}  [{', '.join(needed)}]  {origin}")
    narrate(f"{len(found)} Cases")
    return int(ExitCode.OK)


@command.command()
@click.argument("identity", metavar="ID")
@click.option("--as", "form", type=click.Choice(["json", "sql"]), default="json", show_default=True)
def show(identity: str, form: str) -> int:
    """Print one Case as JSON, or as a SQL script with what is expected as comments."""
    if entry := next((entry for entry in _decoders() if entry.case.id == identity), None):
        from conformance.cli.replay_decoders import decoder_json, decoder_sql

        click.echo(decoder_json(entry.case) if form == "json" else decoder_sql(entry.case))
        return int(ExitCode.OK)
    item = _find(identity)
    click.echo(_json(item) if form == "json" else _sql(item), nl=False)
    return int(ExitCode.OK)


@command.command()
@click.argument("directory", type=click.Path(path_type=Path), metavar="[DIR]", required=False)
@click.argument("identities", nargs=-1, metavar="[ID]…")
@click.option("--decoders", "archive", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.zip",
              help="Write the Cases for decoders into one archive.")  # fmt: skip
def export(directory: Path | None, identities: tuple[str, ...], archive: Path | None) -> int:
    """Write Cases (all, or those named) as plain files into DIR.

    DIR must be new, empty, or hold an earlier export, whose files of the same name are replaced. The Cases for decoders
    are in its folder decoders/.
    """
    if directory is None and archive is None:
        raise Usage("nothing to write: give DIR, or --decoders FILE.zip")
    logs = {entry.case.id: entry for entry in _decoders()}
    wanted = dict.fromkeys(identities)
    items = [_find(identity) for identity in wanted if identity not in logs] if wanted else list(_suite())
    entries = [logs[identity] for identity in wanted if identity in logs] if wanted else list(logs.values())
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
            _write_decoders(entries, directory / "decoders")
        if archive is not None:
            _write_archive(entries, archive)
    except OSError as problem:
        raise CouldNotRun(f"{problem.filename or directory}: {problem.strerror or problem}") from problem
    recorded = sum(item.recording is not None for item in items)
    if directory is not None:
        narrate(f"{len(items)} Cases in {directory}, {recorded} with a binary log; {len(entries)} logs for decoders")
    if archive is not None:
        narrate(f"{len(entries)} logs for decoders in {archive}")
    return int(ExitCode.OK)


@command.command()
@click.argument("finding", metavar="FINDING")
@click.option(
    "--id", "identity", metavar="SLUG", help="The Case's permanent name (default: made from requirement and content)."
)
@click.option(
    "-r", "--requirement", "requirements", multiple=True, metavar="REQ", help="Requirements in place of the Case's own."
)
@click.option("--note", default="", metavar="TEXT", help="Why the finding is kept.")
@click.option("--report", type=click.Path(path_type=Path), default=Path("report"), show_default=True, metavar="DIR")
def promote(finding: str, identity: str | None, requirements: tuple[str, ...], note: str, report: Path) -> int:
    """Keep a finding for good: from now on every run judges it.

    FINDING is the file of a Case, or the id of a Case that the report in DIR has stored. In a checkout of binlog-lab
    the Case becomes a file of the repository. Elsewhere it goes to your own Cases: BINLOG_LAB_CASES, or your data
    directory. The command refuses a Case that the suite already has under any name. It also refuses an input that may
    crash other people's software: the lab finds such an input again from its seed.

    A finding of a fuzz run (its .bin file) becomes a regression of its target, tests/regressions/TARGET/SLUG.bin, in a
    checkout. With -r a binary log becomes a Case for mysqlbinlog instead.
    """
    if finding.endswith(".bin"):
        return _promote_input(Path(finding), identity or "", requirements, note)
    from conformance.harness.promoted import PromotionError, content_hash, promote, read_case

    path = Path(finding) if finding.endswith(".json") else report / "cases" / f"{finding}.json"
    if not path.is_file():
        raise Usage(
            f"{path}: no such Case",
            hint="give a file of a report's cases/ directory, or an id together with --report DIR",
        )
    try:
        case = read_case(path)
        name = identity or "-".join([*(text.lower() for text in case.requirements[:1]), content_hash(case)[:8]])
        kept = promote(
            case,
            identity=name.replace(".", "-"),
            requirements=requirements,
            note=note or f"promoted from {case.id}",
            suite=[item.case for item in _suite()],
        )
    except PromotionError as problem:
        raise Usage(str(problem)) from problem
    click.echo(str(kept))
    return int(ExitCode.OK)


def _promote_input(path: Path, identity: str, requirements: tuple[str, ...], note: str) -> int:
    """Keep the input of a fuzz finding."""
    from conformance.cases.bytes_case import BytesCase, bytes_id
    from conformance.harness.promoted import PromotionError, in_checkout, promote
    from conformance.reference.binlog.header import MAGIC
    from fuzz.runner.errors import Unfit
    from fuzz.runner.regressions import keep

    if not path.is_file():
        raise Usage(f"{path}: no such finding")
    try:
        if requirements:
            data = path.read_bytes()
            if not data.startswith(MAGIC):
                raise Usage(f"{path}: not a binary log, so no Case of {', '.join(requirements)}: leave -r out")
            case = BytesCase(id=bytes_id("mysqlbinlog", data), name=path.stem, data=data)
            suite_cases = [item.case for item in _suite()]
            name = identity or path.stem
            kept = promote(case, identity=name, requirements=requirements, note=note, suite=suite_cases)
        elif in_checkout():
            kept = keep(path, name=identity, note=note)
        else:
            raise Usage("a regression is a file of the repository: run this in a checkout of binlog-lab")
    except (PromotionError, Unfit) as problem:
        raise Usage(str(problem)) from problem
    click.echo(str(kept))
    return int(ExitCode.OK)


def _suite() -> Iterable[SuiteCase]:
    from conformance.checks.suite import suite
    from conformance.harness.promoted import PromotionError

    try:
        yield from suite()
    except PromotionError as problem:
        raise Usage(str(problem)) from problem


def _decoders() -> tuple[Entry, ...]:
    from conformance.checks.decoders.suite import load_suite

    return load_suite().entries


def _write_decoders(entries: Sequence[Entry], directory: Path) -> None:
    from conformance.checks.decoders.suite import load_suite
    from conformance.checks.decoders.suite.archive import files_of

    for name, data in files_of(load_suite().version, entries):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _write_archive(entries: Sequence[Entry], path: Path) -> None:
    from conformance.checks.decoders.suite import load_suite
    from conformance.checks.decoders.suite.archive import write_archive

    write_archive(path, load_suite().version, entries)


def _find(identity: str) -> SuiteCase:
    for item in _suite():
        if item.id == identity:
            return item
    known = [item.id for item in _suite()] + [entry.case.id for entry in _decoders()]
    raise unknown("Case", [identity], known, hint="binlog-lab cases list names those of the suite")


def _json(item: SuiteCase) -> str:
    from conformance.cases.files import dump_case

    return json.dumps(dump_case(item.case), indent=1, ensure_ascii=False) + "\n"


def _sql(item: SuiteCase) -> str:
    from conformance.cli.replay import as_sql

    return as_sql(item.case)


def _prepare(directory: Path) -> None:
    from conformance.checks.suite import CAPTURE
    from conformance.version import __version__

    if directory.exists() and not directory.is_dir():
        raise Usage(f"{directory} is no directory")
    if directory.exists() and any(directory.iterdir()) and not (directory / MARKER).exists():
        raise Usage(f"{directory} holds other things", hint="give a directory that is new, empty, or an earlier export")
    directory.mkdir(parents=True, exist_ok=True)
    (directory / MARKER).write_text(f"{__version__}\n", encoding="utf-8")
    (directory / "README.md").write_text(_README.format(version=__version__, capture=CAPTURE), encoding="utf-8")


def _write(item: SuiteCase, directory: Path) -> None:
    from conformance.checks.suite import CAPTURE, row_changes

    place = directory / item.id
    place.mkdir(parents=True, exist_ok=True)
    (place / "case.json").write_text(_json(item), encoding="utf-8")
    script = _sql(item)
    name = "script.sh" if script.startswith("#!") else "script.sql"
    (place / name).write_text(script, encoding="utf-8", errors="backslashreplace")
    if item.recording is None:
        return
    log = item.recording.binary_log()
    (place / CAPTURE).write_bytes(log)
    for name, resolve in (("expected.jsonl", False), ("resolved.jsonl", True)):
        text = "".join(f"{line}\n" for line in row_changes(log, resolve=resolve))
        (place / name).write_text(text, encoding="utf-8", errors="backslashreplace")
