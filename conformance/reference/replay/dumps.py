"""Tables and rows from a dump: the CREATE TABLE and INSERT statements that mysqldump writes.

Other statements of a dump change no table, or are refused. A value is stored as the column of its table stores it;
where that is not certain, the statement is refused (:mod:`.values.conversions`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.event import Event
from conformance.reference.binlog.header import Header
from conformance.reference.binlog.query import Query
from conformance.reference.errors import CodecError, ReplayError
from conformance.reference.event_types import EventType
from conformance.reference.replay.values.constants import read_constant
from conformance.reference.replay.values.conversions import stored
from conformance.reference.sql.definition_reader import Reader, split_list
from conformance.reference.sql.statement_words import split_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.reference.replay.engine import Replay
    from conformance.reference.replay.table_state import TableState
    from conformance.reference.sql.statement_words import Word

_DELIMITER: Final = "DELIMITER"
_OTHERS: Final = ("CHANGE",)  # CHANGE REPLICATION SOURCE TO: where the log goes on


def start_from_dump(replay: Replay, lines: Iterable[str], *, rows: bool = True) -> None:
    """Give the replay the tables of a dump, with or without their rows.

    Raises :class:`ReplayError` with the line of the statement.
    """
    dump = _Dump(replay, rows=rows)
    for number, text in statements(lines):
        try:
            dump.statement(text)
        except CodecError as error:
            raise error.at(f"line {number}") from None
    dump.finish()


def statements(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Each statement with the number of its first line. Routines and triggers, which have other delimiters, are left
    out.
    """
    text, first, delimiter = "", 0, ";"
    for number, line in enumerate(lines, 1):
        if not text and line.strip().upper().startswith(_DELIMITER):
            delimiter = line.split()[-1]
            continue
        if delimiter != ";" or (not text and not line.strip()):
            continue
        first = first if text else number
        text += line
        words = split_words(text) if line.rstrip().endswith((";", "*/")) or line.startswith(("--", "#")) else None
        if words == [] and text.count("/*") > text.count("*/"):
            continue  # inside a comment
        if words == [] or (words and words[-1].among(";")):  # else a string goes on
            if words and not all(word.among(";") for word in words):
                yield first, text
            text = ""
    if split_words(text):
        yield first, text


class _Dump:
    """The state of the session that would execute the dump."""

    def __init__(self, replay: Replay, *, rows: bool) -> None:
        self._replay = replay
        self._takes_rows = rows
        self._schema = ""
        self._time_zone: str | None = None
        self._rows: dict[tuple[str, str], list[list[Any]]] = {}

    def statement(self, text: str) -> None:
        words = split_words(text)
        while words and words[-1].among(";"):
            words.pop()
        reader = Reader(words, self._schema)
        if not words or reader.at(*_OTHERS):
            return
        if reader.take("USE"):
            self._schema = reader.name()
        elif reader.take("INSERT"):
            if self._takes_rows:
                self._insert(reader)
        elif reader.at("SET"):
            self._set(words)
        else:
            query = Query(
                text=text.rstrip().rstrip(";").encode("utf-8", "surrogateescape"), schema=self._schema.encode()
            )
            self._replay.event(Event(Header(0, EventType.QUERY, 0, 0, 0, 0), query))

    def finish(self) -> None:
        """Give the tables their rows."""
        for name, rows in self._rows.items():
            state = self._replay.tables[name]
            state.start(rows, computed=range(len(state.columns or ())))

    def _set(self, words: Sequence[Word]) -> None:
        """The time zone of the session, in which TIMESTAMPs are written."""
        for part in split_list(words[1:]):
            names = [word for word in part if not word.among("@", "SESSION", ".", "=", ":")]
            if len(names) == 2 and names[0].among("TIME_ZONE") and names[1].string:
                self._time_zone = names[1].text

    def _insert(self, reader: Reader) -> None:
        reader.take("IGNORE")
        reader.take("INTO")
        name = reader.table()
        state = self._replay.tables.get(name)
        if state is None or state.columns is None:
            raise ReplayError("no-table", "INSERT into a table that the dump does not create", got=".".join(name))
        places = list(range(len(state.columns)))
        if reader.at("("):
            places = [state.place(part[0].text) for part in split_list(reader.parenthesis())]
        if not (reader.take("VALUES") or reader.take("VALUE")):
            raise reader.refused("VALUES is expected")
        rows = self._rows.setdefault(name, [])
        while reader:
            rows.append(self._row(state, places, Reader(reader.parenthesis(), "")))
            if reader and not reader.take(","):
                raise reader.refused("a comma is expected between rows")

    def _row(self, state: TableState, places: Sequence[int], reader: Reader) -> list[Any]:
        given: dict[int, Any] = {}
        for place in places:
            value = read_constant(reader)
            if reader and not reader.take(","):
                raise reader.refused("a comma is expected between values")
            given[place] = self._stored(state, place, value)
        if reader:
            raise reader.refused("more values than columns")
        assert state.columns is not None
        return [
            given[place] if place in given else None if column.generated else state.default(place)
            for place, column in enumerate(state.columns)
        ]

    def _stored(self, state: TableState, place: int, value: Any) -> Any:
        try:
            return None if value is None else stored(state.infos()[place], value, self._time_zone)
        except CodecError as error:
            assert state.columns is not None
            raise error.at(state.columns[place].name).at(".".join(state.name)) from None
