"""The kind of inputs inside each other: documents, texts, bytes, paths and SQL, from a flat stack and a deep one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.judge.decoding import exact_json
from conformance.reference.jsonb.compare import compare
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.layout import decode_strict, storage_free
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.stored_text import document_text
from conformance.reference.jsonb.text import format_pretty, format_text
from conformance.reference.jsonb.values import UInt
from conformance.reference.partial.paths import parse_path
from tests.prediction.odd_answers import _made

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

from tests.systems.said import said


def deep(full: bool) -> Iterator[str]:
    """Documents, texts, bytes, paths and SQL inside each other, from a flat stack and from one with many frames."""
    levels = (1, 50, 99, 100, 101, 102, 200, 201, 1000, *((400, 5000, 50_000) if full else ()))
    for frames in (0, 300):
        for count in levels:
            for text in ("[" * count + "]" * count, '{"a":' * count + "1" + "}" * count, "[" * count):
                yield _below(frames, _of_text, text)
            yield _below(frames, _of_value, _nested_value(min(count, 200)))
            yield _below(frames, _of_bytes, _nested_bytes(min(count, 5000)))
            yield _below(frames, said, lambda text: str(parse_path(text)), "$" + "[0]" * count)
            for opening, closing in _INSIDE:
                yield _below(frames, said, _made, f"JSON_SET(j, '$.a', {opening * count}1{closing * count})")
            yield _below(frames, said, exact_json.parse, "[" * count + "]" * count)


_INSIDE: Final = (
    ("(", ")"), ("JSON_ARRAY(", ")"), ("- ", ""), ("1 + (", ")"), ("1 + ", ""), ("CAST(", " AS JSON)"),
    ("JSON_SET(j, '$.a', ", ")"), ("COALESCE(", ")"), ("CONCAT(", ")"), ("JSON_UNQUOTE(", ")"),
    ("JSON_EXTRACT(", ", '$.a')"), ("JSON_MERGE_PATCH(", ", '{}')"),
)  # fmt: skip


def _below(frames: int, function: Callable[..., str], *arguments: object) -> str:
    return _below(frames - 1, function, *arguments) if frames else function(*arguments)


def _of_text(text: str) -> str:
    return said(lambda each: encode(parse_text(each)).hex(), text)


def _of_value(value: Any) -> str:
    given = [said(function, value) for function in (encode, format_text, format_pretty)]
    return " ".join((*given, said(compare, value, value)))


def _of_bytes(data: bytes) -> str:
    readers: tuple[Callable[[bytes], object], ...] = (decode, decode_strict, document_text, storage_free)
    return " ".join(said(reader, data) for reader in readers)


def _nested_value(levels: int) -> Any:
    value: Any = UInt(1)
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def _nested_bytes(levels: int) -> bytes:
    """Small arrays of one element inside each other."""
    data = b"\x00\x00\x04\x00"
    for _ in range(levels - 1):
        data = b"\x01\x00" + (len(data) + 7).to_bytes(2, "little") + b"\x02\x07\x00" + data
    return b"\x02" + data
