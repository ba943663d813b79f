from __future__ import annotations

import pytest

from conformance.explore.cuts import cuts, words_of
from conformance.explore.rules.workload import Workload
from conformance.explore.steps import CLOSE, OPEN
from generators.draw import Stream

INSERT = "INSERT INTO t0 (id, j, c) VALUES (1, '{\"a\": (1}', f(2, 3)), (2, NULL, 'x')"
UPDATE = (
    f"UPDATE t0 SET j = {OPEN}JSON_SET(j, '$.a', 10, '$.b', 'long text'){CLOSE}, c = 1 "
    "WHERE id = 12 ORDER BY id LIMIT 3"
)
CREATE = (
    "CREATE TABLE t0 (id INT PRIMARY KEY, j JSON NOT NULL, g INT AS (JSON_LENGTH(j)) VIRTUAL, INDEX i (g)) "
    "ROW_FORMAT=COMPACT"
)


def balanced(text: str) -> bool:
    """Whether parentheses and marks outside of literals close in the order in which they open."""
    pairs = {")": "(", CLOSE: OPEN}
    waiting: list[str] = []
    for word in words_of(text):
        if word in pairs.values():
            waiting.append(word)
        elif word in pairs and (not waiting or waiting.pop() != pairs[word]):
            return False
    return not waiting


@pytest.mark.parametrize("text", [INSERT, UPDATE, CREATE], ids=["insert", "update", "create"])
def test_a_cut_is_another_statement_of_whole_pairs(text: str) -> None:
    found = list(cuts(text))
    assert found
    assert text not in found
    assert all(balanced(each) for each in found)


def test_cuts_of_drawn_statements_are_of_whole_pairs() -> None:
    workload = Workload(Stream("cuts", 1))
    for step in [*workload.setup(), *(workload.next() for _ in range(60))]:
        assert all(balanced(each) for each in cuts(step.text)), step.text


def test_a_document_loses_its_members_and_halves_its_texts() -> None:
    found = set(cuts("""INSERT INTO t (j) VALUES ('{"a": "it''s", "b": [1, "x\\\\"y"]}')"""))
    assert """INSERT INTO t (j) VALUES ('{"b": [1, "x\\\\"y"]}')""" in found
    assert """INSERT INTO t (j) VALUES ('{"a": "it", "b": [1, "x\\\\"y"]}')""" in found


def test_words_are_the_whole_statement() -> None:
    for text in (INSERT, UPDATE, CREATE, r"'a\'b''c' `q` 1.5e3 ->> -> é"):
        assert "".join(words_of(text)) == text


def test_an_insert_loses_a_column_in_the_names_and_in_every_row() -> None:
    found = list(cuts(INSERT))
    assert found[:3] == [
        "INSERT INTO t0 ( j, c) VALUES ( '{\"a\": (1}', f(2, 3)), ( NULL, 'x')",
        "INSERT INTO t0 (id, c) VALUES (1, f(2, 3)), (2, 'x')",
        "INSERT INTO t0 (id, j) VALUES (1, '{\"a\": (1}'), (2, NULL)",
    ]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        (UPDATE, UPDATE.replace(" ORDER BY id ", " ")),
        (UPDATE, UPDATE.replace(", '$.b', 'long text'", "")),
        (UPDATE, UPDATE.replace(", c = 1 WHERE id = 12 ORDER BY id LIMIT 3", "")),
        (UPDATE, UPDATE.replace("'long text'", "'a'")),
        (UPDATE, UPDATE.replace("12", "6")),
        (CREATE, CREATE.replace(", INDEX i (g)", "")),
        (CREATE, CREATE.replace("JSON_LENGTH(j)", "j")),
        (CREATE, CREATE.replace("ROW_FORMAT=COMPACT", "")),
        (CREATE, CREATE.replace("NOT NULL", "")),
        (INSERT, INSERT.replace(", (2, NULL, 'x')", "")),
    ],
)
def test_a_member_a_clause_a_pair_or_a_call_goes(text: str, cut: str) -> None:
    assert "".join(cut.split()) in ["".join(each.split()) for each in cuts(text)]
