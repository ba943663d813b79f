"""Values that a server takes, found in the bytes of an event where the reference has no model of what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import partial_image
from conformance.judge.damage.document_bytes import (
    PARTIAL_HEAD,
    containers,
    has_bad_key_entry,
    key_at,
    scalars,
    values_of_diffs,
)
from conformance.reference.errors import CodecError, MysqlError, too_deep
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.opaque import decimal_size
from conformance.reference.jsonb.values import DECIMAL, MAX_DEPTH, VAR_STRING, Opaque
from conformance.reference.jsonb.view import open_document
from conformance.reference.partial.diffs import encode_diff, split_diffs
from conformance.reference.partial.paths import parse_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.reference.jsonb.values import JsonValue
    from conformance.reference.jsonb.view import View
    from conformance.reference.partial.diffs import RawDiff

_MARKER: Final = 471_108_153  # a number that no document has by chance, in four bytes
_DIGITS: Final = 65  # of the longest DECIMAL


def reads_beyond_decimal(image: bytes) -> bool:
    """Whether a diff has a DECIMAL whose bytes 9.7.4 reads beyond its end.

    Its scale is above its precision by whole groups of nine digits, and its length is what the size formula gives for
    them. 9.7.4 takes such a value and reads digits from bytes behind it. The result of the event then varies from run
    to run: no crash, but no reader can predict it.
    """
    return any(_is_beyond(value) for data in values_of_diffs(image) for value in scalars(data))


def _is_beyond(value: object) -> bool:
    if not isinstance(value, Opaque) or value.field_type != DECIMAL or len(value.payload) < 2:
        return False
    precision, scale = value.payload[:2]
    excess = scale - precision
    return excess > 0 and excess % 9 == 0 and len(value.payload) - 2 == decimal_size(precision, scale)


def with_marked_decimal(image: bytes) -> tuple[bytes, bytes]:
    """The image with sound DECIMALs of the same length in place of those, and the text of their number."""
    found = (value for data in values_of_diffs(image) for value in scalars(data) if _is_beyond(value))
    for payload in {value.payload for value in found if isinstance(value, Opaque)}:
        size = len(payload) - 2
        digits = next((digits for digits in range(9, _DIGITS + 1) if decimal_size(digits, 0) == size), 0)
        if digits:
            number = bytearray(_MARKER.to_bytes(size, "big"))
            number[0] ^= 0x80  # of a positive number
            image = image.replace(payload, bytes((digits, 0)) + number)
    return image, b"%d" % _MARKER


def with_empty_keys(image: bytes) -> bytes | None:
    """The image with "" for each key of a diff's value whose entry points elsewhere; ``None`` without such a key.

    8.0.45 may read such a key so: where it finds none it hands on no address, and what becomes of that is chance.
    """
    if not any(map(has_bad_key_entry, values_of_diffs(image))):
        return None
    try:
        return partial_image(b"".join(map(_without_lost_keys, split_diffs(image[PARTIAL_HEAD:]))))
    except (CodecError, MysqlError, UnicodeDecodeError):
        return None


def _without_lost_keys(diff: RawDiff) -> bytes:
    data = None if diff.data is None else encode(_with_empty_keys(open_document(diff.data), MAX_DEPTH))
    return encode_diff(diff.operation, parse_path(diff.path.decode()), data)


def _with_empty_keys(view: View, depth: int) -> JsonValue:
    if not (view.is_object or view.is_array):
        return view.value()
    if not depth:
        raise too_deep()
    values = [_with_empty_keys(view.element(index), depth - 1) for index in range(view.count)]
    if view.is_array:
        return values
    keys = ((key_at(view, index) or b"").decode("utf-8", "surrogateescape") for index in range(view.count))
    return dict(zip(keys, values, strict=True))


def shares_bytes(document: bytes) -> bool:
    """Whether the reference refuses a value because its parts share bytes beyond its size: 9.7.4 reads it."""
    try:
        decode(document)
    except CodecError as error:
        return error.code == "shared-children"
    return False


def has_invalid_text(documents: Iterable[bytes]) -> bool:
    """Whether a value has a string or a key that is not UTF-8.

    The reference does not report it where it refuses the whole value first, for strings that share bytes beyond the
    size of the document. Of a repeated key it reads only the later member. 9.7.4 prints both.
    """
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
