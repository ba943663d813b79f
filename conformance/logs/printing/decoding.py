"""Binary logs printed in one of the forms of ``decode``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.console import narrate
from conformance.logs.refusals import tell_unread
from conformance.logs.remote import ending_well
from conformance.logs.selection import SelectedLogs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.logs.definitions import GivenDefinitions
    from conformance.logs.printing.printers import Printer
    from conformance.logs.printing.text_form import TextForm
    from conformance.reference.dialect import Dialect
    from conformance.reference.encryption.keyring import Keyring
    from conformance.reference.text.event_filter import Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The form of the output. ``name``: ``text``, ``jsonl``, ``csv``, ``parquet`` or ``sql``. ``dialect``: that of the
    logs' writer.

    ``text``: the parts of a text. ``outcome``: row changes say whether their transaction was committed.
    ``committed``: no others. ``gtids``: SQL has the GTIDs of the log. ``columns``: a column for each column of
    the one table. ``target``: the Parquet file.
    """

    name: str
    types: bool
    text: TextForm | None
    rows_only: bool
    resolve: bool
    outcome: bool
    committed: bool
    gtids: bool
    dialect: Dialect | None
    columns: bool = False
    target: Path | None = None

    @property
    def as_records(self) -> bool:
        """Whether row changes become records with typed or many columns."""
        return self.columns or self.name == "parquet"

    @property
    def needs_rows_alone(self) -> bool:
        """Whether no line depends on events without rows, but for the GTID."""
        return (
            self.name not in ("text", "sql")
            and not self.as_records
            and self.rows_only
            and not (self.resolve or self.outcome or self.committed)
        )


@dataclass(frozen=True, slots=True)
class Decoding:
    """Logs that are printed."""

    files: Sequence[str]
    selection: Selection
    form: Form
    limit: int | None
    keyring: Keyring | None
    definitions: GivenDefinitions | None = None

    def print(self, jobs: int = 1) -> None:
        """Print the logs, up to the first damage, with this number of processes."""
        if self.form.text is not None and self.form.text.for_reading:
            narrate("-v is for reading: mysql would replay no row of this text, but of the one without -v")
        if jobs > 1:
            from conformance.logs.printing.side_by_side import decode_side_by_side

            decode_side_by_side(self.make, jobs, self.selection.start_position)
            return
        logs, printer = self.make()
        with ending_well(self.files):
            _print(logs, printer)

    def make(self) -> tuple[SelectedLogs, Printer]:
        """Return the logs, and a printer that has printed nothing."""
        from conformance.logs.printing.printers import ChangePrinter, TextPrinter
        from conformance.reference.binlog.files import Passed

        form, passed = self.form, Passed()
        text = form.text
        logs = SelectedLogs(
            self.files, self.selection, dialect=form.dialect, limit=self.limit, keyring=self.keyring,
            passes_unread=True, keep_bytes=text is not None and (text.hexdump or text.base64 == "auto"),
            pass_over=passed if form.needs_rows_alone else None,
            describe=None if self.definitions is None else self.definitions.describe,
        )  # fmt: skip
        if text is not None:
            return logs, TextPrinter(logs, text, dialect=form.dialect)
        if form.name == "sql":
            from conformance.logs.printing.sql_printer import SqlPrinter

            return logs, SqlPrinter(logs, gtids=form.gtids, given=self.definitions)
        if form.as_records:
            from conformance.logs.printing.record_printer import RecordPrinter

            return logs, RecordPrinter(logs, form.target, columns=form.columns, tagged=form.types, resolve=form.resolve)
        return logs, ChangePrinter(
            logs, form.name, passed, types=form.types, rows_only=form.rows_only, resolve=form.resolve,
            outcome=form.outcome, committed=form.committed,
        )  # fmt: skip


def _print(logs: SelectedLogs, printer: Printer) -> None:
    take, waits = printer.event, logs.waits
    try:
        for path, chosen in logs.each():
            printer.begin_file(path)
            for event, choice in chosen:
                take(event, choice)
                if waits:
                    printer.output.flush()
            printer.end_file()
        printer.end()
    finally:
        printer.failed()
        printer.close()
        printer.output.flush()
        tally = printer.tally()
        narrate(printer.closing(tally))
    tell_unread(tally.unread)
    logs.check_names()
