"""Encrypted tablespaces: AES against published vectors, recorded files against the binary log, and refusals."""

from __future__ import annotations

import hashlib
import json
from typing import Final

import pytest

from conformance.reference.encryption.aes import Decryption
from conformance.reference.encryption.keyring import Keyring
from conformance.reference.errors import CodecError, DecodeError, Unsupported
from conformance.reference.innodb.encryption.tablespace_key import INFO_SIZE
from conformance.reference.innodb.large_values import LobReader, large_values, table_objects
from conformance.reference.innodb.pages import PageType, Tablespace
from conformance.reference.innodb.records import OffPage
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.text import format_text
from tests.reference.innodb.encrypted_files import FILES, KEYRING, KEYRING_FILE, file_bytes, opened

# NIST SP 800-38A, appendix F: the key and the plain blocks of its AES-256 examples.
NIST_KEY: Final = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
NIST_TEXT: Final = bytes.fromhex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
NIST_ECB: Final = bytes.fromhex(
    "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870"
    "b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7"
)
NIST_CBC: Final = bytes.fromhex(
    "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
    "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b"
)


def test_the_example_of_fips_197() -> None:
    cipher = Decryption(bytes(range(32)))
    assert cipher.ecb(bytes.fromhex("8ea2b7ca516745bfeafc49904b496089")).hex() == "00112233445566778899aabbccddeeff"


def test_the_examples_of_nist() -> None:
    cipher = Decryption(NIST_KEY)
    assert cipher.ecb(NIST_ECB) == NIST_TEXT
    assert cipher.cbc(NIST_CBC, bytes(range(16))) == NIST_TEXT
    assert [cipher.cbc(NIST_CBC[: 16 * count], bytes(range(16))) for count in range(5)] == [
        NIST_TEXT[: 16 * count] for count in range(5)
    ]


def test_keys_and_texts_of_other_lengths_are_no_aes_256() -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        Decryption(bytes(16))
    with pytest.raises(ValueError, match="whole blocks"):
        Decryption(NIST_KEY).ecb(bytes(17))


def values(space: Tablespace) -> dict[str, list[bytes]]:
    """Column j of each row in all its versions."""
    reader, found = LobReader(space), {}
    for item in large_values(space, table_objects(space)):
        key, stored = str(item.row.key[0][1]), item.value
        lob = reader.open(stored) if isinstance(stored, OffPage) else None
        if isinstance(stored, OffPage) and lob is not None:
            found[key] = [stored.prefix + lob.read(version) for version in lob.versions]
        elif isinstance(stored, bytes):
            found[key] = [stored]
    return found


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("name", FILES)
def test_every_version_is_an_image_of_the_binary_log_and_the_last_is_what_select_shows(name: str) -> None:
    assert digest(file_bytes(name)) == FILES[name]["sha256"]
    found = values(opened(file_bytes(name)))
    assert {key: [digest(data) for data in versions] for key, versions in found.items()} == {
        key: hashes if len(found[key]) > 1 else hashes[-1:] for key, hashes in FILES[name]["images"].items()
    }
    assert {key: digest(format_text(decode(versions[-1])).encode()) for key, versions in found.items()} == FILES[name][
        "select"
    ]


def test_the_files_have_versions_and_pages_of_every_encrypted_type() -> None:
    kinds, plain, versions = set[int](), set[int](), 0
    for name in FILES:
        data = file_bytes(name)
        space = opened(data)
        size = space.flags.physical
        kinds |= {int.from_bytes(data[at + 24 : at + 26], "big") for at in range(0, len(data), size)}
        plain |= {space.page(number).type for number in range(space.pages)}
        versions += max(map(len, values(space).values()))
    assert kinds >= {PageType.ENCRYPTED, PageType.COMPRESSED_AND_ENCRYPTED, PageType.ENCRYPTED_RTREE}
    assert plain >= {PageType.RTREE, PageType.LOB_FIRST, PageType.LOB_DATA, PageType.ZBLOB, PageType.ZLOB_FRAG}
    assert not plain & kinds - {PageType.FSP_HDR, PageType.ALLOCATED}
    assert versions >= 8


def test_pages_that_are_plain_already_or_still_are_read_as_they_are() -> None:
    name = "encrypted_lob_rtree"
    data, space = bytearray(file_bytes(name)), opened(file_bytes(name))
    size = space.flags.physical
    for number in range(1, space.pages, 2):
        data[number * size : (number + 1) * size] = space.page(number).data
    half = opened(bytes(data))
    assert [half.page(number) for number in range(half.pages)] == [space.page(number) for number in range(space.pages)]
    assert values(half) == values(space)


def refusal(data: bytes, *, keyring: Keyring | None = KEYRING, verify: bool = True, number: int = 1) -> CodecError:
    """The error of opening a tablespace and reading a page."""
    with pytest.raises((DecodeError, Unsupported)) as caught:
        opened(data, keyring=keyring, verify=verify).page(number)
    return caught.value


@pytest.mark.parametrize("name", FILES)
def test_without_a_keyring_the_pages_are_refused(name: str) -> None:
    error = refusal(file_bytes(name), keyring=None)
    assert (error.code, error.offset, error.path) == ("encrypted", 24, ("page[1]", "type"))


def outcome(data: bytes, start: int) -> tuple[str, str, int] | None:
    """Code, field and place in the block of the error that a tablespace is refused with."""
    try:
        values(opened(data, verify=False))
    except CodecError as error:
        page, block, field = error.path
        return (error.code, field, (error.offset or 0) - start) if (page, block) == ("page[0]", "encryption") else None
    return None


def test_every_damaged_byte_of_the_block_with_the_key_has_its_error() -> None:
    sound = file_bytes("encrypted_compressed")
    start = opened(sound).flags.encryption_offset
    found = []
    for at in range(INFO_SIZE):
        data = bytearray(sound)
        data[start + at] ^= 0x80
        found.append(outcome(bytes(data), start) or ("unused", "", at))
    expected = [("bad-encryption-info", "magic", 0)] * 3 + [("no-master-key", "master_key_id", 3)] * 4
    expected += [("bad-encryption-info", "server_uuid", 7)] * 36 + [("wrong-master-key", "checksum", 107)] * 68
    assert found == [*expected, *(("unused", "", at) for at in range(111, INFO_SIZE))]


def test_a_key_in_the_form_of_older_servers_is_named() -> None:
    data = bytearray(file_bytes("encrypted_compressed"))
    start = opened(bytes(data)).flags.encryption_offset
    data[start : start + 3] = b"lCA"
    error = refusal(bytes(data), verify=False)
    assert (error.code, error.path) == ("encryption-format", ("page[0]", "encryption", "magic"))


def test_a_keyring_without_the_master_key_or_with_another_one_is_refused() -> None:
    data = file_bytes("encrypted_zlib")
    error = refusal(data, keyring=Keyring({}))
    assert (error.code, error.path) == ("no-master-key", ("page[0]", "encryption", "master_key_id"))
    assert str(error.expected).startswith("INNODBKey-")
    others = Keyring(dict(zip(KEYRING.keys, [*list(KEYRING.keys.values())[1:], bytes(32)], strict=True)))
    error = refusal(data, keyring=others)
    assert (error.code, error.path) == ("wrong-master-key", ("page[0]", "encryption", "checksum"))


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_encrypted_page_is_named(name: str) -> None:
    sound = file_bytes(name)
    size = opened(sound).flags.physical
    for number in (1, 3, 4):
        page = sound[number * size : (number + 1) * size]
        used = len(page.rstrip(b"\0"))
        for at in (0, 4, 12, 38, 54, used - 33, used - 17, used - 1):
            data = bytearray(sound)
            data[number * size + at] ^= 1
            error = refusal(bytes(data), number=number)
            assert error.path[0] == f"page[{number}]", (at, error)


@pytest.mark.parametrize(
    ("at", "raw", "code", "field"),
    [
        (26, b"\x01", "page-compression", "compression_version"),
        (32, bytes(2), "bad-page-compression", "compression"),
        (32, b"\xff\xff", "bad-page-compression", "compression"),
        (30, b"\x00\x01", "bad-page-compression", "compression"),
        (27, b"\x07", "page-compression", "compression_algorithm"),
    ],
)
def test_sizes_of_a_compressed_and_encrypted_page_have_their_errors(at: int, raw: bytes, code: str, field: str) -> None:
    data = bytearray(file_bytes("encrypted_zlib"))
    data[16384 + at : 16384 + at + len(raw)] = raw
    error = refusal(bytes(data))
    assert (error.code, error.path) == (code, ("page[1]", field))


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_off_in_an_encrypted_page_is_refused(name: str) -> None:
    sound = file_bytes(name)
    size = opened(sound).flags.physical
    assert refusal(sound[: 2 * size - 1]).code == "no-such-page"
    space = Tablespace(lambda at, count: sound[: size + 100][at : at + count], len(sound), keyring=KEYRING)
    with pytest.raises(DecodeError, match="ends inside"):
        space.page(1)


def test_a_keyring_is_whole_or_refused() -> None:
    data = KEYRING_FILE.read_bytes()
    for end in range(len(data.rstrip())):
        with pytest.raises(DecodeError) as caught:
            Keyring.parse(data[:end])
        assert caught.value.code == "not-a-keyring"


ELEMENT: Final = {"user": "", "data_id": "INNODBKey-a-1", "data_type": "AES", "data": "AB" * 32, "extension": []}


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ([], ("keyring",)),
        ({"version": "2.0", "elements": []}, ("keyring",)),
        ({"version": "1.0", "elements": {}}, ("keyring",)),
        ({"version": "1.0", "elements": ["x"]}, ("keyring", "elements[0]")),
        ({"version": "1.0", "elements": [ELEMENT | {"data": "AB"}]}, ("keyring", "elements[0]", "data")),
        ({"version": "1.0", "elements": [ELEMENT, ELEMENT | {"data": "x" * 64}]}, ("keyring", "elements[1]", "data")),
        ({"version": "1.0", "elements": [ELEMENT | {"data": None}]}, ("keyring", "elements[0]", "data")),
        ({"version": "1.0", "elements": [ELEMENT | {"data_type": "DSA"}]}, ("keyring", "elements[0]", "data")),
    ],
)
def test_what_is_no_keyring_is_refused_without_a_word_of_its_keys(content: object, path: tuple[str, ...]) -> None:
    with pytest.raises(DecodeError) as caught:
        Keyring.parse(json.dumps(content).encode())
    assert (caught.value.code, caught.value.path) == ("not-a-keyring", path)
    assert "AB" not in str(caught.value)


def test_other_keys_are_left_out_and_the_plugin_s_file_is_named() -> None:
    secret = {"user": "me@%", "data_id": "other", "data_type": "SECRET", "data": "00", "extension": []}
    content = {"version": "1.0", "elements": [secret, ELEMENT]}
    assert Keyring.parse(json.dumps(content).encode()).keys == {"INNODBKey-a-1": b"\xab" * 32}
    with pytest.raises(Unsupported, match="keyring_file"):
        Keyring.parse(b"Keyring file version:2.0" + bytes(32))
