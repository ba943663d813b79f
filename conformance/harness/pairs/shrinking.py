"""Cases on pairs: judged alone once more, and shrunk as long as the same pair shows the same failure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance.cases.files import case_id, dump_case
from conformance.cases.shrinking.update_cases import shrink
from conformance.harness.pairs.chains import ChainRun
from conformance.harness.pairs.run import PairRun, with_counter
from conformance.reference.errors import CodecError
from conformance.servers.errors import ConnectionLost

if TYPE_CHECKING:
    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.harness.topology import Pairs
    from conformance.harness.updates.blocks import Limits
    from conformance.judge.updates.mismatch import Mismatch


class Signature(NamedTuple):
    """The properties that a smaller Case must share: the kind, the explanation, and for a stop its number."""

    kind: str
    deviation: str | None
    number: str

    @classmethod
    def of(cls, mismatch: Mismatch) -> Signature:
        number = mismatch.got.partition(" ")[0] if mismatch.kind == "stop" else ""
        return cls(mismatch.kind, mismatch.deviation, number)


def script_of(case: UpdateCase, limits: Limits) -> Script:
    """The script of a Case for a pair, with the column that the table comparison changes."""
    return limits.script(with_counter(case))


def judge_on_pair(pairs: Pairs, case: UpdateCase, limits: Limits) -> list[Mismatch]:
    """Run a Case with a topology on a pair or chain of its own session."""
    assert case.topology is not None
    gtid = case.topology.gtid
    if len(case.topology.replicas) > 1:
        with pairs.use_chain(gtid=gtid) as chain, ChainRun(chain, gtid=gtid) as longer:
            return longer.found(script_of(case, limits))
    with pairs.use(gtid=gtid) as pair, PairRun(pair, gtid=gtid) as run:
        return run.found(script_of(case, limits))


def shrink_on_pair(
    run: PairRun, case: UpdateCase, wanted: Signature, limits: Limits, seconds: float
) -> dict[str, Any] | None:
    """The data of a smaller Case with the same signature, if there is one. The pair is ready again afterwards."""

    def fails(candidate: UpdateCase) -> bool:
        try:
            script = script_of(candidate, limits)
        except (CodecError, TypeError, ValueError, LookupError):  # a cut that leaves no valid Case
            return False
        if not run.ready:
            run.restart()
        try:
            found = run.found(script)
        except ConnectionLost:
            raise
        except Exception:  # noqa: BLE001 - the same: what the source refuses, say; the stored Case stays as it is
            run.ready = False
            return False
        return any(Signature.of(mismatch) == wanted for mismatch in found) and not run.diverged

    small = shrink(case, fails, seconds=seconds)
    if not run.ready:
        run.restart()
    return None if small == case else dump_case(replace(small, id=case_id(small)))
