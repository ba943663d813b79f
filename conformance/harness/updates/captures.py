"""Recorded observations: what a real server did with some blocks, for runs without a server.

One JSON line per block in ``recorded/updates-VERSION.jsonl.gz``: the Case, the server's answers, what was read back,
and the events. Only the server's side is recorded; the reference predicts anew. ``python -m
conformance.harness.updates.record`` writes them.
"""

from __future__ import annotations

import base64
import gzip
import json
import time
from dataclasses import asdict
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.files import dump_case, load_case
from conformance.cases.observation import LogFacts, Observation, Place, StatementOutcome
from conformance.cases.script import Script, build_script
from conformance.harness.updates.blocks import BlockResult, judge_block
from conformance.requirements.versions import OBSERVED, dialect_of, parse_version

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE: Final = "conformance.harness.updates"
DIRECTORY: Final = "recorded"
UPDATES: Final = 2_000
"""The updates in the recorded blocks of each version."""
_SUFFIX: Final = ".jsonl.gz"


def dump_capture(script: Script, observation: Observation) -> dict[str, Any]:
    """One recorded block as JSON data."""
    return {
        "case": dump_case(script.case),
        "server_version": observation.server_version,
        "thread_id": observation.thread_id,
        "schema": observation.schema,
        "outcomes": [[item.changed, item.error, item.message] for item in observation.outcomes],
        "read_backs": [
            [[None if value is None else _text(value) for value in row] for row in rows]
            for rows in observation.read_backs
        ],
        "read_back_errors": list(observation.read_back_errors),
        "events": [_text(event) for event in observation.events],
        "log": None if observation.log is None else asdict(observation.log),
    }


def load_capture(data: dict[str, Any]) -> tuple[Script, Observation]:
    """A recorded block: its script, predicted now for the server's version, and what the server did."""
    dialect = dialect_of(parse_version(data["server_version"]))
    script = build_script(load_case(data["case"]), dialect=dialect)
    observation = Observation(
        outcomes=tuple(StatementOutcome(*item) for item in data["outcomes"]),
        read_backs=tuple(
            tuple(tuple(None if value is None else base64.b64decode(value) for value in row) for row in rows)
            for rows in data["read_backs"]
        ),
        read_back_errors=tuple(data.get("read_back_errors", ())),  # older captures have none, and none was due
        events=tuple(base64.b64decode(event) for event in data["events"]),
        server_version=data["server_version"],
        thread_id=data["thread_id"],
        schema=data["schema"],
        log=_load_facts(data.get("log")),
    )
    return script, observation


def _load_facts(data: dict[str, Any] | None) -> LogFacts | None:
    """The facts that the recording session asked for; older recordings have none."""
    if data is None:
        return None
    before, behind = (tuple((start, end) for start, end in intervals) for intervals in data["executed"])
    pairs: dict[str, Any] = {
        "clock": tuple(data["clock"]),
        "queries": tuple(data["queries"]),
        "executed": (before, behind),
    }
    # Older recordings do not say: transactions of a server with GTIDs have added to the executed ones.
    gtids = data.get("gtids", before != behind)
    elapsed = data.get("elapsed")
    pairs["elapsed"] = None if elapsed is None else tuple(elapsed)
    return LogFacts(**{**data, **pairs, "places": tuple(Place(**place) for place in data["places"]), "gtids": gtids})


def recorded(version: str = OBSERVED) -> Iterator[dict[str, Any]]:
    """All recorded blocks of a server version, in order."""
    path = files(PACKAGE).joinpath(DIRECTORY, f"updates-{version}.jsonl.gz")
    for line in gzip.decompress(path.read_bytes()).splitlines():
        yield json.loads(line)


def recorded_versions() -> list[str]:
    """The server versions of which there are recorded blocks, the newest last."""
    names = (path.name for path in files(PACKAGE).joinpath(DIRECTORY).iterdir())
    found = (name.removeprefix("updates-").removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
    return sorted(found, key=parse_version)


def captured_blocks(version: str = OBSERVED) -> Iterator[BlockResult]:
    """The recorded blocks of a server version, judged one by one as they are asked for."""
    for number, data in enumerate(recorded(version)):
        begun = time.perf_counter()
        script, observation = load_capture(data)
        yield judge_block(script, observation, number, begun)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
