"""Findings on disk: seen again, made small, never in a repository, and told to vendors where they are others'."""

from __future__ import annotations

import json
import operator
from errno import ENOSPC
from threading import Event
from typing import TYPE_CHECKING

import pytest

from conformance.subjects.specs import parse_subject
from fuzz.peers.comparison.vendor_lines import MOST, lines_of
from fuzz.runner.alone.sandbox import InputOutcome
from fuzz.runner.errors import Unfit
from fuzz.runner.findings import Store, inputs_in, read
from fuzz.runner.launch import ROOT
from fuzz.runner.regressions import keep, may_crash_others
from fuzz.runner.run import Budget, Runner, TargetState
from fuzz.runner.targets import Target
from fuzz.sound.byte_draw import ByteDraw
from fuzz.sound.logs import log

if TYPE_CHECKING:
    from pathlib import Path

OUTCOME = InputOutcome("error", "IndexError in a.b < c.d: x[3]", "list index out of range", "Traceback")
TARGET = Target("jsonb-decode", "fuzz.targets.jsonb_decode")
PEER = Target("somebody", "fuzz.peers.mysql_replication_rows", peer=True)


def test_a_finding_that_cannot_be_stored_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "add", full)
    runner = Runner(TargetState(TARGET), Budget(), store, Event(), started="")
    with pytest.raises(Unfit, match=r"findings: No space left on device; not stored: IndexError"):
        runner._store_one(b"", OUTCOME)


def test_a_finding_is_known_when_it_is_seen_again_and_its_smaller_input_stays(store: Store) -> None:
    first = store.add(TARGET, b"12345", OUTCOME, seed=1, started="2026-01-01")
    assert first.is_new
    again = store.add(TARGET, b"1234567", OUTCOME, seed=2, started="2026-01-02")
    assert not again.is_new
    assert (again.seed, again.first_seen, again.last_seen) == (1, "2026-01-01", "2026-01-02")
    assert again.path.read_bytes() == b"12345"
    assert store.add(TARGET, b"1", OUTCOME, seed=2, started="2026-01-03").path.read_bytes() == b"1"
    assert read(again.path) is not None
    assert list(inputs_in(store.directory)) == [again.path]
    assert again.replay == f"binlog-lab fuzz replay {again.path}"


def test_another_signature_is_another_finding(store: Store) -> None:
    one = store.add(TARGET, b"1", OUTCOME, seed=1, started="")
    other = store.add(TARGET, b"1", InputOutcome("error", "IndexError in a.b < c.d: y[3]", "", ""), seed=1, started="")
    assert one.path != other.path


def test_the_original_stays_beside_the_smaller_input(store: Store) -> None:
    finding = store.smaller(TARGET, store.add(TARGET, b"12345", OUTCOME, seed=1, started=""), b"3")
    assert (finding.path.read_bytes(), finding.path.with_suffix(".original").read_bytes()) == (b"3", b"12345")
    assert (finding.size_before, finding.size, finding.reproduced) == (5, 1, True)


def test_findings_are_never_stored_in_a_repository() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    with pytest.raises(Unfit, match="lies in the repository"):
        Store(ROOT / "findings")


def test_a_finding_of_a_peer_has_a_text_for_its_vendor(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzz.runner.findings._package", lambda _: "somebody 1.2")
    finding = store.add(PEER, b"\x00\x01", OUTCOME, seed=1, started="2026-01-01")
    assert finding.path.parent == store.directory / "peers" / "somebody"
    finding = store.smaller(PEER, finding, b"\x01")
    assert finding.path.with_suffix(".binlog").read_bytes() == log(ByteDraw(b"\x01"))
    text = finding.path.with_suffix(".md").read_text("utf-8")
    assert all(part in text for part in ("somebody 1.2", "list index out of range", f'"{finding.path.stem}.binlog"'))
    whole = text.split("```text\n")[1].split("```")[0]
    assert bytes.fromhex(whole) == log(ByteDraw(b"\x01"))
    assert not any(part in text for part in (str(tmp_path), "Traceback", "conformance", "fuzz."))
    with pytest.raises(Unfit, match=r"other people's software.*SECURITY\.md"):
        keep(finding.path, directory=tmp_path)


def test_a_finding_is_in_doubt_until_it_ran_again(store: Store) -> None:
    finding = store.add(TARGET, b"12345", OUTCOME, seed=1, started="")
    assert finding.doubt == "not yet confirmed"
    assert store.confirmed(TARGET, finding, again=False).doubt == "not seen again without the fuzzer"
    assert store.confirmed(TARGET, finding, again=True).doubt == ""
    assert read(finding.path) == store.confirmed(TARGET, finding, again=False)  # once is enough


def test_a_finding_of_a_kit_that_told_less_keeps_what_it_told(store: Store) -> None:
    finding = store.smaller(TARGET, store.add(TARGET, b"12345", OUTCOME, seed=1, started=""), b"3")
    facts = finding.path.with_suffix(".json")
    told = {name: value for name, value in json.loads(facts.read_text()).items() if name not in ("checked", "shrunk")}
    facts.write_text(json.dumps(told))
    assert read(finding.path) == finding


def test_all_files_of_a_finding_are_replaced_or_none(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = store.add(PEER, b"\x00\x01", OUTCOME, seed=1, started="")
    before = {path: path.read_bytes() for path in finding.path.parent.iterdir()}
    monkeypatch.setattr(PEER.module(), "log_of", operator.itemgetter("no log"))
    with pytest.raises(TypeError):
        store.smaller(PEER, finding, b"\x01")
    assert {path: path.read_bytes() for path in finding.path.parent.iterdir()} == before


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("py:mine.decoder:decode", 'from mine.decoder import decode\nfor change in decode("x.binlog"):'),
        ("cmd:./decoder --json {file}", "./decoder --json x.binlog\n"),
        ("jsonl:node adapter.js", '"path": "x.binlog"}\\n\' |\n  node adapter.js\n'),
        ("mysqlbinlog", "mysqlbinlog -vv --base64-output=DECODE-ROWS --print-table-metadata x.binlog\n"),
        ("python-mysql-replication", "(9, 7), True, vars(lib.row_event).values()"),
        ("mysql-event-stream", "engine.set_checksum_enabled(True)"),
        ("debezium-binlog-client", 'new java.io.File("x.binlog")'),
        ("zongji", "binlog-lab serve x.binlog --port 13306\n"),
    ],
)
def test_a_vendor_sees_a_finding_with_six_lines(spec: str, shown: str) -> None:
    lines = lines_of(parse_subject(spec)).of(log(ByteDraw(b"")), "x.binlog")
    assert shown in lines.code
    assert len(lines.code.splitlines()) <= MOST
    assert "{" not in lines.code.replace("{}", "") or lines.language != "sh" or spec.startswith("jsonl")


def test_a_finding_becomes_a_regression_once(store: Store, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("| file | what was wrong |\n", "utf-8")
    finding = store.add(TARGET, b"\x04\x01", OUTCOME, seed=1, started="")
    kept = keep(finding.path, name="true-is-true", note="a | b", directory=tmp_path)
    assert kept == tmp_path / "jsonb-decode" / "true-is-true.bin"
    assert kept.read_bytes() == b"\x04\x01"
    assert "| `jsonb-decode/true-is-true.bin` | a / b |" in (tmp_path / "README.md").read_text("utf-8")
    with pytest.raises(Unfit, match="kept already"):
        keep(finding.path, name="again", directory=tmp_path)
    other = store.add(TARGET, b"\x04\x02", InputOutcome("error", "other", "", ""), seed=1, started="")
    with pytest.raises(Unfit, match="another input"):
        keep(other.path, name="true-is-true", directory=tmp_path)
    with pytest.raises(Unfit, match="is no id"):
        keep(other.path, name="True Is", directory=tmp_path)
    with pytest.raises(Unfit, match="no finding"):
        keep(kept, directory=tmp_path)


def test_what_may_crash_others_is_not_kept(store: Store, tmp_path: Path) -> None:
    # The image of a row: a whole document, an object whose one key lies inside of its own header.
    image = bytes(6) + bytes((0x00, 1, 0, 12, 0, 1, 0, 1, 0, 0x04, 1, 0, 0x61))
    assert may_crash_others(image)
    assert not may_crash_others(image[6:])  # a bare value: nothing takes it as it is
    finding = store.add(TARGET, image, OUTCOME, seed=1, started="")
    with pytest.raises(Unfit, match="may crash other people's software"):
        keep(finding.path, directory=tmp_path)
