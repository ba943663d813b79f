"""Damaged LOB pages: each change of a byte is harmless, or refused with page and field."""

from __future__ import annotations

import random
from itertools import chain

import pytest

from conformance.reference.errors import CodecError
from conformance.reference.innodb.large_values import LobReader, large_values, table_objects
from conformance.reference.innodb.pages import PageType, Tablespace
from conformance.reference.innodb.records import OffPage
from tests.reference.innodb.fixture_files import FIXTURES, file_bytes, tablespace

# Where the formats have their fields, and what a reader may not notice: ids of transactions, free lists, unused bytes.
LOB_TYPES = {PageType.LOB_FIRST, PageType.LOB_DATA, PageType.ZLOB_FIRST, PageType.ZLOB_FRAG, PageType.ZBLOB}
FIELDS = (*range(38, 96), *range(96, 160), *range(160, 240))
SAMPLES = 40


def read_all(space: Tablespace) -> list[tuple[object, ...]]:
    """Every version of every value."""
    reader = LobReader(space)
    found: list[tuple[object, ...]] = []
    for item in large_values(space, table_objects(space)):
        if isinstance(item.value, OffPage):
            lob = reader.open(item.value)
            found += [(item.row.key, version, item.value.prefix + lob.read(version)) for version in lob.versions]
    return found


def damage(name: str, place: int, mask: int, *, verify: bool) -> list[tuple[object, ...]] | CodecError:
    data = bytearray(file_bytes(name))
    data[place] ^= mask
    try:
        return read_all(tablespace(bytes(data), verify=verify))
    except CodecError as error:
        return error


def pages(name: str) -> list[int]:
    return [number for number, kind in enumerate(FIXTURES[name]["page_types"]) if kind in LOB_TYPES]


@pytest.mark.parametrize("name", ["lob_versions", "compressed_zblob_zlob"])
def test_no_damage_is_endless_or_undeclared(name: str) -> None:
    size = FIXTURES[name]["physical_page"]
    draw = random.Random(f"lob {name}")
    places = [
        number * size + place
        for number in pages(name)
        for place in chain(
            draw.sample(range(40), 8), draw.sample(FIELDS, SAMPLES), draw.sample(range(size), SAMPLES // 4),
            draw.sample(range(size - 64, size), 8),
        )
    ]  # fmt: skip
    sound = {row[:2]: row[2] for row in read_all(tablespace(file_bytes(name)))}
    refused = 0
    for place in places:
        found = damage(name, place, draw.randrange(1, 256), verify=False)
        if isinstance(found, CodecError):
            refused += 1
            assert found.path, (place, found)
            assert found.offset is not None or found.got is not None, (place, found)
            continue
        # What is read in spite of the damage has the same length; only bytes of data differ, and only one.
        for key, version, data in found:
            assert isinstance(data, bytes)
            if (key, version) in sound:
                before = sound[key, version]
                assert isinstance(before, bytes)
                assert len(data) == len(before)
    assert refused > 20


def test_with_checksums_every_damage_of_a_page_in_use_is_found() -> None:
    size, draw = 16384, random.Random("lob checksums")
    for number in (5, 6, 7, 8):
        for place in draw.sample([*range(26), *range(38, size)], 6):
            found = damage("lob_versions", number * size + place, draw.randrange(1, 256), verify=True)
            assert isinstance(found, CodecError), (number, place)
            assert f"page[{number}]" in found.path


def poked(name: str, *changes: tuple[int, int, bytes]) -> CodecError | list[tuple[object, ...]]:
    """The outcome with bytes changed: (page, offset, bytes)."""
    data = bytearray(file_bytes(name))
    size = FIXTURES[name]["physical_page"]
    for page, offset, raw in changes:
        data[page * size + offset : page * size + offset + len(raw)] = raw
    try:
        return read_all(tablespace(bytes(data), verify=False))
    except CodecError as error:
        return error


# Page 5 of lob_versions: entry 1 at 96 (FIRST, version 1), then the entries of the second piece.
FIRST = 96
ADDRESS = (5).to_bytes(4, "big")


def second_entry() -> int:
    """Offset of the second current entry of lob_versions."""
    data = file_bytes("lob_versions")[5 * 16384 :]
    return int.from_bytes(data[FIRST + 10 : FIRST + 12], "big")


@pytest.mark.parametrize(
    ("offset", "raw", "code", "field"),
    [
        (38, b"\x01", "unknown-lob-format", "format_version"),
        (40, bytes(4), "bad-lob-version", "version"),
        (12, ADDRESS, "page-circle", "next"),
        (12, (4).to_bytes(4, "big"), "wrong-page-type", "type"),
        (64, (9).to_bytes(4, "big"), "bad-lob-list", "index_list_length"),
        (64, (1).to_bytes(4, "big"), "bad-lob-list", "index_list_length"),
        (68, (7).to_bytes(4, "big"), "bad-lob-address", "index_list_next"),
        (72, (97).to_bytes(2, "big"), "bad-lob-address", "index_list_next"),
        (72, (96 + 600).to_bytes(2, "big"), "bad-lob-address", "index_list_next"),
        (FIRST + 10, (96).to_bytes(2, "big"), "lob-circle", "index_list_next"),
        (FIRST, ADDRESS, "bad-lob-list", "index_list_prev"),
        (FIRST + 48, (7).to_bytes(4, "big"), "page-shared", None),
        (FIRST + 52, bytes(2), "bad-lob-length", "index_list"),
        (FIRST + 56, (4).to_bytes(4, "big"), "bad-lob-version", "version"),
        (54, (15679).to_bytes(4, "big"), "bad-lob-length", "data_length"),
    ],
)
def test_each_field_has_its_error(offset: int, raw: bytes, code: str, field: str | None) -> None:
    found = poked("lob_versions", (5, offset, raw))
    assert isinstance(found, CodecError)
    assert found.code == code, found
    assert found.path[0].startswith("page[")
    assert field is None or found.path[-1] == field


def test_a_list_that_comes_back_ends() -> None:
    second = second_entry()
    circle = [(5, second + 6, ADDRESS + FIRST.to_bytes(2, "big"))]
    count = (5, 64, (1000).to_bytes(4, "big"))
    found = poked("lob_versions", *circle, count)
    assert isinstance(found, CodecError)
    assert found.code == "lob-circle"


def test_versions_that_rise_along_the_older_list_are_refused() -> None:
    data = file_bytes("lob_versions")[5 * 16384 :]
    oldest = int.from_bytes(data[second_entry() + 26 : second_entry() + 28], "big")
    found = poked("lob_versions", (5, oldest + 56, (3).to_bytes(4, "big")))
    assert isinstance(found, CodecError)
    assert (found.code, found.path[-1]) == ("bad-lob-version", "older")


@pytest.mark.parametrize(
    ("page", "offset", "raw", "code"),
    [
        (7, 54, bytes(4), "bad-lob-length"),
        (7, 54, (5000).to_bytes(4, "big"), "bad-lob-length"),
        (7, 136 + 66 + 52, (77).to_bytes(2, "big"), None),
        (8, 8192 - 10, bytes(2), "bad-fragment"),
        (9, 60, bytes(10), "bad-zlib"),
    ],
)
def test_compressed_values_have_their_errors(page: int, offset: int, raw: bytes, code: str | None) -> None:
    found = poked("compressed_zblob_zlob", (page, offset, raw))
    assert isinstance(found, CodecError)
    assert code is None or found.code == code, found
