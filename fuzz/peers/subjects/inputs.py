"""The log that the fuzzer's bytes stand for: sound, of a generated Case, or damaged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import Allowed
from conformance.harness.updates.generated_logs import generated_case
from conformance.logs.row_change_lines import read_log
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, MAGIC
from conformance.reference.binlog.rows import ROWS_TYPES
from fuzz.mutators.framing import reframed
from fuzz.peers.comparison.row_changes import case_of, case_with
from fuzz.sound.byte_draw import ByteDraw
from fuzz.sound.logs import log_of

if TYPE_CHECKING:
    from conformance.cases.decoder_case import DecoderCase
    from generators.draw import Draw

_KINDS: Final = 16
_GENERATED: Final = 12  # from here on: updates of a model, whose diffs fit their documents
_DAMAGED: Final = 14
_CHECKSUM: Final = 1
_SEEDS: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Input:
    """A log with what must come of it.

    ``edited``: a row event has other bytes, so that no value in it can be held against anybody. Where the reference
    finds no error (``Allowed.CHANGES``) any answer will do; else there must be one.
    ``parts``: the bytes that stand for each transaction of the log alone, where there are several.
    """

    case: DecoderCase
    edited: bool = False
    parts: tuple[bytes, ...] = ()


def input_of(data: bytes, *, damages: bool, most: int) -> Input:
    """The input that these bytes stand for. ``most``: transactions of a sound log; ``damages``: whether it may be
    damaged.
    """
    draw = ByteDraw(data)
    kind = draw.below(_KINDS)
    if _GENERATED <= kind < _DAMAGED:
        case = generated_case(f"fuzz-{draw.below(_SEEDS)}", 0)
        if case is not None:
            return Input(replace(case, id="fuzz/log", requirements=()))
    if kind >= _DAMAGED and damages:
        return _damaged(draw, log_of(draw, lambda number: number < 1))
    places: list[int] = []

    def more(number: int) -> bool:
        places.append(draw.place)
        return number < 1 or (number < most and not draw.spent)

    case = case_of(log_of(draw, more))
    parts = tuple(data[: places[0]] + data[begin:end] for begin, end in pairwise(places))
    return Input(case, parts=parts if len(parts) > 1 else ())


def _damaged(draw: Draw, log: bytes) -> Input:
    """A log that ends too early, or with other bytes in its row events behind right checksums."""
    edited = not draw.below(2)
    log = _edited(draw, log) if edited else log[: draw.integer(len(MAGIC), len(log) - 1)]
    reading = read_log(log, "log.binlog")
    case = case_with(log, reading.lines, Allowed.CHANGES if reading.error is None else Allowed.ERROR)
    return Input(case, edited=edited)


def _edited(draw: Draw, log: bytes) -> bytes:
    """The log with one to three other bytes in the body of one of its row events."""
    begin, end, footer = draw.choice(_row_events(log) or [(len(MAGIC), len(log), False)])
    event = bytearray(log[begin : end - FOOTER_SIZE * footer])
    for _ in range(1 + draw.below(3)):
        event[HEADER_SIZE + draw.below(len(event) - HEADER_SIZE)] = draw.below(256)
    return log[:begin] + reframed(bytes(event), footer=footer) + log[end:]


def _row_events(log: bytes) -> list[tuple[int, int, bool]]:
    """Begin, end and checksum of the row events of a sound log; those inside a payload are no events of the file."""
    first = int.from_bytes(log[len(MAGIC) + 9 : len(MAGIC) + 13], "little")
    footer = log[len(MAGIC) + first - FOOTER_SIZE - 1] == _CHECKSUM
    found, at = [], len(MAGIC)
    while at < len(log):
        end = at + int.from_bytes(log[at + 9 : at + 13], "little")
        if log[at + 4] in ROWS_TYPES:
            found.append((at, end, footer))
        at = end
    return found
