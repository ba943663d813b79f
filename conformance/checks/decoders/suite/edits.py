"""Logs that no server writes, made of a recorded one: the edits that a Case lists, performed in their order.

An event is named by its type and its number among those, counted from 1, or from the end with a minus: ``WRITE_ROWS 2``.

| edit | does |
|---|---|
| ``change`` | alters an event: ``at``, ``remove``, ``hex`` replace bytes of its body; ``type``, ``flags``, ``timestamp`` and ``server_id`` are fields of its header |
| ``before`` | puts an event of ``type`` with the body ``hex`` in front of another, or ``copy`` of one; ``END``: behind all |
| ``leave_out`` | removes an event |
| ``cut`` | ends the file ``at`` bytes behind the start of an event |
| ``damage`` | puts ``hex`` over bytes of the file, ``at`` bytes behind the start of an event |

After the first three, lengths, positions and checksums are made anew. The last two come behind them, and leave all as it is.
"""  # noqa: E501 - a table

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.decoders.suite.hex_text import WrongHex, bytes_in
from conformance.checks.decoders.suite.rewrite import Part, laid, offsets, parts_of
from conformance.reference.binlog.control_events import Opaque
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.header import FOOTER_SIZE
from conformance.reference.event_types import EventType
from conformance.requirements.reading import described_lengths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.cases.decoder_case import DecoderCase
    from conformance.checks.decoders.suite.declare import Written

    Edit = Mapping[str, Any]

END: Final = "END"
VERBS: Final = {
    "change": ("at", "remove", "hex", "nested", "type", "flags", "timestamp", "server_id"),
    "before": ("type", "hex", "flags", "copy"),
    "leave_out": (),
    "cut": ("at",),
    "damage": ("at", "hex"),
}
_OF_THE_FILE: Final = ("cut", "damage")
_HEADER: Final = ("flags", "timestamp", "server_id")
_NAME: Final = re.compile(r"([A-Z0-9_]+) (-?[1-9][0-9]*)")


class WrongEdit(Exception):
    """An edit that cannot be performed: what it names is not there, or its words are not those of an edit."""


def build(case: Written, bases: Mapping[str, DecoderCase]) -> bytes:
    """The log of a Case that the kit writes."""
    if not case.log_of:
        return case.file
    if case.log_of not in bases:
        raise WrongEdit(f"{case.id}: log_of: no Case {case.log_of} stands before it")
    try:
        parts = parts_of(bases[case.log_of])
        if case.version:
            parts[0] = replace(parts[0], body=_description(parts[0], case.version))
        for edit in case.edits:
            if _verb(edit) not in _OF_THE_FILE:
                parts = _of_events(parts, edit)
        log = laid(parts, algorithm=case.checksums, start=case.sparse)
        for edit in case.edits:
            if _verb(edit) in _OF_THE_FILE:
                log = _of_bytes(log, parts, edit)
    except (WrongEdit, WrongHex) as problem:
        raise WrongEdit(f"{case.id}: {problem}") from None
    return log


def _verb(edit: Edit) -> str:
    found = [verb for verb in VERBS if verb in edit]
    if len(found) != 1:
        raise WrongEdit(f"expected one of {', '.join(VERBS)}, got {dict(edit)}")
    if unknown := sorted(set(edit) - {found[0], *VERBS[found[0]]}):
        raise WrongEdit(f"{found[0]}: unknown {', '.join(unknown)}; known are {', '.join(VERBS[found[0]])}")
    return found[0]


def _description(part: Part, version: str) -> FormatDescription:
    assert isinstance(part.body, FormatDescription)
    return replace(part.body, server_version=version, post_header_lengths=described_lengths(version))


def _of_events(parts: Sequence[Part], edit: Edit) -> list[Part]:
    if "change" in edit:
        place = _place(parts, edit["change"])
        return [*parts[:place], _changed(parts[place], edit), *parts[place + 1 :]]
    if "leave_out" in edit:
        place = _place(parts, edit["leave_out"])
        return [*parts[:place], *parts[place + 1 :]]
    place = len(parts) if edit["before"] == END else _place(parts, edit["before"])
    if "copy" in edit:
        new = parts[_place(parts, edit["copy"])]
    else:
        like = parts[min(place, len(parts) - 1)]
        body = Opaque(type=_type(edit["type"]), data=bytes_in(edit.get("hex", "")))
        new = Part(body, like.timestamp, like.server_id, edit.get("flags"))
    return [*parts[:place], new, *parts[place:]]


def _changed(part: Part, edit: Edit) -> Part:
    if "at" in edit or "type" in edit:

        def splice(data: bytearray) -> None:
            at = edit.get("at", 0)
            if at + edit.get("remove", 0) > len(data):
                raise WrongEdit(f"{edit['change']} has {len(data)} bytes, and the edit is at {at}")
            data[at : at + edit.get("remove", 0)] = bytes_in(edit.get("hex", "")) + _nested(edit.get("nested", -1))

        description = isinstance(part.body, FormatDescription)
        part = part.raw(splice, type_=_type(edit["type"]) if "type" in edit else None)
        if description:  # the events behind it are laid out as it says
            assert isinstance(part.body, Opaque)
            part = replace(part, body=FormatDescription.decode(part.body.data + bytes(FOOTER_SIZE)))
    return replace(part, **{name: edit[name] for name in _HEADER if name in edit})


def _of_bytes(log: bytes, parts: Sequence[Part], edit: Edit) -> bytes:
    verb = _verb(edit)
    at = offsets(log)[_place(parts, edit[verb])] + edit["at"]
    if verb == "cut":
        return log[:at]
    data = bytes_in(edit["hex"])
    return log[:at] + data + log[at + len(data) :]


def _place(parts: Sequence[Part], name: str) -> int:
    found = _NAME.fullmatch(name)
    if found is None:
        raise WrongEdit(f"{name!r} names no event; expected a type and a number, such as WRITE_ROWS 2")
    code, number = _type(found[1]), int(found[2])
    places = [place for place, part in enumerate(parts) if part.type == code]
    if not 1 <= abs(number) <= len(places):
        raise WrongEdit(f"{name}: the log has {len(places)} such events")
    return places[number if number < 0 else number - 1]


def _type(name: str | int) -> int:
    if isinstance(name, int):
        return name
    if name not in EventType.__members__:
        raise WrongEdit(f"{name!r} is no type of event; known are {', '.join(EventType.__members__)}")
    return int(EventType[name])


def _nested(levels: int) -> bytes:
    """A document of arrays in arrays, the innermost empty; more than a line of hex can say."""
    if levels < 0:
        return b""
    data = bytes((0, 0, 4, 0))
    for _ in range(levels):
        data = b"".join(number.to_bytes(2, "little") for number in (1, 7 + len(data))) + b"\x02\x07\0" + data
    return b"\x02" + data
