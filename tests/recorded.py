"""A session on the tests' server, and the records that checks write into it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeVar

import pytest

from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.report.results import Summary
from conformance.stream import Block, CaseVerdict, Run
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.stream import AnyRecord
    from tests.faults.fault import Fault

Kind = TypeVar("Kind")


@dataclass(slots=True)
class Recorded:
    """A session, and its records."""

    lab: Lab
    records: list[AnyRecord] = field(default_factory=list)

    @classmethod
    def of_settings(cls, **settings: Any) -> Self:
        """A session without a server, or with one that it gets."""
        records: list[AnyRecord] = []
        return cls(Lab(Settings(**settings), records.append), records)

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

    @property
    def red(self) -> set[str]:
        """The requirements of blocks with a failure."""
        return {name for block in self.of(Block) if block.failures for name in block.requirements}

    @property
    def unexplained(self) -> list[CaseVerdict]:
        """The verdicts that no listed deviation explains."""
        return [verdict for verdict in self.of(CaseVerdict) if verdict.deviation is None]

    @property
    def exit_code(self) -> int:
        """The exit code of a run with these records."""
        begun = Run(kit="", seed="1", profile="quick", started="", command="", selected=1)
        return Summary([begun, *self.records]).conclude(seconds=1.0).exit_code

    def passes(self, item: Callable[..., None], **arguments: Any) -> bool:
        """Run a check; whether it passes."""
        try:
            run(item, self.lab, **arguments)
        except pytest.fail.Exception:
            return False
        return True

    def fails(self, item: Callable[..., None], words: str | None = None, **arguments: Any) -> None:
        """The check fails, and says these words."""
        with pytest.raises(pytest.fail.Exception, match=words):
            run(item, self.lab, **arguments)

    def catches(self, fault: Fault, item: Callable[..., None], **arguments: Any) -> None:
        """The check fails under the fault's requirement with its verdict alone, and says how to see that again."""
        assert not self.passes(item, **arguments)
        found = {(verdict.requirement, str(verdict.verdict)) for verdict in self.unexplained}
        assert found == {(fault.requirement, fault.verdict)}
        for verdict in self.unexplained:
            assert verdict.replay
            assert verdict.message
            assert verdict.statements or verdict.requirement == "P9"  # of a client, which is given a file
        assert self.exit_code == 1
