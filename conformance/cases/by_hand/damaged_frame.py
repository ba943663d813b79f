"""A relay log whose file is damaged in the frame of one event: checksum, type code, length (requirements 0.3).

The applier cannot even parse such an event. The lab repairs the file in its place and starts the applier again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.header import FOOTER_SIZE, checksum_of

if TYPE_CHECKING:
    from conformance.cases.by_hand.applier_transaction import ApplierTransaction

READ_FAILURE: Final = 13121


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """New bytes at an offset of an event, or (``flip``) bits to flip there; ``summed``: the damaged event gets a valid
    checksum."""

    name: str
    offset: int
    data: bytes
    flip: bool = False
    summed: bool = False

    def apply(self, event: bytes) -> bytes:
        """The damaged event, as long as before."""
        out = bytearray(event)
        for number, byte in enumerate(self.data, self.offset):
            out[number] = out[number] ^ byte if self.flip else byte
        if self.summed:
            out[-FOOTER_SIZE:] = checksum_of(bytes(out[:-FOOTER_SIZE])).to_bytes(FOOTER_SIZE, "little")
        assert len(out) == len(event)
        return bytes(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedFrame:
    """One Case: a transaction that fits its rows, with a damaged row event."""

    transaction: ApplierTransaction
    damage: Damage

    @property
    def name(self) -> str:
        """The name of the damage."""
        return self.damage.name

    @property
    def id(self) -> str:
        """The id, by content."""
        content = f"{self.transaction.id} {self.damage.offset} {self.damage.data.hex()} {self.damage.summed}"
        return f"torn-{hashlib.blake2b(content.encode(), digest_size=6).hexdigest()}"
