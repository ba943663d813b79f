"""The option that names a keyring, and encrypted logs as files of plain bytes (binlog-events 17)."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

import click

from conformance.cli.console import Usage
from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from conformance.reference.binlog.encrypted_file import LogCipher
    from conformance.reference.encryption.keyring import Keyring


keyring_option: Final = click.option(
    "--keyring", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="The file of component_keyring_file, with the master keys of encrypted tablespaces and logs.",
)  # fmt: skip


def read_keyring(path: Path | None) -> Keyring | None:
    """The keys in a file, if one is named; a file that is no keyring is a wrong argument."""
    if path is None:
        return None
    from conformance.reference.encryption.keyring import Keyring

    try:
        return Keyring.parse(path.read_bytes())
    except OSError as problem:
        raise Usage(f"{path}: {problem.strerror or problem}") from problem
    except CodecError as error:
        raise Usage(f"{path}: {error}") from error


def plain_log(file: BinaryIO, keyring: Keyring | None) -> BinaryIO:
    """The file, or its plain bytes if it is encrypted and there is a keyring. The file is at its beginning."""
    if keyring is None:
        return file
    from conformance.reference.binlog.encrypted_file import HEADER_SIZE, EncryptionHeader
    from conformance.reference.binlog.header import ENCRYPTED_MAGIC

    size = len(ENCRYPTED_MAGIC)
    if _next(file, size) != ENCRYPTED_MAGIC:
        return file
    head = b""
    while len(head) < HEADER_SIZE and (more := file.read(HEADER_SIZE - len(head))):
        head += more
    cipher = EncryptionHeader.decode(head).unlock(keyring)
    cipher.verify(cipher.crypt(_next(file, size), 0))
    return cast("BinaryIO", DecryptedLog(file, cipher))


def _next(file: BinaryIO, size: int) -> bytes:
    """The next bytes, which stay there. The files of the commands are buffered, standard input too."""
    return cast("io.BufferedReader", file).peek(size)[:size]


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
