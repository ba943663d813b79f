"""Tables and tablespaces as facts, from data files and from INFORMATION_SCHEMA: equal, or the names of what drifted.

A fact is a name such as ``column a: type`` and a text. Both sides give the facts under the same names.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import DecodeError
from conformance.reference.innodb.dictionary import (
    WHOLE,
    ColumnType,
    Json,
    RowFormat,
    bad_entry,
    collation_of,
    private_data,
)
from conformance.reference.innodb.dictionary_entry import table_entry, tablespace_entry
from conformance.reference.innodb.show_create_table import PARTITION_TYPES, table_options
from conformance.reference.portable import what_lacks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.reference.innodb.pages import Tablespace

Facts = dict[str, str]
Row = tuple[str | None, ...]

_VISIBLE: Final = (1, 4)
_INVISIBLE: Final = 4
_INDEX_TYPES: Final = {4: "FULLTEXT", 5: "SPATIAL"}
_RULES: Final = {1: "NO ACTION", 2: "RESTRICT", 3: "CASCADE", 4: "SET NULL", 5: "SET DEFAULT"}
_TEXTS: Final = frozenset((
    ColumnType.VARCHAR, ColumnType.STRING, ColumnType.ENUM, ColumnType.SET,
    ColumnType.TINY_BLOB, ColumnType.BLOB, ColumnType.MEDIUM_BLOB, ColumnType.LONG_BLOB,
))  # fmt: skip
_BLOBS: Final = frozenset((ColumnType.TINY_BLOB, ColumnType.BLOB, ColumnType.MEDIUM_BLOB, ColumnType.LONG_BLOB))

_QUERIES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "table": (
        """
        SELECT '', ENGINE, UPPER(ROW_FORMAT), TABLE_COLLATION, TABLE_COMMENT
        FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table}
        """,
        ("engine", "row format", "collation", "comment"),
    ),
    "partitioning": (
        """
        SELECT DISTINCT '', PARTITION_METHOD, PARTITION_EXPRESSION, SUBPARTITION_METHOD, SUBPARTITION_EXPRESSION
        FROM INFORMATION_SCHEMA.PARTITIONS
        WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table} AND PARTITION_NAME IS NOT NULL
        """,
        ("method", "expression", "subpartition method", "subpartition expression"),
    ),
    "column": (
        """
        SELECT COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, COLLATION_NAME,
            GENERATION_EXPRESSION, EXTRA, SRS_ID, COLUMN_COMMENT
        FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table}
        """,
        ("position", "type", "nullable", "default", "collation", "expression", "extra", "srs", "comment"),
    ),
    "index": (
        """
        SELECT INDEX_NAME, MAX(IF(NON_UNIQUE, '', 'UNIQUE')),
            MAX(IF(INDEX_TYPE IN ('FULLTEXT', 'SPATIAL'), INDEX_TYPE, '')), MAX(IS_VISIBLE),
            GROUP_CONCAT(CONCAT(IFNULL(COLUMN_NAME, '(expression)'),
                IF(SUB_PART IS NULL OR INDEX_TYPE = 'SPATIAL', '', CONCAT('(', SUB_PART, ')')),
                IF(COLLATION = 'D', ' DESC', '')) ORDER BY SEQ_IN_INDEX),
            GROUP_CONCAT(EXPRESSION ORDER BY SEQ_IN_INDEX), MAX(INDEX_COMMENT)
        FROM INFORMATION_SCHEMA.STATISTICS WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table} GROUP BY INDEX_NAME
        """,
        ("uniqueness", "kind", "visible", "columns", "expressions", "comment"),
    ),
    "foreign key": (
        """
        SELECT r.CONSTRAINT_NAME, CONCAT(r.UNIQUE_CONSTRAINT_SCHEMA, '.', r.REFERENCED_TABLE_NAME), r.UPDATE_RULE,
            r.DELETE_RULE, r.UNIQUE_CONSTRAINT_NAME, GROUP_CONCAT(CONCAT(k.COLUMN_NAME, '=', k.REFERENCED_COLUMN_NAME)
                ORDER BY k.ORDINAL_POSITION)
        FROM INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS r JOIN INFORMATION_SCHEMA.KEY_COLUMN_USAGE k
            ON k.CONSTRAINT_SCHEMA = r.CONSTRAINT_SCHEMA AND k.CONSTRAINT_NAME = r.CONSTRAINT_NAME
            AND k.TABLE_NAME = r.TABLE_NAME
        WHERE r.CONSTRAINT_SCHEMA = {schema} AND r.TABLE_NAME = {table} GROUP BY 1, 2, r.UPDATE_RULE, r.DELETE_RULE,
            r.UNIQUE_CONSTRAINT_NAME
        """,
        ("parent", "on update", "on delete", "parent's key", "columns"),
    ),
    "check": (
        """
        SELECT c.CONSTRAINT_NAME, c.CHECK_CLAUSE, t.ENFORCED
        FROM INFORMATION_SCHEMA.CHECK_CONSTRAINTS c JOIN INFORMATION_SCHEMA.TABLE_CONSTRAINTS t
            ON t.CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA AND t.CONSTRAINT_NAME = c.CONSTRAINT_NAME
            AND t.CONSTRAINT_TYPE = 'CHECK'
        WHERE t.TABLE_SCHEMA = {schema} AND t.TABLE_NAME = {table}
        """,
        ("clause", "enforced"),
    ),
    "partition": (
        """
        SELECT CONCAT(PARTITION_NAME, IFNULL(CONCAT('.', SUBPARTITION_NAME), '')), PARTITION_DESCRIPTION,
            PARTITION_COMMENT, TABLESPACE_NAME
        FROM INFORMATION_SCHEMA.PARTITIONS
        WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table} AND PARTITION_NAME IS NOT NULL
        """,
        ("values", "comment", "tablespace"),
    ),
}
_OPTIONS: Final = (
    "SELECT CREATE_OPTIONS FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table}"
)
_OPTION: Final = re.compile(r"""(\w+)=(?:"([^"]*)"|'([^']*)'|(\S+))""")
_PARTITIONED: Final = "partitioned"  # stands among the options without a value; the partitions are facts of their own
_ROWS: Final = "rows"
_TABLESPACE: Final = """
    SELECT t.NAME, t.SPACE, t.FLAG, t.ROW_FORMAT, t.PAGE_SIZE, t.ZIP_PAGE_SIZE, t.SPACE_TYPE, t.ENCRYPTION,
        TRIM(LEADING './' FROM f.FILE_NAME),
        t.SPACE, t.FLAG, t.AUTOEXTEND_SIZE
    FROM INFORMATION_SCHEMA.INNODB_TABLESPACES t LEFT JOIN INFORMATION_SCHEMA.FILES f ON f.FILE_ID = t.SPACE
    WHERE t.NAME = {name}
    """
_TABLESPACE_FACTS: Final = (
    "id", "flags", "row format", "page size", "compressed page size", "kind", "encryption", "path",
    "id in its record", "flags in its record", "autoextend size",
)  # fmt: skip


def facts_of_server(query: Callable[[str], Sequence[Row]], schema: str, table: str) -> Facts:
    """The facts that INFORMATION_SCHEMA gives; none at all if there is no such table. A row too many is one more."""
    facts: Facts = {}
    for what, (sql, names) in _QUERIES.items():
        rows = query(sql.format(schema=_hex(schema), table=_hex(table)))
        for name, *values in rows:
            facts |= _named(what, name or "", dict(zip(names, values, strict=True)))
        for name, count in Counter(name or "" for name, *_ in rows).items():
            facts |= _named(what, name, {_ROWS: str(count) if count > 1 else None})
    options = query(_OPTIONS.format(schema=_hex(schema), table=_hex(table)))
    for (text,) in options:
        facts |= {f"option {name.upper()}": "".join(values) for name, *values in _OPTION.findall(text or "")}
        if other := "NULL" if text is None else " ".join(_OPTION.sub("", text).replace(_PARTITIONED, "").split()):
            facts["options: other words"] = other
    if facts and len(options) != 1:
        facts[f"options: {_ROWS}"] = str(len(options))
    return facts


def tablespace_facts_of_server(query: Callable[[str], Sequence[Row]], name: str) -> Facts:
    """The facts about a tablespace that INFORMATION_SCHEMA gives; none at all if there is no such tablespace."""
    rows = query(_TABLESPACE.format(name=_hex(name)))
    facts = {fact: value for found in rows for fact, value in zip(_TABLESPACE_FACTS, found[1:], strict=True) if value}
    return facts | ({_ROWS: str(len(rows))} if len(rows) > 1 else {})


def tablespace_facts_of_file(space: Tablespace, record: Json) -> Facts:
    """The facts that page 0 and the record of the tablespace give."""
    flags = space.flags
    if flags.compressed:
        row_format = "Compressed"
    elif flags.shared:
        row_format = "Any"
    else:
        row_format = "Dynamic" if flags.atomic_blobs else "Compact or Redundant"
    record = tablespace_entry(record)
    try:
        private, options = private_data(record["se_private_data"]), private_data(record["options"])
        values = (
            str(space.space_id), str(flags.value), row_format, str(flags.logical),
            str(flags.physical if flags.compressed else 0), "General" if flags.shared else "Single",
            "Y" if flags.encrypted else "N", record["files"][0]["filename"].removeprefix("./"),
            private["id"], private["flags"], options.get("autoextend_size", "0"),
        )  # fmt: skip
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        message = f"the dictionary entry of the tablespace is not complete{what_lacks(error)}"
        raise DecodeError("bad-dictionary", message, path=(str(record.get("name")),)) from None
    return dict(zip(_TABLESPACE_FACTS, values, strict=True))


def _hex(text: str) -> str:
    """A name as a literal, whatever the session's character set and SQL mode."""
    return f"_utf8mb4 0x{text.encode().hex()}"


def _named(what: str, name: str, values: Mapping[str, str | None]) -> Facts:
    place = f"{what} {name}".rstrip()
    return {f"{place}: {key}": value for key, value in values.items() if value}


def facts_of_file(table: Json) -> Facts:
    """The facts that the dictionary information gives."""
    table = table_entry(table)
    try:
        return _facts_of_file(table)
    except (KeyError, IndexError, ValueError, TypeError, AttributeError) as error:
        raise bad_entry(table, error) from None


def _facts_of_file(table: Json) -> Facts:
    facts = _named("table", "", {
        "engine": table["engine"],
        "row format": RowFormat(table["row_format"]).name,
        "collation": collation_of(table).name,
        "comment": table["comment"],
    })  # fmt: skip
    facts |= {f"option {name}": value for name, value in table_options(table)}
    if table["partition_type"]:
        facts |= _named("partitioning", "", {
            "method": PARTITION_TYPES[table["partition_type"]].replace("  ", " "),
            "expression": table["partition_expression_utf8"],
            "subpartition method": PARTITION_TYPES.get(table["subpartition_type"]),
            "subpartition expression": table["subpartition_expression_utf8"],
        })  # fmt: skip
    position = 0
    for column in table["columns"]:
        if column["hidden"] in _VISIBLE:
            position += 1
            facts |= _named("column", column["name"], _column(column, position))
    for index in table["indexes"]:
        if not index["hidden"]:
            facts |= _named("index", index["name"], _index(index, table))
    for key in table["foreign_keys"]:
        facts |= _named("foreign key", key["name"], {
            "parent": f"{key['referenced_table_schema_name']}.{key['referenced_table_name']}",
            "on update": _RULES[key["update_rule"]],
            "on delete": _RULES[key["delete_rule"]],
            "parent's key": key["unique_constraint_name"],
            "columns": ",".join(
                f"{table['columns'][element['column_opx']]['name']}={element['referenced_column_name']}"
                for element in key["elements"]
            ),
        })  # fmt: skip
    for check in table["check_constraints"]:
        facts |= _named("check", check["name"], {
            "clause": check["check_clause_utf8"],
            "enforced": "YES" if check["state"] == 2 else "NO",
        })  # fmt: skip
    for partition in table["partitions"]:
        for part in partition.get("subpartitions") or [None]:
            name = partition["name"] if part is None else f"{partition['name']}.{part['name']}"
            facts |= _named("partition", name, {
                "values": partition["description_utf8"],
                "comment": (part or partition)["comment"],
                "tablespace": (part or partition).get("tablespace_ref"),
            })  # fmt: skip
    return facts


def _column(column: Json, position: int) -> Mapping[str, str | None]:
    generated = column["generation_expression_utf8"]
    extra = [
        "auto_increment" if column["is_auto_increment"] else "",
        "DEFAULT_GENERATED" if column["default_option"] else "",
        f"on update {column['update_option']}" if column["update_option"] else "",
        ("VIRTUAL GENERATED" if column["is_virtual"] else "STORED GENERATED") if generated else "",
        "INVISIBLE" if column["hidden"] == _INVISIBLE else "",
    ]
    text = column["type"] in _TEXTS and collation_of(column).name != "binary"
    return {
        "position": str(position),
        "type": column["column_type_utf8"],
        "nullable": "YES" if column["is_nullable"] else "NO",
        "default": None if column["default_value_utf8_null"] else column["default_value_utf8"],
        "collation": collation_of(column).name if text else None,
        "expression": generated,
        "extra": " ".join(item for item in extra if item),
        "srs": None if column["srs_id_null"] else str(column["srs_id"]),
        "comment": column["comment"],
    }


def _index(index: Json, table: Json) -> Mapping[str, str | None]:
    keys, expressions = [], []
    for element in index["elements"]:
        column = table["columns"][element["column_opx"]]
        if element["hidden"] or (element["length"] == WHOLE and index["type"] not in _INDEX_TYPES):
            continue
        name = column["name"] if column["hidden"] in _VISIBLE else "(expression)"
        if name == "(expression)":
            expressions.append(column["generation_expression_utf8"])
        if (
            name != "(expression)" and index["type"] not in _INDEX_TYPES and column["type"] in _TEXTS
            and column["type"] not in {ColumnType.ENUM, ColumnType.SET}
            and (element["length"] != column["char_length"] or column["type"] in _BLOBS)
        ):  # fmt: skip
            name += f"({element['length'] // collation_of(column).max_bytes})"
        keys.append(name + (" DESC" if element["order"] == 3 else ""))
    return {
        "uniqueness": "UNIQUE" if index["type"] in {1, 2} else "",
        "kind": _INDEX_TYPES.get(index["type"], ""),
        "visible": "YES" if index["is_visible"] else "NO",
        "columns": ",".join(keys),
        "expressions": ",".join(expressions),
        "comment": index["comment"],
    }


def drift(file: Facts, server: Facts) -> list[tuple[str, str | None, str | None]]:
    """(fact, in the file, on the server) for each fact that differs, in the order of the file."""
    return [
        (name, file.get(name), server.get(name))
        for name in (*file, *(name for name in server if name not in file))
        if file.get(name) != server.get(name)
    ]
