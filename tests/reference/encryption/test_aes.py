"""AES-256 that encrypts, against the examples of NIST SP 800-38A (appendix F)."""

from __future__ import annotations

from typing import Final

import pytest

from conformance.reference.encryption.aes import Decryption, Encryption
from tests.reference.innodb.test_encryption import NIST_CBC, NIST_ECB, NIST_KEY, NIST_TEXT

NIST_COUNTER: Final = int("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", 16)
NIST_CTR: Final = bytes.fromhex(
    "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
    "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
)


def test_the_examples_of_nist() -> None:
    cipher = Encryption(NIST_KEY)
    assert cipher.ecb(NIST_TEXT) == NIST_ECB
    assert cipher.cbc(NIST_TEXT, bytes(range(16))) == NIST_CBC
    assert cipher.ctr(NIST_TEXT, NIST_COUNTER) == NIST_CTR
    assert cipher.ctr(NIST_CTR, NIST_COUNTER) == NIST_TEXT


@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 63])
def test_a_text_of_any_length_is_the_beginning_of_a_longer_one(length: int) -> None:
    assert Encryption(NIST_KEY).ctr(NIST_TEXT[:length], NIST_COUNTER) == NIST_CTR[:length]


def test_the_counter_has_128_bits_and_begins_again() -> None:
    cipher = Encryption(NIST_KEY)
    assert cipher.ctr(bytes(32), (1 << 128) - 1) == cipher.ecb(b"\xff" * 16 + bytes(16))


def test_encryption_and_decryption_are_inverse() -> None:
    text = bytes(range(256)) * 3
    key = bytes(range(32))
    assert Decryption(key).ecb(Encryption(key).ecb(text)) == text
    assert Decryption(key).cbc(Encryption(key).cbc(text, b"\x07" * 16), b"\x07" * 16) == text


def test_keys_and_texts_of_other_lengths_are_no_aes_256() -> None:
    with pytest.raises(ValueError, match="24 bytes"):
        Encryption(bytes(24))
    with pytest.raises(ValueError, match="whole blocks"):
        Encryption(NIST_KEY).ecb(bytes(15))
