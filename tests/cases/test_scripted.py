"""Cases stored as SQL come back from their first line, and name the options of their server."""

from __future__ import annotations

import pytest

from conformance.cases.by_hand.damaged_frame import DamagedFrame
from conformance.cases.by_hand.scripted import read_script, relay_log_line, transaction_line
from conformance.servers.roles.applier_cases import transaction_script
from conformance.servers.roles.relay_log_applier import log_script
from generators import applier_transactions
from generators.draw import Stream


@pytest.mark.parametrize("number", range(3))
def test_a_transaction_comes_back(number: int) -> None:
    case = applier_transactions.damage(Stream("scripted", number))
    text = "\n".join((transaction_line(case), *transaction_script(case, "9.7.4")))
    script = read_script("c", text)
    assert (script.transaction, script.damage, script.times) == (case, None, 0)
    assert script.options["relay-log"] == "lab-relay"
    assert script.options["skip-replica-start"] is None
    frame = applier_transactions.damaged_frame(Stream("scripted", number))
    torn = read_script("c", transaction_line(frame))
    assert torn.transaction is not None
    assert torn.damage is not None
    assert DamagedFrame(transaction=torn.transaction, damage=torn.damage) == frame


def test_a_relay_log_is_the_one_that_the_script_writes() -> None:
    script = read_script("c", "\n".join((relay_log_line(6), *log_script(b"\xfebin and more"))))
    assert (script.log, script.times) == (b"\xfebin and more", 6)
    assert script.options["replica-skip-errors"] == "all"


def test_a_script_of_anybody_needs_no_first_line() -> None:
    script = read_script("c", "SELECT 1;\n")
    assert (script.log, script.transaction) == (b"", None)
    assert script.options == {"gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"}
