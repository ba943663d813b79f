"""A log as SQL that people read: its statements, and INSERT, UPDATE and DELETE for its row changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog import control_events, load, statement_events
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged, gtid_text
from conformance.reference.binlog.header import Flag
from conformance.reference.binlog.query import Query, Status, StatusInteger, StatusIntegers
from conformance.reference.binlog.rows import LazyRows, RowsBody
from conformance.reference.errors import Unsupported
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.charsets import COLLATIONS
from conformance.reference.text.sql.rows import PROLOGUE, row_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.binlog.event import Event
    from conformance.reference.tables.table_map import TableMap
    from conformance.reference.text.sql.rows import TableFacts

_OWN_VALUES: Final = (statement_events.Intvar, statement_events.Rand, statement_events.UserVar, load.LoadBlock,
                      load.ExecuteLoadQuery)  # fmt: skip
_DEFAULT_MODE: Final = 1168113696  # the sql_mode of 9.7.4 by default
_OTHER_END: Final = "DELIMITER /*!*/;\n{}\n/*!*/;\nDELIMITER ;"  # for the body of a trigger
_UNICODE: Final = ("utf8mb4", "utf8mb3")


class ForwardSql:
    """The SQL of one or more logs, event by event; those of payloads too. Raises where SQL cannot say an event.

    ``facts``: what is known of a table. ``whole``: nothing was left out, so that transactions without changes are
    printed too. ``gtids``: transactions have the GTIDs of the log.
    """

    def __init__(self, facts: Callable[[TableMap], TableFacts], *, whole: bool, gtids: bool) -> None:
        self._facts = facts
        self._whole = whole
        self._gtids = gtids
        self._waits: list[str] = []  # the beginning of a transaction that has changed nothing so far
        self._open = False  # a transaction was begun, and something of it was printed
        self._schema = b""
        self._mode = 0

    def begin(self) -> Iterator[str]:
        """The lines before the first event."""
        yield from PROLOGUE

    def event(self, event: Event) -> Iterator[str]:
        """The lines of an event."""
        body = event.body
        if isinstance(body, FormatDescription) and body.mariadb:
            raise Unsupported("no-statement", "a log of MariaDB", expected="a log of MySQL", got=body.server_version)
        if isinstance(body, (Gtid, GtidTagged)):
            name = gtid_text(body) or "ANONYMOUS"
            self._waits = [f"-- at {event.position}: transaction {name}"]
            if self._gtids:
                self._waits.append(f"SET @@SESSION.GTID_NEXT = '{name}';")
        elif isinstance(body, Query):
            yield from self._query(event, body)
        elif isinstance(body, control_events.Xid):
            yield from self._end("COMMIT;")
        elif isinstance(body, control_events.XaPrepare):
            what = "XA COMMIT {} ONE PHASE;" if body.one_phase else "XA PREPARE {};"
            name = f"X'{body.gtrid.hex()}',X'{body.bqual.hex()}',{body.format_id}"
            yield from self._end(what.format(name))
        elif isinstance(body, (LazyRows, RowsBody)):
            yield from self._begun()
            if self._mode:
                self._mode = 0
                yield PROLOGUE[-1]
            yield from row_statements(body, self._facts(body.map()))
        elif isinstance(body, _OWN_VALUES):
            raise Unsupported(
                "no-statement", f"{event.name}: a statement with values of its own", expected="row events"
            )
        elif isinstance(body, control_events.Incident):
            raise Unsupported("no-statement", "an INCIDENT event: changes are lost", expected="row events")

    def end(self) -> Iterator[str]:
        """The lines behind the last event, or where reading ended."""
        if self._open:
            yield "ROLLBACK; -- the input ends inside the transaction"
        if self._gtids:
            yield "SET @@SESSION.GTID_NEXT = 'AUTOMATIC';"

    def _begun(self) -> Iterator[str]:
        """The beginning of the transaction, which waits for a change."""
        self._open = self._open or "BEGIN;" in self._waits
        waits, self._waits = self._waits, []
        yield from waits

    def _end(self, word: str) -> Iterator[str]:
        if self._open or self._whole:
            yield from self._begun()
            yield word
        self._waits, self._open = [], False

    def _query(self, event: Event, body: Query) -> Iterator[str]:
        text = body.text
        if text == b"BEGIN":
            self._waits.append("BEGIN;")
        elif text in (b"COMMIT", b"ROLLBACK"):
            yield from self._end(f"{text.decode()};")
        elif not self._open and "BEGIN;" in self._waits and text[:9].upper() == b"SAVEPOINT":
            self._waits.append(_statement(body))
        else:
            yield from self._begun()
            yield from self._settings(event, body)
            statement = _statement(body).rstrip("; ")
            if statement.endswith("START TRANSACTION"):  # error 4092 for an INSERT behind it
                raise Unsupported(
                    "no-statement", "CREATE TABLE … SELECT: only BINLOG may follow", expected="row events"
                )
            yield f"{statement};" if ";" not in statement else _OTHER_END.format(statement)

    def _settings(self, event: Event, body: Query) -> Iterator[str]:
        """The settings that the statement depends on."""
        if body.schema and body.schema != self._schema and not event.header.flags & Flag.SUPPRESS_USE:
            self._schema = body.schema
            yield f"USE {quote_identifier(body.schema.decode('utf-8', 'surrogateescape'))};"
        mode = next((item.value for item in body.status if isinstance(item, StatusInteger)
                     and item.code == Status.SQL_MODE), _DEFAULT_MODE)  # fmt: skip
        if mode != self._mode:
            self._mode = mode
            yield f"SET SESSION sql_mode = {mode};"
        yield f"SET TIMESTAMP = {event.header.timestamp};"


def _statement(body: Query) -> str:
    """The text of a statement, which a session with utf8mb4 sends again."""
    if not body.text.isascii():
        numbers = next((item.values for item in body.status if isinstance(item, StatusIntegers)
                        and item.code == Status.CHARSET), (0,))  # fmt: skip
        known = COLLATIONS.get(numbers[0])
        if known is None or known.charset not in _UNICODE:
            raise Unsupported("no-statement", "a statement in another character set than UTF-8", expected="utf8mb4")
    return body.text.decode("utf-8", "surrogateescape")
