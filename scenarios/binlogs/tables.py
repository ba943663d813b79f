"""The columns of one table, from the TABLE_MAPs of the logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.tables.table_map import TableMap
from scenarios.binlogs.options import OptionError
from scenarios.binlogs.parts import Part
from scenarios.binlogs.reading import Problem, read_part
from scenarios.binlogs.typed import fields_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scenarios.binlogs.options import Field, Options


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
