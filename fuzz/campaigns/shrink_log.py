"""Shrinks a log that crashes a program: leaves out events, then bytes of their bodies, in correct frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.cases.shrinking.update_cases import smallest
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE
from fuzz.mutators.framing import reframed, split_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def shrink_log(data: bytes, fails: Callable[[bytes], bool], *, seconds: float) -> None:
    """Try ever smaller files; the caller keeps the last one that failed."""

    def smaller(last: bytes) -> Iterator[bytes]:
        return (candidate for candidate in _candidates(split_file(last)) if len(candidate) < len(last))

    smallest(data, smaller, fails, seconds)


def _candidates(pieces: list[bytes]) -> Iterator[bytes]:
    """Smaller logs, the biggest cuts first. The first piece holds the bytes before all events."""
    length = (len(pieces) - 1) // 2
    while length:
        for first in range(len(pieces) - length, 0, -length):
            yield b"".join(pieces[:first] + pieces[first + length :])
        length //= 2
    for place, event in enumerate(pieces):
        body = event[HEADER_SIZE:-FOOTER_SIZE]
        if place and body:
            for cut in _cuts(body):
                yield b"".join([*pieces[:place], reframed(event[:HEADER_SIZE] + cut), *pieces[place + 1 :]])


def _cuts(body: bytes) -> Iterator[bytes]:
    length = (len(body) + 1) // 2
    while length:
        for first in range(len(body) - length, -1, -length):
            yield body[:first] + body[first + length :]
        length //= 2
