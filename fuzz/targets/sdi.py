"""The dictionary information of a file, and what is made of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.innodb.blob_chain import read_blob
from conformance.reference.innodb.btree import leaf_records
from conformance.reference.innodb.dictionary import clustered_indexes, private_data
from conformance.reference.innodb.large_values import large_values, table_objects
from conformance.reference.innodb.lob import open_lob
from conformance.reference.innodb.pages import PageType
from conformance.reference.innodb.records import OffPage
from conformance.reference.innodb.sdi import FORMAT, TABLE, has_sdi, sdi_objects
from conformance.reference.innodb.sdi_views.ibd2sdi_output import pretty, printed
from conformance.reference.innodb.sdi_views.information_schema import facts_of_file
from conformance.reference.innodb.show_create_table import create_table
from fuzz.data_files import Change, capture_of, captures, change_of, tablespace, unchanged
from fuzz.mutators.data_files import mutate_data_file
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.pages import Tablespace
    from conformance.reference.innodb.sdi import SdiObject

INVARIANT: Final = (
    "An object has the length that its record says, in the order of type and id; off-page it is what the LOB reader"
    " reads; printed with indents it is the same JSON; what is made of its JSON is made or refused."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.innodb.blob_chain",
    "conformance.reference.innodb.dictionary",
    "conformance.reference.innodb.sdi_views.ibd2sdi_output",
    "conformance.reference.innodb.sdi",
)
MAX_LEN: Final = 400
DICTIONARY: Final = (
    b"\x45\xbd", b"\x00\x12", b"\x00\x13", b"dd_object", b'"columns"', b"root=", b"physical_pos=", b"\xff\xff\xff\xff",
    b"null", b"-1", b"{", b"[]",
)  # fmt: skip
mutate = mutate_data_file
_LONG: Final = 6000  # bytes of JSON whose indents take long


def check(data: bytes) -> None:
    """Check the dictionary information of an input's file."""
    space, _ = attempt(tablespace, capture_of(data).changed(data), verify=False)
    if space is None:
        return
    every, refused = attempt(lambda: list(sdi_objects(space, deleted=True)))
    require(refused is not None or has_sdi(space), "objects come from a tree that page 0 names")
    if every is None:
        return
    found = every
    if any(item.deleted for item in every):
        found = list(sdi_objects(space))
        require([item for item in every if not item.deleted] == found, "the deleted ones are told apart")
    for item in found:
        _object(item)
    text = b"".join(printed(found, indented=False))
    require(text.count(b'"type": ') >= len(found) and text[:11] == b'["ibd2sdi"\n' if found else not text, "printed")
    _stored(space)
    if len(data) % 4 == 1:  # it takes long
        attempt(lambda: [value.row.key for value in large_values(space, table_objects(space))])


def _object(item: SdiObject) -> None:
    whole, refused = attempt(lambda: item.object)
    if whole is None:
        require(refused is not None and refused.path, "the error names its object", str(refused))
        return
    if len(item.text) <= _LONG:
        require(_same(json.loads(pretty(item.text)), whole), "indents change no value", item.id)
    table: dict[str, Any] = whole["dd_object"]
    attempt(lambda: list(clustered_indexes(table)))
    if item.type == TABLE:
        attempt(create_table, table)
        attempt(facts_of_file, table)
    attempt(private_data, str(table.get("se_private_data")))


def _same(a: object, b: object) -> bool:
    """NaN is not equal to itself, but its text is."""
    return repr(a) == repr(b)


def _stored(space: Tablespace) -> None:
    """Objects outside of their records, by the two readers of such chains."""
    for _, record in leaf_records(space, space.sdi_root.page, FORMAT, PageType.SDI):
        data = record.values[6]
        if isinstance(data, OffPage):
            stored, _ = attempt(read_blob, space, data.reference)
            lob, _ = attempt(open_lob, space, data.reference)
            if stored is not None and lob is not None:
                require(lob.read() == stored, "both readers read the same")
                require(len(stored) == data.reference.length, "a value has the length of its reference")


def seeds() -> Iterator[tuple[str, bytes]]:
    """Trees, lengths and streams that are wrong; JSON that is other."""
    yield from unchanged()
    for capture in captures():
        if PageType.SDI not in capture.types:
            continue
        for offset, new in (
            (12, b"\0\0\0\3"), (64, b"\0\1"), (54, b"\0\x09"), (66, b"\0"), (97, b"\0\0"), (24, b"\0\0"),
            (64, b"\xff\xff"),
        ):  # fmt: skip
            yield f"{capture.name}-{offset}-{new.hex()}", change_of(capture.name, Change(3, offset, new))
        for at in [place for place in capture.places(3) if place > 120][:40:3]:
            yield f"{capture.name}-{at}", change_of(capture.name, Change(3, at, b"\xc0\x14"))
    for number in (5, 6):
        for offset, new in (
            (38, b"\0\0\0\1"),
            (38, b"\xff\xff"),
            (42, b"\0\0\0\5"),
            (12, b"\0\0\0\5"),
            (24, b"\0\x0a"),
        ):
            for name in ("sdi_blob", "compressed_zblob_zlob"):
                yield f"{name}-{number}-{offset}-{new.hex()}", change_of(name, Change(number, offset, new))
