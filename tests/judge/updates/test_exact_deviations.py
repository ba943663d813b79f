"""A deviation explains exactly itself: what a known server cannot give is a failure beside what it does give."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.by_hand.injection import (
    Demand,
    Injection,
    InjectionOutcome,
    RowState,
    full_image,
    partial_image,
    state_of,
)
from conformance.cases.script import build_script
from conformance.checks.triggers import depth
from conformance.checks.triggers import generate as triggers
from conformance.checks.triggers.run import _harmful as harmful
from conformance.harness.updates.blocks import judge_block
from conformance.judge.damage.diverged import judge_injection
from conformance.judge.updates.stored_readings import reading_of
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import DATE, DATETIME, TIME, TIMESTAMP, Opaque
from conformance.reference.partial.diffs import Operation, encode_diff
from conformance.reference.partial.paths import parse_path
from conformance.verdict import Verdict
from generators.draw import Stream
from tests.checks.triggers.test_depth import deep
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.judge.perfect_server import observe

if TYPE_CHECKING:
    from conformance.cases.observation import Observation, ReadBackRow
    from conformance.cases.script import Script
    from conformance.judge.updates.mismatch import Mismatch


def unexplained(script: Script, observation: Observation) -> list[Mismatch]:
    result = judge_block(script, observation, 0, 0.0)
    return [item for item in (*result.judgement.mismatches, *result.faults.found) if item.deviation is None]


# --- nests-without-limit -------------------------------------------------------------------------------------------


def deep_observation() -> tuple[Script, Observation]:
    script = next(made for made in (build_script(depth.case(Stream("test", n))) for n in range(60)) if deep(made))
    return script, observe(script)


def test_a_document_too_deep_ends_the_statement_that_reads_it_with_3157() -> None:
    script, observation = deep_observation()
    assert set(observation.read_back_errors) == {3157}
    assert unexplained(script, observation) == []


@pytest.mark.planted("IP3")
@pytest.mark.parametrize("errors", [(), (0,), (3140,), (1815,)])
def test_rows_lost_without_the_error_of_depth_are_not_explained(errors: tuple[int, ...]) -> None:
    script, observation = deep_observation()
    other = replace(observation, read_back_errors=errors * len(observation.read_backs))
    (lost, *_) = unexplained(script, other)
    assert (lost.kind, lost.field) == ("text", "rows read back")
    assert lost.rows


# --- storage-misses-triggers -----------------------------------------------------------------------------------------

# What 9.7.4 answered to size, free space and text of a document that a trigger damaged: the number of the generated
# Case, the number of an error, or size, free space and the beginning of the text's SHA-256.
OBSERVED: Final = (
    (12, 3142, ""),  # keys out of order, and more
    (38, 3142, ""),  # a value outside of its container
    (95, 3142, ""),  # values over each other, and one that is cut short
    (289, 3142, ""),  # values over each other
    (110, 3142, ""),  # more elements than there is room for
    (147, 3142, ""),  # text that is not UTF-8, and values over each other
    (199, 0, "20103 19951 58aaf7c7afd77843"),  # keys out of order
    (232, 3142, ""),  # no type
    (410, 3142, ""),  # cut short
    (478, 3142, ""),  # a container larger than its place
    (497, 0, "20211 20063 8b8992f758dc2889"),  # text that is not UTF-8
    (937, 3142, ""),  # a damaged DECIMAL
    (1020, 3142, ""),  # an inlined value not extended
    (24, 0, "60043 4 7e97e519bbe16e0f"),  # a sound document without the trigger's change
)


@cache
def off_page(number: int) -> Script:
    return build_script(triggers.off_page(Stream("learn", number)))


def stored(script: Script) -> bytes:
    (row,) = script.predictions[0].rows
    return row.change.stored_wrongly["j"]


@pytest.mark.parametrize(("number", "error", "cells"), OBSERVED)
def test_a_damaged_document_reads_as_it_was_observed(number: int, error: int, cells: str) -> None:
    reading = reading_of(stored(off_page(number)))
    assert reading.error == error
    if not error:
        size, free, text = reading.cells
        assert text is not None
        assert size is not None
        assert free is not None
        assert f"{size.decode()} {free.decode()} {hashlib.sha256(text).hexdigest()[:16]}" == cells


def answered(number: int, rows: tuple[ReadBackRow, ...], error: int) -> tuple[Script, Observation]:
    script = off_page(number)
    observation = observe(script)
    assert len(observation.read_backs) == 1
    return script, replace(observation, read_backs=(rows,), read_back_errors=(error,))


def known(number: int) -> tuple[tuple[ReadBackRow, ...], int]:
    reading = reading_of(stored(off_page(number)))
    return () if reading.error else ((*reading.cells, None, None, None),), reading.error


@pytest.mark.parametrize("number", [number for number, *_ in OBSERVED])
def test_the_known_server_is_explained(number: int) -> None:
    script, observation = answered(number, *known(number))
    assert not harmful(script)
    assert unexplained(script, observation) == []


_EXACT = "Only the listed answer is explained."
OTHER_ANSWERS = (
    Fault("another error", "D15", _EXACT, lambda _: ((), 1064)),
    Fault("no row and no error", "D15", _EXACT, lambda _: ((), 0)),
    Fault("a text", "D15", _EXACT, lambda size: (((size, b"0", b"{}", None, None, None),), 0)),
    Fault("the size alone", "D15", _EXACT, lambda size: (((size, None, None, None, None, None),), 0)),
)  # fmt: skip


@pytest.mark.parametrize("number", [number for number, error, _ in OBSERVED if error])
@each(OTHER_ANSWERS)
def test_another_answer_to_an_unreadable_document_is_not_explained(number: int, fault: Fault) -> None:
    assert unexplained(*answered(number, *fault.change(b"%d" % len(stored(off_page(number))))))


@pytest.mark.planted("D15")
@pytest.mark.parametrize("number", [number for number, error, _ in OBSERVED if not error])
@pytest.mark.parametrize("place", range(3))
def test_another_reading_of_a_readable_document_is_not_explained(number: int, place: int) -> None:
    ((*cells,),), _ = known(number)
    old = cells[place]
    assert old is not None
    cells[place] = old[:-1] + bytes((old[-1] ^ 1,))
    assert unexplained(*answered(number, (tuple(cells),), 0))


@pytest.mark.planted("D15")
@pytest.mark.parametrize("number", [number for number, error, _ in OBSERVED if not error])
def test_an_error_where_the_document_can_be_read_is_not_explained(number: int) -> None:
    assert unexplained(*answered(number, (), 3142))


def test_a_row_with_bytes_that_nobody_knows_is_left_out() -> None:
    """The trigger makes the document shorter than the ranges of the SET clause: the engine takes what lies behind it.
    Such a row ended the server that read it (case 60), and others read as old bytes, zeros, or neither."""
    for number in (8, 60, 1119, 1498):
        script = off_page(number)
        (row,) = script.predictions[0].rows
        assert len(stored(script)) == len(row.change.before["j"])  # type: ignore[arg-type]  # a document
        assert harmful(script)


# --- full-values-unread, invalid-text-in-diffs ------------------------------------------------------------------------

STORED: Final = encode({"a": 1})
BAD_TEXT: Final = encode({"k": "a\udcff"})  # not UTF-8


def applied(after: RowState) -> InjectionOutcome:
    return InjectionOutcome(before=state_of(STORED), after=after)


def inserted(value: bytes) -> bytes:
    return encode_diff(Operation.INSERT, parse_path("$.b"), value)


NO_TEXT: Final = RowState(valid=True, size=len(BAD_TEXT), free=0)


def test_the_known_readings_of_whole_values_are_explained() -> None:
    torn = Injection(name="", stored=STORED, image=full_image(b"\x02\x01\x00"), demand=Demand.ERROR)
    for number in (3142, 1815):
        assert judge_injection(torn, applied(RowState(error=number))).deviation == "copies_full_values"
    text = Injection(name="", stored=STORED, image=full_image(BAD_TEXT), demand=Demand.ERROR)
    assert judge_injection(text, applied(NO_TEXT)).deviation == "copies_full_values"


@pytest.mark.planted("FR5")
@pytest.mark.parametrize(
    ("value", "after"),
    [
        (b"\x02\x01\x00", RowState(error=1064)),
        (b"\x02\x01\x00", RowState(valid=True, size=3, free=0)),
        (b"\x02\x01\x00", RowState(valid=False, size=3)),
        (b"\x02\x01\x00", RowState(valid=True, text=b"[]", size=3, free=0)),
        (BAD_TEXT, RowState(error=3142)),
        (BAD_TEXT, replace(NO_TEXT, size=len(BAD_TEXT) + 1)),
        (BAD_TEXT, replace(NO_TEXT, valid=False)),
    ],
)
def test_another_reading_of_a_whole_value_is_not_explained(value: bytes, after: RowState) -> None:
    item = Injection(name="", stored=STORED, image=full_image(value), demand=Demand.ERROR)
    judged = judge_injection(item, applied(after))
    assert (judged.verdict, judged.deviation) == (Verdict.FAIL, None)


@pytest.mark.planted("FR5")
@pytest.mark.parametrize(
    ("diffs", "after"),
    [
        (inserted(encode("a\udcff")), RowState(error=3142)),
        (inserted(encode("a\udcff")), RowState(valid=True, size=1, free=0)),
        (b"\x07" + inserted(encode("a\udcff"))[1:], RowState(valid=True, size=16, free=0)),  # no such operation
        (inserted(encode("a\udcff")) + b"\x01", RowState(valid=True, size=16, free=0)),  # half a diff behind it
    ],
)
def test_another_end_of_a_diff_with_invalid_text_is_not_explained(diffs: bytes, after: RowState) -> None:
    item = Injection(name="", stored=STORED, image=partial_image(diffs), demand=Demand.ERROR)
    judged = judge_injection(item, applied(after))
    assert (judged.verdict, judged.deviation) == (Verdict.FAIL, None)


@pytest.mark.parametrize("kind", [DATE, TIME, DATETIME, TIMESTAMP])
def test_of_a_temporal_value_that_is_too_long_eight_bytes_are_read(kind: int) -> None:
    """Observed on 9.7.4, where a trigger had damaged the document outside its row."""
    payload = opaque.datetime(2024, 2, 29, 11, 14, 12, 5).payload
    sound, longer = (encode([1, Opaque(kind, payload + more)]) for more in (b"", b".\0"))
    assert reading_of(longer).cells[2] == reading_of(sound).cells[2] == format_text(decode(sound)).encode()
    assert reading_of(encode(Opaque(kind, payload[:7]))).error
