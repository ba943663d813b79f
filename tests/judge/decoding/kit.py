"""Decoder Cases for tests of the judge: from a recorded log, or of one column."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from conformance.cases.decoder_case import Allowed, DecoderCase, Equality
from conformance.judge.decoding.exact_json import parse
from conformance.judge.decoding.judge import Judgement, judge
from conformance.judge.decoding.observed import Observed
from conformance.reference.binlog.files import FileReader
from conformance.reference.errors import CodecError
from conformance.reference.replay.engine import Replay
from conformance.reference.text.row_changes import RowChanges

LOGS = Path(__file__).parents[2] / "data" / "binlogs"


def decoded(log: bytes, *, tagged: bool = True, resolve: bool = False) -> tuple[dict[str, Any], ...]:
    """The row changes of a log, as the reference decodes them."""
    changes = RowChanges(tagged=tagged)
    replay = Replay(lenient=True) if resolve else None
    reader = FileReader(expand=True)
    reader.feed(log)
    out: list[dict[str, Any]] = []
    try:
        for event in reader.events():
            if replay is not None:
                replay.other(event)
            out += map(parse, changes.event(event, None if replay is None else replay.row))
    except CodecError:
        pass
    return tuple(out)


@cache
def case_of(name: str) -> DecoderCase:
    """The Case of a recorded log."""
    log = (LOGS / f"{name}.binlog").read_bytes()
    return DecoderCase(
        id=f"recorded/{name}", title=name, why="", requirements=("DEC1", "DEC2"), log=log,
        expected=decoded(log), resolved=decoded(log, resolve=True),
    )  # fmt: skip


def change(
    after: dict[str, Any] | None,
    before: dict[str, Any] | None = None,
    operation: str | None = None,
    position: int = 100,
    **facts: Any,
) -> dict[str, Any]:
    """One change of the table ``s.t``."""
    kind = operation or ("insert" if before is None else "delete" if after is None else "update")
    event = {"insert": "WRITE_ROWS_EVENT", "delete": "DELETE_ROWS_EVENT"}.get(kind, "UPDATE_ROWS_EVENT")
    return {
        "file": "a", "position": position, "event": event, "schema": "s", "table": "t", "operation": kind, "row": 0,
        "before": before, "after": after, "inner": None, **facts,
    }  # fmt: skip


def verdict_of(
    expected: list[dict[str, Any]],
    got: list[Any],
    *,
    resolved: list[dict[str, Any]] | None = None,
    requirements: tuple[str, ...] = ("DEC1",),
    capabilities: tuple[str, ...] = (),
    allowed: Allowed = Allowed.CHANGES,
    equality: Equality = Equality.VALUE,
    rolled_back: tuple[int, ...] = (),
    commit_order: tuple[int, ...] = (),
    needs: tuple[str, ...] = (),
    **answer: Any,
) -> Judgement:
    """The judgement about an answer, without a log."""
    case = DecoderCase(
        id="a/b", title="", why="", requirements=requirements, log=b"", expected=tuple(expected), needs=needs,
        resolved=tuple(resolved or expected), allowed=allowed, equality=equality, rolled_back=rolled_back,
        commit_order=commit_order,
    )  # fmt: skip
    return judge(case, capabilities, Observed(changes=got, **answer))
