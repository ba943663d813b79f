"""Tables, sessions, and values for columns that are not JSON."""

from __future__ import annotations

from collections import Counter

import pytest

from conformance.cases.row_images import RowImage
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import Opaque, same
from conformance.reference.tables.column_json import column_as_json
from conformance.reference.tables.columns import decode_value, encode_value
from conformance.reference.tables.definitions import Column, create_table, table_map
from generators import tables
from generators.draw import Stream


def test_tables_are_legal_and_varied() -> None:
    json_counts: Counter[int] = Counter()
    keys: Counter[tuple[int, int]] = Counter()
    types: set[str] = set()
    names: set[str] = set()
    not_null = 0
    for number in range(600):
        table = tables.table(Stream("tables", number))
        columns = [column.name for column in table.columns]
        assert len({name.lower() for name in columns}) == len(columns)
        assert all(0 < len(name) <= 64 for name in columns)
        assert create_table(table)
        assert len(table_map(table, metadata="FULL").columns) == len(columns)
        json_counts[len(table.json_columns)] += 1
        keys[len(table.primary_key), len(table.unique_keys)] += 1
        types |= {column.type for column in table.columns}
        names |= set(columns)
        not_null += any(not table.columns[index].nullable for index in table.json_columns)
        identity = table.columns[table.index_of[tables.SELECTOR]]
        assert identity.type in ("INT", "BIGINT")
    assert 0.25 < sum(json_counts[count] for count in json_counts if count > 1) / 600 < 0.5
    assert {1, 2, 3, 9, 17} <= set(json_counts)
    assert set(keys) == {(1, 0), (2, 0), (0, 1), (0, 0)}
    assert len(types) >= 27
    assert len(names & set(tables.NAMES)) > 15
    assert not_null > 60


def test_sessions_vary_what_matters() -> None:
    sessions = [tables.session(Stream("sessions", number)) for number in range(1000)]
    assert {session.row_image for session in sessions} == set(RowImage)
    assert 60 < sum(not session.partial_json for session in sessions) < 200
    for flag in ("compression", "rows_query"):
        assert 15 < sum(getattr(session, flag) for session in sessions) < 150
    for flag in ("foreign_key_checks", "unique_checks"):
        assert 15 < sum(not getattr(session, flag) for session in sessions) < 150


def test_every_value_is_one_that_a_row_event_can_hold() -> None:
    kinds: set[object] = set()
    nulls = total = 0
    for number in range(500):
        draw = Stream("values", number)
        table = tables.table(draw)
        mapped = table_map(table)
        for column, of_type in zip(table.columns, mapped.columns, strict=True):
            if column.is_json:
                continue
            value = tables.column_value(draw, column)
            total += 1
            if value is None:
                nulls += 1
                assert column.nullable
                continue
            data = encode_value(of_type, value, unsigned=column.unsigned)  # type: ignore[arg-type]
            assert decode_value(of_type, data, unsigned=column.unsigned) == value, column
            as_json = column_as_json(column, value)
            encode(as_json)
            kinds.add(as_json.field_type if isinstance(as_json, Opaque) else encode(as_json)[0])
            assert same(as_json, column_as_json(column, value))
    assert 0.03 < nulls / total < 0.15
    # BIT, the blobs, BINARY, VARBINARY, the temporal types and DECIMAL: what no literal gives is among them.
    assert {16, 249, 250, 251, 252, 254, 15, 7, 10, 11, 12, 246} <= kinds


def test_sources_are_the_columns_that_have_values() -> None:
    table = tables.table(Stream("sources", 3))
    assert set(tables.sources(table)) == {column.name for column in table.columns if not column.is_json}
    with pytest.raises(ValueError, match="no values"):
        tables.column_value(Stream("x"), Column(name="j", type="JSON"))
