"""Events of a line or two that change no state of a text, as mysqlbinlog and mariadb-binlog print them alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.binlog import control_events, load, statement_events
from conformance.reference.event_types import EventType
from conformance.reference.text.session import DELIMITER

if TYPE_CHECKING:
    from conformance.reference.binlog.event import Event
    from conformance.reference.text.session import Session


def small_text(event: Event, session: Session, *, signed: bool, charset: bool) -> bytes | None:
    """The text behind the header, newline included; ``None`` for any other event.

    ``signed``: numbers are printed with a sign (9.7.4), or without one (mariadb-binlog 10.11.18).
    ``charset``: a user variable is set under its own character sets.
    """

    def number(value: int, bits: int = 64) -> int:
        return value - (1 << bits) if signed and value >> (bits - 1) else value

    match event.body:
        case control_events.Rotate(name=name, position=position):
            return b"\tRotate to %b  pos: %d\n" % (name, position)
        case control_events.Stop():
            return b"\tStop\n"
        case statement_events.Intvar(kind=kind, value=value):
            name = b"LAST_INSERT_ID" if kind == statement_events.IntvarKind.LAST_INSERT_ID else b"INSERT_ID"
            return b"\tIntvar\nSET %b=%d" % (name, number(value)) + DELIMITER
        case statement_events.Rand(seed1=seed1, seed2=seed2):
            return b"\tRand\nSET @@RAND_SEED1=%d, @@RAND_SEED2=%d" % (number(seed1), number(seed2)) + DELIMITER
        case statement_events.UserVar() as body:
            return b"\tUser_var\n" + session.user_variable(body, charset=charset)
        case load.LoadBlock() as body:
            name = b"Begin_load_query" if body.type == EventType.BEGIN_LOAD_QUERY else b"Append_block"
            return b"\n#%b: file_id: %d  block_len: %d\n" % (name, number(body.file_id, 32), len(body.data))
        case load.DeleteFile(file_id=file_id):
            return b"\n#Delete_file: file_id=%d\n" % file_id
        case load.ExecuteLoadQuery() as body:
            words = b"\tExecute_load_query\tthread_id=%d\texec_time=%d\terror_code=%d\n" % (
                body.thread_id, body.execution_time, body.error_code,
            )  # fmt: skip
            text = session.statement(event.header, body) + body.text + b"\n" + DELIMITER
            return words + text + b"# file_id: %d \n" % number(body.file_id, 32)
        case _:
            return None
