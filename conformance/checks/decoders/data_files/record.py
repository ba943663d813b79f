"""Record the suite of data files: make on a real server what ``groups`` declares, and write the archive.

``python -m conformance.checks.decoders.data_files.record``. A file stays in the archive as long as its SQL is the same.
Rows are read by the reference, and must equal what SELECT gave; dictionary information is that of ibd2sdi.
``--given ID=FILE`` takes a file that this command cannot make, such as an encrypted one.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import SDI, Allowed, DecoderCase
from conformance.checks.decoders.data_files import ARCHIVE, load_files
from conformance.checks.decoders.data_files.declare import BEGIN, GROUPS, MadeFile, OtherFile, declarations
from conformance.checks.decoders.suite.archive import DATA_FILES, Entry
from conformance.checks.decoders.suite.confirm import State, Unconfirmed, confirm, read_state
from conformance.checks.decoders.suite.declare import SCHEMA, Undeclared
from conformance.checks.decoders.suite.record import Identities, Refused, narrate, write_suite
from conformance.data_files.whole_file import read_dictionary, read_rows
from conformance.judge.decoding.exact_json import parse
from conformance.servers.auto import Wishes, resolve
from conformance.servers.errors import ServerError
from conformance.subjects.stored_data import read_output
from conformance.user_errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.checks.decoders.suite.declare import Declared
    from conformance.servers.base import Server
    from conformance.servers.wire.connection import Connection

VERSION: Final = "1"
IDENTITIES: Final = Path(__file__).with_name("identities.toml")
_VALUES: Final = '"values": '
_PATIENCE: Final = 60.0  # seconds until all pages are written
_QUIET: Final = (
    "SET GLOBAL innodb_stats_auto_recalc = OFF",
    "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0",
    "SET GLOBAL innodb_max_dirty_pages_pct = 0",
)


@dataclass(frozen=True, slots=True)
class Read:
    """The content of a file by the reference: lines of inserts, the page of each, and what is wrong."""

    lines: tuple[str, ...]
    pages: tuple[int, ...]
    problems: tuple[str, ...]


def read_file(role: str, data: bytes) -> Read:
    """Read a file with the reference."""
    problems: list[str] = []
    lines: list[str] = []
    pages: list[int] = []
    with tempfile.TemporaryDirectory(prefix="binlog-lab-") as place:
        path = Path(place) / "t.ibd"
        path.write_bytes(data)
        try:
            if role == SDI:
                entries, wrong = read_output(SDI, read_dictionary(str(path), problems.append), whole=True)
                problems += filter(None, [wrong])
                lines += map(_line, entries)
            else:
                for line, page in read_rows(str(path), problems.append, tagged=True):
                    lines.append(_insert(line))
                    pages.append(page)
        except UserError as problem:
            problems.append(str(problem))
    return Read(tuple(lines), tuple(pages), tuple(problems))


def _insert(line: str) -> str:
    """The line of an insert; values keep the text of their numbers."""
    row = json.loads(line)
    values = line[line.index(_VALUES, line.index('"state": ')) + len(_VALUES) : -1]
    names = f'"schema": {json.dumps(row["schema"])}, "table": {json.dumps(row["table"])}'
    return f'{{{names}, "operation": "insert", "before": null, "after": {values}}}'


def _line(change: Mapping[str, Any]) -> str:
    return json.dumps(change, ensure_ascii=False)


@dataclass(slots=True)
class Recorder:
    """A server that makes files, started when the first one needs it."""

    server_spec: str = "process"
    stack: ExitStack = field(default_factory=ExitStack)
    _server: Server | None = None

    def server(self) -> Server:
        """The server."""
        if self._server is None:
            found = resolve(self.server_spec, Wishes(), narrate=narrate)
            assert found is not None
            self._server = self.stack.enter_context(found)
            with self._server.connect() as connection:
                connection.execute_many(_QUIET).check()
        return self._server

    def make(self, case: MadeFile) -> tuple[bytes, State, tuple[str, ...]]:
        """Make the file of a Case; returns it, the tables by SELECT, and their definitions."""
        server = self.server()
        with server.connect() as connection, server.connect() as holder:
            connection.execute_many((*BEGIN, *case.statements)).check()
            holder.execute("SET SESSION transaction_isolation = 'REPEATABLE-READ'")
            holder.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            connection.execute_many(case.later).check()
            _write_pages(connection)
            found = server.files.matching(case.place)
            holder.execute("ROLLBACK")
            connection.execute_many(case.afterwards).check()
            definitions = tuple(_definition(connection, name) for name in _tables(connection))
            state = read_state(connection)
            connection.execute_many(("DROP SCHEMA lab", *_shared(connection))).check()
        if len(found) != 1:
            raise Refused(f"{case.id}: {case.place} is {sorted(found) or 'no file'}")
        return next(iter(found.values())), state, definitions

    def ibd2sdi(self, data: bytes) -> tuple[tuple[dict[str, Any], ...], str]:
        """The entries that ibd2sdi prints, and its error. Raises :class:`Refused` where a file crashes it."""
        program = self.server().client_program("ibd2sdi")
        end = program.run(["t.ibd"], files={"t.ibd": data}, timeout=60)
        if end.returncode is None or end.returncode < 0:
            raise Refused(f"ibd2sdi ends with {end.returncode}: such inputs are not published")
        error = end.stderr.decode("utf-8", "replace").strip().splitlines()
        entries, wrong = read_output(SDI, end.stdout, whole=True)
        return entries, (error or [f"status {end.returncode}"])[-1] if end.returncode else wrong


def _write_pages(connection: Connection) -> None:
    """Wait until the server has written all pages."""
    deadline = time.monotonic() + _PATIENCE
    while connection.execute("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'").texts()[0][1] != "0":
        if time.monotonic() > deadline:
            raise ServerError(f"pages are not written after {_PATIENCE:.0f} s")
        time.sleep(0.05)


def _tables(connection: Connection) -> list[str]:
    sql = f"SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = '{SCHEMA}' ORDER BY TABLE_NAME"
    return [str(name) for (name,) in connection.execute(sql).texts()]


def _definition(connection: Connection, table: str) -> str:
    text = str(connection.execute(f"SHOW CREATE TABLE {SCHEMA}.`{table}`").texts()[0][1])
    return text.replace("CREATE TABLE ", f"CREATE TABLE `{SCHEMA}`.", 1)


def _shared(connection: Connection) -> list[str]:
    """Statements that drop the tablespaces which a Case made."""
    sql = "SELECT NAME FROM INFORMATION_SCHEMA.INNODB_TABLESPACES WHERE SPACE_TYPE = 'General' AND NAME <> 'mysql'"
    return [f"DROP TABLESPACE `{name}`" for (name,) in connection.execute(sql).texts()]


def make_entry(
    case: Declared,
    recorder: Recorder,
    stored: DecoderCase | None,
    bases: Mapping[str, Entry],
    given: Mapping[str, Path],
) -> Entry:
    """The entry of a Case: its file recorded if the archive has not the same already, its content held against more."""
    role = GROUPS[case.id.partition("/")[0]]
    if isinstance(case, MadeFile):
        return _made(case, role, recorder, stored)
    assert isinstance(case, OtherFile)
    return _other(case, role, recorder, stored, bases, given)


def _made(case: MadeFile, role: str, recorder: Recorder, stored: DecoderCase | None) -> Entry:
    statements = (*case.statements, *(f"{_LATER}{text}" for text in case.later))
    if stored is not None and stored.statements == statements:
        data, definitions, version = stored.log, stored.definitions, stored.server_version
        state = None
    else:
        data, state, definitions = recorder.make(case)
        version = recorder.server().version.partition("-")[0]
    read = read_file(role, data)
    if read.problems:
        raise Refused(f"{case.id}: the reference refuses the file: {read.problems}")
    if state is None and stored is not None:
        confirmed = stored.confirmed
    elif role == SDI:
        printed, error = recorder.ibd2sdi(data)
        if error or [parse(line) for line in read.lines] != list(map(_exact, printed)):
            raise Refused(f"{case.id}: ibd2sdi prints something else: {error or printed}")
        confirmed = f"equal to what ibd2sdi of {version} prints"
    else:
        assert state is not None
        confirmed = _confirmed(case, state, read, version)
        recorder.ibd2sdi(data)
    return _entry(case, role, data, read.lines, confirmed=confirmed, version=version, statements=statements,
                  definitions=() if role == SDI else definitions)  # fmt: skip


_LATER: Final = "-- while another session keeps its snapshot: \n"


def _exact(change: Mapping[str, Any]) -> Any:
    return parse(_line(change))


def _confirmed(case: MadeFile, state: State, read: Read, version: str) -> str:
    """Hold the rows of the reference against SELECT."""
    empty = State(state.kinds, dict.fromkeys(state.rows, ()))
    try:
        confirm([empty, state], map(json.loads, read.lines))
    except Unconfirmed as problem:
        raise Refused(f"{case.id}: {problem}") from problem
    count = sum(map(len, state.rows.values()))
    if count != len(read.lines):
        raise Refused(f"{case.id}: SELECT gives {count} rows, and the reference {len(read.lines)}")
    return f"equal to SELECT on {version}: {count} rows"


def _other(
    case: OtherFile, role: str, recorder: Recorder, stored: DecoderCase | None, bases: Mapping[str, Entry],
    given: Mapping[str, Path],
) -> Entry:  # fmt: skip
    base = bases.get(case.file_of)
    if case.file_of and base is None:
        raise Refused(f"{case.id}: file_of: no Case {case.file_of} stands before it")
    if base is not None:
        data = _damaged(base.case.log, case)
    elif case.text:
        data = case.text.encode()
    elif case.id in given:
        data = given[case.id].read_bytes()
    elif stored is not None:
        data = stored.log
    else:
        raise Refused(f"{case.id}: the recorder was given no file: --given {case.id}=FILE")
    lines = () if base is None else base.expected
    others = [line for number, line in enumerate(lines) if number not in case.keep]
    lacking = _lacking(lines, case.lacks)
    read = read_file(role, data)
    if case.allowed is not Allowed.ERROR or not read.problems:
        raise Refused(f"{case.id}: allowed is {case.allowed}, and the reference says {read.problems}")
    if not {lines[number] for number in case.keep} <= set(read.lines) <= {*lines, *lacking}:
        shown = [lines.index(line) if line in lines else line for line in read.lines]
        raise Refused(f"{case.id}: the reference gives {shown}")
    if stored is None or stored.log != data:
        recorder.ibd2sdi(data)
    owed = [*map(parse, others), *map(_owed, case.owes)]
    tolerated = tuple({**change, "damaged": []} for change in (*owed, *map(parse, lacking)))
    return _entry(
        case, role, data, tuple(lines[number] for number in case.keep),
        confirmed=f"what is left of {case.file_of}" if base is not None else case.given or "it is no data file",
        definitions=() if base is None else base.case.definitions, tolerated=tolerated, owed=tuple(range(len(owed))),
    )  # fmt: skip


def _owed(what: Mapping[str, Any]) -> dict[str, Any]:
    names = {key: what[key] for key in ("schema", "table")}
    return {**names, "operation": "insert", "before": None, "after": what["values"]}


def _lacking(lines: Sequence[str], lacks: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The lines of the rows with these numbers, without some columns."""
    found = []
    for number, names in lacks.items():
        row = json.loads(lines[int(number)])
        row["after"] = {name: value for name, value in row["after"].items() if name not in names}
        found.append(_line(row))
    return tuple(found)


def _damaged(data: bytes, case: OtherFile) -> bytes:
    size = _page_size(data)
    out = bytearray(data)
    for page in case.pages:
        out[page * size + case.at] ^= 0x55
    return bytes(out[: case.cut or None])


def _page_size(data: bytes) -> int:
    from conformance.reference.innodb.pages import Tablespace, window_of

    return Tablespace(window_of(data), len(data)).flags.physical


def _entry(
    case: Declared, role: str, data: bytes, lines: tuple[str, ...], *, confirmed: str, version: str = "",
    statements: tuple[str, ...] = (), definitions: tuple[str, ...] = (), tolerated: tuple[dict[str, Any], ...] = (),
    owed: tuple[int, ...] = (),
) -> Entry:  # fmt: skip
    changes = tuple(map(parse, lines))
    made = DecoderCase(
        id=case.id,
        rev=case.rev,
        title=case.title,
        why=case.why,
        requirements=case.requirements,
        allowed=case.allowed,
        log=data,
        expected=changes,
        resolved=changes,
        server_version=version,
        prepare=BEGIN if statements else (),
        statements=statements,
        confirmed=confirmed,
        file_name="t.ibd",
        tolerated=tolerated,
        role=role,
        definitions=definitions,
        owed=owed,
    )
    return Entry(made, lines, lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record all Cases that are new or have other SQL, and write archive and list."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--again", nargs="*", default=(), metavar="ID", help="record these again, whatever is stored")
    parser.add_argument("--server", default="process", help="the server that writes the files")
    parser.add_argument("--given", nargs="*", default=(), metavar="ID=FILE", help="files that cannot be made here")
    wishes = parser.parse_args(arguments)
    given = {name: Path(file) for name, _, file in (word.partition("=") for word in wishes.given)}
    stored = {case.id: case for case in load_files().cases} if ARCHIVE.exists() else {}
    for name in wishes.again:
        stored.pop(name, None)
    identities = Identities.read(IDENTITIES)
    entries: dict[str, Entry] = {}
    failures: list[str] = []
    recorder = Recorder(wishes.server)
    with recorder.stack:
        try:
            for case in declarations():
                try:
                    entries[case.id] = make_entry(case, recorder, stored.get(case.id), entries, given)
                except (Refused, ServerError) as problem:
                    failures.append(f"{case.id}: {problem}")
        except Undeclared as problem:
            failures.append(str(problem))
    return write_suite(
        list(entries.values()), failures, identities,
        version=VERSION, archive=ARCHIVE, listed=IDENTITIES, contents=DATA_FILES,
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
