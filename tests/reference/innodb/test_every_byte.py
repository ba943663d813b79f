"""A sample of ``python -m tests.hostile.data_files``, which changes every byte of every recorded data file."""

from __future__ import annotations

import tracemalloc
import zlib

import pytest

from conformance.reference.errors import CodecError
from conformance.reference.innodb.blob_chain import read_blob
from conformance.reference.innodb.pages import PageType
from conformance.reference.innodb.records import Reference
from tests.hostile.data_files import changes, outcome, placed, sound, space_of, tally_of
from tests.reference.innodb.fixture_files import file_bytes, unpacked

STEPS = {
    "alter_instant": 1201, "compressed_zblob_zlob": 701, "gencols_json": 1201, "general_ts": 1201,
    "lob_update_3": 2003, "lob_versions": 1009, "sdi_blob": 1201,
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_damage_is_harmless_or_reported_for_its_page_and_field(name: str) -> None:
    tally = tally_of(name, list(changes(name, step=STEPS[name])))
    assert tally.wrong == []
    assert sum(tally.reported.values()) > 0
    assert sum(tally.harmless.values()) > 20


@pytest.mark.parametrize("name", ["lob_versions", "gencols_json"])
def test_what_something_else_repeats_is_reported_without_checksums(name: str) -> None:
    """The header of a page, its directory, lists and lengths: no change of one byte reads as another value."""
    space = space_of(unpacked(name), verify=True)
    size = space.flags.physical
    for number in (3, 4, 5) if name == "lob_versions" else (3, 4):
        index = space.page(number).type in {PageType.SDI, PageType.INDEX}
        fields = [*range(38, 46), *range(54, 56), *range(64, 74), *range(94, 120), *range(size - 16, size - 8)]
        fields = fields if index else [*range(38, 44), *range(54, 160)]
        for offset in (*range(4, 8), 24, 25, *range(34, 38), *fields):
            data = bytearray(unpacked(name))
            data[number * size + offset] ^= 0x15
            found = outcome(bytes(data), verify=False)
            assert placed(found) if isinstance(found, CodecError) else found == sound(name), (number, offset, found)


def chain(streams: bytes, size: int, length: int, *, pages: int | None = None) -> tuple[bytes, Reference]:
    """A file of ROW_FORMAT=COMPRESSED with a stream in SDI_ZBLOB pages from 5 on."""
    data = bytearray(file_bytes("compressed_zblob_zlob")[: 5 * size])
    pieces = [streams[at : at + size - 38] for at in range(0, len(streams), size - 38)][:pages]
    for number, piece in enumerate(pieces, 5):
        page = bytearray(38) + piece.ljust(size - 38, b"\0")
        page[4:8] = number.to_bytes(4, "big")
        page[12:16] = (number + 1 if number - 4 < len(pieces) else 0xFFFFFFFF).to_bytes(4, "big")
        page[24:26] = PageType.SDI_ZBLOB.to_bytes(2, "big")
        page[34:38] = data[38:42]
        data += page
    return bytes(data), Reference(int.from_bytes(data[38:42], "big"), 5, 12, 0, length)


@pytest.mark.parametrize(
    ("plain", "length", "granted"),
    [
        (64 << 20, 1000, 1 << 20),  # the reference says less: nothing behind it is inflated
        (64 << 20, (64 << 20) + 1, 160 << 20),  # it says more than there is: that much, once in pieces and once whole
        (1000, 0xFFFFFFFF, 1 << 20),  # no page can become so long
    ],
)
def test_a_bomb_takes_no_more_memory_than_its_reference_says(plain: int, length: int, granted: int) -> None:
    data, reference = chain(zlib.compress(bytes(plain), 9), 8192, length)
    space = space_of(data, verify=False)
    tracemalloc.start()
    try:
        with pytest.raises(CodecError) as caught:
            read_blob(space, reference)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.code == "bad-blob-length"
    assert peak < granted


def test_a_chain_ends_with_its_stream() -> None:
    data, reference = chain(zlib.compress(bytes(range(256)) * 40, 0), 8192, 10240)
    assert read_blob(space_of(data, verify=False), reference) == bytes(range(256)) * 40
    changed = bytearray(data)
    changed[6 * 8192 + 12 : 6 * 8192 + 16] = (5).to_bytes(4, "big")
    with pytest.raises(CodecError):
        read_blob(space_of(bytes(changed), verify=False), reference)
