"""Named edits of an encoding: damage that can be reported, replayed and shrunk.

Random bytes hardly ever pass a first length check. A valid encoding with one or two edits gets far, and shrinks to one
edit at one place, which names the rule that was broken.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from generators.draw import Draw


class EditKind(Enum):
    """The effect of an edit at its position. ``amount`` is a value or a number of bytes."""

    SET = "set"  # one byte becomes amount
    ADD = "add"  # amount is added to one byte
    FLIP = "flip"  # bit number amount
    SET16 = "set16"  # two bytes, little-endian
    SET32 = "set32"  # four bytes, little-endian
    TRUNCATE = "truncate"  # everything from here on is cut off
    DELETE = "delete"  # amount bytes are taken out
    INSERT = "insert"  # one byte is put in
    REPEAT = "repeat"  # the next amount bytes come twice
    ZERO = "zero"  # the next amount bytes become 00
    FILL = "fill"  # the next amount bytes become ff


class Edit(NamedTuple):
    kind: EditKind
    position: int
    amount: int = 0

    def __str__(self) -> str:
        return f"{self.kind.value}@{self.position}({self.amount})"


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The damaged encoding. Edits count their positions in what the edits before them left; a position behind the end
    is one at the end."""
    out = bytearray(data)
    for kind, wanted, amount in edits:
        at = min(wanted, len(out))
        match kind:
            case EditKind.SET | EditKind.ADD | EditKind.FLIP if at == len(out):
                pass
            case EditKind.SET:
                out[at] = amount & 0xFF
            case EditKind.ADD:
                out[at] = out[at] + amount & 0xFF
            case EditKind.FLIP:
                out[at] ^= 1 << amount % 8
            case EditKind.SET16:
                _overwrite(out, at, (amount & 0xFFFF).to_bytes(2, "little"))
            case EditKind.SET32:
                _overwrite(out, at, (amount & 0xFFFFFFFF).to_bytes(4, "little"))
            case EditKind.TRUNCATE:
                del out[at:]
            case EditKind.DELETE:
                del out[at : at + amount]
            case EditKind.INSERT:
                out.insert(at, amount & 0xFF)
            case EditKind.REPEAT:
                out[at:at] = out[at : at + amount]
            case EditKind.ZERO:
                _overwrite(out, at, bytes(amount))
            case EditKind.FILL:
                _overwrite(out, at, b"\xff" * amount)
    return bytes(out)


def _overwrite(out: bytearray, at: int, new: bytes) -> None:
    """Never makes the encoding longer."""
    new = new[: len(out) - at]
    out[at : at + len(new)] = new


def edit(draw: Draw, size: int) -> Edit:
    """One edit of an encoding of ``size`` bytes."""
    if size < 0:
        raise ValueError(f"an encoding of {size} bytes")
    kind = draw.choice(_KINDS)
    # Some edits make sense behind the last byte.
    places = size + 1 if kind in (EditKind.TRUNCATE, EditKind.INSERT) else max(size, 1)
    position = draw.below(places)
    match kind:
        case EditKind.SET | EditKind.INSERT:
            amount = draw.choice(_BYTES) if draw.below(2) == 0 else draw.below(256)
        case EditKind.ADD:
            amount = draw.choice((1, -1, 2, -2, 16, 128))
        case EditKind.FLIP:
            amount = draw.below(8)
        case EditKind.SET16 | EditKind.SET32:
            amount = draw.choice((*_NUMBERS, size, size - 1, size + 1))
        case EditKind.TRUNCATE:
            amount = 0
        case _:
            amount = 1 + draw.below(min(8, max(size, 1)))
    return Edit(kind, position, amount)


def edits(draw: Draw, size: int, *, most: int = 3) -> tuple[Edit, ...]:
    """One to ``most`` edits, usually one."""
    if most < 1:
        raise ValueError("most is at least 1")
    return tuple(edit(draw, size) for _ in range(draw.integer(1, most) if draw.below(3) == 2 else 1))


_KINDS: Final = mix(
    (EditKind.SET, 30), (EditKind.ADD, 14), (EditKind.FLIP, 14), (EditKind.TRUNCATE, 8), (EditKind.SET16, 10),
    (EditKind.SET32, 5), (EditKind.DELETE, 5), (EditKind.INSERT, 5), (EditKind.REPEAT, 4), (EditKind.ZERO, 3),
    (EditKind.FILL, 2),
)  # fmt: skip
_BYTES: Final = (0x00, 0x01, 0xFF, 0x7F, 0x80, 0x0C, 0x0F, 0x04, 0xFB, 0xFC, 0xFE)
_NUMBERS: Final = (0, 1, 0x7F, 0x80, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0xFFFFFFFF)
