"""Hostile streams: clients and a receiver read them, and the lab must come out of it as it went in.

A client may make of such a stream what it likes. The lab has three duties. Its source answers the next client. No bytes
of a client or log end that source. No thread, socket or process is left.
"""

from __future__ import annotations

import gc
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.header import MAGIC
from conformance.servers.source.log_files import LogFiles, NoLog
from conformance.servers.source.scripted import FILE, PASSWORD, USER, ScriptedSource
from conformance.servers.source.server import Source
from conformance.servers.wire.connection import Address, connect
from conformance.subjects.child import Limits
from conformance.subjects.conversation import Conversation
from conformance.subjects.specs import client_command, parse_subject
from generators.draw import Stream
from tests.source_campaigns import hostile_streams

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.subjects.answers import Answer

_TIMEOUT: Final = 1.5
_MARKER: Final = {"schema": "binlog_lab_wire", "table": "markers", "begin": "0:begin", "end": "0:end"}


@dataclass(slots=True)
class Harm:
    """The outcomes of what was read, and everything that is wrong with the lab afterwards."""

    outcomes: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def open_files() -> int:
    """Descriptors of this process."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def children() -> set[int]:
    """Processes that this one started and that still run."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        found |= {int(word) for word in (task / "children").read_text().split()}
    return found


def run(client: str, first: int, count: int, narrate: Callable[[str], None] = lambda _: None) -> Harm:
    """Let a client read streams from number ``first`` on, each twice: as events, and as a file of the source."""
    harm = Harm()
    gc.collect()
    before = threading.active_count(), open_files(), children()
    subject = Conversation(client_command(parse_subject(client)), name=client, limits=Limits(request=_TIMEOUT * 2))
    for number in range(first, first + count):
        events = hostile_streams.stream(Stream("hostile", number))
        with ScriptedSource([events], version="9.7.4") as source:
            harm.outcomes[_outcome(subject, source, FILE)] += 1
            _check(source, harm, number)
        try:
            logs = LogFiles.of_bytes([(FILE, MAGIC + b"".join(events))])
        except NoLog:
            harm.outcomes["no log file"] += 1
        else:
            with Source(logs, account=source.account, tls=False) as plain:
                harm.outcomes[_outcome(subject, plain, FILE)] += 1
                _check(plain, harm, number)
        narrate(f"{number}: {dict(harm.outcomes)}")
    subject.close()
    gc.collect()
    after = threading.active_count(), open_files(), children()
    if after != before:
        harm.problems.append(f"threads, descriptors, processes: {before} before, {after} after")
    return harm


def _outcome(subject: Conversation, source: Source, file: str) -> str:
    server: dict[str, Any] = {
        "host": "127.0.0.1", "port": source.port, "user": USER, "password": PASSWORD, "tls": False,
        "file": file, "position": 4, "marker": _MARKER, "columns": {}, "timeout": _TIMEOUT,
    }  # fmt: skip
    answer: Answer = subject.request("decode", None, server=server)
    return str(answer.failure) if answer.failure else "error" if answer.error else "read"


def _check(source: Source, harm: Harm, number: int) -> None:
    """Whether the source still serves, and nothing in it broke."""
    address = Address(port=source.port, user=USER, password=PASSWORD, tls=(("ssl-mode", "DISABLED"),))
    with connect(address, timeout=10) as session:
        if session.execute("SELECT 1").scalar() != "1":
            harm.problems.append(f"stream {number}: the source answers something else")
        session.execute("SELECT COUNT(*) FROM information_schema.columns")
    harm.problems += [f"stream {number}: {text}" for text in source.ended]
