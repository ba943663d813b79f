"""From a doctored observation to ``results.json``: the rows that turn red are those that are due, and no other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.row_images import RowImage
from conformance.harness.campaign.blocks import judge_block
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.harness.update_checks import UpdateCampaign
from conformance.report.results import Summary, write_results
from tests.judge.doctoring import ONE_DIFF, Fault, diffs, row, script
from tests.judge.perfect_server import observe
from tests.judge.updates.planted_observations import FAULTS

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.cases.observation import Observation
    from conformance.cases.script import Script
    from conformance.reference.binlog.rows import Row
    from conformance.stream import AnyRecord

DUE: Final = {
    "F3 FR2": (
        "wrong byte in a diff's value",
        "value of another type",
        "diff dropped",
        "diff too many",
        "INSERT as REPLACE",
        "diffs that cannot be read",
        "empty diffs instead of one",
        "wrong value inside a payload",
    ),
    "F3": (
        "diffs in another order",
        "a diff instead of empty diffs",
        "surplus partial bit",
        "SQL NULL instead of JSON null",
        "JSON null instead of SQL NULL",
        "no bytes instead of JSON null",
        "wrong other column",
        "wrong before image",
        "rows in another order",
        "row dropped",
        "row twice",
        "wrong columns bitmap",
        "before image FULL instead of MINIMAL",
        "STMT_END missing",
        "foreign key flag",
        "key lost",
        "key of another row",
        "wrong start document",
        "wrong checksum",
        "header flag",
        "nullable column that is not",
        "another table name",
        "another schema in TABLE_MAP",
        "column of another type",
        "optional metadata missing",
        "column missing in a FULL image",
        "wrong unchanged column in a FULL image",
    ),
    "FR1 F3": (
        "path not as in the statement",
        "value wider than it must be",
        "length in a longer form",
        "value_options 0 in front of diffs",
        "value_options 2",
        "type in the header says UPDATE_ROWS",
        "bytes after the last row",
        "row cut off",
        "wrong length in the header",
        "wrong checksum of the GTID",
        "GTID cut off",
        "two transactions as one",
        "transaction in the middle missing",
        "payload that does not decompress",
        "bytes behind the last event of a payload",
        "payload of unknown compression",
        "wrong checksum of a payload",
    ),
    "FR1 D5 D6 F3": (
        "full instead of partial",
        "full instead of partial where 4 + D = L - 1",
        "diffs under the wrong column's bit",
        "partial bit cleared",
        "one of two columns full",
        "document that is no JSON",
        "document cut off",
        "document of shared children",
        "document too deep",
    ),
    "FR1 D6 F3": ("partial instead of full where 4 + D = L",),
    "FR1 D2": ("UPDATE_ROWS instead of PARTIAL_UPDATE_ROWS",),
    "FR1": (
        "row event missing",
        "TABLE_MAP missing",
        "BEGIN missing",
        "XID missing",
        "ROWS_QUERY that nobody asked for",
        "second statement of a transaction missing",
        "last transaction missing",
        "last transaction twice",
        "everything missing",
        "tables for update not named",
        "time zone missing",
        "sql_mode missing",
        "status variables in another order",
        "another schema",
        "another text than BEGIN",
        "error code in BEGIN",
        "GTID flags",
        "transaction_length one too large",
        "original timestamp of a transaction that is not replicated",
        "no error where one is due",
        "another error number",
        "error out of the blue",
        "one row less changed",
        "a row changed where none should",
        "event missing inside a payload",
        "payload's uncompressed size",
        "payload's header flag",
        "not compressed though the session says so",
        "compressed though the session does not say so",
        "another text in ROWS_QUERY",
    ),
    "IP1": (
        "storage size",
        "storage size of a NULL",
        "free space",
        "free space of a document with a hole",
    ),
    "IP2": (
        "text",
        "text that differs in a space",
        "text null instead of NULL",
        "NULL instead of text null",
        "row that cannot be read back",
    ),
}
JUDGED: Final = {"FR1", "D2", "D5", "D6", "D7", "F3", "FR2", "IP1", "IP2"}


def red(made: Script, observation: Observation, folder: Path, *, times: int = 1) -> set[str]:
    """The rows of ``results.json`` that are red."""
    records: list[AnyRecord] = []
    campaign = UpdateCampaign(Lab(Settings(server="none", cases=folder), records.append))
    for number in range(times):
        campaign.record(judge_block(made, observation, number, 0.0))
    write_results(Summary(records), folder / "results.json")
    rows = json.loads((folder / "results.json").read_text("utf-8"))["requirements"]
    assert set(rows) == JUDGED
    assert all((row["verdict"] not in ("pass", "deviates")) is bool(row["failed"]) for row in rows.values())
    return {name for name, row in rows.items() if row["failed"]}


def test_a_perfect_server_turns_nothing_red(tmp_path: Path) -> None:
    assert red(script(), observe(script()), tmp_path) == set()


def test_every_fault_has_its_rows() -> None:
    assert sorted(name for names in DUE.values() for name in names) == sorted(fault.id for fault in FAULTS)


@pytest.mark.planted(*sorted(JUDGED))
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_turns_red_what_is_due_and_nothing_else(fault: Fault, tmp_path: Path) -> None:
    made = script(**fault.session)
    (due,) = (rows for rows, names in DUE.items() if fault.id in names)
    assert red(made, observe(made, **fault.observation), tmp_path) == set(due.split())


@pytest.mark.planted("D7")
def test_diffs_in_a_before_image_are_the_seventh_condition(tmp_path: Path) -> None:
    made = script(image=RowImage.FULL)
    place = 2  # of the document that the statement changes

    def changed(old: Row) -> Row:
        assert old.before is not None
        return old._replace(before=(*old.before[:place], ONE_DIFF[4:], *old.before[place + 1 :]))

    assert red(made, observe(made, **row("one diff", changed)), tmp_path) == {"D7", "F3"}


def test_no_colour_depends_on_how_many_failures_there_were(tmp_path: Path) -> None:
    """Only the first fifty failures of a run have a record of their own."""
    made = script()
    wrong = observe(made, **diffs("one diff", lambda old: [old[0]._replace(value=6)]))
    assert red(made, wrong, tmp_path, times=120) == {"F3", "FR2"}
