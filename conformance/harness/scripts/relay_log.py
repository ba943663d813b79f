"""A relay log that ends a replica, as a script: a generator makes it again and gives it to an applier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.harness.scripts.checked_sql import RUN_WITH
from conformance.judge.damage.relay_logs import damage_of_relay_log
from conformance.requirements.crashes import ROWS_QUERY_OUTSIDE, TRANSACTION_CONTEXT
from conformance.servers.roles.relay_log_applier import log_script
from generators.draw import Stream
from generators.relay_logs import DAMAGED
from generators.streams import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.requirements.crashes import Crash

BY_CHANCE: Final = (ROWS_QUERY_OUTSIDE, TRANSACTION_CONTEXT)  # memory is damaged: not every time the server dies of it
# The transaction is whole, and yet the applier waits behind it: it does not even stop when it is told to (1875). Some
# go on where the machine is busy: in 8 of 48 runs, 6 and 12 side by side on two cores, and in none of 12 alone.
_STOPPED: Final = (
    "SELECT 'the applier, told to stop' AS checked, 'has stopped' AS expected,",
    "  IF(service_state = 'OFF', 'has stopped', 'waits for ever') AS got,",
    "  IF(service_state = 'OFF', 'as expected', 'FAULT') AS verdict",
    "  FROM performance_schema.replication_applier_status;",
)
_ROUNDS: Final = 8  # of a log that damages memory: about one in two kills
_MANY: Final = 20  # logs of a generator that are looked at for a damage


def relay_log_script(crash: Crash) -> str | None:
    """SQL; where the server dies, the client prints "Lost connection" behind the expected result. ``None``: no
    generator makes the damage."""
    found = next((item for item in _logs() if damage_of_relay_log(item[1]) == crash.damage), None)
    if found is None:
        return None
    seed, data = found
    needs, *statements = log_script(data, TABLES)
    if crash.damage == TRANSACTION_CONTEXT:  # told to stop before it is there, the applier does not wait
        statements.insert(-1, "DO SLEEP(4)")
    lines = [
        f"-- A relay log with {crash.damage}, seed {seed}.",
        f"-- Run it with: {RUN_WITH} < SCRIPT 2>&1",
        *(["-- The server dies by chance: run it again, on fresh servers."] if crash.damage in BY_CHANCE else []),
        *(["-- Mostly its applier waits for ever."] if crash.damage == TRANSACTION_CONTEXT else []),
        f"{needs};",
        # STOP REPLICA waits for an applier that waits for the rest of a transaction: for a year by default.
        "SET GLOBAL rpl_stop_replica_timeout = 2;",
        "SELECT 'the relay log' AS next, 'the server lives, whatever it makes of the log' AS expected;",
        *(f"{statement};" for statement in statements * (_ROUNDS if crash.damage == ROWS_QUERY_OUTSIDE else 1)),
        *(_STOPPED if crash.damage == TRANSACTION_CONTEXT else ()),
        "SELECT 'the server' AS checked, 'lives' AS expected, 'lives' AS got, 'as expected' AS verdict;",
    ]
    return "\n".join(lines) + "\n"


def _logs() -> Iterator[tuple[str, bytes]]:
    for kind, make in DAMAGED.items():
        for number in range(_MANY):
            key = ("script", kind, number)
            yield " ".join(map(str, key)), make(Stream(*key))
