"""One JSON column under its SET clause: the diffs that must be collected, and the size of the new document."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scenarios.expected.layout import Layout, lay_out, lenenc, needed, value_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.jsonb.values import JsonValue

Pairs = tuple[tuple[str, "JsonValue"], ...]
"""Paths of a call, in canonical text, with their new values."""

_STEP: Final = re.compile(r'\.([A-Za-z]\w*)|\.("(?:[^"\\]|\\.)*")|\[(\d+)\]')
_LENGTH: Final = 4  # bytes of the length in front of diffs or document


@lru_cache(maxsize=4096)
def steps(path: str) -> tuple[str | int, ...]:
    """The names and indexes of a path. The matrices write paths of no other form."""
    out: list[str | int] = []
    at = 1
    while at < len(path):
        match = _STEP.match(path, at)
        assert match is not None, path
        out.append(match[1] or (json.loads(match[2]) if match[2] else int(match[3])))
        at = match.end()
    return tuple(out)


class ColumnOutcome(NamedTuple):
    """A column after the statement.

    ``size``: bytes of the new document, 0 for NULL. ``changed``: whether SQL sees another value. ``same_bytes``:
    whether the stored bytes are the old ones. ``diffs``: how many, ``None`` without a list; ``encoded``: their bytes;
    ``raw``: the bytes of paths and values in them.
    """

    size: int
    changed: bool = True
    same_bytes: bool = False
    diffs: int | None = None
    encoded: int = 0
    raw: int = 0

    @property
    def partial(self) -> bool:
        """Whether diffs and their length are smaller than the document (partial-update 5)."""
        return _LENGTH + self.encoded < self.size


class Document:
    """A document and its layout, changed in place as long as new values fit, then a tree."""

    def __init__(self, value: JsonValue) -> None:
        self.value: Any = _copied(value)
        self.layout = lay_out(value)
        self.in_place = True
        self.compact = True  # written from scratch, without holes
        self.changed = False  # whether SQL sees another value than at first

    @property
    def size(self) -> int:
        """Bytes of the stored document."""
        return 1 + (self.layout if self.in_place else lay_out(self.value)).size

    def place(self, path: str) -> tuple[Any, str | int]:
        """The container that a path leads to, and the last step."""
        *before, last = steps(path)
        parent = self.value
        for step in before:
            parent = parent[step]
        return parent, last

    def holds(self, path: str) -> bool:
        """Whether there is a value at a path."""
        parent, last = self.place(path)
        return last < len(parent) if isinstance(last, int) else last in parent

    def replace(self, path: str, value: JsonValue) -> bool:
        """Replace the value at a path; whether a byte changed, or the document is a tree (partial-update 2.1)."""
        parent, last = self.place(path)
        old = parent[last]
        same = type(old) is type(value) and old == value
        parent[last] = value
        self.changed |= not same
        if same or not self.in_place:
            return not self.in_place
        layout: Layout = self.layout
        for step in steps(path)[:-1]:
            layout = layout.children[layout.index(step)]
        self.in_place = layout.put(layout.index(last), needed(value, large=layout.large))
        self.compact = False
        return True

    def insert(self, path: str, value: JsonValue) -> None:
        """Add a member, or a cell behind the last one: never in place."""
        parent, last = self.place(path)
        if isinstance(parent, list):
            parent.append(value)
        else:
            parent[last] = value
        self.in_place, self.changed = False, True


def _copied(value: JsonValue) -> JsonValue:
    """A copy whose containers may be changed."""
    if isinstance(value, dict):
        return {key: _copied(item) if isinstance(item, dict | list) else item for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) if isinstance(item, dict | list) else item for item in value]
    return value


def before(value: JsonValue, hole: str | None) -> Document:
    """The stored document before the statement. ``hole``: the path of the value that became an empty text."""
    document = Document(value)
    if hole is not None:
        document.replace(hole, "")
        if not document.in_place:
            document = Document(document.value)
        document.changed = False
    return document


def replaced_or_set(document: Document, pairs: Pairs) -> ColumnOutcome:
    """JSON_SET or JSON_REPLACE of values that are there; or JSON_SET of a new member, or of a cell behind the last."""
    size, compact = document.size, document.compact
    found: list[tuple[str, JsonValue]] = []
    for path, value in pairs:
        if not document.holds(path):
            document.insert(path, value)
            found.append((path, value))
        elif document.replace(path, value):
            found.append((path, value))
    encoded, raw = _diffs_size((path, value_size(value)) for path, value in found)
    after = size if document.in_place else document.size
    same = not document.changed and (document.in_place or compact)
    return ColumnOutcome(after, document.changed, same, len(found), encoded, raw)


def removed(document: Document, paths: Iterable[str]) -> ColumnOutcome:
    """JSON_REMOVE of values that are there: always in place (partial-update 2.2)."""
    listed = [(path, None) for path in paths]
    encoded, raw = _diffs_size(listed)
    return ColumnOutcome(document.size, diffs=len(listed), encoded=encoded, raw=raw)


def inserted(document: Document, pairs: Pairs) -> ColumnOutcome:
    """JSON_INSERT, for which no diffs are collected."""
    for path, value in pairs:
        document.insert(path, value)
    return ColumnOutcome(document.size)


def _diffs_size(diffs: Iterable[tuple[str, int | None]]) -> tuple[int, int]:
    """All bytes of diffs, and those of their paths and values alone (partial-update 4)."""
    encoded = raw = 0
    for path, size in diffs:
        length = len(path) if path.isascii() else len(path.encode())
        raw += length
        encoded += 1 + lenenc(length) + length
        if size is not None:
            raw += size
            encoded += lenenc(size) + size
    return encoded, raw


def diff_size(path: str, value: JsonValue) -> int:
    """Bytes of one REPLACE or INSERT."""
    return _diffs_size([(path, value_size(value))])[0]
