"""Differences between MySQL's character sets and Python's codecs of the same name; text in both directions with them.

Observed on 9.7.4: the server converted every sequence of one or two bytes (three in EUC, two and four in gb18030) to
UTF-32. It also converted every character of the basic plane to every character set. A column accepts some bytes that
are no character. They have no text here; SELECT shows a question mark for them.
"""

from __future__ import annotations

import re
from codecs import charmap_decode
from functools import cache, lru_cache
from typing import Final

# First byte sequence of a run (hex): the characters of it and of those that follow it. \0: no character.
DIFFERENCES: Final[dict[str, dict[str, str]]] = {
    "armscii8": {
        "80": (
            "\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x90\x91\x92\x93\x94\x95"
            "\x96\x97\x98\x99\x9a\x9b\x9c\x9d\x9e\x9f\xa0\u2741\xa7\u0589)(\xbb\xab\u2014.\u055d,-"
            "\u055f\u2026\u055c\u055b\u055e\u0531\u0561\u0532\u0562\u0533\u0563\u0534\u0564\u0535"
            "\u0565\u0536\u0566\u0537\u0567\u0538\u0568\u0539\u0569\u053a\u056a\u053b\u056b\u053c"
            "\u056c\u053d\u056d\u053e\u056e\u053f\u056f\u0540\u0570\u0541\u0571\u0542\u0572\u0543"
            "\u0573\u0544\u0574\u0545\u0575\u0546\u0576\u0547\u0577\u0548\u0578\u0549\u0579\u054a"
            "\u057a\u054b\u057b\u054c\u057c\u054d\u057d\u054e\u057e\u054f\u057f\u0550\u0580\u0551"
            "\u0581\u0552\u0582\u0553\u0583\u0554\u0584\u0555\u0585\u0556\u0586\u2019'"
        ),
    },
    "big5": {
        "a15a": "\ufffd",
        "a1c3": "\ufffd",
        "a1c5": "\ufffd",
        "a1fe": "\ufffd",
        "a240": "\ufffd",
        "a2cc": "\ufffd",
        "a2ce": "\ufffd",
        "f9d6": "\u7881\u92b9\u88cf\u58bb\u6052\u7ca7\u5afa",
    },
    "cp1256": {"8a": "\0", "8f": "\0", "98": "\0", "9a": "\0", "9f": "\0", "aa": "\0", "c0": "\0", "ff": "\0"},
    "cp866": {"fc": "\u207f\xb2"},
    "cp932": {"80": "\0", "a0": "\0", "fd": "\0\0\0"},
    "dec8": {
        "a4": "\0",
        "a6": "\0",
        "a8": "\xa4",
        "ac": "\0\0\0\0",
        "b4": "\0",
        "b8": "\0",
        "be": "\0",
        "d0": "\0",
        "d7": "\u0152",
        "dd": "\u0178\0",
        "f0": "\0",
        "f7": "\u0153",
        "fd": "\xff\0\0",
    },
    "eucjpms": {
        "a1c1": "\uff5e\u2225",
        "a1dd": "\uff0d",
        "a1f1": "\uffe0\uffe1",
        "a2cc": "\uffe2",
        "ada1": (
            "\u2460\u2461\u2462\u2463\u2464\u2465\u2466\u2467\u2468\u2469\u246a\u246b\u246c\u246d"
            "\u246e\u246f\u2470\u2471\u2472\u2473\u2160\u2161\u2162\u2163\u2164\u2165\u2166\u2167"
            "\u2168\u2169"
        ),
        "adc0": (
            "\u3349\u3314\u3322\u334d\u3318\u3327\u3303\u3336\u3351\u3357\u330d\u3326\u3323\u332b"
            "\u334a\u333b\u339c\u339d\u339e\u338e\u338f\u33c4\u33a1"
        ),
        "addf": (
            "\u337b\u301d\u301f\u2116\u33cd\u2121\u32a4\u32a5\u32a6\u32a7\u32a8\u3231\u3232\u3239"
            "\u337e\u337d\u337c\u2252\u2261\u222b\u222e\u2211\u221a\u22a5\u2220\u221f\u22bf\u2235"
            "\u2229\u222a"
        ),
        "8fa2b7": "\uff5e",
        "8fa2c3": "\uffe4",
        "8ff3f3": "\u2170\u2171\u2172\u2173\u2174\u2175\u2176\u2177\u2178\u2179\u2160\u2161",
        "8ff4a1": (
            "\u2162\u2163\u2164\u2165\u2166\u2167\u2168\u2169\uff07\uff02\u3231\u2116\u2121\u70bb"
            "\u4efc\u50f4\u51ec\u5307\u5324\ufa0e\u548a\u5759\ufa0f\ufa10\u589e\u5bec\u5cf5\u5d53"
            "\ufa11\u5fb7\u6085\u6120\u654e\u663b\u6665\ufa12\uf929\u6801\ufa13\ufa14\u6a6b\u6ae2"
            "\u6df8\u6df2\u7028\ufa15\ufa16\u7501\u7682\u769e\ufa17\u7930\ufa18\ufa19\ufa1a\ufa1b"
            "\u7ae7\ufa1c\ufa1d\u7da0\u7dd6\ufa1e\u8362\ufa1f\u85b0\ufa20\ufa21\u8807\ufa22\u8b7f"
            "\u8cf4\u8d76\ufa23\ufa24\ufa25\u90de\ufa26\u9115\ufa27\ufa28\u9592\uf9dc\ufa29\u973b"
            "\u974d\u9751\ufa2a\ufa2b\ufa2c\u999e\u9ad9\u9b72\ufa2d\u9ed1"
        ),
    },
    "gb18030": {"a8bc": "\u1e3f", "8135f437": "\ue7c7"},
    "geostd8": {
        "80": (
            "\u20ac\0\u201a\0\u201e\u2026\u2020\u2021\0\u2030\0\u2039\0\0\0\0\0\u2018\u2019\u201c"
            "\u201d\u2022\u2013\u2014\0\0\0\u203a\0\0\0\0"
        ),
        "c0": (
            "\u10d0\u10d1\u10d2\u10d3\u10d4\u10d5\u10d6\u10f1\u10d7\u10d8\u10d9\u10da\u10db\u10dc"
            "\u10f2\u10dd\u10de\u10df\u10e0\u10e1\u10e2\u10f3\u10e3\u10e4\u10e5\u10e6\u10e7\u10e8"
            "\u10e9\u10ea\u10eb\u10ec\u10ed\u10ee\u10f4\u10ef\u10f0\u10f5\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
            "\0\0\0\0\0\0\0\0\0\u2116\0\0"
        ),
    },
    "greek": {"a1": "\u02bd\u02bc", "a4": "\0\0", "aa": "\0"},
    "hebrew": {"af": "\u203e"},
    "keybcs2": {
        "80": "\u010c",
        "83": "\u010f",
        "85": "\u010e\u0164\u010d\u011b\u011a\u0139\xcd\u013e\u013a",
        "8f": "\xc1",
        "91": "\u017e\u017d",
        "95": "\xd3\u016f\xda\xfd",
        "9b": "\u0160\u013d\xdd\u0158\u0165",
        "a4": "\u0148\u0147\u016e\xd4\u0161\u0159\u0155\u0154",
    },
    "koi8u": {"95": "\u2022"},
    "latin1": {"81": "\x81", "8d": "\x8d", "8f": "\x8f\x90", "9d": "\x9d"},
    "sjis": {"815f": "\\"},
    "swe7": {"40": "\xc9", "5b": "\xc4\xd6\xc5\xdc", "60": "\xe9", "7b": "\xe4\xf6\xe5\xfc\0"},
    "tis620": {"a0": "\ufffd", "db": "\ufffd\ufffd\ufffd\ufffd", "fc": "\ufffd\ufffd\ufffd\ufffd"},
    "ujis": {"a1c0": "\\"},
}
_EUC: Final = ("ujis", "eucjpms")
_USER_ROWS: Final = ((b"", 0xE000), (b"\x8f", 0xE3AC))  # rows F5 to FE of both planes of EUC are the private use area
_CHARACTERS: Final = {
    "big5": re.compile(rb"[\x81-\xff].|.", re.DOTALL),
    **dict.fromkeys(("sjis", "cp932"), re.compile(rb"[\x81-\x9f\xe0-\xfc].|.", re.DOTALL)),
    "gb18030": re.compile(rb"[\x81-\xfe][0-9][\x81-\xfe][0-9]|[\x81-\xfe].|.", re.DOTALL),
    **dict.fromkeys(_EUC, re.compile(rb"\x8f..|[\x8e\xa1-\xfe].|.", re.DOTALL)),
}
# Characters that MySQL reads from one code and writes with another, or writes with another code than the codec.
_WRITTEN: Final = {
    "sjis": {"\\": b"\x81\x5f"},
    "cp932": {"\u6661": b"\xfa\xd7"},
    "eucjpms": {"\u2116": b"\xad\xe2"},
}
_CP932_EXTENSION: Final = [bytes((lead, trail)) for lead in (0xFA, 0xFB, 0xFC) for trail in range(0x40, 0xFD)]
_UNDEFINED: Final = "\ufffe"  # how a charmap says so


@cache
def _differences(charset: str) -> dict[bytes, str | None]:
    """Characters of single codes, ``None`` for a code without one."""
    found: dict[bytes, str | None] = {}
    for start, characters in DIFFERENCES.get(charset, {}).items():
        size, first = len(start) // 2, int(start, 16)
        for number, character in enumerate(characters):
            found[(first + number).to_bytes(size, "big")] = None if character == "\0" else character
    if charset in _EUC:
        for lead, first in _USER_ROWS:
            for place in range(940):
                row, cell = divmod(place, 94)
                found[lead + bytes((0xF5 + row, 0xA1 + cell))] = chr(first + place)
    return found


@cache
def _charmap(charset: str, codec: str) -> str:
    """All 256 characters of a character set of single bytes."""
    other = _differences(charset)
    characters: list[str] = []
    for byte in range(256):
        raw = bytes((byte,))
        character = other[raw] if raw in other else raw.decode(codec, "replace")
        unknown = character is None or (character == "\ufffd" and raw not in other)
        characters.append(character if character and not unknown else _UNDEFINED)
    return "".join(characters)


@cache
def _written(charset: str, codec: str) -> dict[str, bytes]:
    """Codes of the characters that the codec cannot write, or writes differently.

    Of several codes for a character MySQL writes the shortest, and of those the last.
    """
    found: dict[str, bytes] = {}
    for code, character in _differences(charset).items():
        if character is None or len(found.get(character, code)) < len(code):
            continue
        if _plain(character, charset, codec) is None:
            found[character] = code
    if charset == "cp932":  # NEC's copies of IBM's characters are only read
        for code in _CP932_EXTENSION:
            character = code.decode(codec, "ignore")
            if character and character.encode(codec)[:1] in (b"\xed", b"\xee"):
                found[character] = code
    return found | _WRITTEN.get(charset, {})


@lru_cache(1 << 14)  # the same few characters come again and again
def _plain(character: str, charset: str, codec: str) -> bytes | None:
    """The codec's code of a character, if MySQL reads that code as this character."""
    try:
        code = character.encode(codec)
    except UnicodeEncodeError:
        return None
    other = _differences(charset)
    return code if (other[code] if code in other else code.decode(codec)) == character else None


def decode(data: bytes, charset: str, codec: str, *, single: bool) -> str | None:
    """The text of ``data``; ``None`` if part of it is no character. ``single``: one byte a character."""
    try:
        if single:
            return charmap_decode(data, "strict", _charmap(charset, codec))[0]
        if charset not in _CHARACTERS or data.isascii():
            return data.decode(codec)
        other = _differences(charset)
        parts = []
        for code in _CHARACTERS[charset].findall(data):
            character = other[code] if code in other else code.decode(codec)
            if character is None:
                return None
            parts.append(character)
        return "".join(parts)
    except UnicodeDecodeError:
        return None


def encode(text: str, charset: str, codec: str) -> bytes | None:
    """The bytes of ``text``; ``None`` if part of it has no code."""
    written = _written(charset, codec)
    parts = []
    for character in text:
        code = written[character] if character in written else _plain(character, charset, codec)
        if code is None:
            return None
        parts.append(code)
    return b"".join(parts)
