"""The wire form of JSON diffs inside a partial column value (WL#2955 section 4; partial-update 4).

    operation    1 byte: 0 REPLACE, 1 INSERT, 2 REMOVE
    path_length  packed integer
    path         utf8mb4 text
    data_length  packed integer      not for REMOVE
    data         a JSONB document    not for REMOVE

The diffs follow each other without gaps, up to the end of the field.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.cursor import Cursor, encode_packed
from conformance.reference.errors import CodecError, DecodeError, EncodeError, MysqlError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.paths import Path, parse_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.jsonb.values import JsonValue


class Operation(IntEnum):
    """The operation of a diff. The worklog reserves 3 and above for future versions; 9.7.4 answers 3649 to them
    (partial-update 7).
    """

    REPLACE = 0
    INSERT = 1
    REMOVE = 2


class Diff(NamedTuple):
    """One change of a document. ``value`` is ``None`` (JSON null) for REMOVE, which has no value."""

    operation: Operation
    path: Path
    value: JsonValue = None


class RawDiff(NamedTuple):
    """A diff of which only the frame was read: path text and JSONB as they stand in the event."""

    operation: Operation
    path: bytes
    data: bytes | None


def encode_diff(operation: Operation, path: Path, data: bytes | None) -> bytes:
    """The bytes of one diff from its parts; ``data`` is the JSONB of the value, ``None`` for REMOVE."""
    text = str(path).encode("utf-8", "surrogateescape")
    head = operation.to_bytes(1, "little") + encode_packed(len(text)) + text
    return head if data is None else head + encode_packed(len(data)) + data


def checked_diffs(diffs: Iterable[Diff]) -> tuple[Diff, ...]:
    """Return diffs that a caller has made. Raises :class:`EncodeError` for one without an Operation and a Path.

    Words of a JSON line, such as ``"REMOVE"`` and ``"$.a"``, would be taken for something else.
    """
    found = tuple(diffs)
    for index, diff in enumerate(found):
        if not isinstance(diff, Diff):
            raise _ill_made("not a diff", "a Diff", diff).at(f"diffs[{index}]")
        if type(diff.operation) is not Operation:
            raise _ill_made("not an operation", "an Operation", diff.operation).at(f"diffs[{index}]")
        if type(diff.path) is not Path:
            raise _ill_made("not a path", "a Path, as parse_path gives", diff.path).at(f"diffs[{index}]")
    return found


def _ill_made(message: str, expected: str, got: object) -> EncodeError:
    return EncodeError("not-a-diff", message, expected=expected, got=f"{type(got).__name__} {got!r}")


def encode_diffs(diffs: Iterable[Diff]) -> bytes:
    """The bytes of all diffs of a column, without the 4-byte length of the field. Raises as :func:`checked_diffs`, and
    as :func:`encode` for a value.
    """
    return b"".join(
        encode_diff(diff.operation, diff.path, None if diff.operation is Operation.REMOVE else encode(diff.value))
        for diff in checked_diffs(diffs)
    )


def split_diffs(data: bytes) -> list[RawDiff]:
    """The frames of all diffs; paths and values are not checked (partial-update 6.1)."""
    out: list[RawDiff] = []
    pos, end = 0, len(data)
    while pos < end:
        code = data[pos]
        # Nearly all lengths take one byte; the cursor reads longer lengths, and refuses wrong ones.
        start = pos + 2
        stop = start + data[pos + 1] if start <= end else end + 1
        if code == _REMOVE and stop <= end and data[start - 1] < _LONG:
            out.append(_new(RawDiff, (_OPERATIONS[code], data[start:stop], None)))
            pos = stop
            continue
        if code < _REMOVE and stop < end and data[start - 1] < _LONG and data[stop] < _LONG:
            last = stop + 1 + data[stop]
            if last <= end:
                out.append(_new(RawDiff, (_OPERATIONS[code], data[start:stop], data[stop + 1 : last])))
                pos = last
                continue
        cursor = Cursor(data, pos)
        try:
            out.append(read_diff(cursor))
        except DecodeError as error:
            error.decoded = tuple(out)
            raise error.at(f"diffs[{len(out)}]") from None
        pos = cursor.pos
    return out


def read_diff(cursor: Cursor) -> RawDiff:
    """The frame of one diff through a cursor: the slower way, for long lengths, damage and recorders."""
    code = cursor.u1("operation")
    if code > _REMOVE:
        raise DecodeError("bad-operation", "unknown operation", offset=cursor.pos - 1, expected="0..2", got=code)
    path = cursor.packed_bytes("path")
    return RawDiff(_OPERATIONS[code], path, None if code == _REMOVE else cursor.packed_bytes("data"))


_new = tuple.__new__  # of a named tuple from a tuple, as in binlog.files
_OPERATIONS: Final = tuple(Operation)
_REMOVE: Final = int(Operation.REMOVE)
_LONG: Final = 251  # the first byte of a packed length that takes several bytes


def decode_diffs(data: bytes, *, strict: bool = False) -> tuple[Diff, ...]:
    """The typed diffs of a column.

    Raises :class:`DecodeError` where the server answers 3649. Damage deep inside a value raises the error of the JSON
    library (3142, 3157). ``strict`` also refuses what the server accepts: values of no bytes, bytes after a value,
    values that no writer makes, and paths that are not in canonical text.
    """
    out: list[Diff] = []
    frames = split_diffs(data)
    frames.reverse()
    while frames:  # drop each raw diff once it is read: both forms of all diffs would take twice the memory
        try:
            out.append(typed_diff(frames.pop(), strict=strict))
        except CodecError as error:
            error.decoded = tuple(out)
            raise error.at(f"diffs[{len(out)}]") from None
    return tuple(out)


def typed_diff(raw: RawDiff, *, strict: bool = False) -> Diff:
    """The typed diff: path and value of a raw diff."""
    try:
        text = raw.path.decode("utf-8", "strict" if strict else "surrogateescape")
        path = parse_path(text)
        if strict and not path.is_exact:
            raise DecodeError("inexact-path", "a diff's path has a wildcard or range", got=text)
        if strict and str(path) != text:
            raise DecodeError(
                "path-not-canonical", "a diff's path is not in canonical text", expected=str(path), got=text
            )
    except UnicodeDecodeError as error:
        raise DecodeError("bad-utf8", "a diff's path is not valid UTF-8", offset=error.start) from None
    except MysqlError as error:
        raise DecodeError("bad-path", error.message, offset=error.offset, got=raw.path, path=("path",)) from None
    if raw.data is None:
        return Diff(raw.operation, path)
    if strict and not raw.data:
        raise DecodeError("truncated", "a diff's value has no bytes", expected=1, got=0, path=("data",))
    try:
        if strict:
            from conformance.reference.jsonb.layout import decode_strict  # which most readers never need

            return Diff(raw.operation, path, decode_strict(raw.data))
        return Diff(raw.operation, path, decode(raw.data))
    except CodecError as error:
        raise error.at("data") from None
