"""The checks of arguments that several strategies share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis.strategies import SearchStrategy

from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.view import open_document
from generators.documents import Size

if TYPE_CHECKING:
    from conformance.reference.jsonb.view import View


def stored_document(stored: bytes, name: str) -> View:
    """Open the document that a caller gave to the strategy ``name``.

    Raises TypeError for what is not bytes, and :class:`DecodeError` for bytes that begin no document.
    """
    if isinstance(stored, SearchStrategy):
        raise TypeError(f"{name} takes one document, not a strategy: draw it first, or write stored().flatmap({name})")
    if not isinstance(stored, bytes):
        raise TypeError(f"{name} takes the bytes of a document, as encode gives, not {type(stored).__name__}")
    document = open_document(stored)
    if not is_container(document):
        decode(stored)  # short, and nothing else reads it now
    return document


def is_container(document: View) -> bool:
    """Whether a document is an array or an object."""
    return document.is_array or document.is_object


def are_sizes(sizes: object) -> bool:
    """Whether a value is a sequence of one class of size or more."""
    return isinstance(sizes, tuple | list) and bool(sizes) and all(isinstance(size, Size) for size in sizes)


def is_count(value: object) -> bool:
    """Whether a value is a number of 0 or more."""
    return isinstance(value, int) and value >= 0
