"""Strategies for JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import DATE, DATETIME, DECIMAL, TIME, VARCHAR
from generators import documents as make
from generators import scalars as make_scalar
from generators.documents import Size
from generators.strategies.arguments import are_sizes, is_count
from generators.strategies.draw import drawn

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from conformance.reference.jsonb.values import JsonValue, Opaque

# In a search, one example in eight may be big: each costs as much as a hundred small ones.
SEARCHED: tuple[Size, ...] = (*[Size.SMALL] * 12, *[Size.TINY] * 6, *[Size.TUNED] * 2, Size.BORDER, Size.MEDIUM)


def documents(*, sizes: tuple[Size, ...] = SEARCHED) -> SearchStrategy[JsonValue]:
    """Documents of the given classes of size, each as often as it stands there. Raises ValueError for other sizes."""
    if not are_sizes(sizes):
        raise ValueError(f"sizes is a tuple of {', '.join(f'Size.{size.name}' for size in Size)}, not {sizes!r}")
    return drawn(lambda draw: make.document(draw, sizes=sizes))


def stored(*, sizes: tuple[Size, ...] = SEARCHED) -> SearchStrategy[bytes]:
    """The same documents as JSONB."""
    return documents(sizes=sizes).map(encode)


def scalars() -> SearchStrategy[JsonValue]:
    """Values without children, of every type that a literal or cast can give."""
    return drawn(make_scalar.scalar)


def opaques(*, field_types: tuple[int, ...] = ()) -> SearchStrategy[Opaque]:
    """Opaque values, well-formed for their type. No field types mean all that have a generator."""
    by_type = {
        VARCHAR: make_scalar.binary,
        DATE: make_scalar.date,
        TIME: make_scalar.time,
        DATETIME: make_scalar.datetime,
        DECIMAL: make_scalar.decimal,
    }
    wanted = field_types or tuple(by_type)
    if unknown := set(wanted) - set(by_type):
        raise ValueError(f"no values of field type {sorted(unknown)}")
    return drawn(lambda draw: by_type[draw.choice(wanted)](draw))


def keys(*, long: bool = False) -> SearchStrategy[str]:
    """Member names: plain, awkward, and with ``long`` those of 255 bytes and more."""
    return drawn(lambda draw: make_scalar.key(draw, long=long))


def texts(size: int) -> SearchStrategy[str]:
    """Strings of exactly ``size`` bytes in UTF-8. Raises ValueError for another size than 0 or more."""
    if not is_count(size):
        raise ValueError(f"the size of a string is a number of bytes, not {size!r}")
    return drawn(lambda draw: make_scalar.text(draw, size))
