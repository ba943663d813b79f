"""Applying the diffs of a row event to a stored document, as a replica does (partial-update 6).

The applier follows paths exactly: it neither auto-wraps nor strips legs. It changes the document in place while changes
fit, and a tree from the first change that does not. Only in place does the server refuse a REPLACE that changes nothing
(dialect switch ``refuse_unchanging_replace``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.dialect import MYSQL, Dialect, checked_dialect
from conformance.reference.errors import (
    DecodeError,
    MysqlError,
    cannot_be_written,
    corrupted_diff,
    could_not_apply_diff,
)
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.opaque import decimal_as_written, decimal_is_wide, opaque_text
from conformance.reference.jsonb.values import DECIMAL, VAR_STRING, Opaque
from conformance.reference.jsonb.view import View, open_document
from conformance.reference.partial.diffs import Diff, Operation, checked_diffs, decode_diffs, split_diffs, typed_diff
from conformance.reference.partial.document import (
    MISSING,
    Document,
    child,
    copy,
    element_index,
    is_array,
    remove_from_tree,
)
from conformance.reference.partial.paths import Cell, Member

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from conformance.reference.jsonb.values import JsonValue


def apply_field(stored: bytes | None, field: bytes, dialect: Dialect = MYSQL) -> bytes | None:
    """Apply the diffs of a partial column value, given without its 4-byte length.

    Reads all diffs before it applies the first. Raises :class:`MysqlError`: 3649 for a diff that cannot be read; 3142
    or 3157 for damage deep inside a value; 3648 for a diff that does not fit the document.
    """
    try:
        diffs = decode_diffs(field, strict=dialect.reader.strict)
    except DecodeError as error:
        if _lies_deep(field):
            raise MysqlError(3142, "ER_INVALID_JSON_BINARY_DATA", str(error), offset=error.offset) from error
        raise corrupted_diff(f"corrupted JSON diff: {error}", offset=error.offset) from error
    for diff in diffs:
        if _has_wide_decimal(diff.value) and not dialect.behaviour.reads_wide_decimals:
            raise MysqlError(3142, "ER_INVALID_JSON_BINARY_DATA", "a DECIMAL in a diff has a digit too many")
    if not dialect.behaviour.stores_invalid_text:
        _refuse_invalid_text(diffs)
    return _applied(stored, diffs, dialect)


def _lies_deep(field: bytes) -> bool:
    """Whether the first damage lies inside a container value whose frame is sound (observed on 9.7.4).

    The server's reader checks only the frames of values, one diff after the other; the JSON library finds deeper
    damage.
    """
    try:
        frames = split_diffs(field)
    except DecodeError as torn:
        frames = list(torn.decoded)
    for frame in frames:
        try:
            typed_diff(frame)
        except DecodeError as error:
            return error.path[:1] == ("data",) and _is_container(frame.data or b"")
    return False


def _is_container(data: bytes) -> bool:
    try:
        view = open_document(data)
    except DecodeError:
        return False
    return view.is_array or view.is_object


def apply_diffs(stored: bytes | None, diffs: Iterable[Diff], dialect: Dialect = MYSQL) -> bytes | None:
    """The document (JSONB bytes) after all diffs; ``stored`` is not changed. SQL NULL is ``None``.

    The server writes a DECIMAL from the number it has read: unusual stored bytes become the usual ones. It cannot write
    a DECIMAL with a digit too many, and answers 1032. In place it does so at once, on the tree at the end, wherever in
    the document the DECIMAL stands (observed on 9.7.4).

    Raises :class:`MysqlError` 3648 for a diff that does not fit, and :class:`DecodeError` for damage that is met in
    ``stored``. Raises :class:`EncodeError` for a diff without an Operation and a Path, and TypeError for a version's
    text in the place of a dialect.
    """
    return _applied(stored, checked_diffs(diffs), checked_dialect(dialect))


def _applied(stored: bytes | None, diffs: tuple[Diff, ...], dialect: Dialect) -> bytes | None:
    if not diffs:
        if stored == b"":
            return encode(None)  # no bytes are read as JSON null, which now has bytes of its own (observed on 9.7.4)
        # The server marks the field as not NULL before it applies anything (partial-update 8.4).
        return encode(None) if stored is None and dialect.behaviour.null_takes_empty_diffs else stored
    document = Document(encode(None) if stored is None else stored)
    for index, diff in enumerate(diffs):
        refused = _refused(document, diff, dialect)
        if refused:
            raise could_not_apply_diff(f"{diff.operation.name} {diff.path}: {refused}").at(f"diffs[{index}]")
    written = document.stored()
    if not document.in_place and _DECIMAL_BYTE in written:
        root = document.root()
        assert not isinstance(root, View)
        rewritten = _as_written(root)
        if rewritten is not root:
            return encode(rewritten)
    return written


_DECIMAL_BYTE: Final = DECIMAL.to_bytes(
    1, "little"
)  # in every document with a DECIMAL, and in few documents without one


def _has_wide_decimal(value: object) -> bool:
    """Whether the value holds a DECIMAL with a digit too many; error 3142 for a DECIMAL that cannot be read."""
    if isinstance(value, (str, int)):
        return False  # the values of most diffs
    return True in {decimal_is_wide(payload) for payload in _decimals(value)}


def _decimals(value: object) -> list[bytes]:
    """The DECIMALs of a value: the only opaque values that the server checks in a diff (requirements FR5)."""
    found = []
    values = [value]
    for item in values:  # which grows on the way: a call for each value would cost more than its work
        if isinstance(item, list):
            values += item
        elif isinstance(item, dict):
            values += item.values()
        elif isinstance(item, Opaque) and item.field_type == DECIMAL:
            found.append(item.payload)
    return found


def _as_written(value: JsonValue) -> JsonValue:
    """The value with its DECIMALs in the bytes that the server writes; the same object if nothing changes."""
    if isinstance(value, (str, int)):
        return value
    other = {payload: written for payload in _decimals(value) if (written := _decimal_as_written(payload)) != payload}
    return _with_decimals(value, other) if other else value


def _decimal_as_written(payload: bytes) -> bytes:
    if decimal_is_wide(payload):
        raise cannot_be_written("a DECIMAL has a digit too many")
    return decimal_as_written(payload)


def _with_decimals(value: JsonValue, other: Mapping[bytes, bytes]) -> JsonValue:
    if isinstance(value, Opaque) and value.field_type == DECIMAL:
        return Opaque(DECIMAL, other.get(value.payload, value.payload))
    if isinstance(value, list):
        return [_with_decimals(item, other) for item in value]
    if isinstance(value, dict):
        return {name: _with_decimals(item, other) for name, item in value.items()}
    return value


def _refuse_invalid_text(diffs: Iterable[Diff]) -> None:
    """Raise for strings that are not UTF-8; the decoder holds them with surrogates, which no text can contain."""
    for index, diff in enumerate(diffs):
        try:
            "".join((str(diff.path), *_texts(diff.value))).encode()
        except UnicodeEncodeError:
            raise corrupted_diff("a name or a string is not valid UTF-8").at(f"diffs[{index}]") from None


def _texts(value: object) -> Iterator[str]:
    """Strings and names of a value, opaque strings included. Other opaque values may be damaged; they are not read
    here.
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, Opaque) and value.field_type == VAR_STRING:
        yield opaque_text(value)
    elif isinstance(value, dict):
        yield from value
    if isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _refused(document: Document, diff: Diff, dialect: Dialect) -> str:
    """Apply one diff; returns the reason if the diff does not fit."""
    legs = diff.path.legs
    if not legs:
        return "the root cannot be changed by a diff"
    if not diff.path.is_exact:
        return "a path with wildcards or ranges names no place"
    parent, leg = document.seek(legs[:-1]), legs[-1]
    if parent is MISSING:
        return "the parent does not exist"
    if diff.operation is Operation.INSERT:
        if is_array(parent):
            if not isinstance(leg, Cell):
                return "the parent is an array"
        elif not isinstance(leg, Member):
            return "the parent is not an array"
        elif child(parent, leg) is not MISSING:
            return "the member exists"
        document.to_tree()
        parent = document.seek(legs[:-1])
        if isinstance(parent, list) and isinstance(leg, Cell):
            parent.insert(leg.position(len(parent))[0], copy(diff.value))
        elif isinstance(parent, dict) and isinstance(leg, Member):
            parent[leg.name] = copy(diff.value)
        else:
            return "the parent is a scalar"
        return ""
    if isinstance(parent, View):
        index = element_index(parent, leg)
        if index < 0:
            return "the path does not exist"
        parent.element(index)  # a broken value is an error even if the diff does not need it
        if diff.operation is Operation.REMOVE:
            document.remove_bytes(parent, index)
            return ""
        changed = document.replace_bytes(parent, index, encode(_as_written(diff.value)))
        if changed is not None:
            return "the value is there already" if not changed and dialect.behaviour.refuse_unchanging_replace else ""
        document.to_tree()
    elif child(parent, leg) is MISSING:
        return "the path does not exist"
    elif diff.operation is Operation.REMOVE:
        remove_from_tree(parent, leg)
        return ""
    document.replace_tree(legs, diff.value)
    return ""
