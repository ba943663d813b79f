"""Failing verdicts on their way to the stream: a verdict that names no nearest deviation gets one, by its
requirement."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.judge.damage.nearest import nearest_listed
from conformance.stream import CaseVerdict
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.requirements.deviations import Deviation
    from conformance.stream import AnyRecord


def telling_nearest(sink: Callable[[AnyRecord], None], deviations: Iterable[Deviation]) -> Callable[[AnyRecord], None]:
    """A sink in front of another sink. Crashes stay as they are: the writer of a crash's verdict names the nearest
    one."""

    def tell(record: AnyRecord) -> None:
        if (
            isinstance(record, CaseVerdict)
            and record.fails
            and not record.nearest
            and record.verdict not in (Verdict.CRASH, Verdict.FIXED)
        ):
            record = replace(record, nearest=nearest_listed(deviations, record.requirement))
        sink(record)

    return tell
