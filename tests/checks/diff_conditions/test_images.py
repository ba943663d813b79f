"""The check of images under NOBLOB passes on a real server, and each planted fault makes D14 red alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.diff_conditions import check_images
from conformance.checks.diff_conditions.images import Images, image_cases, judge_images
from conformance.stream import CaseVerdict
from tests.faults.fault import Fault
from tests.faults.runner import each, plant_in
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.recorded import Recorded


def in_each(change: Callable[[Images], Images]) -> Callable[[list[Images]], list[Images]]:
    return lambda found: list(map(change, found))


def with_column(images: tuple[int, ...], column: int) -> tuple[int, ...]:
    return tuple(sorted({*images, column}))


FAULTS: Final = [
    Fault("text-before", "D14", "TEXT columns are left out of the before-image.",
          in_each(lambda found: found._replace(before=with_column(found.before, 5)))),
    Fault("blob-after", "D14", "BLOB columns are left out of the after-image.",
          in_each(lambda found: found._replace(after=with_column(found.after, 7)))),
    Fault("no-json-before", "D14", "JSON columns stay in the before-image.",
          in_each(lambda found: found._replace(before=tuple(n for n in found.before if n not in (3, 4))))),
    Fault("no-json-after", "D14", "JSON columns stay in the after-image.",
          in_each(lambda found: found._replace(after=tuple(n for n in found.after if n != 4)))),
    Fault("geometry", "D14", "Nothing but BLOB and TEXT is left out.",
          in_each(lambda found: found._replace(after=tuple(n for n in found.after if n != 9)))),
    Fault("whole-documents", "D14", "With the option on a JSON column is logged as diffs.",
          in_each(lambda found: found._replace(partial=()))),
    Fault("not-logged", "D14", "The update is logged.", lambda _: []),
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
@each(FAULTS)
def test_a_log_with_other_columns_makes_d14_red_alone(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    plant_in(monkeypatch, check_images, "images_of", fault.change)
    recorded.fails(check_images.test_columns_of_noblob, r"NOBLOB|in the log")
    assert recorded.red == {"D14"}
