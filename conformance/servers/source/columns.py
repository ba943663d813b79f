"""The facts of INFORMATION_SCHEMA about a column: from the words of its definition, or from a TABLE_MAP alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.reference.sql.quoting import quote_string
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import BINARY, COLLATION_IDS, COLLATIONS, DEFAULT_COLLATIONS
from conformance.reference.text.pseudo_values import type_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.replay.statements import ColumnDefinition
    from conformance.reference.sql.statement_words import Word
    from conformance.reference.tables.metadata import ColumnInfo

_SYNONYMS: Final = {
    "INTEGER": "int", "INT4": "int", "INT1": "tinyint", "INT2": "smallint", "INT3": "mediumint", "INT8": "bigint",
    "MIDDLEINT": "mediumint", "DEC": "decimal", "NUMERIC": "decimal", "FIXED": "decimal", "REAL": "double",
    "FLOAT4": "float", "FLOAT8": "double", "CHARACTER": "char", "NCHAR": "char", "NVARCHAR": "varchar",
    "GEOMETRYCOLLECTION": "geomcollection",
}  # fmt: skip
_DEFAULTS: Final = {"decimal": "(10,0)", "char": "(1)", "binary": "(1)", "bit": "(1)", "vector": "(2048)"}
_TEXTS: Final = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set")
_BYTES: Final = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "vector")
_DIGITS: Final = {"tinyint": 3, "smallint": 5, "mediumint": 7, "int": 10, "bigint": 19}
_SIZES: Final = {
    "tinytext": 255, "text": 65535, "mediumtext": (1 << 24) - 1, "longtext": (1 << 32) - 1,
    "tinyblob": 255, "blob": 65535, "mediumblob": (1 << 24) - 1, "longblob": (1 << 32) - 1,
}  # fmt: skip
_OF_BYTES: Final = {"char": "binary", "varchar": "varbinary"} | {
    f"{size}text": f"{size}blob" for size in ("tiny", "", "medium", "long")
}
_MEMBER: Final = re.compile(r"'((?:[^'\\]|''|\\.)*)'", re.DOTALL)
_ESCAPED: Final = re.compile(r"''|\\.", re.DOTALL)
_WIDTHS: Final = {"tinyint": 3, "smallint": 5, "mediumint": 8, "int": 10, "bigint": 20}  # of ZEROFILL
_BY_PREFIX: Final = {1: "tiny", 2: "", 3: "medium", 4: "long"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts:
    """One column. ``type``: as COLUMN_TYPE has it. ``key``: PRI or nothing."""

    name: str
    type: str
    nullable: bool
    collation: int | None = None
    key: str = ""
    extra: str = ""
    default: str | None = None

    @property
    def data_type(self) -> str:
        """DATA_TYPE: the name alone."""
        return self.type.partition("(")[0].partition(" ")[0]

    @property
    def shown_type(self) -> str:
        """COLUMN_TYPE, which is utf8mb3: a server shows other characters of members as question marks."""
        return "".join(letter if ord(letter) < 0x10000 else "?" for letter in self.type)

    @property
    def charset(self) -> str | None:
        """CHARACTER_SET_NAME."""
        known = COLLATIONS.get(self.collation) if self.collation is not None else None
        return known.charset if known and self.data_type in _TEXTS else None

    @property
    def collation_name(self) -> str | None:
        """COLLATION_NAME."""
        return COLLATIONS[self.collation].name if self.charset and self.collation is not None else None

    @property
    def arguments(self) -> list[str]:
        """The arguments in the parentheses of the type, for types without members."""
        inner = self.type.partition("(")[2].rpartition(")")[0]
        return [] if not inner or self.data_type in ("enum", "set") else inner.split(",")

    @property
    def characters(self) -> int | None:
        """CHARACTER_MAXIMUM_LENGTH."""
        kind = self.data_type
        if kind in _SIZES:
            return _SIZES[kind]
        if kind in ("enum", "set"):
            lengths = [len(_ESCAPED.sub("x", member)) for member in _MEMBER.findall(self.type)]
            if not lengths:  # of a log that does not name them
                return None
            return max(lengths) if kind == "enum" else sum(lengths) + len(lengths) - 1
        if kind in (*_TEXTS, *_BYTES) and self.arguments:
            return int(self.arguments[0]) * (4 if kind == "vector" else 1)
        return None

    @property
    def octets(self) -> int | None:
        """CHARACTER_OCTET_LENGTH. The sizes of TEXT types are in bytes already."""
        known = COLLATIONS.get(self.collation) if self.charset and self.collation is not None else None
        if self.characters is None or known is None or self.data_type in _SIZES:
            return self.characters
        return self.characters * known.max_bytes

    @property
    def precision(self) -> tuple[int | None, int | None]:
        """NUMERIC_PRECISION and NUMERIC_SCALE."""
        kind = self.data_type
        if kind == "decimal":
            first, *rest = [*self.arguments, "0"]
            return int(first), int(rest[0])
        if kind == "bit":
            return int(self.arguments[0]), None
        if kind in _DIGITS:
            return _DIGITS[kind] + (kind == "bigint" and "unsigned" in self.type), 0
        return {"float": 12, "double": 22}.get(kind), None

    @property
    def fraction(self) -> int | None:
        """DATETIME_PRECISION."""
        if self.data_type in ("datetime", "timestamp", "time"):
            return int(self.arguments[0]) if self.arguments else 0
        return None

    def sql(self) -> str:
        """The column in SHOW CREATE TABLE."""
        parts = [f"`{self.name.replace('`', '``')}`", self.type]
        if self.charset:
            parts.append(f"CHARACTER SET {self.charset} COLLATE {self.collation_name}")
        if not self.nullable:
            parts.append("NOT NULL")
        elif self.data_type == "timestamp":
            parts.append("NULL")
        if self.extra == "auto_increment":
            parts.append("AUTO_INCREMENT")
        return " ".join(parts)


def defined_column(column: ColumnDefinition, info: ColumnInfo | None, key: Sequence[str]) -> ColumnFacts:
    """A column of a CREATE TABLE; a TABLE_MAP of the same table knows its collation."""
    is_key = column.name.lower() in {name.lower() for name in key}
    kind = defined_type(column.words)
    name = kind.partition("(")[0].partition(" ")[0]
    collation = None
    if name in _TEXTS:
        collation = info.collation if info and info.collation is not None else _named_collation(column.words)
        if collation == BINARY and name in _OF_BYTES:
            kind, collation = kind.replace(name, _OF_BYTES[name], 1), None
    extra = "auto_increment" if column.automatic else ""
    if column.generated:
        extra = "STORED GENERATED" if any(word.among("STORED") for word in column.words) else "VIRTUAL GENERATED"
    if any(word.among("INVISIBLE") for word in column.words):
        extra = f"{extra} INVISIBLE".lstrip()
    default = column.default[0].text if column.default and not column.default[0].among("NULL") else None
    nullable = not (column.not_null or is_key)
    return ColumnFacts(
        name=column.name, type=kind, nullable=nullable, collation=collation, key="PRI" if is_key else "", extra=extra,
        default=default,
    )  # fmt: skip


def defined_type(words: Sequence[Word]) -> str:
    """COLUMN_TYPE from the words of a definition."""
    if not words:
        return "int"
    first = words[0].text.upper()
    rest = 1
    if first == "SERIAL":
        return "bigint unsigned"
    if first in ("BOOL", "BOOLEAN"):
        return "tinyint(1)"
    if first == "NATIONAL" and len(words) > 1:
        first, rest = words[1].text.upper(), 2
    name = _SYNONYMS.get(first, first.lower())
    if name == "char" and len(words) > rest and words[rest].among("VARYING"):
        name, rest = "varchar", rest + 1
    if name == "double" and len(words) > rest and words[rest].among("PRECISION"):
        rest += 1
    inner = ""
    if len(words) > rest and words[rest].text == "(" and not words[rest].string:
        parts = []
        rest += 1
        while rest < len(words) and not (words[rest].text == ")" and not words[rest].string):
            parts.append(quote_string(words[rest].text) if words[rest].string else words[rest].text)
            rest += 1
        inner = f"({''.join(parts)})"
    signs = [word.text.lower() for word in words[rest:] if word.among("UNSIGNED", "ZEROFILL")]
    if name in _DIGITS and inner != "(1)" and "zerofill" not in signs:
        inner = ""  # a display width
    if name in _DIGITS and "zerofill" in signs:
        inner = inner or f"({_WIDTHS[name]})"
    if name == "decimal" and inner and "," not in inner:
        inner = f"{inner[:-1]},0)"
    if name in ("year", "float") or (name in ("datetime", "timestamp", "time") and inner == "(0)"):
        inner = ""
    text = name + (inner or _DEFAULTS.get(name, ""))
    if "zerofill" in signs and "unsigned" not in signs:
        signs.insert(0, "unsigned")
    return " ".join((text, *signs))


def _named_collation(words: Sequence[Word]) -> int:
    charset = "utf8mb3" if words[0].among("NCHAR", "NVARCHAR", "NATIONAL") else "utf8mb4"
    for number, word in enumerate(words[:-1]):
        if word.among("COLLATE") and words[number + 1].text.lower() in COLLATION_IDS:
            return COLLATION_IDS[words[number + 1].text.lower()]
        if word.among("CHARSET") or (word.among("SET") and number and words[number - 1].among("CHARACTER")):
            charset = words[number + 1].text.lower()
        if word.among("ASCII"):
            charset = "latin1"
    return DEFAULT_COLLATIONS.get(charset, DEFAULT_COLLATIONS["utf8mb4"])


def logged_column(info: ColumnInfo, name: str) -> ColumnFacts:
    """A column of which only a TABLE_MAP is known."""
    return ColumnFacts(
        name=name,
        type=_logged_type(info),
        nullable=info.nullable,
        collation=info.collation,
        key="PRI" if info.key_position is not None else "",
        extra="INVISIBLE" if info.visible is False else "",
    )


def _logged_type(info: ColumnInfo) -> str:
    column = info.type
    kind = column.real_type
    known = COLLATIONS.get(info.collation) if info.collation is not None else None
    binary = known is None or known.id == BINARY
    if kind in (types.ENUM, types.SET):
        texts = [
            member.decode(known.codec if known and known.codec else "utf-8", "replace") for member in info.members or ()
        ]
        return f"{'enum' if kind == types.ENUM else 'set'}({','.join(map(quote_string, texts))})"
    if kind in (types.VARCHAR, types.STRING):
        length = column.length // (known.max_bytes if known else 1)
        name = ("varbinary" if binary else "varchar") if kind == types.VARCHAR else ("binary" if binary else "char")
        return f"{name}({length})"
    if kind == types.BLOB:
        return _BY_PREFIX.get(column.length, "") + ("blob" if binary else "text")
    text = type_text(info).lower().removesuffix("(0)")
    name, bracket, rest = text.partition("(")
    plain = {"tinyint": "tinyint", "shortint": "smallint", "mediumint": "mediumint", "int": "int", "longint": "bigint"}
    text = plain.get(name, _SYNONYMS.get(name.upper(), name)) + bracket + rest
    return f"{text} unsigned" if info.unsigned else text
