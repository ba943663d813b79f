"""The signature of a real crash.

This module reads the damage from the input's bytes and does not ask their maker. So a stored or shrunk Case has the
same signature.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.damaged_log import events_in, rows_in
from conformance.cases.by_hand.injection import read_row
from conformance.cases.server_death import parse_death
from conformance.judge.damage.document_bytes import (
    container,
    containers,
    has_bad_key_entry,
    key_at,
    values_of_diffs,
    whole_values,
)
from conformance.reference.binlog.header import FOOTER_SIZE
from conformance.reference.binlog.statement_events import UserVar, UserVarType
from conformance.reference.cursor import Recorder
from conformance.reference.errors import DecodeError, MysqlError
from conformance.reference.event_types import EventType
from conformance.requirements.crashes import (
    APPLYING,
    MEMBER_IN_DIFF,
    MEMBER_IN_DOCUMENT,
    PRINTING,
    READING,
    ROW_CUT,
    TWICE_IN_DIFF,
    VALUE_OPTIONS,
    VARIABLE_LENGTH,
    VECTOR_LENGTH,
    Crash,
)

_PACKED: Final = {252: 3, 253: 4, 254: 9}  # first byte of a packed number -> its bytes; below 251 it is the number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.by_hand.injection import Injection, InjectionOutcome
    from conformance.reference.jsonb.view import View


def crash_of(injection: Injection, outcome: InjectionOutcome) -> Crash | None:
    """The crash of a server; ``None`` if it lives, or if nothing shows which signal ended it."""
    return crash_from(outcome.death, READING if outcome.reading else APPLYING, damage_of(injection.image))


def crash_of_rows(rows: Sequence[Injection], death: str, *, reading: bool = False) -> Crash | None:
    """The crash of a server whose applier got an event of these rows; the first damage in them counts."""
    damage = next(filter(None, (damage_of(row.image) for row in rows)), "")
    return crash_from(death, READING if reading else APPLYING, damage)


def crash_of_client(data: bytes, status: int) -> Crash | None:
    """The crash of a program that got a binary log; ``status`` is negative where a signal ended it."""
    return Crash(PRINTING, damage_of_log(data), -status) if status < 0 else None


def crash_from(death: str, during: str, damage: str) -> Crash | None:
    """The crash of a death in the text of an outcome; ``None`` if the text does not have the signal."""
    found = parse_death(death)
    return None if found is None else Crash(during, damage, found.signal, found.frames, found.build)


def damage_of(image: bytes) -> str:
    """The first of the known damages in the image of a row (as ``Injection.image``), or an empty text."""
    if has_unknown_options(image):
        return VALUE_OPTIONS
    return damage_of_values(image) or (ROW_CUT if goes_beyond(image) else "")


def damage_of_values(image: bytes) -> str:
    """The first of the known damages in the values of an image, whatever stands in front of them."""
    if any(map(has_bad_key_entry, whole_values(image))):
        return MEMBER_IN_DOCUMENT
    values = values_of_diffs(image)
    if any(map(has_bad_key_entry, values)):
        return MEMBER_IN_DIFF
    return TWICE_IN_DIFF if any(map(has_key_twice, values)) else ""


def has_unknown_options(image: bytes) -> bool:
    """Whether value_options, the packed number in front of the image, is above 1, as its NULL marker is too."""
    if not image or image[0] <= 1:
        return False
    size = _PACKED.get(image[0])
    return size is None or size > len(image) or int.from_bytes(image[1:size], "little") > 1


def goes_beyond(image: bytes) -> bool:
    """Whether a reader of the image would need bytes behind it."""
    try:
        read_row(image)
    except DecodeError as error:
        return error.code == "truncated"
    except (MysqlError, ValueError):
        return False
    return False


def damage_of_log(data: bytes) -> str:
    """The first of the known damages in a binary log as ``cases.printed_log`` makes it."""
    for is_update, value in rows_in(data):
        if is_update:
            damage = damage_of(value)
        else:
            size = int.from_bytes(value[:4], "little")
            damage = VECTOR_LENGTH if size % 4 or not size else ""
        if damage:
            return damage
    variables = (body for kind, body in events_in(data) if kind == EventType.USER_VAR)
    return VARIABLE_LENGTH if any(map(_has_long_decimal, variables)) else ""


def _has_long_decimal(variable: bytes) -> bool:
    """Whether a user variable is a DECIMAL whose length goes beyond the event, checksum included."""
    cursor = Recorder(variable)
    with suppress(DecodeError):
        UserVar.read(cursor)
    read = {item.field: item for item in cursor.readings}
    length = read.get("value_length")
    if length is None or read["kind"].value != UserVarType.DECIMAL:
        return False
    return bool(length.value > len(variable) - length.end - FOOTER_SIZE)


def has_key_twice(document: bytes) -> bool:
    """Whether some object has a key twice, the earlier value being a container.

    In a tree the later value takes the earlier one's place: a reader that has put off the elements of the container
    must not come back to them.
    """
    return any(view.is_object and _replaces(view) for view in containers(document))


def _replaces(view: View) -> bool:
    above: set[bytes | None] = set()
    for index in range(view.count):
        key = key_at(view, index)
        if key in above:
            return True
        if key is not None and container(view, index) is not None:
            above.add(key)
    return False
