"""Each form of a statement that defines tables, with what it does, to the last field (manual, Data Definition)."""

from __future__ import annotations

import pytest

from conformance.reference.replay.ddl import parse_statement
from conformance.reference.replay.statements import (
    Action,
    AlterTable,
    ChangesRows,
    ColumnDefinition,
    CreateLike,
    CreateTable,
    DefaultCharset,
    DefineSchema,
    DropColumn,
    DropSchema,
    DropTables,
    MoveTable,
    PutColumn,
    RenameColumn,
    RenameTables,
    SetCharset,
    SetEngine,
    SetKey,
    SetParent,
    StartNumbers,
    Statement,
    Truncate,
)
from conformance.reference.sql.statement_words import split_words
from tests.reference.refusals import refused

T, U = ("d", "t"), ("d", "u")


def parsed(sql: str) -> Statement | None:
    return parse_statement(split_words(sql), "d")


def column(text: str) -> ColumnDefinition:
    name, *words = split_words(text)
    return ColumnDefinition(name.text, tuple(words))


def put(text: str, *, old: str | None = None, after: str | None = None) -> PutColumn:
    return PutColumn(definition=column(text), old=old, after=after)


INT_A = (column("a int"),)
DROP_A = AlterTable(table=T, actions=(DropColumn("a"),))


@pytest.mark.parametrize(
    ("sql", "statement"),
    [
        (";", None),
        ("truncate table e.t;;", Truncate(table=("e", "t"))),
        ("truncate t", Truncate(table=T)),
        ("rename tables t to u", RenameTables(pairs=((T, U),))),
        ("rename user t to u", None),
        ("drop tables t, u", DropTables(tables=(T, U))),
        ("drop temporary table if exists t", None),
        ("drop schema e", DropSchema(schema="e")),
        ("drop database if exists e", DropSchema(schema="e")),
        ("drop index i on t", None),
        ("drop index primary_ on t", None),
        ("drop index `PRIMARY` on t", AlterTable(table=T, actions=(SetKey(()),))),
        ("drop index `primary` on e.t algorithm = copy", AlterTable(table=("e", "t"), actions=(SetKey(()),))),
        ("alter table t drop a", DROP_A),
        ("alter ignore table t drop a", DROP_A),
        ("alter online table t drop a", DROP_A),
        ("alter offline ignore table t drop a", DROP_A),
        ("alter table t", AlterTable(table=T, actions=())),
        ("alter database d", DefineSchema("d", None, create=False)),
        ("alter schema collate latin1_bin", DefineSchema("d", DefaultCharset("latin1", "latin1_bin"), create=False)),
        ("create database if not exists e", DefineSchema("e", None, create=True)),
        ("create schema e default charset = utf8", DefineSchema("e", DefaultCharset("utf8mb3"), create=True)),
        ("create schema e charset klingon", DefineSchema("e", DefaultCharset("ucs2", certain=False), create=True)),
        ("alter ignore table t add unique (a)", AlterTable(table=T, actions=(ChangesRows("IGNORE"),))),
        ("create temporary table t (a int)", None),
        ("create table t like u", CreateLike(table=T, source=U)),
        ("create table if not exists t like e.u", CreateLike(table=T, source=("e", "u"), if_not_exists=True)),
        ("create table if not exists t (like u)", CreateLike(table=T, source=U, if_not_exists=True)),
        ("create table t (like e.u)", CreateLike(table=T, source=("e", "u"))),
        ("create table t (a int)", CreateTable(table=T, columns=INT_A)),
        ("create table if not exists t (a int)", CreateTable(table=T, columns=INT_A, if_not_exists=True)),
        ("create table t (a int) start transaction", CreateTable(table=T, columns=INT_A)),
        (
            "create table t (a int) start transaction engine memory",
            CreateTable(table=T, columns=INT_A, transactional=False),
        ),
        (
            "create table t (a int) tablespace = engine, union = (x, engine) engine = heap",
            CreateTable(table=T, columns=INT_A, transactional=False),
        ),
        ("create table t (a int) tablespace = engine", CreateTable(table=T, columns=INT_A)),
        (
            "create table t (a int, constraint primary key (a))",
            CreateTable(table=T, columns=INT_A, primary_key=("a",)),
        ),
        (
            "create table t (a int, constraint c primary key using btree (a desc), constraint check (a), check (a))",
            CreateTable(table=T, columns=INT_A, primary_key=("a",), ascending=False),
        ),
        ("create table t (a int, constraint unique (a), unique key k (a))", CreateTable(table=T, columns=INT_A)),
        (
            (
                "create table t (a int, constraint foreign key (a) references u (cascade) on delete restrict,"
                " constraint c foreign key (a) references e.u (a) match full on update set null on delete no action)"
            ),
            CreateTable(table=T, columns=INT_A, cascades_from=(("e", "u"),)),
        ),
        ("create table t (a int, foreign key (a) references u (a))", CreateTable(table=T, columns=INT_A)),
    ],
)
def test_statements_that_define_tables(sql: str, statement: Statement | None) -> None:
    assert parsed(sql) == statement


@pytest.mark.parametrize("engine", ["MyISAM", "memory", "HEAP", "csv", "ARCHIVE", "BLACKHOLE", "MERGE", "MRG_MYISAM"])
def test_engines_without_transactions_are_told_in_any_case(engine: str) -> None:
    assert parsed(f"create table t (a int) engine {engine}") == CreateTable(table=T, columns=INT_A, transactional=False)
    assert parsed(f"alter table t engine = `{engine}`") == AlterTable(table=T, actions=(SetEngine(False),))


@pytest.mark.parametrize(
    ("part", "actions"),
    [
        # Columns.
        ("add a int", [put("a int")]),
        ("add column a int first", [put("a int", after="")]),
        ("add a int after b;", [put("a int", after="b")]),
        ("add `column` int", [put("`column` int")]),
        ("add (a int, index (a), foreign key (a) references u (a) on delete cascade, b int)",
         [put("a int"), SetParent(U), put("b int")]),
        ("add column (a int, primary key (a))", [put("a int"), SetKey(("a",))]),
        ("add (constraint foreign key (a) references u (a))", []),
        ("change a b int", [put("b int", old="a")]),
        ("change column a b int first", [put("b int", old="a", after="")]),
        ("modify a int after b", [put("a int", old="a", after="b")]),
        ("modify column a int", [put("a int", old="a")]),
        ("add a int first partition by hash (a) partitions 2", [put("a int", after="")]),
        ("modify a int after b remove partitioning", [put("a int", old="a", after="b")]),
        ("add a int comment 'partition' after b", [put("a int comment 'partition'", after="b")]),
        ("drop a", [DropColumn("a")]),
        ("drop column a", [DropColumn("a")]),
        ("rename column a to b", [RenameColumn("a", "b")]),
        # Keys and constraints.
        ("add primary key (a, b(3))", [SetKey(("a", "b"))]),
        ("add constraint c primary key (a)", [SetKey(("a",))]),
        ("add primary key (a, b desc)", [SetKey(("a", "b"), ascending=False)]),
        ("add unique (a)", []),
        ("add index i (a)", []),
        ("add constraint foreign key (a) references u (a) on delete cascade", [SetParent(U)]),
        ("add constraint c foreign key (a) references e.u (a) on delete set null", [SetParent(("e", "u"))]),
        ("drop primary key", [SetKey(())]),
        ("drop index `PRIMARY`", [SetKey(())]),
        ("drop key `primary`", [SetKey(())]),
        ("drop constraint `Primary`", [SetKey(())]),
        ("drop index i", []),
        ("drop key i", []),
        ("drop constraint c", []),
        ("drop foreign key f", []),
        ("drop check c", []),
        ("rename index i to j", []),
        ("rename key i to j", []),
        ("alter column a set default 5", []),
        ("alter index i invisible", []),
        # The table.
        ("rename to u", [MoveTable(U)]),
        ("rename as u", [MoveTable(U)]),
        ("rename e.u", [MoveTable(("e", "u"))]),
        ("engine = innodb", [SetEngine(True)]),
        ("engine memory comment 'engine innodb'", [SetEngine(False)]),
        ("row_format = dynamic engine = memory", [SetEngine(False)]),
        ("row_format dynamic comment = 'x' engine innodb", [SetEngine(True)]),
        ("tablespace = engine", []),
        ("default character set utf8mb4", [SetCharset(DefaultCharset("utf8mb4"))]),
        ("character set = utf8mb4", [SetCharset(DefaultCharset("utf8mb4"))]),
        ("charset = latin1", [SetCharset(DefaultCharset("latin1"))]),
        ("charset = latin1 engine memory", [SetCharset(DefaultCharset("latin1")), SetEngine(False)]),
        ("engine memory charset = latin1", [SetCharset(DefaultCharset("latin1")), SetEngine(False)]),
        ("auto_increment = 70", [StartNumbers(70)]),
        ("comment 'x' auto_increment 70", [StartNumbers(70)]),
        ("collate = utf8mb4_bin", [SetCharset(DefaultCharset("utf8mb4", "utf8mb4_bin"))]),
        ("data directory = '/x'", []),
        ("index directory = '/x'", []),
        ("order by a", []),
        ("force", []),
        ("algorithm = inplace", []),
        # Partitions.
        ("partition by range (a) (partition p values less than (1) engine = memory)", []),
        ("remove partitioning", []),
        ("add partition (partition p values less than (1))", []),
        ("add partition partitions 2", []),
        ("with validation", []),
        # What changes rows, or where they are.
        ("drop partition p", [ChangesRows("DROP PARTITION")]),
        ("convert to charset utf8mb4", [SetCharset(DefaultCharset("utf8mb4"), convert=True)]),
        ("convert to character set default", [ChangesRows("CONVERT")]),
        ("discard tablespace", [ChangesRows("DISCARD")]),
        ("import tablespace", [ChangesRows("IMPORT")]),
        ("truncate partition p", [ChangesRows("TRUNCATE")]),
        ("exchange partition p with table u", [ChangesRows("EXCHANGE")]),
    ],
)  # fmt: skip
def test_a_part_of_alter_table(part: str, actions: list[Action]) -> None:
    assert parsed(f"alter table t {part}") == AlterTable(table=T, actions=tuple(actions))


@pytest.mark.parametrize("word", ["ADD", "drop", "CHANGE", "modify", "RENAME", "convert"])
def test_parts_without_a_comma_between_them_are_refused(word: str) -> None:
    assert refused(parsed, f"alter table t force {word} a").code == "statement"


@pytest.mark.parametrize(
    "sql",
    [
        "create table t (a int) engine",
        "create table t (a int, primary key)",
        "create table t (a int, foreign key (a))",
        "create table t (primary key (a), b int",
        "alter table t rename column a b",
        "alter table t add",
        "alter table t rename",
        "drop index",
        "drop index `PRIMARY` on",
        "drop table t, 'u'",
        "drop database",
        "truncate",
        "rename table t to",
        "rename table t as u",
        "create table 't' (a int)",
        "create table `` (a int)",
        "create table d. (a int)",
        "create table t (a int) values row (1)",
        "create table t (a int) with x as (select 1) select * from x",
        "create table t (a int) replace select 1",
    ],
)
def test_statements_that_are_torn_or_have_rows_are_refused(sql: str) -> None:
    assert refused(parsed, sql).code == "statement"
