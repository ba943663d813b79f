"""One block: tables with some rows, eight steps of transactions with a snapshot before each, and all that is read."""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.checks.lob_versions.data_file import copies, tablespace
from conformance.checks.lob_versions.history import History
from conformance.checks.lob_versions.judge_changes import DocumentChange, judge_bytes, judge_document
from conformance.checks.lob_versions.judge_versions import (
    judge_file,
    judge_log,
    judge_purge,
    judge_sessions,
    judge_undo,
    older_entries,
)
from conformance.checks.lob_versions.log_images import logged_changes
from conformance.checks.lob_versions.predictions import effects_on, predict
from conformance.checks.lob_versions.tally import Tally
from conformance.checks.lob_versions.transactions import TABLES, Rows
from conformance.reference.errors import CodecError
from conformance.reference.innodb.undo.log import UndoTablespaces
from conformance.reference.jsonb.layout import storage_free
from conformance.servers import clock
from conformance.servers.errors import SqlError
from conformance.servers.roles.data_files import pages_written, undo_files

if TYPE_CHECKING:
    from conformance.checks.lob_versions.data_file import FileCopy
    from conformance.checks.lob_versions.judge_versions import Texts
    from conformance.checks.lob_versions.log_images import Documents, LoggedChange
    from conformance.checks.lob_versions.transactions import Table, Transaction
    from conformance.servers.base import Server
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

STEPS: Final = 8  # each with a snapshot before it
_SNAPSHOT: Final = (
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT",
)
_PURGE_SECONDS: Final = 60.0
_PAUSE: Final = 0.05


@dataclass
class BlockRun:
    """The sessions of a block, and what they did and found."""

    server: Server
    writer: Connection
    schema: str
    capture: Capture
    rows: Rows
    tally: Tally = field(default_factory=Tally)
    history: History = field(default_factory=History)
    files: dict[Table, FileCopy] = field(default_factory=dict)
    held: dict[Table, set[int]] = field(default_factory=lambda: defaultdict(set))

    def run(self, rows: int) -> None:
        """Do it all. ``rows``: number of rows of all tables together. Raises for a file or an event that cannot be
        read."""
        self._insert(rows)
        with ExitStack() as stack:
            readers = []
            for step in range(STEPS):
                readers.append(stack.enter_context(self.server.connect(database=self.schema)))
                readers[-1].execute_many(_SNAPSHOT).check()
                self.history.snapshot()
                self._step(step)
            judge_undo(self.tally, self.history, *self._with_undo())
            judge_file(self.tally, self.history, self.files)
            judge_sessions(self.tally, self.history, [self._texts(reader) for reader in (*readers, self.writer)])
        self.tally.figures["versions that only the undo log has"] = self.history.overwritten
        judge_purge(self.tally, self.history, self.files, self._purged())

    # --- the insert and the steps ------------------------------------------------------------------------------------

    def _insert(self, rows: int) -> None:
        option = "PARTIAL_JSON" if self.rows.partial_json else ""
        settings = f"sql_log_bin = 1, SESSION binlog_row_image = FULL, SESSION binlog_row_value_options = '{option}'"
        self.writer.execute_many([f"SET SESSION {settings}", *(table.create() for table in TABLES)]).check()
        changes = self._logged(list(self.rows.insert(rows)))
        self.files = self._copies()
        for key in self.rows.values:
            (inserted,) = changes[key.table.name, key.id]
            self.history.images[key] = [inserted.after]
            for column, image in inserted.after.items():
                stored = self.files[key.table].documents[key.id, column]
                self.history.insert(key, column, stored, image)
        self._hold()

    def _step(self, step: int) -> None:
        """A transaction on each row, then a look at the log, at the files, and at the free space."""
        transactions = [self.rows.transaction(key, step) for key in self.rows.values]
        self.tally.figures["updates"] += sum(len(transaction.statements) for transaction in transactions)
        changes = self._logged([line for transaction in transactions for line in transaction.lines])
        before, self.files = self.files, self._copies()
        judged: dict[Table, list[DocumentChange]] = {table: [] for table in TABLES}
        for transaction in transactions:
            logged = changes[transaction.key.table.name, transaction.key.id]
            images = self.history.images[transaction.key]
            first = len(images) - 1
            images += judge_log(self.tally, transaction, images[-1], logged)
            judged[transaction.key.table] += self._documents(transaction, before, images[first:])
        self._hold()
        for table, found in judged.items():
            if not table.compressed and found:
                judge_bytes(self.tally, f"{table.name}, step {step}", before[table], self.files[table], found,
                            self.held[table])  # fmt: skip
        self._free()

    def _documents(
        self, transaction: Transaction, before: dict[Table, FileCopy], images: list[Documents]
    ) -> list[DocumentChange]:
        """Judge both documents of a row. ``images``: the one before, and that of each update."""
        key, found = transaction.key, []
        for column, image in images[-1].items():
            old, new = (files[key.table].documents[key.id, column] for files in (before, self.files))
            prediction = predict(old, effects_on(transaction, column), any_version=self.tally.any_version)
            where = f"{key.table.name} row {key.id}.{column}"
            change = DocumentChange(self.tally, where, old, new, self.files[key.table], prediction,
                                    transaction.lines)  # fmt: skip
            judge_document(change, image)
            changed = [after[column] for earlier, after in pairwise(images) if earlier[column] != after[column]]
            if len(changed) == sum(effect.kept for effect in prediction.effects):
                self.history.add(key, column, old, new, prediction, changed)
            found.append(change)
        return found

    def _hold(self) -> None:
        for table, file in self.files.items():
            self.held[table] |= file.live_pages()

    # --- what is read ------------------------------------------------------------------------------------------------

    def _logged(self, lines: list[str]) -> dict[tuple[str, int], list[LoggedChange]]:
        """Run statements; the row changes that the log got of each row."""
        start = self.capture.mark(self.writer)
        self.writer.execute_many(lines).check()
        events = self.capture.since(start, self.capture.mark(self.writer)).events
        found: dict[tuple[str, int], list[LoggedChange]] = defaultdict(list)
        for change in logged_changes(events, self.writer.thread_id):
            found[change.table, change.id].append(change)
        return found

    def _copies(self) -> dict[Table, FileCopy]:
        return copies(self.server.files, self.writer, self.schema, TABLES)

    def _with_undo(self) -> tuple[dict[Table, FileCopy], UndoTablespaces]:
        """The files of the tables, and those of the undo log."""
        with pages_written(self.writer):
            logs = [tablespace(self.server.files.read(name)) for name in undo_files(self.writer)]
            return self._copies(), UndoTablespaces(logs)

    def _texts(self, session: Connection) -> Texts:
        """Every document as a session reads it."""
        found: Texts = {}
        for table in TABLES:
            try:
                for number, j, k in session.execute(f"SELECT id, j, k FROM {table.name}").texts():
                    found[table.name, int(number or 0)] = {"j": str(j), "k": str(k)}
            except SqlError:  # of one document: the others are read without it
                for (number,) in session.execute(f"SELECT id FROM {table.name}").texts():
                    key = table.name, int(number or 0)
                    found[key] = {column: self._text(session, *key, column) for column in ("j", "k")}
        return found

    @staticmethod
    def _text(session: Connection, table: str, number: int, column: str) -> str:
        """One document; the error with which reading it ends."""
        try:
            return str(session.execute(f"SELECT {column} FROM {table} WHERE id = {number}").texts()[0][0])
        except SqlError as error:
            return f"error {error.number}: {error.message}"

    def _free(self) -> None:
        """JSON_STORAGE_FREE is what the document in the file leaves free."""
        for table in TABLES:
            query = f"SELECT id, JSON_STORAGE_FREE(j), JSON_STORAGE_FREE(k) FROM {table.name}"
            for number, *sizes in self.writer.execute(query).texts():
                for column, size in zip("jk", sizes, strict=True):
                    stored = self.files[table].documents[int(number or 0), column]
                    self.tally.expect("LOB11", f"{table.name} row {number}: JSON_STORAGE_FREE({column})",
                                      str(storage_free(stored.document)), size)  # fmt: skip

    def _purged(self) -> dict[Table, FileCopy]:
        """The files when purge has freed the older versions, or when it had time enough."""
        return clock.until(self._copies, _PURGE_SECONDS, _PAUSE, lambda files: not older_entries(files))


def run_block(
    server: Server,
    draw: Draw,
    rows: int,
    *,
    partial_json: bool,
    any_version: bool = False,
    mixed: str | None = None,
) -> Tally:
    """A block in a schema of its own. ``any_version`` and ``mixed``: as in :class:`Tally`."""
    capture = server.capture()
    try:
        with server.connect() as writer, server.schema(writer) as schema:
            block = BlockRun(server, writer, schema, capture, Rows(draw, partial_json),
                             Tally(any_version=any_version, mixed=mixed))  # fmt: skip
            try:
                block.run(rows)
            except CodecError as error:
                block.tally.expect("LOB22", "data file and binary log", "files that can be read", str(error))
            return block.tally
    finally:
        capture.close()
