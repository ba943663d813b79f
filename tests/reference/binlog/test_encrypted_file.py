"""Encrypted logs: a recorded file against what its server sent of it, the writer against that file, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from conformance.reference.binlog.encrypted_file import HEADER_SIZE, EncryptionHeader, LogCipher, encrypted
from conformance.reference.encryption.aes import Decryption
from conformance.reference.encryption.keyring import Keyring
from conformance.reference.errors import CodecError, DecodeError, EncodeError, Unsupported

DATA: Final = Path(__file__).parents[2] / "data" / "encrypted-binlogs"
FILE: Final = (DATA / "encrypted.binlog").read_bytes()
PLAIN: Final = (DATA / "plain.binlog").read_bytes()
KEYRING_FILE: Final = DATA / "keyring.json"
KEYRING: Final = Keyring.parse(KEYRING_FILE.read_bytes())
HEAD: Final = FILE[:HEADER_SIZE]
HEADER: Final = EncryptionHeader.decode(HEAD)
ID_END: Final = 7 + len(HEADER.master_key_id)  # where the password's field begins
VECTOR: Final = ID_END + 33
END: Final = VECTOR + 17


def test_the_log_is_the_one_that_the_server_sent() -> None:
    cipher = HEADER.unlock(KEYRING)
    assert cipher.crypt(FILE[HEADER_SIZE:], 0) == PLAIN
    cipher.verify(PLAIN)


@pytest.mark.parametrize("size", [1, 7, 16, 100, 4096])
def test_every_piece_is_decrypted_at_its_own_place(size: int) -> None:
    cipher = HEADER.unlock(KEYRING)
    for at in range(0, min(len(PLAIN), 40 * size), size):
        start = HEADER_SIZE + at
        assert cipher.crypt(FILE[start : start + size], at) == PLAIN[at : at + size]


def test_the_writer_makes_the_same_file() -> None:
    master = KEYRING.replication_key(HEADER.master_key_id)
    password = Decryption(master).cbc(HEADER.locked, HEADER.vector)
    made = encrypted(PLAIN, master_key_id=HEADER.master_key_id, master_key=master, password=password,
                     vector=HEADER.vector)  # fmt: skip
    assert made == FILE


def test_only_the_keys_of_logs_and_tablespaces_are_kept() -> None:
    """The keyring also has the numbers of the keys, in the form of keys."""
    names = {element["data_id"] for element in json.loads(KEYRING_FILE.read_text("utf-8"))["elements"]}
    assert set(KEYRING.keys) == {HEADER.master_key_id}
    assert len(names) > 1


def refused(data: bytes) -> tuple[str, int | None, tuple[str, ...]]:
    with pytest.raises(CodecError) as caught:
        EncryptionHeader.decode(data)
    return caught.value.code, caught.value.offset, caught.value.path[1:]


def changed(at: int, *values: int) -> bytes:
    return HEAD[:at] + bytes(values) + HEAD[at + len(values) :]


def test_every_truncation_of_the_header_is_refused() -> None:
    for length in range(HEADER_SIZE):
        assert refused(HEAD[:length]) == ("bad-encryption-header", length, ())
    assert EncryptionHeader.decode(FILE) == HEADER


@pytest.mark.parametrize(
    ("data", "code", "offset", "path"),
    [
        (changed(0, 0xFE), "bad-encryption-header", 0, ()),
        (changed(4, 2), "encryption-format", 4, ("version",)),
        (changed(5, 4), "bad-encryption-header", 5, ()),
        (changed(5, 0), "bad-encryption-header", 5, ("master_key_id",)),
        (changed(6, 255), "bad-encryption-header", None, None),
        (changed(6, len(HEADER.master_key_id) - 1), "bad-encryption-header", ID_END - 1, ()),
        (changed(7, ord("m")), "bad-encryption-header", 5, ("master_key_id",)),
        (changed(ID_END - 1, ord("x")), "bad-encryption-header", 5, ("master_key_id",)),
        (changed(ID_END, 0), "bad-encryption-header", ID_END, ("password",)),
        (changed(ID_END, 1), "bad-encryption-header", ID_END, ()),
        (changed(VECTOR, 2), "bad-encryption-header", VECTOR, ()),
        (changed(VECTOR, 0), "bad-encryption-header", VECTOR, ("vector",)),
        (changed(END, 1), "bad-encryption-header", END, ()),
        (changed(END + 1, 1), "bad-encryption-header", END, ()),
        (changed(HEADER_SIZE - 1, 1), "bad-encryption-header", END, ()),
    ],
)
def test_a_damaged_header_is_refused_at_its_place(
    data: bytes, code: str, offset: int | None, path: tuple[str, ...] | None
) -> None:
    found = refused(data)
    assert found[0] == code
    assert offset is None or found[1:] == (offset, path)


def test_a_field_that_does_not_fit_is_refused() -> None:
    long = HEAD[:5] + bytes((1, 255)) + b"x" * 255
    tail = bytes((2,)) + bytes(32)
    for filler in (210, 216, 217):  # the vector ends one byte too late, and later
        data = (long + tail).ljust(filler + 290, b"\x03")[: filler + 290] + b"\x03"
        with pytest.raises(DecodeError):
            EncryptionHeader.decode(data.ljust(HEADER_SIZE, b"\0"))


def test_a_wrong_key_shows_in_the_first_bytes() -> None:
    other = Keyring({HEADER.master_key_id: bytes(32)})
    cipher = HEADER.unlock(other)
    with pytest.raises(DecodeError) as caught:
        cipher.verify(cipher.crypt(FILE[HEADER_SIZE : HEADER_SIZE + 4], 0))
    assert (caught.value.code, caught.value.offset) == ("wrong-master-key", HEADER_SIZE)
    with pytest.raises(DecodeError) as caught:
        HEADER.unlock(Keyring({}))
    assert caught.value.code == "no-master-key"
    assert caught.value.path == ("encryption_header", "master_key_id")
    LogCipher(bytes(32)).verify(b"\xfe")  # the beginning of the magic, if a file ends there


def test_what_is_no_header_is_not_written() -> None:
    for facts in ({"locked": bytes(31)}, {"vector": bytes(17)}, {"master_key_id": "MySQLReplicationKey_1"}):
        parts = {"master_key_id": HEADER.master_key_id, "locked": HEADER.locked, "vector": HEADER.vector, **facts}
        with pytest.raises(EncodeError):
            EncryptionHeader(**parts).encode()  # type: ignore[arg-type]


def test_another_version_is_not_supported() -> None:
    with pytest.raises(Unsupported):
        EncryptionHeader.decode(changed(4, 2))
