"""Transaction boundaries, rule by rule: the shipped parser, the guess, groups, and the source's markers
(transaction-boundaries A.3 to A.9, transaction-boundaries B.1 to B.3).

Boundary types are their numbers: 1 ignore, 2 self contained, 3 start, 4 inside, 5 end.
"""

from __future__ import annotations

from typing import Final, NamedTuple

_GTIDS: Final = (33, 34, 42)
_PRE_STATEMENTS: Final = (5, 13, 14)
_ROWS: Final = (23, 24, 25, 30, 31, 32, 39)
_HEADER: Final = 19
_MARKER: Final = 13  # the lowest of its three bits in the flags


class Event(NamedTuple):
    """The fields of an event that count. ``text`` is that of a QUERY, ``behind`` its checksum."""

    code: int
    flags: int
    log_pos: int
    text: bytes
    behind: bytes
    length: int

    @classmethod
    def of(cls, raw: bytes, footer: int = 4) -> Event:
        """The event with these bytes, its checksum included."""
        text = b""
        if raw[4] == 2 and len(raw) >= _HEADER + 13 + footer:
            body = raw[_HEADER : len(raw) - footer]
            text = body[13 + int.from_bytes(body[11:13], "little") + body[8] + 1 :]
        flags, log_pos = int.from_bytes(raw[17:19], "little"), int.from_bytes(raw[13:17], "little")
        behind = raw[len(raw) - footer :] if raw[4] == 2 else b""
        return cls(raw[4], flags, log_pos, text, behind, len(raw))


# --- the shipped parser ----------------------------------------------------------------------------------------------

_CELLS: Final = {  # for each class the state behind NONE, GTID, DDL, DML, ERROR, and the message of an error
    "GTID": "GTID GTID!10443 GTID!10443 GTID!10443 GTID!",
    "BEGIN": "DML DML DML!10444 DML!10444 DML!",
    "END": "NONE!10445 NONE!10445 NONE!10445 NONE NONE!",
    "XA ROLLBACK": "NONE!10446 NONE NONE!10446 NONE NONE!",
    "STATEMENT": "NONE NONE NONE DML NONE!",
    "PRE": "DDL DDL DDL DML NONE!",
    "PAYLOAD": "NONE! NONE NONE! NONE! NONE!",
    "INCIDENT": "NONE NONE NONE NONE NONE",
    "IGNORE": "NONE GTID DDL DML ERROR",
    "UNKNOWN": "ERROR!10442 ERROR!10442 ERROR!10442 ERROR!10442 ERROR!10442",
    "NO TEXT": "NONE! GTID! DDL! DML! ERROR!",
}
_STATES: Final = ("NONE", "GTID", "DDL", "DML", "ERROR")


def shipped_class(event: Event) -> str:
    """The class of an event (transaction-boundaries B.1)."""
    code, text = event.code, event.text
    if code == 2:
        if not text:
            return "NO TEXT"
        read = text + event.behind  # longer words are compared over their own length
        if text in (b"B", b"BE", b"BEG", b"BEGI", b"BEGIN") or read[:8] == b"XA START":
            return "BEGIN"
        if text in (b"C", b"CO", b"COM", b"COMM", b"COMMI", b"COMMIT"):
            return "END"
        if read[:8].upper() == b"ROLLBACK" and read[:12].upper() != b"ROLLBACK TO ":
            return "END"
        return "XA ROLLBACK" if read[:11].upper() == b"XA ROLLBACK" else "STATEMENT"
    if code in _GTIDS:
        return "GTID"
    if code in (16, 38):
        return "END"
    if code in _PRE_STATEMENTS:
        return "PRE"
    if code in (18, 17, 9, 19, 29, 30, 31, 32, 39, 37):
        return "STATEMENT"
    if code == 26:
        return "INCIDENT"
    if code == 40:
        return "PAYLOAD"
    if code in (4, 15, 27, 41, 35, 3, 7, 11, 36) or event.flags & 0x80:
        return "IGNORE"
    return "UNKNOWN"


def shipped(events: list[Event], *, receiver: bool) -> list[tuple[str, int | None]]:
    """The state behind each event, and the number of its message: 0 for an error without one, ``None`` for none."""
    state = "NONE"
    found: list[tuple[str, int | None]] = []
    for event in events:
        kind = shipped_class(event)
        after, error, number = _CELLS[kind].split()[_STATES.index(state)].partition("!")
        tolerated = kind == "GTID" and not receiver and state != "ERROR"
        found.append((after, int(number or 0) if error and not tolerated else None))
        state = after
    return found


# --- the guess, and groups -------------------------------------------------------------------------------------------


def _is_begin(event: Event) -> bool:
    return event.code == 2 and (event.text == b"BEGIN" or event.text.startswith(b"XA START"))


def _is_ignored(event: Event) -> bool:
    """By its marker: such an event changes no state, whatever it is (transaction-boundaries A.4)."""
    return event.flags >> _MARKER & 7 == 1


def _is_end(event: Event) -> bool:
    text = event.text
    rolls = text.startswith(b"ROLLBACK") and not text.startswith(b"ROLLBACK TO ")
    return event.code in (16, 38) or (event.code == 2 and (text == b"COMMIT" or rolls))


def guess(event: Event, *, is_open: bool, begun: bool, relay: bool) -> int:
    """The type of an event without a marker (transaction-boundaries A.9)."""
    code = event.code
    if code in _GTIDS:
        return 3
    if _is_begin(event):
        return 4 if is_open and not begun else 3
    if _is_end(event):
        return 5
    if code in (2, 18):
        return (4 if begun else 5) if is_open else 2
    if code in _PRE_STATEMENTS:
        return 4 if is_open else 3
    if code in (19, *_ROWS, 29, 17, 9, 37):
        return 4
    if code == 40:
        return 5
    if code == 26:
        return 5 if is_open else 2
    if code in (15, 36) or (code == 4 and (event.flags & 0x20 or not event.log_pos)):
        return 1
    if code in (4, 3, 35, 27, 41):
        return 1 if relay and event.flags & 0x60 else 2
    return 1 if event.flags & 0x80 else 2


def received(events: list[Event]) -> list[tuple[int, bool]]:
    """The type that counts for each event, and whether the worklog's parser refuses it (transaction-boundaries A.4)."""
    state, begun = 0, False
    found = []
    for event in events:
        is_open = state in (3, 4)
        kind = event.flags >> _MARKER & 7 or guess(event, is_open=is_open, begun=is_open and begun, relay=False)
        refused = kind > 5 or (kind in (2, 3) and is_open) or (kind in (4, 5) and not is_open)
        if kind != 1:
            state = 0 if refused else kind
        if _is_begin(event) and kind in (3, 4):
            begun = True
        elif kind == 3:
            begun = False
        found.append((kind, refused))
    return found


class Group(NamedTuple):
    """One group of a file: its kind, its place, and the number of its events."""

    kind: str
    start: int
    end: int
    events: int


class _Open(NamedTuple):
    """A group that has not ended: its events, and their place."""

    start: int
    is_fragment: bool
    events: list[Event]


def groups(events: list[Event], *, relay: bool) -> list[Group]:
    """The groups of a file's events, the first of which stands at 4."""
    found: list[Group] = []
    open_one: _Open | None = None
    begun = False
    place = 4
    for event in events:
        end = place + event.length
        inside = open_one is not None and not open_one.is_fragment
        kind = event.flags >> _MARKER & 7 or guess(event, is_open=inside, begun=begun and inside, relay=relay)
        if kind in (2, 3) and open_one is not None:
            found.append(Group("fragment" if open_one.is_fragment else "open", open_one.start, place,
                               len(open_one.events)))  # fmt: skip
            open_one = None
        if kind in (1, 2) and open_one is None:
            found.append(Group("frame" if kind == 1 else _of_one(event), place, end, 1))
        elif kind == 3:
            open_one, begun = _Open(place, False, [event]), _is_begin(event)
        else:
            open_one = open_one or _Open(place, True, [])
            open_one.events.append(event)
            begun = begun or (_is_begin(event) and not _is_ignored(event))
            if kind == 5:
                found.append(Group(_kind(open_one), open_one.start, end, len(open_one.events)))
                open_one = None
        place = end
    if open_one is not None:
        found.append(Group("fragment" if open_one.is_fragment else "open", open_one.start, place,
                           len(open_one.events)))  # fmt: skip
    return found


def _of_one(event: Event) -> str:
    if event.code in (26, 40):
        return "incident" if event.code == 26 else "compressed"
    in_groups = (2, 18, *_GTIDS, *_PRE_STATEMENTS, 16, 38, 19, *_ROWS, 29, 17, 9, 37)
    return "ddl" if event.code in in_groups else "frame"


def _kind(group: _Open) -> str:
    """By the last BEGIN, unless the last event alone says it."""
    if group.is_fragment:
        return "fragment"
    last = group.events[-1]
    if last.code in (26, 40) or _of_one(last) == "frame":
        return _of_one(last)
    begins = [event.text for event in group.events if _is_begin(event) and not _is_ignored(event)]
    return "ddl" if not begins else "dml" if begins[-1] == b"BEGIN" else "xa"


# --- the source's markers --------------------------------------------------------------------------------------------


def _constructed(event: Event, *, begun: bool) -> int:
    """transaction-boundaries A.6 and A.7."""
    code, kind = event.code, shipped_class(event)
    if code in (2, 18):
        if code == 2 and kind in ("BEGIN", "END"):
            return 3 if kind == "BEGIN" else 5
        return 4 if begun else 2
    if code in (15, 28, 36):
        return 1
    if code in _GTIDS:
        return 3
    if code in (16, 38, 40):
        return 5
    return 4 if code in (*_PRE_STATEMENTS, 9, 17, 19, *_ROWS, 29, 37) else 2


def marked_group(group: list[Event]) -> list[int]:
    """The markers of one whole group."""
    kinds: list[int] = []
    begun = False
    for event in group:
        kinds.append(_constructed(event, begun=begun))
        begun = begun or (event.code == 2 and kinds[-1] == 3)
    for place, event in enumerate(group):  # the first variable in front of a lone statement is its start
        is_first = place == 0 or group[place - 1].code not in _PRE_STATEMENTS
        if event.code in _PRE_STATEMENTS and is_first:
            behind = place
            while behind < len(group) and group[behind].code in _PRE_STATEMENTS:
                behind += 1
            if behind < len(group) and kinds[behind] == 2:
                kinds[place], kinds[behind] = 3, 5
    if group[0].code in _GTIDS:
        kinds[1:] = [{3: 4, 2: 5}.get(kind, kind) for kind in kinds[1:]]
    return kinds
