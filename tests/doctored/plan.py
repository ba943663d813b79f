"""Which answers are changed, and how: drawn from a seed, kind by kind, so that each kind gets as many as another."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.event_types import event_name
from tests.doctored.answer_changes import ANSWERS
from tests.doctored.log_changes import LOG
from tests.doctored.other_changes import OTHERS
from tests.doctored.shapes import Ok, Rows, answers_of, events_of
from tests.servers.recording.altered import PACKETS, packets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.servers.recording.files import Entry
    from tests.doctored.shapes import Answer

KINDS: Final = {**LOG, **ANSWERS, **OTHERS}
_LEAST: Final = 0.1
_TRIES: Final = 60  # answers that are looked at before a kind counts as not there in a module


class Planned(NamedTuple):
    """One change: its number, its kind, and the tape of the module."""

    number: int
    kind: str
    tape: str


class Drawn(NamedTuple):
    """A change that was made: which answer of the tape it stands for, and the new one. ``what``: the first event or
    part of the answer that is another one."""

    place: int
    entry: Entry
    what: str


class Module(NamedTuple):
    """A module of checks. ``kinds``: those that its tape has answers for; ``cost``: seconds of the processor."""

    kinds: frozenset[str]
    cost: float


def plan(modules: Mapping[str, Module], count: int, seed: str) -> list[Planned]:
    """The first ``count`` changes of a seed: the kinds in turn, each in a module that has such an answer.

    More changes begin with the same ones. A module that takes ten times as long gets a tenth of the changes.
    """
    kinds = [kind for kind in KINDS if any(kind in module.kinds for module in modules.values())]
    out = []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        tapes = sorted(tape for tape, module in modules.items() if kind in module.kinds)
        weights = [1 / max(_LEAST, modules[tape].cost) for tape in tapes]
        (tape,) = Random(f"{seed} module {number}").choices(tapes, weights)
        out.append(Planned(number, kind, tape))
    return out


def kinds_in(entries: Sequence[Entry]) -> list[str]:
    """The kinds that a tape has answers for."""
    return [kind for kind in KINDS if draw(entries, kind, kind) is not None]


def draw(entries: Sequence[Entry], kind: str, key: str) -> Drawn | None:
    """A change of this kind of one answer among these; ``None`` where none has it."""
    random = Random(key)
    change = KINDS[kind]
    for index in _some(random, entries, kind):
        entry = change(random, entries[index])
        if entry is not None and entry.answer != entries[index].answer:
            return Drawn(index, entry, _what(entries[index], entry))
    return None


def _what(old: Entry, new: Entry) -> str:
    """The event that is another one, or the part of the answer."""
    before, behind = events_of(old) or [], [packet[1:] for packet in packets(new) if packet[:1] == b"\0"]
    for place, event in enumerate(before):
        if place >= len(behind) or behind[place] != event:
            return f"{event_name(event[4])} ({place + 1} of {len(before)})"
    if before:
        return "at the end"
    if old.kind == PACKETS:
        return _result(answers_of(old) or [], answers_of(new))
    return f"{old.kind}{_part(old.answer, new.answer)}"


def _result(old: list[Answer], new: list[Answer] | None) -> str:
    """The part of an answer to a statement; empty where it is no answer any more, or one of another form."""
    first, other = next((pair for pair in zip(old, new or (), strict=False) if pair[0] != pair[1]), (None, None))
    if isinstance(first, Ok) and isinstance(other, Ok):
        return f"{next(name for name in Ok.__slots__ if getattr(first, name) != getattr(other, name))} of an OK"
    if not isinstance(first, Rows) or not isinstance(other, Rows):
        return ""
    if first.columns != other.columns:
        return "definitions of columns"
    for one, two in zip(first.rows, other.rows, strict=False):
        for name, *values in zip(first.names, one, two, strict=False):
            if values[0] != values[1]:
                return f"value of {name}"
    return "number of rows" if len(first.rows) != len(other.rows) else "the end of the rows"


def _part(old: Any, new: Any) -> str:
    """Where the first difference is: the keys and places that lead there, then the line."""
    if isinstance(old, dict) and isinstance(new, dict):
        name = next(name for name in {**old, **new} if old.get(name) != new.get(name))
        return f": {name}{_part(old.get(name), new.get(name))}"
    if isinstance(old, list) and isinstance(new, list):
        place = next((n for n, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), len(old))
        return f": {place}{_part(*([*values, None, None][place] for values in (old, new)))}"
    if isinstance(old, bytes) and isinstance(new, bytes):
        old, new = (text.decode("utf-8", "replace") for text in (old, new))
    if isinstance(old, str) and isinstance(new, str) and "\n" in old:
        lines = zip(old.splitlines(), new.splitlines(), strict=False)
        return f": {next((line for line, other in lines if line != other), 'the end')[:60]}"
    return ""


def _some(random: Random, entries: Sequence[Entry], kind: str) -> Iterator[int]:
    """Answers in an order of their own: those of the kind's family only."""
    families = {"log": "packets for", "rows": "packets for", "warnings": "packets for", "done": "packets for",
                "error": "packets for", "answer": "packets for"}  # fmt: skip
    family = kind.partition(":")[0]
    wanted = families.get(family, family)
    places = [
        place
        for place, entry in enumerate(entries)
        if entry.kind == wanted or (family == "looked at" and entry.kind not in ("packets for", "now"))
    ]
    tries = len(places) if family in ("log", "warnings", "error") else _TRIES
    yield from random.sample(places, min(tries, len(places)))
