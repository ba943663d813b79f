"""Row changes with the columns of one table: what the metadata of the log says of each, in terms of Spark SQL.

A value that its type cannot hold (a zero date in a DATE) becomes null, and the row's ``problem`` says so. A column
whose type differs between the TABLE_MAPs of the logs is text. Columns that a table gets later are there once the logs
are loaded again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from conformance.logs.rows.options import Documents, Field
from conformance.logs.rows.texts import utf8
from conformance.reference.binlog.rows import RowsBody, included
from conformance.reference.cursor import bitmap_size
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.text import format_text
from conformance.reference.partial.diffs import split_diffs
from conformance.reference.tables import columns as types
from conformance.reference.tables import temporal
from conformance.reference.tables.charsets import BINARY, text_of
from conformance.reference.tables.columns import PartialJson
from conformance.reference.text.columns import INTEGERS, member_text, plain_text, stored_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.logs.rows.options import Options
    from conformance.reference.binlog.rows import LazyRows
    from conformance.reference.tables.metadata import ColumnInfo
    from conformance.reference.tables.table_map import TableMap

_SIGNED: Final = {
    types.TINY: "TINYINT", types.SHORT: "SMALLINT", types.INT24: "INT", types.LONG: "INT", types.LONGLONG: "BIGINT",
}  # fmt: skip
_UNSIGNED: Final = {
    types.TINY: "SMALLINT", types.SHORT: "INT", types.INT24: "INT", types.LONG: "BIGINT",
    types.LONGLONG: "DECIMAL(20,0)",
}  # fmt: skip
_KINDS: Final = {
    types.FLOAT: "FLOAT", types.DOUBLE: "DOUBLE", types.YEAR: "INT", types.DATE: "DATE", types.NEWDATE: "DATE",
    types.DATETIME: "TIMESTAMP_NTZ", types.DATETIME2: "TIMESTAMP_NTZ", types.TIMESTAMP: "TIMESTAMP",
    types.TIMESTAMP2: "TIMESTAMP", types.TIME: "STRING", types.TIME2: "STRING",
}  # fmt: skip
_STRINGS: Final = frozenset((
    types.VARCHAR, types.VAR_STRING, types.STRING, types.TINY_BLOB, types.MEDIUM_BLOB, types.LONG_BLOB, types.BLOB,
    *types.COMPRESSED_COLUMNS,
))  # fmt: skip
_MOST_DIGITS: Final = 38  # of Spark's DECIMAL
_DIFFS: Final = "ARRAY<STRUCT<column: STRING, operation: STRING, path: STRING, value: STRING>>"
_LOGGED: Final = "STRUCT<before: ARRAY<STRING>, after: ARRAY<STRING>>"

Convert = Callable[[Any], Any]


class NoValue(Exception):
    """A type cannot hold a value; the message says which."""


def typed_columns(options: Options) -> tuple[tuple[str, str], ...]:
    """Names and types of the columns that stand in the place of the images."""
    inside = ", ".join("`{}`: {}".format(field.name.replace("`", "``"), field.kind) for field in options.fields)
    image = f"STRUCT<{inside}>"
    return (("before", image), ("after", image), ("diffs", _DIFFS), ("logged", _LOGGED))


def fields_of(table: TableMap, documents: Documents) -> tuple[Field, ...]:
    """The columns of a table as a TABLE_MAP has them."""
    columns = zip(table.column_names, table.described, strict=True)
    return tuple(Field(name, kind_of(info, documents)) for name, info in columns)


def merged(tables: Iterable[tuple[Field, ...]]) -> tuple[Field, ...]:
    """The columns of a table over all its TABLE_MAPs, in the order in which they appear."""
    found: dict[str, str] = {}
    for name, kind in chain.from_iterable(tables):
        found[name] = kind if found.get(name, kind) == kind else "STRING"
    return tuple(Field(name, kind) for name, kind in found.items())


def kind_of(info: ColumnInfo, documents: Documents) -> str:
    """The type of a column in terms of Spark SQL."""
    column = info.type
    real = column.real_type
    if column.type == types.JSON:
        return "VARIANT" if documents is Documents.VARIANT else "STRING"
    if real in INTEGERS:
        return (_UNSIGNED if info.unsigned else _SIGNED)[real]
    if real == types.NEWDECIMAL:
        return f"DECIMAL({column.length},{column.scale})" if column.length <= _MOST_DIGITS else "STRING"
    if real in (types.ENUM, types.SET):
        return "STRING" if info.members is not None else "BIGINT" if real == types.ENUM else "DECIMAL(20,0)"
    if real in _STRINGS:
        return "BINARY" if info.collation == BINARY else "STRING"
    return _KINDS.get(real, "BINARY")


def typed_rows(
    body: LazyRows | RowsBody, options: Options
) -> Iterator[tuple[tuple[Any, ...], tuple[bytes, bytes] | None]]:
    """For each row its number, images, diffs and names of logged columns; and the problem with its values."""
    table = body.map()
    sides = [_side(table, columns, options) for columns in (body.before_columns, body.after_columns)]
    names = {"before": sides[0] and sides[0][1], "after": sides[1] and sides[1][1]}
    for number, row in enumerate(body.rows if isinstance(body, RowsBody) else body.rows()):
        problems: list[str] = []
        diffs: list[dict[str, Any]] = []
        try:
            images = [
                None if image is None or side is None else _image(image, side[0], problems, diffs)
                for image, side in zip((row.before, row.after), sides, strict=True)
            ]
        except CodecError as error:
            raise error.at(f"rows[{number}]") from None
        problem = (b"no-value", utf8("; ".join(problems))) if problems else None
        yield (number, *images, diffs or None, names), problem


_Side = tuple[list[tuple[str, Convert | None]], list[str]]


def _side(table: TableMap, columns: int | None, options: Options) -> _Side | None:
    """How the values of an image are converted, in their order, and the names of its columns."""
    if columns is None:
        return None
    wanted = dict(options.fields)
    converts: list[tuple[str, Convert | None]] = []
    for place in included(columns, len(table.columns)):
        name = table.column_names[place]
        converts.append((name, _convert(table.described[place], wanted[name], options) if name in wanted else None))
    return converts, [name for name, _ in converts]


def _image(
    image: Iterable[Any], side: list[tuple[str, Convert | None]], problems: list[str], diffs: list[dict[str, Any]]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for (name, convert), value in zip(side, image, strict=True):
        if isinstance(value, PartialJson):
            diffs += _diffs(name, value)
        elif convert is None:
            problems.append(f"column {name} is not in the schema")
        elif value is not None:
            try:
                values[name] = convert(value)
            except NoValue as reason:
                problems.append(f"column {name}: {reason}")
            except CodecError as error:
                raise error.at(name) from None
    return values


def _diffs(column: str, value: PartialJson) -> Iterator[dict[str, Any]]:
    """The diffs of a document; one without operation stands for the empty list: the document did not change."""
    found = split_diffs(value.diffs)
    if not found:
        yield {"column": column, "operation": None, "path": None, "value": None}
    for diff in found:
        text = None if diff.data is None else format_text(decode(diff.data))
        path = diff.path.decode("utf-8", "backslashreplace")
        yield {"column": column, "operation": diff.operation.name, "path": path, "value": text}


def _convert(info: ColumnInfo, kind: str, options: Options) -> Convert:
    """How a column's values become those of a type."""
    natural = kind_of(info, options.documents)
    if info.type.type == types.JSON and kind in ("STRING", "VARIANT"):
        return lambda value: format_text(decode(value))
    if kind == "STRING":
        return partial(_text, info)
    if kind != natural:
        return partial(_other, natural, kind)
    if kind == "BINARY":
        return partial(_bytes, info)
    if kind == "DATE":
        return _date
    if kind == "TIMESTAMP_NTZ":
        return _datetime
    if kind == "TIMESTAMP":
        return _timestamp
    return _same


def _other(natural: str, kind: str, _: Any) -> Any:
    raise NoValue(f"{natural} in the log, {kind} in the schema")


def _same(value: Any) -> Any:
    return value


def _text(info: ColumnInfo, value: Any) -> str:
    """The text that SELECT shows."""
    plain = plain_text(info)
    if plain is not None:
        return plain(value)
    if info.type.real_type in (types.ENUM, types.SET):
        name = member_text(info, value)
        return str(value) if name is None else name
    stored = stored_bytes(info, value) if info.type.type in types.COMPRESSED_COLUMNS else value
    found = text_of(stored, info.collation) if isinstance(stored, bytes) and info.collation != BINARY else None
    if found is None:
        raise NoValue(f"{_bytes(info, value)[:40]!r} is no text")
    return found


def _bytes(info: ColumnInfo, value: Any) -> bytes:
    if isinstance(value, int):  # BIT
        return value.to_bytes(bitmap_size(info.type.length), "big")
    return stored_bytes(info, value)


def _date(value: temporal.Date) -> date:
    try:
        return date(*value)
    except ValueError:
        raise NoValue(f"{value} is no DATE") from None


def _datetime(value: temporal.Datetime) -> datetime:
    try:
        return datetime(*value)  # noqa: DTZ001 - a DATETIME has no time zone
    except ValueError:
        raise NoValue(f"{value} is no TIMESTAMP_NTZ") from None


def _timestamp(value: temporal.Timestamp) -> datetime:
    if not value.seconds:
        raise NoValue(f"{temporal.text(value)} is no TIMESTAMP")
    return datetime.fromtimestamp(value.seconds, UTC).replace(microsecond=value.microsecond)
