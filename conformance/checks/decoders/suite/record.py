"""Record the suite: perform what the files in ``groups`` declare on a real server, and write the archive.

``python -m conformance.checks.decoders.suite.record [ID…]``. A log stays in the archive as long as its SQL is the same,
so that borrowed facts such as timestamps do not change. The expected row changes are read out of it again. A Case whose
content changes needs a higher ``rev``, and one that goes needs a tombstone in ``identities.toml``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.case_sql import binlog_statement
from conformance.cases.decoder_case import Allowed, DecoderCase, sets_tag
from conformance.checks.decoders.suite.archive import ARCHIVE, LOGS, Contents, Entry, load_suite, write_archive
from conformance.checks.decoders.suite.confirm import State, Unconfirmed, confirm, read_state
from conformance.checks.decoders.suite.declare import Declared, Recorded, Setting, Undeclared, Written, declarations
from conformance.checks.decoders.suite.edits import WrongEdit, build
from conformance.checks.decoders.suite.rewrite import statement_groups
from conformance.judge.decoding.exact_json import parse
from conformance.logs.row_change_lines import read_log
from conformance.servers.auto import Wishes, resolve
from conformance.servers.errors import ServerError
from conformance.servers.roles.mysqlbinlog import print_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.servers.base import Server
    from conformance.servers.wire.connection import Connection

VERSION: Final = "1"
IDENTITIES: Final = Path(__file__).with_name("identities.toml")
_CHANGES: Final = (b"### INSERT INTO", b"### UPDATE", b"### DELETE FROM")


class Refused(Exception):
    """A Case that must not go into the archive as it is."""


@dataclass(slots=True)
class Recorder:
    """A server that performs Cases, started when the first one needs it."""

    server_spec: str = "process"
    stack: ExitStack = field(default_factory=ExitStack)
    _server: Server | None = None
    _tagged: bool = False

    def server(self) -> Server:
        """The server. One that has seen a tag goes: it writes sets of GTIDs in the tagged form until it ends."""
        if self._server is not None and self._tagged:
            self._server.close()
            self._server, self._tagged = None, False
        if self._server is None:
            found = resolve(self.server_spec, Wishes(), narrate=narrate)
            assert found is not None
            self._server = self.stack.enter_context(found)
        return self._server

    def record(self, case: Recorded) -> tuple[bytes, list[State]]:
        """Perform a Case; returns its log, and the tables before the first and after each statement."""
        server = self.server()
        with server.connect() as connection, server.connect() as other:
            _reset(other)
            connection.execute_many(case.prepare).check()
            other.execute("SET SESSION transaction_isolation = 'READ-COMMITTED', time_zone = '+00:00'")
            other.execute("SET NAMES utf8mb4")
            connection.execute("FLUSH BINARY LOGS")
            name = str(other.execute("SHOW BINARY LOG STATUS").texts()[0][0])
            states = [read_state(other)]
            for statement in case.statements:
                connection.execute(statement)
                states.append(read_state(other))
            connection.execute("FLUSH BINARY LOGS")
            log = server.files.read(name)
        self._tagged = sets_tag((*case.prepare, *case.statements))
        return log, states

    def replay(self, case: Written, log: bytes) -> list[State]:
        """Have the server apply the rows of a log that the kit wrote; returns the tables before and after."""
        with self.server().connect() as connection, self.server().connect() as other:
            _reset(other)
            connection.execute_many((*Setting().statements(), *case.replay_on)).check()
            states = [read_state(other)]
            for group in statement_groups(log):
                connection.execute(binlog_statement(*group))
                connection.execute("SET SESSION gtid_next = 'AUTOMATIC'")
                states.append(read_state(other))
        return states


def _reset(connection: Connection) -> None:
    """Bring back what a Case may have changed for the whole server."""
    for format_id, global_length, _, data in connection.execute("XA RECOVER CONVERT XID").texts():
        size = 2 * int(global_length or 0)
        name = str(data).removeprefix("0x")
        connection.execute(f"XA ROLLBACK x'{name[:size]}', x'{name[size:]}', {format_id}")
    for mode in ("ON_PERMISSIVE", "OFF_PERMISSIVE", "OFF"):
        if connection.variable("global.gtid_mode") not in (mode, "OFF"):
            connection.execute(f"SET GLOBAL gtid_mode = {mode}")
    connection.execute("SET GLOBAL enforce_gtid_consistency = OFF")
    connection.execute("RESET BINARY LOGS AND GTIDS")


def make_entry(
    case: Declared, recorder: Recorder, stored: DecoderCase | None, bases: Mapping[str, DecoderCase]
) -> Entry:
    """The entry of a Case, recorded or written if the archive has not the same already."""
    if isinstance(case, Recorded):
        return _recorded_entry(case, recorder, stored)
    assert isinstance(case, Written)
    return _written_entry(case, recorder, stored, bases)


def _recorded_entry(case: Recorded, recorder: Recorder, stored: DecoderCase | None) -> Entry:
    if stored is not None and (stored.prepare, stored.statements) == (case.prepare, case.statements):
        log, confirmed, version = stored.log, stored.confirmed, stored.server_version
        states = None
    else:
        log, states = recorder.record(case)
        confirmed, version = "", recorder.server().version.partition("-")[0]
    raw, resolved = read_log(log, case.file_name), read_log(log, case.file_name, resolve=True)
    if error := raw.error or resolved.error:
        raise Refused(f"{case.id}: the reference refuses the log: {error}")
    if not raw.lines and case.allowed is Allowed.CHANGES and "empty" not in case.id:
        raise Refused(f"{case.id}: the log has no row changes")
    if states is not None:
        committed = [json.loads(line) for line in resolved.lines]
        committed = [item for number, item in enumerate(committed) if number not in case.rolled_back]
        try:
            confirmed = confirm([states[0], states[-1]] if case.at_end else states, committed)
        except Unconfirmed as problem:
            raise Refused(f"{case.id}: {problem}") from problem
        _compare_count(case, log, len(raw.lines), recorder)
    return _entry(
        case, log, raw.lines, resolved.lines, confirmed=confirmed, version=version,
        prepare=case.prepare, statements=case.statements,
    )  # fmt: skip


def _compare_count(case: Recorded, log: bytes, count: int, recorder: Recorder) -> None:
    """Count the row changes with mysqlbinlog too; it ends an event at the first value of a geometry column."""
    end = print_bytes(recorder.server().client_program("mysqlbinlog"), log)
    found = sum(line.startswith(_CHANGES) for line in end.text.split(b"\n"))
    if end.status or (found != count and b"Don't know how to handle column type=255" not in end.text):
        raise Refused(f"{case.id}: mysqlbinlog shows {found} changes (status {end.status}), not {count}")


def _written_entry(
    case: Written, recorder: Recorder, stored: DecoderCase | None, bases: Mapping[str, DecoderCase]
) -> Entry:
    log = build(case, bases)
    known = stored is not None and stored.log == log
    verify = case.allowed is not Allowed.CHANGES_OR_ERROR
    readings = [
        read_log(log, case.file_name, resolve=resolved, sparse=case.sparse, verify=verify) for resolved in (False, True)
    ]
    raw, resolved = readings
    if (raw.error is not None) != (case.allowed is Allowed.ERROR):
        raise Refused(f"{case.id}: allowed is {case.allowed}, and the reference says {raw.error}")
    confirmed = ""
    tolerated: tuple[dict[str, Any], ...] = ()
    if case.same_as:
        if case.same_as not in bases:
            raise Refused(f"{case.id}: same_as: no Case {case.same_as} stands before it")
        base = bases[case.same_as]
        numbers = range(len(base.expected)) if case.changes is None else case.changes
        if case.damaged is not None:
            later = (change for number, change in enumerate(base.expected) if number not in numbers)
            tolerated = tuple({**change, "damaged": list(case.damaged)} for change in later)
        for found, wanted in ((raw.lines, base.expected), (resolved.lines, base.resolved)):
            kept = [_what(wanted[number]) for number in numbers]
            if not _alike([_what(parse(line)) for line in found], kept):
                raise Refused(f"{case.id}: not the changes of {case.same_as}: {found}")
        confirmed = f"the changes are those of {case.same_as}"
    if case.replay_on:
        if known and stored is not None:
            confirmed = stored.confirmed
        else:
            found_states = recorder.replay(case, log)
            try:
                confirmed = (
                    f"applied by a server: {confirm(found_states, [json.loads(line) for line in resolved.lines])}"
                )
            except Unconfirmed as problem:
                raise Refused(f"{case.id}: {problem}") from problem
    if case.select:
        if (read := [_selected(parse(line)) for line in raw.lines]) != list(case.select):
            raise Refused(f"{case.id}: SELECT on {case.selected_on} gave other rows than {read}")
        confirmed = f"equal to SELECT on {case.selected_on}"
    if not confirmed:
        raise Refused(f"{case.id}: nothing confirms the changes")
    if not known and not case.sparse:
        _end_without_crash(case, log, recorder)
    return _entry(
        case, log, raw.lines, resolved.lines, confirmed=confirmed, version="", sparse=case.sparse, tolerated=tolerated,
        prepare=_tables(case, bases),
    )  # fmt: skip


def _selected(change: Mapping[str, Any]) -> list[str]:
    """The row after a change, as a client shows it."""
    return ["NULL" if value is None else str(value) for value in change["after"].values()]


def _tables(case: Written, bases: Mapping[str, DecoderCase]) -> tuple[str, ...]:
    """SQL that makes the tables of a log which a server can give to clients."""
    if "file" in case.needs:
        return ()
    if own := case.replay_on or case.prepare:
        return (*Setting().statements(), *own)
    return bases[case.same_as or case.log_of].prepare


def _end_without_crash(case: Written, log: bytes, recorder: Recorder) -> None:
    """Refuse a log that crashes or hangs mysqlbinlog: such inputs are not published."""
    end = print_bytes(recorder.server().client_program("mysqlbinlog"), log)
    if end.status is None or end.status < 0:
        raise Refused(f"{case.id}: mysqlbinlog ends with {end.status}")


def _what(change: Mapping[str, object]) -> list[object]:
    return [change[key] for key in ("schema", "table", "operation", "before", "after")]


def _alike(found: object, wanted: object) -> bool:
    """Whether values are the same; text whose charset the log does not say is hex."""
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(_alike, found, wanted))
    if isinstance(found, dict) and isinstance(wanted, dict):
        return list(found) == list(wanted) and all(map(_alike, found.values(), wanted.values()))
    return found == wanted or (isinstance(wanted, str) and found == {"hex": wanted.encode().hex()})


def _entry(
    case: Declared,
    log: bytes,
    expected: tuple[str, ...],
    resolved: tuple[str, ...],
    *,
    confirmed: str,
    version: str,
    sparse: int = 0,
    tolerated: tuple[dict[str, Any], ...] = (),
    prepare: tuple[str, ...] = (),
    statements: tuple[str, ...] = (),
) -> Entry:
    made = DecoderCase(
        id=case.id,
        rev=case.rev,
        title=case.title,
        why=case.why,
        requirements=case.requirements,
        needs=case.needs,
        allowed=case.allowed,
        equality=case.equality,
        log=log,
        expected=tuple(map(parse, expected)),
        resolved=tuple(map(parse, resolved)),
        rolled_back=case.rolled_back,
        commit_order=case.commit_order,
        server_version=version,
        prepare=prepare,
        statements=statements,
        confirmed=confirmed,
        file_name=case.file_name,
        sparse=sparse,
        tolerated=tolerated,
    )
    return Entry(made, expected, resolved)


@dataclass(frozen=True, slots=True)
class Identities:
    """The ids that were ever published: revision and digest of those that live, the reason of those that went."""

    cases: Mapping[str, tuple[int, str]]
    gone: Mapping[str, str]

    @classmethod
    def read(cls, path: Path = IDENTITIES) -> Identities:
        """Read the committed list."""
        data = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        cases = {name: (int(rev), str(digest)) for name, (rev, digest) in data.get("cases", {}).items()}
        return cls(cases, data.get("gone", {}))

    def problems(self, entries: Sequence[Entry]) -> list[str]:
        """Ids that went without a tombstone, content that changed without a revision, names that came back."""
        found = []
        now = {entry.case.id: entry for entry in entries}
        for name, (rev, digest) in self.cases.items():
            entry = now.get(name)
            if entry is None:
                if name not in self.gone:
                    found.append(f"{name} is gone without a tombstone")
            elif entry.case.rev < rev or (entry.digest != digest and entry.case.rev == rev):
                found.append(f"{name} has other content than revision {rev}, and no higher revision")
        return found + [f"{name} is gone, and its id must not be used again" for name in self.gone if name in now]

    def write(self, entries: Sequence[Entry], path: Path = IDENTITIES) -> None:
        """Write the list with these entries; the tombstones stay."""
        lines = ["# The ids of the suite: revision and digest. Written by record.py, but [gone] is kept by hand.", ""]
        lines += ["[cases]", *(f'"{item.case.id}" = [{item.case.rev}, "{item.digest}"]' for item in entries)]
        lines += ["", "[gone]", *(f"{json.dumps(name)} = {json.dumps(why)}" for name, why in self.gone.items())]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    """Record all Cases that are new or have other SQL, and write archive and list."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--again", nargs="*", default=(), metavar="ID", help="record these again, whatever is stored")
    parser.add_argument("--server", default="process", help="the server that writes the logs")
    parser.add_argument("--fresh", action="store_true", help="ignore the archive and the list (before a first release)")
    arguments = parser.parse_args()
    stored = {case.id: case for case in load_suite().cases} if ARCHIVE.exists() and not arguments.fresh else {}
    for name in arguments.again:
        stored.pop(name, None)
    identities = Identities({}, {}) if arguments.fresh else Identities.read()
    entries: list[Entry] = []
    failures: list[str] = []
    recorder = Recorder(arguments.server)
    try:
        declared = declarations()
    except Undeclared as problem:
        narrate(str(problem))
        return 2
    with recorder.stack:
        bases: dict[str, DecoderCase] = {}
        for case in declared:
            try:
                entry = make_entry(case, recorder, stored.get(case.id), bases)
            except (Refused, ServerError, WrongEdit) as problem:
                failures.append(f"{case.id}: {problem}")
                continue
            bases[case.id] = entry.case
            entries.append(entry)
    return write_suite(entries, failures, identities, version=VERSION)


def write_suite(
    entries: Sequence[Entry], failures: Sequence[str], identities: Identities, *, version: str,
    archive: Path = ARCHIVE, listed: Path = IDENTITIES, contents: Contents = LOGS,
) -> int:  # fmt: skip
    """Write archive and list, or say what failed and what is wrong with the ids; returns the exit code."""
    wrong = [*failures, *identities.problems(entries)]
    for failure in wrong:
        narrate(failure)
    if wrong:
        return 1
    write_archive(archive, version, entries, contents)
    identities.write(entries, listed)
    narrate(f"{len(entries)} Cases, {archive.stat().st_size} bytes")
    return 0


def narrate(message: str) -> None:
    """Tell the person at the terminal."""
    sys.stderr.write(f"{message}\n")


if __name__ == "__main__":
    raise SystemExit(main())
