"""Applying the diffs of a row event to a stored document, as a replica does (partial-update sheet, section 6).

Paths are followed exactly: no auto-wrap, nothing stripped. The document is changed in place while that works and on a
tree from the first change that does not fit; which of the two it is decides whether a REPLACE that changes nothing is
refused (dialect switch ``refuse_unchanging_replace``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.dialect import MYSQL, Dialect
from conformance.reference.diffs import Diff, Operation, decode_diffs
from conformance.reference.document import (
    MISSING,
    Document,
    child,
    copy,
    element_index,
    is_array,
    remove_from_tree,
)
from conformance.reference.errors import DecodeError, corrupted_diff, could_not_apply_diff
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.opaque import decimal_to_text
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import DECIMAL, Opaque
from conformance.reference.jsonb.view import View
from conformance.reference.paths import Cell, Member

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.jsonb.values import JsonValue


def apply_field(stored: bytes | None, field: bytes, dialect: Dialect = MYSQL) -> bytes | None:
    """Apply the diffs of a partial column value, given without its 4-byte length.

    Raises :class:`MysqlError` 3649 for a diff that cannot be read, 3142 or 3157 for damage deep inside a value, 3648
    for a diff that does not fit the document. All diffs are read before the first is applied.
    """
    try:
        diffs = decode_diffs(field, strict=dialect.reader.strict)
    except DecodeError as error:
        raise corrupted_diff(f"corrupted JSON diff: {error}", offset=error.offset) from error
    for diff in diffs:
        _check_decimals(diff.value)
    if not dialect.behaviour.stores_invalid_text:
        _refuse_invalid_text(diffs)
    return apply_diffs(stored, diffs, dialect)


def apply_diffs(stored: bytes | None, diffs: Iterable[Diff], dialect: Dialect = MYSQL) -> bytes | None:
    """The document after all diffs; ``stored`` is not changed. SQL NULL is ``None``."""
    diffs = tuple(diffs)
    if not diffs:
        if stored == b"":
            return encode(None)  # the JSON null that it reads as, now with bytes of its own (observed on 9.7.4)
        # The server marks the field as not NULL before it applies anything (sheet 8, deviation 4).
        return encode(None) if stored is None and dialect.behaviour.null_takes_empty_diffs else stored
    document = Document(encode(None) if stored is None else stored)
    for index, diff in enumerate(diffs):
        refused = _refused(document, diff, dialect)
        if refused:
            raise could_not_apply_diff(f"{diff.operation.name} {diff.path}: {refused}").at(f"diffs[{index}]")
    return document.stored()


def _check_decimals(value: JsonValue) -> None:
    """The one kind of opaque value that the server looks into while it reads a diff (requirements sheet, FR5)."""
    if isinstance(value, Opaque):
        if value.field_type == DECIMAL:
            decimal_to_text(value.payload, lenient=True)
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            _check_decimals(item)


def _refuse_invalid_text(diffs: Iterable[Diff]) -> None:
    """Strings that are not UTF-8 are held with surrogates, which no text can be written with."""
    for index, diff in enumerate(diffs):
        try:
            f"{diff.path}{format_text(diff.value)}".encode()
        except UnicodeEncodeError:
            raise corrupted_diff("a name or a string is not valid UTF-8").at(f"diffs[{index}]") from None


def _refused(document: Document, diff: Diff, dialect: Dialect) -> str:
    """Apply one diff; the reason if it does not fit."""
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
        parent.element(index)  # a broken one is an error also where it is not needed
        if diff.operation is Operation.REMOVE:
            document.remove_bytes(parent, index)
            return ""
        changed = document.replace_bytes(parent, index, encode(diff.value))
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
