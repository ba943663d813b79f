"""Cases that read a field of a page, for each kind of table; the first outcome is that of the document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWN_FILE: Final = "TABLESPACE = innodb_file_per_table"
_UNREADABLE: Final = Outcome(rows=((None,),), verdict=Verdict.NOT_APPLICABLE)  # secure_file_priv does not allow it
_NO_IDLE_FLUSH: Final = "innodb_idle_flush_pct"
_SDI: Final = "45BD"  # page types
_LOB_FIRST: Final = "0018"


@dataclass(frozen=True, slots=True)
class TableKind:
    """A kind of table. ``page``: physical page size. ``root``: place of the SDI root in page 0 (innodb-sdi B.3)."""

    name: str
    options: str
    page: int = 16384
    root: int = 10505
    file: str = "t"


DYNAMIC: Final = TableKind("dynamic", "ROW_FORMAT = DYNAMIC")
KINDS: Final = (
    DYNAMIC,
    TableKind("compact", "ROW_FORMAT = COMPACT"),
    TableKind("redundant", "ROW_FORMAT = REDUNDANT"),
    TableKind("compressed-8k", "ROW_FORMAT = COMPRESSED KEY_BLOCK_SIZE = 8", 8192, 5385),
    TableKind("compressed-4k", "ROW_FORMAT = COMPRESSED KEY_BLOCK_SIZE = 4", 4096, 2825),
    TableKind("partitioned", "PARTITION BY KEY () PARTITIONS 2", file="t#p#p0"),
)


def all_cases() -> Iterator[SqlCase]:
    """Every Case of every kind of table that it is about."""
    for kind in KINDS:
        yield copies(kind)
        yield index_ids(kind)
        yield roots(kind)
        yield flushing(kind)
    yield dictionary_tablespace()
    for kind in KINDS[:3]:
        yield entry_length(kind)
    yield threshold()
    for kind in KINDS[1:3]:
        yield behind_prefix(kind)


def _create(kind: TableKind) -> SqlStatement:
    """The file-per-table clause stands before partitions, and REDUNDANT tables have it as well."""
    words, _, partitions = kind.options.partition("PARTITION")
    options = " ".join(filter(None, (_OWN_FILE, words.strip(), f"PARTITION{partitions}" if partitions else "")))
    return SqlStatement(sql=f"CREATE TABLE t (id INT PRIMARY KEY, j JSON) {options}")


def _load(kind: TableKind, variable: str = "@file") -> SqlStatement:
    return SqlStatement(sql=f"SET {variable} = LOAD_FILE(CONCAT(@@datadir, DATABASE(), '/{kind.file}.ibd'))")


def _written(kind: TableKind) -> tuple[SqlStatement, ...]:
    """Statements that write the file out and take a copy of it."""
    return (SqlStatement(sql="FLUSH TABLES t FOR EXPORT"), _load(kind), SqlStatement(sql="UNLOCK TABLES"))


def _field(kind: TableKind, page: str, at: int, width: int) -> str:
    return f"HEX(SUBSTR(@file, {page} * {kind.page} + {at + 1}, {width}))"


def _pages(kind: TableKind, answer: str, page_type: str) -> str:
    """An aggregate over the pages of a type; NULL without a copy of the file."""
    return (
        f"WITH RECURSIVE pages (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM pages WHERE n < 15) "
        f"SELECT IF(@file IS NULL, NULL, {answer}) FROM pages WHERE @file IS NULL OR "
        f"{_field(kind, 'n', 24, 2)} = '{page_type}'"
    )


def _case(
    name: str, kind: TableKind, requirement: str, statements: tuple[SqlStatement, ...], query: str, *, written: str,
    shipped: str, deviation: str, note: str, changed: tuple[str, ...] = (),
) -> SqlCase:  # fmt: skip
    """A Case whose last statement is judged. ``changed``: global variables that it sets.

    ``written``: the answer of a server that does as the document says; ``shipped``: the listed one.
    """
    judged = SqlStatement(
        sql=query,
        judges=requirement,
        outcomes=(
            Outcome(rows=((written,),)),
            Outcome(rows=((shipped,),), verdict=Verdict.FAIL, deviation=deviation),
            _UNREADABLE,
        ),
        note=note,
    )
    identity = name if kind is DYNAMIC else f"{name}-{kind.name}"
    return SqlCase(id=identity, requirements=(requirement,), schema=True, globals=changed,
                   statements=(*statements, judged))  # fmt: skip


def copies(kind: TableKind) -> SqlCase:
    """SDI6, SDI30: the roots of two copies are pages of a new file."""
    query = _pages(kind, "COUNT(*)", _SDI)
    return _case("sdi-one-copy", kind, "SDI30", (_create(kind), *_written(kind)), query, written="2", shipped="1",
                 deviation="sdi-one-copy", note="how many pages of a new file are roots of its SDI")  # fmt: skip


def index_ids(kind: TableKind) -> SqlCase:
    """SDI10: copy 0 has the index id -1, copy 1 has -2."""
    query = _pages(kind, f"GROUP_CONCAT({_field(kind, 'n', 66, 8)} ORDER BY n)", _SDI)
    return _case("sdi-one-index-id", kind, "SDI10", (_create(kind), *_written(kind)), query,
                 written=f"{'F' * 16},{'F' * 15}E", shipped="F" * 16, deviation="sdi-one-index-id",
                 note="the index ids of the SDI pages of a new file")  # fmt: skip


def roots(kind: TableKind) -> SqlCase:
    """SDI31: pages 1 and 2 have both root page numbers in the eight bytes of the flush LSN."""
    first, second = (_field(kind, str(page), 26, 8) for page in (1, 2))
    query = (
        f"SELECT IF(@file IS NULL, NULL, IF({first} = {second} AND {first} <> REPEAT('0', 16), "
        f"'roots in pages 1 and 2', CONCAT('page 1: ', {first}, ', page 2: ', {second}, ', page 0: ', "
        f"{_field(kind, '0', kind.root, 8)})))"
    )
    shipped = f"page 1: {'0' * 16}, page 2: {'0' * 16}, page 0: 0000000100000003"
    return _case("sdi-root-in-page-0", kind, "SDI31", (_create(kind), *_written(kind)), query,
                 written="roots in pages 1 and 2", shipped=shipped, deviation="sdi-root-in-page-0",
                 note="the flush LSN of pages 1 and 2; version and root number in page 0")  # fmt: skip


def flushing(kind: TableKind) -> SqlCase:
    """SDI28, SDI33: when a DDL statement returns, the file has the SDI that it wrote."""
    before = SqlStatement(sql="SET @before = @file")
    idle = SqlStatement(sql=f"SET GLOBAL {_NO_IDLE_FLUSH} = 0")
    alter = SqlStatement(sql="ALTER TABLE t COMMENT = 'another comment'")
    page = f"SUBSTR({{}}, 3 * {kind.page} + 1, {kind.page})"
    query = (
        f"SELECT IF(@file IS NULL OR @before IS NULL, NULL, IF({page.format('@file')} = {page.format('@before')}, "
        "'the SDI of before', 'another SDI'))"
    )
    return _case("sdi-not-flushed", kind, "SDI28", (idle, _create(kind), *_written(kind), before, alter, _load(kind)),
                 query, written="another SDI", shipped="the SDI of before", deviation="sdi-not-flushed",
                 note="page 3, the root and leaf of the SDI, after an ALTER TABLE has returned",
                 changed=(_NO_IDLE_FLUSH,))  # fmt: skip


def dictionary_tablespace() -> SqlCase:
    """SDI4: no SDI in the tablespace of the dictionary."""
    load = SqlStatement(sql="SET @file = LOAD_FILE(CONCAT(@@datadir, 'mysql.ibd'))")
    flags = f"CONV({_field(DYNAMIC, '0', 54, 4)}, 16, 10)"
    root = f"CONV({_field(DYNAMIC, '0', DYNAMIC.root + 4, 4)}, 16, 10)"
    query = (
        f"SELECT IF(@file IS NULL, NULL, IF({flags} & 0x4000, CONCAT('flag set, root page of type ', "
        f"HEX(SUBSTR(@file, {root} * {DYNAMIC.page} + 25, 2))), 'no SDI'))"
    )
    return _case("sdi-in-dictionary-tablespace", DYNAMIC, "SDI4", (load,), query, written="no SDI",
                 shipped=f"flag set, root page of type {_SDI}", deviation="sdi-in-dictionary-tablespace",
                 note="flags and root in page 0 of mysql.ibd")  # fmt: skip


# --- the article -----------------------------------------------------------------------------------------------------


def _insert(size: int) -> SqlStatement:
    return SqlStatement(sql=f"INSERT INTO t VALUES (1, JSON_OBJECT('p', REPEAT('p', {size}), 's', REPEAT('s', 300)))")


def _update() -> SqlStatement:
    return SqlStatement(sql="UPDATE t SET j = JSON_SET(j, '$.s', REPEAT('u', 300))")


def entry_length(kind: TableKind) -> SqlCase:
    """LOB19: four bytes of an index entry have the length."""
    insert = SqlStatement(sql="INSERT INTO t VALUES (1, JSON_OBJECT('p', REPEAT('p', 9000)))")
    length = _field(kind, "n", 96 + 52, 4)
    prefix = 0 if kind is DYNAMIC else 768
    words = f"{9015 - prefix:04X}"
    return _case("lob-entry-length", kind, "LOB19", (_create(kind), insert, *_written(kind)),
                 _pages(kind, f"MAX({length})", _LOB_FIRST), written=f"0000{words}", shipped=f"{words}0000",
                 deviation="lob-entry-length", note="the length of the one piece, in its index entry")  # fmt: skip


def threshold() -> SqlCase:
    """LOB24: a large object of one page is written whole, as a new one with version 1."""
    version = _field(DYNAMIC, "n", 40, 4)
    statements = (_create(DYNAMIC), _insert(9000), _update(), *_written(DYNAMIC))
    query = _pages(DYNAMIC, f"MAX({version})", _LOB_FIRST)
    return _case("lob-of-one-page-updated", DYNAMIC, "LOB24", statements, query, written="00000001",
                 shipped="00000002", deviation="lob-of-one-page-updated",
                 note="the version in the first page, after an update of a document that fits into it")  # fmt: skip


def behind_prefix(kind: TableKind) -> SqlCase:
    """LOB25: no partial update where the record keeps a prefix of the column."""
    version = _field(kind, "n", 40, 4)
    statements = (_create(kind), _insert(40000), _update(), *_written(kind))
    return _case("lob-updated-behind-prefix", kind, "LOB25", statements, _pages(kind, f"MAX({version})", _LOB_FIRST),
                 written="00000001", shipped="00000002", deviation="lob-updated-behind-prefix",
                 note="the version in the first page, after an update of bytes behind the prefix")  # fmt: skip
