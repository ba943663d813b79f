"""The shape of a dictionary entry: keys, types, and the defaults of keys that an older server does not write
(innodb-sdi B.2).

Servers add keys to the entry, so a file of 8.0.11 lacks some that 9.7.4 writes: checks came with 8.0.16, attributes for
engines with 8.0.21. Such a key has the value that an object of the server begins with. All other keys are in every
file, and an entry that lacks one is damaged.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from conformance.reference.errors import DecodeError
from conformance.reference.portable import shown

Json = dict[str, Any]

VISIBLE: Final = 1  # what a table may be hidden by; a column may be too, with numbers of its own
HIDDEN_BY_SYSTEM, HIDDEN_BY_ENGINE, HIDDEN_BY_DDL = 2, 3, 4
_REQUIRED: Final = object()
_HIGHEST: Final = 1 << 64


class _Key(NamedTuple):
    """A key of an object: its type, its default, and the highest number that has a meaning."""

    type: type
    default: Any = _REQUIRED
    lowest: int = 0
    highest: int = _HIGHEST - 1


class _List(NamedTuple):
    """A key with a list of objects. ``later``: not every server writes it."""

    items: dict[str, Any]
    later: bool = False


_TEXT, _NUMBER, _FLAG = _Key(str), _Key(int), _Key(bool)
_NEW_TEXT, _NEW_FLAG = _Key(str, ""), _Key(bool, default=False)  # of keys that came later
_HIDDEN: Final = _Key(int, lowest=1, highest=4)
_SHORT: Final = _Key(int, highest=0xFFFF)

_INDEX_ELEMENT: Final[dict[str, Any]] = {
    "length": _NUMBER, "order": _Key(int, lowest=1, highest=3), "hidden": _FLAG, "column_opx": _SHORT,
}  # fmt: skip
_COLUMN: Final[dict[str, Any]] = {
    "name": _TEXT, "type": _Key(int, lowest=1, highest=32), "is_nullable": _FLAG, "is_unsigned": _FLAG,
    "is_auto_increment": _FLAG, "is_virtual": _FLAG, "hidden": _HIDDEN, "char_length": _NUMBER,
    "numeric_precision": _SHORT, "numeric_scale": _SHORT, "datetime_precision": _Key(int, highest=6),
    "has_no_default": _FLAG, "default_value_null": _FLAG, "srs_id_null": _FLAG, "srs_id": _NUMBER,
    "default_value": _TEXT, "default_value_utf8_null": _FLAG, "default_value_utf8": _TEXT, "default_option": _TEXT,
    "update_option": _TEXT, "comment": _TEXT, "generation_expression": _TEXT, "generation_expression_utf8": _TEXT,
    "options": _TEXT, "se_private_data": _TEXT, "engine_attribute": _NEW_TEXT,
    "secondary_engine_attribute": _NEW_TEXT, "column_type_utf8": _TEXT, "elements": _List({"name": _TEXT}),
    "collation_id": _SHORT, "is_explicit_collation": _NEW_FLAG,
}  # fmt: skip
_INDEX: Final[dict[str, Any]] = {
    "name": _TEXT, "hidden": _FLAG, "comment": _TEXT, "options": _TEXT, "se_private_data": _TEXT,
    "type": _Key(int, lowest=1, highest=5), "algorithm": _Key(int, lowest=1, highest=5),
    "is_algorithm_explicit": _FLAG, "is_visible": _FLAG, "elements": _List(_INDEX_ELEMENT),
}  # fmt: skip
_PART: Final[dict[str, Any]] = {
    "name": _TEXT, "description_utf8": _TEXT, "engine": _TEXT, "comment": _TEXT, "options": _TEXT,
    "se_private_data": _TEXT, "indexes": _List({"se_private_data": _TEXT}),
}  # fmt: skip
_FOREIGN_KEY: Final[dict[str, Any]] = {
    "name": _TEXT, "update_rule": _Key(int, lowest=1, highest=5), "delete_rule": _Key(int, lowest=1, highest=5),
    "unique_constraint_name": _TEXT, "referenced_table_schema_name": _TEXT, "referenced_table_name": _TEXT,
    "elements": _List({"column_opx": _SHORT, "referenced_column_name": _TEXT}),
}  # fmt: skip
_CHECK: Final[dict[str, Any]] = {
    "name": _TEXT, "state": _Key(int, lowest=1, highest=2), "check_clause": _TEXT, "check_clause_utf8": _TEXT,
}  # fmt: skip
_TABLE: Final[dict[str, Any]] = {
    "name": _TEXT, "hidden": _HIDDEN, "options": _TEXT, "columns": _List(_COLUMN), "schema_ref": _TEXT,
    "engine": _TEXT, "comment": _TEXT, "se_private_data": _TEXT, "row_format": _Key(int, lowest=1, highest=6),
    "partition_type": _Key(int, highest=10), "partition_expression_utf8": _TEXT,
    "default_partitioning": _Key(int, highest=3), "subpartition_type": _Key(int, highest=6),
    "subpartition_expression_utf8": _TEXT, "default_subpartitioning": _Key(int, highest=3),
    "indexes": _List(_INDEX), "foreign_keys": _List(_FOREIGN_KEY), "check_constraints": _List(_CHECK, later=True),
    "partitions": _List({**_PART, "subpartitions": _List(_PART, later=True)}), "collation_id": _SHORT,
}  # fmt: skip
_TABLESPACE: Final[dict[str, Any]] = {
    "name": _TEXT, "options": _TEXT, "se_private_data": _TEXT,
    "files": _List({"filename": _TEXT}),
}  # fmt: skip
_WORDS: Final = {str: "a string", bool: "true or false", int: "a whole number", list: "a list", dict: "an object"}


def table_entry(stored: Json) -> Json:
    """The entry of a table, with the defaults of the keys that it lacks. Raises for one of another shape.

    Keys that are not known stay. All numbers of columns lead to columns.
    """
    table = _object(stored, _TABLE, (f"table {_name(stored)}",))
    _check_references(table)
    return table


def tablespace_entry(stored: Json) -> Json:
    """The entry of a tablespace, as :func:`table_entry` gives that of a table."""
    return _object(stored, _TABLESPACE, (f"tablespace {_name(stored)}",))


def _name(stored: Json) -> str:
    name = stored.get("name")
    return name if isinstance(name, str) else "?"


def _object(stored: Any, shape: dict[str, Any], path: tuple[str, ...]) -> Json:
    if not isinstance(stored, dict):
        raise _wrong(path, _WORDS[dict], stored)
    found: Json = dict(stored)
    for key, wanted in shape.items():
        where = (*path, key)
        if isinstance(wanted, _List):
            found[key] = _list(stored.get(key, [] if wanted.later else _REQUIRED), wanted, where)
        else:
            found[key] = _value(stored.get(key, wanted.default), wanted, where)
    return found


def _list(stored: Any, wanted: _List, path: tuple[str, ...]) -> list[Json]:
    if not isinstance(stored, list):
        raise _wrong(path, _WORDS[list], stored)
    return [_object(item, wanted.items, (*path[:-1], f"{path[-1]}[{place}]")) for place, item in enumerate(stored)]


def _value(value: object, wanted: _Key, path: tuple[str, ...]) -> Any:
    if type(value) is not wanted.type:
        raise _wrong(path, _WORDS[wanted.type], value)
    if isinstance(value, int) and wanted.type is int and not wanted.lowest <= value <= wanted.highest:
        raise _wrong(path, f"{wanted.lowest}..{wanted.highest}", value)
    return value


def _wrong(path: tuple[str, ...], expected: object, got: object) -> DecodeError:
    missing = got is _REQUIRED
    message = "the dictionary entry lacks a key" if missing else "the dictionary entry has no value of this kind here"
    return DecodeError("bad-dictionary", message, expected=expected, got="nothing" if missing else shown(got)[:60],
                       path=path)  # fmt: skip


def _check_references(table: Json) -> None:
    where = f"table {table['name']}"
    columns = len(table["columns"])
    for kind in ("indexes", "foreign_keys"):
        for place, item in enumerate(table[kind]):
            for number, element in enumerate(item["elements"]):
                if element["column_opx"] >= columns:
                    raise _wrong((where, f"{kind}[{place}]", f"elements[{number}]", "column_opx"), f"< {columns}",
                                 element["column_opx"])  # fmt: skip
