"""A small format, so that coverage has something to lead the fuzzer: "TOY", a kind, a body."""

from __future__ import annotations


class Refused(Exception):
    """Not a toy."""


def read(data: bytes) -> tuple[int, bytes]:
    """Kind and body."""
    if data[:1] != b"T":
        raise Refused
    if data[1:2] != b"O":
        raise Refused
    if data[2:3] != b"Y":
        raise Refused
    if len(data) < 4:
        raise Refused
    kind = data[3]
    if kind == 66:
        return 66, data[4:]
    if kind == 69:
        return 69, data[4:]
    if kind == 72:
        return 72, data[4:]
    if kind == 77:
        return 77, data[4:]
    if kind == 83:
        return 83, data[4:]
    return kind, data[4:]
