"""The key of an encrypted tablespace: its block in page 0, and the pages that it opens (innodb-sdi B.10)."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.encryption.aes import BLOCK, KEY, Decryption
from conformance.reference.errors import DecodeError, Unsupported
from conformance.reference.innodb.checksums import crc32c

if TYPE_CHECKING:
    from conformance.reference.encryption.keyring import Keyring
    from conformance.reference.errors import CodecError

INFO_SIZE: Final = 115
_INFO: Final = Struct(">3sI36s64sI")
_MAGIC: Final = b"lCC"
_OLDER: Final = (b"lCA", b"lCB")
_FIELDS: Final = {"magic": 0, "master_key_id": 3, "server_uuid": 7, "key": 43, "checksum": 107}
_TAIL: Final = 2 * BLOCK  # no body that is encrypted is shorter


class EncryptionInfo(NamedTuple):
    """The block: which master key locks the key, the locked key and vector, and the CRC-32C of both in plain."""

    master_key_id: int
    server_uuid: str
    locked: bytes
    checksum: int

    @classmethod
    def read(cls, first_page: bytes, at: int) -> EncryptionInfo | None:
        """Read the block at an offset of page 0; None if the tablespace never had a key."""
        magic, number, server, locked, checksum = _INFO.unpack_from(first_page, at)
        if magic in _OLDER:
            raise _at(Unsupported("encryption-format", "the key of the tablespace is in the form of MySQL 5.7",
                                  expected=_MAGIC, got=magic), at, "magic")  # fmt: skip
        if magic != _MAGIC:
            if not any(first_page[at : at + INFO_SIZE]):
                return None
            raise _at(DecodeError("bad-encryption-info", "the block with the key of the tablespace is damaged",
                                  expected=_MAGIC, got=magic), at, "magic")  # fmt: skip
        try:
            return cls(number, server.decode("ascii"), locked, checksum)
        except UnicodeDecodeError:
            raise _at(DecodeError("bad-encryption-info", "the UUID of the server is no text", got=server),
                      at, "server_uuid") from None  # fmt: skip

    def unlock(self, keyring: Keyring, at: int) -> TablespaceKey:
        """The key; ``at`` is where the block stands in page 0, for errors."""
        try:
            master = keyring.master_key(self.server_uuid, self.master_key_id)
        except DecodeError as error:
            raise _at(error, at, "master_key_id") from None
        plain = Decryption(master).ecb(self.locked)
        if crc32c(plain) != self.checksum:  # the value expected would say something about the key
            raise _at(DecodeError("wrong-master-key", "the master key does not open the key of the tablespace: one of "
                                  "the two is damaged, or the keyring is another", got=f"{self.checksum:#010x}"),
                      at, "checksum")  # fmt: skip
        return TablespaceKey(Decryption(plain[:KEY]), plain[KEY : KEY + BLOCK])


class TablespaceKey(NamedTuple):
    """The key that opens the pages of one tablespace, and the vector that every page begins with."""

    cipher: Decryption
    vector: bytes

    def decrypt(self, body: bytes) -> bytes:
        """The body of a page in plain; at least 32 bytes.

        Where it is no multiple of 16, its last 32 bytes were encrypted once more, last of all: they come first here.
        """
        rest = len(body) % BLOCK
        if rest:
            body = body[:-_TAIL] + self.cipher.cbc(body[-_TAIL:], self.vector)
        whole = len(body) - rest
        return self.cipher.cbc(body[:whole], self.vector) + body[whole:]


def _at(error: CodecError, at: int, field: str) -> CodecError:
    """The error with its place in page 0."""
    error.offset = at + _FIELDS[field]
    error.path = ("page[0]", "encryption", field)
    return error
