"""A real replica behind the lab's source, in small; and a log that lacks transactions, which must show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.harness.updates.predicted_log import LogForm
from conformance.servers.run.process import launch
from conformance.servers.source.log_files import LogFile
from tests.source_campaigns.replica import OPTIONS, follow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def replica(installation: Installation) -> Iterator[ProcessServer]:
    with launch(installation, options=OPTIONS, server_id=94, performance_schema=True) as server:
        yield server


@pytest.mark.parametrize(
    ("form", "by_gtid", "tls", "path"),
    [
        (LogForm.PLAIN, False, True, "tls, TLS"),
        (LogForm.COMPRESSED, True, False, "rsa"),
        (LogForm.TAGGED, True, True, "tls, TLS"),
    ],
)
def test_a_replica_ends_with_the_rows_of_the_statements(
    replica: ProcessServer, form: LogForm, by_gtid: bool, tls: bool, path: str
) -> None:
    found = follow(replica, "test", 120, form, by_gtid=by_gtid, tls=tls)
    assert (found.error, found.different) == ("", [])
    assert found.updates == 120
    assert found.documents > 0
    assert found.partial > 10
    assert f"({path})" in found.path


def test_a_log_without_its_last_transactions_leaves_other_rows(replica: ProcessServer) -> None:
    """A planted fault: the source loses the end of its log."""

    def shortened(log: bytes) -> bytes:
        return log[: LogFile.of("x", log).groups[-30].start]

    assert follow(replica, "test", 120, LogForm.PLAIN, alter=shortened).different
