"""AES-256: decryption in the modes ECB and CBC, encryption in the modes CBC and CTR (FIPS 197, NIST SP 800-38A).

The blocks of a text are ciphered side by side: ``rows[n]`` has row n of the state of every block, column by column. A
step then is a table lookup or an exclusive-or over a row, and not over a byte. Decryption is the equivalent inverse
cipher of FIPS 197 5.3.5.
It is not for secrets that an attacker can time.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

BLOCK: Final = 16
KEY: Final = 32
_ROUNDS: Final = 14
_WORDS: Final = KEY // 4
_POLYNOMIAL: Final = 0x11B
_INVERSE_MIX: Final = (14, 11, 13, 9)  # the first row of the matrix of InvMixColumns; each next row is rotated
_COUNTER: Final = (1 << 128) - 1
_MIX: Final = (2, 3, 1, 1)  # that of MixColumns


def _times(left: int, right: int) -> int:
    """The product in GF(2^8)."""
    product = 0
    while right:
        if right & 1:
            product ^= left
        left <<= 1
        if left & 0x100:
            left ^= _POLYNOMIAL
        right >>= 1
    return product


class _Tables(NamedTuple):
    """S-box and its inverse, and the products of both for each factor of MixColumns and InvMixColumns."""

    box: bytes
    inverse: bytes
    products: tuple[bytes, ...]
    inverse_products: tuple[bytes, ...]


@cache
def _tables() -> _Tables:
    box = bytearray([0x63]) * 256
    power = inverse = 1
    for _ in range(255):  # 3 generates the field, 0xF6 is its inverse
        power, inverse = _times(power, 3), _times(inverse, 0xF6)
        box[power] = 0x63
        for turn in range(5):
            box[power] ^= (inverse << turn | inverse >> 8 - turn) & 0xFF
    back = bytes(box.index(value) for value in range(256))
    forth = tuple(bytes(_times(value, factor) for value in box) for factor in _MIX)
    return _Tables(
        bytes(box), back, forth, tuple(bytes(_times(value, factor) for value in back) for factor in _INVERSE_MIX)
    )


def _expanded(key: bytes) -> list[bytes]:
    """The keys of the rounds."""
    if len(key) != KEY:
        raise ValueError(f"a key of {len(key)} bytes is none of AES-256")
    box = _tables().box
    words = [key[at : at + 4] for at in range(0, KEY, 4)]
    constant = 1
    while len(words) < 4 * (_ROUNDS + 1):
        word = words[-1]
        if len(words) % _WORDS == 0:
            word = (word[1:] + word[:1]).translate(box)
            word = bytes((word[0] ^ constant, *word[1:]))
            constant = _times(constant, 2)
        elif len(words) % _WORDS == 4:
            word = word.translate(box)
        words.append(bytes(left ^ right for left, right in zip(words[-_WORDS], word, strict=True)))
    return [b"".join(words[at : at + 4]) for at in range(0, len(words), 4)]


def _round_keys(key: bytes) -> list[bytes]:
    """The keys of the equivalent inverse cipher in the order of their use."""
    keys = _expanded(key)
    keys.reverse()
    return [keys[0], *(_mixed(round_key) for round_key in keys[1:-1]), keys[-1]]


def _mixed(column: bytes) -> bytes:
    """InvMixColumns of a round key."""
    box, _, _, products = _tables()
    boxed = column.translate(box)  # the products are those of what the box came from
    out = bytearray(BLOCK)
    for at in range(BLOCK):
        for row in range(4):
            out[at] ^= products[(row - at) % 4][boxed[at // 4 * 4 + row]]
    return bytes(out)


class Decryption:
    """A key of 32 bytes, ready for any number of texts. The length of a text is a multiple of 16."""

    def __init__(self, key: bytes) -> None:
        self._keys = _round_keys(key)

    def ecb(self, text: bytes) -> bytes:
        """The plain text; each block by itself."""
        _, inverse, _, products = _tables()
        return _ciphered(text, self._keys, inverse, products, -1)

    def cbc(self, text: bytes, start: bytes) -> bytes:
        """The plain text; each block hides the one behind it, and ``start`` the first."""
        before = start + text[:-BLOCK] if text else b""
        return _exclusive_or(self.ecb(text), before)


class Encryption:
    """A key of 32 bytes that encrypts."""

    def __init__(self, key: bytes) -> None:
        self._keys = _expanded(key)

    def ecb(self, text: bytes) -> bytes:
        """The encrypted text; each block by itself."""
        box, _, products, _ = _tables()
        return _ciphered(text, self._keys, box, products, 1)

    def cbc(self, text: bytes, start: bytes) -> bytes:
        """The encrypted text; each block hides the one behind it."""
        out = b""
        for at in range(0, len(text), BLOCK):
            start = self.ecb(_exclusive_or(text[at : at + BLOCK], start))
            out += start
        return out

    def ctr(self, text: bytes, first: int) -> bytes:
        """A text of any length, plain or encrypted: the other one. ``first``: the counter of its first block."""
        count = -(-len(text) // BLOCK)
        blocks = b"".join([(first + number & _COUNTER).to_bytes(BLOCK, "big") for number in range(count)])
        return _exclusive_or(text, self.ecb(blocks)[: len(text)])


def _ciphered(text: bytes, keys: list[bytes], box: bytes, products: tuple[bytes, ...], step: int) -> bytes:
    """All blocks of a text by themselves. ``step``: 1 encrypts and -1 decrypts, as ShiftRows turns the rows."""
    if len(text) % BLOCK:
        raise ValueError(f"{len(text)} bytes are no whole blocks")
    count = len(text) // BLOCK
    first, *middle, last = [_rows(key * count) for key in keys]
    rows = [row ^ key for row, key in zip(_rows(text), first, strict=True)]
    for key in middle:
        zero, one, two, three = [
            [int.from_bytes(row.translate(table), "big") for table in products] for row in _shifted(rows, count, step)
        ]
        rows = [
            zero[-row % 4] ^ one[(1 - row) % 4] ^ two[(2 - row) % 4] ^ three[(3 - row) % 4] ^ key[row]
            for row in range(4)
        ]
    out = bytearray(len(text))
    for row, (data, key_row) in enumerate(zip(_shifted(rows, count, step), last, strict=True)):
        whole = (int.from_bytes(data.translate(box), "big") ^ key_row).to_bytes(4 * count, "big")
        for column in range(4):
            out[4 * column + row :: BLOCK] = whole[column * count : (column + 1) * count]
    return bytes(out)


def _rows(text: bytes) -> list[int]:
    """The rows of all blocks of a text."""
    return [
        int.from_bytes(b"".join([text[4 * column + row :: BLOCK] for column in range(4)]), "big") for row in range(4)
    ]


def _shifted(rows: list[int], count: int, step: int) -> list[bytes]:
    """ShiftRows, or its inverse: row n goes n columns to the left, or to the right."""
    out = []
    for number, row in enumerate(rows):
        data, cut = row.to_bytes(4 * count, "big"), step * number % 4 * count
        out.append(data[cut:] + data[:cut])
    return out


def _exclusive_or(left: bytes, right: bytes) -> bytes:
    return (int.from_bytes(left, "big") ^ int.from_bytes(right, "big")).to_bytes(len(left), "big")
