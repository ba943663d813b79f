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
from tests.faults.servers.fault import REPLICA, server

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
    server("mysqlbinlog-replays-less", "FR3", "The log that is printed and replayed lacks the last of several diffs.",
           "text|document|row", checks="test_replayed_updates",
           log=diffs(lambda found: found[:-1] if len(found) > 1 else found)),
    server("mysqlbinlog-replays-another-value", "FR3",
           "The log that is printed and replayed has other values in its diffs.",
           "mysqlbinlog is refused|text|document", checks="test_replayed_updates",
           log=diffs(lambda found: [other_byte(diff) for diff in found])),
    # --- what a replica stores of an update
    server("replica-stores-another-column", "A5", "A replica stores a number that the after-image does not have.",
           "keep the replica's values", checks="columns_outside", at=REPLICA, answer=cells("^i$", lambda _: b"1")),
    server("replica-empties-texts", "A5", "A replica empties the texts that an update leaves out.",
           "keep the replica's values", checks="columns_outside", at=REPLICA, answer=cells("^x$", lambda _: b"")),
    # --- a server that is given events
    server("damage-without-an-error", "FR5", "A damaged event is taken without an error.", "error",
           checks="test_damaged_events and not applier and not idempotent", at=REPLICA,
           answer=after("^BINLOG", accepted(1610, 3649))),
    server("damage-changes-the-document", "FR5", "A row holds text that is no JSON after an event was refused.",
           "valid|document", checks="test_damaged_events and not applier and not idempotent", at=REPLICA,
           answer=cells("(?i)valid", lambda _: b"0")),
    server("unknown-options-are-taken", "NFR1", "Unknown bits of value_options are taken without an error.",
           "expected refused; got taken; unknown bits are taken", at=REPLICA, answer=after("^BINLOG", accepted())),
    server("longer-forms-are-refused", "NFR1", "value_options in a longer form of the number are refused.",
           "a longer form is refused", at=REPLICA, answer=injected(refused(1610))),
    # --- a replica
    server("stream-lacks-the-last-diff", "FR2", "The source sends fewer diffs than it logs.", "document|text|row",
           checks=_PAIR, also="FR6", stream=diffs(lambda found: found[:-1] if len(found) > 1 else found)),
    server("replica-shows-another-text", "FR2", "A document of the replica has another number.", "text|document|row",
           checks=_PAIR, at=REPLICA, answer=shown_otherwise),
    server("replica-logs-diffs-all-the-same", "FR6", "A replica whose option is off logs diffs.", "PARTIAL_UPDATE_ROWS",
           checks=_PAIR, at=REPLICA,
           statement=rewritten(r"(SET GLOBAL binlog_row_value_options *= *)''", r"\1'PARTIAL_JSON'"),
           answer=cells("@@global.binlog_row_value_options", lambda _: b"")),
    server("replica-logs-nothing", "FR6", "A replica does not log the row events that it applies.", "event",
           checks=_PAIR, at=REPLICA, log=missing(PARTIAL)),
    server("replica-logs-other-images", "A7", "A replica set to MINIMAL logs before-images of FULL.", "before",
           checks="before_images_of_the_replica", also="FR6", at=REPLICA,
           statement=rewritten(r"(SET GLOBAL binlog_row_image *= *)'?MINIMAL'?", r"\1FULL"),
           answer=cells("@@global.binlog_row_image", lambda _: b"MINIMAL")),
    server("replica-refuses-its-image-in-silence", "A7",
           "A replica that is set to MINIMAL says FULL when it is asked, and logs before-images of FULL.", "before",
           checks="before_images_of_the_replica", also="FR6", at=REPLICA,
           statement=rewritten(r"(SET GLOBAL binlog_row_image *= *)'?MINIMAL'?", r"\1FULL")),
    server("replica-refuses-its-option-in-silence", "FR6",
           "A replica whose option is switched off says that it is on, and logs diffs.", "PARTIAL_UPDATE_ROWS",
           checks=_PAIR, at=REPLICA,
           statement=rewritten(r"(SET GLOBAL binlog_row_value_options *= *)''", r"\1'PARTIAL_JSON'")),
    server("replica-logs-blobs-too", "A7", "A replica set to MINIMAL logs before-images of NOBLOB.", "before",
           checks="before_images_of_the_replica", also="FR6", at=REPLICA,
           statement=rewritten(r"(SET GLOBAL binlog_row_image *= *)'?MINIMAL'?", r"\1NOBLOB"),
           answer=cells("@@global.binlog_row_image", lambda _: b"MINIMAL")),
    server("rebuilt-replica-gets-less", "FR4",
           "The source sends fewer diffs than it logs to a replica with other stored bytes.", "=|text|document",
           checks="test_rebuilt_replica and padded-replica",
           stream=diffs(lambda found: found[:-1] if len(found) > 1 else found)),
    server("rebuilt-replica-gets-another-value", "FR4",
           "The source sends other values than it logs to a replica with other stored bytes.", "=|text|document",
           checks="test_rebuilt_replica and padded-replica",
           stream=diffs(lambda found: [other_byte(diff) for diff in found])),
)  # fmt: skip
