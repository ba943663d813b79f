"""Pages of a tablespace: header, trailer, checksum, page types, and what page 0 says of the whole (innodb-sdi B.3)."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from conformance.reference.errors import CodecError, DecodeError, Unsupported
from conformance.reference.innodb.checksums import wrong_checksum
from conformance.reference.innodb.encryption.tablespace_key import INFO_SIZE, EncryptionInfo
from conformance.reference.innodb.page_compression import CompressionHeader, decompress, encrypted_end

if TYPE_CHECKING:
    from conformance.reference.encryption.keyring import Keyring

Window = Callable[[int, int], bytes]
"""``window(offset, count)``: that many bytes of the file, fewer at its end."""

FIL_NULL: Final = 0xFFFFFFFF
FIL_HEADER: Final = 38  # bytes before the body of every page
FIL_TRAILER: Final = 8

_U2: Final = Struct(">H").unpack_from
_U4: Final = Struct(">I").unpack_from
_U8: Final = Struct(">Q").unpack_from
_SMALLEST: Final = 1024
_XDES_HEADER: Final = 150  # where the descriptors of extents begin in page 0
_SDI_VERSION: Final = 1


class PageType(IntEnum):
    """The page types (innodb-sdi B.4, innodb-lob 2)."""

    ALLOCATED = 0
    UNDO_LOG = 2
    INODE = 3
    IBUF_FREE_LIST = 4
    IBUF_BITMAP = 5
    SYS = 6
    TRX_SYS = 7
    FSP_HDR = 8
    XDES = 9
    BLOB = 10
    ZBLOB = 11
    ZBLOB2 = 12
    COMPRESSED = 14
    ENCRYPTED = 15
    COMPRESSED_AND_ENCRYPTED = 16
    ENCRYPTED_RTREE = 17
    SDI_BLOB = 18
    SDI_ZBLOB = 19
    RSEG_ARRAY = 21
    LOB_INDEX = 22
    LOB_DATA = 23
    LOB_FIRST = 24
    ZLOB_FIRST = 25
    ZLOB_DATA = 26
    ZLOB_INDEX = 27
    ZLOB_FRAG = 28
    ZLOB_FRAG_ENTRY = 29
    SDI = 17853
    RTREE = 17854
    INDEX = 17855


# The types of encrypted pages, and those that they have in plain; None: the header has it.
_ENCRYPTED: Final = {
    PageType.ENCRYPTED: None,
    PageType.COMPRESSED_AND_ENCRYPTED: PageType.COMPRESSED,
    PageType.ENCRYPTED_RTREE: PageType.RTREE,
}


def type_name(number: int) -> str:
    """The name of a page type, or its number."""
    return PageType(number).name if number in PageType.__members__.values() else str(number)


class SpaceFlags(NamedTuple):
    """The flags in page 0 (innodb-sdi B.3): sizes in bytes; ``physical`` differs with ROW_FORMAT=COMPRESSED."""

    value: int
    logical: int
    physical: int

    @property
    def compressed(self) -> bool:
        """Whether all pages are those of ROW_FORMAT=COMPRESSED."""
        return bool(self.value & 0x1E)

    @property
    def atomic_blobs(self) -> bool:
        """Whether an off-page value leaves no prefix in its record."""
        return bool(self.value & 1 << 5)

    @property
    def shared(self) -> bool:
        """A general tablespace, the system tablespace, or that of the dictionary."""
        return bool(self.value & 1 << 11)

    @property
    def encrypted(self) -> bool:
        return bool(self.value & 1 << 13)

    @property
    def has_sdi(self) -> bool:
        return bool(self.value & 1 << 14)

    @classmethod
    def of(cls, value: int) -> SpaceFlags:
        """Check the flags, and compute the sizes."""
        zip_shift, page_shift = value >> 1 & 15, value >> 6 & 15
        logical = 512 << page_shift if page_shift else 16384
        physical = 512 << zip_shift if zip_shift else logical
        if value >> 15 or zip_shift > 5 or page_shift not in {0, 3, 4, 5, 6, 7} or physical > logical:
            raise DecodeError("bad-space-flags", "the flags of the tablespace are none that a server writes",
                              offset=54, got=f"{value:#x}", path=("page[0]", "flags"))  # fmt: skip
        return cls(value, logical, physical)

    @property
    def sdi_offset(self) -> int:
        """Where page 0 has version and root of the SDI, behind its extent descriptors and the encryption block."""
        return _XDES_HEADER + self.descriptor * (self.physical // self.extent) + INFO_SIZE

    @property
    def extent(self) -> int:
        """The number of pages in an extent."""
        return (1 << 20) // self.logical if self.logical <= 16384 else 64

    @property
    def descriptor(self) -> int:
        """The size of an extent's descriptor."""
        return 24 + (self.extent * 2 + 7) // 8

    def descriptor_place(self, page: int) -> tuple[int, int]:
        """The page and the offset of the descriptor of the extent that a page is in."""
        inside = page % self.physical
        return page - inside, _XDES_HEADER + self.descriptor * (inside // self.extent)

    @property
    def encryption_offset(self) -> int:
        """Where page 0 has the block with the key of an encrypted tablespace."""
        return self.sdi_offset - INFO_SIZE


class Page(NamedTuple):
    """One page: verified, decompressed and decrypted. Offsets count from its start, all numbers are big-endian."""

    number: int
    data: bytes

    @property
    def type(self) -> int:
        return self.u2(24, "type")

    @property
    def prev(self) -> int:
        return self.u4(8, "prev")

    @property
    def next(self) -> int:
        return self.u4(12, "next")

    @property
    def lsn(self) -> int:
        return self.u8(16, "lsn")

    @property
    def type_name(self) -> str:
        return type_name(self.type)

    def _short(self, at: int, count: int, field: str) -> DecodeError:
        return self.error("outside-page", f"{field} needs {count} bytes", at, field, got=len(self.data) - at)

    def u1(self, at: int, field: str) -> int:
        if not 0 <= at < len(self.data):
            raise self._short(at, 1, field)
        return self.data[at]

    def u2(self, at: int, field: str) -> int:
        if not 0 <= at <= len(self.data) - 2:
            raise self._short(at, 2, field)
        value: int = _U2(self.data, at)[0]
        return value

    def u4(self, at: int, field: str) -> int:
        if not 0 <= at <= len(self.data) - 4:
            raise self._short(at, 4, field)
        value: int = _U4(self.data, at)[0]
        return value

    def u6(self, at: int, field: str) -> int:
        """A transaction id."""
        return int.from_bytes(self.take(at, 6, field), "big")

    def u8(self, at: int, field: str) -> int:
        if not 0 <= at <= len(self.data) - 8:
            raise self._short(at, 8, field)
        value: int = _U8(self.data, at)[0]
        return value

    def take(self, at: int, count: int, field: str) -> bytes:
        """``count`` bytes from ``at`` on."""
        if at < 0 or count < 0 or at + count > len(self.data):
            raise self._short(at, count, field)
        return self.data[at : at + count]

    def expect_type(self, *types: PageType) -> None:
        """Raise unless the page has one of these types."""
        if self.type not in types:
            raise self.error("wrong-page-type", "the page is of another type", 24, "type",
                             " or ".join(kind.name for kind in types), self.type_name)  # fmt: skip

    def error(
        self, code: str, message: str, offset: int, field: str, expected: object = None, got: object = None
    ) -> DecodeError:
        """An error about a field of this page."""
        return DecodeError(
            code, message, offset=offset, expected=expected, got=got, path=(f"page[{self.number}]", field)
        )


class SdiRoot(NamedTuple):
    """The entry of page 0 about the SDI; a root is usable if the version is 1 and the number not 0."""

    version: int
    page: int


_SYSTEM: Final = 0
_FIRST_RESERVED: Final = 0xFFFFFFF0 - 127 * 400_000  # undo tablespaces; above them temporary ones


def names_a_tablespace(head: bytes) -> bool:
    """Whether a file that begins with these 64 bytes may be a tablespace: its first page says so twice."""
    if len(head) < 58 or _U2(head, 24)[0] != PageType.FSP_HDR or head[4:8] != bytes(4) or head[34:38] != head[38:42]:
        return False
    try:
        SpaceFlags.of(_U4(head, 54)[0])
    except DecodeError:
        return False
    return True


def of_server(space_id: int) -> bool:
    """Whether a tablespace is one that every server has for itself: system, dictionary, undo, temporary."""
    return space_id == _SYSTEM or space_id >= _FIRST_RESERVED


def window_of(data: bytes) -> Window:
    """The window on a file that is in memory."""
    return lambda offset, count: data[offset : offset + count]


class Tablespace:
    """The pages of one file, or of the files of the system tablespace in order.

    ``verify``: refuse pages whose checksum is wrong. ``keyring``: what opens the pages of an encrypted tablespace.
    ``torn`` is the number of bytes behind the last whole page.
    """

    def __init__(self, window: Window, size: int, *, verify: bool = True, keyring: Keyring | None = None) -> None:
        self._window = window
        self._verify = verify
        self._key = None
        if size < _SMALLEST:
            raise DecodeError("not-a-tablespace", "the file is shorter than any page", expected=_SMALLEST, got=size)
        head = window(0, _SMALLEST)
        kind, flags = _U2(head, 24)[0], _U4(head, 54)[0]
        if kind != PageType.FSP_HDR and (kind or any(head[:34])):
            raise DecodeError("not-a-tablespace", "the first page is none of an InnoDB tablespace", offset=24,
                              expected=PageType.FSP_HDR.name, got=type_name(kind),
                              path=("page[0]", "type"))  # fmt: skip
        self.flags = SpaceFlags.of(flags)
        self.pages, self.torn = divmod(size, self.flags.physical)
        if not self.pages:
            raise DecodeError("truncated", "the file is shorter than one page", offset=size,
                              expected=self.flags.physical, got=size, path=("page[0]",))  # fmt: skip
        self.space_id: int = _U4(head, FIL_HEADER)[0]
        self.first = self.page(0)
        at = self.flags.encryption_offset
        info = None if keyring is None else EncryptionInfo.read(self.first.data, at)
        if keyring is not None and info is not None:
            self._key = info.unlock(keyring, at)

    @classmethod
    def of_bytes(cls, data: bytes, *, verify: bool = True) -> Self:
        """The pages of a file that is in memory."""
        return cls(window_of(data), len(data), verify=verify)

    @property
    def sdi_root(self) -> SdiRoot:
        at = self.flags.sdi_offset
        return SdiRoot(self.first.u4(at, "sdi_version"), self.first.u4(at + 4, "sdi_root"))

    def page(self, number: int) -> Page:
        """Read and verify one page. Raises if the file has no such page."""
        where = f"page[{number}]"
        if not 0 <= number < self.pages:
            raise DecodeError("no-such-page", "the file has no such page", expected=f"< {self.pages}", got=number,
                              path=(where,))  # fmt: skip
        size = self.flags.physical
        data = self._window(number * size, size)
        if len(data) != size:
            raise DecodeError("truncated", "the file ends inside the page", offset=len(data), expected=size,
                              got=len(data), path=(where,))  # fmt: skip
        try:
            data = self._plain(data)
            if self._verify:
                self._check(data)
            self._check_place(number, data)
        except CodecError as error:
            raise error.at(where) from None
        return Page(number, data)

    def _plain(self, data: bytes) -> bytes:
        kind = _U2(data, 24)[0]
        if kind in _ENCRYPTED:
            data = self._decrypted(data, kind)
        if _U2(data, 24)[0] == PageType.COMPRESSED:
            return decompress(data, CompressionHeader.read(data))
        return data

    def _decrypted(self, data: bytes, kind: int) -> bytes:
        if self._key is None:
            raise Unsupported("encrypted", "the page is encrypted, and no keyring opens it", offset=24, path=("type",),
                              got=type_name(kind))  # fmt: skip
        end = encrypted_end(data) if kind == PageType.COMPRESSED_AND_ENCRYPTED else len(data)
        plain = self._key.decrypt(data[FIL_HEADER:end]) + data[end:]
        was = _ENCRYPTED[PageType(kind)]
        head = data[28:30] + bytes(8) if was is None else was.to_bytes(2, "big") + data[26:34]
        return data[:24] + head + data[34:FIL_HEADER] + plain

    def _check(self, data: bytes) -> None:
        wrong = wrong_checksum(data, compressed=self.flags.compressed)
        if wrong is not None:
            offset, expected, got = wrong
            raise DecodeError("bad-checksum", "the page is damaged", offset=offset, expected=f"{expected:#010x}",
                              got=f"{got:#010x}", path=("checksum",))  # fmt: skip
        if not self.flags.compressed and data[20:24] != data[-4:]:
            raise DecodeError("torn-page", "header and trailer are of different writes", offset=len(data) - 4,
                              expected=data[20:24].hex(), got=data[-4:].hex(), path=("lsn",))  # fmt: skip

    def _check_place(self, number: int, data: bytes) -> None:
        """Raise for a page of another place or tablespace; the checksum covers neither of them everywhere."""
        if _U4(data, 4)[0] != number and data != bytes(len(data)):
            raise DecodeError("wrong-page-number", "the page belongs to another place", offset=4, expected=number,
                              got=_U4(data, 4)[0], path=("number",))  # fmt: skip
        if _U4(data, 34)[0] != self.space_id and any(data[:34]) and _U2(data, 24)[0] != PageType.ALLOCATED:
            raise DecodeError("wrong-space", "the page belongs to another tablespace", offset=34,
                              expected=self.space_id, got=_U4(data, 34)[0], path=("space",))  # fmt: skip
