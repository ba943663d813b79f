"""The recorded data files are read as the server and ibd2sdi read them."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from conformance.reference.innodb.btree import leaf_records
from conformance.reference.innodb.dictionary import clustered_indexes
from conformance.reference.innodb.records import OffPage
from conformance.reference.innodb.sdi import TABLE, sdi_objects
from tests.reference.innodb.fixture_files import FIXTURES, fixture


@pytest.mark.parametrize("name", FIXTURES)
def test_page_zero_and_page_types(name: str) -> None:
    entry, space = FIXTURES[name], fixture(name)
    assert space.flags.value == entry["fsp_flags"]
    assert (space.flags.logical, space.flags.physical) == (entry["logical_page"], entry["physical_page"])
    assert (space.pages, space.torn, space.space_id) == (entry["n_pages"], 0, entry["space_id"])
    assert list(space.sdi_root) == entry["sdi_version_root"]
    assert space.flags.sdi_offset == entry["sdi_header_offset"]
    assert [space.page(number).type for number in range(space.pages)] == entry["page_types"]


@pytest.mark.parametrize("name", FIXTURES)
def test_every_object_deleted_ones_too(name: str) -> None:
    found = [
        {
            "type": item.type,
            "id": item.id,
            "uncompressed_len": len(item.text),
            "json_sha256": hashlib.sha256(item.text).hexdigest(),
            "leaf_page": item.page,
            "stored": "off-page" if item.off_page else "inline",
            "delete_marked": item.deleted,
        }
        for item in sdi_objects(fixture(name), deleted=True)
    ]
    expected = [
        {key: value for key, value in item.items() if key != "compressed_len"} for item in FIXTURES[name]["sdi"]
    ]
    assert found == expected


def _records(name: str) -> list[Any]:
    space = fixture(name)
    table = next(item.object["dd_object"] for item in sdi_objects(space) if item.type == TABLE)
    (index,) = clustered_indexes(table)
    return [record for _, record in leaf_records(space, index.root, index.format)]


@pytest.mark.parametrize("name", ["compressed_zblob_zlob", "lob_versions"])
def test_records_with_references(name: str) -> None:
    for record, entry in zip(_records(name), FIXTURES[name]["records"], strict=True):
        values = record.values
        assert int.from_bytes(values[0], "big") ^ 1 << 31 == entry["id"]
        assert int.from_bytes(values[1], "big") == entry["trx_id"]
        assert record.version == entry["row_version"]
        assert isinstance(values[3], OffPage)
        wanted, reference = entry["j"]["ref"], values[3].reference
        assert len(values[3].prefix) == entry["j"]["local_prefix"]
        assert tuple(reference) == (wanted["space"], wanted["page"], wanted["ver"], 0, wanted["len"])
        assert (reference.owned, reference.inherited, reference.being_modified) == (True, False, False)


def test_records_of_two_row_versions() -> None:
    """A column was added and another dropped: the old row keeps the dropped value and takes the default."""
    old, new = _records("alter_instant")
    assert (old.version, new.version) == (0, 2)
    assert old.values[3:] == (b"\x80\x00\x00\x01", None, b"xyz")
    assert new.values[3:] == (None, bytes.fromhex("0202000a00050100050200"), b"q")
