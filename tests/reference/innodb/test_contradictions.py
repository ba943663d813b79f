"""Contradictions in a data file are refused, field by field; sizes and flags are those of the sheets."""

from __future__ import annotations

import zlib
from typing import Any

import pytest

from conformance.reference.errors import CodecError
from conformance.reference.innodb.blob_chain import RATIO, read_blob
from conformance.reference.innodb.btree import leaf_records
from conformance.reference.innodb.dictionary import clustered_indexes, private_data
from conformance.reference.innodb.lob import open_first
from conformance.reference.innodb.lob_index import Address
from conformance.reference.innodb.page_compression import CompressionHeader, decompress
from conformance.reference.innodb.pages import PageType, SpaceFlags, Tablespace
from conformance.reference.innodb.records import Reference
from conformance.reference.innodb.sdi import FORMAT, TABLE, sdi_objects
from fuzz.targets.innodb_page import lz4_block
from tests.hostile.data_files import outcome, read_all, sound, space_of
from tests.reference.innodb.fixture_files import file_bytes, fixture, tablespace, unpacked
from tests.reference.innodb.test_every_byte import chain


@pytest.mark.parametrize("value", [0x8000, 0x400C, 0x4028 | 6 << 1, 1 << 6, 2 << 6, 8 << 6, 3 << 6 | 5 << 1])
def test_flags_that_no_server_writes(value: int) -> None:
    with pytest.raises(CodecError, match="none that a server writes"):
        SpaceFlags.of(value)


@pytest.mark.parametrize(
    ("flags", "offset"),
    [(0x4021, 10505), (0x4029, 5385), (0x4027, 2825), (0x40E1, 1673), (0x4121, 3849), (0x41A1, 20745), (0x41E1, 41225)],
)
def test_the_root_of_the_sdi_is_where_the_sheet_says(flags: int, offset: int) -> None:
    assert SpaceFlags.of(flags).sdi_offset == offset


def changed(name: str, page: int, offset: int, new: bytes) -> list[object] | CodecError:
    data = bytearray(unpacked(name))
    size = space_of(unpacked(name), verify=False).flags.physical
    data[page * size + offset : page * size + offset + len(new)] = new
    return outcome(bytes(data), verify=False)


OLDEST = 96 + 12  # the base node of the older entries of the first slot


@pytest.mark.parametrize(
    ("name", "page", "offset", "new", "code"),
    [
        ("lob_versions", 6, 34, b"\0\0\0\1", "wrong-space"),
        ("lob_versions", 6, 4, b"\0\0\0\7", "wrong-page-number"),
        ("compressed_zblob_zlob", 9, 34, b"\0\0\0\1", "wrong-space"),
        ("lob_versions", 5, 39, b"\2", "unknown-lob-format"),
        ("lob_versions", 6, 38, b"\1", "unknown-lob-format"),
        ("lob_versions", 8, 43, b"\0\0\0\0\0\1", "wrong-page"),
        ("lob_versions", 5, 58, b"\0\0\0\0\0\0", "wrong-page"),
        ("lob_versions", 5, 80, b"\0\0\0\5", "bad-lob-list"),
        ("lob_versions", 5, 84, b"\xff\xff\xff\xff", "bad-lob-list"),
        ("lob_versions", 5, 96 + 54, b"\0\1", "bad-lob-list"),
        ("compressed_zblob_zlob", 7, 72, b"\0\0\0\1", "bad-lob-list"),
        ("sdi_blob", 5, 38, b"\0\0\0\0", "bad-blob-length"),
        ("sdi_blob", 5, 38, b"\0\0\1\0", "bad-blob-length"),
        ("sdi_blob", 6, 42, b"\0\0\0\5", "page-circle"),
    ],
)
def test_each_has_its_error(name: str, page: int, offset: int, new: bytes, code: str) -> None:
    found = changed(name, page, offset, new)
    assert isinstance(found, CodecError), "not reported"
    assert found.code == code, found
    assert f"page[{page}]" in found.path


def purged(data: bytes, space: Tablespace, index: int) -> bytes:
    """The LOB of page 5 as purge leaves it that takes the newest older entry of a piece and no other one."""
    lob = open_first(space, space.page(5))
    entry = lob.entries[index]
    gone, kept = entry.older
    changes = bytearray(data)

    def at(place: Address) -> int:
        return place.page * space.flags.physical + place.offset

    def put(where: int, new: bytes) -> None:
        changes[where : where + len(new)] = new

    def packed(place: Address) -> bytes:
        return place.page.to_bytes(4, "big") + place.offset.to_bytes(2, "big")

    null = packed(Address(0xFFFFFFFF, 0))
    free = at(Address(5, 80))
    length, first = bytes(changes[free : free + 4]), bytes(changes[free + 4 : free + 10])
    put(at(entry.at) + 12, b"\0\0\0\1" + packed(kept.at) * 2)
    put(at(kept.at), null)
    put(at(gone.at), null + first)
    if first != null:
        put(at(Address(int.from_bytes(first[:4], "big"), int.from_bytes(first[4:], "big"))), packed(gone.at))
    put(free, (int.from_bytes(length, "big") + 1).to_bytes(4, "big") + packed(gone.at))
    if first == null:
        put(free + 10, packed(gone.at))
    return bytes(changes)


def test_purge_may_take_the_entry_between_two_others() -> None:
    # Observed after a kill on 9.7.4: version 3 with an older version 1, whose modifier is the writer of version 2.
    before = open_first(fixture("lob_versions"), fixture("lob_versions").page(5))
    gone, kept = before.entries[1].older
    space = tablespace(purged(file_bytes("lob_versions"), fixture("lob_versions"), 1), verify=False)
    after = open_first(space, space.page(5))
    assert kept.modifier == gone.creator != after.entries[1].creator
    assert after.entries[1].older == (kept,)
    for version in (kept.version, before.versions[-1]):
        assert after.read(version) == before.read(version)


def test_objects_are_in_the_order_of_type_and_id() -> None:
    starts = [record.starts for _, record in leaf_records(fixture("general_ts"), 3, FORMAT, PageType.SDI)]
    later = changed("general_ts", 3, starts[0][1], (1000).to_bytes(8, "big"))
    assert isinstance(later, CodecError)
    assert later.code == "bad-record-order"
    other = changed("general_ts", 3, starts[0][0], (2).to_bytes(4, "big"))
    assert isinstance(other, CodecError)
    assert other.code == "bad-sdi-type"


def test_one_damaged_object_hides_no_other() -> None:
    data = bytearray(file_bytes("general_ts"))
    starts = [record.starts for _, record in leaf_records(fixture("general_ts"), 3, FORMAT, PageType.SDI)]
    data[3 * 16384 + starts[1][1]] = 0x7F  # the id becomes larger than all others
    damage: list[CodecError] = []
    found = list(sdi_objects(space_of(bytes(data), verify=False), damage=damage.append))
    ids = [item.id for item in sdi_objects(fixture("general_ts"))]
    assert [item.id for item in found if item.id in ids] == [ids[0], ids[3]]
    assert [error.code for error in damage] == ["bad-record-order"]


def test_no_page_becomes_longer_than_zlib_can_make_it() -> None:
    data, reference = chain(zlib.compress(bytes(1000)), 8192, 0xFFFFFFFF)
    with pytest.raises(CodecError) as caught:
        read_blob(space_of(data, verify=False), reference)
    assert caught.value.got == RATIO * (8192 - 38)


def test_a_chunk_is_no_longer_than_its_stream_can_make_it() -> None:
    space = fixture("compressed_zblob_zlob", verify=False)
    lob = open_first(space, space.page(7))
    entry = lob.entries[0]
    for length, stored, most in ((131073, entry.stored, 131072), (entry.length, 5, 5 * RATIO)):
        with pytest.raises(CodecError) as caught:
            list(lob.places(entry._replace(length=length, stored=stored)))
        assert caught.value.expected == f"<= {most}"


def test_versions_are_read_from_their_own_pieces() -> None:
    lob = open_first(fixture("lob_versions"), fixture("lob_versions").page(5))
    pieces = {version: [piece.page for piece in lob.pieces(version)] for version in lob.versions}
    assert len({tuple(pages) for pages in pieces.values()}) == len(pieces) == 3


def stored(body: bytes, packed: bytes, algorithm: int) -> bytes:
    """A page of 16 KB that is stored compressed, with rests of a flush LSN under its fields."""
    head = bytes(24) + b"\0\x0e\1" + bytes((algorithm,)) + b"\x45\xbf"
    head += len(body).to_bytes(2, "big") + len(packed).to_bytes(2, "big") + b"\0\0\0\5"
    return (head[:38] + packed).ljust(16384, b"\0")


@pytest.mark.parametrize("algorithm", [1, 2])
def test_a_page_that_is_stored_compressed_is_whole_again(algorithm: int) -> None:
    body = (b"abc" + bytes(300) + b"xyz" * 40 + b"\7" * 9000).ljust(16346, b"q")
    packed = zlib.compress(body) if algorithm == 1 else lz4_block(body)
    page = stored(body, packed, algorithm)
    made = decompress(page, CompressionHeader.read(page))
    assert made[38:] == body
    assert made[24:38] == b"\x45\xbf" + bytes(8) + b"\0\0\0\5"


def test_an_lz4_match_of_several_bytes_repeats_itself() -> None:
    body = b"abc" * 5447 + b"last5"
    packed = bytearray(b"\x3f" + b"abc" + b"\x03\x00")  # three literals, then a match three bytes back
    left = 16341 - 3 - 4 - 15
    packed += b"\xff" * (left // 255) + bytes((left % 255,)) + b"\x50" + b"last5"
    page = stored(body, bytes(packed), 2)
    assert decompress(page, CompressionHeader.read(page))[38:] == body


def test_nothing_of_this_is_said_of_sound_files() -> None:
    for name in ("lob_update_3", "lob_index_pages"):
        assert read_all(space_of(unpacked(name), verify=True)) == sound(name)
    assert Reference.of(bytes(range(20))) == Reference(0x00010203, 0x04050607, 0x08090A0B, 12, 0x10111213)


def test_nothing_follows_a_stream_in_its_chain() -> None:
    packed = zlib.compress(bytes(range(256)) * 40, 0)
    data, reference = chain(packed.ljust(2 * (8192 - 38) + 1, b"\0"), 8192, 10240)
    with pytest.raises(CodecError) as caught:
        read_blob(space_of(data, verify=False), reference)
    assert (caught.value.code, caught.value.path) == ("bad-blob-length", ("page[6]", "next"))


def test_a_part_has_bytes() -> None:
    found = changed("sdi_blob", 5, 38, bytes(4))
    assert isinstance(found, CodecError)
    assert found.path[-2:] == ("page[5]", "part_length")


def dictionary(name: str) -> dict[str, Any]:
    """The dictionary's entry of a fixture's table, to be changed."""
    return next(item.object["dd_object"] for item in sdi_objects(fixture(name)) if item.type == TABLE)


def test_each_partition_has_its_own_root() -> None:
    table = dictionary("gencols_json")
    own = dict(private_data(table["indexes"][0]["se_private_data"]))
    roots = [(4, 900), (8, 901)]
    table["partitions"] = [
        {"name": f"p{number}", "subpartitions": [],
         "indexes": [{"se_private_data": f"id={number};root={root};space_id={own['space_id']};table_id={number};"}]}
        for root, number in roots
    ]  # fmt: skip
    assert [(index.root, index.index_id) for index in clustered_indexes(table)] == roots


def test_a_column_with_a_prefix_in_the_key_has_two_places() -> None:
    table = dictionary("gencols_json")
    index = table["indexes"][0]
    for number, element in enumerate(index["elements"]):
        column = table["columns"][element["column_opx"]]
        column["se_private_data"] = f"physical_pos={number + 1};"
    last = index["elements"][-1]
    column = table["columns"][last["column_opx"]]
    whole = len(index["elements"]) + 1
    column["se_private_data"] = f"physical_pos={whole | 0x8000};"  # its prefix is the first field
    index["elements"].insert(0, {**last, "length": 3})
    (found,) = clustered_indexes(table)
    names = [field.name for field in found.format.fields]
    assert names[0] == names[-1] == column["name"]
    assert names.count(column["name"]) == 2
