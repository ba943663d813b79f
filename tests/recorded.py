"""A session on the tests' server, and the records that checks write into it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from conformance.stream import Block

if TYPE_CHECKING:
    from conformance.harness.session import Lab
    from conformance.stream import AnyRecord

Kind = TypeVar("Kind")


@dataclass(slots=True)
class Recorded:
    """A session, and its records."""

    lab: Lab
    records: list[AnyRecord] = field(default_factory=list)

    def of(self, kind: type[Kind]) -> list[Kind]:
        """The records of one kind."""
        return [record for record in self.records if isinstance(record, kind)]

    def cases(self, check: str) -> int:
        """How many cases a check judged."""
        return sum(block.cases for block in self.of(Block) if block.check == check)

    @property
    def failing(self) -> set[str]:
        """The checks with a failure."""
        return {block.check for block in self.of(Block) if block.failures}
