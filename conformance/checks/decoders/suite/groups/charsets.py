"""Character sets: text columns, ENUM and SET in each, with names and members in the log's metadata or without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.suite.declare import Setting, recorded, text

if TYPE_CHECKING:
    from conformance.checks.decoders.suite.declare import Recorded

_TABLE: Final = "CREATE TABLE t (id INT PRIMARY KEY, c CHAR(10), v VARCHAR(100), x TEXT, n INT) CHARACTER SET {0}"
_MEMBERS: Final = (
    "CREATE TABLE t (id INT PRIMARY KEY, e ENUM({1}) CHARACTER SET {0}, s SET({1}) CHARACTER SET {0}, n INT)"
)
_WHY: Final = (
    "The bytes in the row are in the column's charset, not in UTF-8: the collation number in the metadata tells which."
)


def _text(charset: str, sample: str, *, metadata: str = "FULL", why: str = _WHY) -> Recorded:
    suffix = "-minimal" if metadata == "MINIMAL" else ""
    return recorded(
        f"charsets/{charset}{suffix}", f"Text in {charset}" + (", MINIMAL metadata" if suffix else ""), why, "DEC12 DEC15" if suffix else "DEC12",
        setting=Setting(metadata=metadata), prepare=_TABLE.format(charset),
        statements=f"INSERT INTO t VALUES (1, {text(sample[:10])}, {text(sample * 3)}, {text(sample)}, 1), (2, '', '', '', 2), (3, 'plain', 'a  ', NULL, 3)",
    )  # fmt: skip


def _members(charset: str, first: str, second: str, *, metadata: str = "FULL") -> Recorded:
    suffix = "-minimal" if metadata == "MINIMAL" else ""
    return recorded(
        f"charsets/members-{charset}{suffix}", f"ENUM and SET with members in {charset}" + (", MINIMAL metadata" if suffix else ""),
        "Names of members stand in the metadata in the column's own charset: read as UTF-8 they are broken.", "DEC12 DEC15",
        setting=Setting(metadata=metadata), prepare=_MEMBERS.format(charset, f"{text(first)}, {text(second)}"),
        statements=f"INSERT INTO t VALUES (1, {text(second)}, {text(f'{first},{second}')}, 7), (2, {text(first)}, '', 8)",
    )  # fmt: skip


CASES: Final = (
    _text("utf8mb4", "aé日😀 größe"),
    _text("utf8mb3", "aé日 größe", why="Three bytes a character at most; the collation numbers are others than those of utf8mb4."),
    _text("latin1", "größe €é", why="latin1 is cp1252 at MySQL: 0x80 is the euro sign."),
    _text("ascii", "plain text"),
    _text("latin2", "žluťoučký"),
    _text("cp1251", "Привет"),
    _text("koi8r", "Привет"),
    _text("greek", "Αθήνα"),
    _text("hebrew", "שלום"),
    _text("ucs2", "größe 日本", why="Two bytes a character, high byte first."),
    _text("utf16", "größe 日本😀", why="Two or four bytes a character, high byte first."),
    _text("utf16le", "größe 日本😀", why="As utf16, low byte first."),
    _text("utf32", "größe 日本😀", why="Four bytes a character."),
    _text("gbk", "中文测试", why="Second bytes may be those of ASCII letters or of a backslash."),
    _text("gb2312", "中文测试"),
    _text("gb18030", "中文😀ß", why="One, two or four bytes a character."),
    _text("big5", "中文測試"),
    _text("sjis", "日本語テスト表", why="The second byte of some characters is a backslash."),
    _text("cp932", "日本語①表"),
    _text("ujis", "日本語テスト"),
    _text("euckr", "한국어"),
    _text("latin1", "größe €é", metadata="MINIMAL"),
    _text("utf16", "größe 日本😀", metadata="MINIMAL"),
    _text("gbk", "中文测试", metadata="MINIMAL"),
    _text("sjis", "日本語テスト表", metadata="MINIMAL"),
    _members("utf8mb4", "größe", "日本😀"),
    _members("latin1", "größe", "€"),
    _members("gbk", "中文", "测试"),
    _members("sjis", "日本", "表"),
    _members("utf16", "größe", "日本"),
    _members("utf32", "größe", "日本"),
    _members("latin1", "größe", "€", metadata="MINIMAL"),
    recorded(
        "charsets/mixed-columns", "Five charsets in one table", "The list of charsets counts character columns only, not all columns (python-mysql-replication #582).", "DEC12 DEC15", setting=Setting(),
        prepare="CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20) CHARACTER SET latin1, n INT, b VARCHAR(20) CHARACTER SET gbk, d DATE, c VARCHAR(20) CHARACTER SET ucs2, e TEXT CHARACTER SET sjis, f VARCHAR(20) CHARACTER SET utf8mb4, k BLOB)",
        statements="INSERT INTO t VALUES (1, 'größe', 2, '中文', '2024-02-29', 'größe', '日本', '😀', x'ff')",
    ),
    recorded(
        "charsets/mixed-members", "ENUM columns in three charsets beside text columns", "ENUM and SET have a list of charsets of their own.", "DEC12 DEC15", setting=Setting(),
        prepare="CREATE TABLE t (id INT PRIMARY KEY, a ENUM('ä','b') CHARACTER SET latin1, v VARCHAR(9) CHARACTER SET gbk, b ENUM('日','x') CHARACTER SET sjis, c SET('é','z') CHARACTER SET utf16, w VARCHAR(9))",
        statements="INSERT INTO t VALUES (1, 'ä', '中', '日', 'é,z', 'ß')",
    ),
    recorded(
        "charsets/binary-table", "A table whose default charset is binary", "Text types become binary ones: there is nothing to decode.", "DEC13 DEC15", setting=Setting(),
        prepare="CREATE TABLE t (id INT PRIMARY KEY, c CHAR(5), v VARCHAR(5), x TEXT) CHARACTER SET binary", statements="INSERT INTO t VALUES (1, x'00ff', x'c328', x'80')",
    ),
)  # fmt: skip
