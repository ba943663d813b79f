"""What ibd2sdi prints for the objects of a tablespace, byte for byte (innodb-sdi C)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.reference.innodb.sdi import SdiObject

_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{},:]|[^\s"\[\]{},:]++', re.DOTALL)
_INDENT: Final = b"    "
_BEFORE: Final = {b"[": b"]", b"{": b"}"}


def pretty(text: bytes) -> bytes:
    """JSON text on lines of its own, indented by four spaces. Strings and numbers stay as they are."""
    tokens = _TOKEN.findall(text)
    out: list[bytes] = []
    line = b"\n"
    for number, token in enumerate(tokens):
        after = tokens[number + 1] if number + 1 < len(tokens) else b""
        if token in _BEFORE:
            out.append(token)
            line += _INDENT
            if after != _BEFORE[token]:
                out.append(line)
        elif token in {b"]", b"}"}:
            line = line[: -len(_INDENT)]
            if tokens[number - 1] not in _BEFORE:
                out.append(line)
            out.append(token)
        elif token == b",":
            out += [token, line]
        else:
            out.append(b": " if token == b":" else token)
    return b"".join(out)


def printed(
    objects: Iterable[SdiObject],
    *,
    only_id: int | None = None,
    only_type: int | None = None,
    skip_data: bool = False,
    indented: bool = True,
) -> Iterator[bytes]:
    """The pieces of the output; nothing for a tablespace without any object."""
    begun = False
    for item in objects:
        if not begun:
            yield b'["ibd2sdi"\n'
            begun = True
        if (only_id is not None and item.id != only_id) or (only_type is not None and item.type != only_type):
            continue
        head = b',\n{\n\t"type": %d,\n\t"id": %d' % (item.type, item.id)
        if not skip_data:
            head += b',\n\t"object":\n\t\t' + (pretty(item.text) if indented else item.text)
        yield head + b"\n}\n"
    if begun:
        yield b"]\n"
