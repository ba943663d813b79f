"""The rules that the census counts of tables: their TABLE_MAPs' metadata fields, and the types of their columns."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from conformance.reference.tables.definitions import table_map
from conformance.reference.tables.metadata import Field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.dialect import LogForms
    from conformance.reference.tables.definitions import Table

_TYPES: Final = (
    "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE", "BIT", "YEAR", "DATE", "TIME",
    "DATETIME", "TIMESTAMP", "CHAR", "VARCHAR", "BINARY", "VARBINARY", "TEXT", "BLOB", "ENUM", "SET", "JSON",
    "GEOMETRY",
)  # fmt: skip
_OF_TYPES: Final = {f"table-type/{kind}": f"a table with a column of the type {kind}" for kind in _TYPES}


def rules(log: LogForms) -> dict[str, str]:
    """The rules on a server with these forms of the log."""
    fields = [field for field in Field if field <= log.tlv_max]
    return {**{f"table-map/{field.name}": f"a TABLE_MAP with the field {field.name}" for field in fields}, **_OF_TYPES}


def of_tables(tables: Iterable[Table]) -> Counter[str]:
    """The rules that the full TABLE_MAPs of these tables exercise."""
    counts: Counter[str] = Counter()
    for table in tables:
        counts.update({f"table-map/{Field(item.field).name}" for item in table_map(table, "FULL").metadata})
        counts.update({f"table-type/{column.type}" for column in table.columns} & _OF_TYPES.keys())
    return counts
