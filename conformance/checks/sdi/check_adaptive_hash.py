"""The adaptive hash index never serves the tables of dictionary information (SDI11).

INFORMATION_SCHEMA.INNODB_BUFFER_PAGE says of each page in memory whether a hash index was built on it. The table's own
pages show that the server builds one where it may: without them, nothing is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from conformance.checks.sdi.servers import own_files
from conformance.judge.problem import Problem
from conformance.servers.errors import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.harness.check import Check
    from conformance.servers.wire.connection import Connection

CHANGES: Final = 200  # of a table's comment: each looks up records of dictionary information
_ROWS: Final = 100
_SEARCHES: Final = 2_000  # of the table's own index: InnoDB builds a hash index after some hundred
_SWITCH: Final = "innodb_adaptive_hash_index"
_SDI: Final = "SDI_INDEX"
_KINDS: Final = ("INDEX", _SDI)
_HASHED: Final = {"YES": True, "NO": False}
_PAGES: Final = (
    "SELECT page_number, page_type, is_hashed FROM information_schema.innodb_buffer_page WHERE space = "
    "(SELECT space FROM information_schema.innodb_tablespaces WHERE name = '{table}') "
    "AND page_type IN ('INDEX', 'SDI_INDEX') ORDER BY page_number"
)


class Page(NamedTuple):
    """A page of an index tree in the buffer pool, and whether the adaptive hash index serves it."""

    number: int
    kind: str
    hashed: bool


def shows(pages: Sequence[Page]) -> bool:
    """Whether these pages can show anything: some are of dictionary information, and an ordinary one is hashed."""
    return any(page.kind == _SDI for page in pages) and any(page.hashed for page in pages if page.kind != _SDI)


def unhashed(pages: Sequence[Page]) -> Iterator[Problem]:
    """SDI11: no page of dictionary information is hashed."""
    for page in pages:
        if page.kind == _SDI and page.hashed:
            yield Problem(f"page {page.number}, IS_HASHED", "NO", "YES",
                          "the adaptive hash index serves a table of dictionary information")  # fmt: skip


@pytest.mark.check("adaptive-hash")
def test_the_adaptive_hash_index_leaves_sdi_out(check: Check) -> None:
    """Tables whose dictionary information is looked up as often as makes InnoDB hash an ordinary index."""
    with own_files(check) as (_, connection, schema):
        before = connection.variable(_SWITCH)
        connection.execute(f"SET GLOBAL {_SWITCH} = ON")
        try:
            for number in check.blocks():
                with check.block(number, cases=CHANGES) as block:
                    pages = observe(connection, schema)
                    problems = [*unhashed(pages)]
                    block.differs(*problems)
                    if not problems and not shows(pages):
                        block.inconclusive("no page is hashed, or none of dictionary information is in memory")
        finally:
            connection.execute(f"SET GLOBAL {_SWITCH} = {before}")


def observe(connection: Connection, schema: str) -> list[Page]:
    """Search a new table's index and its dictionary information; the pages of both that are in memory."""
    rows = ", ".join(f"({number}, {number})" for number in range(_ROWS))
    statements = [
        "CREATE TABLE hashed (id INT PRIMARY KEY, a INT)",
        f"INSERT INTO hashed VALUES {rows}",
        *(f"SELECT a FROM hashed WHERE id = {number % _ROWS}" for number in range(_SEARCHES)),
        *(f"ALTER TABLE hashed COMMENT = 'change {number}'" for number in range(CHANGES)),
    ]
    connection.execute_many(statements).check()
    found = pages_of(connection, f"{schema}/hashed")
    connection.execute("DROP TABLE hashed")
    return found


def pages_of(connection: Connection, table: str) -> list[Page]:
    """The pages of index trees of a table's file that are in memory."""
    found = connection.execute(_PAGES.format(table=table)).texts()
    for number, kind, hashed in found:
        if kind not in _KINDS or hashed not in _HASHED:
            raise ProtocolError(f"page {number} has page_type {kind!r} and is_hashed {hashed!r}")
    return [Page(int(str(number)), str(kind), _HASHED[str(hashed)]) for number, kind, hashed in found]
