"""Tables and Mermaid diagrams of the two models, drawn from the tables that the parsers run on.

``python -m conformance.reference.boundaries.diagrams`` prints the page ``docs/transaction-boundaries.md``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from conformance.reference.boundaries.markers import SHIFT, BoundaryType, mask
from conformance.reference.boundaries.shipped import MESSAGES, TRANSITIONS, EventClass, ParserState
from conformance.reference.boundaries.source import CONSTRUCTED
from conformance.reference.boundaries.unmarked import GUESSES
from conformance.reference.boundaries.worklog import ACCEPTED, STATES
from conformance.reference.event_types import EventType, event_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_TOP: Final = f"""\
# Transaction boundaries

Drawn by `python -m conformance.reference.boundaries.diagrams` from the tables that the parsers run on.

WL#4162 wanted every event of a binary log to say where it stands in its transaction.
No server was released with it: what shipped derives the boundaries from event types and query texts.
The kit has both models: `conformance.reference.boundaries`.

The worklog leaves open which three bits of the header's flag word hold the marker.
The kit takes bits {SHIFT} to {SHIFT + 2} (mask 0x{mask():04X}), which no server up to 9.7.4 uses.
"""


# Streams that the two models judge differently or seem to: the errors of each model.
DIFFERENCES: Final = (
    ("rows outside a group", "every event up to the next start", "nothing (the XID behind them, where there is one)"),
    ("two GTIDs in a row", "the second", "the second"),
    ("the end right behind a GTID", "nothing", "the end"),
    ("BEGIN twice", "the second, and what follows", "the second"),
    ("a group inside a group", "the second GTID", "the second GTID"),
    ("STOP inside a group", "it, and what follows", "nothing"),
    ("ROTATE inside a group", "it, and what follows", "nothing"),
    ("an empty group", "nothing", "nothing"),
    ("a heartbeat inside a group", "it, and what follows", "nothing"),
    ("XA ROLLBACK without a GTID", "nothing", "it"),
)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _state_name(state: BoundaryType) -> str:
    return state.title.replace(" ", "")


def worklog_table() -> Iterator[str]:
    """New type by present state; an error is a reset to Not Defined."""
    head = ["new type", *(f"{state:d} {state.title}" for state in STATES)]
    rows = [["1 Ignore Boundary", *("keep" for _ in STATES)]]
    for new, before in ACCEPTED.items():
        rows.append([f"{new:d} {new.title}", *("ok" if state in before else "**error**" for state in STATES)])
    return _table(head, rows)


def worklog_diagram() -> Iterator[str]:
    """Accepted transitions; all others are errors and lead to Not Defined."""
    yield "stateDiagram-v2"
    yield "  [*] --> NotDefined"
    for new, before in ACCEPTED.items():
        for state in STATES:
            if state in before:
                yield f"  {_state_name(state)} --> {_state_name(new)}: {new.title}"


def source_table() -> Iterator[str]:
    """Event types by the boundary type that their constructor gives."""
    rows = []
    for kind in BoundaryType:
        names = [event_name(code) for code in sorted(CONSTRUCTED) if CONSTRUCTED[code] is kind]
        if kind is BoundaryType.SELF_CONTAINED:
            names.append("every other type; QUERY and EXECUTE_LOAD_QUERY without BEGIN before them")
        if kind is BoundaryType.START_TRANSACTION:
            names.append("QUERY BEGIN, XA START")
        if kind is BoundaryType.INSIDE_TRANSACTION:
            names.append("QUERY and EXECUTE_LOAD_QUERY behind BEGIN")
        if kind is BoundaryType.END_TRANSACTION:
            names.append("QUERY COMMIT, ROLLBACK")
        if kind is BoundaryType.IGNORE_BOUNDARY:
            names.append(f"artificial {event_name(EventType.ROTATE)}")
        if names:
            rows.append([f"{kind:d} {kind.title}", ", ".join(names)])
    return _table(["marker", "events"], rows)


def guess_table() -> Iterator[str]:
    """Roles by the receiver's state."""
    head = ["event without a marker", "outside a group", "in a group before BEGIN", "behind BEGIN"]
    return _table(head, [[role.value, *(kind.title for kind in kinds)] for role, kinds in GUESSES.items()])


def shipped_classes() -> Iterator[str]:
    """The events of each class."""
    return _table(["class", "events"], [[kind.name, kind.value] for kind in EventClass])


def shipped_table() -> Iterator[str]:
    """Class by state."""
    rows = []
    for kind, cells in TRANSITIONS.items():
        words = []
        for state in ParserState:
            cell = cells[state]
            message = MESSAGES.get(cell.message)
            error = f" **error**{f' MY-{message.code:06d}' if message else ''}" if cell.error else ""
            words.append(cell.state.name + error)
        rows.append([kind.name, *words])
    return _table(["class", *(state.name for state in ParserState)], rows)


def shipped_diagram() -> Iterator[str]:
    """Transitions without an error between two states."""
    yield "stateDiagram-v2"
    yield "  [*] --> NONE"
    for before in ParserState:
        reached: dict[ParserState, list[str]] = {}
        for kind, cells in TRANSITIONS.items():
            if not cells[before].error and kind is not EventClass.IGNORE:
                reached.setdefault(cells[before].state, []).append(kind.name)
        for state, kinds in reached.items():
            yield f"  {before.name} --> {state.name}: {', '.join(kinds)}"


def page() -> str:
    """The whole page."""
    parts: list[str] = [_TOP]

    def section(title: str, words: str, *blocks: Iterable[str]) -> None:
        parts.append(f"## {title}\n\n{words}\n")
        parts.extend("\n".join(block) + "\n" for block in blocks)

    def diagram(lines: Iterable[str]) -> Iterator[str]:
        yield "```mermaid"
        yield from lines
        yield "```"

    section(
        "The worklog's parser",
        "An event of a type that is not accepted is told as an error, and the parser is reset to Not Defined.",
        worklog_table(),
        diagram(worklog_diagram()),
    )
    section(
        "What a source marks",
        "A GTID in front takes the start over: what would be Start Transaction is inside, what would be Self Contained "
        "is the end.\nThe first INTVAR, RAND or USER_VAR in front of a Self Contained statement is its start, and the "
        "statement the end.",
        source_table(),
    )
    section(
        "What a receiver guesses",
        "An event without a marker is classified from the parser's present state, so marked and unmarked events may "
        "alternate; a marker wins over the guess.",
        guess_table(),
    )
    section(
        "The parser that shipped",
        "As observed on 9.7.4.\nAn error of the receiver is a warning (MY-010590 names the position); the parser goes "
        "on from the state in the cell.\nAn applier takes a GTID anywhere."
        "\nA receiver reads a text that is shorter than XA START, ROLLBACK, ROLLBACK TO or XA ROLLBACK on into its "
        "checksum.",
        shipped_classes(),
        shipped_table(),
        diagram(shipped_diagram()),
    )
    section(
        "Where the two differ",
        "Streams without markers, and the events that each model calls an error.\nThe worklog's parser is reset at "
        "every connection.\nA receiver of 9.7.4 that reconnects by file and position goes on in the state that it had; "
        "one that reconnects by GTID begins anew.",
        _table(["stream", "worklog", "shipped"], DIFFERENCES),
    )
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
