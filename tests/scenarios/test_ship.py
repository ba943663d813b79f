"""Executors get the package whenever their first task comes."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.spark import ship

if TYPE_CHECKING:
    import pytest


class _Session:
    """Takes artifacts, as a session of a cluster does: by their place, from which executors fetch them later."""

    def __init__(self) -> None:
        self.places: list[str] = []

    def addArtifacts(self, place: str, *, pyfile: bool) -> None:  # noqa: N802 - Spark's name
        assert pyfile
        self.places.append(place)


def test_the_zip_is_still_there_for_an_executor_that_comes_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Observed with two workers: the second one's first task came after the check, and its zip was gone."""
    monkeypatch.setattr(ship, "is_local", lambda _: False)
    session = _Session()

    def check(_: object) -> None:
        if not session.places:
            raise ship.PackageMissing("the executors have no package 'conformance'")

    monkeypatch.setattr(ship, "check_executors", check)
    ship.prepare(session)
    (place,) = session.places
    assert {
        "conformance/version.py",
        "scenarios/worker.py",
        "scenarios/spark/binlogs.py",
        "scenarios/binlogs/rows.py",
    } <= set(zipfile.ZipFile(Path(place)).namelist())
