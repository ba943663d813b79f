"""Parts that the batch and the stream of the data source share: files, partitions, and Spark's schemas of the rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import InputPartition

from conformance.logs.paths import find_logs
from conformance.logs.rows.options import Field, Layout, OptionError
from conformance.logs.rows.tuples import columns_of, selected

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from conformance.logs.parts import Part
    from conformance.logs.rows.options import Options


class BinlogPartition(InputPartition):
    """The part that a task reads."""

    def __init__(self, part: Part) -> None:
        super().__init__(part)
        self.part = part


def files_of(options: Options) -> list[str]:
    """The files of all paths. Names are absolute: executors have working directories of their own."""
    return sorted({str(Path(file).absolute()) for path in options.paths for file in find_logs(path)})


def schema_of(options: Options) -> str:
    """The schema for Spark."""
    columns = columns_of(options)
    return ", ".join(f"`{name}` {kind}" for name, kind in [columns[place] for place in selected(options)])


def with_schema(options: Options, schema: StructType) -> Options:
    """The options for a schema of Spark: that of :func:`schema_of`, or one that a user gave, of some columns."""
    typed = ("before", "after") if options.layout is Layout.TYPED else ()
    if typed:
        options = replace(options, fields=_fields(schema))
    known = dict(columns_of(options))
    for given in schema.fields:
        kind = known.get(given.name)
        if kind is None or (given.name not in typed and given.dataType.simpleString() != _plain(kind)):
            raise OptionError(
                f"a schema of one's own: expected some of {', '.join(known)}, with their types;"
                f" got {given.name} {given.dataType.simpleString()}"
            )
    return replace(options, columns=tuple(schema.fieldNames()))


def _fields(schema: StructType) -> tuple[Field, ...]:
    """The columns of the table, from the schemas of its images."""
    images = [
        tuple(Field(item.name, item.dataType.simpleString().upper()) for item in getattr(given.dataType, "fields", ()))
        for given in schema.fields
        if given.name in ("before", "after")
    ]
    if len(set(images)) > 1 or () in images:
        raise OptionError("a schema of one's own: expected before and after with the same columns of the table")
    return images[0] if images else ()


def _plain(kind: str) -> str:
    """A type as Spark writes it in short."""
    return kind.lower().replace(": ", ":").replace(", ", ",")
