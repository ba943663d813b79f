"""Sessions that change documents in transactions until their server is killed under them."""

from __future__ import annotations

from enum import StrEnum
from threading import Thread
from typing import TYPE_CHECKING

from conformance.checks.lob_crashes.generate import DONE, Place, change, owned, statement_count
from conformance.servers import clock
from conformance.servers.errors import ConnectionLost

if TYPE_CHECKING:
    from conformance.servers.base import Server
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw


class Moment(StrEnum):
    """The moment that a session is in: what it waits for, or that it waits for nothing."""

    IDLE = "between transactions"
    STATEMENT = "in a statement"
    BETWEEN = "between statements"
    COMMIT = "during commit"
    ROLLBACK = "during rollback"


class Session(Thread):
    """One session. Its attributes may be read at any time, but are complete only when the thread has ended.

    ``sent``: the number of the last transaction whose COMMIT was sent. ``acknowledged``: that of the last one whose
    COMMIT the server confirmed. ``undone``: the documents whose last change was not committed. ``touched``: documents
    touched by the open transaction.
    """

    def __init__(self, server: Server, schema: str, number: int, acknowledged: int, draw: Draw) -> None:
        super().__init__(daemon=True, name=f"session {number}")
        self._server, self._schema, self._draw = server, schema, draw
        self.number = number
        self.sent = self.acknowledged = acknowledged
        self.moment = Moment.IDLE
        self.touched: set[Place] = set()
        self.undone: set[Place] = set()
        self.statements = 0
        self.error: BaseException | None = None

    def run(self) -> None:
        """Work until the connection breaks; any other error is kept."""
        try:
            with self._server.connect(database=self._schema) as connection:
                options = self._draw.choice(("PARTIAL_JSON", "PARTIAL_JSON", ""))
                connection.execute(f"SET SESSION binlog_row_value_options = '{options}'")
                while True:
                    self._transaction(connection)
        except ConnectionLost:
            return
        except Exception as error:  # noqa: BLE001 - the thread that joins this one raises it
            self.error = error

    def _transaction(self, connection: Connection) -> None:
        self._execute(connection, "BEGIN")
        savepoint = False
        for _ in range(statement_count(self._draw)):
            place = self._draw.choice(owned(self.number))
            self.touched.add(place)
            for statement in change(place, self._draw):
                self._execute(connection, statement)
            if self._draw.below(6) == 0:
                self._execute(connection, "ROLLBACK TO SAVEPOINT s" if savepoint else "SAVEPOINT s")
                savepoint = True
            if self._draw.below(10) == 0:
                clock.sleep(self._draw.below(5) / 1000)
        number = self.acknowledged + 1
        self._execute(connection, f"UPDATE {DONE} SET n = {number} WHERE id = {self.number}")
        if self._draw.below(10) < 7:
            self.sent = number
            self._execute(connection, "COMMIT", Moment.COMMIT)
            self.acknowledged = number
            self.undone -= self.touched
        else:
            self._execute(connection, "ROLLBACK", Moment.ROLLBACK)
            self.undone |= self.touched
        self.touched = set()
        self.moment = Moment.IDLE

    def _execute(self, connection: Connection, statement: str, moment: Moment = Moment.STATEMENT) -> None:
        self.moment = moment
        connection.execute(statement)
        self.moment = Moment.BETWEEN
        self.statements += 1
