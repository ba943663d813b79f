"""Every kind of change makes another answer of one that it applies to, and one that can still be read as an answer."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from conformance import checks
from conformance.servers.recording.files import Entry
from tests.doctored.answer_changes import ANSWERS
from tests.doctored.log_changes import LOG
from tests.doctored.other_changes import OTHERS
from tests.doctored.outcomes import TRUST, outcome, table
from tests.doctored.plan import KINDS, Module, Planned, draw, plan
from tests.doctored.shapes import Err, Ok, Rows, answers_of, events_of, sealed, with_answers, with_events
from tests.servers.recording.altered import packets

if TYPE_CHECKING:
    from collections.abc import Iterable


def entry(kind: str, answer: Any) -> Entry:
    return Entry(0, "0/session 1", kind, b"12345678", answer)


def _column(name: bytes) -> bytes:
    return b"\3def\0\0\0" + bytes((len(name),)) + name + b"\0" + b"\x0c\x3f\0" + bytes(10)


def _event(kind: int, end: int, body: bytes) -> bytes:
    head = (1_800_000_000).to_bytes(4, "little") + bytes((kind,)) + (7).to_bytes(4, "little")
    made = head + (19 + len(body) + 4).to_bytes(4, "little") + end.to_bytes(4, "little") + bytes(2) + body
    whole = made + bytes(4)
    return sealed(whole, made[:-4] + _crc(made[:-4]))


def _crc(data: bytes) -> bytes:
    import binascii

    return binascii.crc32(data).to_bytes(4, "little")


EVENTS = [
    _event(
        33, 200, bytes((1,)) + bytes(24) + b"\2" + bytes(16) + (1_800_000_000_000_000).to_bytes(7, "little") + bytes(6)
    ),
    _event(19, 260, (88).to_bytes(6, "little") + b"\1\0\2ab\0\1t\0\1\3\0\1"),
    _event(39, 320, (88).to_bytes(6, "little") + b"\1\0\2\0\1\1\1\0\0\1\0\0\0"),
]
DUMP = with_events(entry("packets for", [b"\x01\0\0\0\xfe", None]), EVENTS)
EMPTY = entry("packets for", [b"", None])
ANSWER = with_answers(
    EMPTY,
    [
        Ok(1, 0, 10, 1, b"Rows matched: 1"),
        Rows((_column(b"id"), _column(b"j")), ((b"1", b'{"a": 1}'), (b"2", None)), b"\xfe\0\0\2\0", b"\xfe\0\0\x0a\0"),
        Err(3140, b"22032", b"Invalid JSON text"),
    ],
)
WARNINGS = with_answers(
    EMPTY,
    [
        Rows(
            tuple(map(_column, (b"Level", b"Code", b"Message"))),
            ((b"Warning", b"1287", b"it is old"),),
            b"\xfe\0\0\2\0",
            b"\xfe\0\0\2\0",
        )
    ],
)
OTHER = [
    entry("error log", {"value": [0, "2026-01-01T00:00:00Z 0 [Note] one\n2026-01-01T00:00:01Z 0 [ERROR] two\n"]}),
    entry("file", {"value": bytes(range(200))}),
    entry("files", {"value": {"a.ibd": bytes(range(200)), "b.ibd": b"xyz"}}),
    entry("program", {"value": [0, b"line 1\nline 2\n", b"a warning\n", 0]}),
    entry("login", {"value": [11, "9.7.4", b"\3\0\1"]}),
    entry("what it shows of its version", {"value": {"row": "7", "more": [1, 2]}}),
]
ALL = [DUMP, ANSWER, WARNINGS, *OTHER]


def test_answers_are_read_and_written_alike() -> None:
    assert events_of(DUMP) == EVENTS
    assert answers_of(DUMP) is None
    for each in (ANSWER, WARNINGS):
        found = answers_of(each)
        assert found is not None
        assert packets(with_answers(each, found)) == packets(each)
    assert [type(part).__name__ for part in answers_of(ANSWER) or ()] == ["Ok", "Rows", "Err"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_changes_an_answer(kind: str) -> None:
    drawn = [draw(ALL, kind, str(number)) for number in range(30)]
    made = [each for each in drawn if each is not None]
    assert made, kind
    assert all(each.entry.answer != ALL[each.place].answer for each in made)
    assert draw(ALL, kind, "7") == draw(ALL, kind, "7")


def test_one_thing_is_changed_at_a_time() -> None:
    clock = LOG["log: commit clock 1 ms"](Random(1), DUMP)
    assert clock is not None
    events = events_of(clock) or []
    assert [one == two for one, two in zip(events, EVENTS, strict=True)] == [False, True, True]
    moved = LOG["log: table ids of all events"](Random(1), DUMP)
    assert moved is not None
    assert [event[19:25] for event in (events_of(moved) or [])[1:]] in (
        [(number).to_bytes(6, "little")] * 2 for number in (89, 1088)
    )
    text = ANSWERS["error: text"](Random(1), ANSWER)
    assert text is not None
    assert [one == two for one, two in zip(answers_of(text) or (), answers_of(ANSWER) or (), strict=True)] == [
        True,
        True,
        False,
    ]
    assert OTHERS["program: exit code"](Random(1), ANSWER) is None


def test_a_longer_plan_begins_as_the_shorter_one() -> None:
    modules = {"a.tape": Module(frozenset(KINDS), 0.1), "b.tape": Module(frozenset(list(KINDS)[:5]), 5.0)}
    long = plan(modules, 500, "1")
    assert long[:40] == plan(modules, 40, "1")
    assert [each.kind for each in long[: len(KINDS)]] == list(KINDS)
    assert {each.tape for each in long} == {"a.tape", "b.tape"}
    assert plan(modules, 500, "2") != long


BEFORE = {0: {"FR1": ["pass", 10, 0], "S1": ["pass", 4, 0]}}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"rows": {"FR1": ["fail", 10, 1], "S1": ["pass", 4, 0]}, "alone": []}, "red"),
        ({"rows": {"FR1": ["not-run", 10, 0], "S1": ["pass", 4, 0]}, "alone": ["x"]}, "not run"),
        ({"rows": {"FR1": ["inconclusive", 10, 0], "S1": ["pass", 4, 0]}, "alone": []}, "undecided"),
        ({"rows": BEFORE[0], "alone": [], "asked": None}, "not asked"),
        ({"rows": BEFORE[0], "alone": [], "asked": "SELECT what_nobody_asks_for"}, "unseen"),
        ({"hang": True}, "ended"),
        ({"raised": "ValueError: x"}, "ended"),
        ({"rows": BEFORE[0], "alone": [], "lab": "the lab failed: KeyError: x"}, "ended"),
    ],
)
def test_outcomes(row: dict[str, Any], expected: str) -> None:
    found = outcome(Planned(0, "rows: value", "none.tape"), "", BEFORE, {"last": 0, **row})
    assert found["outcome"] == expected


def test_the_table_counts_each_kind() -> None:
    rows = [{"kind": "rows: value", "outcome": "red"}, {"kind": "rows: value", "outcome": "ended"}]
    assert table(rows).splitlines()[2:] == [
        "| rows: value | 2 | 1 |  |  |  |  |  | 1 |",
        "| all | 2 | 1 |  |  |  |  |  | 1 |",
    ]


MODULES = {
    f"{path.parent.name}.{path.stem}.tape" for path in Path(checks.__file__).parent.glob("*/check*.py")
}  # as a recording names them


def stray_tapes(patterns: Iterable[str]) -> list[str]:
    """The patterns that fit no module, and the alternatives that do."""
    found = []
    for pattern in patterns:
        names = re.sub(r"\(\?!.*?\)\\\.\)|\(\?!.*?\)", "", pattern)
        group = re.search(r"\(([^()?]*)\)", names)
        each = [names.replace(f"({group[1]})", name) for name in group[1].split("|")] if group else [names]
        found += [one for one in each if not any(re.search(one, module) for module in MODULES)]
    return found


def test_what_is_trusted_is_so_in_modules_that_there_are() -> None:
    """A module that was renamed leaves its reasons behind: what it trusted is unseen then."""
    patterns = [entry["tape"] for entry in tomllib.loads(TRUST.read_text("utf-8"))["trusted"] if "tape" in entry]
    assert stray_tapes(patterns) == []
    assert stray_tapes(["^conditions\\.", "^sdi\\.check_(crashes|gone)\\."]) == [
        "^conditions\\.",
        "^sdi\\.check_gone\\.",
    ]
