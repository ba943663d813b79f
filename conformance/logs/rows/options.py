"""The content of the tuples of a log: events, tables and columns, their form, and what becomes of damage."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import re

    from conformance.logs.rows.conditions import Condition

BATCH: Final = 4 << 20
PARTITION: Final = 128 << 20  # Spark's own size of a part of a file
EARLIEST: Final = "earliest"
LATEST: Final = "latest"


class OptionError(ValueError):
    """An option cannot be used; the message says what was expected."""


class Content(StrEnum):
    """The content of a row."""

    ROWS = "rows"  # one row change
    EVENTS = "events"  # one event, those inside a compressed transaction too
    PROBLEMS = "problems"  # one problem of a file, met while its rows are read


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


class Mode(StrEnum):
    """The treatment of damage, in the words of Spark."""

    FAILFAST = "FAILFAST"  # an error
    PERMISSIVE = "PERMISSIVE"  # a row whose column ``problem`` says what is wrong
    DROPMALFORMED = "DROPMALFORMED"  # no row


class Times(StrEnum):
    """The type of the column ``timestamp``."""

    TIMESTAMP = "TIMESTAMP"
    BIGINT = "BIGINT"  # seconds since 1970, as in the header of an event


class Field(NamedTuple):
    """A column of a table: its name, and its type in terms of Spark SQL."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Parsed options. ``types``, ``tables`` and ``columns``: ``None`` selects all; a table is a regular expression for
    ``schema.table``. ``conditions`` are those of the query; ``fields`` the columns of a table, where rows are typed.
    ``follows``: the server is writing the log, which is no problem of it. ``ignore_corrupt_files``: a file that is no
    log is a problem like any other. ``corrupt_record`` names the column with the sentence of a problem. ``metadata``: a
    column says of what file a row is. ``name_filter`` and ``recursive`` select the files of the paths: by a pattern for
    their names, and in directories at any depth.
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
    split_bytes: int = PARTITION
    times: Times = Times.TIMESTAMP
    metadata: bool = False
    name_filter: str | None = None
    recursive: bool = False
    batch_bytes: int = BATCH
    max_uncompressed: int | None = None
    mode: Mode = Mode.FAILFAST
    ignore_corrupt_files: bool = False
    corrupt_record: str | None = None
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
