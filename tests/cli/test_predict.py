"""``binlog-lab predict`` against the captured vectors, and its contract."""

from __future__ import annotations

import io
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance.cli.main import run
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_text

VECTORS = Path(__file__).parents[1] / "data" / "vectors"
OUTSIDE = {  # other columns, two assignments
    "column-assigned-twice",
    "two-columns-one-partial-one-full",
    "value-with-holes-copied-in-place",
    "two-rows",
}
KEYS = [
    "event",
    "partial",
    "reason",
    "field_hex",
    "diffs",
    "in_place",
    "binary_diffs",
    "jsonb_hex",
    "storage_size",
    "storage_free",
    "text",
    "why_whole",
    "as_diffs",
    "general",
    "assumed",
]


@cache
def vectors(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((VECTORS / name).read_text())["vectors"]
    return loaded


def right_hand_side(sql: str) -> tuple[str, bool]:
    """(expression for j, whether another column changes too)."""
    assignments = sql.removeprefix("UPDATE t SET ")
    plain = re.sub(r"^n=n\+1, |, n=7$", "", assignments)
    return plain.removeprefix("j="), plain != assignments


def predict(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert run(["predict", *arguments, "--format", "json"]) == 0
    loaded: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return loaded


def expand(text: str) -> str:
    """``x{n}`` stands for n times x."""
    return re.sub(r"(..)\{(\d+)\}", lambda match: match[1] * int(match[2]), text)


@pytest.mark.parametrize("vector", vectors("partial-updates.json"), ids=lambda vector: vector["name"])
def test_updates_captured_from_a_server_are_predicted_to_the_byte(
    vector: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    expression, other = right_hand_side(vector["update_sql"])
    before = vector.get("before_jsonb_hex") or encode(parse_text(vector.get("before_text") or "null")).hex()
    arguments = ["--document-hex", before, "--update", expression, *(["--row-changes"] if other else [])]
    if vector["name"] in OUTSIDE:
        assert run(["predict", *arguments]) == 2
        output = capsys.readouterr()
        assert output.out == ""
        assert "outside" in output.err
        return
    (step,) = predict(capsys, *arguments)
    assert list(step) == KEYS
    assert step["field_hex"] == vector["after_image_field_hex"]
    assert step["event"] is (vector["affected_rows"] > 0)
    assert step["partial"] is bool(vector["is_partial"])
    assert (step["storage_size"], step["storage_free"]) == (vector["storage_size"], vector["storage_free"])
    assert step["text"] == vector["after_text"]
    if "after_jsonb_hex" in vector:
        assert step["jsonb_hex"] == vector["after_jsonb_hex"]
    if vector["name"] == "plain-same-value-other-col":
        assert step["diffs"] is None  # the event has empty diffs, but none were collected
    elif vector["is_partial"]:
        for diff, expected in zip(step["diffs"], vector["diffs"], strict=True):
            assert (diff["operation"], diff["path"]) == (expected["op"], expected["path"])
            if diff["operation"] == "REMOVE":
                assert "value" not in diff
            else:
                value = format_text(decode(bytes.fromhex(expected["value_hex"])))
                assert diff["value"] == json.loads(value)


@pytest.mark.parametrize("vector", vectors("inplace-ranges.json"), ids=lambda vector: vector["name"])
def test_ranges_of_in_place_updates_are_the_captured_ones(
    vector: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    document = re.sub(r"(.)\{(\d+)\}", lambda match: match[1] * int(match[2]), vector["document"])
    calls: list[str] = [*vector["earlier_updates"], vector["call"]]
    first, *others = calls
    arguments = ["--document", document, "--update", first]
    for other in others:
        arguments += ["--then", other]
    step = predict(capsys, *arguments)[-1]
    assert step["in_place"] is vector["in_place"]
    assert step["jsonb_hex"] == expand(vector["after_jsonb_hex"])
    assert step["storage_free"] == vector["storage_free_after"]
    if vector["ranges"] is None:
        assert step["binary_diffs"] is None
    else:
        assert [[item["offset"], item["length"]] for item in step["binary_diffs"]] == vector["ranges"]


def test_steps_go_on_from_the_document_that_was_left_with_its_holes(capsys: pytest.CaptureFixture[str]) -> None:
    steps = predict(
        capsys,
        *("--document", '{"a": "x", "b": "y"}'),
        *("--update", "JSON_REMOVE(j, '$.a')", "--then", "JSON_SET(j, '$.b', 'abc')"),
        *("--then", "NULL", "--then", "JSON_SET(j, '$.a', 1)", "--then", "CAST('[1]' AS JSON)", "--then", "j"),
    )
    assert [step["event"] for step in steps] == [True, True, True, False, True, False]
    assert [step["storage_free"] for step in steps] == [10, 8, None, None, 0, 0]
    assert steps[1]["in_place"]
    assert steps[2]["field_hex"] is None
    assert steps[2]["reason"] == "null"
    assert steps[4]["text"] == "[1]"


def test_a_step_that_mysql_refuses_is_an_error_object_and_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    refused = {
        "JSON_SET(j, '$x', 1)": (3143, "ER_INVALID_JSON_PATH"),
        "JSON_SET(j, '$[*]', 1)": (3149, "ER_INVALID_JSON_PATH_WILDCARD"),
        "JSON_REMOVE(j, '$')": (3153, "ER_JSON_VACUOUS_PATH"),
        "JSON_SET(j, '$.a')": (1582, "ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT"),
        "JSON_SET(j, '$.a', DATE'2023-02-29')": (1525, "ER_WRONG_VALUE"),
        "JSON_SET(j, '$.a', CAST('x' AS JSON))": (3141, "ER_INVALID_JSON_TEXT_IN_PARAM"),
        "JSON_SET(j, '$.a', CAST(REPEAT('[', 101) AS JSON))": (3157, "ER_JSON_DOCUMENT_TOO_DEEP"),
    }
    arguments = ["--document", "{}", "--update", "JSON_SET(j, '$.a', 1)"]
    for sql in refused:
        arguments += ["--then", sql]
    first, *steps, last = predict(capsys, *arguments, "--then", "JSON_SET(j, '$.b', 2)")
    assert first["text"] == '{"a": 1}'
    assert steps == [{"error": {"number": number, "symbol": symbol}} for number, symbol in refused.values()]
    assert last["text"] == '{"a": 1, "b": 2}'


@pytest.mark.parametrize(
    ("sql", "on_null", "on_object"),
    [
        ("JSON_SET(j, '$.a', CAST('x' AS JSON))", None, 3141),
        ("JSON_SET(j, '$x', CAST('x' AS JSON))", None, 3143),
        ("JSON_SET(j, '$.a', CAST('x' AS JSON), '$x', 1)", None, 3141),
        ("JSON_SET(JSON_SET(j, NULL, 1), '$.a', CAST('x' AS JSON))", None, None),
        ("JSON_REPLACE(j, '$.a.b', CAST('x' AS UNSIGNED))", None, 1292),
        ("JSON_SET(j, '$.a', DATE'2023-02-29')", 1525, 1525),
        ("CAST('x' AS JSON)", 3141, 3141),
    ],
)
def test_errors_of_values_come_only_where_the_server_gets_to_them(
    sql: str, on_null: int | None, on_object: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    for before, number in (("NULL", on_null), ("CAST('{}' AS JSON)", on_object)):  # all observed on 9.7.4
        step = predict(capsys, "--document", "[]", "--update", before, "--then", sql)[1]
        assert step.get("error", {}).get("number") == number
        if number is None:
            assert step["jsonb_hex"] is None


def test_values_in_diffs_keep_the_text_of_mysql(capsys: pytest.CaptureFixture[str]) -> None:
    values = "JSON_ARRAY(1.50, 1e0, 1e22, CAST(18446744073709551615 AS UNSIGNED), DATE'2024-02-29', x'00', 'é\\\\')"
    assert (
        run(
            [
                "predict",
                "--document",
                '{"p": "' + "p" * 300 + '"}',
                "--format",
                "json",
                "--update",
                f"JSON_SET(j, '$.é', {values})",
            ]
        )
        == 0
    )
    output = capsys.readouterr().out
    assert (
        '"path": "$.é", "value": [1.50, 1.0, 1e22, 18446744073709551615, "2024-02-29", "base64:type15:AA==", "é\\\\"]'
        in output
    )


def test_equal_values_write_nothing_unless_another_column_changes(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--document", '{"a": 1, "p": "pppppppppppppppppppppppppp"}', "--update", "JSON_SET(j, '$.a', 1.0e0)")
    (step,) = predict(capsys, *arguments)
    assert (step["event"], step["partial"], step["field_hex"], step["reason"]) == (False, False, None, "unchanged")
    assert step["jsonb_hex"].startswith("0002")
    assert step["text"].startswith('{"a": 1,')
    (step,) = predict(capsys, *arguments, "--row-changes")
    assert (step["event"], step["partial"]) == (True, True)
    assert step["text"].startswith('{"a": 1.0,')


def test_text_output_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    document = '{"a": "x", "b": "y", "c": "z"}'
    steps = ["JSON_REMOVE(j, '$.b')", "JSON_SET(j, '$.a', 'x')", "JSON_SET(j, '$', 1)", "JSON_SET(j, 'x', 1)", "NULL"]
    arguments = ["predict", "--document", document, "--update", steps[0]]
    for sql in steps[1:]:
        arguments += ["--then", sql]
    assert run(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    for line in (
        "step 1: JSON_REMOVE(j, '$.b')",
        "  event      partial (smaller)",
        "  field      050000000203242e62 (9 bytes)",
        "  diffs      REMOVE $.b",
        "  in place   yes, bytes written: 1+2 9+10",
        "  document   35 bytes, 10 of them free",
        '  text       {"a": "x", "c": "z"}',
        "  event      none: the row does not change",
        "  diffs      empty",
        "  in place   yes, nothing written",
        "  event      full (no-diffs)",
        "  in place   no",
        "  event      SQL NULL",
        "  document   SQL NULL",
    ):
        assert line in lines
    assert any(line.startswith("  refused    3143 ER_INVALID_JSON_PATH") for line in lines)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--update", "j"],
        ["--document", "{}", "--document-hex", "00", "--update", "j"],
        ["--document", "{}"],
        ["--document", "{", "--update", "j"],
        ["--document", "[" * 101, "--update", "j"],
        ["--document-hex", "zz", "--update", "j"],
        ["--document-hex", "0d", "--update", "j"],
        ["--document-hex", "020100", "--update", "j"],
        ["--document", "{}", "--update", "j", "--dialect", "5.6"],
        ["--document", "{}", "--update", "j", "--dialect", "8.0.2"],
        ["--document", "{}", "--update", "j", "--dialect", "10.11.6-MariaDB"],
        ["--document", "{}", "--update", "j", "--format", "yaml"],
        ["--document", "{}", "--update", "JSON_KEYS(j)"],
        ["--document", "{}", "--update", "k"],
        ["--document", "{}", "--update", "j", "--column", "k"],
        ["--document", "{}", "--update", "j", "--column", "J=1"],
        ["--document", "{}", "--update", "j", "--now", "yesterday"],
        ["--document", "{}", "--update", "j", "--row-value-options", "ALL"],
        ["--document", "{}", "--update", "j", "--then", "UPPER('x')"],
    ],
)
def test_wrong_usage_ends_with_2_and_no_output(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["predict", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err


def test_a_refusal_points_at_the_place(capsys: pytest.CaptureFixture[str]) -> None:
    sql = "JSON_SET(j, '$.a', UPPER('x'))"
    assert run(["predict", "--document", "{}", "--update", sql]) == 2
    message = capsys.readouterr().err.splitlines()
    assert "UPPER is outside predict's grammar" in message[0]
    assert message[2].index("^") == message[1].index("UPPER")


@pytest.mark.parametrize("raw", [b"05 07 00\n", b"050700", bytes.fromhex("050700")])
def test_stored_bytes_come_from_stdin_in_hex_or_raw(
    raw: bytes, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    (step,) = predict(capsys, "--document-hex", "-", "--update", "JSON_SET(j, '$[1]', 8)")
    assert step["text"] == "[7, 8]"


def test_the_dialect_is_a_name_or_a_version(capsys: pytest.CaptureFixture[str]) -> None:
    document = '{"a": "x", "b": "' + "y" * 40 + '"}'
    arguments = ("--document", document, "--update", "JSON_REMOVE(j, '$.a')", "--dialect")
    for name in ("mysql-9.7", "9.7.4", "8.4", "8.0.36-28"):
        assert predict(capsys, *arguments, name)[0]["partial"]
    # The worklog does not count JSON_REMOVE among the functions that can be logged partially.
    assert not predict(capsys, *arguments, "worklog")[0]["partial"]
    # Before 8.0.3 the whole document is logged, and nothing happens in place.
    (step,) = predict(capsys, *arguments, "5.7.44")
    assert (step["partial"], step["in_place"], step["diffs"], step["storage_free"]) == (False, False, None, 0)
    for name in ("5.6.24", "8.0.2", "mysql", "9"):
        assert run(["predict", *arguments, name]) == 2


def test_numbers_are_read_and_printed_as_the_version_does(capsys: pytest.CaptureFixture[str]) -> None:
    number = "-1.1030161663305387"
    arguments = ("--document", f"[{number}, 1e0]", "--update", f"JSON_SET(j, '$[2]', CAST('{number}' AS JSON))")
    for name, text in (
        ("9.7.4", f"[{number}, 1.0, {number}]"),
        ("8.0.43", "[-1.103016166330539, 1.0, -1.103016166330539]"),
        ("5.7.44", "[-1.103016166330539, 1, -1.103016166330539]"),
    ):
        assert json.dumps(predict(capsys, *arguments, "--dialect", name)[0]["text"]) == json.dumps(text)


def test_a_document_of_no_bytes_is_json_null(capsys: pytest.CaptureFixture[str]) -> None:
    (step,) = predict(capsys, "--document-hex", "", "--update", "j", "--row-changes")
    assert (step["text"], step["storage_size"], step["field_hex"]) == ("null", 0, "00000000")


def test_documents_that_cannot_be_printed_have_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    bad = encode(["\udcff", "p" * 50]).hex()
    (step,) = predict(capsys, "--document-hex", bad, "--update", "JSON_SET(j, '$[1]', 'q')")
    assert step["text"] is None
    assert step["partial"]
    (step,) = predict(capsys, "--document-hex", bad, "--update", "JSON_SET(j, '$[0][1]', 'q')")
    assert step["diffs"] == [{"operation": "REPLACE", "path": "$[0]", "value": ["\udcff", "q"]}]


def test_hours_of_a_time_are_those_of_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    for name, hours in (("8.0.45", 630), ("9.7.4", 838)):
        arguments = ("--document", '{"a": 1}', "--update", "JSON_SET(j, '$.a', TIME'-838:59:59')", "--dialect", name)
        (step,) = predict(capsys, *arguments)
        assert step["text"] == f'{{"a": "-{hours}:59:59.000000"}}'


def test_the_text_of_a_time_that_loses_hours_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """As text it shows the hours of its last day alone, and nobody has seen that stored."""
    for hours, name, code in ((32, "8.0.45", 2), (31, "8.0.45", 0), (32, "9.7.4", 0)):
        update = f"JSON_SET(j, '$.a', CONCAT('x', JSON_ARRAY(TIME'{hours}:00:00')))"
        assert run(["predict", "--document", '{"a": 1}', "--update", update, "--dialect", name]) == code
        assert ("TIME of 32 hours or more" in capsys.readouterr().err) is (code == 2)


@pytest.mark.parametrize(
    ("statement", "expression"),
    [
        ("UPDATE shop.orders AS o SET o.j = JSON_SET(o.j, '$.a', 1.50) WHERE id = 5;", "JSON_SET(j, '$.a', 1.50)"),
        ("update LOW_PRIORITY `orders` set `j` = JSON_REPLACE(`j`, '$.a, WHERE', 'x''y, \\n') limit 1",
         "JSON_REPLACE(j, '$.a, WHERE', 'x''y, \\n')"),
        ("UPDATE t SET j = CAST('[1, 2e-5]' AS JSON) ORDER BY id", "CAST('[1, 2e-5]' AS JSON)"),
    ],
)  # fmt: skip
def test_a_statement_is_predicted_as_its_right_hand_side(
    statement: str, expression: str, capsys: pytest.CaptureFixture[str]
) -> None:
    document = ("--document", '{"a": 1, "b": "xxxxxxxxxxxx"}')
    if "$.a, WHERE" in statement:
        assert [run(["predict", *document, "--update", text]) for text in (statement, expression)] == [0, 0]
        statement_text, expression_text = capsys.readouterr().out.split("step 1: ")[1:]
        assert statement_text.split("\n", 1)[1] == expression_text.split("\n", 1)[1]
        return
    assert predict(capsys, *document, "--update", statement) == predict(capsys, *document, "--update", expression)


def test_the_answer_to_a_statement_names_its_column_and_what_else_it_sets(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "order.json"
    file.write_text('{"tags": ["new"], "log": "xxxxxxxxxxxxxxxxxxxxxxxx"}\n')
    sql = "UPDATE orders SET paid = NOW(), details = JSON_ARRAY_APPEND(details, '$.tags', 'sale') WHERE id = 5"
    assert run(["predict", "--document", f"@{file}", "--update", sql]) == 0
    captured = capsys.readouterr()
    assert "as diffs   details = JSON_SET(`details`, '$.tags[1000000]', 'sale')" in captured.out
    assert captured.err == "taken to change too: paid\n"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE t, u SET j = 1", "an UPDATE of one table is expected"),
        ("UPDATE t JOIN u SET j = 1", "an UPDATE of one table is expected"),
        ("UPDATE t SET a = 1, b = 2", "which of a, b is the document?"),
        (
            "UPDATE t SET n = n + 1, j = JSON_SET(j, '$.a', n)",
            "j is set from n, which the statement has changed by then",
        ),
        ("UPDATE t SET j", "an assignment is expected"),
        ("UPDATE t SET id = JSON_SET(id, '$.a', 1)", "another name than other and id"),
        ("WITH c AS (SELECT 1) UPDATE t SET j = 1", "not an UPDATE of one table"),
    ],
)
def test_a_statement_that_is_not_modelled_is_refused(sql: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["predict", "--document", "{}", "--update", sql]) == 2
    assert said in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["predict", "--document", "@no-such-file", "--update", "j"]) == 2
    assert "--document @no-such-file: No such file" in capsys.readouterr().err
