"""Sizes at which a server or a group refuses a transaction, and the transactions of a log that come near them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Measure(StrEnum):
    """The quantity that a limit bounds."""

    WRITTEN = "bytes in the log"
    PLAIN = "bytes without compression"
    PAYLOAD = "bytes inside a TRANSACTION_PAYLOAD"


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound of one measure, in bytes."""

    name: str
    size: int
    measure: Measure


DEFAULTS: Final = (
    Limit("group_replication_transaction_size_limit", 150_000_000, Measure.WRITTEN),
    Limit("max_binlog_cache_size", 1 << 32, Measure.PLAIN),  # the default has no bound; positions have 32 bits
    Limit("payload", 1 << 32, Measure.PAYLOAD),  # lengths of events have 32 bits
)
_NEAR: Final = 2  # from one half of the limit on


@dataclass(frozen=True, slots=True)
class Near:
    """A transaction that has at least half of what a limit allows."""

    limit: str
    allowed: int
    size: int
    file: str
    position: int
    gtid: str | None

    @property
    def is_beyond(self) -> bool:
        """Whether the limit does not allow it."""
        return self.size > self.allowed

    @property
    def sentence(self) -> str:
        """The fact in words."""
        word = "is beyond" if self.is_beyond else f"has {100 * self.size // self.allowed} % of"
        return (
            f"transaction {self.gtid or 'without a GTID'} at {self.file}:{self.position}: {self.size} bytes, "
            f"which {word} {self.limit} ({self.allowed})"
        )


def limits_of(values: Mapping[str, int]) -> tuple[Limit, ...]:
    """The limits, with other values for those that are named; 0 stands for no limit and leaves one out."""
    known = (replace(limit, size=values[limit.name]) if limit.name in values else limit for limit in DEFAULTS)
    return tuple(limit for limit in known if limit.size)


def near(
    limits: Iterable[Limit], sizes: Mapping[Measure, int], file: str, position: int, gtid: str | None
) -> list[Near]:
    """The limits that a transaction of these sizes comes near."""
    return [
        Near(limit.name, limit.size, sizes[limit.measure], file, position, gtid)
        for limit in limits
        if _NEAR * sizes[limit.measure] >= limit.size
    ]
