"""Values that 9.7.4 takes, found in the bytes of an event where the reference has no model of what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.judge.damage.document_bytes import containers, key_at, scalars, values_of_diffs
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.opaque import decimal_size
from conformance.reference.jsonb.values import DECIMAL, VAR_STRING, Opaque

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MARKER: Final = 471_108_153  # a number that no document has by chance, in four bytes
_DIGITS: Final = 65  # of the longest DECIMAL


def reads_beyond_decimal(image: bytes) -> bool:
    """Whether a diff has a DECIMAL whose scale is above its precision by whole groups of nine digits, and as many bytes
    as the formula for its size makes of that. 9.7.4 takes it and reads digits from bytes behind it, so that what
    becomes of the event is another thing the next time: no crash, but no reader can say what it is either."""
    return any(_is_beyond(value) for data in values_of_diffs(image) for value in scalars(data))


def _is_beyond(value: object) -> bool:
    if not isinstance(value, Opaque) or value.field_type != DECIMAL or len(value.payload) < 2:
        return False
    precision, scale = value.payload[:2]
    excess = scale - precision
    return excess > 0 and excess % 9 == 0 and len(value.payload) - 2 == decimal_size(precision, scale)


def with_marked_decimal(image: bytes) -> tuple[bytes, bytes]:
    """The image with sound DECIMALs of the same length in the place of those, and the text of their number."""
    found = (value for data in values_of_diffs(image) for value in scalars(data) if _is_beyond(value))
    for payload in {value.payload for value in found if isinstance(value, Opaque)}:
        size = len(payload) - 2
        digits = next((digits for digits in range(9, _DIGITS + 1) if decimal_size(digits, 0) == size), 0)
        if digits:
            number = bytearray(_MARKER.to_bytes(size, "big"))
            number[0] ^= 0x80  # of a positive number
            image = image.replace(payload, bytes((digits, 0)) + number)
    return image, b"%d" % _MARKER


def shares_bytes(document: bytes) -> bool:
    """Whether the reference refuses a value because its parts share bytes beyond its size: 9.7.4 reads it."""
    try:
        decode(document)
    except CodecError as error:
        return error.code == "shared-children"
    return False


def has_invalid_text(documents: Iterable[bytes]) -> bool:
    """Whether one of them has a string or a name that is not UTF-8. The reference does not come to say so where it
    refuses the whole for strings that share bytes beyond the size of the document, nor of a member whose name comes
    again, in the place of which it has the later one: 9.7.4 prints both."""
    return any(not _is_utf8(text) for document in documents for text in _texts(document))


def _texts(document: bytes) -> Iterator[bytes]:
    for value in scalars(document):
        if isinstance(value, str):
            yield value.encode("utf-8", "surrogateescape")
        elif isinstance(value, Opaque) and value.field_type == VAR_STRING:
            yield value.payload
    for view in containers(document):
        if view.is_object:
            yield from filter(None, (key_at(view, index) for index in range(view.count)))


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
