"""Logs that 8.0.45 wrote: the text that its own mysqlbinlog prints, and the tables that it has.

``binlogs-8.0.45.zip`` holds for each log what ``mysqlbinlog -vv --base64-output=decode-rows --print-table-metadata`` of
8.0.45 printed (TZ=UTC), but for the two sentences at the top; and the tables as ``mysql --raw`` shows them.
"""

from __future__ import annotations

import json
from functools import cache
from io import BytesIO
from time import gmtime
from typing import TYPE_CHECKING, Any, Final
from zipfile import ZipFile

import pytest

from conformance.reference.binlog.files import read_events
from conformance.reference.errors import ReplayError
from conformance.reference.replay.engine import Replay
from conformance.reference.replay.tables_text import table_rows
from conformance.reference.text.mysqlbinlog import LogText
from conformance.requirements.versions import dialect_of
from tests.live import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.binlog.event import Event
    from conformance.reference.dialect import ServerFacts

_DATA: Final = ROOT / "tests" / "data" / "binlogs-8.0.45.zip"
_HIDDEN: Final = {("09-table-metadata-edge-cases", "d.e2"): 2, ("16-row-split-partition-gipk", "d.gipk"): 0}
"""The place of an invisible column, which SELECT * leaves out."""
_BY_STATEMENT: Final = "13-statement-format"  # changes rows by statements, which nobody can follow


@cache
def held() -> dict[str, bytes]:
    with ZipFile(_DATA) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


LOGS: Final = sorted(name.removesuffix(".binlog") for name in held() if name.endswith(".binlog"))


def events_of(name: str) -> list[Event]:
    return list(read_events(BytesIO(held()[f"{name}.binlog"]), expand=True))


def printed(name: str, server: ServerFacts) -> list[str]:
    text = LogText(types=True, metadata=True, clock=gmtime, server=server)
    pieces = [text.begin(), *(piece for event in events_of(name) for piece in text.event(event)), *text.end()]
    return b"".join(pieces).decode().split("\n")


def test_there_are_sixteen_logs() -> None:
    assert len(LOGS) == 16


@pytest.mark.parametrize("name", LOGS)
def test_the_text_is_that_of_the_client_of_8_0_45(name: str) -> None:
    assert printed(name, dialect_of((8, 0, 45)).server) == held()[f"{name}.txt"].decode().split("\n")


def test_the_client_of_9_7_prints_other_lines() -> None:
    """Otherwise the dialect would not count."""
    newest = dialect_of((9, 7, 4)).server
    texts = {name: held()[f"{name}.txt"].decode().split("\n") for name in LOGS}
    differing = [name for name in LOGS if printed(name, newest) != texts[name]]
    assert _BY_STATEMENT in differing


def replayed(name: str) -> Replay:
    replay = Replay()
    for event in events_of(name):
        replay.event(event)
    replay.finish()
    return replay


@pytest.mark.parametrize("name", [name for name in LOGS if name != _BY_STATEMENT])
def test_a_replay_gives_the_tables_of_the_server(name: str) -> None:
    expected: dict[str, Any] = json.loads(held()[f"{name}.json"])["tables"]
    tables = {".".join(key): table_rows(state) for key, state in replayed(name).tables.items()}
    assert set(tables) == set(expected)
    for table, rows in tables.items():
        hidden = _HIDDEN.get((name, table))
        found = [[cell for place, cell in enumerate(row) if place != hidden] for row in rows]
        lines = expected[table]["text"].splitlines()
        assert len(found) == len(lines) == expected[table]["count"]
        # The text is in the order of the key, the replay in that of its text.
        unmatched = [line.split("\t") for line in lines]
        for row in found:
            unmatched.remove(next(cells for cells in unmatched if same(row, cells)))
        assert not unmatched


def same(row: Sequence[str | None], cells: Sequence[str]) -> bool:
    """Whether the cells of a replay are those of the client, which prints bytes as they are."""
    return len(row) == len(cells) and all(
        shown in (("NULL",) if cell is None else (cell, as_text(cell))) for cell, shown in zip(row, cells, strict=True)
    )


def as_text(cell: str) -> str | None:
    try:
        return bytes.fromhex(cell).decode()
    except ValueError:
        return None


def test_another_document_is_another_row() -> None:
    assert same(["1", '{"a": 1}', "6262", None], ["1", '{"a": 1}', "bb", "NULL"])
    assert not same(["1", '{"a": 1}'], ["1", '{"a": 2}'])
    assert not same(["1"], ["1", "2"])


def test_changes_by_statement_are_refused() -> None:
    with pytest.raises(ReplayError) as caught:
        replayed(_BY_STATEMENT)
    assert caught.value.code == "statement"
