"""Tuples that wait in memory or in a file come out as they should, whatever their number."""

from __future__ import annotations

from operator import itemgetter
from random import Random

import pytest

from conformance.logs import spools
from conformance.logs.spools import SortedSpool, TupleSpool


@pytest.fixture(params=[1, 1_000, 1 << 30], ids=["a file for each tuple", "a file", "memory"])
def _many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spools, "_MANY", request.param)
    monkeypatch.setattr(spools, "_BLOCK", min(request.param, 700))


_ITEMS = [(Random(number).randrange(20), number, f"text {number}\ud800", None, b"\xff") for number in range(300)]


@pytest.mark.usefixtures("_many")
def test_tuples_come_out_in_the_order_in_which_they_came_in_again_and_again() -> None:
    with TupleSpool() as spool:
        for items in (_ITEMS, [], _ITEMS[:1], _ITEMS[::-1]):
            for item in items:
                spool.add(item)
            assert list(spool.take()) == items
            assert list(spool.take()) == []


@pytest.mark.usefixtures("_many")
def test_sorted_tuples_come_out_in_order_and_equal_ones_stay_in_order() -> None:
    for items in (_ITEMS, [], _ITEMS[:1]):
        spool = SortedSpool(itemgetter(0))
        for item in items:
            spool.add(item)
        assert list(spool.take()) == sorted(items, key=itemgetter(0))


def test_few_tuples_need_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.TemporaryFile", None)
    for spool in (TupleSpool(), SortedSpool(itemgetter(0))):
        for item in _ITEMS:
            spool.add(item)
        assert len(list(spool.take())) == len(_ITEMS)
