"""Encrypted logs as files of plain bytes (binlog-events 17)."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from conformance.reference.binlog.header import ENCRYPTED_MAGIC

if TYPE_CHECKING:
    from conformance.reference.binlog.encrypted_file import LogCipher
    from conformance.reference.encryption.keyring import Keyring

_HEAD: Final = len(ENCRYPTED_MAGIC)


def plain_log(file: BinaryIO, keyring: Keyring | None) -> BinaryIO:
    """The file, or its plain bytes if it is encrypted and there is a keyring. The file is at its beginning."""
    if keyring is None or _next(file) != ENCRYPTED_MAGIC:
        return file
    from conformance.reference.binlog.encrypted_file import HEADER_SIZE, EncryptionHeader  # with all its ciphers

    head = b""
    while len(head) < HEADER_SIZE and (more := file.read(HEADER_SIZE - len(head))):
        head += more
    cipher = EncryptionHeader.decode(head).unlock(keyring)
    cipher.verify(cipher.crypt(_next(file), 0))
    return cast("BinaryIO", DecryptedLog(file, cipher))


def _next(file: BinaryIO) -> bytes:
    """The next four bytes, which stay there. The files of the commands are buffered, standard input too."""
    return cast("io.BufferedReader", file).peek(_HEAD)[:_HEAD]


class DecryptedLog:
    """The plain bytes of an encrypted file that is open behind its header."""

    def __init__(self, file: BinaryIO, cipher: LogCipher) -> None:
        self._file = file
        self._cipher = cipher
        self._offset = 0

    def read(self, size: int) -> bytes:
        """Read up to this number of bytes."""
        piece = self._cipher.crypt(self._file.read(size), self._offset)
        self._offset += len(piece)
        return piece

    def seekable(self) -> bool:
        """Whether :meth:`seek` works."""
        return self._file.seekable()

    def seek(self, offset: int, whence: int) -> int:
        """Move the place of the next byte forward."""
        if whence != io.SEEK_CUR:
            raise ValueError("only from the current place")
        self._file.seek(offset, whence)
        self._offset += offset
        return self._offset
