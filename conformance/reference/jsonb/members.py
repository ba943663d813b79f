"""The order of object members, for every module that walks a Python ``dict`` as MySQL would walk the stored object.

A ``dict`` from the decoder or the parser is in stored order already; one made by hand need not be.
"""

from __future__ import annotations

from typing import TypeVar

from conformance.reference.jsonb.values import key_order

_T = TypeVar("_T")


def stored_order(members: dict[str, _T]) -> dict[str, _T]:
    """The same object with its members by key length in bytes, then key bytes; itself when nothing has to move."""
    if len(members) < 2:
        return members
    keys = list(members)
    if "".join(keys).isascii():
        # Two stable sorts with C functions as keys: far cheaper than a Python call per key.
        ordered = sorted(keys)
        ordered.sort(key=len)
    else:
        ordered = sorted(keys, key=key_order)
    if ordered == keys:
        return members
    return {key: members[key] for key in ordered}
