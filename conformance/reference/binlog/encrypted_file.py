"""Encrypted binary and relay logs: 512 bytes in front of a log whose bytes are all encrypted (binlog-events 17).

A replication master key of the keyring opens the file's password, and this opens the log. Each byte of the log is
encrypted at its own place, so that reading can begin anywhere. Nothing proves a key but the log that it gives.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha512
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.header import ENCRYPTED_MAGIC, MAGIC
from conformance.reference.encryption.aes import BLOCK, KEY, Decryption, Encryption
from conformance.reference.errors import DecodeError, EncodeError, Unsupported

if TYPE_CHECKING:
    from conformance.reference.encryption.keyring import Keyring

HEADER_SIZE: Final = 512
_VERSION: Final = 1
_KEY_ID, _PASSWORD, _VECTOR = 1, 2, 3
_FIXED: Final = {_PASSWORD: KEY, _VECTOR: BLOCK}
_NAMES: Final = {_KEY_ID: "master_key_id", _PASSWORD: "password", _VECTOR: "vector"}
_ID: Final = re.compile(rb"MySQLReplicationKey_[0-9a-f-]{36}_[0-9]+")
_HALF: Final = 8  # of the counter: the first half is from the password, the second counts the blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionHeader:
    """The head of an encrypted file: the id of the master key, the locked password, and the vector that locked it."""

    master_key_id: str
    locked: bytes
    vector: bytes

    @classmethod
    def decode(cls, data: bytes) -> EncryptionHeader:
        """Read the first 512 bytes of a file."""
        if len(data) < HEADER_SIZE:
            raise _damaged("the file ends in the header", len(data), expected=HEADER_SIZE, got=len(data))
        if not data.startswith(ENCRYPTED_MAGIC):
            raise _damaged("not an encrypted log", 0, expected=ENCRYPTED_MAGIC.hex(), got=data[:4].hex())
        if data[4] != _VERSION:
            raise Unsupported("encryption-format", "the encryption has another version", offset=4, expected=_VERSION,
                              got=data[4], path=("encryption_header", "version"))  # fmt: skip
        fields: dict[int, bytes] = {}
        at = len(ENCRYPTED_MAGIC) + 1
        while at < HEADER_SIZE and (kind := data[at]):
            if kind not in _NAMES or kind in fields:
                raise _damaged("an unknown or a repeated field", at, expected="1, 2, 3, or 0 at the end", got=kind)
            start = at + 1 if kind in _FIXED else at + 2
            size = _FIXED.get(kind, data[start - 1])
            fields[kind] = data[start : start + size]
            if start + size > HEADER_SIZE:
                raise _damaged("a field is longer than the header", at, _NAMES[kind], got=size)
            at = start + size
        for kind, name in _NAMES.items():
            if kind not in fields:
                raise _damaged("a field is missing", at, name)
        if any(data[at:HEADER_SIZE]):
            raise _damaged("bytes behind the last field", at)
        if not _ID.fullmatch(fields[_KEY_ID]):
            raise _damaged("not the id of a replication master key", 5, _NAMES[_KEY_ID], got=fields[_KEY_ID])
        return cls(master_key_id=fields[_KEY_ID].decode("ascii"), locked=fields[_PASSWORD], vector=fields[_VECTOR])

    def encode(self) -> bytes:
        """The first 512 bytes of the file."""
        name = self.master_key_id.encode("ascii")
        if len(self.locked) != KEY or len(self.vector) != BLOCK or not _ID.fullmatch(name):
            raise EncodeError("bad-value", "not the parts of an encryption header", got=self.master_key_id)
        out = ENCRYPTED_MAGIC + bytes((_VERSION, _KEY_ID, len(name))) + name
        out += bytes((_PASSWORD,)) + self.locked + bytes((_VECTOR,)) + self.vector
        return out.ljust(HEADER_SIZE, b"\0")

    def unlock(self, keyring: Keyring) -> LogCipher:
        """Return the cipher that decrypts the log.

        A wrong key shows only in the log's first bytes: :meth:`LogCipher.verify`.
        """
        try:
            master = keyring.replication_key(self.master_key_id)
        except DecodeError as error:
            error.offset = 5
            raise
        return LogCipher(Decryption(master).cbc(self.locked, self.vector))


class LogCipher:
    """The cipher of one log: the same call encrypts and decrypts. Offsets count in the plain log."""

    def __init__(self, password: bytes) -> None:
        digest = sha512(password).digest()
        self._cipher = Encryption(digest[:KEY])
        self._start = int.from_bytes(digest[KEY : KEY + _HALF], "big") << 8 * _HALF

    def crypt(self, data: bytes, offset: int) -> bytes:
        """The bytes at an offset, decrypted or encrypted."""
        block, before = divmod(offset, BLOCK)
        return self._cipher.ctr(bytes(before) + data, self._start + block)[before:]

    def verify(self, plain: bytes) -> None:
        """Raise unless these first bytes of the plain log begin a log."""
        if plain[: len(MAGIC)] != MAGIC[: len(plain)]:
            message = "the master key does not open the log: key or header is damaged, or the keyring is another"
            raise DecodeError("wrong-master-key", message, offset=HEADER_SIZE, path=("encryption_header",))


def encrypted(plain: bytes, *, master_key_id: str, master_key: bytes, password: bytes, vector: bytes) -> bytes:
    """A log as an encrypting server stores it. Password (32 bytes) and vector (16 bytes) are the server's random."""
    locked = Encryption(master_key).cbc(password, vector)
    header = EncryptionHeader(master_key_id=master_key_id, locked=locked, vector=vector)
    return header.encode() + LogCipher(password).crypt(plain, 0)


def _damaged(message: str, offset: int, *path: str, **facts: object) -> DecodeError:
    return DecodeError("bad-encryption-header", message, offset=offset, path=("encryption_header", *path), **facts)
