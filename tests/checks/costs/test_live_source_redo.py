"""The check of the source's redo passes on a server, and fails where partial updates write whole documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.costs import check_source_redo, source_redo
from conformance.checks.costs.source_redo import Grown
from conformance.harness.profiles import SIZES
from conformance.stream import Block
from conformance.verdict import Verdict
from tests.running import run

if TYPE_CHECKING:
    from tests.recorded import Recorded

CHECK = "costs/source-redo"
measured = source_redo.measure


@pytest.fixture(autouse=True)
def one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES[CHECK], "quick", 1)


def whole(draw: Any, number: int) -> str:
    """An update that the server cannot do in place."""
    return f"UPDATE sources SET j = {source_redo.document(draw, 200_000 + number)}"


def thousandfold(*words: Any) -> Grown:
    grown = measured(*words)
    return grown._replace(partial=1000 * grown.partial)


def verdicts(recorded: Recorded) -> set[str]:
    return {name for block in recorded.of(Block) if block.check == CHECK for name in block.verdicts}


@pytest.mark.live
def test_a_server_passes(recorded: Recorded) -> None:
    run(check_source_redo.test_partial_updates_on_the_source, recorded.lab)
    assert verdicts(recorded) == {"pass"}
    assert recorded.cases(CHECK) == 10


@pytest.mark.live
@pytest.mark.planted("LOB32")
@pytest.mark.parametrize(("name", "altered"), [("partial", whole), ("measure", thousandfold)])
def test_partial_updates_that_write_whole_documents_fail(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, name: str, altered: Any
) -> None:
    monkeypatch.setattr(source_redo, name, altered)
    recorded.fails(
        check_source_redo.test_partial_updates_on_the_source, "partial updates write whole documents to redo"
    )
    assert {block.requirements for block in recorded.of(Block) if block.failures} == {("LOB32",)}


@pytest.mark.parametrize(
    ("grown", "expected"),
    [
        (Grown(400_000, 199_999, 0, 444_000), Verdict.PASS),
        (Grown(400_000, 200_000, 0, 444_000), Verdict.FAIL),
        (Grown(400_000, 2_000, 0, 399_999), Verdict.INCONCLUSIVE),
        (Grown(400_000, 2_000, 400_000, 444_000), Verdict.INCONCLUSIVE),
    ],
)
def test_the_border_is_a_twentieth_of_the_document_for_each_update(grown: Grown, expected: Verdict) -> None:
    assert source_redo.judge(grown)[0] is expected
