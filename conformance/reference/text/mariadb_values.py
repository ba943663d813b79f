"""Column values in the pseudo-SQL of mariadb-binlog, where it differs from mysqlbinlog (observed with 10.11.18).

Quotes and backslashes in strings stay as they are, a GEOMETRY is a string, compressed columns are printed as stored.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.reference.tables import columns as types
from conformance.reference.text.pseudo_values import ColumnText, column_text

if TYPE_CHECKING:
    from conformance.reference.tables.metadata import ColumnInfo

_CONTROL: Final = re.compile(rb"[\x00-\x1f]")
_PLAIN: Final = {types.BLOB_COMPRESSED: types.BLOB, types.VARCHAR_COMPRESSED: types.VARCHAR}
_STRINGS: Final = frozenset((types.VARCHAR, types.STRING, types.BLOB, types.GEOMETRY))


def mariadb_text(info: ColumnInfo, number: int) -> ColumnText:
    """The printer of a column; ``number`` counts from 1."""
    kind = info.type.type
    if kind in _PLAIN:
        plain = info._replace(type=info.type._replace(type=_PLAIN[kind]))
        comment = column_text(plain, number).comment
        return ColumnText(_quoted, comment.replace(b" meta=", b" COMPRESSED meta=", 1))
    text = column_text(info, number)
    return text._replace(show=_quoted) if info.type.real_type in _STRINGS else text


def _quoted(value: bytes) -> bytes:
    return b"'" + _CONTROL.sub(lambda found: b"\\x%02x" % found[0][0], value) + b"'"
