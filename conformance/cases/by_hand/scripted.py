"""Cases that are stored as SQL: a script for MySQL's own client, with what a replay needs in comments.

The first line may hold the Case itself, so that a replay judges it as the run did: a transaction for an applier, maybe
with damage to its file, or how often a relay log is read. The options that a server needs stand in a comment of the
first statement.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.by_hand.applier_transaction import ApplierTransaction
from conformance.cases.by_hand.damaged_frame import Damage, DamagedFrame
from conformance.cases.by_hand.event_case import dump_injection, load_injection

if TYPE_CHECKING:
    from collections.abc import Mapping

MARK: Final = "-- binlog-lab case: "
NEEDS: Final = "needs a server with"
_OPTIONS: Final = re.compile(rf"{NEEDS} (--.*?)(?: \*/|$)", re.MULTILINE)
_LOG: Final = re.compile(r"SELECT x'([0-9a-f]*)' INTO DUMPFILE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A script. ``times``: how often a server reads ``log``, where the Case is a relay log."""

    id: str
    text: str
    transaction: ApplierTransaction | None = None
    damage: Damage | None = None
    times: int = 0

    @property
    def log(self) -> bytes:
        """The relay log that it writes; empty where it writes none."""
        found = _LOG.search(self.text)
        return bytes.fromhex(found[1]) if found else b""

    @property
    def options(self) -> dict[str, str | None]:
        """The options that its server needs; without named ones, it has no GTIDs."""
        found = _OPTIONS.search(self.text)
        if found is None:
            return dict.fromkeys(("gtid-mode", "enforce-gtid-consistency"), "OFF")
        words = [word.removeprefix("--").partition("=") for word in found[1].split()]
        return {name: value if equals else None for name, equals, value in words}


def transaction_line(case: ApplierTransaction | DamagedFrame) -> str:
    """The first line of the script of a transaction for an applier."""
    frame = case if isinstance(case, DamagedFrame) else None
    item = case.transaction if isinstance(case, DamagedFrame) else case
    data: dict[str, Any] = {
        "rows": [{**dump_injection(row), "hazard": row.hazard} for row in item.rows],
        "repaired": None if item.repaired is None else [document.hex() for document in item.repaired],
        "beside": item.beside,
    }
    if frame is not None:
        damage = frame.damage
        data["damage"] = {
            "name": damage.name, "offset": damage.offset, "data": damage.data.hex(), "flip": damage.flip,
            "summed": damage.summed,
        }  # fmt: skip
    return MARK + json.dumps({"transaction": data})


def relay_log_line(times: int) -> str:
    """The first line of the script of a relay log that a server reads so many times."""
    return MARK + json.dumps({"relay_log": {"times": times}})


def read_script(identity: str, text: str) -> Script:
    """The script of a file's text. Raises :class:`ValueError` where the Case in its first line is damaged."""
    first = text.partition("\n")[0]
    if not first.startswith(MARK):
        return Script(id=identity, text=text)
    try:
        data = json.loads(first.removeprefix(MARK))
        if "relay_log" in data:
            return Script(id=identity, text=text, times=int(data["relay_log"]["times"]))
        return Script(id=identity, text=text, **_transaction(data["transaction"]))
    except (KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"its first line is no Case: {type(problem).__name__}: {problem}") from problem


def _transaction(data: Mapping[str, Any]) -> dict[str, Any]:
    repaired, damage = data["repaired"], data.get("damage")
    return {
        "transaction": ApplierTransaction(
            rows=tuple(load_injection(row) for row in data["rows"]),
            repaired=None if repaired is None else tuple(bytes.fromhex(document) for document in repaired),
            beside=int(data["beside"]),
        ),
        "damage": None if damage is None else Damage(**{**damage, "data": bytes.fromhex(damage["data"])}),
    }
