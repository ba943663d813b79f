"""Faults of the parts of FR1 and F3, and of the definitions of sizes: row events that say something else.

Each is a log of a perfect server with one event changed; lengths and checksums are right again, and so is everything
but the sentence.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.row_images import RowImage
from conformance.cases.script import build_script
from conformance.cases.session import Session
from conformance.cases.update_case import Step, UpdateCase
from conformance.checks.costs.sizes import compare_on_and_off
from conformance.judge.updates.compare import judge
from conformance.reference.binlog.rows import RowsBody, included, rows_body
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.partial.diffs import Diff, Operation, decode_diffs, encode_diffs
from conformance.reference.partial.expression import Assignment, Increment
from conformance.reference.partial.paths import parse_path
from conformance.reference.sql.expressions import parse_expression
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.definitions import Column, Table
from tests.checks.costs.test_judges import capture
from tests.faults.fault import Fault
from tests.judge.doctoring import (
    ONE_DIFF,
    PARTIAL,
    D,
    after,
    at,
    body,
    diffs,
    options_at,
    patch,
    patch_options,
    row,
    script,
    sealed,
    swap,
)
from tests.judge.perfect_server import is_update, observe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.cases.script import Script
    from conformance.judge.updates.mismatch import Mismatch
    from tests.judge.perfect_server import Groups


def _event(
    name: str, requirement: str, sentence: str, observation: dict[str, Any], *, image: RowImage = RowImage.MINIMAL
) -> Fault:
    """A change of what the Case of the planted faults leaves."""

    def judged(wrong: bool) -> list[Mismatch]:
        made = script(image=image)
        return judge(made, observe(made, **(observation if wrong else {}))).mismatches

    return Fault(name, requirement, sentence, judged)


# --- one statement on one row ----------------------------------------------------------------------------------------

_TABLE: Final = Table(
    schema="lab",
    name="t",
    columns=(
        Column(name="id", type="INT", nullable=False),
        Column(name="j", type="JSON"),
        Column(name="n", type="INT"),
    ),
    primary_key=((0, 0),),
)


@cache
def _script(*updates: str, document: str | None = D, count: bool = False, rows: int = 1, limit: int = 0) -> Script:
    """One statement that sets ``j`` (and counts ``n``) on rows with a document."""
    assignments = [Assignment("j", parse_expression(text, "j")) for text in updates]
    if count:
        assignments.append(Assignment("n", Increment("n", 1)))
    stored = None if document is None else encode(parse_text(document))
    case = UpdateCase(
        id="part",
        table=_TABLE,
        selector="id",
        session=Session(row_image=RowImage.MINIMAL),
        rows=tuple((number, stored, 7) for number in range(1, rows + 1)),
        steps=(Step(tuple(assignments), tuple(range(rows))),),
    )
    return build_script(case, row_event_max_size=limit) if limit else build_script(case)


def _statement(
    name: str, requirement: str, sentence: str, made: Script, change: Callable[[list[RowsBody]], list[RowsBody]]
) -> Fault:
    """A change of the row events of the only statement."""

    def doctor(groups: Groups) -> None:
        group = groups[-1]
        places = [place for place, item in enumerate(group) if is_update(item)]
        group[places[0] : places[-1] + 1] = change([group[place] for place in places])

    def judged(wrong: bool) -> list[Mismatch]:
        observation = observe(made, doctor=doctor) if wrong else observe(made)
        return judge(made, observation).mismatches

    return Fault(name, requirement, sentence, judged)


def _value(change: Callable[[Any], Any]) -> Callable[[list[RowsBody]], list[RowsBody]]:
    """Another value of ``j`` in the after-image; options and bits follow from it."""

    def changed(bodies: list[RowsBody]) -> list[RowsBody]:
        (rows,) = bodies
        (old,) = rows.rows
        assert old.after is not None
        new = old._replace(after=(change(old.after[0]), *old.after[1:]), value_options=None, partial_columns=None)
        return [replace(rows, rows=(new,))]

    return changed


def _list(change: Callable[[list[Diff]], list[Diff]]) -> Callable[[list[RowsBody]], list[RowsBody]]:
    """Other diffs."""

    def changed(value: Any) -> PartialJson:
        assert isinstance(value, PartialJson)
        return PartialJson(encode_diffs(change(list(decode_diffs(value.diffs)))))

    return _value(changed)


def _with_path(text: str) -> Callable[[list[Diff]], list[Diff]]:
    return lambda old: [*old[:-1], old[-1]._replace(path=parse_path(text))]


def _joined(bodies: list[RowsBody]) -> list[RowsBody]:
    assert len(bodies) > 1
    return [replace(bodies[-1], rows=tuple(row for item in bodies for row in item.rows))]


def _whole_before(step: str) -> dict[str, Any]:
    """The document in the before-image too, where the key is enough."""

    def change(old: RowsBody) -> RowsBody:
        rows = [
            item._replace(
                value_options=None, partial_columns=None, before=(*(item.before or ()), encode(parse_text(D)))
            )
            for item in old.rows
        ]
        columns = list(included(old.after_columns or 0, old.column_count))
        return replace(rows_body(old.map(), old.type, rows, before=[0, 2], after=columns), table_id=old.table_id)

    return body(step, change)


def _null_as_list(bodies: list[RowsBody]) -> list[RowsBody]:
    """The column in the after-image, as an empty list of diffs."""
    (rows,) = bodies
    (old,) = rows.rows
    assert old.after is not None
    place = next((place for place, value in enumerate(old.after) if value is None), None)
    assert place is not None
    values = (*old.after[:place], PartialJson(b""), *old.after[place + 1 :])
    return [replace(rows, rows=(old._replace(after=values, value_options=None, partial_columns=None),))]


_BEYOND: Final = _script("JSON_SET(j, '$.c[9]', 1)")
_WRAPPED: Final = _script("JSON_SET(j, '$.a[1]', 2)")
_LAST: Final = _script("JSON_SET(j, '$.c[last]', 9)")
_NOTHING: Final = _script("JSON_REPLACE(JSON_SET(j, '$.a', 2), '$.zz', 1)")
_ROOT: Final = _script("JSON_SET(j, '$', 'short')")
_NULL: Final = _script("JSON_SET(j, '$.a', 1)", document=None, count=True)
_TWICE: Final = _script("JSON_SET(j, '$.a', 2, '$.a', 3)")
_ASSIGNED: Final = _script("JSON_SET(j, '$.a', 2)", "JSON_SET(j, '$.c[0]', 8)")
_MANY: Final = _script("JSON_SET(j, '$.a', 2)", rows=60, limit=400)

CONTENT: Final = [
    _event("one-row-for-all", "D8", "The choice is made for each row.",
           after("two diffs, two rows", encode(parse_text(D)), number=1)),
    _event("one-column-for-all", "D8", "The choice is made for each JSON column.",
           after("two columns", encode(parse_text('["a", "z"]')), place=1)),
    _event("no-empty-list", "D9",
           "A column whose bytes did not change is an empty list, not the diff that was collected.",
           row(
               "empty",
               lambda old: old._replace(
                   after=tuple(
                       PartialJson(ONE_DIFF[4:]) if value == PartialJson(b"") else value for value in old.after or ()
                   )
               ),
           )),
    _event("replace-for-insert", "DC1", "A new member is an INSERT.",
           diffs("two diffs, two rows", lambda old: [*old[:-1], old[-1]._replace(operation=Operation.REPLACE)])),
    _statement("index-of-the-length", "DC2", "A cell beyond the end keeps the index that was written.", _BEYOND,
               _list(_with_path("$.c[3]"))),
    _statement("cell-of-what-is-wrapped", "DC3", "A value that is wrapped is a REPLACE of its place.", _WRAPPED,
               _list(lambda _: [Diff(Operation.INSERT, parse_path("$.a[1]"), 2)])),
    _statement("last-resolved", "DC4", "last stays as text.", _LAST, _list(_with_path("$.c[2]"))),
    _statement("diff-of-nothing", "DC5", "A call that changes nothing adds no diff.", _NOTHING,
               _list(lambda old: [*old, Diff(Operation.REPLACE, parse_path("$.zz"), 1)])),
    _statement("root-as-diff", "DC6", "The root is no diff.", _ROOT,
               _value(lambda _: PartialJson(encode_diffs([Diff(Operation.REPLACE, parse_path("$"), "short")])))),
    _statement("null-as-list", "DC7", "A NULL document has no diffs: not the empty list either.", _NULL, _null_as_list),
    _statement("repeated-once", "DC8", "Repeated diffs are all there.", _TWICE, _list(lambda old: old[1:])),
    _statement("assignments-turned", "DC8", "Two assignments are joined in their order.", _ASSIGNED,
               _list(lambda old: old[::-1])),
    _event("before-image-of-full", "FR1.1", "With row image FULL the before-image is whole.",
           body(
               "one diff",
               lambda rows: replace(
                   rows,
                   rows=tuple(
                       old._replace(
                           before=tuple(
                               encode(5) if place == 2 else value for place, value in enumerate(old.before or ())
                           )
                       )
                       for old in rows.rows
                   ),
               ),
           ), image=RowImage.FULL),
    _event("document-before-the-change", "LOB34", "With MINIMAL and a key the before-image is the key.",
           _whole_before("one diff")),
    _statement("one-event-for-all", "LLD15", "The rows of a statement are split over events by their estimated size.",
               _MANY, _joined),
]  # fmt: skip


# --- the format ------------------------------------------------------------------------------------------------------


def _shared_image_first(event: bytes) -> bytes:
    """value_options and partial_columns in front of the before-image: its null byte and the key."""
    place = options_at(event)
    shared, before = event[place : place + 2], event[place - 5 : place]
    return sealed(event[: place - 5] + shared + before + event[place + 2 :])


def _shared_image_of_insert(event: bytes) -> bytes:
    """An INSERT with value_options behind its columns."""
    return sealed(event[:-4] + b"\0" + event[-4:])


FORMAT: Final = [
    _event("shared-image-first", "F2", "The shared image stands behind the before-image.",
           patch(PARTIAL, _shared_image_first)),
    _event("another-bit", "F2.1", "The lowest bit of value_options is PARTIAL_JSON.",
           patch(PARTIAL, lambda event: patch_options(event, 3))),
    _event("bit-of-a-column-that-is-none", "F2.2", "There is a bit for each JSON column, the first one lowest.",
           patch(PARTIAL, lambda event: at(options_at(event) + 1, 2)(event))),
    _event("three-bytes-of-length", "F3.1", "The length of all diffs has four bytes.",
           patch(PARTIAL, swap(ONE_DIFF, ONE_DIFF[:3] + ONE_DIFF[4:]))),
    _event("data-without-length", "F3.2", "data_length stands in front of data.",
           patch(PARTIAL, swap(ONE_DIFF, b"\x08" + ONE_DIFF[1:9] + ONE_DIFF[10:]))),
    _event("operation-3", "F3.3", "Operations are 0, 1 and 2.",
           patch(PARTIAL, swap(ONE_DIFF, ONE_DIFF[:4] + b"\x03" + ONE_DIFF[5:]))),
    _event("insert-with-options", "F4", "The events of inserts are as they were.",
           patch(EventType.WRITE_ROWS, _shared_image_of_insert)),
]  # fmt: skip

# --- sizes -----------------------------------------------------------------------------------------------------------


def _sizes_compared(wrong: dict[str, Any]) -> Callable[[bool], object]:
    def judged(err: bool) -> object:
        on = script()
        off = build_script(replace(on.case, session=replace(on.case.session, partial_json=False)))
        found = compare_on_and_off(on, observe(on, **(wrong if err else {})), off, observe(off)).problems
        return [problem for problem in found if problem.requirement in ("FR11", "FR12") and not problem.free]

    return judged


SIZES: Final = [
    Fault("more-than-its-diffs", "Def1", "A partial update is as large as its diffs: no document adds to it.",
          _sizes_compared(_whole_before("one diff"))),
    Fault("more-than-its-document", "Def2", "A full update is as large as its document: no second one adds to it.",
          _sizes_compared(_whole_before("border full"))),
]  # fmt: skip

# --- what is stored --------------------------------------------------------------------------------------------------


def _stored(
    name: str, requirement: str, sentence: str, steps: Sequence[str], document: str, size: bytes, free: bytes
) -> Fault:
    """Statements one after the other; another size and free space are read back behind the last."""
    case = UpdateCase(
        id="part",
        table=_TABLE,
        selector="id",
        session=Session(row_image=RowImage.MINIMAL),
        rows=((1, encode(parse_text(document)), 7),),
        steps=tuple(Step((Assignment("j", parse_expression(text, "j")),), (0,)) for text in steps),
    )
    made = build_script(case)

    def client(_: object, rows: list[list[Any]]) -> None:
        assert rows[-1][-1][:2] != (size, free)
        rows[-1][-1] = (size, free, *rows[-1][-1][2:])

    def judged(wrong: bool) -> list[Mismatch]:
        observation = observe(made, client=client) if wrong else observe(made)
        return judge(made, observation).mismatches

    return Fault(name, requirement, sentence, judged)


_TEN: Final = '{"a": "0123456789", "b": 1}'
STORED: Final = [
    _stored("room-for-a-new-element", "LOB2", "A new element is not put in in place.", ["JSON_SET(j, '$.c', 1)"], _TEN,
            b"%d" % len(encode(parse_text(_TEN))), b"0"),
    _stored("whole-again-at-nine", "LOB3", "The room of ten bytes stays: seven, then nine bytes fit.",
            ["JSON_SET(j, '$.a', '0123456')", "JSON_SET(j, '$.a', '012345678')"], _TEN,
            b"%d" % (len(encode(parse_text(_TEN))) - 1), b"0"),
    _stored("room-of-a-neighbour", "LOB10", "The free byte in front of a value is room for it.",
            ["JSON_SET(j, '$[0]', 'XY')", "JSON_SET(j, '$[1]', 'XYZW')"], '["abc", "def"]',
            b"%d" % (len(encode(parse_text('["XY", "XYZW"]'))) + 1), b"1"),
]  # fmt: skip


def _collected(wrong: bool) -> list[str]:
    """The verdict of the judge of allocations, if it is no pass. ``wrong``: diffs are collected with the log closed."""
    counts: dict[str, object] = {"no log": 4} if wrong else {}
    return [word for word in (capture(**counts),) if word != "pass"]


COLLECTED: Final = [
    Fault("collected-without-a-log", "LOB4", "No diffs are collected while the log is closed.", _collected),
]  # fmt: skip

FAULTS: Final = [*CONTENT, *FORMAT, *SIZES, *STORED, *COLLECTED]
