"""Files without dictionary information: a server takes them, and gives them SDI (innodb-sdi A.9).

A file of the server loses the flag and the root in page 0. That is as much as an offline tool can do to a file and
have it opened: the pages of the SDI stay, and nothing leads to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.sdi.check_statements import exported
from conformance.checks.sdi.data_file import read_file
from conformance.checks.sdi.judge import NO_SDI
from conformance.checks.sdi.servers import own_files
from conformance.checks.sdi.tables import ROW_FORMATS
from conformance.judge.problem import Problem
from conformance.reference.innodb.checksums import page_crc32
from conformance.reference.innodb.pages import SpaceFlags
from conformance.servers.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.checks.sdi.data_file import SdiFile
    from conformance.harness.check import Check
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection

_FLAGS: Final = slice(54, 58)
_SDI: Final = 1 << 14
_ROWS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A file without SDI, and what the server made of it. ``error``: the server's, if it refused."""

    given: SdiFile
    taken: SdiFile
    error: str
    rows: tuple[tuple[bytes | None, ...], ...]
    expected: tuple[tuple[bytes | None, ...], ...]


def stripped(data: bytes) -> bytes:
    """The file without flag and root of the SDI, and with a right checksum."""
    flags = SpaceFlags.of(int.from_bytes(data[_FLAGS], "big"))
    page = bytearray(data[: flags.physical])
    page[_FLAGS] = (flags.value & ~_SDI).to_bytes(4, "big")
    page[flags.sdi_offset : flags.sdi_offset + 8] = bytes(8)
    checksum = page_crc32(bytes(page), compressed=flags.compressed).to_bytes(4, "big")
    page[:4] = checksum
    if not flags.compressed:
        page[-8:-4] = checksum
    return bytes(page) + data[flags.physical :]


def opened(case: Opened) -> Iterator[Problem]:
    """SDI14: the server opens the file, reads its rows and writes to it."""
    assert case.given.printed is not None
    if case.given.objects or not case.given.printed.refused or NO_SDI not in case.given.printed.errors:
        got = f"exit code {case.given.printed.code}, {case.given.printed.stored[:80]!r}, {case.given.printed.errors}"
        yield Problem(case.given.name, f"no SDI, and from ibd2sdi: {NO_SDI}", got, "the file given has SDI")
    if case.given.lacking:
        yield Problem(case.given.name, "the pages that page 0 counts", f"{case.given.lacking} fewer",
                      "the file given is cut off")  # fmt: skip
    if case.error:
        yield Problem("IMPORT TABLESPACE", "accepted", case.error, "a file without SDI is refused")
    elif case.rows != case.expected:
        yield Problem("rows", str(len(case.expected)), str(len(case.rows)), "a file without SDI has other rows")


def flag_is_set(case: Opened) -> Iterator[Problem]:
    """SDI56: where the server makes the SDI, it sets the flag."""
    if not case.error and not (case.taken.flags.has_sdi and case.taken.root.page and case.taken.tables):
        yield Problem(case.taken.name, "flag, root and record", f"flags {case.taken.flags.value:#x}, {case.taken.root}",
                      "SDI is made without its flag")  # fmt: skip


@pytest.mark.check("stripped")
def test_files_without_sdi(check: Check) -> None:
    """IMPORT of files whose SDI cannot be found, in every row format."""
    with own_files(check, printed=True) as (server, connection, schema):
        for number in check.blocks():
            case = observe(server, connection, schema, ROW_FORMATS[number % len(ROW_FORMATS)])
            check.record(number, opened(case), cases=1, requirement="SDI14")
            check.record(number, flag_is_set(case), cases=1, requirement="SDI56")


def observe(server: OwnServer, connection: Connection, schema: str, row_format: str) -> Opened:
    """Export a table, take the SDI out of its file, and let a new table take it with the .cfg file."""
    create = f"CREATE TABLE t (id int PRIMARY KEY, a varchar(30), KEY (a)) ROW_FORMAT={row_format}"
    connection.execute(create)
    connection.execute(
        f"INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {_ROWS})"
        " SELECT i, concat('row', i) FROM n"
    )
    expected = connection.execute("SELECT * FROM t ORDER BY id").rows
    connection.execute("FLUSH TABLES t FOR EXPORT")
    data, config = (server.files.read(f"{schema}/t.{end}") for end in ("ibd", "cfg"))
    connection.execute("UNLOCK TABLES")
    try:
        connection.execute("ALTER TABLE t DISCARD TABLESPACE")
        server.files.write(f"{schema}/t.ibd", stripped(data))
        server.files.write(f"{schema}/t.cfg", config)
        given = read_file("t.ibd", stripped(data), server.client_program("ibd2sdi"))
        error = ""
        rows: tuple[tuple[bytes | None, ...], ...] = ()
        try:
            connection.execute("ALTER TABLE t IMPORT TABLESPACE")
            rows = connection.execute("SELECT * FROM t ORDER BY id").rows
            connection.execute(f"INSERT INTO t VALUES ({_ROWS + 1}, 'new')")
        except SqlError as refused:
            error = str(refused)
        taken = exported(server, connection, schema) if not error else given
    finally:
        connection.execute("DROP TABLE t")
    return Opened(given=given, taken=taken, error=error, rows=rows, expected=expected)
