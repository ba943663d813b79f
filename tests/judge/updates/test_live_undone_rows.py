"""A refused statement inside a transaction: the server keeps the keys of the rows that it had changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.cases.script import build_script
from conformance.cases.session import Session
from conformance.cases.update_case import Step, UpdateCase
from conformance.harness.updates.run import server_limits
from conformance.judge.updates.compare import judge
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.expression import Assignment, Call, Column, Function, Literal
from conformance.reference.tables.definitions import Column as TableColumn
from conformance.reference.tables.definitions import Table
from conformance.servers.roles.update_cases import run_case
from tests.reference.jsonb.jsonb_vectors import nested

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue
    from conformance.servers.run.process import ProcessServer

pytestmark = pytest.mark.live

_TABLE = Table(
    schema="lab",
    name="t",
    columns=(TableColumn(name="id", type="INT", nullable=False), TableColumn(name="j", type="JSON")),
    primary_key=((0, 0),),
)
_LEVELS = nested(99)
_ROOM: JsonValue = {"b": 1, "z": {}}  # a value of 99 levels goes two levels deeper here


def _set(number: int, path: str, value: JsonValue, *rows: int, commit: bool = True) -> Step:
    call = Call(Function.JSON_SET, Column("j"), (("$.b", Literal(number)), (path, Literal(value))))
    return Step((Assignment("j", call),), rows, commit)


CASE = UpdateCase(
    id="",
    requirements=("FR1",),
    table=_TABLE,
    selector="id",
    session=Session(),
    rows=((1, encode({"b": 1})), (2, encode(_ROOM)), (3, encode({"b": 1}))),
    steps=(
        _set(2, "$.c", 1, 0),
        _set(3, "$.c", 1, 2, commit=False),
        _set(4, "$.z.y", _LEVELS, 0, 1, 2),  # refused at the second row
        _set(5, "$.c", 2, 0),
    ),
)


def test_a_later_transaction_depends_on_rows_that_were_changed_and_taken_back(server: ProcessServer) -> None:
    limits = server_limits(server)
    script = build_script(CASE, row_metadata=limits.row_metadata, row_event_max_size=limits.row_event_max_size)
    refused = script.predictions[2]
    assert refused.error is not None
    assert [(row.index, row.change.logged) for row in refused.undone] == [(0, True)]
    with server.connect() as connection, server.schema(connection) as schema:
        capture = server.capture()
        observation = run_case(connection, capture, script, schema)
        capture.close()
    assert judge(script, observation).mismatches == []
    predictions = [item._replace(undone=()) for item in script.predictions]
    (mismatch,) = judge(replace(script, predictions=predictions), observation).mismatches
    assert mismatch.field == "GTID_LOG_EVENT.last_committed"
