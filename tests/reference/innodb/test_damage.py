"""Damaged pages are refused with page, offset and field, or do no harm; nothing is endless."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from conformance.reference.errors import CodecError
from conformance.reference.innodb.btree import leaf_records
from conformance.reference.innodb.dictionary import clustered_indexes
from conformance.reference.innodb.sdi import TABLE, sdi_objects
from tests.reference.innodb.fixture_files import FIXTURES, file_bytes, tablespace

if TYPE_CHECKING:
    from conformance.reference.innodb.pages import Tablespace

PAGE_SAMPLES = 60
UNCOVERED = {*range(26, 38)}  # bytes of the header that the checksum does not cover
UNCOVERED_ZIP = {*range(16, 24), *range(26, 34)}  # the same in ROW_FORMAT=COMPRESSED


def read_all(space: Tablespace) -> list[object]:
    """Every object, and every row of the tables that are in the file."""
    found: list[object] = []
    for item in sdi_objects(space):
        found.append((item.type, item.id, item.text))
        if item.type == TABLE:
            for index in clustered_indexes(item.object["dd_object"]):
                found += [record.values for _, record in leaf_records(space, index.root, index.format)]
    return found


def damaged(name: str, place: int, byte: int) -> bytes:
    data = bytearray(file_bytes(name))
    data[place] ^= byte
    return bytes(data)


def samples(name: str) -> list[tuple[int, int]]:
    """(place, mask): in each page that is read, some bytes of the header, the records, and the directory."""
    draw = random.Random(f"damage {name}")
    size = FIXTURES[name]["physical_page"]
    places = [
        number * size + place
        for number, kind in enumerate(FIXTURES[name]["page_types"])
        if kind not in {0, 5, 3}
        for place in (
            *draw.sample(range(120), PAGE_SAMPLES // 3),
            *draw.sample(range(120, 1200), PAGE_SAMPLES // 3),
            *draw.sample(range(120, size), PAGE_SAMPLES // 6),
            *draw.sample(range(size - 64, size), PAGE_SAMPLES // 6),
        )
    ]
    return [(place, draw.randrange(1, 256)) for place in places]


def outcome(data: bytes, *, verify: bool) -> list[object] | CodecError:
    """Everything that is read, or the error. Any other exception ends the test."""
    try:
        return read_all(tablespace(data, verify=verify))
    except CodecError as error:
        return error


@pytest.mark.parametrize("name", FIXTURES)
def test_without_checksums_damage_is_harmless_or_refused(name: str) -> None:
    outcomes = [outcome(damaged(name, place, mask), verify=False) for place, mask in samples(name)]
    errors = [found for found in outcomes if isinstance(found, CodecError)]
    assert len(errors) > 4
    assert [error for error in errors if not error.path] == []


@pytest.mark.parametrize("name", ["gencols_json", "compressed_zblob_zlob"])
def test_with_checksums_damage_never_changes_what_is_read(name: str) -> None:
    sound = read_all(tablespace(file_bytes(name)))
    size = FIXTURES[name]["physical_page"]
    uncovered = UNCOVERED_ZIP if size == 8192 else UNCOVERED
    for place, mask in samples(name)[::6]:
        found = outcome(damaged(name, place, mask), verify=True)
        page = place // size
        if isinstance(found, CodecError):
            assert f"page[{page}]" in found.path, (place, mask, found)
            assert found.offset is not None
        else:
            assert found == sound, (place, mask)
            assert place % size in uncovered or not _is_read(name, page)


def _is_read(name: str, page: int) -> bool:
    return FIXTURES[name]["page_types"][page] in {8, 17853, 18, 19} or page == FIXTURES[name].get("clustered_root", 4)


def test_a_page_of_zeros_leads_nowhere() -> None:
    data = file_bytes("gencols_json")
    empty = data[: 3 * 16384] + bytes(16384) + data[4 * 16384 :]
    with pytest.raises(CodecError) as caught:
        read_all(tablespace(empty))
    assert (caught.value.code, caught.value.path) == ("wrong-page-type", ("page[3]", "type"))


def test_a_cut_file_lacks_its_page() -> None:
    data = file_bytes("gencols_json")[: 3 * 16384 + 100]
    with pytest.raises(CodecError) as caught:
        read_all(tablespace(data))
    assert (caught.value.code, caught.value.path) == ("no-such-page", ("page[3]",))
