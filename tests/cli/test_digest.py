"""``binlog-lab digest``: sums that must fit the log, what partial JSON saved, and logs that end early."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from conformance.logs.digest import Amount, Digest
from tests.in_process import lab_here

TUTORIALS: Final = Path(__file__).parents[2] / "docs" / "tutorials"
LOGS: Final = Path(__file__).parents[1] / "data" / "binlogs"


def digest(*words: str | Path) -> dict[str, Any]:
    done = lab_here("digest", *words, "--format", "json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_all_sums_are_those_of_the_logs() -> None:
    logs = LOGS / "01-partial-minimal.binlog", LOGS / "10-tagged-gtids-a.binlog"
    found = digest(*logs)
    lines = [json.loads(line) for line in lab_here("decode", "--format", "jsonl", *logs).out.splitlines()]
    assert found["total"]["rows"] == len(lines) == sum(sum(table["rows"].values()) for table in found["tables"])
    for parts in (found["writers"], found["times"]):
        for key, value in found["total"].items():
            assert sum(part[key] for part in parts) == value
    assert len(found["writers"]) == 4
    partial = [line for line in lines if line["event"] == "PARTIAL_UPDATE_ROWS_EVENT"]
    assert sum(table["partial"] for table in found["tables"]) == len({(x["file"], x["position"]) for x in partial})
    sizes = [each["size"] for each in found["largest_transactions"]]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 5


def test_what_partial_json_saved_and_would_save_is_the_difference_of_two_logs() -> None:
    (on,), (off,) = (digest(TUTORIALS / name)["partial_json"] for name in ("orders.binlog", "orders-off.binlog"))
    assert (on["saved"], on["would_save"]) == (716, 0)
    assert (off["saved"], off["would_save"]) == (0, 716)
    text = lab_here("digest", TUTORIALS / "orders.binlog").out
    assert "shop.orders.details: 5 updates, 98 of 814 logged; PARTIAL_JSON saved 716 (88.0 %)" in text
    assert "778 bytes, 2 rows: 021a7213-e70a-11f1-aed7-02fc00000001:6 at orders.binlog:2420 of shop.orders" in text


def test_a_log_that_was_not_read_to_its_end_ends_with_1_behind_the_digest(tmp_path: Path) -> None:
    cut = tmp_path / "cut"
    cut.write_bytes((TUTORIALS / "orders.binlog").read_bytes()[:-200])
    done = lab_here("digest", cut)
    assert done.code == 1
    assert done.out.startswith("1 log: ")
    assert "1 log not read to the end" in done.err
    assert lab_here("digest", "-").code == 2


def test_a_timeline_has_few_spans_whatever_the_time() -> None:
    for minutes, step in ((3, 1), (60, 5), (1440, 60), (20000, 1440)):
        found = Digest(1)
        found._times = {1440 * 20_000 + minute: Amount(1, 2, 3) for minute in range(minutes)}
        span, times = found.timeline()
        assert (span, sum(each.rows for each in times.values())) == (step, 2 * minutes)
        assert len(times) <= 24


def test_the_page_has_the_figures_of_the_json_and_texts_as_texts(tmp_path: Path) -> None:
    evil = tmp_path / "<script>x.binlog"
    evil.write_bytes((TUTORIALS / "orders.binlog").read_bytes()[:-200])
    done = lab_here("digest", evil, "--format", "html")
    assert done.code == 1
    assert "<script" not in done.out
    assert "Not read to the end: " in done.out
    page, data = (
        lab_here("digest", TUTORIALS / "orders.binlog", "--format", "html"),
        digest(TUTORIALS / "orders.binlog"),
    )
    assert page.code == 0, page.err
    for words in (
        f"<b>{data['total']['rows']:,}</b><span>changed rows",
        "<b>716 bytes</b><span>saved by partial JSON",
        f"<code>orders.binlog:{data['largest_transactions'][0]['position']}</code>",
        *(f"<code>{table['table']}</code>" for table in data["tables"]),
    ):
        assert words in page.out
