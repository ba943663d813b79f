"""The check of images under NOBLOB passes on a real server, and each planted fault makes D14 red alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.checks.diff_conditions import check_images
from conformance.checks.diff_conditions.images import Images, image_cases, images_of, judge_images
from conformance.stream import Block, CaseVerdict
from tests.checks.fault import Fault
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.recorded import Recorded


def each(change: Callable[[Images], Images]) -> Callable[[list[Images]], list[Images]]:
    return lambda found: list(map(change, found))


def with_column(images: tuple[int, ...], column: int) -> tuple[int, ...]:
    return tuple(sorted({*images, column}))


FAULTS: Final = [
    Fault(id="text-before", requirement="D14", sentence="TEXT columns are left out of the before-image.",
          change=each(lambda found: found._replace(before=with_column(found.before, 5)))),
    Fault(id="blob-after", requirement="D14", sentence="BLOB columns are left out of the after-image.",
          change=each(lambda found: found._replace(after=with_column(found.after, 7)))),
    Fault(id="no-json-before", requirement="D14", sentence="JSON columns stay in the before-image.",
          change=each(lambda found: found._replace(before=tuple(n for n in found.before if n not in (3, 4))))),
    Fault(id="no-json-after", requirement="D14", sentence="JSON columns stay in the after-image.",
          change=each(lambda found: found._replace(after=tuple(n for n in found.after if n != 4)))),
    Fault(id="geometry", requirement="D14", sentence="Nothing but BLOB and TEXT is left out.",
          change=each(lambda found: found._replace(after=tuple(n for n in found.after if n != 9)))),
    Fault(id="whole-documents", requirement="D14", sentence="With the option on a JSON column is logged as diffs.",
          change=each(lambda found: found._replace(partial=()))),
    Fault(id="not-logged", requirement="D14", sentence="The update is logged.", change=lambda _: []),
]  # fmt: skip


def test_what_is_due_follows_from_the_key_the_option_and_the_statement() -> None:
    cases = list(image_cases())
    assert len(cases) == 24
    assert cases[0].due == Images(before=(1, 2, 3, 4, 8, 9, 10), after=(1, 2, 3, 4, 8, 9, 10), partial=(3, 4))
    assert cases[2].due.after == (1, 2, 3, 4, 5, 8, 9, 10)
    assert cases[4].due.partial == ()
    assert cases[8].due.before == (1, 2, 3, 4, 6, 8, 9, 10)
    assert cases[-1].due == Images(before=tuple(range(1, 11)), after=(1, 2, 3, 4, 7, 8, 9, 10))


def test_the_images_that_are_due_are_no_problem_and_two_rows_are() -> None:
    case = next(image_cases())
    assert judge_images(case, [case.due]) == []
    assert [problem.field for problem in judge_images(case, [case.due, case.due])] == ["rows"]


@pytest.mark.live
def test_a_sound_server_passes(recorded: Recorded) -> None:
    run(check_images.test_columns_of_noblob, recorded.lab)
    assert recorded.of(CaseVerdict) == []
    assert recorded.cases("diff_conditions/images") == 24


@pytest.mark.live
@pytest.mark.planted("D14")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_log_with_other_columns_makes_d14_red_alone(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    def altered(events: Any) -> list[Images]:
        return fault.change(images_of(events))  # type: ignore[no-any-return]

    monkeypatch.setattr(check_images, "images_of", altered)
    with pytest.raises(pytest.fail.Exception, match=r"NOBLOB|in the log"):
        run(check_images.test_columns_of_noblob, recorded.lab)
    assert {item.requirements for item in recorded.of(Block) if item.failures} == {("D14",)}
