"""Deaths of servers: of each the whole log and the exit status are kept; of servers that the lab ends, nothing."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from conformance.servers.errors import ConnectionLost, ServerDied
from conformance.servers.run import deaths, process
from conformance.servers.run.process import launch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.servers.install.installation import Installation


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    before = deaths._place
    deaths.keep_in(tmp_path / "deaths")
    yield tmp_path / "deaths"
    deaths.keep_in(before)


def test_a_death_is_written_once_with_its_status(place: Path) -> None:
    path = deaths.keep("process-9.7.4-91", 4711, "signal SIGKILL", "Out of memory\n")
    assert path == place / "process-9.7.4-91-4711.error.log"
    assert path.read_text() == "# process-9.7.4-91, process 4711: signal SIGKILL\nOut of memory\n"


def test_without_a_place_or_with_one_that_cannot_be_written_nothing_ends(place: Path) -> None:
    place.write_text("a file")
    assert deaths.keep("s", 1, "exit status 2", "") is None
    deaths.keep_in(None)
    assert deaths.keep("s", 1, "exit status 2", "") is None


@pytest.mark.live
def test_a_servers_own_death_is_kept_and_not_its_end_by_the_lab(installation: Installation, place: Path) -> None:
    with launch(installation) as server:
        server.stop()
        server.start()
        server.kill()
        server.start()
        assert not place.exists()
        first = server.pid
        os.kill(first, signal.SIGSEGV)
        with pytest.raises(ServerDied):
            raise server.fate(ConnectionLost("a session"))
        server.stop()
        (kept,) = place.iterdir()
        assert kept.name == f"{server.id}-{first}.error.log"
        head, _, log = kept.read_text().partition("\n")
        assert head.startswith(f"# {server.id}, process {first}: ")
        assert log.count("got signal 11") == 1
        server.start()
        os.kill(server.pid, signal.SIGKILL)  # a death that nobody asks about before the server is stopped
        while server.alive():
            pass
        server.stop()
        second = place / f"{server.id}-{server.pid}.error.log"
        assert second.read_text().startswith(f"# {server.id}, process {server.pid}: signal SIGKILL\n")
        assert "] got signal" not in second.read_text()


@pytest.mark.live
def test_a_server_that_still_greets_while_it_reports_its_crash_is_dying(
    installation: Installation, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with launch(installation) as server:
        true = server._logs
        monkeypatch.setattr(process, "greets", lambda *_: True)
        assert type(server.fate(ConnectionLost("a session"))) is ConnectionLost
        monkeypatch.setattr(server, "_logs", lambda: [*true(), ("more", "mysqld got signal 11")])
        ending = threading.Timer(0.3, os.kill, (server.pid, signal.SIGKILL))
        ending.start()
        assert isinstance(server.fate(ConnectionLost("a session")), ServerDied)
        ending.join()
