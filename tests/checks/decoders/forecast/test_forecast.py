"""Features, their Cases, the recorded outcomes, and the survey of logs."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import pytest

from conformance.checks.decoders.forecast.features import FEATURES, features_of
from conformance.checks.decoders.forecast.forecast import forecast
from conformance.checks.decoders.forecast.outcomes import OUTCOMES, OWN, UNKNOWN, Outcome, Tool, load_outcomes
from conformance.checks.decoders.suite import load_suite
from conformance.reference.binlog.files import FileReader, read_events
from conformance.reference.binlog.payload import TransactionPayload
from conformance.subjects.builtin.catalogue import catalogue
from tests.in_process import lab_here

CORPUS = Path(__file__).parents[3] / "data" / "binlogs"
CASES = {case.id: case for case in load_suite().cases}


def features_in(log: bytes) -> set[str]:
    reader = FileReader(expand=True)
    return {feature for event in read_events(io.BytesIO(log), reader=reader) for feature in features_of(event)}


@pytest.mark.parametrize("name", FEATURES)
def test_a_case_differs_from_its_controls_in_one_feature(name: str) -> None:
    about = FEATURES[name]
    for case in about.cases:
        controls = set().union(*(features_in(CASES[control].log) for control in about.controls_of(case)))
        assert features_in(CASES[case].log) - controls == {name}, case
        assert name not in controls, case


@pytest.mark.parametrize("name", [name for name, about in FEATURES.items() if about.twins])
def test_a_twin_has_the_same_kinds_of_columns_and_another_setting(name: str) -> None:
    about = FEATURES[name]
    assert len(about.twins) == len(about.cases)
    for case, twin in zip(about.cases, about.twins, strict=True):
        settings = [[text for text in CASES[one].prepare if text.startswith("SET ")] for one in (case, twin)]
        differing = [pair for pair in zip(*settings, strict=True) if pair[0] != pair[1]]
        assert differing == [("SET GLOBAL binlog_row_metadata = MINIMAL", "SET GLOBAL binlog_row_metadata = FULL")], (
            case
        )


def test_the_outcomes_are_those_of_the_pinned_subjects_and_of_all_features() -> None:
    tools = load_outcomes()
    assert OWN not in tools
    assert len(tools) >= 5
    for name, tool in tools.items():
        pinned = catalogue()[name].version
        assert tool.version.startswith(pinned) or pinned == "of the bundle", name
        assert set(tool.outcomes) == set(FEATURES), name
        for feature, outcome in tool.outcomes.items():
            measured = [case for cases in outcome.cases.values() for case in cases]
            assert sorted(measured) == sorted(FEATURES[feature].cases), (name, feature)
    assert json.loads(OUTCOMES.read_text("utf-8"))["schema"] == 1


def tool(**outcomes: dict[str, tuple[str, ...]]) -> Tool:
    return Tool("x", "1", {name.replace("_", "-"): Outcome(cases, "said") for name, cases in outcomes.items()})


def test_a_statement_is_made_of_what_the_log_has_and_the_tool_fails_on() -> None:
    found = Counter({"payload": 45, "vector": 1, "xa": 2})
    about = tool(payload={"loses": ("a", "b")}, vector={"reads": ("a",)}, tagged_gtid={"loses": ("a",)})
    (statement,) = forecast(found, [about])
    assert statement.sentence.startswith("x 1 loses these 45 events: TRANSACTION_PAYLOAD events (40)")
    assert statement.is_certain
    (statement,) = forecast(found, [tool(vector={"reads": ("a",), "refuses": ("b",)})])
    assert statement.sentence.startswith("x 1 may refuse this event: ")
    assert not statement.is_certain
    assert forecast(found, [tool(xa={UNKNOWN: ("a",)})]) == []


def checked(*words: str | Path) -> tuple[int, str]:
    done = lab_here("check", *words)
    return done.code, done.out


def test_facts_of_a_log_are_counted() -> None:
    code, out = checked(CORPUS / "12-compressed-payload.binlog", "--format", "json", "--top", "1")
    found = json.loads(out)
    assert code == 1
    assert {each["feature"]: each["events"] for each in found["features"]} == {
        "partial-diffs": 2, "payload": 2, "no-names": 4, "no-names-binary": 4, "partial-image-unnamed": 2,
        "json": 2,
    }  # fmt: skip
    assert found["tables"][0]["rows"] == {"insert": 2, "update": 2}
    assert [each["size"] for each in found["largest_transactions"]] == [299]
    assert any(each["tool"] == "python-mysql-replication" and each["outcome"] == "loses" for each in found["tools"])


ORDERS = Path(__file__).parents[4] / "docs" / "tutorials" / "orders.binlog"
PAYLOAD, STATEMENTS, XA = (
    CORPUS / f"{name}.binlog" for name in ("12-compressed-payload", "13-statement-format", "17-xa-savepoint-rowsquery")
)


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ((ORDERS, "--tool", "debezium-binlog-client"),
         "1 of 1 tool loses rows of this log; set binlog_row_value_options='', or run binlog-lab expand"),
        ((PAYLOAD, XA, "--tool", "debezium-binlog-client", "--tool", "python-mysql-replication", "--tool", "zongji"),
         ("2 of 3 tools lose rows of these logs; set binlog_row_value_options='' (or run binlog-lab expand),"
         " binlog_transaction_compression=OFF (or run binlog-lab expand), binlog_row_metadata=FULL")),
        ((ORDERS, "--tool", "mariadb-binlog"),
         ("1 of 1 tool refuses events of this log; set binlog_row_value_options='', or run binlog-lab expand;"
         " no setting avoids the rest")),
        ((STATEMENTS, "--tool", "mysqlbinlog"),
         ("the tool loses, alters or refuses nothing of this log that was measured;"
         " 6 changes of rows in statements only")),
    ],
)  # fmt: skip
def test_the_first_line_is_the_verdict(words: tuple[str | Path, ...], first: str) -> None:
    code, out = checked(*words)
    assert (code, out.split("\n", 1)[0]) == (1, first)
    assert json.loads(checked(*words, "--format", "json")[1])["verdict"] == first


def test_a_tool_has_one_line_with_numbers_that_fit_their_nouns() -> None:
    lines = checked(ORDERS)[1].split("Tools\n")[1].split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines] == ["debezium-binlog-client", "mariadb-binlog", "mysql-event-stream"]
    assert lines[0].endswith(
        "loses 3 PARTIAL_UPDATE_ROWS events (39) with diffs of a document (measured: 3 of 3 Cases),"
        " 1 PARTIAL_UPDATE_ROWS event (39) without diffs (measured: 2 of 2 Cases)"
    )


def test_a_log_that_the_tool_reads_ends_with_0() -> None:
    log = CORPUS / "04-partial-multi-json-full.binlog"
    assert checked(log, "--tool", "mysqlbinlog")[0] == 0
    assert checked(log)[0] == 1
    assert checked(log, "--tool", "mysqlbinlgo")[0] == 2


def test_statements_encrypted_and_cut_files_end_with_1(tmp_path: Path) -> None:
    code, out = checked(CORPUS / "13-statement-format.binlog", "--tool", "mysqlbinlog")
    assert (code, "update t set b=b+1" in out) == (1, True)
    encrypted, cut = tmp_path / "encrypted", tmp_path / "cut"
    encrypted.write_bytes(b"\xfdbin" + bytes(600))
    cut.write_bytes((CORPUS / "14-rotate-a.binlog").read_bytes()[:-9])
    code, out = checked(encrypted, cut, "--tool", "mysqlbinlog", "--format", "markdown")
    assert code == 1
    assert "encrypted: no FORMAT" in out.replace("\\", "")
    assert "the binary log is encrypted" in out
    assert "the last event is cut off" in out


def test_a_transaction_near_a_limit_is_named_and_one_beyond_a_given_one_ends_with_1() -> None:
    log = CORPUS / "04-partial-multi-json-full.binlog"
    (largest,) = json.loads(checked(log, "--format", "json", "--top", "1")[1])["largest_transactions"]
    for name, size in (("max_binlog_cache_size", "plain"), ("group_replication_transaction_size_limit", "size")):
        for allowed, beyond in ((largest[size] - 1, True), (largest[size], False), (2 * largest[size], False)):
            words = (log, "--tool", "mysqlbinlog", "--limit", f"{name}={allowed}", "--format", "json")
            code, out = checked(*words)
            near = [each for each in json.loads(out)["near_limits"] if each["position"] == largest["position"]]
            assert [(each["limit"], each["size"], each["beyond"]) for each in near] == [(name, largest[size], beyond)]
            assert code == int(beyond)
        code, out = checked(log, "--tool", "mysqlbinlog", "--limit", f"{name}={2 * largest[size] + 1}")
        assert "which has" not in out
        assert code == 0
        assert "near_limits" in checked(log, "--limit", f"{name}=0", "--format", "json")[1]
    assert f"which has 100 % of {name} ({largest[size]})" in checked(log, "--limit", f"{name}={largest[size]}")[1]
    for wrong in ("nothing=1", "payload", "payload=x"):
        assert checked(log, "--limit", wrong)[0] == 2


def test_of_a_payload_the_bytes_inside_are_counted() -> None:
    log = CORPUS / "12-compressed-payload.binlog"
    found = json.loads(checked(log, "--format", "json", "--limit", "payload=1")[1])["near_limits"]
    with log.open("rb") as file:
        inside = [
            event.body.uncompressed_size for event in read_events(file) if isinstance(event.body, TransactionPayload)
        ]
    assert [each["size"] for each in found if each["limit"] == "payload" and each["size"]] == inside
