"""Planted faults of supervision, written down from requirements FR5 before the check on damaged members.

Sentences: "never crash" (FR5); "a server that dies is a verdict with its signal"; "what cannot be modelled is matched
by signature", so that another end than the listed one is not taken for it; "an error and row
unchanged" (7.1). Each fault changes what a server does that shows the listed deviations and nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import Injection, InjectionOutcome, RowState, predict, state_of
from conformance.judge.damage.crashes import damage_of
from conformance.reference.jsonb.encode import encode
from conformance.requirements.crashes import (
    MEMBER_IN_DIFF,
    MEMBER_IN_DOCUMENT,
    TWICE_IN_DIFF,
    VARIABLE_LENGTH,
    VECTOR_LENGTH,
)
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable


# As 9.7.4-2 of Debian for amd64 reported them.
BUILD: Final = "(build cc8a18826385)"
AT_MEMBER: Final = (
    f"signal 6 in read_json_diff < Json_diff_vector::read_binary < Field_json::unpack_diff < unpack_row {BUILD}"
)
AT_READ: Final = f"signal 11 in double_quote < Json_wrapper::to_string < Field_json::val_str < Item::send {BUILD}"
AT_TWICE: Final = (
    f"signal 11 in Json_array::insert_alias < Json_dom::parse < read_json_diff < Json_diff_vector::read_binary {BUILD}"
)
_KNOWN: Final = "a listed end is known by its signature alone"
_ELSEWHERE: Final = "Json_diff_vector::add_diff < Json_diff_vector::read_binary < Field_json::unpack_diff < unpack_row"


def perfect(injection: Injection) -> InjectionOutcome:
    """The outcome on a server that reads values before it stores them: every damage is an error, and nothing changes. A
    key that comes twice is no damage: its last value counts."""
    before = state_of(injection.stored)
    if damage_of(injection.image) == TWICE_IN_DIFF:
        return InjectionOutcome(before=before, after=predict(injection).state)
    return InjectionOutcome(error=injection.number or predict(injection).error or 3649, before=before, after=before)


def as_released(injection: Injection) -> InjectionOutcome:
    """The outcome on 9.7.4 (requirements FR5)."""
    before = state_of(injection.stored)
    damage = damage_of(injection.image)
    if damage == MEMBER_IN_DIFF:
        return InjectionOutcome(before=before, death=AT_MEMBER)
    if damage == MEMBER_IN_DOCUMENT:
        return InjectionOutcome(before=before, death=AT_READ, reading=True)
    if damage == TWICE_IN_DIFF:
        return InjectionOutcome(before=before, death=AT_TWICE)
    if injection.image[0] == 0:
        return InjectionOutcome(before=before, after=RowState(error=3142))
    return perfect(injection)


def _of(damage: str, **changes: object) -> Callable[[Injection, InjectionOutcome], InjectionOutcome | None]:
    def change(injection: Injection, outcome: InjectionOutcome) -> InjectionOutcome | None:
        return replace(outcome, **changes) if damage_of(injection.image) == damage else None  # type: ignore[arg-type]

    return change


def _sound_diff(**changes: object) -> Callable[[Injection, InjectionOutcome], InjectionOutcome | None]:
    def change(injection: Injection, outcome: InjectionOutcome) -> InjectionOutcome | None:
        if damage_of(injection.image) or injection.image[0] == 0:
            return None
        return replace(outcome, **changes)  # type: ignore[arg-type]

    return change


CRASH_FAULTS: Final = (
    Fault("crashes/other-signal", "FR5", _KNOWN, _of(MEMBER_IN_DIFF, death=AT_MEMBER.replace("signal 6", "signal 11")),
          "crash"),
    Fault("crashes/other-place", "FR5", _KNOWN, _of(MEMBER_IN_DIFF, death=f"signal 6 in {_ELSEWHERE} {BUILD}"),
          "crash"),
    Fault("crashes/place-of-another-crash", "FR5", _KNOWN, _of(MEMBER_IN_DIFF, death=AT_TWICE.replace("11", "6", 1)),
          "crash"),
    Fault("crashes/another-frame", "FR5", _KNOWN, _of(MEMBER_IN_DIFF, death=AT_MEMBER.replace("::un", "::re")),
          "crash"),
    Fault("crashes/fewer-frames", "FR5", _KNOWN, _of(MEMBER_IN_DIFF, death=AT_MEMBER.replace(" < unpack_row", "")),
          "crash"),
    Fault("crashes/no-stack", "FR5", _KNOWN, _of(MEMBER_IN_DIFF, death=f"signal 6: 581,506 {BUILD}"), "crash"),
    Fault("crashes/read-elsewhere", "FR5", _KNOWN, _of(MEMBER_IN_DOCUMENT, death=AT_READ.replace("Item", "Idea")),
          "crash"),
    Fault("crashes/dies-when-read", "FR5", _KNOWN, _of(MEMBER_IN_DIFF, reading=True), "crash"),
    Fault("crashes/dies-when-stored", "FR5", _KNOWN, _of(MEMBER_IN_DOCUMENT, reading=False), "crash"),
    Fault("crashes/dies-at-other-damage", "FR5", _KNOWN, _sound_diff(death=AT_MEMBER), "crash"),
    Fault("crashes/no-report", "FR5", _KNOWN, _of(MEMBER_IN_DIFF, death="no crash report"), "crash"),
    Fault("crashes/hangs", "FR5", _KNOWN, _of(MEMBER_IN_DIFF, death="", silent=True), "timeout"),
    Fault("crashes/takes-the-damage", "FR5", _KNOWN, _of(MEMBER_IN_DIFF, death="", after=state_of(encode({"": 1})))),
    Fault("crashes/changes-the-row", "FR5", _KNOWN, _sound_diff(after=state_of(encode({"changed": 1})))),
)  # fmt: skip

TWICE_FAULTS: Final = (  # "duplicate keys: last wins"; the end of a server at some of them is listed, and no other end
    Fault("crashes/twice-other-signal", "FR5", _KNOWN, _of(TWICE_IN_DIFF, death=AT_TWICE.replace("11", "6", 1)),
          "crash"),
    Fault("crashes/twice-other-place", "FR5", _KNOWN, _of(TWICE_IN_DIFF, death=f"signal 11 in {_ELSEWHERE} {BUILD}"),
          "crash"),
    Fault("crashes/twice-dies-when-read", "FR5", _KNOWN, _of(TWICE_IN_DIFF, reading=True), "crash"),
    Fault("crashes/twice-first-wins", "FR5", _KNOWN,
          _of(TWICE_IN_DIFF, death="", after=state_of(encode({"n": 1, "pad": "p" * 40, "new": {"k": []}}))), "differs"),
    Fault("crashes/twice-cannot-be-read", "FR5", _KNOWN, _of(TWICE_IN_DIFF, death="", after=RowState(error=3142))),
)  # fmt: skip


PRINTER_DIES_AT: Final = (MEMBER_IN_DIFF, MEMBER_IN_DOCUMENT, VARIABLE_LENGTH, VECTOR_LENGTH)
TEXT_END: Final = b"### '$.after'\nSET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n"


def prints_as_released(damage: str) -> tuple[int, bytes]:
    """9.7.4, as requirements FR5 has it: it ends at the damages that are listed, and names the others."""
    return (-11, b"") if damage in PRINTER_DIES_AT else (0, b"###   @2=Invalid JSON\n" + TEXT_END)


PRINT_FAULTS: Final = (
    Fault("printer/other-signal", "P9", _KNOWN, lambda damage, _: (-6, b"") if damage else None, "crash"),
    Fault("printer/dies-at-other-damage", "P9", _KNOWN, lambda damage, _: None if damage else (-11, b""), "crash"),
    Fault("printer/silent", "P9", _KNOWN, lambda damage, _: None if damage else (0, TEXT_END), "differs"),
    Fault("printer/breaks-off", "P9", _KNOWN,
          lambda damage, answer: None if damage else (0, answer[1].replace(b"$.after", b"")), "differs"),
    Fault("printer/no-end", "P9", _KNOWN, lambda damage, answer: None if damage else (1, answer[1][:-8]), "differs"),
    Fault("printer/hangs", "P9", _KNOWN, lambda damage, _: (1 << 16, b"") if damage else None, "timeout"),
)  # fmt: skip
