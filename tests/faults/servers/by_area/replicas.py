"""Faulty servers among several: a source that sends other diffs than it logs, a replica, a server given events."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.reference.event_types import EventType
from tests.faults.servers.by_area.updates import other_byte
from tests.faults.servers.edits import (
    PARTIAL,
    accepted,
    after,
    cells,
    diffs,
    events_of,
    missing,
    refused,
    rewritten,
)
from tests.faults.servers.fault import REPLICA, ServerFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.servers.fault import ChangedAnswer
    from tests.faults.servers.packets import Answer

_TEXTS: Final = re.compile(r"SELECT `[^<]*` FROM `t` ORDER BY")
_PAIR: Final = "test_replica_equals_source and gtid"


def shown_otherwise(sql: str, answer: Answer) -> Answer:
    """The text of each document of the table ends with another character."""
    if not _TEXTS.match(sql):
        return answer
    return replace(answer, rows=tuple(tuple(cell and cell[:-1] + b"?" for cell in row) for row in answer.rows))


def injected(change: Callable[[Answer], Answer]) -> ChangedAnswer:
    """Change the answers to BINLOG statements that have a PARTIAL_UPDATE_ROWS event."""

    def changed(sql: str, answer: Answer) -> Answer:
        kinds = {event[4] for event in events_of(sql)}
        return change(answer) if EventType.PARTIAL_UPDATE_ROWS in kinds else answer

    return changed


REPLICA_FAULTS: Final = (
    ServerFault(
        id="mysqlbinlog-replays-less",
        breaks=("FR3",),
        does="The log that is printed and replayed lacks the last of several diffs.",
        says="text|document|row",
        checks="test_replayed_updates",
        log=diffs(lambda found: found[:-1] if len(found) > 1 else found),
    ),
    ServerFault(
        id="mysqlbinlog-replays-another-value",
        breaks=("FR3",),
        does="The log that is printed and replayed has other values in its diffs.",
        says="mysqlbinlog is refused|text|document",
        checks="test_replayed_updates",
        log=diffs(lambda found: [other_byte(diff) for diff in found]),
    ),
    # --- what a replica stores of an update
    ServerFault(
        id="replica-stores-another-column",
        breaks=("A5",),
        does="A replica stores a number that the after-image does not have.",
        says="keep the replica's values",
        checks="columns_outside",
        at=REPLICA,
        answer=cells("^i$", lambda _: b"1"),
    ),
    ServerFault(
        id="replica-empties-texts",
        breaks=("A5",),
        does="A replica empties the texts that an update leaves out.",
        says="keep the replica's values",
        checks="columns_outside",
        at=REPLICA,
        answer=cells("^x$", lambda _: b""),
    ),
    # --- a server that is given events
    ServerFault(
        id="damage-without-an-error",
        breaks=("FR5",),
        does="A damaged event is taken without an error.",
        says="error",
        checks="test_damaged_events and not applier and not idempotent",
        at=REPLICA,
        answer=after("^BINLOG", accepted(1610, 3649)),
    ),
    ServerFault(
        id="damage-changes-the-document",
        breaks=("FR5",),
        does="A row holds text that is no JSON after an event was refused.",
        says="valid|document",
        checks="test_damaged_events and not applier and not idempotent",
        at=REPLICA,
        answer=cells("(?i)valid", lambda _: b"0"),
    ),
    ServerFault(
        id="unknown-options-are-taken",
        breaks=("NFR1",),
        does="Unknown bits of value_options are taken without an error.",
        says="expected refused; got taken; unknown bits are taken",
        at=REPLICA,
        answer=after("^BINLOG", accepted()),
    ),
    ServerFault(
        id="longer-forms-are-refused",
        breaks=("NFR1",),
        does="value_options in a longer form of the number are refused.",
        says="a longer form is refused",
        at=REPLICA,
        answer=injected(refused(1610)),
    ),
    # --- a replica
    ServerFault(
        id="stream-lacks-the-last-diff",
        breaks=("FR2",),
        also=("FR6",),
        does="The source sends fewer diffs than it logs.",
        says="document|text|row",
        checks=_PAIR,
        stream=diffs(lambda found: found[:-1] if len(found) > 1 else found),
    ),
    ServerFault(
        id="replica-shows-another-text",
        breaks=("FR2",),
        does="A document of the replica has another number.",
        says="text|document|row",
        checks=_PAIR,
        at=REPLICA,
        answer=shown_otherwise,
    ),
    ServerFault(
        id="replica-logs-diffs-all-the-same",
        breaks=("FR6",),
        does="A replica whose option is off logs diffs.",
        says="PARTIAL_UPDATE_ROWS",
        checks=_PAIR,
        at=REPLICA,
        statement=rewritten(r"(SET GLOBAL binlog_row_value_options *= *)''", r"\1'PARTIAL_JSON'"),
        answer=cells("@@global.binlog_row_value_options", lambda _: b""),
    ),
    ServerFault(
        id="replica-logs-nothing",
        breaks=("FR6",),
        does="A replica does not log the row events that it applies.",
        says="event",
        checks=_PAIR,
        at=REPLICA,
        log=missing(PARTIAL),
    ),
    ServerFault(
        id="replica-logs-other-images",
        breaks=("A7",),
        also=("FR6",),
        does="A replica set to MINIMAL logs before-images of FULL.",
        says="before",
        checks="before_images_of_the_replica",
        at=REPLICA,
        statement=rewritten(r"(SET GLOBAL binlog_row_image *= *)'?MINIMAL'?", r"\1FULL"),
        answer=cells("@@global.binlog_row_image", lambda _: b"MINIMAL"),
    ),
    ServerFault(
        id="replica-refuses-its-image-in-silence",
        breaks=("A7",),
        also=("FR6",),
        does="A replica that is set to MINIMAL says FULL when it is asked, and logs before-images of FULL.",
        says="before",
        checks="before_images_of_the_replica",
        at=REPLICA,
        statement=rewritten(r"(SET GLOBAL binlog_row_image *= *)'?MINIMAL'?", r"\1FULL"),
    ),
    ServerFault(
        id="replica-refuses-its-option-in-silence",
        breaks=("FR6",),
        does="A replica whose option is switched off says that it is on, and logs diffs.",
        says="PARTIAL_UPDATE_ROWS",
        checks=_PAIR,
        at=REPLICA,
        statement=rewritten(r"(SET GLOBAL binlog_row_value_options *= *)''", r"\1'PARTIAL_JSON'"),
    ),
    ServerFault(
        id="replica-logs-blobs-too",
        breaks=("A7",),
        also=("FR6",),
        does="A replica set to MINIMAL logs before-images of NOBLOB.",
        says="before",
        checks="before_images_of_the_replica",
        at=REPLICA,
        statement=rewritten(r"(SET GLOBAL binlog_row_image *= *)'?MINIMAL'?", r"\1NOBLOB"),
        answer=cells("@@global.binlog_row_image", lambda _: b"MINIMAL"),
    ),
    ServerFault(
        id="rebuilt-replica-gets-less",
        breaks=("FR4",),
        does="The source sends fewer diffs than it logs to a replica with other stored bytes.",
        says="=|text|document",
        checks="test_rebuilt_replica and padded-replica",
        stream=diffs(lambda found: found[:-1] if len(found) > 1 else found),
    ),
    ServerFault(
        id="rebuilt-replica-gets-another-value",
        breaks=("FR4",),
        does="The source sends other values than it logs to a replica with other stored bytes.",
        says="=|text|document",
        checks="test_rebuilt_replica and padded-replica",
        stream=diffs(lambda found: [other_byte(diff) for diff in found]),
    ),
)
