"""An archive key of the tests' own, and what apt reads of it: a keyring, and a Release file signed in clear text.

The formats are those of RFC 4880: packets (4.2), keys and user IDs (5.5.2, 5.11), signatures (5.2), cleartext (7) and
armor (6). Systems with apt alone have no gpg to make keys with, only a verifier.
"""

from __future__ import annotations

import base64
import hashlib
import time

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

_RSA, _SHA512 = 1, 10
_TEXT, _CERTIFICATION = 0x01, 0x13  # types of signatures
_MAY_CERTIFY_AND_SIGN = 0x03


def _packet(tag: int, body: bytes) -> bytes:
    return bytes((0xC0 | tag, 0xFF)) + len(body).to_bytes(4, "big") + body


def _subpacket(kind: int, body: bytes) -> bytes:
    return bytes((len(body) + 1, kind)) + body


def _mpi(number: int) -> bytes:
    bits = number.bit_length()
    return bits.to_bytes(2, "big") + number.to_bytes((bits + 7) // 8, "big")


def _crc24(data: bytes) -> int:
    crc = 0xB704CE
    for byte in data:
        crc ^= byte << 16
        for _ in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= 0x1864CFB
    return crc


class ArchiveKey:
    """An RSA key of 2,048 bits with one user ID, made now."""

    def __init__(self, owner: str) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._made = int(time.time()) - 3600  # apt refuses signatures from the future, and clocks differ
        numbers = self._key.public_key().public_numbers()
        body = b"\x04" + self._made.to_bytes(4, "big") + bytes((_RSA,)) + _mpi(numbers.n) + _mpi(numbers.e)
        framed = b"\x99" + len(body).to_bytes(2, "big") + body
        self._fingerprint = hashlib.sha1(framed).digest()
        user = owner.encode()
        binding = self._signature(_CERTIFICATION, framed + b"\xb4" + len(user).to_bytes(4, "big") + user)
        self.keyring = _packet(6, body) + _packet(13, user) + binding

    def _signature(self, kind: int, signed: bytes) -> bytes:
        hashed = _subpacket(2, self._made.to_bytes(4, "big")) + _subpacket(33, b"\x04" + self._fingerprint)
        if kind == _CERTIFICATION:
            hashed += _subpacket(27, bytes((_MAY_CERTIFY_AND_SIGN,)))
        issuer = _subpacket(16, self._fingerprint[-8:])
        head = bytes((4, kind, _RSA, _SHA512)) + len(hashed).to_bytes(2, "big") + hashed
        data = signed + head + b"\x04\xff" + len(head).to_bytes(4, "big")
        value = int.from_bytes(self._key.sign(data, padding.PKCS1v15(), hashes.SHA512()), "big")
        start = hashlib.sha512(data).digest()[:2]
        return _packet(2, head + len(issuer).to_bytes(2, "big") + issuer + start + _mpi(value))

    def signed_in_clear(self, text: str) -> str:
        """The text with its signature behind it, as in InRelease; no line may begin with a dash or end in a blank."""
        lines = text.splitlines()
        assert not any(line.startswith("-") or line != line.rstrip() for line in lines)
        signature = self._signature(_TEXT, "\r\n".join(lines).encode())
        coded = base64.b64encode(signature).decode()
        armor = [coded[start : start + 64] for start in range(0, len(coded), 64)]
        check = base64.b64encode(_crc24(signature).to_bytes(3, "big")).decode()
        return "\n".join(
            (
                "-----BEGIN PGP SIGNED MESSAGE-----", "Hash: SHA512", "", *lines,
                "-----BEGIN PGP SIGNATURE-----", "", *armor, f"={check}", "-----END PGP SIGNATURE-----", "",
            )
        )  # fmt: skip
