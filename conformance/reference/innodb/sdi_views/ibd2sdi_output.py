"""The output of ibd2sdi for the objects of a tablespace, byte for byte (innodb-sdi C)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.reference.innodb.sdi import SdiObject

# Groups with a repetition inside may give back, though they never do so for long: Python 3.11.2 loses its place in
# those that may not (its issue 106052).
_STRING: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_OUTSIDE: Final = rb'[^"\[\]{}]*+'
_RUN: Final = re.compile(rb"([\[\]{}])|(" + _OUTSIDE + rb"(?:" + _STRING + _OUTSIDE + rb")*)", re.DOTALL)
_PLAIN: Final = re.compile(rb'(?:[^"\s]*+"[^",:\\]*+")*[^"\s]*+')  # no string has punctuation, and no blank is outside
_TOKEN: Final = re.compile(_STRING + rb'|[,:]|[^\s",:]++', re.DOTALL)
_INDENT: Final = b"    "


def pretty(text: bytes) -> bytes:
    """JSON text on lines of its own, indented by four spaces. Strings and numbers stay as they are.

    What stands between two brackets is replaced as a whole where its strings allow it.
    """
    out: list[bytes] = []
    line, before = b"\n", b""
    for bracket, run in _RUN.findall(text):
        if bracket in {b"[", b"{"}:
            if before:
                out.append(line)
            out.append(bracket)
            line += _INDENT
            before = bracket
        elif bracket:
            line = line[: -len(_INDENT)]
            out += [bracket] if before else [line, bracket]
            before = b""
        elif spread := _spread(run, line):
            out += [line, spread] if before else [spread]
            before = b""
    return b"".join(out)


def _spread(run: bytes, line: bytes) -> bytes:
    """Members or elements without containers of their own, each on a line."""
    if _PLAIN.fullmatch(run):
        return run.replace(b":", b": ").replace(b",", b"," + line)
    tokens = _TOKEN.findall(run)
    return b"".join([b": " if token == b":" else b"," + line if token == b"," else token for token in tokens])


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
