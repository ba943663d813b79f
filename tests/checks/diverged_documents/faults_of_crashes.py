"""Planted faults of supervision, written down from requirements FR5 before the check on damaged members.

Sentences: "never crash" (FR5); "a server that dies is a verdict with its signal"; "what cannot be modelled is matched
by signature", so that another end than the listed one is not taken for it; "an error and row
unchanged" (7.1). Each fault changes what a server does that shows the listed deviations and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
_ELSEWHERE: Final = "Json_diff_vector::add_diff < Json_diff_vector::read_binary < Field_json::unpack_diff < unpack_row"


@dataclass(frozen=True, slots=True)
class CrashFault:
    """``verdict``: what it must be called. ``change`` gives ``None`` where the fault does not show."""

    name: str
    verdict: str
    change: Callable[[Injection, InjectionOutcome], InjectionOutcome | None]


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
    CrashFault("crashes/other-signal", "crash", _of(MEMBER_IN_DIFF, death=AT_MEMBER.replace("signal 6", "signal 11"))),
    CrashFault("crashes/other-place", "crash", _of(MEMBER_IN_DIFF, death=f"signal 6 in {_ELSEWHERE} {BUILD}")),
    CrashFault("crashes/place-of-another-crash", "crash", _of(MEMBER_IN_DIFF, death=AT_TWICE.replace("11", "6", 1))),
    CrashFault("crashes/another-frame", "crash", _of(MEMBER_IN_DIFF, death=AT_MEMBER.replace("::un", "::re"))),
    CrashFault("crashes/fewer-frames", "crash", _of(MEMBER_IN_DIFF, death=AT_MEMBER.replace(" < unpack_row", ""))),
    CrashFault("crashes/no-stack", "crash", _of(MEMBER_IN_DIFF, death=f"signal 6: 581,506 {BUILD}")),
    CrashFault("crashes/read-elsewhere", "crash", _of(MEMBER_IN_DOCUMENT, death=AT_READ.replace("Item", "Idea"))),
    CrashFault("crashes/dies-when-read", "crash", _of(MEMBER_IN_DIFF, reading=True)),
    CrashFault("crashes/dies-when-stored", "crash", _of(MEMBER_IN_DOCUMENT, reading=False)),
    CrashFault("crashes/dies-at-other-damage", "crash", _sound_diff(death=AT_MEMBER)),
    CrashFault("crashes/no-report", "crash", _of(MEMBER_IN_DIFF, death="no crash report")),
    CrashFault("crashes/hangs", "timeout", _of(MEMBER_IN_DIFF, death="", silent=True)),
    CrashFault(
        "crashes/takes-the-damage", "fail", _of(MEMBER_IN_DIFF, death="", after=state_of(encode({"": 1}))),
    ),
    CrashFault(
        "crashes/changes-the-row", "fail", _sound_diff(after=state_of(encode({"changed": 1}))),
    ),
)  # fmt: skip

TWICE_FAULTS: Final = (  # "duplicate keys: last wins"; the end of a server at some of them is listed, and no other end
    CrashFault("crashes/twice-other-signal", "crash", _of(TWICE_IN_DIFF, death=AT_TWICE.replace("11", "6", 1))),
    CrashFault("crashes/twice-other-place", "crash", _of(TWICE_IN_DIFF, death=f"signal 11 in {_ELSEWHERE} {BUILD}")),
    CrashFault("crashes/twice-dies-when-read", "crash", _of(TWICE_IN_DIFF, reading=True)),
    CrashFault(
        "crashes/twice-first-wins", "differs",
        _of(TWICE_IN_DIFF, death="", after=state_of(encode({"n": 1, "pad": "p" * 40, "new": {"k": []}}))),
    ),
    CrashFault("crashes/twice-cannot-be-read", "fail", _of(TWICE_IN_DIFF, death="", after=RowState(error=3142))),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PrintFault:
    """A fault of mysqlbinlog: its exit status and text for a file with a damage (a word of ``DAMAGES``, or none)."""

    name: str
    verdict: str
    change: Callable[[str, int, bytes], tuple[int, bytes] | None]


PRINTER_DIES_AT: Final = (MEMBER_IN_DIFF, MEMBER_IN_DOCUMENT, VARIABLE_LENGTH, VECTOR_LENGTH)
TEXT_END: Final = b"### '$.after'\nSET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n"


def prints_as_released(damage: str) -> tuple[int, bytes]:
    """9.7.4, as requirements FR5 has it: it ends at the damages that are listed, and names the others."""
    return (-11, b"") if damage in PRINTER_DIES_AT else (0, b"###   @2=Invalid JSON\n" + TEXT_END)


PRINT_FAULTS: Final = (
    PrintFault("printer/other-signal", "crash", lambda damage, *_: (-6, b"") if damage else None),
    PrintFault("printer/dies-at-other-damage", "crash", lambda damage, *_: None if damage else (-11, b"")),
    PrintFault("printer/silent", "differs", lambda damage, *_: None if damage else (0, TEXT_END)),
    PrintFault(
        "printer/breaks-off", "differs", lambda damage, _, text: None if damage else (0, text.replace(b"$.after", b"")),
    ),
    PrintFault("printer/no-end", "differs", lambda damage, _, text: None if damage else (1, text[:-8])),
    PrintFault("printer/hangs", "timeout", lambda damage, *_: (1 << 16, b"") if damage else None),
)  # fmt: skip
