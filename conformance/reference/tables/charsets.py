"""Character sets and collations by number, as 9.7.4 lists them in INFORMATION_SCHEMA (observed).

The log names collations by number only. Text is decoded with the nearest Python codec, corrected to the server's
conversion of the same bytes (:mod:`.charset_tables`). Bytes that are no characters have no text.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from conformance.reference.tables.charset_tables import decode, encode

BINARY: Final = 63


class Collation(NamedTuple):
    id: int
    name: str
    charset: str
    max_bytes: int  # of one character
    codec: str | None


# Character set: bytes of its longest character, Python codec, "number:name" of its collations without the character
# set's name in front, the default one first.
_TABLE: Final[dict[str, tuple[int, str | None, str]]] = {
    "armscii8": (1, "ascii", "32:general_ci 64:bin"),
    "ascii": (1, "ascii", "11:general_ci 65:bin"),
    "big5": (2, "big5", "1:chinese_ci 84:bin"),
    "binary": (1, None, "63:"),
    "cp1250": (1, "cp1250", "26:general_ci 34:czech_cs 44:croatian_ci 66:bin 99:polish_ci"),
    "cp1251": (1, "cp1251", "51:general_ci 14:bulgarian_ci 23:ukrainian_ci 50:bin 52:general_cs"),
    "cp1256": (1, "cp1256", "57:general_ci 67:bin"),
    "cp1257": (1, "cp1257", "59:general_ci 29:lithuanian_ci 58:bin"),
    "cp850": (1, "cp850", "4:general_ci 80:bin"),
    "cp852": (1, "cp852", "40:general_ci 81:bin"),
    "cp866": (1, "cp866", "36:general_ci 68:bin"),
    "cp932": (2, "cp932", "95:japanese_ci 96:bin"),
    "dec8": (1, "latin_1", "3:swedish_ci 69:bin"),
    "eucjpms": (3, "euc_jp", "97:japanese_ci 98:bin"),
    "euckr": (2, "cp949", "19:korean_ci 85:bin"),
    "gb18030": (4, "gb18030", "248:chinese_ci 249:bin 250:unicode_520_ci"),
    "gb2312": (2, "gb2312", "24:chinese_ci 86:bin"),
    "gbk": (2, "gbk", "28:chinese_ci 87:bin"),
    "geostd8": (1, "latin_1", "92:general_ci 93:bin"),
    "greek": (1, "iso8859_7", "25:general_ci 70:bin"),
    "hebrew": (1, "iso8859_8", "16:general_ci 71:bin"),
    "hp8": (1, "hp_roman8", "6:english_ci 72:bin"),
    "keybcs2": (1, "cp437", "37:general_ci 73:bin"),
    "koi8r": (1, "koi8_r", "7:general_ci 74:bin"),
    "koi8u": (1, "koi8_u", "22:general_ci 75:bin"),
    "latin1": (
        1,
        "cp1252",
        "8:swedish_ci 5:german1_ci 15:danish_ci 31:german2_ci 47:bin 48:general_ci 49:general_cs 94:spanish_ci",
    ),
    "latin2": (1, "iso8859_2", "9:general_ci 2:czech_cs 21:hungarian_ci 27:croatian_ci 77:bin"),
    "latin5": (1, "iso8859_9", "30:turkish_ci 78:bin"),
    "latin7": (1, "iso8859_13", "41:general_ci 20:estonian_cs 42:general_cs 79:bin"),
    "macce": (1, "mac_latin2", "38:general_ci 43:bin"),
    "macroman": (1, "mac_roman", "39:general_ci 53:bin"),
    "sjis": (2, "shift_jis", "13:japanese_ci 88:bin"),
    "swe7": (1, "ascii", "10:swedish_ci 82:bin"),
    "tis620": (1, "iso8859_11", "18:thai_ci 89:bin"),
    "ucs2": (
        2,
        "utf_16_be",
        (
            "35:general_ci 90:bin 128:unicode_ci 129:icelandic_ci 130:latvian_ci 131:romanian_ci "
            "132:slovenian_ci 133:polish_ci 134:estonian_ci 135:spanish_ci 136:swedish_ci 137:turkish_ci "
            "138:czech_ci 139:danish_ci 140:lithuanian_ci 141:slovak_ci 142:spanish2_ci 143:roman_ci "
            "144:persian_ci 145:esperanto_ci 146:hungarian_ci 147:sinhala_ci 148:german2_ci 149:croatian_ci "
            "150:unicode_520_ci 151:vietnamese_ci 159:general_mysql500_ci"
        ),
    ),
    "ujis": (3, "euc_jp", "12:japanese_ci 91:bin"),
    "utf16": (
        4,
        "utf_16_be",
        (
            "54:general_ci 55:bin 101:unicode_ci 102:icelandic_ci 103:latvian_ci 104:romanian_ci "
            "105:slovenian_ci 106:polish_ci 107:estonian_ci 108:spanish_ci 109:swedish_ci 110:turkish_ci "
            "111:czech_ci 112:danish_ci 113:lithuanian_ci 114:slovak_ci 115:spanish2_ci 116:roman_ci "
            "117:persian_ci 118:esperanto_ci 119:hungarian_ci 120:sinhala_ci 121:german2_ci 122:croatian_ci "
            "123:unicode_520_ci 124:vietnamese_ci"
        ),
    ),
    "utf16le": (4, "utf_16_le", "56:general_ci 62:bin"),
    "utf32": (
        4,
        "utf_32_be",
        (
            "60:general_ci 61:bin 160:unicode_ci 161:icelandic_ci 162:latvian_ci 163:romanian_ci "
            "164:slovenian_ci 165:polish_ci 166:estonian_ci 167:spanish_ci 168:swedish_ci 169:turkish_ci "
            "170:czech_ci 171:danish_ci 172:lithuanian_ci 173:slovak_ci 174:spanish2_ci 175:roman_ci "
            "176:persian_ci 177:esperanto_ci 178:hungarian_ci 179:sinhala_ci 180:german2_ci 181:croatian_ci "
            "182:unicode_520_ci 183:vietnamese_ci"
        ),
    ),
    "utf8mb3": (
        3,
        "utf_8",
        (
            "33:general_ci 76:tolower_ci 83:bin 192:unicode_ci 193:icelandic_ci 194:latvian_ci "
            "195:romanian_ci 196:slovenian_ci 197:polish_ci 198:estonian_ci 199:spanish_ci 200:swedish_ci "
            "201:turkish_ci 202:czech_ci 203:danish_ci 204:lithuanian_ci 205:slovak_ci 206:spanish2_ci "
            "207:roman_ci 208:persian_ci 209:esperanto_ci 210:hungarian_ci 211:sinhala_ci 212:german2_ci "
            "213:croatian_ci 214:unicode_520_ci 215:vietnamese_ci 223:general_mysql500_ci"
        ),
    ),
    "utf8mb4": (
        4,
        "utf_8",
        (
            "255:0900_ai_ci 45:general_ci 46:bin 224:unicode_ci 225:icelandic_ci 226:latvian_ci "
            "227:romanian_ci 228:slovenian_ci 229:polish_ci 230:estonian_ci 231:spanish_ci 232:swedish_ci "
            "233:turkish_ci 234:czech_ci 235:danish_ci 236:lithuanian_ci 237:slovak_ci 238:spanish2_ci "
            "239:roman_ci 240:persian_ci 241:esperanto_ci 242:hungarian_ci 243:sinhala_ci 244:german2_ci "
            "245:croatian_ci 246:unicode_520_ci 247:vietnamese_ci 256:de_pb_0900_ai_ci 257:is_0900_ai_ci "
            "258:lv_0900_ai_ci 259:ro_0900_ai_ci 260:sl_0900_ai_ci 261:pl_0900_ai_ci 262:et_0900_ai_ci "
            "263:es_0900_ai_ci 264:sv_0900_ai_ci 265:tr_0900_ai_ci 266:cs_0900_ai_ci 267:da_0900_ai_ci "
            "268:lt_0900_ai_ci 269:sk_0900_ai_ci 270:es_trad_0900_ai_ci 271:la_0900_ai_ci 273:eo_0900_ai_ci "
            "274:hu_0900_ai_ci 275:hr_0900_ai_ci 277:vi_0900_ai_ci 278:0900_as_cs 279:de_pb_0900_as_cs "
            "280:is_0900_as_cs 281:lv_0900_as_cs 282:ro_0900_as_cs 283:sl_0900_as_cs 284:pl_0900_as_cs "
            "285:et_0900_as_cs 286:es_0900_as_cs 287:sv_0900_as_cs 288:tr_0900_as_cs 289:cs_0900_as_cs "
            "290:da_0900_as_cs 291:lt_0900_as_cs 292:sk_0900_as_cs 293:es_trad_0900_as_cs 294:la_0900_as_cs "
            "296:eo_0900_as_cs 297:hu_0900_as_cs 298:hr_0900_as_cs 300:vi_0900_as_cs 303:ja_0900_as_cs "
            "304:ja_0900_as_cs_ks 305:0900_as_ci 306:ru_0900_ai_ci 307:ru_0900_as_cs 308:zh_0900_as_cs "
            "309:0900_bin 310:nb_0900_ai_ci 311:nb_0900_as_cs 312:nn_0900_ai_ci 313:nn_0900_as_cs "
            "314:sr_latn_0900_ai_ci 315:sr_latn_0900_as_cs 316:bs_0900_ai_ci 317:bs_0900_as_cs "
            "318:bg_0900_ai_ci 319:bg_0900_as_cs 320:gl_0900_ai_ci 321:gl_0900_as_cs 322:mn_cyrl_0900_ai_ci "
            "323:mn_cyrl_0900_as_cs"
        ),
    ),
}


COLLATIONS: Final = {
    int(number): Collation(int(number), f"{charset}_{rest}" if rest else charset, charset, size, codec)
    for charset, (size, codec, collations) in _TABLE.items()
    for number, _, rest in (item.partition(":") for item in collations.split())
}
COLLATION_IDS: Final = {collation.name: number for number, collation in COLLATIONS.items()}
DEFAULT_COLLATIONS: Final = {
    charset: int(collations.partition(":")[0]) for charset, (_, _, collations) in _TABLE.items()
}


def text_of(data: bytes, collation: int | None) -> str | None:
    """The text of a value as the server converts it to Unicode.

    ``None``: the value is binary, has an unknown collation, or holds bytes that are no characters (a surrogate in ucs2,
    say).
    """
    known = COLLATIONS.get(collation) if collation is not None else None
    if known is None or known.codec is None:
        return None
    text = decode(data, known.charset, known.codec, single=known.max_bytes == 1)
    return None if text is not None and _outside(text, known) else text


def bytes_of(text: str, collation: int) -> bytes | None:
    """The bytes of a text in a collation's character set; ``None`` where the text cannot be written."""
    known = COLLATIONS.get(collation)
    if known is None or known.codec is None or _outside(text, known):
        return None
    return encode(text, known.charset, known.codec)


_BASIC: Final = frozenset(("ucs2", "utf8mb3"))  # character sets without the characters beyond the basic plane
_CZECH: Final = "latin2_czech_cs"  # the one collation with conversions of its own: without control characters
# The server copies ASCII unchanged up to the first other character, so DEL is missing only behind one.
_NOT_CZECH: Final = re.compile("[\x80-\x9f]|[^\x00-\x7f].*\x7f", re.DOTALL)


def _outside(text: str, known: Collation) -> bool:
    """Whether the text has a character that MySQL's character set lacks and the codec has."""
    if known.charset in _BASIC:
        return bool(text) and max(text) > "\uffff"
    return known.name == _CZECH and _NOT_CZECH.search(text) is not None
