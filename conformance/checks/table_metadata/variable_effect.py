"""TMS3: the next TABLE_MAP of every session after a change of binlog_row_metadata.

Some sessions change tables of their own, in and outside transactions, while another session changes the variable. The
items of a TABLE_MAP show its setting: COLUMN_NAME and COLUMN_VISIBILITY come always and only with FULL.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.judge.updates.events import iter_events
from conformance.reference.tables.metadata import Field
from conformance.reference.tables.table_map import TableMap
from conformance.servers.wire.groups import groups_of_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

SETTINGS: Final = ("MINIMAL", "FULL")
_ONLY_FULL: Final = {
    Field.COLUMN_NAME,
    Field.SET_STR_VALUE,
    Field.ENUM_STR_VALUE,
    Field.SIMPLE_PRIMARY_KEY,
    Field.PRIMARY_KEY_WITH_PREFIX,
    Field.ENUM_AND_SET_DEFAULT_CHARSET,
    Field.ENUM_AND_SET_COLUMN_CHARSET,
    Field.COLUMN_VISIBILITY,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One session's statements, the settings under which they ran, and the settings that its TABLE_MAPs show."""

    statements: tuple[str, ...]
    expected: tuple[str, ...]
    seen: tuple[str, ...]


def setting_of(body: TableMap) -> str:
    """MINIMAL or FULL by the items that a TABLE_MAP has, or neither."""
    fields = {item.field for item in body.metadata}
    if fields >= {Field.COLUMN_NAME, Field.COLUMN_VISIBILITY}:
        return "FULL"
    return "neither" if fields & _ONLY_FULL else "MINIMAL"


def run(
    admin: Connection, sessions: Sequence[Connection], capture: Capture, draw: Draw, *, name: str, steps: int
) -> list[Effect]:
    """Make a table for each session, change them and the variable in drawn order, and read the log."""
    for number, session in enumerate(sessions):
        session.execute(f"CREATE TABLE {name}{number} (id INT PRIMARY KEY, n INT UNSIGNED, e ENUM('x', 'y'), t TEXT)")
    open_transactions = [False] * len(sessions)
    words: list[list[str]] = [[] for _ in sessions]
    expected: list[list[str]] = [[] for _ in sessions]
    setting = SETTINGS[0]
    admin.execute(f"SET GLOBAL binlog_row_metadata = '{setting}'")
    start = capture.mark(admin)
    for step in range(steps):
        if draw.below(3) == 0:
            setting = draw.choice(SETTINGS)
            admin.execute(f"SET GLOBAL binlog_row_metadata = '{setting}'")
            continue
        number = draw.below(len(sessions))
        if draw.below(3) == 0:
            sql = "COMMIT" if open_transactions[number] else "START TRANSACTION"
            open_transactions[number] = not open_transactions[number]
        else:
            sql = f"INSERT INTO {name}{number} VALUES ({step}, {step}, 'y', 'a')"
            expected[number].append(setting)
        words[number].append(sql)
        sessions[number].execute(sql)
    for session in sessions:
        session.execute("COMMIT")
    events = capture.since(start, capture.mark(admin)).events
    seen: dict[int, list[str]] = defaultdict(list)
    for session in sessions:
        for _, event, error in iter_events(groups_of_thread(events, session.thread_id)):
            if event is None:
                seen[session.thread_id].append(f"unreadable: {error}")
            elif isinstance(event.body, TableMap):
                seen[session.thread_id].append(setting_of(event.body))
    for number, session in enumerate(sessions):
        session.execute(f"DROP TABLE {name}{number}")
    return [
        Effect(
            statements=tuple(words[number]),
            expected=tuple(expected[number]),
            seen=tuple(seen[session.thread_id]),
        )
        for number, session in enumerate(sessions)
    ]
