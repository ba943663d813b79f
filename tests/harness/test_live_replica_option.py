"""``--replica``: pairs of two builds, a source at an address with a replica of the lab, and what is not done there."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.replicas import check as test_replicas
from conformance.checks.replicas import check_chains as test_chains
from conformance.checks.replicas import check_rebuilt as test_rebuilt_replicas
from conformance.harness import session as labs
from conformance.harness import topology
from conformance.harness.profiles import SIZES
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.harness.topology import Pairs
from conformance.servers.auto import resolve
from conformance.servers.errors import GuestRefused
from conformance.servers.run.process import ProcessMaker, launch
from conformance.stream import Block, Subject
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.servers.base import Server
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord

pytestmark = pytest.mark.live


def address_of(server: ProcessServer) -> str:
    return f"mysql://lab@127.0.0.1:{server.address.port}"


@pytest.fixture
def open_lab(
    server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Server, str], tuple[Lab, list[AnyRecord]]]]:
    monkeypatch.setitem(SIZES["replicas/rows/settings"], "quick", 1)
    monkeypatch.setattr(test_chains, "OPTIONS", ((True, False, True),))
    opened: list[Lab] = []

    def make(server: Server, replica: str) -> tuple[Lab, list[AnyRecord]]:
        monkeypatch.setattr(labs, "resolve", lambda *_, **__: server)
        records: list[AnyRecord] = []
        opened.append(Lab(Settings(cases=tmp_path, replica=replica), records.append))
        return opened[-1], records

    yield make
    for lab in opened:
        if lab._pairs is not None:  # the server is the tests' own
            lab._pairs.close()
    no_reader(server)


def no_reader(server: ProcessServer) -> None:
    """The thread that sent a replica its events notices at the next ones that the replica is gone."""
    with server.connect() as session:
        for _ in range(20):
            running = session.execute("SHOW PROCESSLIST").named()
            if not any((row["Command"] or "").startswith("Binlog Dump") for row in running):
                return
            session.execute("FLUSH BINARY LOGS")
            time.sleep(0.1)


def judged(records: list[AnyRecord]) -> dict[str, bool]:
    return {item.check: not item.failures for item in records if isinstance(item, Block)}


def test_source_and_replica_can_be_of_two_builds(
    server: ProcessServer, open_lab: Any, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def find(spec: Any, **_: Any) -> ProcessMaker:
        asked.append(str(spec))
        return ProcessMaker(installation)

    monkeypatch.setattr(topology, "find_maker", find)
    lab, records = open_lab(server, "process:/another/build")
    run(test_replicas.test_replica_equals_source, lab, gtid=True)
    assert asked == ["process:/another/build"]
    assert judged(records) == {"replicas/rows/gtid": True, "replicas/rows/gtid/own-log": True}
    (replica,) = [item for item in records if isinstance(item, Subject) and item.role == "replica"]
    assert replica.version == installation.version


def test_a_source_at_an_address_has_a_replica_of_the_labs_and_keeps_its_settings(
    installation: Installation, open_lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with launch(installation) as house:
        monkeypatch.setenv("BINLOG_LAB_PASSWORD", house.tcp_address().password)
        with house.connect() as owner:
            owner.execute("CREATE SCHEMA mine")
            owner.execute("CREATE TABLE mine.t (id INT PRIMARY KEY)")
            before = owner.execute("SHOW GLOBAL VARIABLES").rows
            with closing(resolve(address_of(house))) as guest:  # type: ignore[type-var]
                lab, records = open_lab(guest, "process")
                owner.execute("INSERT INTO mine.t VALUES (1)")
                run(test_replicas.test_replica_equals_source, lab, gtid=True)
                run(test_chains.test_chain, lab, gtid=True)
                with pytest.raises(pytest.skip.Exception, match="needs a source with gtid_mode OFF"):
                    run(test_replicas.test_replica_equals_source, lab, gtid=False)
                with pytest.raises(pytest.skip.Exception, match="needs the programs of the source"):
                    run(test_rebuilt_replicas.test_cloned_replica, lab, met=Counter())
                owner.execute("INSERT INTO mine.t VALUES (2)")  # no business of the replica, which has no such table
                assert set(judged(records).values()) == {True}
                assert {"replicas/rows/gtid", "replicas/chains/gtid"} <= set(judged(records))
                lab.close()
            changing = (b"gtid_executed", b"gtid_purged")
            after = owner.execute("SHOW GLOBAL VARIABLES").rows
            assert [row for row in before if row[0] not in changing] == [row for row in after if row[0] not in changing]
            assert owner.execute("SHOW SCHEMAS LIKE 'binlog_lab%'").rows == ()


def test_a_replica_at_an_address_is_looked_at_and_left_alone(
    server: ProcessServer, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with launch(installation, server_id=7) as house:
        monkeypatch.setenv("BINLOG_LAB_PASSWORD", house.tcp_address().password)
        unavailable = Pairs(server, lambda _: None, replica=address_of(house)).available(gtid=True)
        assert unavailable is not None
        assert "keeps what its owner set" in unavailable.reason
        with house.connect() as owner:
            owner.execute("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = 1")
        with pytest.raises(GuestRefused, match="already replicates"):
            Pairs(server, lambda _: None, replica=address_of(house)).available(gtid=True)


def test_without_a_replica_there_are_no_pairs(server: ProcessServer) -> None:
    unavailable = Pairs(server, lambda _: None, replica="none").available(gtid=True)
    assert unavailable is not None
    assert "--replica none" in unavailable.reason
