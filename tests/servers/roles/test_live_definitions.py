"""Definitions read from a live server, and parsed from what it shows, give the same TABLE_MAP as the ones they were
made from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.checks.table_metadata.definitions import draw_definitions
from conformance.checks.table_metadata.run import MODES, Definition, log_definitions, make_tables
from conformance.checks.table_metadata.table_map_judge import judge_table_map
from conformance.reference.tables.create_table import parse_definition
from conformance.reference.tables.definitions import Column, Table, create_table, table_map
from tests.servers.roles.read_definitions import read_tables

if TYPE_CHECKING:
    from conformance.servers.run.process import ProcessServer

pytestmark = pytest.mark.live
BY_HAND = {
    "a": "CREATE TABLE a (My_Row_Id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY, x INT)",
    "b": "CREATE TABLE b (my_row_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, x INT)",
    "c": "CREATE TABLE c (my_row_id BIGINT NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY, x INT)",
    "d": "CREATE TABLE d (x INT, my_row_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY)",
}


def as_shown(table: Table) -> Table:
    """The server shows members in utf8mb3: what lies behind U+FFFF is a question mark there."""
    columns = tuple(
        replace(
            column, members=tuple("".join(c if c <= "\uffff" else "?" for c in member) for member in column.members)
        )
        for column in table.columns
    )
    return replace(table, columns=columns)


def test_every_way_to_a_definition_gives_the_same_event(server: ProcessServer) -> None:
    with server.connect() as connection, server.schema(connection) as schema:
        definitions = draw_definitions("ways", range(60), schema)
        make_tables(connection, definitions)
        read = read_tables(connection, schema)
        for item in definitions:
            shown = connection.execute(f"SHOW CREATE TABLE {item.name}").texts()[0][1]
            parsed = parse_definition(str(shown), schema=schema)
            for mode in MODES:
                expected = table_map(as_shown(item.table), mode)
                assert table_map(read[item.table.name], mode) == expected
                assert table_map(parsed, mode) == expected


def test_a_key_of_the_same_looks_counts_as_generated(server: ProcessServer) -> None:
    with server.connect() as connection, server.schema(connection):
        capture = server.capture()
        start = capture.mark(connection)
        for name, sql in BY_HAND.items():
            connection.execute(sql)
            connection.execute(f"INSERT INTO {name} (x) VALUES (1)")
        events = [event for event in capture.since(start, capture.mark(connection)).events if event[4] == 19]
        capture.close()
    flags = [int.from_bytes(event[25:27], "little") for event in events]
    assert flags == [5, 1, 1, 1]
    assert [table_map(parse_definition(sql)).flags for sql in BY_HAND.values()] == flags


@pytest.mark.parametrize("count", [1_018, 4_096])
def test_more_columns_than_innodb_takes(server: ProcessServer, count: int) -> None:
    """4,096 is what any engine takes."""
    kinds = ("TINYINT", "YEAR", "DATE", "BIT")
    columns = tuple(
        Column(name=f"c{number}", type=kinds[number % 4], invisible=number % 7 == 3) for number in range(count)
    )
    with server.connect() as connection, server.schema(connection) as schema:
        table = Table(schema=schema, name="t", columns=columns)
        connection.execute(f"{create_table(table)} ENGINE=MyISAM")
        capture = server.capture()
        log = log_definitions(connection, capture, [Definition(table=table, values={})])
        capture.close()
    for mode in MODES:
        (event,) = log.maps[mode]
        assert judge_table_map(table, mode, event) == []


def test_the_setting_is_put_back(server: ProcessServer) -> None:
    with server.connect() as connection, server.schema(connection) as schema:
        definitions = draw_definitions("ways", range(2), schema)
        make_tables(connection, definitions)
        capture = server.capture()
        before = connection.variable("global.binlog_row_metadata")
        log = log_definitions(connection, capture, definitions)
        capture.close()
        assert {mode: len(events) for mode, events in log.maps.items()} == {"MINIMAL": 2, "FULL": 2}
        assert connection.variable("global.binlog_row_metadata") == before
