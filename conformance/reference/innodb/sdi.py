"""The dictionary information (SDI) of a tablespace: every table and tablespace object in it, as JSON (innodb-sdi B.5).

One object is one record of an index tree whose root is in page 0: type, id, and the JSON text, compressed with zlib.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.innodb.blob_chain import RATIO, read_blob
from conformance.reference.innodb.btree import leaf_records
from conformance.reference.innodb.pages import PageType
from conformance.reference.innodb.records import Field, IndexFormat, OffPage
from conformance.reference.jsonb.text_reader import place_of_fault
from conformance.reference.portable import read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.innodb.pages import Page, Tablespace
    from conformance.reference.innodb.records import Record

_KEY: Final = 12  # bytes of type and id
_INDEX_ID: Final = (1 << 64) - 1
_TYPE_NAMES: Final = {1: b"Table", 2: b"Tablespace"}
TABLE: Final = 1
TABLESPACE: Final = 2
FORMAT: Final = IndexFormat(
    (
        Field("type", 4),
        Field("id", 8),
        Field("trx_id", 6),
        Field("roll_ptr", 7),
        Field("uncompressed_length", 4),
        Field("compressed_length", 4),
        Field("data", None, long=True),
    ),
    keys=2,
)


class SdiObject(NamedTuple):
    """One object: ``text`` is the JSON as it is stored. ``page`` is the leaf that has its record."""

    type: int
    id: int
    text: bytes
    page: int
    deleted: bool
    off_page: bool

    @property
    def object(self) -> dict[str, Any]:
        """The JSON, read. Raises for text that is none.

        Literals in generation_expression keep the bytes of their own character set (innodb-sdi B.2): bytes that are no
        UTF-8 become surrogates.
        """
        text = self.text.decode("utf-8", "surrogateescape")
        try:
            found = read_json(text)
        except ValueError:
            raise DecodeError("bad-json", "the text of the object is no JSON", offset=place_of_fault(text),
                              path=(f"sdi[{self.type},{self.id}]",)) from None  # fmt: skip
        if not isinstance(found, dict) or not isinstance(found.get("dd_object"), dict):
            raise DecodeError("bad-json", "the JSON has no dictionary object", path=(f"sdi[{self.type},{self.id}]",))
        return found


def has_sdi(space: Tablespace) -> bool:
    """Whether page 0 leads to a tree. As in ibd2sdi, version and root decide, and not the flag (innodb-sdi C)."""
    root = space.sdi_root
    return root.version == 1 and root.page != 0


def sdi_objects(
    space: Tablespace, *, deleted: bool = False, damage: Callable[[CodecError], object] | None = None
) -> Iterator[SdiObject]:
    """The objects in order of type, then id. ``deleted``: also those that wait for purge.

    ``damage`` gets the errors of objects and pages, and the others follow; else the first one is raised.
    """
    if not has_sdi(space):
        raise DecodeError("no-sdi", "the tablespace has no dictionary information", offset=space.flags.sdi_offset,
                          got=tuple(space.sdi_root), path=("page[0]", "sdi_root"))  # fmt: skip
    before = b""
    for page, record in leaf_records(space, space.sdi_root.page, FORMAT, PageType.SDI, owner=_INDEX_ID, damage=damage):
        try:
            key = page.take(record.origin, _KEY, "key")
            last, before = before, key
            if key <= last:
                raise page.error("bad-record-order", "the record does not follow the one before it", record.origin,
                                 "key", f"> {last.hex()}", key.hex())  # fmt: skip
            if record.deleted and not deleted:
                continue
            found = _object(space, page, record)
        except CodecError as error:
            if damage is None:
                raise
            damage(error)
            continue
        yield found


def _object(space: Tablespace, page: Page, record: Record) -> SdiObject:
    kind, number, _, _, plain_size, size, data = record.values
    type_, id_, plain_length, length = (
        int.from_bytes(value, "big") if isinstance(value, bytes) else 0 for value in (kind, number, plain_size, size)
    )
    try:
        stored = data.prefix + read_blob(space, data.reference) if isinstance(data, OffPage) else data or b""
        if len(stored) != length:
            raise page.error("bad-sdi-length", "the data have another length", record.starts[5], "compressed_length",
                             len(stored), length)  # fmt: skip
        if plain_length > RATIO * length:
            raise page.error("bad-sdi-length", "no data of this length become so long", record.starts[4],
                             "uncompressed_length", f"<= {RATIO * length}", plain_length)  # fmt: skip
        inflate = zlib.decompressobj()
        text = inflate.decompress(stored, plain_length + 1)
        if len(text) != plain_length or not inflate.eof:
            raise page.error("bad-sdi-length", "the JSON has another length", record.starts[4], "uncompressed_length",
                             len(text), plain_length)  # fmt: skip
    except zlib.error:
        raise page.error("bad-zlib", "the data cannot be decompressed", record.starts[6], "data").at(
            f"sdi[{type_},{id_}]"
        ) from None
    except CodecError as error:
        raise error.at(f"sdi[{type_},{id_}]") from None
    name = _TYPE_NAMES.get(type_)
    if name is None or (b'"dd_object_type":' in text and b'"dd_object_type":"%s"' % name not in text):
        raise page.error("bad-sdi-type", "the text is one of another type of object", record.origin, "type",
                         got=type_).at(f"sdi[{type_},{id_}]")  # fmt: skip
    return SdiObject(type_, id_, text, record.page, record.deleted, isinstance(data, OffPage))
