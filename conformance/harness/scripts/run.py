"""Scripts run again, each on a server of its own with the options that it names.

A script with a Case in its first line is judged as that Case. Any other one is run by MySQL's own client: its output
must have no FAULT, and the server must live.
"""

from __future__ import annotations

import hashlib
import re
from functools import partial
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.damaged_frame import DamagedFrame
from conformance.cases.by_hand.scripted import relay_log_line
from conformance.harness.injections import Tried, try_transaction
from conformance.harness.scripts.checked_sql import CLIENT, FAULT
from conformance.judge.damage.diverged import JudgedOutcome
from conformance.judge.damage.relay_logs import crash_of_replica, judge_end
from conformance.requirements.versions import dialect_of
from conformance.servers import clock
from conformance.servers.errors import ServerError
from conformance.servers.roles.applier import launch_applier
from conformance.servers.roles.injector import crash_signature
from conformance.servers.roles.relay_log_applier import LogReader, launch_replica, log_script
from conformance.verdict import Verdict
from generators.streams import TABLES

if TYPE_CHECKING:
    from conformance.cases.by_hand.scripted import Script
    from conformance.servers.roles.relay_log_applier import LogEnd
    from conformance.servers.run.owned import Maker, OwnServer

PATIENCE: Final = 300.0  # seconds for a whole script
LOST: Final = "Lost connection"  # the client's words
CHECK: Final = re.compile(
    r"^ *checked: (?P<what>.*)\n *expected: (?P<expected>[^\0]*?)\n *got: (?P<got>[^\0]*?)\n"
    r" *verdict: (?P<verdict>.*)$",
    re.MULTILINE,
)


def try_script(maker: Maker, script: Script) -> Tried:
    """Run a script on a fresh server of the maker, and judge what came of it."""
    if script.transaction is not None:
        case = script.transaction
        damaged = None if script.damage is None else DamagedFrame(transaction=case, damage=script.damage)
        return try_transaction(launch_applier(maker), damaged or case, dialect_of(maker.number))
    if script.times:
        with LogReader(partial(launch_replica, maker)) as reader:
            return log_tried(script.id, script.log, read_log(reader, script.log, script.times), script.times)
    with maker.launch(options=script.options) as server:
        return _by_client(server, script)


def read_log(reader: LogReader, data: bytes, times: int) -> LogEnd:
    """The end of a server that reads a log so many times, or until the first of them ends it."""
    end = reader.read(data, TABLES)
    for _ in range(times - 1):
        if end.death or end.silent or end.waits:
            break
        end = reader.read(data, TABLES)
    return end


def log_tried(name: str, data: bytes, end: LogEnd, times: int) -> Tried:
    """A relay log with the judge's verdict on how the server ended."""
    return Tried(
        id=f"log-{hashlib.blake2b(data, digest_size=6).hexdigest()}",
        name=name,
        judged=judge_end(end.death, silent=end.silent),
        script=partial(log_script, data, TABLES),
        death=end.death,
        crash=crash_of_replica(data, end.death),
        first=relay_log_line(times),
    )


def _by_client(server: OwnServer, script: Script) -> Tried:
    client = server.client_program("mysql", login=True)
    ended = client.run(CLIENT, stdin=script.text.encode("utf-8", "surrogateescape"), timeout=PATIENCE)
    text = (ended.stdout + ended.stderr).decode("utf-8", "replace")
    # One that writes the report of its crash is there for some moments more.
    died = not server.alive() or (LOST in text and clock.until(lambda: not server.alive(), PATIENCE, 0.05))
    death = crash_signature(server.error_log(), server.program_file) if died else ""
    judged = judge_end(death, silent=LOST in text)
    checks = [*CHECK.finditer(text)]
    fault = next((found for found in checks if found["verdict"] == FAULT), None)
    if judged.verdict is Verdict.PASS and not checks:
        raise ServerError("the server lives, and nothing in the script says what its statements must give")
    if judged.verdict is Verdict.PASS and fault is not None:
        judged = JudgedOutcome(Verdict.FAIL, fault["what"], fault["expected"], fault["got"])
    return Tried(
        id=script.id,
        name=script.id,
        judged=judged,
        script=lambda: (script.text,),
        death=death,
        crash=crash_of_replica(script.log, death) if script.log else None,
    )
