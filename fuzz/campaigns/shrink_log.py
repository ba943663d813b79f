"""Shrinks a log that crashes a program: leaves out events, then bytes of their bodies, in correct frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.cases.shrinking.cuts import cuts, smallest, without
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
    for gone in cuts(len(pieces) - 1):
        yield b"".join([pieces[0], *without(pieces[1:], gone)])
    for place, event in enumerate(pieces):
        body = event[HEADER_SIZE:-FOOTER_SIZE]
        for gone in cuts(len(body)) if place else ():
            shorter = reframed(event[:HEADER_SIZE] + without(body, gone))
            yield b"".join([*pieces[:place], shorter, *pieces[place + 1 :]])
