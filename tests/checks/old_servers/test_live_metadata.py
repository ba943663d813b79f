"""Old and new servers and the metadata: the judge on doctored rows, and the check where an old server is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.old_servers import check_metadata
from conformance.checks.old_servers.check_metadata import judge
from conformance.checks.old_servers.row_transfer import KNOWN, Taken, Written, table
from conformance.harness import session as labs
from conformance.harness.profiles import SIZES
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.stream import Block
from generators.draw import Stream
from generators.row_values import SHAPES
from tests.checks.table_metadata.faults_of_metadata import FROM_OLD_FAULTS, TO_OLD_FAULTS
from tests.faults.runner import each
from tests.running import run

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.checks.old_servers.run import Rows
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord
    from tests.faults.fault import Fault

MADE = table(Stream("made"), 0)
ROWS: Rows = [tuple(b"%d" % (10 * key + place) for place in range(len(MADE.columns))) for key in range(3)]
WRITTEN = Written(table=MADE, statements=("CREATE TABLE", "INSERT"), events=[], rows=ROWS, metadata=(4,))


def test_an_old_server_knows_most_kinds_of_columns() -> None:
    assert len(KNOWN) > 350
    assert {shape.type for shape in SHAPES} - {shape.type for shape in KNOWN} == {
        "JSON", "VECTOR", "GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING",
        "MULTIPOLYGON", "GEOMETRYCOLLECTION",
    }  # fmt: skip


def test_equal_rows_pass() -> None:
    assert judge(WRITTEN, Taken(None, list(ROWS)), "BINLOG statements") == []


@each(FROM_OLD_FAULTS)
def test_other_rows_on_the_new_server_are_noticed(fault: Fault) -> None:
    (problem,) = judge(WRITTEN, Taken(None, fault.change(ROWS)), "BINLOG statements")
    assert problem.statements[0] == "CREATE TABLE"


@each(TO_OLD_FAULTS)
def test_another_answer_of_the_old_server_is_noticed(fault: Fault) -> None:
    assert judge(WRITTEN, fault.change(Taken(None, list(ROWS))), "its applier") != []


@pytest.mark.live
def test_old_and_new_servers_take_each_others_rows(
    server: ProcessServer,
    old_server: Installation,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records: list[AnyRecord] = []
    monkeypatch.setattr(labs, "resolve", lambda *_, **__: server)
    monkeypatch.setitem(SIZES["old_servers/metadata"], "quick", 2)
    lab = Lab(Settings(cases=tmp_path), records.append)
    run(check_metadata.test_old_and_new_servers, lab)
    made = [record for record in records if isinstance(record, Block)]
    assert {record.check for record in made} == {"old_servers/metadata/to-old", "old_servers/metadata/from-old"}
    assert not [record for record in made if record.failures]
