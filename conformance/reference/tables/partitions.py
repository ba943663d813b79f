"""The partition of a row, by the definition of its table (MySQL reference manual, "Partitioning").

Only functions of one integer column, which suffice to predict the extra data of row events. NULL and the hash of KEY as
observed on 9.7.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import EncodeError
from conformance.reference.portable import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NULL: Final = -(1 << 63)  # the number that HASH uses for NULL
_MASK: Final = (1 << 32) - 1
_WIDTHS: Final = {"TINYINT": 1, "SMALLINT": 2, "MEDIUMINT": 3, "INT": 4, "BIGINT": 8}


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions:
    """PARTITION BY one integer column.

    ``method``: ``HASH``, ``LINEAR HASH``, ``KEY``, ``LINEAR KEY``, ``RANGE`` or ``LIST``. ``count``: number of the
    partitions of a hash. ``bounds``: VALUES LESS THAN of each partition, in order; ``None`` is MAXVALUE. ``values``:
    VALUES IN of each; ``None`` is NULL. ``sub``: the subpartitions of each RANGE or LIST partition, by a hash.
    """

    method: str
    column: str
    kind: str = "INT"  # type of the column
    count: int = 0
    bounds: tuple[int | None, ...] = ()
    values: tuple[tuple[int | None, ...], ...] = ()
    sub: Partitions | None = None

    def place(self, row: Mapping[str, object]) -> int:
        """The number of the row's partition; subpartitions are numbered through. Raises :class:`EncodeError` for a
        value without a partition.
        """
        value = row[self.column]
        if value is not None and not isinstance(value, int):
            raise EncodeError("bad-value", "partitions are foretold of integers only", got=shown(value))
        if self.method == "RANGE":
            found = self._in_range(value)
        elif self.method == "LIST":
            found = next((place for place, values in enumerate(self.values) if value in values), None)
        else:
            found = self._hashed(value)
        if found is None:
            raise EncodeError("bad-value", "no partition has this value", got=shown(value))
        return found if self.sub is None else found * self.sub.count + self.sub.place(row)

    def _in_range(self, value: int | None) -> int | None:
        if value is None:
            return 0
        return next((place for place, bound in enumerate(self.bounds) if bound is None or value < bound), None)

    def _hashed(self, value: int | None) -> int:
        if self.method.endswith("KEY"):
            number = _key_hash(value, _WIDTHS[self.kind])
        else:
            number = _NULL if value is None else value
        if not self.method.startswith("LINEAR"):
            return abs(number) % self.count
        mask = (1 << (self.count - 1).bit_length()) - 1
        place = number & mask
        return place if place < self.count else place & (mask >> 1)

    def clause(self, quote: Callable[[str], str]) -> str:
        """The clause behind the options of CREATE TABLE. ``quote`` quotes names."""
        by = f"PARTITION BY {self.method} ({quote(self.column)})"
        if self.count:
            return f"{by} PARTITIONS {self.count}"
        if self.sub is not None:
            by += f" SUBPARTITION BY {self.sub.method} ({quote(self.sub.column)}) SUBPARTITIONS {self.sub.count}"
        return f"{by} ({', '.join(f'PARTITION p{place} VALUES {text}' for place, text in enumerate(self._parts()))})"

    def _parts(self) -> list[str]:
        if self.method == "RANGE":
            return ["LESS THAN MAXVALUE" if bound is None else f"LESS THAN ({bound})" for bound in self.bounds]
        return [f"IN ({', '.join('NULL' if v is None else str(v) for v in values)})" for values in self.values]


# latin1_swedish_ci, the character set of numbers: by which weight it compares each byte.
_ROWS: Final = b"AAAA\\[\\CEEEEIIIIDNOOOO]\xd7\xd8UUUYY\xde\xdf", b"AAAA\\[\\CEEEEIIIIDNOOOO]\xf7\xd8UUUYY\xde\xff"
_WEIGHTS: Final = bytes(range(0xC0)).upper() + b"".join(_ROWS)


def _key_hash(value: int | None, width: int) -> int:
    """The hash that PARTITION BY KEY takes of a column's stored bytes.

    The server compares even a number's bytes as text: case, accents and trailing spaces do not count (observed on
    9.7.4).
    """
    if value is None:
        return 2
    one, two = 1, 4
    stored = (value & (1 << 8 * width) - 1).to_bytes(width, "little")
    for weight in stored.rstrip(b" ").translate(_WEIGHTS):
        one ^= (((one & 63) + two) * weight + (one << 8)) & _MASK
        two += 3
    return one
