"""The Case that shows a listed deviation: its witness; for a crash, a Case that a generator makes again.

An input that crashes a program is stored nowhere. Not each input with a damage ends the program, so this module has the
number of one that does, as observed on 9.7.4.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.event_case import EventCase
from conformance.cases.by_hand.scripted import read_script
from conformance.cases.files import load_any_case
from conformance.harness.scripts.data_file import data_file_script
from conformance.harness.scripts.of_case import script_of
from conformance.harness.scripts.relay_log import relay_log_script
from conformance.judge.damage.crashes import damage_of, damage_of_log
from conformance.messages import did_you_mean
from conformance.requirements.crashes import (
    APPLYING,
    IMPORTING,
    MEMBER_IN_DOCUMENT,
    PRINTING,
    READING,
    RELAYING,
    ROW_CUT,
    TWICE_IN_DIFF,
    VALUE_OPTIONS,
)
from conformance.requirements.deviations import DeviationError, load_deviations
from generators import damaged_events, object_entries
from generators.damaged_values import PLACES, file_with_damage
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.cases.by_hand.scripted import Script
    from conformance.cases.bytes_case import BytesCase
    from conformance.cases.files import AnyCase
    from conformance.requirements.crashes import Crash
    from conformance.requirements.deviations import Deviation

_MANY: Final = 200  # inputs of a generator that are looked at for a damage
# Number of the first input that ends the program; 0 where it is left out.
_ENDS_IT: Final = {(PRINTING, MEMBER_IN_DOCUMENT): 1}
# When a server takes a file -> what the file is, and its script.
_FILES: Final = {RELAYING: ("relay log", relay_log_script), IMPORTING: ("data file", data_file_script)}


def case_of(deviation: Deviation) -> AnyCase | Script:
    """The Case of a deviation, or the script of its relay log.

    Raises :class:`DeviationError` where no generator makes the damage of a crash, and for a data file.
    """
    if deviation.crash is not None and deviation.crash.during == RELAYING:
        return read_script(deviation.id, script_of_deviation(deviation))
    return _input_of(deviation)


def _input_of(deviation: Deviation) -> AnyCase:
    if deviation.witness is not None:
        return load_any_case(json.loads(deviation.witness))
    crash = deviation.crash
    if crash is None:
        raise DeviationError(f"deviation {deviation.id!r} has neither a witness nor a crash")
    if crash.during in _FILES:
        what, _ = _FILES[crash.during]
        raise DeviationError(f"deviation {deviation.id!r} is shown by a {what}, no Case: --as sql prints it")
    number = _ENDS_IT.get((crash.during, crash.damage), 0)
    found = next(islice(inputs(crash), number, None), None)
    if found is None:
        raise DeviationError(f"deviation {deviation.id!r}: no generator makes an input with {crash.damage}")
    return found


def script_of_deviation(deviation: Deviation) -> str:
    """The script of the Case; for a server that dies of a file, the script of that. Raises :class:`DeviationError`."""
    if deviation.crash is not None and deviation.crash.during in _FILES:
        what, make = _FILES[deviation.crash.during]
        script = make(deviation.crash)
        if script is None:
            damage = deviation.crash.damage
            raise DeviationError(f"deviation {deviation.id!r}: no generator makes a {what} with {damage}")
        return script
    return script_of(_input_of(deviation))


def named(name: str, path: Path | None = None) -> Deviation:
    """An entry of the kit's list, or of a file. Raises :class:`DeviationError`."""
    listed = {entry.id: entry for entry in load_deviations(path)}
    if name not in listed:
        near = did_you_mean(name, listed) or f", expected one of {', '.join(listed)}"
        raise DeviationError(f"no deviation {name!r} is listed{near}")
    return listed[name]


def inputs(crash: Crash) -> Iterator[AnyCase]:
    """Generated inputs with the damage of a crash, for the program that it ends."""
    if crash.during == PRINTING:
        yield from (case for case in _files() if damage_of_log(case.data) == crash.damage)
    elif crash.during in (APPLYING, READING):
        yield from (case for case in _events(crash) if damage_of(case.injection.image) == crash.damage)


def _files() -> Iterator[BytesCase]:
    for place in PLACES:
        for number in range(_MANY):
            key = ("script", place, number)
            yield file_with_damage(Stream(*key), place, " ".join(map(str, key)))


def _events(crash: Crash) -> Iterator[EventCase]:
    if crash.damage in (VALUE_OPTIONS, ROW_CUT):
        for injection in damaged_events.listed():
            yield EventCase(id=injection.id, requirements=("FR5",), seed="", injection=injection)
        return
    for number in range(_MANY):
        for place in (object_entries.DIFF, object_entries.FULL):
            key = ("script", place, number)
            draw = Stream(*key)
            twice = crash.damage == TWICE_IN_DIFF
            injection = object_entries.twice(draw) if twice else object_entries.injection(draw, place, keys=True)
            seed = " ".join(map(str, key))
            yield EventCase(id=injection.id, requirements=("FR5",), seed=seed, injection=injection)
