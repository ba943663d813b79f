"""Faults planted into the live path: a server whose bytes are doctored, and a reference that predicts wrongly.

Run as a program (``python tests/harness/planted.py FAULT conformance …``) it is ``binlog-lab`` with the fault in it,
for tests from end to end. The campaign runs in this process then: worker processes would not have the fault.
"""

from __future__ import annotations

import json
import sys
import zlib
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest

from conformance.cases.files import dump_case, load_case
from conformance.cases.observation import Observation, StatementOutcome
from conformance.cases.script import Script, build_script
from conformance.checks.updates import campaign as update_campaign
from conformance.harness import shrinking
from conformance.harness.updates import blocks
from conformance.harness.updates import run as campaign
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.servers.roles.update_cases import run_case
from tests.faults.fault import Fault
from tests.judge.updates.faults_of_facts import CHANGES, FIELDS, altered

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from conformance.cases.update_case import UpdateCase
    from conformance.harness.updates.blocks import BlockResult, Limits

    Change: TypeAlias = Callable[[Observation], Observation]


def _set(column: str, path: str, value: object) -> list[Any]:
    return [column, {"call": "JSON_SET", "document": {"column": column}, "arguments": [[path, {"value": value}]]}]


# Two JSON columns, and an INT at the end of every image.
_TABLE: Final[dict[str, Any]] = {
    "schema": "lab",
    "name": "t",
    "columns": [
        {"name": "id", "type": "INT", "nullable": False},
        {"name": "j", "type": "JSON"},
        {"name": "k", "type": "JSON"},
        {"name": "n", "type": "INT"},
    ],
    "primary_key": [[0, 0]],
}


def case() -> UpdateCase:
    """The Case of the doctored runs: partial, removed, whole, an increment, and a statement that changes nothing."""
    document = {"jsonb": encode({"a": 1, "b": "b" * 60, "c": [1, 2, 3]}).hex()}
    steps = [
        [_set("j", "$.a", 2)],
        [_set("j", "$.c[1]", "x"), ["n", {"increment": "n", "by": 1}]],
        [_set("k", "$.b", "much shorter")],
        [["j", {"call": "JSON_REMOVE", "document": {"column": "j"}, "arguments": [["$.c", None]]}]],
        [_set("j", "$.a", 2)],
    ]
    data = {
        "format": 1,
        "kind": "update",
        "id": "planted",
        "requirements": ["FR1"],
        "table": _TABLE,
        "selector": "id",
        "session": {},
        "rows": [[number, document, document, 7] for number in (1, 2)],
        "steps": [{"set": step, "rows": [0, 1], "commit": True} for step in steps],
    }
    return load_case(data)


class SerialCampaign(campaign.Campaign):
    """The campaign in this process."""

    def results(self) -> Generator[BlockResult]:
        """Blocks one after the other."""
        with self.server.connect() as connection, self.server.schema(connection) as schema:
            capture = self.server.capture()
            for number, updates in enumerate(self.sizes):
                result = blocks.run_block(connection, capture, schema, self.seed, number, self.limits, updates)
                self.totals.add(result)
                yield result
            capture.close()


def sealed(event: bytes) -> bytes:
    """With the length in its header and the checksum at its end put right."""
    whole = event[:9] + len(event).to_bytes(4, "little") + event[13:-4]
    return whole + zlib.crc32(whole).to_bytes(4, "little")


def doctor_event(change: Callable[[bytes], bytes]) -> Change:
    """Change the first PARTIAL_UPDATE_ROWS event."""

    def doctored(observation: Observation) -> Observation:
        events = list(observation.events)
        for place, event in enumerate(events):
            if event[4] == EventType.PARTIAL_UPDATE_ROWS and change(event) != event:
                events[place] = sealed(change(event))
                break
        return replace(observation, events=tuple(events))

    return doctored


def doctor_read_back(place: int, value: Callable[[bytes], bytes]) -> Change:
    """Change one value of the last row that was read back and holds a document."""

    def doctored(observation: Observation) -> Observation:
        if not observation.read_backs or not observation.read_backs[-1]:
            return observation
        rows = [list(map(list, rows)) for rows in observation.read_backs]
        found = rows[-1][-1][place]
        if found is not None:
            rows[-1][-1][place] = value(found)
        return replace(observation, read_backs=tuple(tuple(map(tuple, row)) for row in rows))

    return doctored


def more_rows_changed(observation: Observation) -> Observation:
    """The last statement claims one row more."""
    *others, last = observation.outcomes
    return replace(observation, outcomes=(*others, StatementOutcome(last.changed + 1, last.error, last.message)))


_WHOLE: Final[dict[str, Any]] = {"first": [1, 2], "second": "text", "third": None}
_HEAD: Final = 5  # of a small object: its type, count and size; the entries of the keys follow


def whole_case() -> UpdateCase:
    """A document that is assigned and therefore logged whole, and an update of it."""
    steps = [[["k", {"value": _WHOLE}]], [_set("k", "$.second", "another text")]]
    document = {"jsonb": encode({"a": 1}).hex()}
    data = {
        **dump_case(case()),
        "rows": [[number, document, document, 7] for number in (1, 2)],
        "steps": [{"set": step, "rows": [0, 1], "commit": True} for step in steps],
    }
    return load_case(data)


def other_order(event: bytes) -> bytes:
    """The whole document with its entries, keys and values backwards."""
    document = encode(_WHOLE)
    return event.replace(document, document[:_HEAD] + document[: _HEAD - 1 : -1])


def lost_rows(observation: Observation) -> Observation:
    """No SELECT finds a row, and none says why."""
    return replace(observation, read_backs=tuple(() for _ in observation.read_backs))


def alter(field: str, change: str) -> Change:
    """Change the values of a field that no model can know."""

    def doctored(observation: Observation) -> Observation:
        return altered(observation, FIELDS[field], CHANGES[change])

    return doctored


def requirements_of(checks: Iterable[str]) -> tuple[str, ...]:
    """Name the requirements that checks of the update campaign judge."""
    return tuple(name for check in sorted(checks) for name in update_campaign.UPDATE_CHECKS[check].requirements)


def _doctored(name: str, change: Change, *checks: str) -> Fault:
    """Name a change of the observation, and the checks that must notice."""
    return Fault(name, " ".join(requirements_of(checks)), name, change, at=frozenset(checks))


DOCTORED: Final = {
    fault.id: fault
    for fault in (
        _doctored(
            "value-of-a-row",
            doctor_event(lambda event: event[:-5] + bytes([event[-5] ^ 1]) + event[-4:]),
            "updates/event-bytes",
        ),
        _doctored(
            "torn-event", doctor_event(lambda event: event[:-12] + event[-4:]), "updates/event-bytes", "updates/decode"
        ),
        _doctored(
            "other-path",
            doctor_event(lambda event: event.replace(b"\x03$.a", b"\x03$.z", 1)),
            "updates/event-bytes",
            "updates/apply",
        ),
        _doctored("server-id", alter("header.server_id", "every"), "updates/event-bytes"),
        _doctored("position", alter("header.log_pos", "one_step"), "updates/event-bytes"),
        _doctored("transaction-id", alter("XID_EVENT.xid", "shifted"), "updates/event-bytes"),
        _doctored("size", doctor_read_back(0, lambda size: b"%d" % (int(size) + 1)), "updates/storage"),
        _doctored("free", doctor_read_back(1, lambda free: b"%d" % (int(free) + 1)), "updates/storage"),
        _doctored("text", doctor_read_back(2, lambda text: text.replace(b": ", b":", 1)), "updates/text"),
        _doctored("rows-changed", more_rows_changed, "updates/event-bytes"),
        _doctored("other-order", doctor_event(other_order), "updates/event-bytes"),
        _doctored("lost-rows", lost_rows, "updates/text"),
    )
}
CASES: Final = {"other-order": whole_case}


def plant_case(patch: pytest.MonkeyPatch, planted: UpdateCase) -> None:
    """Every block of the campaign is this Case; the checks with scripts of their own (named seeds) keep them."""
    made = blocks.make_script

    def make_script(seed: int | str, number: int, limits: Limits, **options: Any) -> Script:
        if "/" in str(seed):
            return made(seed, number, limits, **options)
        return build_script(planted, row_metadata=limits.row_metadata, row_event_max_size=limits.row_event_max_size)

    patch.setattr(update_campaign, "Campaign", SerialCampaign)
    patch.setattr(blocks, "make_script", make_script)


def plant_observation(patch: pytest.MonkeyPatch, change: Callable[[Observation], Observation]) -> None:
    """Every run of a Case is doctored."""

    def doctored(*arguments: Any) -> Observation:
        return change(run_case(*arguments))

    patch.setattr(blocks, "run_case", doctored)
    patch.setattr(shrinking, "run_case", doctored)


def witness() -> UpdateCase:
    """A Case on which the server shows a listed deviation."""
    text = resources.files("conformance.requirements").joinpath("witnesses", "unchanging-replace.json")
    return load_case(json.loads(text.read_text("utf-8")))


def plant(patch: pytest.MonkeyPatch, fault: str) -> None:
    """One fault by its name."""
    if fault == "deviation":
        plant_case(patch, witness())
    elif fault == "defect":

        def broken(*_: object, **__: object) -> Script:
            raise AssertionError("a defect of the kit")

        patch.setattr(update_campaign, "Campaign", SerialCampaign)
        patch.setattr(blocks, "make_script", broken)
    else:
        plant_case(patch, CASES.get(fault, case)())
        plant_observation(patch, DOCTORED[fault].change)


if __name__ == "__main__":
    from conformance.cli.main import main

    plant(pytest.MonkeyPatch(), sys.argv.pop(1))
    main()
