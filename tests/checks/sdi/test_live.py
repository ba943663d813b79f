"""The checks of shipped dictionary information pass on a server, and fail where a reader or a server errs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest

from conformance.checks.sdi import check, check_statements, check_tablespaces, check_without_sdi, data_file, imports
from conformance.checks.sdi.run import rows_of
from conformance.checks.sdi.segments import Segments, segments
from conformance.harness.profiles import SIZES
from conformance.reference.innodb.pages import PageType
from conformance.reference.innodb.sdi import sdi_objects
from conformance.servers.files import LocalFiles
from conformance.servers.run import process
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.pages import Tablespace
    from conformance.reference.innodb.sdi import SdiObject
    from tests.recorded import Recorded

pytestmark = pytest.mark.live


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sequences", "statements", "stripped"):
        monkeypatch.setitem(SIZES[f"sdi/{name}"], "quick", 1)


@pytest.mark.usefixtures("one")
def test_a_server_passes(recorded: Recorded) -> None:
    run(check.test_files_of_ddl_sequences, recorded.lab)
    run(check_statements.test_statements_that_change_a_table, recorded.lab)
    run(check_tablespaces.test_tablespaces_without_sdi, recorded.lab)
    run(check_without_sdi.test_files_without_sdi, recorded.lab)
    assert recorded.failing == set()
    assert recorded.cases("sdi/sequences/SDI65") >= 5
    assert recorded.cases("sdi/statements") == 5


def without_last(space: Tablespace) -> Iterator[SdiObject]:
    yield from [*sdi_objects(space)][:-1]


@pytest.mark.planted("SDI65", "SDI18")
@pytest.mark.usefixtures("one")
def test_a_reader_that_loses_a_record_fails(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_file, "sdi_objects", without_last)
    monkeypatch.setattr(imports, "import_tables", lambda *_: imports.Taken())
    recorded.fails(check.test_files_of_ddl_sequences, "differ")
    assert {"sdi/sequences/SDI65", "sdi/sequences/SDI18"} <= recorded.failing
    assert "sdi/sequences/SDI7" not in recorded.failing


def with_a_page_of_rows(space: Tablespace) -> Segments:
    found = segments(space)
    return found._replace(pages=(*found.pages, (99, int(PageType.INDEX))))


@pytest.mark.planted("SDI21")
@pytest.mark.usefixtures("one")
def test_a_page_of_rows_among_those_of_the_sdi_makes_sdi21_red_alone(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_file, "segments", with_a_page_of_rows)
    monkeypatch.setattr(imports, "import_tables", lambda *_: imports.Taken())
    recorded.fails(check.test_files_of_ddl_sequences, "a page of another kind belongs to the SDI")
    assert recorded.failing == {"sdi/sequences/SDI21"}


@pytest.mark.planted("SDI66")
@pytest.mark.usefixtures("one")
def test_an_import_that_loses_a_row_fails(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "rows_of", lambda *words: rows_of(*words)[1:])
    recorded.fails(check.test_files_of_ddl_sequences, "an imported table has other rows")
    assert recorded.failing == {"sdi/sequences/SDI66"}


class StaleFiles(LocalFiles):
    """Gives of each name what it gave first: an archive that an engine kept."""

    kept: ClassVar[dict[str, bytes]] = {}

    def read(self, name: str) -> bytes:
        return self.kept.setdefault(name, super().read(name))


class OtherFiles(LocalFiles):
    """Gives another file of the folder in place of each table's."""

    def matching(self, *patterns: str) -> dict[str, bytes]:
        found = super().matching(*patterns)
        tables = [name for name in found if name.endswith(".ibd")]
        turned = dict(zip(tables, [*tables[1:], *tables[:1]], strict=True))
        return {name: found[turned.get(name, name)] for name in found}


@pytest.mark.planted("SDI53", "SDI63")
@pytest.mark.usefixtures("one")
def test_files_that_are_not_those_of_now_fail(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LocalFiles", StaleFiles)
    monkeypatch.setattr(StaleFiles, "kept", {})
    recorded.fails(check_statements.test_statements_that_change_a_table, "ALTER TABLE does not update the record")
    assert recorded.failing == {"sdi/statements"}


@pytest.mark.planted("SDI66")
@pytest.mark.usefixtures("one")
def test_files_under_other_names_fail(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LocalFiles", OtherFiles)
    recorded.fails(check.test_files_of_ddl_sequences)
    assert "sdi/sequences/SDI66" in recorded.failing
