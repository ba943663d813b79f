"""A data file that 8.0.45 exported: read as its own ibd2sdi and its SQL say, and taken over by a newer server."""

from __future__ import annotations

import gzip
import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.checks.lob_pages.files import opened
from conformance.reference.innodb.pages import Tablespace
from conformance.reference.innodb.sdi import sdi_objects
from conformance.reference.innodb.sdi_views.ibd2sdi_output import printed
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.jsonb.text import format_text
from tests.reference.innodb.record_other_version import DATA, rows

if TYPE_CHECKING:
    from conformance.servers.run.process import ProcessServer

_FOLDER: Final = DATA / "innodb-8.0.45"
_RECORDED: Final[dict[str, Any]] = json.loads((_FOLDER / "documents.json").read_text("utf-8"))


def exported(end: str) -> bytes:
    return gzip.decompress((_FOLDER / f"documents.{end}.gz").read_bytes())


def test_dictionary_information_is_printed_as_its_own_ibd2sdi_does() -> None:
    expected = (_FOLDER / "documents.ibd2sdi.json").read_bytes()
    assert b"".join(printed(sdi_objects(Tablespace.of_bytes(exported("ibd"))))) == expected
    assert b'"mysqld_version_id": 80045' in expected


def test_documents_are_those_of_its_sql() -> None:
    found = opened(exported("ibd")).rows
    for key, text, size, free, digest in _RECORDED["rows"]:
        if digest is None:
            assert int(key) not in found
            continue
        document = found[int(key)].document
        shown = format_text(decode(document))
        assert text is None or shown == text
        assert hashlib.sha256(shown.encode()).hexdigest() == digest
        assert (len(document), storage_free(document)) == (int(size), int(free))
    assert {key: found[key].lob is not None for key in found} == {1: False, 2: True, 3: True, 4: False}


@pytest.mark.live
def test_a_newer_server_takes_the_table_over_and_changes_it_in_place(server: ProcessServer) -> None:
    """IMPORT TABLESPACE keeps documents and their free bytes, and an update in place finds those bytes."""
    with server.connect() as connection, server.schema(connection) as schema:
        connection.execute(_RECORDED["create"] + " TABLESPACE = innodb_file_per_table")
        connection.execute("ALTER TABLE t DISCARD TABLESPACE")
        for end in ("ibd", "cfg"):
            (server.data_directory / schema / f"t.{end}").write_bytes(exported(end))
        connection.execute("ALTER TABLE t IMPORT TABLESPACE")
        assert rows(connection) == _RECORDED["rows"]
        connection.execute("SET SESSION binlog_row_value_options = 'PARTIAL_JSON'")
        before = rows(connection)
        connection.execute("UPDATE t SET j = JSON_SET(j, '$.b', REPEAT('q', 29990)) WHERE id = 3")
        after = rows(connection)
        assert [row for row in after if row[0] != "3"] == [row for row in before if row[0] != "3"]
        (changed,) = (row for row in after if row[0] == "3")
        free = int(_RECORDED["rows"][2][3])
        assert changed[2] == _RECORDED["rows"][2][2]  # the same bytes: 25,000 characters became 29,990
        assert changed[3] == str(free - 4990)
