"""The columns of one table, from the TABLE_MAPs of the logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.logs.part_events import Problem, read_part
from conformance.logs.parts import Part
from conformance.logs.rows.options import OptionError
from conformance.logs.rows.typed import fields_of
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.logs.rows.options import Field, Options


def fields_in(files: Iterable[str], options: Options) -> tuple[Field, ...]:
    """The columns of the table that the options select. Raises ``OptionError`` if that is none, or several.

    Reads all logs once: a later TABLE_MAP may have more columns, or others.
    """
    found: dict[TableMap, None] = {}
    for file in files:
        for item in read_part(Part(file), limit=options.max_uncompressed):
            body = None if isinstance(item, Problem) else item.body
            if isinstance(body, TableMap) and options.wants_table(body.schema, body.table):
                found.setdefault(body)
    names = sorted({f"{table.schema}.{table.table}" for table in found})
    if len(names) != 1:
        what = f"{len(names)}: {', '.join(names[:8])}" if names else "none in these logs"
        raise OptionError(f"option schema: typed is for one table, which the option tables names; got {what}")
    return fields_of(found, options.documents)
