"""JSON documents: what is expected in the tagged form, against a document in any permitted form.

What is forgiven: the order of members; ``1.0`` for ``1``; a DECIMAL as number or text; an integer that JavaScript's
numbers do not have as text; a date or time with or without zeros in its fraction; an opaque value as base64 with or
without MySQL's prefix, as bytes or as UTF-8 text; a bit string as number. Each of these but the first loses the type,
which is a difference of the level ``type``.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from conformance.cases.decoder_case import Equality
from conformance.judge.decoding.binary import bytes_of_form, hex_bytes, utf8_bytes
from conformance.judge.decoding.difference import DifferenceKind, Found
from conformance.judge.decoding.exact_json import parse
from conformance.judge.decoding.moments import moment_of, temporal_cause
from conformance.judge.decoding.numbers import number_in, number_of, numeric_cause, same_double, same_number
from conformance.judge.decoding.texts import text_cause
from conformance.reference.portable import base64_bytes

_TYPE: Final = "$type"
_OBJECT: Final = "$object"
_WHOLE: Final = frozenset(("INTEGER", "UNSIGNED INTEGER"))
_NUMBERS: Final = _WHOLE | {"DOUBLE", "DECIMAL"}
_TEMPORAL: Final = frozenset(("DATE", "TIME", "DATETIME", "TIMESTAMP"))
_OPAQUE: Final = frozenset(("BIT", "BLOB", "OPAQUE"))
_EXACT_IN_JAVASCRIPT: Final = 1 << 53
_PREFIX: Final = "base64:type"
_ABSENT: Final = object()
MISSING_MEMBER: Final = "missing member"
INVENTED_MEMBER: Final = "invented member"


class Documents:
    """A comparison of one document. ``tagged``: the subject declares that it tags types, so ``$type`` is always a tag;
    else an object may have members of that name as they are."""

    def __init__(self, *, tagged: bool = False) -> None:
        self.tagged = tagged
        self.found: list[Found] = []

    def compare(self, expected: Any, got: Any, place: str) -> None:
        """Compare two values and append the differences."""
        if isinstance(expected, dict) and _TYPE not in expected:
            self._object(expected, got, place)
        elif isinstance(expected, list):
            self._array(expected, got, place)
        else:
            self._leaf(expected, got, place)

    def _differ(self, place: str, expected: Any, got: Any, what: str, cause: str = "") -> None:
        self.found.append(Found(DifferenceKind.ALTERED, place, expected, got, Equality.VALUE, f"JSON {what}", cause))

    def _array(self, expected: list[Any], got: Any, place: str) -> None:
        if isinstance(got, tuple):
            got = list(got)
        if not isinstance(got, list):
            self._differ(place, expected, got, "ARRAY", f"as {self._kind(got)}")
        elif len(got) != len(expected):
            self._differ(place, expected, got, "ARRAY", "other number of elements")
        else:
            for number, (one, other) in enumerate(zip(expected, got, strict=True)):
                self.compare(one, other, f"{place}[{number}]")

    def _object(self, expected: dict[str, Any], got: Any, place: str) -> None:
        wanted = expected if _OBJECT not in expected else dict(expected[_OBJECT])
        members = self._members(got, wanted)
        if members is None:
            self._differ(place, expected, got, "OBJECT", f"as {self._kind(got)}")
            return
        if isinstance(members, str):
            self._differ(place, expected, got, "OBJECT", members)
            return
        for key, value in wanted.items():
            inside = f"{place}.{key}"
            other = members.get(key, _ABSENT)
            if other is _ABSENT:
                self._differ(inside, value, None, "OBJECT", MISSING_MEMBER)
            else:
                self.compare(value, other, inside)
        for key in members:
            if key not in wanted:
                self._differ(f"{place}.{key}", None, members[key], "OBJECT", INVENTED_MEMBER)

    def _members(self, got: Any, wanted: dict[str, Any]) -> dict[str, Any] | str | None:
        """The members of the subject's object; a class of fault; ``None`` if it is no object."""
        if not isinstance(got, dict):
            return None
        if _TYPE in got and (self.tagged or _TYPE not in wanted):
            return None
        if len(got) == 1 and _OBJECT in got and (self.tagged or _OBJECT not in wanted or len(wanted) > 1):
            try:
                pairs = [(_key(key), value) for key, value in got[_OBJECT]]
            except (TypeError, ValueError):
                return "no members"
        else:
            pairs = [(_key(key), value) for key, value in got.items()]
        members = dict(pairs)
        return members if len(members) == len(pairs) else "repeated member"

    def _kind(self, got: Any) -> str:
        """The JSON type that a subject gave a value, in words."""
        if got is None:
            return "NULL"
        if isinstance(got, bool):
            return "BOOLEAN"
        if isinstance(got, int):
            return "INTEGER"
        if isinstance(got, (float, Decimal)):
            return "DOUBLE"
        if isinstance(got, dict):
            tag = got.get(_TYPE)
            return tag if isinstance(tag, str) else "OBJECT"
        if isinstance(got, (list, tuple)):
            return "ARRAY"
        return "STRING" if isinstance(got, str) else type(got).__name__

    # --- leaves ------------------------------------------------------------------------------------------------------

    def _leaf(self, expected: Any, got: Any, place: str) -> None:
        wanted, given = self._kind(expected), self._kind(got)
        if wanted in _NUMBERS:
            cause = self._number(wanted, expected, got, given)
        elif wanted in _TEMPORAL and "text" in expected:
            cause = _moment(wanted, expected["text"], got, given)
        elif wanted in _OPAQUE or wanted in _TEMPORAL:
            cause = _opaque(wanted, expected, got, given)
        elif wanted == "STRING":
            cause = _string(expected, got, given)
        else:  # the literals
            spelled = isinstance(got, dict) and given == wanted and got.get("text") == _LITERALS[expected]
            cause = None if got is expected or spelled else f"as {given}"
        if cause is not None:
            self._differ(place, expected, got, wanted, cause)
        elif not _same_type(wanted, expected, got, given):
            self.found.append(
                Found(DifferenceKind.TYPE, place, expected, got, Equality.TYPE, f"JSON {wanted}", f"as {given}")
            )

    @staticmethod
    def _number(wanted: str, expected: Any, got: Any, given: str) -> str | None:
        """The cause of a difference; ``None`` for the same number."""
        number = number_in(expected["text"]) if isinstance(expected, dict) else number_of(expected)
        if number is None:  # only damage brings a double without end
            return None if repr(got) == repr(expected) else f"as {given}"
        if isinstance(got, dict):
            other = number_in(_text_of(got)) if given in _NUMBERS else None
        elif isinstance(got, str):
            unsafe = wanted in _WHOLE and abs(int(number)) > _EXACT_IN_JAVASCRIPT
            other = number_in(got) if unsafe or wanted == "DECIMAL" else None
        else:
            other = number_of(got)
        if other is None:
            return f"as {given}"
        same = same_double if wanted == "DOUBLE" else same_number
        return None if same(number, other) else numeric_cause(number, other)


_LITERALS: Final = {None: "null", True: "true", False: "false"}


def differences_of_documents(expected: Any, got: Any, place: str, *, tagged: bool = False) -> list[Found]:
    """All differences of a document. ``expected`` is in the tagged form."""
    documents = Documents(tagged=tagged)
    documents.compare(expected, got, place)
    return documents.found


def document_in(form: Any) -> tuple[Any, str]:
    """The document in ``{"json": ...}`` or ``{"json_text": "..."}``, and what is wrong with the form (or nothing)."""
    if not isinstance(form, dict) or len(form) != 1:
        return None, "no document"
    if "json" in form:
        return form["json"], ""
    if "json_text" not in form:
        return None, "no document"
    text = form["json_text"]
    if not isinstance(text, (str, bytes)):
        return None, "json_text that is no text"
    try:
        return parse(text), ""
    except ValueError:
        return None, "text that is no JSON"


def _key(key: Any) -> str:
    return key.decode("utf-8", "surrogateescape") if isinstance(key, bytes) else str(key)


def _text_of(tagged: dict[str, Any]) -> Any:
    text = tagged.get("text")
    return str(text) if isinstance(text, (int, float, Decimal)) and not isinstance(text, bool) else text


def _same_type(wanted: str, expected: Any, got: Any, given: str) -> bool:
    if wanted != given:
        return wanted == "STRING" and isinstance(got, bytes)
    if wanted == "DECIMAL":
        return bool(expected["text"] == _text_of(got))  # the scale belongs to the type
    if isinstance(expected, dict) and isinstance(got, dict) and "field_type" in expected and "field_type" in got:
        return str(expected["field_type"]) == str(got["field_type"])
    return True


def _string(expected: str, got: Any, given: str) -> str | None:
    if isinstance(got, bytes):
        return None if got == utf8_bytes(expected) else "other bytes"
    text = _text_of(got) if given == "STRING" and isinstance(got, dict) else got
    if not isinstance(text, str):
        return f"as {given}"
    return None if text == expected else text_cause(expected, text)


def _moment(wanted: str, expected: str, got: Any, given: str) -> str | None:
    if isinstance(got, dict):
        got = _text_of(got) if given in _TEMPORAL else None
    elif isinstance(got, bytes):
        got = got.decode("ascii", "replace")
    other = moment_of(wanted, got)
    if other is None:
        return f"as {given}" if not isinstance(got, str) else temporal_cause(wanted, expected, got)
    return None if other == moment_of(wanted, expected) else temporal_cause(wanted, expected, got)


def _opaque(wanted: str, expected: dict[str, Any], got: Any, given: str) -> str | None:
    payload = bytes.fromhex(expected["hex"])
    if isinstance(got, dict):
        data = hex_bytes(got["hex"]) if _TYPE in got and isinstance(got.get("hex"), str) else bytes_of_form(got)
        return None if data == payload else "other bytes" if data is not None else f"as {given}"
    if isinstance(got, (bytes, bytearray)):
        return None if bytes(got) == payload else "other bytes"
    if isinstance(got, str):
        if got.startswith(_PREFIX):
            number, _, text = got.removeprefix(_PREFIX).partition(":")
            if number != str(expected.get("field_type", number)):
                return "other type number"
            return None if base64_bytes(text) == payload else "other bytes"
        return None if payload in (base64_bytes(got), utf8_bytes(got)) else "other bytes"
    if wanted == "BIT" and isinstance(got, int) and not isinstance(got, bool):
        return None if got == int.from_bytes(payload, "big") else "other number"
    return f"as {given}"
