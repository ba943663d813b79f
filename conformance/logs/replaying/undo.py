"""SQL that takes transactions back, newest first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from conformance.console import Output, narrate
from conformance.logs.selection import NOTHING_LEFT_OUT, SelectedLogs
from conformance.messages import counted
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.errors import CodecError
from conformance.reference.replay.definitions import Definitions
from conformance.reference.replay.reversal import Reversal
from conformance.reference.text.binlog_statements import description_statement, rows_statement
from conformance.user_errors import InputCorrupt, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.reference.encryption.keyring import Keyring
    from conformance.reference.replay.reversal import Transaction
    from conformance.reference.text.event_filter import Selection


def print_undo(
    files: Sequence[str], wanted: Sequence[str], selection: Selection, limit: int | None, keyring: Keyring | None,
    *, readable: bool = False,
) -> None:  # fmt: skip
    """Print the SQL, or nothing where a transaction cannot be taken back.

    ``readable``: INSERT, UPDATE and DELETE instead of BINLOG statements. ``selection``: which transactions and tables;
    the logs are read as a whole, for what stands behind.
    """
    definitions = Definitions() if readable else None
    transactions = _reversed(files, Reversal(wanted, selection), limit, keyring, definitions)
    output = Output()
    try:
        pieces = _sql(transactions) if definitions is None else list(_readable(transactions, definitions))
    except CodecError as error:
        raise InputCorrupt(str(error), hint="without --as sql: BINLOG statements take back any row") from error
    for piece in pieces:
        output.write(piece)
    output.flush()
    rows = sum(len(event.rows.rows) for transaction in transactions for event in transaction.events)
    narrate(f"{counted(len(transactions), 'transaction')}, {counted(rows, 'row')} to take back")


def _reversed(
    files: Sequence[str],
    reversal: Reversal,
    limit: int | None,
    keyring: Keyring | None,
    definitions: Definitions | None,
) -> list[Transaction]:
    """The transactions, newest first. ``definitions``: takes the statements too."""
    path = ""
    try:
        for number, (path, chosen) in enumerate(
            SelectedLogs(files, NOTHING_LEFT_OUT, limit=limit, keyring=keyring).each()
        ):
            reversal.start_file(Path(path).name, first=not number, last=number >= len(files) - 1)
            for event, _ in chosen:
                try:
                    reversal.event(event)
                    if definitions is not None and not isinstance(event.body, LazyRows):
                        definitions.event(event)
                except CodecError as error:
                    raise InputCorrupt(f"{path}: {event.located(error)}") from error
        found = reversal.transactions()
    except CodecError as error:
        raise InputCorrupt(f"{path}: {error}") from error
    for name in reversal.wanted:
        if reversal.found[name] != 1:
            raise Usage(
                f"--transaction {name}: {reversal.found[name]} transactions of the logs have this name",
                hint="give a GTID, the position where the transaction begins, or FILE:POSITION",
            )
    return found


def _sql(transactions: Sequence[Transaction]) -> Iterator[bytes]:
    """One transaction for each; a FORMAT_DESCRIPTION where it changes."""
    description = None
    for transaction in transactions:
        if transaction.format is not None and transaction.format != description:
            description = transaction.format
            yield description_statement(description)
        algorithm = Checksum.CRC32 if description is None else description.algorithm
        name = f"{transaction.gtid or 'without a GTID'} at {transaction.file!r}:{transaction.position}"
        yield f"\n-- takes back the transaction {name}\nBEGIN;\n".encode()
        for event in transaction.events:
            yield from rows_statement(event.header, event.rows, algorithm=algorithm)
        yield b"COMMIT;\n"


def _readable(transactions: Sequence[Transaction], definitions: Definitions) -> Iterator[bytes]:
    """One transaction for each, of statements that find rows by primary key."""
    from conformance.reference.text.sql.rows import PROLOGUE, row_statements

    yield "".join(f"{line}\n" for line in PROLOGUE).encode()
    for transaction in transactions:
        yield f"-- takes back {transaction.gtid or f'{transaction.file}:{transaction.position}'}\nBEGIN;\n".encode()
        for event in transaction.events:
            for line in row_statements(event.rows, definitions.facts(event.rows.map())):
                yield line.encode("utf-8", "surrogateescape") + b"\n"
        yield b"COMMIT;\n"
