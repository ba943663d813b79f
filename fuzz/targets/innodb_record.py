"""Records of an index, page by page and as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.innodb.btree import index_page, leaf_records
from conformance.reference.innodb.column_values import column_value
from conformance.reference.innodb.dictionary import private_data
from conformance.reference.innodb.pages import Page, PageType
from conformance.reference.innodb.records import (
    Field,
    IndexFormat,
    OffPage,
    Reference,
    is_compact,
    level,
    origins,
    read_record,
)
from fuzz.data_files import Change, Input, capture_of, captures, change_of, tablespace, unchanged
from fuzz.mutators.data_files import mutate_data_file
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.pages import Tablespace
    from conformance.reference.innodb.records import Record

INVARIANT: Final = (
    "A tree is walked page by page, each page once; the chain of a page's records is the one that its directory"
    " divides; a record's fields lie inside its page, each where its start says."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.innodb.btree",
    "conformance.reference.innodb.column_values",
    "conformance.reference.innodb.records",
)
MAX_LEN: Final = 400
DICTIONARY: Final = (
    b"\x45\xbf", b"\x80\x03", b"\x00\x63", b"\x00\x70", b"\xff\xff\xff\xff", b"\x00\x01\x00\x02", b"\xc0\x14", b"\x40",
)  # fmt: skip
mutate = mutate_data_file
_REDUNDANT: Final = IndexFormat((Field("id", 4), Field("b", None, nullable=True, long=True), Field("c", 3)), 1, True)
_COLUMNS: Final[tuple[dict[str, Any], ...]] = tuple(
    {"name": "c", "type": kind, "hidden": hidden, "is_unsigned": bool(kind % 2), "datetime_precision": kind % 7,
     "collation_id": (255, 63, 33)[kind % 3], "numeric_precision": 10, "numeric_scale": 2, "elements": [{}] * kind,
     "char_length": 40, "is_nullable": True, "se_private_data": ""}
    for kind in range(1, 33)
    for hidden in (1, 2)
)  # fmt: skip
_END: Final = (101, 116)


def check(data: bytes) -> None:
    """Check the trees of an input's file, and the page of its last change as one of REDUNDANT records."""
    capture = capture_of(data)
    space, _ = attempt(tablespace, capture.changed(data), verify=False)
    if space is None:
        return
    for index in capture.indexes:
        _tree(space, index.root, index.format, PageType.INDEX)
    changes = Input.decode(data).changes
    if changes:
        _redundant_page(changes[-1].data * 3, len(data))
        for column in _COLUMNS[len(data) % 8 :: 8]:
            attempt(column_value, column, changes[-1].data)
        attempt(private_data, changes[-1].data.decode("latin-1"))


def _tree(space: Tablespace, root: int, index: IndexFormat, kind: PageType) -> None:
    found: list[tuple[Page, Record]] = []

    def walk() -> None:
        for item in leaf_records(space, root, index, kind):
            found.append(item)
            require(len(found) <= space.pages * space.flags.logical // 5, "a file has no more records than room")

    _, refused = attempt(walk)
    pages = list({page.number: page for page, _ in found}.values())
    turns = [page.number for place, (page, _) in enumerate(found) if not place or found[place - 1][0] != page]
    require(len(turns) == len(pages) <= space.pages, "a walk comes to each page once", turns)
    for page, record in found:
        _record(page, record, index)
    for page in pages:
        _directory(page)
    root_page, _ = attempt(index_page, space, root, kind)
    if refused is None and root_page is not None and found:
        require(level(root_page) or root == found[0][0].number, "a root without a level is the leaf", root)


def _record(page: Page, record: Record, index: IndexFormat) -> None:
    place = 0
    for field, value, start in zip(index.fields, record.values, record.starts, strict=False):
        if start < 0 or value is None:
            continue
        size = len(value) if isinstance(value, bytes) else len(value.prefix) + 20
        require(place <= start and start + size <= len(page.data), "a field lies in its page, behind the one before it")
        require(field.size is None or size == field.size or index.redundant, "a fixed field has its size", field.name)
        place = start
        if isinstance(value, OffPage):
            require(Reference.of(page.data[value.at : value.at + 20]) == value.reference, "a reference is where it is")


def _directory(page: Page) -> None:
    """The slots of the directory divide the chain: each owns the records since the one before it."""
    compact = is_compact(page)
    first, end = (99, 112) if compact else _END
    chain, _ = attempt(lambda: list(origins(page)))
    if chain is None:
        return
    chain = [first, *chain, end]
    back = 5 if compact else 6
    count, place = page.u2(38, "n_dir_slots"), 0
    for number in range(count):
        slot = int.from_bytes(page.data[len(page.data) - 10 - 2 * number :][:2], "big")
        place += page.data[slot - back] & 15
        require(0 < place <= len(chain) and chain[place - 1] == slot, "a slot owns the records before it", number)
    require(place == len(chain), "the slots own all records", place, len(chain))


def redundant_page(tail: bytes) -> bytes:
    """A page of three REDUNDANT records: one with short field ends, one with long ones, one with a reference."""
    page = bytearray(16384)
    page[24:26] = PageType.INDEX.to_bytes(2, "big")
    page[42:44] = (5).to_bytes(2, "big")
    page[54:56] = (3).to_bytes(2, "big")
    rows = (
        (140, (4, 9, 12), 1, 2, 200), (200, (4, 9 | 0x8000, 12), 2, 3, 300), (300, (4, 30 | 0x4000, 33), 2, 4, 116),
    )  # fmt: skip
    page[99:101] = (140).to_bytes(2, "big")
    for origin, field_ends, width, heap, after in rows:
        page[origin - 5 : origin - 3] = (heap << 3).to_bytes(2, "big")
        page[origin - 4 : origin - 2] = ((heap << 3 & 7) << 8 | len(field_ends) << 1 | (width == 1)).to_bytes(2, "big")
        page[origin - 5] = heap << 3 >> 8
        page[origin - 4] = heap << 3 & 0xFF
        page[origin - 3] = len(field_ends) << 1 | (width == 1)
        page[origin - 2 : origin] = after.to_bytes(2, "big")
        for number, field_end in enumerate(field_ends, 1):
            at = origin - 6 - width * number
            page[at : at + width] = field_end.to_bytes(width, "big")
    page[140 : 140 + len(tail)] = tail
    return bytes(page)


def _redundant_page(new: bytes, seed: int) -> None:
    """Some bytes of the page changed: its records are read or refused."""
    raw = bytearray(redundant_page(b""))
    for number, byte in enumerate(new):
        raw[94 + (number * 37 + seed * 11) % 260] ^= byte if number % 2 else 0
    page = Page(9, bytes(raw))
    found, _ = attempt(lambda: [read_record(page, origin, _REDUNDANT) for origin in origins(page)])
    for record in found or ():
        _record(page, record, _REDUNDANT)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Loops, wrong counts, and pages that the tree cannot have."""
    yield from unchanged()
    for name in ("alter_instant", "gencols_json", "lob_versions", "compressed_zblob_zlob"):
        capture = next(item for item in captures() if item.name == name)
        root = capture.indexes[0].root
        for offset, new in (
            (12, root.to_bytes(4, "big")), (8, b"\0\0\0\7"), (12, b"\0\0\0\3"), (12, b"\xff\0\0\0"), (64, b"\0\1"),
            (64, b"\xff\xff"), (42, b"\0\5"), (42, b"\x80\x02"), (54, b"\0\x63"), (66, b"\1"), (97, b"\0\0"),
            (97, b"\xff\xff"), (97, b"\0\x0d"), (38, b"\0\x09"), (40, b"\xff\xff"), (44, b"\0\x80"), (24, b"\0\0"),
        ):  # fmt: skip
            yield f"{name}-{offset}-{new.hex()}", change_of(name, Change(root, offset, new))
    for number in range(8):
        yield f"redundant-{number}", change_of("lob_versions", Change(4, 120, bytes((0, 1 << number)) * 20))
    yield "child-is-root", change_of("gencols_json", Change(4, 64, b"\0\1"), Change(4, 120, b"\0\0\0\4" * 9))
