"""The records of blocks on a pair."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from conformance.cases.files import case_id, dump_case
from conformance.harness.pairs.appliers import PairBlock
from conformance.harness.pairs.shrinking import Signature, shrink_on_pair
from conformance.harness.updates.run import server_limits
from conformance.requirements.versions import applies
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.harness.check import Check
    from conformance.harness.pairs.run import PairRun
    from conformance.harness.recorder import BlockRecord
    from conformance.judge.replica_binlog import ReplicaBinlog
    from conformance.judge.updates.mismatch import Mismatch

_OBSERVED: Final = frozenset(("bytes", "no-stop"))  # kinds that no worklog speaks about


@dataclass(slots=True)
class PairRecords:
    """The records of one check on pairs, and its totals. Its verdicts are about its first requirement."""

    check: Check
    blocks: int = 0
    updates: int = 0
    other_bytes: int = 0
    explained: Counter[str] = field(default_factory=Counter)
    unlike: Counter[str] = field(default_factory=Counter)

    @property
    def requirement(self) -> str:
        """The requirement that the check judges."""
        return self.check.requirements[0]

    def add(self, script: Script, block: PairBlock, note: str = "", *, run: PairRun | None = None) -> None:
        """Add a block. ``note`` names its pair; on ``run`` a failing Case is shrunk."""
        failing: dict[str, Mismatch] = {}  # the first of each signature
        with self.check.block(
            self.blocks,
            cases=max(block.updates, len(block.found)),
            requirement=self.requirement,
            version=self.check.lab.replica_version,
            seconds=block.seconds,
            bytes_compared=block.bytes,
            bytes_predicted=block.bytes - block.by_rule - block.on_trust,
            bytes_by_rule=block.by_rule,
            bytes_on_trust=block.on_trust,
        ) as record:
            for mismatch in block.found:
                deviation = self._entry(mismatch)
                if deviation is None:
                    failing.setdefault(self._signature(mismatch), mismatch)
                else:
                    self.explained[deviation] += 1
                kind = Verdict.DIFFERS if mismatch.kind in _OBSERVED else Verdict.FAIL
                record.count(kind, deviation=deviation, reason=mismatch.message or mismatch.field)
                self._verdict(record, script, mismatch, kind, deviation, note)
        self.blocks += 1
        self.updates += block.updates
        self.other_bytes += block.tables.other_bytes
        self.unlike.update(block.unlike)
        if run is not None:
            for signature, mismatch in failing.items():
                self._find(record, script, signature, mismatch, run)

    def _find(self, record: BlockRecord, script: Script, signature: str, mismatch: Mismatch, run: PairRun) -> None:
        """Make the first failure of its signature a finding: a smaller Case that shows the same on the same pair."""
        case, limits = self._case(script), server_limits(run.pair.source)
        record.find(
            signature,
            self.check.lab.findings.store(dump_case(case)),
            partial(shrink_on_pair, run, case, Signature.of(mismatch), limits),
            message=mismatch.message or mismatch.field,
        )

    def conclude(self) -> None:
        """Report what was done."""
        known = ", ".join(f"{count} stops by {name}" for name, count in sorted(self.explained.items())) or "no stop"
        met = ", ".join(f"{count:,} on {name} rows" for name, count in sorted(self.unlike.items()) if name != "updates")
        other = f", {self.other_bytes:,} documents stored in other bytes than on the source, as predicted"
        self.check.narrate(
            f"{self.check.id}: {self.updates:,} updates in {self.blocks} blocks, {known}"
            + (other if self.other_bytes else "")
            + (f"; of {self.unlike['updates']:,} logged rows {met}" if met else "")
        )

    def _entry(self, mismatch: Mismatch) -> str | None:
        """The listed deviation that explains a mismatch: the replica's version decides."""
        lab = self.check.lab
        known = (entry for entry in lab.deviations if entry.switch and entry.switch == mismatch.deviation)
        return next((entry.id for entry in known if applies(entry.versions, lab.replica_version)), None)

    def _signature(self, mismatch: Mismatch) -> str:
        return f"{self.check.id}:{mismatch.kind}:{mismatch.deviation or ''}"

    def _case(self, script: Script) -> UpdateCase:
        """The Case as it is stored beside the report."""
        case = script.case
        if case.topology is not None:
            case = replace(case, requirements=(self.requirement,), needs=(case.topology.needs,))
        return replace(case, id=case_id(case))

    def _verdict(
        self, record: BlockRecord, script: Script, mismatch: Mismatch, kind: Verdict, deviation: str | None, note: str
    ) -> None:
        findings = self.check.lab.findings
        if not findings.shows(self.check.id, self._signature(mismatch)):
            return
        sql = [item.sql for item in script.items if getattr(item, "step", None) == mismatch.step]
        record.show(
            kind,
            field=mismatch.field,
            offset=mismatch.offset,
            expected=mismatch.expected,
            got=mismatch.got,
            message=f"{mismatch.message} ({note})" if note else mismatch.message,
            signature=self._signature(mismatch),
            statements=tuple(sql) if mismatch.step is not None else (),
            deviation=deviation,
            **findings.store(dump_case(self._case(script))).fields,
        )


@dataclass(slots=True)
class ReplicaBinlogRecords:
    """The records of one replica's own log: the whole of it (FR6), and its before-images (A7)."""

    whole: PairRecords
    before_images: PairRecords

    @classmethod
    def of(cls, check: Check) -> ReplicaBinlogRecords:
        """The records for the log of the replica that ``check`` names."""
        return cls(PairRecords(check.named(check.id, "FR6")), PairRecords(check.part("before-images", "A7")))

    def add(self, script: Script, log: ReplicaBinlog, note: str, run: PairRun) -> None:
        """Add the differences of a block's log; nothing where the log was not compared."""
        if log.rows or log.found:
            self.whole.check.clock_was_set(log.clock_step, self.whole.blocks)
            block = PairBlock(
                updates=log.rows, bytes=log.bytes, by_rule=log.by_rule, on_trust=log.on_trust, stops=log.found
            )
            self.whole.add(script, block, note, run=run)
        if log.narrow or log.gained:
            self.before_images.add(script, PairBlock(updates=log.narrow, stops=log.gained), note, run=run)

    def conclude(self) -> None:
        """Report what was done."""
        self.before_images.conclude()
        self.whole.conclude()
