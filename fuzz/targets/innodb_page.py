"""One page of a data file: its checksum, its compression, and what it is in memory."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Final

from conformance.reference.encryption.aes import BLOCK, Decryption
from conformance.reference.encryption.keyring import Keyring
from conformance.reference.innodb.checksums import NO_CHECKSUM, crc32c, page_crc32, wrong_checksum
from conformance.reference.innodb.encryption.tablespace_key import EncryptionInfo, TablespaceKey
from conformance.reference.innodb.page_compression import CompressionHeader, decompress, encrypted_end
from conformance.reference.innodb.page_zip import uncompressed
from conformance.reference.innodb.pages import PageType, Tablespace
from conformance.reference.innodb.records import Status, index_id, level, origins
from fuzz.data_files import Change, Input, capture_of, change_of, tablespace, unchanged
from fuzz.mutators.data_files import mutate_data_file
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.pages import Page

INVARIANT: Final = (
    "A page that is read has the number and the size of its place; a changed byte under the checksum is noticed;"
    " a compressed page is in memory what its directory says, whichever compression it has; an encrypted body is"
    " decrypted block by block, and what has its key is read or refused."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.innodb.checksums",
    "conformance.reference.encryption.keyring",
    "conformance.reference.innodb.encryption.tablespace_key",
    "conformance.reference.innodb.page_compression",
    "conformance.reference.innodb.page_zip",
    "conformance.reference.innodb.pages",
)
MAX_LEN: Final = 400
DICTIONARY: Final = (
    b"\x45\xbf", b"\x45\xbd", b"\x00\x0e", b"\x00\x00\xff\xff", b"\xff\xff\xff\xff", b"\xde\xad\xbe\xef", b"\x80\x02",
)  # fmt: skip
mutate = mutate_data_file
_ZLIB, _LZ4 = 1, 2
_RUN: Final = re.compile(rb"(.)\1{8,}", re.DOTALL)
_KEY_BLOCK: Final = 200  # where a page is read as if it had the key of a tablespace
_UNCOVERED: Final = (range(26, 38), (*range(16, 24), *range(26, 34)))


def check(data: bytes) -> None:
    """Check the file of an input as a whole, then the page of its last change."""
    capture, changes = capture_of(data), Input.decode(data).changes
    image = capture.changed(data, sums=True)
    space, refused = attempt(tablespace, image)
    loose, unread = attempt(tablespace, image, verify=False)
    require(unread is None or refused is not None, "what is no tablespace is none with checksums", str(unread))
    if loose is None:
        return
    attempt(lambda: loose.sdi_root)
    number = changes[-1].page % capture.pages if changes else min(3, capture.pages - 1)
    page, bad = attempt(loose.page, number)
    require(page is not None or bad is not None, "a page is read or refused")
    if space is not None:
        verified, complaint = attempt(space.page, number)
        require(bad is None or complaint is not None, "verifying refuses no less", str(bad))
        require(verified is None or verified == page, "verifying changes nothing", number)
    if page is None:
        return
    require(page.number == number and len(page.data) == loose.flags.physical, "a page has its number and size", number)
    attempt(lambda: page.type_name)
    if len(data) % 16 == 9:  # this and the compression below take long
        _checksum(page, compressed=loose.flags.compressed, place=sum(data) * 131 % len(page.data))
    if len(data) % 16 == 5:
        _encryption(page, data)
    if loose.flags.compressed:
        _in_memory(page, loose)
    elif len(data) % 16 in {1, 7}:
        _compression(page)


def _checksum(page: Page, *, compressed: bool, place: int) -> None:
    """A page with its right checksum passes, and with one changed byte it does not."""
    made = bytearray(page.data)
    made[:4] = page_crc32(page.data, compressed=compressed).to_bytes(4, "big")
    if not compressed:
        made[-8:-4] = made[:4]
    covered = crc32c(bytes(made[4:16])) if compressed else crc32c(bytes(made[4:26]))
    require(0 <= covered <= 0xFFFFFFFF, "a checksum has 32 bits", covered)
    require(wrong_checksum(bytes(made), compressed=compressed) is None, "the right checksum is right")
    if place in _UNCOVERED[compressed] or (not compressed and place >= len(made) - 4):
        return
    made[place] ^= 1 + place % 255
    known = int.from_bytes(made[:4], "big") == NO_CHECKSUM or not any(made)
    require(known or wrong_checksum(bytes(made), compressed=compressed), "a changed byte is noticed", place)


def _in_memory(page: Page, space: Tablespace) -> None:
    """A page of ROW_FORMAT=COMPRESSED: its records are those of the directory at its end, in that order."""
    if page.type not in {PageType.INDEX, PageType.SDI}:
        return
    made, refused = attempt(uncompressed, page, space.flags.logical)
    if made is None:
        require(refused is not None and refused.path, "the error names its page", str(refused))
        return
    require(len(made.data) == space.flags.logical, "a page in memory has its size", len(made.data))
    require((level(made), index_id(made)) == (level(page), index_id(page)), "the header stays")
    users = page.u2(54, "n_recs")
    slots = [page.u2(len(page.data) - 2 * rank, "slot") for rank in range(1, users + 1)]
    found, unordered = attempt(lambda: list(origins(made)))
    require(found == [slot & 0x3FFF for slot in slots], "records are in the order of the directory", str(unordered))
    status = Status.NODE_POINTER if level(made) else Status.ORDINARY
    for slot in slots:
        origin = slot & 0x3FFF
        require(made.u2(origin - 4, "heap") & 7 == status, "a record has the kind of its level", origin)
        require(bool(made.u1(origin - 5, "info") & 0x20) == bool(slot & 0x8000), "a delete mark is the slot's", origin)


def _compression(page: Page) -> None:
    """A page that is stored compressed, as the server writes it, is read as it was; damage has its error."""
    body, kind = page.data[38:], page.type
    for algorithm, packed in ((_ZLIB, zlib.compress(body, 1)), (_LZ4, lz4_block(body))):
        if len(packed) > len(body) or kind == PageType.COMPRESSED:
            continue
        header = bytes((1, algorithm)) + b"".join(
            number.to_bytes(2, "big") for number in (kind, len(body) & 0xFFFF, len(packed))
        )
        stored = page.data[:24] + PageType.COMPRESSED.to_bytes(2, "big") + header + page.data[34:38] + packed
        stored = stored.ljust(len(page.data), b"\0")
        read = decompress(stored, CompressionHeader.read(stored))
        expected = page.data[:26] + bytes(8) + page.data[34:]
        require(read == expected, "a compressed page is read as it was", algorithm)
        place = 26 + page.number * 37 % (12 + len(packed) // 2)
        damaged = stored[:place] + bytes((stored[place] ^ 0x55,)) + stored[place + 1 :]
        other, _ = attempt(decompress, damaged, CompressionHeader.read(damaged))
        require(other is None or len(other) == len(page.data), "a page has its size, however it is damaged")


def _encryption(page: Page, data: bytes) -> None:
    """A body is decrypted as its blocks are, one by one; key, keyring and header are read or refused."""
    cipher = Decryption(bytes(range(32)))
    body = page.data[38 : 38 + 160 + page.number % 40]
    plain = TablespaceKey(cipher, bytes(BLOCK)).decrypt(body)
    require(len(plain) == len(body), "a body keeps its length", len(plain))
    for at in range(BLOCK, 96, BLOCK):
        alone = cipher.cbc(body[at : at + BLOCK], body[at - BLOCK : at])
        mixed = bytes(
            left ^ right for left, right in zip(cipher.ecb(body[at : at + BLOCK]), body[at - BLOCK : at], strict=True)
        )
        require(plain[at : at + BLOCK] == alone == mixed, "a block needs only the one before it", at)
    info, refused = attempt(EncryptionInfo.read, page.data, _KEY_BLOCK)
    if info is not None:
        _, refused = attempt(info.unlock, Keyring({f"INNODBKey-{info.server_uuid}-1": bytes(32)}), _KEY_BLOCK)
        require(refused is not None, "a key of zeros opens nothing")
    require(refused is None or refused.offset is not None, "the error names its place", str(refused))
    for text in (data[1:], b'{"version":"1.0","elements":[' + data[5:] + b"]}"):
        _, refused = attempt(Keyring.parse, text)
        require(refused is None or refused.path[0] == "keyring", "the error names the keyring", str(refused))
    end, _ = attempt(encrypted_end, page.data)
    require(end is None or 70 <= end <= len(page.data), "the encrypted part lies in the page", end)


def lz4_block(data: bytes) -> bytes:
    """An LZ4 block of runs of one byte; everything else is literal."""
    out, start = bytearray(), 0

    def sequence(literals: bytes, match: int) -> None:
        token = min(len(literals), 15) << 4 | min(max(match - 4, 0), 15)
        out.append(token)
        out.extend(_rest(len(literals)))
        out.extend(literals)
        if match:
            out.extend(b"\x01\x00" + _rest(match - 4))

    for run in _RUN.finditer(data, 0, max(len(data) - 12, 0)):  # the last bytes of a block are literal
        sequence(data[start : run.start() + 1], run.end() - run.start() - 1)
        start = run.end()
    sequence(data[start:], 0)
    return bytes(out)


def _rest(length: int) -> bytes:
    """The further bytes of a length of 15 and more."""
    return b"" if length < 15 else b"\xff" * ((length - 15) // 255) + bytes(((length - 15) % 255,))


def seeds() -> Iterator[tuple[str, bytes]]:
    """Every kind of page, and fields of page 0 and of compressed pages that are wrong."""
    yield from unchanged()
    for name, number, offset, new in (
        ("lob_versions", 5, 40, b"\0\0\0\3"), ("lob_versions", 6, 60, b"\1"), ("lob_versions", 4, 54, b"\0\x09"),
        ("lob_versions", 0, 54, b"\0\0\x40\x29"), ("lob_versions", 0, 24, b"\0\0"), ("lob_versions", 4, 24, b"\0\x0e"),
        ("lob_versions", 4, 24, b"\0\x0f"), ("compressed_zblob_zlob", 4, 42, b"\x80\x02"),
        ("compressed_zblob_zlob", 4, 54, b"\0\x09"), ("compressed_zblob_zlob", 3, 100, b"\xff"),
        ("compressed_zblob_zlob", 3, 8190, b"\0\x7f"), ("compressed_zblob_zlob", 4, 8190, b"\xc0\x7f"),
        ("compressed_zblob_zlob", 4, 54, b"\0\1"),
    ):  # fmt: skip
        yield f"{name}-{number}-{offset}-{new.hex()}", change_of(name, Change(number, offset, new))
    for name, offset, new in (
        ("key", 200, b"lCC\0\0\0\1" + b"a" * 25), ("key-damaged", 200, b"lCC\0\0\0\1\xff" + b"a" * 24),
        ("key-older", 200, b"lCA".ljust(16)), ("keyring", 600, b'{"data_id":"INNODBKey-a-1","data":"zz"}'.ljust(48)),
        ("encrypted-size", 26, b"\2\1\x45\xbf\x3f\xda\0\x40".ljust(16, b"\0")),
    ):  # fmt: skip
        yield f"encrypted-{name}", change_of("lob_versions", Change(4, offset, new))
    yield "wrong-checksum", change_of("lob_versions", Change(4, 200, b"x"), wrong=True)
    yield "wrong-checksum-zip", change_of("compressed_zblob_zlob", Change(4, 200, b"x"), wrong=True)
    yield "zip-stream", change_of("compressed_zblob_zlob", Change(4, 94, b"\x7f", 30))
    yield "zip-fields", change_of("compressed_zblob_zlob", Change(3, 94, b"\x2b", 0))
