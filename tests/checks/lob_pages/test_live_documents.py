"""The article's documents are on the server as they are drawn; any other bytes, pages or free space are a problem."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.lob_pages import check_documents, documents
from conformance.checks.lob_pages.article import STEPS
from conformance.checks.lob_pages.documents import RowKind, RowOutcome, judge, outcomes, plans, stored
from conformance.stream import LobUpdate
from generators.draw import Stream
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.checks.lob_pages.article import Step
    from conformance.servers.run.process import ProcessServer
    from tests.recorded import Recorded

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def rows(server: ProcessServer) -> list[RowOutcome]:
    """Every kind of row for each step."""
    with server.connect() as session, server.schema(session) as schema, server.connect(database=schema) as reader:
        reader.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        found = list(outcomes(server, session, plans(Stream("planted"), 2)))
        reader.execute("ROLLBACK")
    return found


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def another_document(outcome: RowOutcome) -> RowOutcome:
    return outcome._replace(after=outcome.after._replace(document=flipped(outcome.after.document, 3)))


def another_log(outcome: RowOutcome) -> RowOutcome:
    return outcome._replace(logged=flipped(outcome.logged, len(outcome.logged) - 1))


def more_free(outcome: RowOutcome) -> RowOutcome:
    return outcome._replace(free=(outcome.free[0], outcome.free[1] + 1))


def one_range_more(outcome: RowOutcome) -> RowOutcome:
    (offset, length), *others = outcome.plan.step.ranges
    ranges = ((offset, 1), (offset + 1, length - 1), *others)
    return outcome._replace(plan=replace(outcome.plan, step=replace(outcome.plan.step, ranges=ranges)))


def shorter_range(outcome: RowOutcome) -> RowOutcome:
    """The last byte that is written lies outside."""
    *others, (offset, length) = outcome.plan.step.ranges
    ranges = (*others, (offset, length - 1))
    return outcome._replace(plan=replace(outcome.plan, step=replace(outcome.plan.step, ranges=ranges)))


def same_version(outcome: RowOutcome) -> RowOutcome:
    """The engine counted other lengths: the version stays, or rises."""
    lob = outcome.after.lob
    assert lob is not None
    assert lob.reference is not None
    version = lob.reference.version ^ 3
    return outcome._replace(
        after=outcome.after._replace(lob=replace(lob, reference=lob.reference._replace(version=version)))
    )


def rewritten(outcome: RowOutcome) -> RowOutcome:
    lob = outcome.after.lob
    assert lob is not None
    return outcome._replace(after=outcome.after._replace(lob=replace(lob, first=lob.first._replace(number=9999))))


EVERY: Final = tuple(RowKind)
OFF_PAGE: Final = (RowKind.COPIES, RowKind.LIMIT, RowKind.BEYOND)
FAULTS: Final[tuple[tuple[Callable[[RowOutcome], RowOutcome], tuple[RowKind, ...]], ...]] = (
    (another_document, EVERY),
    (another_log, EVERY),
    (more_free, EVERY),
    (one_range_more, (RowKind.COPIES,)),
    (shorter_range, (RowKind.COPIES,)),
    (same_version, OFF_PAGE),
    (rewritten, OFF_PAGE),
)


def test_a_server_has_every_document_as_drawn(rows: list[RowOutcome]) -> None:
    assert [problem for outcome in rows for problem in (*judge(outcome), *stored(outcome))] == []
    assert {outcome.plan.kind for outcome in rows} == set(RowKind)


@pytest.mark.planted("LOB11")
def test_a_version_that_must_stay_is_a_problem_where_small_changes_overwrite_it(rows: list[RowOutcome]) -> None:
    """9.7 keeps the version that 8.0 overwrites."""
    copied = [outcome for outcome in rows if outcome.plan.kind is RowKind.COPIES]
    assert all(judge(outcome, any_version=True) for outcome in copied)
    others = [outcome for outcome in rows if outcome.plan.kind is not RowKind.COPIES]
    assert [problem for outcome in others for problem in judge(outcome, any_version=True)] == []


@pytest.mark.parametrize(("step", "plant", "kind"), [
    pytest.param(step, plant, kind, id=f"{step.requirement}-{plant.__name__}-{kind.name.lower()}",
                 marks=pytest.mark.planted(step.requirement, *(("LOB11",) if kind is not RowKind.INLINE else ())))
    for step in STEPS for plant, kinds in FAULTS for kind in kinds
])  # fmt: skip
def test_anything_else_is_a_problem(
    rows: list[RowOutcome], step: Step, plant: Callable[[RowOutcome], RowOutcome], kind: RowKind
) -> None:
    outcome = next(outcome for outcome in rows if outcome.plan.step is step and outcome.plan.kind is kind)
    assert judge(plant(outcome))


@pytest.mark.planted("LOB5")
@pytest.mark.parametrize("kind", EVERY)
def test_other_stored_bytes_are_a_problem(rows: list[RowOutcome], kind: RowKind) -> None:
    outcome = next(outcome for outcome in rows if outcome.plan.kind is kind)
    start = documents.place_of(outcome)
    assert start is not None
    before = outcome.before._replace(document=flipped(outcome.before.document, start + 9))
    assert stored(outcome._replace(before=before))


def test_a_server_passes(recorded: Recorded) -> None:
    run(check_documents.test_documents, recorded.lab)
    assert min(recorded.cases(f"lob_pages/documents/LOB{number}") for number in (5, 6, 7, 8, 9, 11)) >= 50
    assert recorded.failing == set()
    (sketch,) = recorded.of(LobUpdate)
    first, second, third = sketch.after
    assert [(page["version"], page["new"], page["live"]) for page in first["pages"]] == [
        (2, True, True),
        (1, False, False),
    ]
    assert [page["version"] for page in second["pages"]] == [2, 2, 1]
    # One byte of the entry's three differs, and five of the value's five (the article's third dump).
    assert [sum(length for _, length in page["changed"]) for page in second["pages"]] == [5, 1, 0]
    assert third["pages"] == sketch.before[2]["pages"]
