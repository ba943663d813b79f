"""The partitions that row events name: altered ones are noticed under F3, in inserts and in updates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.row_images import RowImage
from conformance.cases.script import Script, build_script
from conformance.cases.session import Session
from conformance.cases.update_case import Step, UpdateCase
from conformance.judge.updates.compare import judge
from conformance.reference.binlog.rows import STMT_END, PartitionInfo, RowsBody
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.expression import Assignment, Increment
from conformance.reference.sql.expressions import parse_expression
from conformance.reference.tables.definitions import Column, Table
from conformance.reference.tables.partitions import Partitions
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.judge.perfect_server import is_update, observe

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.judge.perfect_server import Groups

COLUMNS: Final = (
    Column(name="id", type="INT", nullable=False),
    Column(name="n", type="INT", nullable=False),
    Column(name="j", type="JSON"),
    Column(name="c", type="TEXT"),
)


def script(image: RowImage = RowImage.FULL) -> Script:
    """Three rows in two partitions; the update moves two of them to where the third was."""
    table = Table(
        schema="lab",
        name="t",
        columns=COLUMNS,
        primary_key=((0, 0), (1, 0)),
        partitions=Partitions(method="RANGE", column="n", bounds=(5, None)),
    )
    rows = tuple((number, n, encode({"a": 1, "b": "b" * 60}), b"x") for number, n in ((1, 3), (2, 4), (3, 8)))
    document = Assignment("j", parse_expression("JSON_SET(j, '$.a', 2)", "j"))
    step = Step((Assignment("n", Increment("n", 4)), document), (0, 1, 2))
    session = Session(row_image=image)
    return build_script(UpdateCase(id="", table=table, selector="id", session=session, rows=rows, steps=(step,)))


def infos(made: Script) -> list[Any]:
    return [event.extra for event in made.predictions[0].events]


def test_an_event_for_each_run_of_rows_and_one_end_of_the_statement() -> None:
    made = script()
    assert infos(made) == [(PartitionInfo(1, 0),), (PartitionInfo(1, 1),)]
    assert [event.flags & STMT_END for event in made.predictions[0].events] == [0, STMT_END]
    assert [len(event.rows) for event in made.predictions[0].events] == [2, 1]
    assert not judge(made, observe(made)).mismatches


def test_noblob_fills_the_bitmap_of_a_partitioned_table() -> None:
    """Observed on 9.7.4: 0xf7, where a table without partitions has 0x07."""
    event = script(RowImage.NOBLOB).predictions[0].events[0]
    assert (event.before_columns, event.after_columns) == (0xF7, 0x07)


def altered(change: Callable[[PartitionInfo], tuple[PartitionInfo, ...]], *, updates: bool) -> Callable[[Groups], None]:
    def doctor(groups: Groups) -> None:
        for group in groups:
            for at, body in enumerate(group):
                if isinstance(body, RowsBody) and is_update(body) is updates:
                    (info,) = body.extra
                    assert isinstance(info, PartitionInfo)
                    group[at] = replace(body, extra=change(info))
                    return

    return doctor


FAULTS: Final = (
    Fault("another-partition", "F3", "The event names the row's partition.",
          altered(lambda info: (info._replace(partition=info.partition + 1),), updates=True)),
    Fault("another-source", "F3", "It names the partition that the row leaves.",
          altered(lambda info: (info._replace(source=(info.source or 0) + 1),), updates=True)),
    Fault("source-and-target-swapped", "F3", "The row's new partition comes first.",
          altered(lambda info: (PartitionInfo(info.source or 0, info.partition),), updates=True)),
    Fault("no-partition", "F3", "An event of a partition says so.", altered(lambda _: (), updates=True)),
    Fault("another-partition-of-an-insert", "F3", "So does that of an insert.",
          altered(lambda info: (info._replace(partition=info.partition + 1),), updates=False)),
)  # fmt: skip


@each(FAULTS)
def test_an_altered_partition_is_noticed(fault: Fault) -> None:
    made = script()
    (mismatch,) = judge(made, observe(made, doctor=fault.change)).mismatches
    assert mismatch.field.endswith("_ROWS_EVENT.extra")
    assert mismatch.variation is None
