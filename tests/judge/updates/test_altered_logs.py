"""The other judges that read bytes of a server: an altered log is a finding, or says what it is, and breaks nothing."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING

import pytest

from conformance.cases.row_images import RowImage
from conformance.checks.table_metadata.table_map_judge import judge_table_map
from conformance.harness.pairs.chains import ChainRun
from conformance.harness.pairs.run import PairRun
from conformance.judge.replica import LogDiffersError, ReplicaModel, transactions
from conformance.judge.updates.forms import form_of
from conformance.reference.jsonb.encode import encode
from tests.judge.doctoring import TABLE, after, script
from tests.judge.perfect_server import observe
from tests.judge.updates.alterations import ALTERATIONS

if TYPE_CHECKING:
    from conformance.cases.script import Script

BASES = {"minimal": {}, "compressed": {"compression": True}, "full image": {"image": RowImage.FULL}}
_TIMES = 5


@pytest.mark.sampled(30)
@pytest.mark.planted("FR2", "TMG1")
@pytest.mark.parametrize("alteration", ALTERATIONS)
@pytest.mark.parametrize("base", BASES)
def test_an_altered_log_is_followed_or_refused(base: str, alteration: str) -> None:
    made = script(**BASES[base])  # type: ignore[arg-type]
    for number in range(_TIMES):
        events = ALTERATIONS[alteration](observe(made), Random(f"{base}/{alteration}/{number}")).events
        form_of(events)
        for event in events:
            judge_table_map(TABLE, "MINIMAL", event)
        for keyless in (False, True):
            model = ReplicaModel.of(made)
            model.keyless = keyless
            with suppress(LogDiffersError):
                for transaction in transactions(made, events):
                    model.apply(transaction)
                    model.apply(transaction, unless="refuse_unchanging_replace")


@pytest.mark.planted("FR2")
def test_a_document_in_another_order_is_no_log_to_follow() -> None:
    document = encode(["xxxx", ""])
    other = document[:5] + document[:4:-1]
    observation = observe(script(), **after("border full", other))
    with pytest.raises(LogDiffersError, match="a document in the log cannot be read"):
        transactions(script(), observation.events)


@pytest.mark.planted("FR2")
@pytest.mark.parametrize("kind", [PairRun, ChainRun])
def test_a_log_that_cannot_be_followed_is_a_finding_of_the_pair(
    kind: type[PairRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: PairRun, __: Script) -> None:
        raise LogDiffersError("an event cannot be read")

    monkeypatch.setattr(kind, "_chain_block" if kind is ChainRun else "_block", broken)
    run = kind.__new__(kind)
    (mismatch,) = run.found(script())
    assert (mismatch.kind, mismatch.deviation, run.ready) == ("log", None, False)
    assert mismatch.got == "an event cannot be read"
