"""The form of what readers of data files say: rows, and the dictionary information as ibd2sdi prints it.

Both become row changes, as those of a decoder: each row, and each entry of the dictionary information, is an insert. So
one judge takes all answers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import ROWS, SDI
from conformance.judge.decoding.exact_json import parse
from conformance.subjects.protocol import Malformed, numbered_lines, quoted, read_object

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Change = dict[str, Any]

SCHEMA: Final = "sdi"  # of the inserts that stand for entries of the dictionary information
_CURRENT: Final = "current"
_BLANK: Final = " \t\r\n"


def read_row(item: object, where: str) -> Change | None:
    """The insert that stands for a row; ``None`` for a record that the subject itself calls no current row."""
    if not isinstance(item, dict):
        raise Malformed(f"{where} is no object with schema, table and values: {quoted(item)}")
    for key in ("schema", "table"):
        if not isinstance(item.get(key), str):
            raise Malformed(f"{where}: {key!r} is {quoted(item.get(key))}, expected a text")
    if not isinstance(item.get("values"), dict):
        raise Malformed(f"{where}: 'values' is {quoted(item.get('values'))}, expected an object of columns")
    if item.get("state", _CURRENT) != _CURRENT:
        return None
    return _insert(item["schema"], item["table"], item["values"])


def read_entry(item: object, where: str) -> Change | None:
    """The insert that stands for an entry of the dictionary information; ``None`` for a text such as ``"ibd2sdi"``.

    The object's id is compared as the number of a row is: if it is there.
    """
    if isinstance(item, str):
        return None
    if not isinstance(item, dict) or not {"type", "object"} <= set(item) or not isinstance(item["object"], dict):
        raise Malformed(f"{where} is no object with type and object: {quoted(item)}")
    described = item["object"].get("dd_object")
    name = described.get("name") if isinstance(described, dict) else None
    entry = _insert(SCHEMA, f"type {item['type']}", {"name": name, "object": {"json": item["object"]}})
    return {**entry, "row": item.get("id")}


def _insert(schema: str, table: str, values: Change) -> Change:
    return {"schema": schema, "table": table, "operation": "insert", "before": None, "after": values}


_READERS: Final[dict[str, Callable[[object, str], Change | None]]] = {ROWS: read_row, SDI: read_entry}


def read_items(role: str, items: object) -> tuple[Change, ...]:
    """The inserts of a list of rows or entries. Raises :class:`Malformed`."""
    if not isinstance(items, list):
        raise Malformed(f"{role} is {quoted(items)}, expected a list")
    read = _READERS[role]
    found = [read(item, f"{role}[{number}]") for number, item in enumerate(items)]
    return tuple(item for item in found if item is not None)


def read_output(role: str, output: bytes, *, whole: bool) -> tuple[tuple[Change, ...], str]:
    """The inserts of a one-shot command's output, up to what is wrong with it, and that in words.

    Rows are lines; the dictionary information is one JSON array. ``whole``: the output is not cut off.
    """
    return _of_lines(output, whole=whole) if role == ROWS else _of_array(output)


def _of_lines(output: bytes, *, whole: bool) -> tuple[tuple[Change, ...], str]:
    found: list[Change] = []
    for line, where in numbered_lines(output, whole=whole):
        try:
            row = read_row(read_object(line, where), where)
        except Malformed as problem:
            return tuple(found), str(problem)
        found += [] if row is None else [row]
    return tuple(found), ""


def _of_array(output: bytes) -> tuple[tuple[Change, ...], str]:
    """The entries of an array, which may lack its end: then those before the end are there."""
    found: list[Change] = []
    try:
        text = output.decode("utf-8")
        elements, wrong = _elements(text)
        for number, element in enumerate(elements):
            entry = read_entry(parse(element), f"element {number} of the array")
            found += [] if entry is None else [entry]
    except (Malformed, ValueError) as problem:
        return tuple(found), str(problem)
    return tuple(found), wrong


def _elements(text: str) -> tuple[Sequence[str], str]:
    """The texts of an array's elements, and what is wrong behind the last one. No text at all is an empty array."""
    found: list[str] = []
    text = text.strip(_BLANK)
    if not text:
        return found, ""
    if text[0] != "[":
        return found, f"standard output is no JSON array: {quoted(text)}"
    place, scan = 1, json.JSONDecoder().raw_decode
    while True:
        while place < len(text) and text[place] in f"{_BLANK},":
            place += 1
        if text[place : place + 1] == "]":
            rest = text[place + 1 :]
            return found, f"text behind the array: {quoted(rest)}" if rest else ""
        try:
            _, end = scan(text, place)
        except ValueError:
            return found, f"the JSON array breaks off behind {len(found)} elements: {quoted(text[place : place + 80])}"
        found.append(text[place:end])
        place = end
