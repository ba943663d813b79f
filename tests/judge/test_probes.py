"""Answers of servers about the table of versions: agreement, contradiction, and what the table only assumes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.judge.probes import (
    Probed,
    Undecided,
    contradiction_words,
    dialect_as_shown,
    has_probe,
    probe,
    probe_all,
    row_of,
)
from conformance.requirements.versions import SWITCHES, dialect_of
from tests.live import ROOT

NEWEST = (9, 7, 4)
SHOWN_BY_NONE = {
    "max_row_versions", "expected_deviations", "row_end_check", "initialises_itself", "utf8mb4_is_safe",
    "secure_file_priv_empty", "small_lob_changes",
}  # fmt: skip


def recorded(name: str = "9.7.4", /, **changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "tests/data/answers" / f"{name}.json").read_text("utf-8"))
    return found | changes


def by_row(version: tuple[int, int, int], answers: dict[str, Any]) -> dict[str, Probed]:
    return {item.row: item for item in probe_all(version, answers)}


def test_real_servers_contradict_nothing() -> None:
    for version, name in ((NEWEST, "9.7.4"), ((5, 6, 24), "5.6.24")):
        assert [item.row for item in probe_all(version, recorded(name)) if item.agrees is False] == []


def test_every_row_has_a_question_but_few() -> None:
    assert {row for row in SWITCHES if not has_probe(row)} == SHOWN_BY_NONE
    for row in SHOWN_BY_NONE:
        with pytest.raises(Undecided):
            probe(row, recorded())


# An answer that a server of another version would give, by the row that it must contradict.
OTHER: dict[str, dict[str, Any]] = {
    "has_event39": {"variable binlog_row_value_options": None},
    "has_v1_option": {"variable log_bin_use_v1_row_events": "0", "warnings v1": []},
    "reads_v1_rows": {"binlog v1": 0},
    "tagged_gtid": {"text tagged set": None},
    "gipk_flag": {"variable sql_generate_invisible_primary_key": None},
    "query_status_max": {"variable enable_cascade_triggers": None},
    "payload_event": {"variable binlog_transaction_compression": None},
    "json_text_double": {"text parsed double": "-1.103016166330539"},
    "json_double_text": {"text double": "1"},
    "corrupt_event_symbol": {"symbol 1610": "ER_SLAVE_CORRUPT_EVENT"},
    "change_source_syntax": {"statement change SOURCE": 1064, "statement change MASTER": 0},
    "replica_syntax": {"statement replica REPLICA": 1064, "statement replica SLAVE": 0},
    "log_status_syntax": {"statement log BINARY LOG STATUS": 1064, "statement log MASTER STATUS": 0},
    "reset_syntax": {"statement reset BINARY LOGS AND GTIDS": 1064, "statement reset MASTER": 0},
    "replica_var_names": {"variable replica_parallel_workers": None},
    "gtid_mode_default": {"default gtid_mode": "OFF"},
    "log_bin_default": {"default log_bin": "OFF"},
    "server_id_default": {"default server_id": "0"},
    "binlog_format_deprecated": {"warnings format": []},
    "applier_workers_default": {"default replica_parallel_workers": "0"},
    "auth_default": {"plugin of an account": "mysql_native_password"},
    "native_password": {"plugin mysql_native_password": "DISABLED"},
    "persist": {"variable persisted_globals_load": None},
    "lob_format": {"page types": [10]},
    "sdi": {"page types": [10]},
    "reader_skips_unknown_tlv": {"printed metadata": "# Columns(INT)"},
    "mysqlbinlog_json_text": {"printed json": False},
    "mysqlbinlog_flag_list": {"printed flags": "flags: STMT_END_F"},
    "vector_type": {"statement vector": 1064},
}


@pytest.mark.parametrize("row", OTHER)
def test_another_answer_is_a_finding_about_the_table(row: str) -> None:
    item = by_row(NEWEST, recorded(**OTHER[row]))[row]
    assert item.contradicts
    assert row in contradiction_words(NEWEST, item)
    assert row_of(item)["agrees"] is False
    switch = SWITCHES[row]
    shown = dialect_as_shown(dialect_of(NEWEST), (item,))
    taken = getattr(getattr(shown, switch.part), switch.name) == item.found
    assert taken is (switch.part not in {"log", "json"})


def test_the_bytes_of_a_version_that_nobody_observed_are_taken_from_the_server() -> None:
    """A newer server without VECTOR, say: the table only assumes that it goes on."""
    newer = (NEWEST[0] + 1, 0, 0)
    item = by_row(newer, recorded(**OTHER["vector_type"]))["vector_type"]
    assert not item.contradicts
    assert dialect_as_shown(dialect_of(newer), (item,)).log.vector_type is False


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("insert", {"signedness_counts_year", "null_bitmap_padding", "rows_flags_mask", "tlv_max"}),
        ("metadata", {"tlv_max"}),
        ("partition", {"partition_chunk"}),
    ],
)
def test_events_of_an_old_server_contradict_the_newest(name: str, rows: set[str]) -> None:
    """5.6.24's own events in place of 9.7.4's: each row that they show is found."""
    question = f"events {name}"
    answers = recorded(**{question: recorded("5.6.24")[question]})
    assert {item.row for item in probe_all(NEWEST, answers) if item.contradicts} >= rows


def test_an_old_description_contradicts_the_newest() -> None:
    answers = recorded(description=recorded("5.6.24")["description"])
    found = {item.row for item in probe_all(NEWEST, answers) if item.contradicts}
    assert found >= {"fde_types", "fde_v1_header_len", "gtid_post_header"}


@pytest.mark.parametrize("wrong", [None, "", "zz", "00", 7, [], ["00"], {"a": 1}])
def test_answers_that_make_no_sense_decide_nothing(wrong: Any) -> None:
    for question in recorded():
        for item in probe_all(NEWEST, {"version": "9.7.4", question: wrong}):
            assert item.agrees is not None or item.note


def test_what_the_table_only_assumes_is_settled_and_no_finding() -> None:
    """8.1's description is assumed to have 41 entries: a server with 42 settles it."""
    answers = recorded()
    item = by_row((8, 1, 0), answers)["fde_types"]
    assert (item.agrees, item.contradicts) == (False, False)
    assert dialect_as_shown(dialect_of((8, 0, 20)), (item,)).log.fde_types == 42


def test_what_was_not_asked_is_not_guessed() -> None:
    probed = by_row(NEWEST, {"version": "9.7.4"})
    assert all(item.agrees is None and item.note for item in probed.values())
    assert all("found" not in row_of(item) for item in probed.values())
    assert dialect_as_shown(dialect_of(NEWEST), tuple(probed.values())) == dialect_of(NEWEST)


def test_a_server_that_knows_old_and_new_words_decides_nothing() -> None:
    both = recorded() | {"statement change SOURCE": 0, "statement change MASTER": 0}
    assert by_row(NEWEST, both)["change_source_syntax"].agrees is None
