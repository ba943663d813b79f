"""The content of the tuples of a log: events, tables and columns, their form, and what becomes of damage."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import re

    from conformance.logs.rows.conditions import Condition

BATCH: Final = 4 << 20
EARLIEST: Final = "earliest"
LATEST: Final = "latest"


class OptionError(ValueError):
    """An option cannot be used; the message says what was expected."""


class Content(StrEnum):
    """The content of a row."""

    ROWS = "rows"  # one row change
    EVENTS = "events"  # one event, those inside a compressed transaction too


class Layout(StrEnum):
    """The form of the images: one text for any table, or the columns of one table."""

    ANY = "any"
    TYPED = "typed"


class Documents(StrEnum):
    """The form of JSON columns in the images."""

    JSON = "json"  # as `decode --format jsonl` prints them
    TAGGED = "tagged"  # with --types
    VARIANT = "variant"  # as `json`, and the images are VARIANT and not text
    BYTES = "bytes"  # nothing: JSONB and diffs are in a column of their own


class Problems(StrEnum):
    """The treatment of damage."""

    ROWS = "rows"
    FAIL = "fail"


class Field(NamedTuple):
    """A column of a table: its name, and its type in terms of Spark SQL."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Parsed options. ``types``, ``tables`` and ``columns``: ``None`` selects all; a table is a regular expression for
    ``schema.table``. ``conditions`` are those of the query; ``fields`` the columns of a table, where rows are typed.
    ``follows``: the server is writing the log, which is no problem of it.
    """

    paths: tuple[str, ...]
    content: Content = Content.ROWS
    layout: Layout = Layout.ANY
    columns: tuple[str, ...] | None = None
    conditions: tuple[Condition, ...] = ()
    fields: tuple[Field, ...] = ()
    types: frozenset[int] | None = None
    tables: re.Pattern[str] | None = None
    body: bool = True
    documents: Documents = Documents.JSON
    split_bytes: int | None = None
    batch_bytes: int = BATCH
    max_uncompressed: int | None = None
    problems: Problems = Problems.ROWS
    metrics: str | None = None
    starting_offset: str = EARLIEST
    bytes_per_trigger: int | None = None
    follows: bool = False

    def wants_table(self, schema: str, table: str) -> bool:
        """Whether the options select the rows of this table."""
        return self.tables is None or self.tables.fullmatch(f"{schema}.{table}") is not None

    def wants_one_of(self, *columns: str) -> bool:
        """Whether one of these columns is selected."""
        return self.columns is None or not set(columns).isdisjoint(self.columns)
