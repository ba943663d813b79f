"""The form of what subjects say: JSON objects of changes, marks, introductions and answers.

Each reader here raises :class:`Malformed` with a sentence that tells the adapter's author what is wrong.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from conformance.judge.decoding.exact_json import parse
from conformance.subjects.answers import Hello, Mark
from conformance.subjects.capabilities import CAPABILITIES, FILE, ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROTOCOL: Final = 1
INPUTS: Final = ("path", "base64")
OPERATIONS: Final = ("insert", "update", "delete")
_REQUIRED: Final = ("schema", "table", "operation", "before", "after")
_SHOWN: Final = 120  # characters of a line that a message quotes
_BYTES: Final = 16  # bytes that are no text


class Malformed(Exception):
    """Output that is not in the form of the protocol."""


def numbered_lines(output: bytes, *, whole: bool) -> Iterator[tuple[bytes, str]]:
    """Yield the lines of a command's output that are not blank, and the place of each in words.

    ``whole``: the output is not cut off, so that its last line may lack its end.
    """
    lines = output.split(b"\n")
    for number, line in enumerate(lines if whole else lines[:-1], 1):
        if line.strip():
            yield line, f"line {number} of standard output"


def read_object(line: bytes, where: str = "the line") -> dict[str, Any]:
    """The JSON object of one line. Numbers keep their digits, and no repeated member is lost."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(f"{where} is not UTF-8 (byte {error.start}): {quoted(line)}") from None
    try:
        found = parse(text)
    except ValueError as error:
        raise Malformed(f"{where} is not JSON ({error}): {quoted(line)}") from None
    if not isinstance(found, dict):
        raise Malformed(f"{where} is {_kind(found)}, not an object: {quoted(line)}")
    return found


def read_change(item: object, where: str = "the change") -> dict[str, Any]:
    """A row change with the keys that it must have."""
    if not isinstance(item, dict):
        raise Malformed(f"{where} is {_kind(item)}, not an object")
    if missing := [name for name in _REQUIRED if name not in item]:
        raise Malformed(
            f"{where} has no {', '.join(map(repr, missing))}; it has {', '.join(map(repr, item)) or 'nothing'}"
        )
    operation = item["operation"]
    if operation not in OPERATIONS:
        raise Malformed(f"{where}: operation is {quoted(operation)}, expected {', '.join(OPERATIONS)}")
    for name, absent in (("before", "insert"), ("after", "delete")):
        image = item[name]
        if operation == absent:
            if image is not None:
                raise Malformed(f"{where}: {name} of an {absent} is {_kind(image)}, expected null")
        elif not isinstance(image, dict):
            raise Malformed(f"{where}: {name} is {_kind(image)}, expected an object of columns")
    return item


def read_changes(items: object, where: str = "changes") -> tuple[dict[str, Any], ...]:
    """A list of row changes."""
    if not isinstance(items, list):
        raise Malformed(f"{where} is {_kind(items)}, expected a list")
    return tuple(read_change(item, f"{where}[{number}]") for number, item in enumerate(items))


def read_mark(item: object, where: str = "the mark") -> Mark:
    """A mark: the subject says itself that it left something out."""
    if not isinstance(item, dict) or not isinstance(item.get("message"), str):
        raise Malformed(f"{where} is no object with a text 'message': {quoted(item)}")
    position = item.get("position")
    if not (position is None or (isinstance(position, int) and not isinstance(position, bool))):
        raise Malformed(f"{where}: position is {_kind(position)}, expected a number or null")
    return Mark(message=item["message"], event=str(item.get("event") or ""), position=position)


def read_marks(items: object) -> tuple[Mark, ...]:
    """A list of marks."""
    if not isinstance(items, list):
        raise Malformed(f"marks is {_kind(items)}, expected a list")
    return tuple(read_mark(item, f"marks[{number}]") for number, item in enumerate(items))


def read_error(item: object) -> str:
    """The text of a refusal."""
    if not isinstance(item, dict) or not isinstance(item.get("message"), str):
        raise Malformed(f"error is no object with a text 'message': {quoted(item)}")
    code, message, position = item.get("code"), item["message"], item.get("position")
    text = f"{code}: {message}" if code else message
    return (text or "an error without words") + (f" (at {position})" if isinstance(position, int) else "")


def read_hello(item: dict[str, Any]) -> tuple[Hello, str]:
    """The introduction, and the form in which the subject wants logs."""
    name = item.get("name")
    if not isinstance(name, str) or not name:
        raise Malformed("hello: 'name' is missing, expected a text")
    wanted = item.get("input", "path")
    if wanted not in INPUTS:
        raise Malformed(f"hello: input is {quoted(wanted)}, expected {' or '.join(INPUTS)}")
    hello = Hello(
        name=name,
        version=str(item.get("version") or ""),
        roles=_words(item, "roles", ROLES, ("decode",)),
        capabilities=_words(item, "capabilities", CAPABILITIES, (FILE,)),
        note=str(item.get("note") or ""),
    )
    return hello, wanted


def _words(item: dict[str, Any], key: str, known: dict[str, str], default: tuple[str, ...]) -> tuple[str, ...]:
    found = item.get(key, default)
    if not isinstance(found, list | tuple) or not all(isinstance(word, str) for word in found):
        raise Malformed(f"hello: {key} is {_kind(found)}, expected a list of words")
    return check_words(key, found, known)


def check_words(key: str, words: Sequence[str], known: dict[str, str]) -> tuple[str, ...]:
    """The words, if all are known."""
    if unknown := sorted(set(words) - set(known)):
        raise Malformed(f"{key}: unknown {', '.join(map(quoted, unknown))}; known are {', '.join(known)}")
    return tuple(dict.fromkeys(words))


def quoted(value: object) -> str:
    """A value as a message quotes it: short, on one line."""
    if isinstance(value, bytes):
        try:
            text = value.decode("utf-8")
        except UnicodeDecodeError:
            return f"{value[:_BYTES]!r}… ({len(value):,} bytes)" if len(value) > _BYTES else repr(value)
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"


def _kind(value: object) -> str:
    words = {dict: "an object", list: "a list", str: "a text", bool: "a Boolean", type(None): "null"}
    return words.get(type(value), "a number")
