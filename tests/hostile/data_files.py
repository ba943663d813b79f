"""Every byte of every page of the recorded data files, changed: reported, harmless, or read as another value.

    python -m tests.hostile.data_files [--file NAME]... [--step N] [--jobs N] [--masks N]

Each byte is changed twice. With checksums, everything that the checksum covers must be reported for its page. Without
them, an error must be declared and name page and field; what is read instead is counted by the field that was changed,
in a table at the end: a reader cannot know better there, as nothing else in the file repeats what the field says.
Exit status 1 for an undeclared error, an error without its place, or damage that a checksum covers and nobody reports.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.errors import CodecError
from conformance.reference.innodb.btree import leaf_records
from conformance.reference.innodb.dictionary import clustered_indexes
from conformance.reference.innodb.large_values import LobReader
from conformance.reference.innodb.lob import is_written
from conformance.reference.innodb.pages import PageType, Tablespace, type_name
from conformance.reference.innodb.records import OffPage
from conformance.reference.innodb.sdi import TABLE, sdi_objects
from tests.reference.innodb.fixture_files import ALL_FILES, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Found = list[object] | CodecError
_INDEXES: Final = frozenset((PageType.INDEX, PageType.SDI))


class Change(NamedTuple):
    """One byte of a file, and the bits of it that are turned."""

    place: int
    mask: int


class Tally(NamedTuple):
    """The outcomes of changes without checksums, by the field that was changed; ``wrong`` lists those that may not
    happen."""

    harmless: Counter[str]
    reported: Counter[str]
    other: Counter[str]
    wrong: list[str]


def space_of(data: bytes, *, verify: bool) -> Tablespace:
    return Tablespace.of_bytes(data, verify=verify)


def read_all(space: Tablespace) -> list[object]:
    """Every object, every row of the tables that are in the file, and every version of every LOB."""
    found: list[object] = []
    reader = LobReader(space)
    for item in sdi_objects(space):
        found.append((item.type, item.id, item.text))
        if item.type != TABLE:
            continue
        for index in clustered_indexes(item.object["dd_object"]):
            if index.space_id != space.space_id:
                continue
            for _, record in leaf_records(space, index.root, index.format):
                found.append(record.values)
                for value in record.values:
                    if isinstance(value, OffPage) and is_written(value.reference):
                        lob = reader.open(value)
                        found += [(version, lob.read(version)) for version in lob.versions]
    return found


def outcome(data: bytes, *, verify: bool) -> Found:
    """Everything that is read from the data, or the declared error."""
    try:
        return read_all(space_of(data, verify=verify))
    except CodecError as error:
        return error


@cache
def sound(name: str) -> list[object]:
    return read_all(space_of(unpacked(name), verify=True))


@cache
def pages_read(name: str) -> frozenset[int]:
    """The pages that reading the whole file takes."""
    space, numbers = space_of(unpacked(name), verify=True), set[int]()
    read = space.page

    def page(number: int) -> object:
        numbers.add(number)
        return read(number)

    space.page = page  # type: ignore[method-assign,assignment]
    read_all(space)
    return frozenset({0, *numbers})


def uncovered(place: int, *, compressed: bool) -> bool:
    """Whether the checksum of a page leaves out this byte of it."""
    return 16 <= place < 24 or 26 <= place < 34 if compressed else 26 <= place < 38


def field_of(name: str, place: int) -> str:
    """The words under which a changed byte is counted: type of the page, and the field."""
    data = unpacked(name)
    size = space_of(data, verify=False).flags.physical
    number, offset = divmod(place, size)
    kind = int.from_bytes(data[number * size + 24 :][:2], "big")
    names = _FIL + (_INDEX if kind in _INDEXES else _FIELDS.get(kind, ()))
    said = next((word for start, end, word in names if start <= offset < end), "body")
    if offset >= size - 8 and size != 8192:
        said = "trailer"
    return f"{type_name(kind)} {said}"


_FIL: Final = (
    (0, 4, "checksum"), (4, 8, "number"), (8, 12, "prev"), (12, 16, "next"), (16, 24, "LSN"), (24, 26, "type"),
    (26, 34, "flush LSN"), (34, 38, "space"),
)  # fmt: skip
_INDEX: Final = (
    (38, 40, "n_dir_slots"), (40, 42, "heap_top"), (42, 44, "n_heap"), (44, 46, "free"), (46, 48, "garbage"),
    (48, 54, "last insert, direction"), (54, 56, "n_recs"), (56, 64, "max_trx_id"), (64, 66, "level"),
    (66, 74, "index_id"), (74, 94, "segments"), (94, 120, "infimum, supremum"),
)  # fmt: skip
_LOB: Final = ((38, 39, "format"), (39, 40, "flags"), (40, 44, "version"), (44, 54, "last transaction"))
_FIELDS: Final[dict[int, tuple[tuple[int, int, str], ...]]] = {
    PageType.FSP_HDR: ((38, 42, "space_id"), (46, 54, "size"), (54, 58, "flags")),
    PageType.LOB_FIRST: (*_LOB, (54, 58, "data_length"), (58, 64, "creator"), (64, 80, "index list"),
                         (80, 96, "free list"), (96, 696, "entries"), (696, 1 << 16, "data")),
    PageType.LOB_INDEX: ((38, 39, "format"), (39, 1 << 16, "entries")),
    PageType.LOB_DATA: ((38, 39, "format"), (39, 43, "data_length"), (43, 49, "creator"), (49, 1 << 16, "data")),
    PageType.ZLOB_FIRST: (*_LOB, (54, 58, "data_length"), (58, 64, "creator"), (64, 72, "index and fragment pages"),
                          (72, 88, "free list"), (88, 104, "index list"), (104, 136, "fragment lists"),
                          (136, 136 + 66 * 80, "entries")),
    PageType.ZLOB_INDEX: ((38, 39, "format"), (39, 1 << 16, "entries")),
    PageType.ZLOB_DATA: ((38, 39, "format"), (39, 43, "data_length"), (43, 49, "creator"), (49, 1 << 16, "data")),
    PageType.ZLOB_FRAG: ((38, 61, "lists of fragments"),),
    PageType.BLOB: ((38, 46, "length, next"),),
    PageType.SDI_BLOB: ((38, 46, "length, next"),),
}  # fmt: skip


def changes(name: str, *, step: int = 1, masks: int = 1) -> Iterator[Change]:
    """A change of every byte of the file, or of one in ``step``."""
    draw = Random(f"hostile {name}")
    for place in range(draw.randrange(step), len(unpacked(name)), step):
        for _ in range(masks):
            yield Change(place, draw.randrange(1, 256))


def try_change(name: str, change: Change, tally: Tally) -> None:
    """Change a byte, and count what is read with and without checksums."""
    original = unpacked(name)
    head = space_of(original, verify=False)
    number, offset = divmod(change.place, head.flags.physical)
    data = bytearray(original)
    data[change.place] ^= change.mask
    changed = bytes(data)
    said = f"{name} page {number} offset {offset} mask {change.mask:#x}"
    try:
        space_of(changed, verify=True).page(number)
        written = any(original[change.place - offset :][: head.flags.physical])
        if written and not uncovered(offset, compressed=head.flags.compressed):
            tally.wrong.append(f"{said}: the checksum covers it, and nobody reports it")
    except CodecError as error:
        if number and f"page[{number}]" not in error.path:
            tally.wrong.append(f"{said}: reported for another page: {error}")
    field = field_of(name, change.place)
    if number not in pages_read(name):
        tally.harmless[field] += 1
        return
    found = outcome(changed, verify=False)
    if isinstance(found, CodecError):
        tally.reported[field] += 1
        if not placed(found):
            tally.wrong.append(f"{said}: without page and field: {found}")
    elif found == sound(name):
        tally.harmless[field] += 1
    else:
        tally.other[field] += 1


def placed(error: CodecError) -> bool:
    """Whether an error names a page and a field of it, or the object whose text is damaged."""
    return any(part.startswith(("page[", "sdi[")) for part in error.path) and bool(
        len(error.path) > 1 or error.code in {"no-such-page", "page-shared", "truncated"}
    )


def tally_of(name: str, part: Sequence[Change]) -> Tally:
    """The outcomes of some changes; any other exception ends the run."""
    tally = Tally(Counter(), Counter(), Counter(), [])
    for change in part:
        try_change(name, change, tally)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", action="append", choices=ALL_FILES, help="only this file")
    parser.add_argument("--step", type=int, default=1, help="one byte in so many")
    parser.add_argument("--masks", type=int, default=1, help="changes of one byte")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    whole = Tally(Counter(), Counter(), Counter(), [])
    with ProcessPoolExecutor(options.jobs) as pool:
        for name in options.file or ALL_FILES:
            every = list(changes(name, step=options.step, masks=options.masks))
            parts = [every[at : at + 4096] for at in range(0, len(every), 4096)]
            mine = Tally(Counter(), Counter(), Counter(), [])
            for tally in pool.map(partial(tally_of, name), parts):
                for total in (whole, mine):
                    for counter, more in zip(total[:3], tally[:3], strict=True):
                        counter.update(more)
                    total.wrong.extend(tally.wrong)
            say(f"{name:24} {_numbers(mine)}")
    say(f"{'together':24} {_numbers(whole)}")
    for field, count in sorted(whole.other.items(), key=lambda pair: -pair[1]):
        said = whole.harmless[field], whole.reported[field]
        say(f"  {field:40} {count:>9,} as other values, {said[0]:>9,} harmless, {said[1]:>9,} reported")
    for line in whole.wrong[:50]:
        say(f"WRONG {line}")
    return int(bool(whole.wrong))


def _numbers(tally: Tally) -> str:
    sums = [sum(counter.values()) for counter in tally[:3]]
    return f"{sum(sums):>9,} changes: {sums[0]:>9,} harmless, {sums[1]:>9,} reported, {sums[2]:>7,} read as others"


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
