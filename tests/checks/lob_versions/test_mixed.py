"""Small changes of copied documents: what they spoil on 8.0 is the listed deviation, and nothing else is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from conformance.checks.lob_versions import judge_versions
from conformance.checks.lob_versions.history import History
from conformance.checks.lob_versions.predictions import Prediction
from conformance.checks.lob_versions.run import BlockRun
from conformance.checks.lob_versions.tally import Tally
from conformance.checks.lob_versions.transactions import TABLES, Key
from conformance.reference.innodb.lob_change import Kind
from conformance.reference.jsonb.encode import encode
from conformance.requirements.deviations import load_deviations
from conformance.servers.errors import SqlError

MIXED = "small-changes-of-copied-lobs"
KEY = Key(TABLES[0], 1)
OLD, NEW = encode({"a": 1}), encode({"a": 2})


def history(*kinds: tuple[Kind, int]) -> History:
    """A row whose document j got these changes; a snapshot is from before."""
    found = History()
    found.images[KEY] = [{"j": OLD}, {"j": NEW}]
    found.snapshots = [{KEY: 1}]
    reference = SimpleNamespace(page=5)
    value: Any = SimpleNamespace(reference=SimpleNamespace(page=5, _replace=lambda **_: reference))
    value._replace = lambda **_: value
    stored: Any = SimpleNamespace(value=value, lob=SimpleNamespace(current=1))
    prediction = Prediction((), versions=[version for _, version in kinds], kinds=[kind for kind, _ in kinds])
    found.add(KEY, "j", stored, stored, prediction, [NEW] * len(kinds))
    return found


@pytest.mark.parametrize(
    ("kinds", "mixed"),
    [
        ([(Kind.SMALL, 1)], False),
        ([(Kind.COPIED, 2)], False),
        ([(Kind.SMALL, 1), (Kind.COPIED, 2)], False),
        ([(Kind.COPIED, 2), (Kind.SMALL, 2)], True),
    ],
)
def test_a_small_change_behind_a_copy_is_mixed(kinds: list[tuple[Kind, int]], mixed: bool) -> None:
    assert ((KEY, "j") in history(*kinds).mixed) is mixed


@pytest.mark.planted("LOB23")
@pytest.mark.parametrize("listed", [MIXED, None])
def test_an_older_snapshot_is_explained_and_the_newest_document_is_not(listed: str | None) -> None:
    """``listed``: whether the server's version has the deviation."""
    found = history((Kind.COPIED, 2), (Kind.SMALL, 2))
    tally = Tally(any_version=True, mixed=listed)
    wrong = {(KEY.table.name, 1): {"j": "error 1815: JSON wrapper: unexpected type"}}
    judge_versions.judge_sessions(tally, found, [wrong, wrong])
    assert [problem.deviation for problem in tally.problems["LOB23"]] == [listed, None]


@pytest.mark.planted("LOB23")
def test_without_a_small_change_behind_a_copy_nothing_is_explained() -> None:
    tally = Tally(any_version=True, mixed=MIXED)
    wrong = {(KEY.table.name, 1): {"j": "{}"}}
    judge_versions.judge_sessions(tally, history((Kind.COPIED, 2)), [wrong, wrong])
    assert [problem.deviation for problem in tally.problems["LOB23"]] == [None, None]


class _Session:
    """Reads all documents but one, with which a SELECT ends."""

    def execute(self, sql: str) -> Any:
        if sql.startswith("SELECT id, j, k") or sql == f"SELECT k FROM {TABLES[0].name} WHERE id = 2":
            raise SqlError(1815, "HY000", "JSON wrapper: unexpected type", statement=sql)
        ids = [("1",), ("2",)]
        return SimpleNamespace(texts=lambda: ids if sql.startswith("SELECT id") else [(f"text of {sql[7]}",)])


def test_a_document_that_cannot_be_read_is_its_error_and_the_others_are_read() -> None:
    texts = BlockRun._texts(BlockRun.__new__(BlockRun), _Session())  # type: ignore[arg-type]
    first = TABLES[0].name
    assert texts[first, 1] == {"j": "text of j", "k": "text of k"}
    assert texts[first, 2] == {"j": "text of j", "k": "error 1815: JSON wrapper: unexpected type"}


def test_the_entry_is_for_8_0_alone() -> None:
    (entry,) = [item for item in load_deviations() if item.id == MIXED]
    assert (entry.versions, entry.observed) == ("8.0.12..8.0.99", ("8.0.45",))
    assert set(entry.requirements) == {"LOB22", "LOB23", "LOB29"}
