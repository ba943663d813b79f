"""The columns of one table, from the TABLE_MAPs of the logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.logs.part_events import Problem, read_part
from conformance.logs.parts import Part
from conformance.logs.rows.options import Field, OptionError
from conformance.logs.rows.typed import fields_of, merged
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.logs.rows.options import Options

Form = tuple[str, tuple[Field, ...]]  # the name of a table, and its columns


def forms_in(file: str, options: Options) -> list[Form]:
    """The forms that the TABLE_MAPs of a log give the tables that the options select, each once."""
    found: dict[TableMap, None] = {}
    for item in read_part(Part(file), limit=options.max_uncompressed):
        body = None if isinstance(item, Problem) else item.body
        if isinstance(body, TableMap) and options.wants_table(body.schema, body.table):
            found.setdefault(body)
    return [(f"{table.schema}.{table.table}", fields_of(table, options.documents)) for table in found]


def fields_in(forms: Iterable[Form]) -> tuple[Field, ...]:
    """The columns of the one table that has these forms. Raises ``OptionError`` if that is none, or several.

    They are those of all logs: a later TABLE_MAP may have more columns, or others.
    """
    found = list(forms)
    names = sorted({name for name, _ in found})
    if len(names) != 1:
        what = f"{len(names)}: {', '.join(names[:8])}" if names else "none in these logs"
        raise OptionError(f"option schema: typed is for one table, which the option tables names; got {what}")
    return merged(fields for _, fields in found)
