"""Whole transactions and whole files, for tests and benchmarks that read logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.header import MAGIC
from conformance.reference.binlog.rows import RowsBody, split_rows
from conformance.reference.binlog.versions import post_header_lengths, written
from conformance.reference.binlog.writer import FileWriter, begin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.binlog.event import Body
    from conformance.reference.dialect import Dialect
    from conformance.reference.tables.table_map import TableMap


def row_group(table: TableMap, *events: RowsBody, xid: int = 1, limit: int = 8192, update: bool = False) -> list[Body]:
    """The bodies of a transaction of one statement, ready for :meth:`FileWriter.group`: rows are split at ``limit``."""
    rows = (body for event in events for body in split_rows(event, limit))
    return [begin(table.schema, update=update), table, *rows, Xid(xid=xid)]


def log_file(version: str, dialect: Dialect, bodies: Iterable[Body], *, writer: FileWriter | None = None) -> bytes:
    """A whole file as a server of this version writes it. ``version``: the text in its FORMAT_DESCRIPTION."""
    description = FormatDescription(server_version=version, post_header_lengths=post_header_lengths(dialect.log))
    writer = writer or FileWriter()
    writer.format = description
    writer.position = len(MAGIC)
    forms = (written(body, dialect) for body in (PreviousGtids(), *bodies))
    return MAGIC + writer.add(description) + b"".join(writer.add(body) for body in forms if body is not None)
