"""Values of columns: what is expected as ``decode --format jsonl --types`` prints it, against any permitted form.

The column's type says what is forgiven. Numbers may be text, and whole numbers may have a ``.0``. A DECIMAL may lose
its closing zeros. ENUM and SET may be numbers or names, a SET in any order. Bytes may be hexadecimal, base64 or UTF-8
text, or Python bytes; those of a BINARY without its closing zeros are equal but for the type. A BIT may be a number or
its bits, text its bytes, and a document those of its JSONB value. So may the text of a number or a date, where a
decoder tells no texts apart. Dates and times: see ``moments``.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import Equality
from conformance.judge.decoding.binary import bytes_of_form, utf8_bytes
from conformance.judge.decoding.diff_lists import differences_of_diffs
from conformance.judge.decoding.difference import DifferenceKind, Found
from conformance.judge.decoding.documents import differences_of_documents, document_in
from conformance.judge.decoding.log_columns import INTEGERS, LogColumn
from conformance.judge.decoding.moments import moment_of, temporal_cause
from conformance.judge.decoding.numbers import (
    number_in,
    number_of,
    numeric_cause,
    same_double,
    same_float,
    same_number,
)
from conformance.judge.decoding.texts import text_cause
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.tagged import to_tagged
from conformance.reference.portable import is_number
from conformance.reference.tables.charsets import bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

_TEMPORAL: Final = frozenset(("DATE", "TIME", "DATETIME", "TIMESTAMP"))
_SPELLED: Final = _TEMPORAL | INTEGERS | {"DECIMAL", "FLOAT", "DOUBLE", "YEAR", "ENUM", "SET"}
_BITS: Final = re.compile("[01]+")
_CLOSING: Final = "without its closing zeros"  # of BINARY: the log cuts them off, and a query shows them
AS_NUMBER: Final = "as a number"  # of a member whose name the log has
_UNKNOWN: Final = LogColumn("", "")


def differences_of_values(
    column: LogColumn | None, expected: Any, got: Any, resolved: Any, place: str, *, tagged: bool = False
) -> list[Found]:
    """The differences of one value. ``resolved``: the expected value after its diffs."""
    if expected is None or got is None:
        return _nothing(expected, got, place, column)
    if isinstance(expected, dict) and ("json" in expected or "diffs" in expected):
        return _json(expected, got, resolved, place, tagged=tagged)
    known = column or _UNKNOWN
    cause = _compare(known, expected, got)
    if cause is None:
        named = known.type in ("ENUM", "SET") and isinstance(expected, str) and expected != ""
        if named and _is_number(_spelled(got), known):
            return [Found(DifferenceKind.TYPE, place, expected, got, Equality.TYPE, known.what, AS_NUMBER)]
        return []
    level = Equality.TYPE if cause == _CLOSING else Equality.VALUE
    return [Found(DifferenceKind.ALTERED, place, expected, got, level, known.what.strip(), cause)]


def _nothing(expected: Any, got: Any, place: str, column: LogColumn | None) -> list[Found]:
    if expected is None and got is None:
        return []
    if expected is None:
        document, wrong = document_in(got)
        cause = "JSON null for SQL NULL" if document is None and not wrong else "a value for SQL NULL"
    elif isinstance(expected, dict) and "diffs" in expected:
        cause = "SQL NULL for diffs" if expected["diffs"] else "SQL NULL for an unchanged document"
    elif isinstance(expected, dict) and "json" in expected and expected["json"] is None:
        cause = "SQL NULL for JSON null"
    else:
        cause = "SQL NULL for a value"
    what = (column or _UNKNOWN).what.strip()
    return [Found(DifferenceKind.NULL, place, expected, got, Equality.STRUCTURE, what, cause)]


def _json(expected: dict[str, Any], got: Any, resolved: Any, place: str, *, tagged: bool) -> list[Found]:
    def wrong_form(cause: str) -> list[Found]:
        return [Found(DifferenceKind.FORM, place, expected, got, Equality.STRUCTURE, "JSON column", cause)]

    if isinstance(got, dict) and len(got) == 1 and "diffs" in got:
        if "diffs" not in expected:
            return wrong_form("diffs for a document")
        if not isinstance(got["diffs"], (list, tuple)):
            return wrong_form("no list of diffs")
        return differences_of_diffs(expected["diffs"], got["diffs"], place, tagged=tagged)
    if (data := bytes_of_form(got)) is not None:
        try:
            got, tagged = {"json": to_tagged(decode(data))}, True
        except CodecError:
            return wrong_form("bytes that are no JSONB value")
    document, wrong = document_in(got)
    if wrong:
        return wrong_form(wrong)
    if "diffs" in expected:
        if not isinstance(resolved, dict) or "json" not in resolved:
            return wrong_form("a document for diffs of an unknown document")
        expected = resolved
    return differences_of_documents(expected["json"], document, f"{place}.$", tagged=tagged)


def _compare(column: LogColumn, expected: Any, got: Any) -> str | None:
    """The class of the difference, ``None`` without one."""
    kind = column.type
    if kind in _SPELLED:
        got = _spelled(got)
    if isinstance(got, bool):
        whole = expected in ({"hex": "00"}, {"hex": "01"})
        return (
            None
            if kind == "BIT" and column.length == 1 and whole and got == (expected["hex"] == "01")
            else "as BOOLEAN"
        )
    if kind == "BIT":
        return _bits(column, expected, got)
    if kind in ("ENUM", "SET"):
        return _members(column, expected, got)
    if number_of(expected) is not None:
        same = same_float if kind == "FLOAT" else same_double if kind == "DOUBLE" else same_number
        return _number(same, expected, got)
    if kind in ("DECIMAL", "YEAR"):
        return _number(same_number, expected, got)
    if kind in _TEMPORAL:
        one, other = moment_of(kind, expected), moment_of(kind, got)
        if one is not None and one == other:
            return None
        return temporal_cause(kind, expected, got) if isinstance(got, str) else _form(got)
    if isinstance(expected, str):
        return _text(column, expected, got)
    return _bytes(column, expected, got)


def _spelled(got: Any) -> Any:
    """Bytes of a text as that text."""
    data = bytes_of_form(got)
    return data.decode() if data and all(0x20 <= byte < 0x7F for byte in data) else got


def _form(got: Any) -> str:
    if isinstance(got, dict):
        return f"as {{{', '.join(map(str, got))}}}"
    return "as a number" if number_of(got) is not None else f"as {type(got).__name__}"


def _number(same: Callable[[Decimal, Decimal], bool], expected: Any, got: Any) -> str | None:
    number = number_in(expected) if isinstance(expected, str) else number_of(expected)
    other = number_in(got) if isinstance(got, str) else number_of(got)
    if other is None or number is None:
        return _form(got)
    return None if same(number, other) else numeric_cause(number, other)


def _text(column: LogColumn, expected: str, got: Any) -> str | None:
    if isinstance(got, str):
        return None if got == expected else text_cause(expected, got)
    data = bytes_of_form(got)
    if data is None:
        return _form(got)
    stored = None if column.collation is None else bytes_of(expected, column.collation)
    return None if data == (utf8_bytes(expected) if stored is None else stored) else "other bytes"


def _bytes(column: LogColumn, expected: Any, got: Any) -> str | None:
    data = bytes_of_form(expected)
    if data is None:  # a member without a name, in a column that is not known
        return None if expected == got else _form(got)
    if isinstance(got, str):
        other = utf8_bytes(got)
    elif column.type == "VECTOR" and isinstance(got, (list, tuple)):
        other = _vector(got)
    else:
        other = bytes_of_form(got)
    if other is None:
        return _form(got)
    if other == data:
        return None
    if column.type == "BINARY" and other.ljust(len(data), b"\0") == data:
        return _CLOSING
    return "cut" if data.startswith(other) else "other bytes"


def _vector(got: list[Any] | tuple[Any, ...]) -> bytes | None:
    try:
        return struct.pack(f"<{len(got)}f", *[float(value) for value in got])
    except (struct.error, OverflowError, TypeError, ValueError):
        return None


def _bits(column: LogColumn, expected: Any, got: Any) -> str | None:
    data = bytes_of_form(expected)
    assert data is not None
    raw = bytes_of_form(got)
    if raw is not None and len(raw) != len(data):
        got = _spelled(got)
    if isinstance(got, str) and len(got) == column.length and _BITS.fullmatch(got):
        number: int | None = int(got, 2)
    else:
        value = number_in(got) if isinstance(got, str) else number_of(got)
        number = int(value) if value is not None and value == value.to_integral_value() else None
        if number is None:
            other = bytes_of_form(got)
            number = None if other is None or len(other) != len(data) else int.from_bytes(other, "big")
    if number is None:
        return _form(got)
    return None if number == int.from_bytes(data, "big") else "other bits"


def _members(column: LogColumn, expected: Any, got: Any) -> str | None:
    """ENUM and SET: names, or the number. Names and numbers are compared through the column's members."""
    many = column.type == "SET"
    wanted, given = _member_number(column, expected), _member_number(column, got)
    if wanted is not None and given is not None:
        return None if wanted == given else "other members" if many else "other member"
    names, others = _names(expected, many=many), _names(got, many=many)
    if names is None or others is None:
        return "no member" if names is None or isinstance(got, str) else _form(got)
    return None if names == others else text_cause(str(expected), str(got)) or "other names"


def _is_number(got: Any, column: LogColumn) -> bool:
    """Whether a member arrived as its number, in any form of that."""
    named = isinstance(got, str) and (not is_number(got) or got in column.members)
    return not named and not isinstance(got, (list, tuple, set, frozenset)) and _member_number(column, got) is not None


def _names(value: Any, *, many: bool) -> frozenset[str] | None:
    if isinstance(value, str):
        return frozenset(filter(None, value.split(","))) if many else frozenset((value,))
    if many and isinstance(value, (list, tuple, set, frozenset)) and all(isinstance(name, str) for name in value):
        return frozenset(value)
    return None


def _member_number(column: LogColumn, value: Any) -> int | None:
    """The number that is stored; ``None`` if it cannot be known."""
    if isinstance(value, int):
        return value
    if isinstance(value, dict):
        number = value.get("index") if len(value) == 1 else None
        found = number_in(number) if isinstance(number, str) else number_of(number)
        return None if found is None else int(found)
    if isinstance(value, str) and is_number(value) and value not in column.members:
        return int(value)  # decoders give numbers beyond 63 bits as text
    names = _names(value, many=column.type == "SET")
    if names is None or not column.members:
        return None
    if column.type == "ENUM":
        (name,) = names
        return column.members.index(name) + 1 if name in column.members else 0 if name == "" else None
    if not names <= set(column.members):
        return None
    return sum(1 << place for place, name in enumerate(column.members) if name in names)
