"""Table definitions as data: what a CREATE TABLE says, and what the row events of such a table need to know.

(Definitions by LEAD so that cases and generators can start; owner BINLOG adds create_table() and table_map() here.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column. ``type`` is the SQL type name in upper case (``INT``, ``VARCHAR``, ``JSON``, ...).

    ``length``: characters of CHAR/VARCHAR, bytes of BINARY/VARBINARY, bits of BIT, precision of DECIMAL, dimension of
    VECTOR. ``scale``: scale of DECIMAL, fraction digits of TIME, DATETIME and TIMESTAMP. ``members``: of ENUM and SET.
    """

    name: str
    type: str
    length: int | None = None
    scale: int | None = None
    unsigned: bool = False
    nullable: bool = True
    charset: str | None = None
    collation: str | None = None
    members: tuple[str, ...] = ()
    invisible: bool = False
    auto_increment: bool = False
    default_sql: str | None = None
    generated_sql: str | None = None
    stored: bool = False

    @property
    def is_json(self) -> bool:
        return self.type == "JSON"


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table. A key is a tuple of (column index, prefix length in characters; 0 is the whole column)."""

    schema: str
    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[tuple[int, int], ...] = ()
    unique_keys: tuple[tuple[tuple[int, int], ...], ...] = ()
    charset: str = "utf8mb4"
    collation: str | None = None

    @cached_property
    def json_columns(self) -> tuple[int, ...]:
        """Indexes of the JSON columns."""
        return tuple(index for index, column in enumerate(self.columns) if column.is_json)

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Column indexes by name."""
        return {column.name: index for index, column in enumerate(self.columns)}
