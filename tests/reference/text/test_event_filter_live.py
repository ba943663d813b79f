"""``decode`` with each filter against mysqlbinlog with the same one: on captured logs, and on those of a server."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.boundaries.marked_files import OTHER_WORDS
from conformance.reference.binlog.control_events import Ignorable
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.header import MAGIC
from conformance.reference.binlog.statement_events import Intvar, Rand, UserVar
from generators import streams
from generators.draw import Stream
from tests.live import PROGRAM, ROOT, environment
from tests.reference.text.filtered_output import ALWAYS, SOURCE, TIMES, captured, filters, ours, real, times

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.reference.binlog.event import Body
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from generators.draw import Draw

pytestmark = pytest.mark.live

TRANSACTION: Final = (
    "SET TIMESTAMP = {when}", "BEGIN", "INSERT INTO d.t VALUES ({id}, JSON_OBJECT('n', 1, 'p', REPEAT('x', 200)))",
    "UPDATE d.t SET j = JSON_SET(j, '$.n', {id}) WHERE id = {id}", "SAVEPOINT a",
    "INSERT INTO other.t SELECT id + {id}, j FROM d.t", "COMMIT",
)  # fmt: skip
OPTIONS: Final = ("binlog_transaction_compression = {}", "binlog_rows_query_log_events = {}")
FIRST: Final = 1_700_000_000
PRECEDING: Final = (Intvar, Rand, UserVar)
# Kinds whose statements may have two ends behind one TABLE_MAP, which the client does not expect.
_TWO_ENDS: Final = ("rows", "multi-statement", "savepoint", "xa", "compressed")


@pytest.fixture(scope="module")
def written(server: ProcessServer, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], str]:
    """Five logs of a real server, and the UUID of their GTIDs: two schemas, payloads, times in and out of order."""
    folder = tmp_path_factory.mktemp("logs")
    with server.connect() as session:
        session.execute("FLUSH BINARY LOGS")
        for schema in ("d", "other"):
            session.execute(f"CREATE SCHEMA {schema}")
            session.execute(f"CREATE TABLE {schema}.t (id INT, j JSON)")
        session.execute("SET SESSION binlog_row_value_options = PARTIAL_JSON")
        for log in range(5):
            for words in OPTIONS:
                session.execute("SET SESSION " + words.format(["OFF", "ON"][log % 2]))
            for number in range(4):
                when = FIRST + 10 * (4 * log + number) * (-1 if log == 4 else 1)
                for sql in TRANSACTION:
                    session.execute(sql.format(when=when, id=4 * log + number))
            session.execute("SET SESSION binlog_format = " + ["ROW", "STATEMENT"][log % 2])
            session.execute("DELETE FROM other.t WHERE id > 2")
            session.execute("SET SESSION binlog_format = ROW")
            session.execute("FLUSH BINARY LOGS")
        for schema in ("d", "other"):
            session.execute(f"DROP SCHEMA {schema}")
        ((source,),) = session.execute("SELECT @@server_uuid").texts()
        names = [str(row[0]) for row in session.execute("SHOW BINARY LOGS").texts()][-6:-1]
        for name in names:
            shutil.copy(server.data_directory / name, folder)
    return [str(folder / name) for name in names], str(source)


def unequal(program: Sequence[str], lines: Iterable[list[str]]) -> list[list[str]]:
    """The command lines to which the programs answer otherwise."""
    return [words for words in lines if real(program, words) != ours(words)]


def test_captured_logs(installation: Installation) -> None:
    program = installation.program("mysqlbinlog")
    assert unequal(program, [*ALWAYS, *filters(captured()[::2], SOURCE, seed=1)]) == []
    assert unequal(program, times(str(TIMES), 995, 1125, seed=1)) == []


def test_logs_that_a_server_wrote(installation: Installation, written: tuple[list[str], str]) -> None:
    program = installation.program("mysqlbinlog")
    logs, source = written
    assert len(logs) == 5
    assert unequal(program, filters(logs, source)) == []
    for number, log in enumerate(logs[1::3]):
        middle = FIRST + 40 * (3 * number + 1) * (-1 if number else 1)
        assert unequal(program, times(log, middle - 40, middle + 40)) == []


def made(draw: Draw, path: Path) -> str:
    """A log of transactions of many kinds, with events between them, and without some of their events."""
    bodies: list[Body] = []
    for number in range(1 + draw.below(6)):
        part = draw.fork(number)
        kind = part.choice([kind for kind in streams.GROUPS if kind not in _TWO_ENDS])
        group = streams.group(part, kind)
        if part.below(6) == 0 and not isinstance(group[-2:][0], PRECEDING):
            del group[-1]
        bodies += group
        if part.below(4) == 0:
            bodies.append(Ignorable(data=b"made"))
    path.write_bytes(MAGIC + b"".join(item.data for item in streams.placed(bodies)))
    return str(path)


def test_logs_of_transactions_that_no_server_ends_so(installation: Installation, tmp_path: Path) -> None:
    """DDL before events without a GTID, files that end inside a transaction."""
    program = installation.program("mysqlbinlog")
    for seed in range(60):
        draw = Stream("text/made-filters", seed)
        logs = [made(draw.fork(name), tmp_path / name) for name in ("a", "b")[: 1 + draw.below(2)]]
        gtids = f"--{draw.choice(('in', 'ex'))}clude-gtids={streams.SOURCE}:1-{1 << 19}"
        words = draw.sample(("--database=nope", "--database=lab", gtids, "--hexdump"), 1 + draw.below(2))
        assert real(program, [*words, *logs]) == ours([*words, *logs]), (seed, words)


def test_standard_input(installation: Installation, written: tuple[list[str], str]) -> None:
    """A log from a pipe is read as the file is."""
    log = written[0][1]
    with Path(log).open("rb") as file:
        start = [event.position for event in read_events(file)][12]
    client = [*installation.program("mysqlbinlog"), "--no-defaults", "-v", "--base64-output=decode-rows"]
    for option in (f"--start-position={start}", "--database=d"):
        texts = [
            subprocess.run(
                ["sh", "-c", 'cat "$0" | "$@" -', log, *command, option],
                cwd=ROOT, env=environment(TZ="UTC"), capture_output=True, check=True,
            ).stdout
            for command in (client, [*PROGRAM, "decode", "-v"])
        ]  # fmt: skip
        real_text, our_text = (OTHER_WORDS.sub(b"", text) for text in texts)
        assert our_text == real_text
