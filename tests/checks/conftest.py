"""The fixture that the live tests of the experiments share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.harness import session
from conformance.harness.settings import Settings
from tests.recorded import Recorded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord


@pytest.fixture
def recorded(server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    """A session on the tests' server that stores its Cases in ``tmp_path``."""
    monkeypatch.setattr(session, "resolve", lambda *_, **__: server)
    records: list[AnyRecord] = []
    lab = session.Lab(Settings(cases=tmp_path), records.append)
    try:
        yield Recorded(lab, records)
    finally:
        if lab._pairs is not None:  # the server is the tests' own
            lab._pairs.close()
