"""Recorded files of seldom formats: fragment entries, high trees, files of 5.6, and records of old INSTANT DDL."""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from typing import Any, Final

import pytest

from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.innodb.btree import index_page, leaf_records
from conformance.reference.innodb.column_values import column_value
from conformance.reference.innodb.dictionary import clustered_indexes
from conformance.reference.innodb.large_values import LobReader, large_values, table_objects
from conformance.reference.innodb.lob import IndexedLob, LobFormat
from conformance.reference.innodb.pages import FIL_NULL, Page, PageType, Tablespace
from conformance.reference.innodb.records import Field, IndexFormat, OffPage, level, read_record
from conformance.reference.innodb.sdi import has_sdi
from tests.reference.innodb.fixture_files import DATA, tablespace

FOLDER: Final = DATA / "formats"
FILES: Final[dict[str, dict[str, Any]]] = json.loads((FOLDER / "manifest.json").read_text("utf-8"))["files"]
FRAGMENTS: Final = "zlob_fragments"
FORMATS: Final = ("compact", "redundant", "dynamic", "compressed")


@cache
def file_bytes(name: str) -> bytes:
    data = gzip.decompress((FOLDER / f"{name}.ibd.gz").read_bytes())
    assert hashlib.sha256(data).hexdigest() == FILES[name]["sha256"]
    return data


def opened(space: Tablespace) -> IndexedLob:
    """The LOB of a table with one row."""
    (value,) = large_values(space, table_objects(space))
    assert isinstance(value.value, OffPage)
    lob = LobReader(space).open(value.value)
    assert isinstance(lob, IndexedLob)
    return lob


def test_fragment_entries_have_pages_of_their_own() -> None:
    lob = opened(tablespace(file_bytes(FRAGMENTS)))
    assert lob.format is LobFormat.ZLOB
    assert [hashlib.sha256(lob.read(version)).hexdigest() for version in lob.versions] == FILES[FRAGMENTS]["images"]
    assert lob.versions == (1, 2, 3, 5)  # version 4 was rolled back
    kinds = {lob.space.page(number).type for number in lob.index_pages}
    assert kinds == {PageType.ZLOB_INDEX, PageType.ZLOB_FRAG_ENTRY}
    owned = set(lob.all_pages)
    rest = {lob.space.page(number).type_name for number in range(lob.space.pages) if number not in owned}
    assert not any(name.startswith("ZLOB") for name in rest - {"ZLOB_FRAG"})


def poked(place: int, raw: bytes) -> CodecError:
    """The error of opening the fragments' LOB with bytes changed."""
    data = bytearray(file_bytes(FRAGMENTS))
    data[place : place + len(raw)] = raw
    with pytest.raises(DecodeError) as caught:
        opened(tablespace(bytes(data), verify=False))
    return caught.value


def test_damage_of_the_chain_of_fragment_entries_is_named() -> None:
    lob = opened(tablespace(file_bytes(FRAGMENTS)))
    size, first = lob.space.flags.physical, lob.first.number
    page = lob.first.u4(68, "next_page")
    for place, raw, code, path in (
        (first * size + 68, first.to_bytes(4, "big"), "page-circle", (f"page[{first}]", "next")),
        (first * size + 68, (4).to_bytes(4, "big"), "wrong-page-type", ("page[4]", "type")),
        (first * size + 68, (9999).to_bytes(4, "big"), "no-such-page", ("page[9999]",)),
        (page * size + 12, page.to_bytes(4, "big"), "page-circle", (f"page[{page}]", "next")),
        (page * size + 38, b"\x01", "unknown-lob-format", (f"page[{page}]", "format_version")),
    ):
        error = poked(place, raw)
        assert (error.code, error.path) == (code, path)


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("tree")])
def test_trees_of_three_and_four_levels_have_the_rows_of_select(name: str) -> None:
    space = tablespace(file_bytes(name))
    (table,) = table_objects(space)
    (index,) = clustered_indexes(table)
    assert level(index_page(space, index.root)) >= 2
    columns = {column["name"]: column for column in table["columns"]}
    places = [[field.name for field in index.format.fields].index(name) for name in ("a", "b", "v")]
    rows = [
        [shown(columns[name], record.values[place]) for name, place in zip(("a", "b", "v"), places, strict=True)]
        for _, record in leaf_records(space, index.root, index.format)
        if not record.deleted
    ]
    assert len(rows) == FILES[name]["rows"]
    assert hashlib.sha256(json.dumps(rows).encode()).hexdigest() == FILES[name]["select"]


def shown(column: dict[str, Any], value: object) -> str | None:
    return str(column_value(column, value)) if isinstance(value, bytes) else None


def digests(space: Tablespace, dictionary: Tablespace) -> dict[str, str]:
    """MD5 of the large values of a table: those in the record as well."""
    found, reader = {}, LobReader(space)
    (table,) = table_objects(dictionary)
    for item in large_values(space, [table]):
        stored = item.value
        assert isinstance(stored, OffPage)
        lob = reader.open(stored)
        assert lob.format in {LobFormat.BLOB, LobFormat.ZBLOB}
        data = stored.prefix + lob.read()
        found[f"{item.row.key[0][1]!r}.{item.column}"] = hashlib.md5(data, usedforsecurity=False).hexdigest()
    return found


@pytest.mark.parametrize("row_format", FORMATS)
def test_files_of_5_6_are_read_with_the_dictionary_of_a_newer_table(row_format: str) -> None:
    old, imported = (tablespace(file_bytes(f"{state}_{row_format}")) for state in ("old", "imported"))
    assert (has_sdi(old), has_sdi(imported)) == (False, True)
    found = digests(old, imported)
    assert found == digests(imported, imported)
    assert found.items() <= FILES[f"old_{row_format}"]["values"].items()
    assert {"1.t", "1.b", "2.t"} <= set(found)


def test_every_page_of_a_file_of_5_6_is_verified() -> None:
    for row_format in FORMATS:
        data = file_bytes(f"old_{row_format}")
        space = tablespace(data)
        for number in range(space.pages):
            space.page(number)
            damaged = bytearray(data)
            damaged[number * space.flags.physical + 60] ^= 1
            with pytest.raises(DecodeError) as caught:
                tablespace(bytes(damaged)).page(number)
            assert (caught.value.code, caught.value.path) == ("bad-checksum", (f"page[{number}]", "checksum"))


def test_a_chain_of_old_pages_that_is_damaged_is_named() -> None:
    for row_format, at in (("dynamic", 42), ("compressed", 12)):
        data = bytearray(file_bytes(f"imported_{row_format}"))
        size = tablespace(bytes(data)).flags.physical
        data[4 * size + at : 4 * size + at + 4] = (4).to_bytes(4, "big")
        data[4 * size + 38 : 4 * size + 42] = b"\xff\xff\xff\xff"
        space = tablespace(bytes(data), verify=False)
        with pytest.raises(DecodeError) as caught:
            digests(space, space)
        assert caught.value.path[0] == "page[4]"
        assert caught.value.offset is not None


# Made by hand from the rules of innodb-lob 1.1, as no server of ours writes it any more: fields id INT and v VARCHAR(9)
# NULL from before, w INT NULL added by the INSTANT DDL of 8.0.12 to 8.0.28. The count of two bytes is not in the sheet.
INSTANT: Final = IndexFormat(
    (Field("id", 4), Field("DB_TRX_ID", 6), Field("DB_ROLL_PTR", 7), Field("v", None, nullable=True),
     Field("w", 4, nullable=True, default=b"\x80\x00\x00\x4d")),
    keys=1, instant_fields=4,
)  # fmt: skip


def old_record(before: bytes, after: bytes) -> tuple[object, ...]:
    """The values of a record: ``before`` its origin, ``after`` its system columns."""
    body = bytearray(4096)
    body[24:26] = PageType.INDEX.to_bytes(2, "big")
    body[8:16] = FIL_NULL.to_bytes(4, "big") * 2
    body[42:44] = (0x8003).to_bytes(2, "big")
    origin = 200
    body[origin - len(before) : origin] = before
    body[origin : origin + 17 + len(after)] = b"\x80\x00\x00\x01" + bytes(13) + after
    return read_record(Page(4, bytes(body)), origin, INSTANT).values[3:]


@pytest.mark.parametrize(
    ("before", "after", "values"),
    [
        ("02 00 000010 0000", b"ab", (b"ab", b"\x80\x00\x00\x4d")),  # written before: no count
        ("01 000010 0000", b"", (None, b"\x80\x00\x00\x4d")),
        ("02 00 05 800010 0000", b"ab\x80\x00\x00\x07", (b"ab", b"\x80\x00\x00\x07")),  # with 5 fields
        ("02 02 05 800010 0000", b"ab", (b"ab", None)),
        ("03 05 800010 0000", b"", (None, None)),
        ("02 00 04 800010 0000", b"ab", (b"ab", b"\x80\x00\x00\x4d")),  # an update of an older record
        ("02 00 05 80 800010 0000", b"ab\x80\x00\x00\x07", (b"ab", b"\x80\x00\x00\x07")),  # a count of two bytes
    ],
)
def test_records_of_old_instant_ddl(before: str, after: bytes, values: tuple[bytes | None, ...]) -> None:
    assert old_record(bytes.fromhex(before), after) == values
