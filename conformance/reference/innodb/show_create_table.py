"""CREATE TABLE from the dictionary's JSON, in the words of SHOW CREATE TABLE (innodb-sdi B.2).

Two things differ from the server's text. The next AUTO_INCREMENT value is not in the file, and names in a PARTITION BY
clause are always quoted.
"""

from __future__ import annotations

import json
import re
from posixpath import dirname
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import Unsupported
from conformance.reference.innodb.dictionary import WHOLE, ColumnType, Json, bad_entry, collation_of, private_data
from conformance.reference.innodb.dictionary_entry import HIDDEN_BY_ENGINE, table_entry, tablespace_entry
from conformance.reference.portable import base64_bytes, folded, read_json
from conformance.reference.sql.quoting import quote_identifier as quoted
from conformance.reference.tables.charsets import BINARY, COLLATIONS, DEFAULT_COLLATIONS, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_UTF8MB4_0900_AI_CI: Final = 255
_HIDDEN_BY_USER: Final = 4  # INVISIBLE
_VISIBLE: Final = (1, _HIDDEN_BY_USER)
_CHARACTER: Final = frozenset((
    ColumnType.VARCHAR, ColumnType.STRING, ColumnType.ENUM, ColumnType.SET,
    ColumnType.TINY_BLOB, ColumnType.BLOB, ColumnType.MEDIUM_BLOB, ColumnType.LONG_BLOB,
))  # fmt: skip
_BLOBS: Final = frozenset((ColumnType.TINY_BLOB, ColumnType.BLOB, ColumnType.MEDIUM_BLOB, ColumnType.LONG_BLOB))
_TIMESTAMPS: Final = (ColumnType.TIMESTAMP, ColumnType.TIMESTAMP2)
_NOW: Final = re.compile(r"CURRENT_TIMESTAMP(\([0-9]\))?")
_INDEX_TYPES: Final = {1: "PRIMARY KEY", 2: "UNIQUE KEY", 3: "KEY", 4: "FULLTEXT KEY", 5: "SPATIAL KEY"}
_WHOLE_KEYS: Final = (4, 5)  # FULLTEXT and SPATIAL have no prefixes
_ALGORITHMS: Final = {2: " USING BTREE", 4: " USING HASH"}
_ROW_FORMATS: Final = {"1": "FIXED", "2": "DYNAMIC", "3": "COMPRESSED", "4": "REDUNDANT", "5": "COMPACT"}
_RULES: Final = {2: "RESTRICT", 3: "CASCADE", 4: "SET NULL", 5: "SET DEFAULT"}
_DESCENDING: Final = 3
_DEFINED, _COUNTED = (0, 1), 3  # default_partitioning: each partition is defined, or only their number
_RANGE, _RANGE_COLUMNS = 7, 9
_LIST, _LIST_COLUMNS = 8, 10
PARTITION_TYPES: Final = {
    1: "HASH", 2: "KEY", 3: "KEY", 4: "LINEAR HASH", 5: "LINEAR KEY", 6: "LINEAR KEY", 7: "RANGE", 8: "LIST",
    9: "RANGE  COLUMNS", 10: "LIST  COLUMNS",
}  # fmt: skip
_KEY_TYPES: Final = (2, 3, 5, 6)
_OLD_KEYS: Final = (2, 5)  # ALGORITHM = 1
_ESCAPES: Final = {b"0": b"\0", b"n": b"\n", b"r": b"\r", b"Z": b"\x1a"}
_ESCAPED: Final = re.compile(rb"\\(.)", re.DOTALL)
_LITERAL: Final = re.compile(rb"(?<![\w$`])_(\w+)'((?:[^'\\]|\\.|'')*)'", re.DOTALL)
_WIDE: Final = ("ucs2", "utf16", "utf16le", "utf32")  # character sets in which ASCII bytes are no ASCII text


def create_table(table: Json, tablespace: Json | None = None) -> str:
    """The statement for a table; ``tablespace`` is the object of type 2 that stands beside it.

    Raises for a table without a definition: one that the storage engine hides, such as those of FULLTEXT indexes.
    """
    table = table_entry(table)
    tablespace = {} if tablespace is None else tablespace_entry(tablespace)
    if table["hidden"] == HIDDEN_BY_ENGINE:
        raise Unsupported("hidden-table", "the table is hidden, and no statement makes it",
                          path=(f"{table['schema_ref']}.{table['name']}",))  # fmt: skip
    try:
        return _create_table(table, tablespace)
    except (KeyError, IndexError, ValueError, TypeError, AttributeError) as error:
        raise bad_entry(table, error) from None


def _create_table(table: Json, tablespace: Json) -> str:
    parts = [_column(column, table) for column in table["columns"] if column["hidden"] in _VISIBLE]
    parts += [_index(index, table) for index in table["indexes"] if not index["hidden"]]
    parts += [_foreign_key(key, table) for key in table["foreign_keys"]]
    parts += [_check(check) for check in sorted(table["check_constraints"], key=lambda check: folded(check["name"]))]
    body = ",\n".join(f"  {part}" for part in parts)
    return f"CREATE TABLE {quoted(table['name'])} (\n{body}\n){_options(table, tablespace)}{_partitions(table)}"


def _string(text: str) -> str:
    """A string in the form that SHOW CREATE TABLE gives it."""
    for char, escape in (("\\", "\\\\"), ("\0", "\\0"), ("\n", "\\n"), ("\r", "\\r"), ("'", "''")):
        text = text.replace(char, escape)
    return f"'{text}'"


def _escaped(text: str) -> str:
    """A string in the form that PARTITION BY clauses give it."""
    return _string(text).replace("''", "\\'").replace("\x1a", "\\Z") if text else "''"


def _expression(text: str) -> str:
    """An expression whose literals are in character sets of their own: those that are not ASCII become utf8mb4.

    The server shows the same for expressions in utf8mb4. In other character sets its text is lossy (innodb-sdi B.2).
    """
    return _LITERAL.sub(_literal, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def _literal(match: re.Match[bytes]) -> bytes:
    collation = COLLATIONS.get(DEFAULT_COLLATIONS.get(match[1].decode(), 0))
    if collation is None or (match[2].isascii() and collation.charset not in _WIDE):
        return match[0]
    data = _ESCAPED.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), match[2])
    text = text_of(data, collation.id)
    return match[0] if text is None else b"_utf8mb4" + _string(text).replace("''", "\\'").encode()


def _column(column: Json, table: Json) -> str:
    return " ".join((quoted(column["name"]), column["column_type_utf8"], *_attributes(column, table["collation_id"])))


def _attributes(column: Json, table_collation: int) -> Iterator[str]:
    options, kind, number = private_data(column["options"]), column["type"], column["collation_id"]
    if kind in _CHARACTER and (number != BINARY or kind in {ColumnType.ENUM, ColumnType.SET}):
        collation = collation_of(column)
        explicit = column["is_explicit_collation"]
        if explicit or number != table_collation:
            yield f"CHARACTER SET {collation.charset}"
        primary = DEFAULT_COLLATIONS[collation.charset] == number
        if explicit or not primary or (number == _UTF8MB4_0900_AI_CI != table_collation):
            yield f"COLLATE {collation.name}"
    generated = column["generation_expression"]
    if generated:
        yield f"GENERATED ALWAYS AS ({_expression(generated)}) {'VIRTUAL' if column['is_virtual'] else 'STORED'}"
    if not column["is_nullable"]:
        yield "NOT NULL"
    elif kind in _TIMESTAMPS:
        yield "NULL"
    if not column["srs_id_null"]:
        yield f"/*!80003 SRID {column['srs_id']} */"
    if options.get("storage", "0") != "0":
        yield f"/*!50606 STORAGE {('DISK', 'MEMORY')[int(options['storage']) - 1]} */"
    if options.get("column_format", "0") != "0":
        yield f"/*!50606 COLUMN_FORMAT {('FIXED', 'DYNAMIC')[int(options['column_format']) - 1]} */"
    if not generated:
        yield from _default(column)
    if column["update_option"]:
        yield f"ON UPDATE {column['update_option']}"
    if column["is_auto_increment"]:
        yield "AUTO_INCREMENT"
    if column["hidden"] == _HIDDEN_BY_USER:
        yield "/*!80023 INVISIBLE */"
    for name, version in (("engine_attribute", 80021), ("secondary_engine_attribute", 80021)):
        if column[name]:
            value = json.dumps(read_json(column[name]), ensure_ascii=False)
            yield f"/*!{version} {name.upper()} {_string(value)} */"
    if column["comment"]:
        yield f"COMMENT {_string(column['comment'])}"


def _default(column: Json) -> Iterator[str]:
    option, kind = column["default_option"], column["type"]
    if option:
        yield f"DEFAULT {option}" if _NOW.fullmatch(option) else f"DEFAULT ({_expression(option)})"
    elif column["has_no_default"] or column["is_auto_increment"]:
        return
    elif column["default_value_utf8_null"]:
        if column["default_value_null"] and kind not in _BLOBS:
            yield "DEFAULT NULL"
    elif kind == ColumnType.BIT:
        yield f"DEFAULT {column['default_value_utf8']}"
    elif kind in _CHARACTER and column["collation_id"] == BINARY:
        yield f"DEFAULT {_binary(column)}"
    else:
        yield f"DEFAULT {_string(column['default_value_utf8'])}"


def _binary(column: Json) -> str:
    """A binary default: the text if it is UTF-8, else in hexadecimal."""
    data = _decoded(column["default_value"])
    if column["type"] in {ColumnType.ENUM, ColumnType.SET}:  # in the column's own form: a position, or a bit for each
        number = int.from_bytes(data, "little")
        names = [_decoded(element["name"]).decode("utf-8", "surrogateescape") for element in column["elements"]]
        if column["type"] == ColumnType.ENUM:
            return _string(names[number - 1] if number else "")
        return _string(",".join(name for place, name in enumerate(names) if number >> place & 1))
    if column["type"] == ColumnType.VARCHAR:
        prefix = 1 if column["char_length"] < 256 else 2
        data = data[prefix : prefix + int.from_bytes(data[:prefix], "little")]
    try:
        return _string(data.decode())
    except UnicodeDecodeError:
        return f"0x{data.hex().upper()}"


def _decoded(text: str) -> bytes:
    data = base64_bytes(text)
    if data is None:
        raise ValueError("not base64")
    return data


def _index(index: Json, table: Json) -> str:
    options, kind = private_data(index["options"]), index["type"]
    name = "" if kind == 1 else f" {quoted(index['name'])}"
    elements = [element for element in index["elements"] if not element["hidden"] and element["length"] != WHOLE]
    if kind in _WHOLE_KEYS:
        elements = [element for element in index["elements"] if not element["hidden"]]
    keys = ",".join(_key_part(element, table["columns"][element["column_opx"]], kind) for element in elements)
    text = f"{_INDEX_TYPES[kind]}{name} ({keys})"
    if index["is_algorithm_explicit"]:
        text += _ALGORITHMS.get(index["algorithm"], "")
    size = options.get("block_size", "0")
    if size not in {"0", private_data(table["options"]).get("key_block_size")}:
        text += f" KEY_BLOCK_SIZE={size}"
    if index["comment"]:
        text += f" COMMENT {_string(index['comment'])}"
    if not index["is_visible"]:
        text += " /*!80000 INVISIBLE */"
    if "parser_name" in options:
        text += f" /*!50100 WITH PARSER {quoted(options['parser_name'])} */ "
    return text


def _key_part(element: Json, column: Json, kind: int) -> str:
    if column["hidden"] not in _VISIBLE:  # of a functional index
        text = f"({_expression(column['generation_expression'])})"
    else:
        text = quoted(column["name"])
        length, whole = element["length"], column["char_length"]
        character = column["type"] in _CHARACTER and column["type"] not in {ColumnType.ENUM, ColumnType.SET}
        if kind not in _WHOLE_KEYS and character and (length != whole or column["type"] in _BLOBS):
            text += f"({length // collation_of(column).max_bytes})"
    return text + (" DESC" if element["order"] == _DESCENDING else "")


def _foreign_key(key: Json, table: Json) -> str:
    columns = ", ".join(quoted(table["columns"][element["column_opx"]]["name"]) for element in key["elements"])
    theirs = ", ".join(quoted(element["referenced_column_name"]) for element in key["elements"])
    parent = quoted(key["referenced_table_name"])
    if key["referenced_table_schema_name"] != table["schema_ref"]:
        parent = f"{quoted(key['referenced_table_schema_name'])}.{parent}"
    text = f"CONSTRAINT {quoted(key['name'])} FOREIGN KEY ({columns}) REFERENCES {parent} ({theirs})"
    for event in ("delete", "update"):
        rule = _RULES.get(key[f"{event}_rule"])
        text += f" ON {event.upper()} {rule}" if rule else ""
    return text


def _check(check: Json) -> str:
    clause = _decoded(check["check_clause"]).decode("utf-8", "surrogateescape")
    text = f"CONSTRAINT {quoted(check['name'])} CHECK ({_expression(clause)})"
    return text if check["state"] == 2 else f"{text} /*!80016 NOT ENFORCED */"


def _options(table: Json, tablespace: Json) -> str:
    options = private_data(table["options"])
    text = ""
    if options.get("explicit_tablespace") == "1":
        text += f" /*!50100 TABLESPACE {quoted(table.get('tablespace_ref', 'innodb_file_per_table'))} */"
    size = private_data(tablespace.get("options", "")).get("autoextend_size", "0")
    if size != "0" and "tablespace_ref" not in table:  # of a file of the table's own
        text += f" /*!80023 AUTOEXTEND_SIZE={size} */"
    text += f" ENGINE={table['engine']}"
    collation = collation_of(table)
    text += f" DEFAULT CHARSET={collation.charset}"
    if DEFAULT_COLLATIONS[collation.charset] != collation.id or collation.id == _UTF8MB4_0900_AI_CI:
        text += f" COLLATE={collation.name}"

    for name, value in table_options(table):
        if name == "ENCRYPTION":
            text += " /*!80016 ENCRYPTION='Y' */"
        else:
            text += f" {name}={_string(value) if name == 'COMPRESSION' else value}"
    text += f" COMMENT={_string(table['comment'])}" if table["comment"] else ""
    return text + _directory(table, tablespace)


def table_options(table: Json) -> Iterator[tuple[str, str]]:
    """Name and value of each option that the table was given, in the order of SHOW CREATE TABLE."""
    options = private_data(table["options"])
    given = {name: value for name, value in options.items() if value not in {"0", ""}}
    for name in ("min_rows", "max_rows", "avg_row_length"):
        if name in given:
            yield name.upper(), given[name]
    for name in ("pack_keys", "stats_persistent"):
        if name in options:
            yield name.upper(), str(int(options[name] != "0"))
    if "stats_auto_recalc" in given:
        yield "STATS_AUTO_RECALC", str(int(given["stats_auto_recalc"] == "1"))
    if "stats_sample_pages" in given:
        yield "STATS_SAMPLE_PAGES", given["stats_sample_pages"]
    for name in ("checksum", "delay_key_write"):
        if name in given:
            yield name.upper(), "1"
    if "row_type" in given:
        yield "ROW_FORMAT", _ROW_FORMATS[given["row_type"]]
    if "key_block_size" in given:
        yield "KEY_BLOCK_SIZE", given["key_block_size"]
    if "compress" in given:
        yield "COMPRESSION", given["compress"]
    if given.get("encrypt_type", "N") != "N":
        yield "ENCRYPTION", "Y"


def _directory(table: Json, tablespace: Json) -> str:
    """DATA DIRECTORY: the file of the table is in the schema's folder there, and not in the data directory."""
    files = tablespace.get("files") or [{"filename": ""}]
    path = files[0]["filename"]
    if not path.startswith("/") or table["partitions"] or table.get("tablespace_ref"):
        return ""
    return f" DATA DIRECTORY={_string(dirname(dirname(path)) + '/')}"


def _partitions(table: Json) -> str:
    kind, sub = table["partition_type"], table["subpartition_type"]
    if not kind:
        return ""
    version = "50500" if kind in {_RANGE_COLUMNS, _LIST_COLUMNS} else "50100"
    text = f"\n/*!{version} PARTITION BY {_method(kind, table['partition_expression_utf8'], version)}"
    partitions = table["partitions"]
    if table["default_partitioning"] not in _DEFINED:
        number = f"\nPARTITIONS {len(partitions)}" if table["default_partitioning"] == _COUNTED else ""
        return f"{text}{number} */"
    if sub:
        text += f"\nSUBPARTITION BY {_method(sub, table['subpartition_expression_utf8'], version)}"
        if table["default_subpartitioning"] == _COUNTED:
            text += f"\nSUBPARTITIONS {len(partitions[0]['subpartitions'])}"
    listed = ",\n ".join(_partition(partition, table) for partition in partitions)
    return f"{text}\n({listed}) */"


def _method(kind: int, expression: str, version: str) -> str:
    name = PARTITION_TYPES[kind]
    if kind in _OLD_KEYS:
        name += f" */ /*!50611 ALGORITHM = 1 */ /*!{version}"
    if kind in {_RANGE_COLUMNS, _LIST_COLUMNS}:
        return f"{name}({expression})"
    return f"{name} ({expression})"


def _partition(partition: Json, table: Json) -> str:
    kind = table["partition_type"]
    text = f"PARTITION {quoted(partition['name'])}"
    bounds = partition["description_utf8"]
    if kind in {_RANGE, _LIST} and any(
        column["is_unsigned"] and quoted(column["name"]) in table["partition_expression_utf8"]
        for column in table["columns"]
    ):
        bounds = re.sub("-[0-9]+", lambda match: str(int(match[0]) + (1 << 64)), bounds)
    if kind in {_RANGE, _RANGE_COLUMNS}:
        text += f" VALUES LESS THAN {bounds if kind == _RANGE and bounds == 'MAXVALUE' else f'({bounds})'}"
    elif kind in {_LIST, _LIST_COLUMNS}:
        text += f" VALUES IN ({bounds})"
    if table["subpartition_type"] and table["default_subpartitioning"] in _DEFINED:
        parts = (
            f"SUBPARTITION {quoted(part['name'])}{_partition_options(part)}" for part in partition["subpartitions"]
        )
        listed = ",\n  ".join(parts)
        return f"{text}\n ({listed})"
    return text + _partition_options(partition)


def _partition_options(partition: Json) -> str:
    options = private_data(partition["options"])
    text = ""
    if options.get("explicit_tablespace") == "1" and "tablespace_ref" in partition:
        text += f" TABLESPACE = {quoted(partition['tablespace_ref'])}"
    for name in ("max_rows", "min_rows"):
        text += f" {name.upper()} = {options[name]}" if options.get(name, "0") != "0" else ""
    if options.get("data_file_name"):
        text += f" DATA DIRECTORY = {_string(options['data_file_name'].rstrip('/') + '/')}"
    if partition["comment"]:
        text += f" COMMENT = {_escaped(partition['comment'])}"
    return f"{text} ENGINE = {partition['engine']}"
