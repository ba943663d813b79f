"""Parts that the batch and the stream of the data source share: files, partitions, and Spark's schemas of the rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyspark.sql.datasource import InputPartition

from conformance.logs.paths import find_logs
from conformance.logs.rows.options import Field, Layout, OptionError, Times
from conformance.logs.rows.tuples import all_columns, selected

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from conformance.logs.parts import Part
    from conformance.logs.rows.options import Options


CORRUPT_RECORD: Final = "_corrupt_record"  # Spark's own name


class BinlogPartition(InputPartition):
    """The part that a task reads."""

    def __init__(self, part: Part) -> None:
        super().__init__(part)
        self.part = part


def files_of(options: Options) -> list[str]:
    """The files of all paths. Names are absolute: executors have working directories of their own."""
    found = set()
    for path in options.paths:
        found.update(find_logs(path, name_filter=options.name_filter, recursive=options.recursive))
    return sorted({str(Path(file).absolute()) for file in found})


def schema_of(options: Options) -> str:
    """The schema for Spark."""
    columns = [(name.replace("`", "``"), kind) for name, kind in all_columns(options)]
    return ", ".join(f"`{name}` {kind}" for name, kind in [columns[place] for place in selected(options)])


def with_schema(options: Options, schema: StructType) -> Options:
    """The options for a schema of Spark: that of :func:`schema_of`, or one that a user gave, of some columns."""
    typed = ("before", "after") if options.layout is Layout.TYPED else ()
    if typed:
        options = replace(options, fields=_fields(schema))
    names = tuple(schema.fieldNames())
    if CORRUPT_RECORD in names and options.corrupt_record is None:
        options = replace(options, corrupt_record=CORRUPT_RECORD)
    options = replace(options, columns=names, times=_times(schema, options))
    known = dict(all_columns(options))
    for given in schema.fields:
        kind, got = known.get(given.name), given.dataType.simpleString()
        if kind is None:
            raise OptionError(f"schema: column {given.name}: expected one of {', '.join(known)}, got another name")
        if given.name not in typed and got != _plain(kind):
            also = " or bigint" if given.name == "timestamp" else ""
            raise OptionError(f"schema: column {given.name}: expected {_plain(kind)}{also}, got {got}")
    return options


def _times(schema: StructType, options: Options) -> Times:
    """A schema of one's own says by its type what the column ``timestamp`` is."""
    given = [field.dataType.simpleString().upper() for field in schema.fields if field.name == "timestamp"]
    return Times(given[0]) if given and given[0] in set(Times) else options.times


def _fields(schema: StructType) -> tuple[Field, ...]:
    """The columns of the table, from the schemas of its images."""
    images = [
        tuple(Field(item.name, item.dataType.simpleString().upper()) for item in getattr(given.dataType, "fields", ()))
        for given in schema.fields
        if given.name in ("before", "after")
    ]
    if len(set(images)) > 1 or () in images:
        raise OptionError("schema: before and after: expected structs with the same columns of the table")
    return images[0] if images else ()


def _plain(kind: str) -> str:
    """A type as Spark writes it in short."""
    return kind.lower().replace(": ", ":").replace(", ", ",")
