"""Redo that a replica writes for updates of large documents (requirements FR6.2).

The page log tells whether the engine got byte ranges or a whole document; free space on the replica does not, because a
full update copies the source's free space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.servers import clock
from conformance.servers.wire.packets import whole

if TYPE_CHECKING:
    from conformance.harness.pairs.run import PairRun
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

ROWS: Final = 4
UPDATES: Final = 12  # of one measurement
_STATUS: Final = "SHOW GLOBAL STATUS LIKE 'Innodb_redo_log_current_lsn'"
_PAUSE: Final = 0.1
_SETTLE_SECONDS: Final = 5.0
_LETTERS: Final = "abcdefghij"
_WORD: Final = 40


@dataclass(frozen=True, slots=True)
class Measurement:
    """Growth of the redo log over some updates, and over a pause before them."""

    growth: int
    idle: int
    statements: tuple[str, ...]


def make_table(run: PairRun, draw: Draw, size: int) -> None:
    """Make rows with documents of ``size`` bytes and more, with a few small values among their bulk."""
    run.source.execute("DROP TABLE IF EXISTS redo")
    run.source.execute("CREATE TABLE redo (id INT PRIMARY KEY, j JSON)")
    for row in range(ROWS):
        word = draw.letters(_WORD, _LETTERS)
        run.source.execute(
            f"INSERT INTO redo VALUES ({row}, JSON_OBJECT('a', 1, 's', '{word}', 'big', REPEAT('p', {size}), "
            "'list', JSON_ARRAY(1, 2, 3, 100000, 5), 'z', JSON_OBJECT('x', 1.5e0)))"
        )
    run.catch_up()


def in_place(draw: Draw) -> str:
    """An update whose value fits in the place of the old value."""
    row = draw.below(ROWS)
    what = draw.below(5)
    if what == 0:
        expression = f"JSON_SET(j, '$.a', {draw.below(30000)})"
    elif what == 1:
        expression = f"JSON_REPLACE(j, '$.s', '{draw.letters(_WORD, _LETTERS)}')"
    elif what == 2:
        expression = f"JSON_SET(j, '$.list[{draw.below(3)}]', {draw.below(30000)})"
    elif what == 3:
        expression = f"JSON_SET(j, '$.z.x', {draw.below(1000)}.25e0)"
    else:
        expression = f"JSON_SET(j, '$.list[3]', {100000 + draw.below(1000)}, '$.a', {draw.below(30000)})"
    return f"UPDATE redo SET j = {expression} WHERE id = {row}"


def measure(run: PairRun, statements: list[str], *, partial_json: bool) -> Measurement:
    """Run the statements on the source, and measure what they cost on the replica."""
    option = "'PARTIAL_JSON'" if partial_json else "''"
    image = "SESSION binlog_row_image = 'MINIMAL'"
    run.source.execute(f"SET SESSION sql_log_bin = 1, SESSION binlog_row_value_options = {option}, {image}")
    first = settled(run.replica)
    clock.sleep(_PAUSE)
    before = _lsn(run.replica)
    run.source.execute_many(statements).check()
    run.catch_up()
    return Measurement(settled(run.replica) - before, before - first, tuple(statements))


def settled(connection: Connection) -> int:
    """The end of the redo log when the server writes nothing more, or after some seconds."""
    deadline = clock.monotonic() + _SETTLE_SECONDS
    before = _lsn(connection)
    while clock.monotonic() < deadline:
        clock.sleep(_PAUSE)
        now = _lsn(connection)
        if now == before:
            break
        before = now
    return before


def _lsn(connection: Connection) -> int:
    return whole(connection.execute(_STATUS).only()[1])
