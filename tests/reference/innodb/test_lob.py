"""LOBs of recorded files: every version equals the image in the binary log, and every index entry the recorded one."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.errors import CodecError
from conformance.reference.innodb.btree import leaf_records
from conformance.reference.innodb.large_values import LargeValue, LobReader, first_pages, large_values, table_objects
from conformance.reference.innodb.lob import ChainedBlob, IndexedLob, Lob, LobFormat, open_first, open_lob
from conformance.reference.innodb.pages import PageType, Tablespace
from conformance.reference.innodb.records import OffPage
from conformance.reference.innodb.sdi import FORMAT
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.text import format_text
from tests.reference.innodb.fixture_files import DATA, FIXTURES, fixture

if TYPE_CHECKING:
    from conformance.reference.innodb.lob_index import IndexEntry

WITH_LOBS = [name for name, entry in FIXTURES.items() if "jsonb_file" in entry]
WITH_ROWS = [name for name, entry in FIXTURES.items() if "records" in entry]


def listed(space: Tablespace) -> list[LargeValue]:
    return list(large_values(space, table_objects(space)))


def lobs(name: str) -> list[tuple[LargeValue, OffPage, Lob]]:
    """The off-page values of a fixture."""
    space = fixture(name)
    reader = LobReader(space)
    return [(item, item.value, reader.open(item.value)) for item in listed(space) if isinstance(item.value, OffPage)]


def recorded(name: str, value: LargeValue) -> dict[str, Any]:
    """The manifest's record of the value."""
    (row,) = [row for row in FIXTURES[name]["records"] if row["id"] == dict(value.row.key)["id"]]
    found: dict[str, Any] = row[value.column]
    return found


def images(name: str) -> dict[str, list[str]]:
    """Hex of the images in the binary log, by row id."""
    found: dict[str, Any] = json.loads(gzip.decompress((DATA / FIXTURES[name]["jsonb_file"]).read_bytes()))
    return {key: item for key, item in found.items() if key != "select"}


@pytest.mark.parametrize("name", WITH_LOBS)
def test_each_version_is_the_image_in_the_binary_log(name: str) -> None:
    compared = 0
    for item, value, lob in lobs(name):
        known = recorded(name, item)
        logged = images(name)[str(dict(item.row.key)["id"])]
        versions = known["versions"]
        assert lob.versions == tuple(version["version"] for version in versions)
        for version in versions:
            data = value.prefix + lob.read(version["version"])
            assert (len(data), hashlib.sha256(data).hexdigest()) == (version["length"], version["sha256"])
            for state in version.get("matches_state", ()):
                assert data.hex() == logged[state]
                compared += 1
        assert lob.current in {None, lob.versions[-1]}
        assert lob.read() == lob.read(lob.versions[-1])
    assert compared >= 3


@pytest.mark.parametrize("name", WITH_LOBS)
def test_the_row_s_version_is_the_document_that_select_shows(name: str) -> None:
    shown = json.loads(gzip.decompress((DATA / FIXTURES[name]["jsonb_file"]).read_bytes()))["select"]
    documents = {row["id"]: row["j"] for row in shown}
    for item, value, lob in lobs(name):
        assert format_text(decode(value.prefix + lob.read())) == documents[dict(item.row.key)["id"]]


def summary(entry: IndexEntry) -> dict[str, Any]:
    found: dict[str, Any] = {"version": entry.version, "page": entry.page, "data_len": entry.length}
    return found


@pytest.mark.parametrize("name", WITH_LOBS)
def test_references_and_index_entries_are_the_recorded_ones(name: str) -> None:
    for item, value, lob in lobs(name):
        known, reference = recorded(name, item), value.reference
        assert (reference.space, reference.page, reference.version, reference.length) == tuple(
            known["ref"][key] for key in ("space", "page", "ver", "len")
        )
        assert (reference.owned, reference.inherited, reference.being_modified) == (True, False, False)
        assert lob.first.type == known["first_page_type"]
        if isinstance(lob, IndexedLob):
            assert (lob.first_version, lob.frozen) == (known["lob_version_in_first_page"], bool(known["flags"]))
            assert [
                {**summary(entry), "older": [summary(piece) for piece in entry.older]} for entry in lob.entries
            ] == known["index_entries"]
        else:
            assert isinstance(lob, ChainedBlob)
            assert [[page, PageType.ZBLOB] for page in lob.pages()] == known["pages"]


def test_the_images_between_small_changes_are_in_no_page() -> None:
    known = FIXTURES["lob_versions"]["undo_only_images_sha256"]
    ((_, _, lob),) = lobs("lob_versions")
    assert not {hashlib.sha256(lob.read(version)).hexdigest() for version in lob.versions} & set(known)


def test_modifier_of_a_replaced_piece_is_the_creator_of_the_next() -> None:
    ((_, _, lob),) = lobs("lob_versions")
    assert isinstance(lob, IndexedLob)
    pieces = [lob.entries[1], *lob.entries[1].older]
    assert [older.modifier for older in pieces[1:]] == [newer.creator for newer in pieces[:-1]]


@pytest.mark.parametrize("name", WITH_ROWS)
def test_every_json_value_of_every_row_is_listed(name: str) -> None:
    space = fixture(name)
    rows = [(dict(item.row.key)["id"], item.column) for item in listed(space) if item.is_json]
    assert rows == [
        (row["id"], column)
        for row in FIXTURES[name]["records"]
        for column, value in row.items()
        if isinstance(value, dict) and "stored" in value
    ]


def test_small_documents_are_in_their_record() -> None:
    texts = [
        format_text(decode(item.value))
        for name in ("gencols_json", "alter_instant")
        for item in listed(fixture(name))
        if isinstance(item.value, bytes)
    ]
    assert texts == [
        '{"n": 5, "name": "bob", "tags": [1, 2]}', '{"n": 6, "name": "eve", "tags": [3]}', "[1, 2]"
    ]  # fmt: skip


@pytest.mark.parametrize("name", WITH_LOBS)
def test_first_pages_lead_to_the_same_bytes_without_a_dictionary(name: str) -> None:
    space = fixture(name)
    found = [open_first(space, page) for page in first_pages(space)]
    expected = [lob for _, _, lob in lobs(name) if isinstance(lob, IndexedLob)]
    assert [lob.read() for lob in found] == [lob.read() for lob in expected]
    assert [lob.versions for lob in found] == [lob.versions for lob in expected]


def test_a_chain_of_blob_pages_is_a_value_without_versions() -> None:
    space = fixture("sdi_blob")
    (value,) = [
        value
        for _, record in leaf_records(space, space.sdi_root.page, FORMAT, PageType.SDI)
        for value in record.values
        if isinstance(value, OffPage)
    ]
    lob = open_lob(space, value.reference)
    assert (lob.format, lob.versions, lob.current, lob.pages()) == (LobFormat.BLOB, (None,), None, (5, 6))
    assert len(zlib.decompress(lob.read())) == 86203


def test_a_reader_refuses_a_page_of_two_values() -> None:
    space = fixture("lob_versions")
    (item,) = listed(space)
    assert isinstance(item.value, OffPage)
    reader = LobReader(space)
    reader.open(item.value)
    with pytest.raises(CodecError, match="page-shared"):
        reader.open(item.value)
    borrowed = item.value._replace(reference=item.value.reference._replace(flags=0x80))
    assert reader.open(borrowed).read() == open_lob(space, item.value.reference).read()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"space": 1}, "wrong-space"),
        ({"page": 99}, "no-such-page"),
        ({"page": 4}, "wrong-page-type"),
        ({"page": 7}, "wrong-page-type"),
        ({"page": 0xFFFFFFFF}, "no-lob"),
        ({"length": 0}, "no-lob"),
        ({"length": 27103}, "bad-lob-length"),
        ({"length": 0xFFFFFFFF}, "bad-lob-length"),
        ({"version": 4}, "bad-lob-version"),
        ({"version": 0}, "bad-lob-version"),
    ],
)
def test_a_wrong_reference_is_refused(change: dict[str, int], code: str) -> None:
    space = fixture("lob_versions")
    (item,) = listed(space)
    assert isinstance(item.value, OffPage)
    with pytest.raises(CodecError) as caught:
        open_lob(space, item.value.reference._replace(**change))
    assert caught.value.code == code
    assert caught.value.path


@pytest.mark.parametrize(
    ("change", "field", "offset"), [({"space": 1}, "space", 0), ({"length": 0xFFFFFFFF}, "length", 16)]
)
def test_an_error_of_a_reference_names_the_page_of_its_record(change: dict[str, int], field: str, offset: int) -> None:
    space = fixture("lob_versions")
    (item,) = listed(space)
    assert isinstance(item.value, OffPage)
    wrong = item.value._replace(reference=item.value.reference._replace(**change))
    with pytest.raises(CodecError) as caught:
        LobReader(space).open(wrong)
    assert caught.value.path == (f"page[{item.row.page}]", "reference", field)
    assert caught.value.offset == item.value.at + offset
