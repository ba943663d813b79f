"""A document under change: first in place in its bytes, and in a tree from the first change that does not fit.

The evaluation of JSON_SET/REPLACE/REMOVE on a source and the applier on a replica both use this class. The switch from
bytes to tree is final for a row and column (partial-update 2, partial-update 6.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.view import View, open_document
from conformance.reference.partial.in_place import Range, merge_ranges, remove_in_place, replace_in_place
from conformance.reference.partial.paths import Cell, Leg, Member

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue


class _Missing:
    __slots__ = ()


MISSING: Final = _Missing()
Node: TypeAlias = "View | JsonValue"


class Document:
    """The state of one JSON column of one row while a statement or an event changes it."""

    __slots__ = ("_bytes", "_ranges", "_root", "_tree", "in_place")

    def __init__(self, stored: bytes) -> None:
        self._bytes = bytearray(stored)
        self._ranges: list[Range] = []
        self._root: View | None = None  # opened once: only removals change its count
        self._tree: JsonValue = None
        self.in_place = True

    @classmethod
    def of_tree(cls, value: JsonValue) -> Document:
        """A document that begins as a tree, which now belongs to it; it may be too deep to be stored."""
        made = cls(b"")
        made._tree, made.in_place = value, False
        return made

    def stored(self) -> bytes:
        """The bytes to store: the changed bytes, or the tree written from scratch (partial-update 2.3). Raises 3157 for
        a tree too deep.
        """
        return bytes(self._bytes) if self.in_place else encode(self._tree)

    def value(self) -> JsonValue:
        """The value; the document is a tree from now on."""
        self.to_tree()
        return self._tree

    def ranges(self) -> tuple[Range, ...] | None:
        """The byte ranges for the storage engine; ``None`` when the engine writes the document whole."""
        return merge_ranges(self._ranges) if self.in_place else None

    def to_tree(self) -> None:
        """Switch to the tree for the rest of this row and column."""
        if self.in_place:
            self._tree = decode(bytes(self._bytes))
            self._bytes.clear()
            self._ranges.clear()
            self.in_place = False

    def root(self) -> Node:
        if not self.in_place:
            return self._tree
        if self._root is None:
            self._root = open_document(self._bytes)
        return self._root

    def seek(self, legs: tuple[Leg, ...]) -> Node | _Missing:
        """The value at an exact path, or MISSING. No auto-wrap."""
        node: Node | _Missing = self.root()
        for leg in legs:
            node = child(node, leg)
            if node is MISSING:
                break
        return node

    def strip(self, legs: tuple[Leg, ...]) -> tuple[Leg, ...]:
        """Drop ``[0]`` and ``[last]`` legs that would select from a value that is no array (partial-update 2)."""
        for leg in legs:
            if type(leg) is Cell and leg.finds_scalar:
                break
        else:
            return legs
        kept: list[Leg] = []
        node: Node | _Missing = self.root()
        for leg in legs:
            if node is not MISSING and type(leg) is Cell and leg.finds_scalar and not is_array(node):
                continue
            kept.append(leg)
            if node is not MISSING:
                node = child(node, leg)
        return tuple(kept)

    def replace_bytes(self, parent: View, index: int, data: bytes) -> bool | None:
        """In place: write a document over an element. ``None`` if it does not fit, else whether a byte changed."""
        return replace_in_place(parent, index, data[0], data[1:], self._ranges)

    def remove_bytes(self, parent: View, index: int) -> None:
        """In place: remove an element."""
        remove_in_place(parent, index, self._ranges)
        self._root = None

    def replace_tree(self, legs: tuple[Leg, ...], value: JsonValue) -> None:
        """On the tree: put a value at the place of an exact path."""
        if not legs:
            self._tree = copy(value)
            return
        parent = self.seek(legs[:-1])
        leg = legs[-1]
        if isinstance(parent, dict) and isinstance(leg, Member):
            parent[leg.name] = copy(value)
        elif isinstance(parent, list) and isinstance(leg, Cell):
            parent[leg.position(len(parent))[0]] = copy(value)
        else:
            raise AssertionError("replace_tree needs an existing path")  # noqa: TRY004 - a fault of ours, not of a type


def element_index(parent: Node, leg: Leg) -> int:
    """Position of a leg's element among the parent's elements, or -1. For the bytes only."""
    assert isinstance(parent, View)
    if isinstance(leg, Member):
        return parent.find(leg.name.encode("utf-8", "surrogateescape")) if parent.is_object else -1
    if isinstance(leg, Cell) and parent.is_array:
        position, found = leg.position(parent.count)
        return position if found else -1
    return -1


def child(node: Node | _Missing, leg: Leg) -> Node | _Missing:
    """The value that one leg selects from a value, or MISSING."""
    if isinstance(node, View):
        index = element_index(node, leg)
        return node.element(index) if index >= 0 else MISSING
    if isinstance(node, dict):
        return node.get(leg.name, MISSING) if isinstance(leg, Member) else MISSING
    if isinstance(node, list) and isinstance(leg, Cell):
        position, found = leg.position(len(node))
        return node[position] if found else MISSING
    return MISSING


def is_array(node: Node | _Missing) -> bool:
    return node.is_array if isinstance(node, View) else isinstance(node, list)


def remove_from_tree(parent: object, leg: Leg) -> None:
    """Remove the element that a leg selects from a tree container."""
    if isinstance(parent, dict) and isinstance(leg, Member):
        del parent[leg.name]
    elif isinstance(parent, list) and isinstance(leg, Cell):
        del parent[leg.position(len(parent))[0]]


def copy(value: JsonValue) -> JsonValue:
    """A private copy: values come from literals and other columns, and the model changes trees in place."""
    if isinstance(value, list):
        return [copy(item) for item in value]
    if isinstance(value, dict):
        return {key: copy(item) for key, item in value.items()}
    return value
