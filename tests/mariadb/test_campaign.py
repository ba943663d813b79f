"""The comparisons of the campaigns on a log that tests keep: equal where it is, different where a fault is planted."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from generators.draw import Stream
from tests.mariadb import campaign, captures
from tests.mariadb.captures import CAPTURES, PLACE
from tests.mariadb.workload import TYPES, statements

if TYPE_CHECKING:
    from pathlib import Path

LOG = PLACE / "types.binlog"


def _shown() -> dict[str, Any]:
    shown: dict[str, Any] = json.loads((PLACE / "types.json").read_text("utf-8"))
    return shown


def test_apply_is_compared_cell_by_cell() -> None:
    assert campaign.applied([LOG], _shown()) == []
    wrong = _shown()
    wrong["s.types"]["rows"][0][5] += "0"
    (problem,) = campaign.applied([LOG], wrong)
    assert "1 rows differ, bi:" in problem
    fewer = _shown()
    fewer["s.types"]["rows"].pop()
    assert any("2 rows for 1" in problem for problem in campaign.applied([LOG], fewer))
    assert "columns differ" in campaign.applied([LOG], {"s.other": fewer["s.types"]})[0]


def test_row_changes_are_put_together_and_compared() -> None:
    kinds = {("types", name): kind for name, kind in zip(_shown()["s.types"]["columns"], _kinds(), strict=True)}
    effects: dict[tuple[str, int], str] = {}
    assert campaign.decoded([LOG], _shown(), kinds, Counter(), effects) == []
    wrong = _shown()
    wrong["s.types"]["rows"][1][1] = "8"
    (problem,) = campaign.decoded([LOG], wrong, kinds, Counter(), effects)
    assert "t: '9' for '8'" in problem


def _kinds() -> list[str]:
    """The types of the captured table, as information_schema has them."""
    special = {"f": "float", "db": "double", "bt": "bit", "u": "uuid", "i6": "inet6", "i4": "inet4"}
    return [special.get(name, "other") for name in _shown()["s.types"]["columns"]]


def test_every_type_is_in_the_workload_and_in_the_captures() -> None:
    made = statements(Stream("mariadb", "any"))
    tables = [next(made) for _ in range(4)]
    for kind, _ in TYPES:
        assert sum(kind in table for table in tables) >= 1, kind
    captured = " ".join(CAPTURES["types"].statements)
    for kind in ("UUID", "INET6", "INET4", "JSON", "COMPRESSED", "GEOMETRY", "BIT", "ENUM", "YEAR"):
        assert kind in captured


def test_a_seed_gives_the_same_statements() -> None:
    first, second = (statements(Stream("mariadb", "1")) for _ in range(2))
    assert [next(first) for _ in range(60)] == [next(second) for _ in range(60)]


@pytest.mark.parametrize("name", ["types", "transactions"])
def test_the_text_is_compared_with_the_clients(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = (PLACE / f"{name}.txt").read_bytes()

    def kept(*_: Path) -> tuple[bytes, str]:
        return theirs, ""

    monkeypatch.setattr(captures, "printed", kept)
    assert campaign.printed([PLACE / f"{name}.binlog"], Counter()) == []
    theirs = theirs.replace(b"GTID 0-95-3", b"GTID 0-95-4")
    (problem,) = campaign.printed([PLACE / f"{name}.binlog"], Counter())
    assert "GTID 0-95-3" in problem
