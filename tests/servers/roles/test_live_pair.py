from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from conformance.servers.roles.pair import FAILED_WORKER, Pair, ReplicaLate, ReplicaStopped, place_of
from conformance.servers.run.process import launch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.install.installation import Installation

pytestmark = pytest.mark.live


@pytest.fixture(params=["GTID", "positions"])
def pair(installation: Installation, request: pytest.FixtureRequest) -> Iterator[Pair]:
    options = {} if request.param == "GTID" else {"gtid_mode": "OFF", "enforce_gtid_consistency": "OFF"}
    with ExitStack() as stack:
        source = stack.enter_context(launch(installation, options=options))
        replica = stack.enter_context(launch(installation, server_id=2, options=options, performance_schema=True))
        pair = Pair(source, replica)
        stack.callback(pair.close)
        capture = source.capture()
        stack.callback(capture.close)
        pair.link(None if request.param == "GTID" else capture.mark())
        yield pair


def test_what_the_source_wrote_is_on_the_replica_after_waiting(pair: Pair) -> None:
    capture = pair.source.capture()
    with pair.source.connect() as session:
        session.execute("CREATE SCHEMA s")
        session.execute("CREATE TABLE s.t (id INT PRIMARY KEY, j JSON)")
        session.execute("SET SESSION binlog_row_value_options = 'PARTIAL_JSON'")
        session.execute("INSERT INTO s.t VALUES (1, JSON_OBJECT('a', 0, 'b', REPEAT('x', 50)))")
        session.execute_many(
            [f"UPDATE s.t SET j = JSON_SET(j, '$.a', {n}) WHERE id = 1" for n in range(1, 200)]
        ).check()
        pair.wait(capture.mark(session))
        assert pair.connection.execute("SELECT j->'$.a' FROM s.t").scalar() == "199"
        assert pair.connection.execute("SELECT @@global.read_only").scalar() == "0"

        # A document that diverged: the applier stops with the number of requirements 0.4, and goes on when repaired.
        pair.connection.execute("SET sql_log_bin = 0")
        pair.connection.execute("UPDATE s.t SET j = '[]'")
        session.execute("UPDATE s.t SET j = JSON_SET(j, '$.a', 500) WHERE id = 1")
        with pytest.raises(ReplicaStopped) as caught:
            pair.wait(capture.mark(session))
        assert caught.value.thread == "applier"
        assert caught.value.number == 3648
        pair.connection.execute("UPDATE s.t SET j = JSON_OBJECT('a', 0)")
        pair.start()
        pair.wait(capture.mark(session))
        assert pair.connection.execute("SELECT j->'$.a' FROM s.t").scalar() == "500"

        pair.stop()
        session.execute("UPDATE s.t SET j = NULL")
        with pytest.raises(ReplicaLate, match="applier No"):
            pair.wait(capture.mark(session), timeout=0.1)
    pair.unlink()
    capture.close()


def test_the_first_of_two_transactions_that_fail_side_by_side(pair: Pair) -> None:
    capture = pair.source.capture()
    replica = pair.connection
    with pair.source.connect() as session, pair.replica.connect() as other:
        session.execute("CREATE SCHEMA s")
        session.execute("CREATE TABLE s.t (id INT PRIMARY KEY, j JSON)")
        session.execute("SET SESSION binlog_row_value_options = 'PARTIAL_JSON'")
        pair.configure({"replica_parallel_workers": "4"})
        document = "JSON_OBJECT('a', 0, 'b', REPEAT('x', 50))"
        session.execute(f"INSERT INTO s.t VALUES (1, {document}), (2, {document})")
        pair.wait(capture.mark(session))
        replica.execute("SET sql_log_bin = 0")
        replica.execute("UPDATE s.t SET j = '[]'")
        other.execute("BEGIN")
        other.execute("SELECT id FROM s.t WHERE id = 1 FOR UPDATE")  # the first transaction waits
        ends = []
        for row in (1, 2):
            session.execute(f"UPDATE s.t SET j = JSON_SET(j, '$.a', 7) WHERE id = {row}")
            ends.append(capture.mark(session))

        def release() -> None:
            deadline = time.monotonic() + 30
            waiting = "SELECT 1 FROM performance_schema.threads WHERE PROCESSLIST_STATE LIKE 'Waiting for preceding%'"
            while not other.execute(waiting).rows and time.monotonic() < deadline:
                time.sleep(0.05)
            other.execute("ROLLBACK")

        releasing = threading.Thread(target=release)
        releasing.start()
        with pytest.raises(ReplicaStopped) as caught:
            pair.wait(ends[1])
        releasing.join()
        later, first = (place_of(message or "") for _, message in replica.execute(FAILED_WORKER).texts())
        assert later is not None
        assert first is not None
        assert later[1] > first[1]  # by time, the later event comes first
        assert place_of(caught.value.message) == first
        assert (caught.value.thread, caught.value.number) == ("applier", 3648)
    capture.close()
