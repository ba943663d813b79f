"""``diff A B``: every difference between two runs has one name, and only a new failure changes the exit code."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cli import main
from conformance.harness.experiments.former_ids import present
from conformance.report.conditions import unlike
from conformance.report.diff import Change, DiffError, Line, Rechecked, compare, load
from conformance.report.directory import ReportDirectory
from conformance.stream import Block, End, Subject
from conformance.verdict import Verdict
from tests.live import lab
from tests.report import synthetic_stream
from tests.report.synthetic_stream import BLOCKS, FAILURE, LOSS, SERVER
from tests.report.test_matrix import RUN, info, tool, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.report.diff import Diff
    from conformance.stream import AnyRecord

CASES = ("a/one", "a/two", "b/three")


def write(path: Path, records: Sequence[AnyRecord], *, only_results: bool = False) -> Path:
    with ReportDirectory(path) as directory:
        for record in records:
            directory.write(record)
        directory.render()
    if not only_results:
        return path
    (path / "run.jsonl").unlink()
    return path / "results.json"


def decoder(found: dict[str, Verdict], version: str = "1.0", **more: Any) -> tuple[AnyRecord, ...]:
    cases = [info(name, f"DEC{1 + 'ab'.index(name[0])}") for name in CASES]
    said = [
        verdict(name, kind, f"tool-{version}", requirement=f"DEC{1 + 'ab'.index(name[0])}")
        for name, kind in found.items()
    ]
    return (RUN, *cases, tool(version, **more), *said, End(exit_code=0, seconds=1))


def diff_of(path: Path, a: Sequence[AnyRecord], b: Sequence[AnyRecord], *, only_results: bool = False) -> Diff:
    sides = [write(path / name, records, only_results=only_results) for name, records in (("a", a), ("b", b))]
    return compare(*map(load, sides))


def changes(diff: Diff) -> tuple[dict[str, Change], dict[str, Change]]:
    return {line.requirement: line.change for line in diff.requirements}, {
        line.case: line.change for line in diff.cases
    }


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("before", "after", "requirement", "case"),
    [
        (Verdict.PASS, Verdict.SILENT_LOSS, Change.NEW, Change.NEW),
        (Verdict.REFUSED, Verdict.CRASH, Change.NEW, Change.NEW),
        (None, Verdict.FAIL, Change.NEW, Change.NEW),
        (Verdict.SILENT_LOSS, Verdict.PASS, Change.FIXED, Change.FIXED),
        (Verdict.SILENT_LOSS, Verdict.REFUSED, Change.FIXED, Change.FIXED),
        (Verdict.SILENT_LOSS, Verdict.FAIL, Change.STILL, Change.STILL),
        (Verdict.SILENT_LOSS, Verdict.NOT_APPLICABLE, Change.GONE, Change.GONE),
        (Verdict.SILENT_LOSS, None, Change.GONE, Change.GONE),
        (Verdict.PASS, Verdict.REFUSED, Change.CHANGED, Change.CHANGED),
        (Verdict.LENIENT, Verdict.PASS, Change.CHANGED, Change.CHANGED),
        (Verdict.PASS, Verdict.PASS, None, None),
        (Verdict.PASS, None, None, None),
    ],
)
def test_each_difference_has_its_name(
    tmp_path: Path, before: Verdict | None, after: Verdict | None, requirement: Change | None, case: Change | None
) -> None:
    sides = [decoder({"a/one": Verdict.PASS, **({"b/three": kind} if kind else {})}) for kind in (before, after)]
    diff = diff_of(tmp_path, *sides)
    assert changes(diff) == (
        {"DEC2": requirement} if requirement else {},
        {"b/three": case} if case else {},
    )
    assert diff.new_failures is (requirement is Change.NEW)


def test_a_new_case_below_a_requirement_that_failed_before_is_a_new_failure(tmp_path: Path) -> None:
    diff = diff_of(
        tmp_path,
        decoder({"a/one": Verdict.FAIL, "a/two": Verdict.PASS}),
        decoder({"a/one": Verdict.FAIL, "a/two": Verdict.FAIL}),
    )
    assert changes(diff) == ({"DEC1": Change.STILL}, {"a/two": Change.NEW, "a/one": Change.STILL})
    assert diff.new_failures


def test_results_alone_tell_new_and_fixed_failures(tmp_path: Path) -> None:
    diff = diff_of(
        tmp_path,
        decoder({"a/one": Verdict.FAIL, "a/two": Verdict.PASS, "b/three": Verdict.FAIL}),
        decoder({"a/one": Verdict.PASS, "a/two": Verdict.FAIL}),
        only_results=True,
    )
    requirements, cases = changes(diff)
    assert requirements == {"DEC1": Change.STILL, "DEC2": Change.GONE}
    assert cases == {"a/one": Change.FIXED, "a/two": Change.NEW, "b/three": Change.GONE}


def test_a_subject_is_matched_by_name_in_another_version(tmp_path: Path) -> None:
    diff = diff_of(tmp_path, decoder({"a/one": Verdict.FAIL}), decoder({"a/one": Verdict.PASS}, "2.0"))
    assert diff.subjects == {"tool": ("tool-1.0", "tool-2.0")}
    assert changes(diff) == ({"DEC1": Change.FIXED}, {"a/one": Change.FIXED})


def test_two_versions_in_one_run_are_matched_by_id_first(tmp_path: Path) -> None:
    two = (*decoder({"a/one": Verdict.FAIL})[:-1], tool("2.0"), verdict("a/one", Verdict.PASS, "tool-2.0"))
    diff = diff_of(tmp_path, (*two, End(exit_code=1, seconds=1)), decoder({"a/one": Verdict.PASS}, "2.0"))
    assert diff.subjects == {"tool-2.0": ("tool-2.0", "tool-2.0"), "tool-1.0": ("tool-1.0", None)}
    assert changes(diff) == ({"DEC1": Change.GONE}, {"a/one": Change.GONE})


def test_servers_are_compared_too_and_their_failures_by_signature(tmp_path: Path) -> None:
    other = dataclasses.replace(FAILURE, case="u/another")
    later = [other if record is FAILURE else record for record in synthetic_stream.records()]
    diff = diff_of(tmp_path, synthetic_stream.records(), later)
    assert set(changes(diff)[0].values()) == {Change.STILL}
    assert changes(diff)[1] == {FAILURE.signature: Change.STILL, LOSS.case: Change.STILL}
    green = Block(check=BLOCKS[0].check, subject=SERVER, requirements=("FR1",), block=0, cases=9, verdicts={"pass": 9})
    server = Subject(id=SERVER, role="source", version="9.7.4")
    fixed = diff_of(tmp_path / "2", synthetic_stream.records(), (RUN, server, green, End(exit_code=0, seconds=1)))
    assert changes(fixed)[0] == {"FR1": Change.FIXED, "FR11": Change.GONE}
    assert changes(fixed)[1] == {FAILURE.signature: Change.FIXED, LOSS.case: Change.GONE}
    assert not fixed.new_failures


def server_run(*, strict: bool, listed: int = 0, failing: bool = False, **run: Any) -> tuple[AnyRecord, ...]:
    """A run of a server: ``listed`` cases of FR2 deviate as listed, or fail where the run is ``strict``."""
    command = "binlog-lab conformance --report r --server auto" + (" --no-deviations" if strict else "")
    fail = (listed if strict else 0) + failing
    block = Block(
        check="replicas/apply", subject=SERVER, requirements=("FR2",), block=0, cases=9,
        verdicts={"pass": 9 - listed - failing, **({"fail": fail} if fail else {})},
        deviating=0 if strict else listed, deviations={} if strict or not listed else {"noop-replace-refused": listed},
    )  # fmt: skip
    failed = dataclasses.replace(FAILURE, requirement="FR2", check="replicas/apply", block=0)
    shown = [dataclasses.replace(failed, signature="stop")] * bool(strict and listed)
    shown += [dataclasses.replace(failed, signature="own")] * failing
    server = Subject(id=SERVER, role="source", version="9.7.4", dialect="mysql-9.7")
    about = dataclasses.replace(synthetic_stream.RUN, command=command, **run)
    return (about, server, block, *shown, End(exit_code=int(bool(fail)), seconds=1))


def test_a_strict_run_against_a_lenient_one_fixes_nothing(tmp_path: Path) -> None:
    """A strict run of a server counts what the other one lists. A failure that is gone is fixed only where both list
    the same."""
    for number, only_results in enumerate((False, True)):
        diff = diff_of(
            tmp_path / str(number), server_run(strict=True, listed=2), server_run(strict=False, listed=2),
            only_results=only_results,
        )  # fmt: skip
        assert changes(diff) == ({"FR2": Change.LISTED}, {"stop": Change.LISTED})
        assert [tuple(each) for each in diff.conditions] == [("flags", "--no-deviations", "none")]
    mended = diff_of(
        tmp_path / "2", server_run(strict=False, listed=2, failing=True), server_run(strict=False, listed=2)
    )
    assert changes(mended) == ({"FR2": Change.LISTED}, {"own": Change.FIXED})
    assert mended.conditions == ()
    held = diff_of(tmp_path / "3", server_run(strict=True, listed=2), server_run(strict=True))
    assert changes(held) == ({"FR2": Change.FIXED}, {"stop": Change.FIXED})


def test_what_is_not_the_same_in_both_runs_is_named_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = dataclasses.replace(Subject(id=SERVER, role="source"), version="9.7.4", dialect="mysql-8.4")
    run, _, *rest = server_run(strict=True, seed=8, profile="full", kit="0.2.0", options={"updates": 5})
    a = write(tmp_path / "a", server_run(strict=False))
    b = write(tmp_path / "b", [run, other, *rest])
    assert {each.what: each.after for each in compare(load(a), load(b)).conditions} == {
        "seed": "8", "updates": "5", "profile": "full", "kit": "0.2.0", "flags": "--no-deviations",
        f"dialect of {SERVER}": "mysql-8.4",
    }  # fmt: skip
    code = main.run(["diff", str(a), str(b)])
    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert lines[3] == "not the same in both runs, so that differences may come from there:"
    assert "  flags: none → --no-deviations" in lines
    main.run(["diff", str(a), str(b), "--format", "markdown"])
    assert "profile quick → full" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "flags"),
    [
        ("binlog-lab conformance -v -r FR1 -q", ["-r FR1"]),
        ("binlog-lab conformance -x -r FR1", ["-r FR1", "-x"]),
        ("binlog-lab conformance -s none -n 7 -o r -qxrFR1 --requirement FR2 -n9", ["-r FR1", "-r FR2", "-x"]),
        ("", []),
        ("binlog-lab conformance --report r --server=auto --seed 7", []),
        ("binlog-lab conformance --no-deviations -r FR1 --keep -r FR2", ["--no-deviations", "-r FR1", "-r FR2"]),
        ("binlog-lab conformance --server-option a=b --allow may-crash", ["--allow may-crash", "--server-option a=b"]),
    ],
)
def test_flags_are_what_decides_the_judgement(command: str, flags: list[str]) -> None:
    before, after = ({"run": {"command": text}, "subjects": []} for text in ("binlog-lab conformance", command))
    assert [each.after for each in unlike(before, after, {})] == ([" ".join(flags)] if flags else [])


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"schema": 2}', '{"schema": 1, "subjects": 7}', "\x00"])
def test_what_is_no_result_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "results.json").write_text(content)
    for path in (tmp_path, tmp_path / "results.json", tmp_path / "absent"):
        with pytest.raises(DiffError):
            load(path)


# -- the command ----------------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main.run(["diff", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command_prints_text_json_and_markdown_and_ends_with_its_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write(tmp_path / "a", decoder({"a/one": Verdict.FAIL, "a/two": Verdict.PASS, "b/three": Verdict.FAIL}))
    b = write(tmp_path / "b", decoder({"a/one": Verdict.PASS, "a/two": Verdict.SILENT_LOSS, "b/three": Verdict.FAIL},
                                      "2.0")[:-1])  # fmt: skip
    code, out, _ = run(capsys, a, b)
    assert code == 1
    assert f"B: {b} (incomplete: " in out
    assert "tool (tool-1.0 → tool-2.0), cases" in out
    assert "  ✗ new     a/two  pass → silent-loss  [DEC1]" in out
    assert "  ✓ fixed   a/one  fail → pass  [DEC1]" in out
    assert "b/three" not in out
    assert out.splitlines()[-2] == "cases: 1 new, 1 fixed, 0 listed, 1 still, 0 gone, 0 changed"
    assert "not the same" not in out
    code, out, _ = run(capsys, a, b, "--format", "json")
    data = json.loads(out)
    assert (code, data["new_failures"], data["totals"]["cases"]["new"]) == (1, True, 1)
    assert {
        "change": "still", "subject": "tool", "requirement": "DEC2", "case": "b/three", "a": {"verdict": "fail"},
        "b": {"verdict": "fail"},
    } in data["cases"]  # fmt: skip
    code, out, _ = run(capsys, a, b, "--format", "markdown")
    assert code == 1
    assert out.startswith("### ✗ New failures\n")
    assert r"| ✗ | new | tool (tool-1.0 → tool-2.0) | a/two | pass → silent-loss |" in out


def test_the_command_ends_with_0_without_a_new_failure_and_with_2_without_a_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write(tmp_path / "a", decoder({"a/one": Verdict.FAIL}))
    assert run(capsys, a, a)[0] == 0
    (tmp_path / "empty").mkdir()
    code, out, err = run(capsys, a, tmp_path / "empty")
    assert (code, out) == (2, "")
    assert "results.json" in err
    assert run(capsys, a, tmp_path / "absent")[0] == 2


def test_a_signature_with_the_former_id_of_a_check_is_that_of_today(tmp_path: Path) -> None:
    sides = []
    for name, signature in (("a", "printing/text:a line"), ("b", "mysqlbinlog_output/text:a line")):
        failure = dataclasses.replace(FAILURE, signature=signature)
        records = [failure if record is FAILURE else record for record in synthetic_stream.records()]
        sides.append(write(tmp_path / name, records))
    assert changes(compare(*map(load, sides)))[1]["printing/text:a line"] is Change.FIXED
    found = changes(compare(*(load(side, present) for side in sides)))[1]
    assert found == {"mysqlbinlog_output/text:a line": Change.STILL, LOSS.case: Change.STILL}


def test_what_cannot_be_run_again_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A Case that is gone, and a failure whose command judges a whole requirement."""
    gone = dataclasses.replace(FAILURE, replay=f"binlog-lab replay {tmp_path}/cases/gone.json --server process")
    whole = dataclasses.replace(FAILURE, case="u/whole", signature="whole", replay="binlog-lab conformance -r FR1")
    records = synthetic_stream.records()
    sound = [record for record in records if record not in (FAILURE, LOSS, synthetic_stream.FINDING)]
    a, b = write(tmp_path / "a", (*records[:-1], gone, whole, records[-1])), write(tmp_path / "b", sound)
    assert main.run(["diff", str(a), str(b), "--recheck"]) == 0
    said = capsys.readouterr().out.partition("run again:\n")[2]
    assert "  ERROR    " in said
    assert ": binlog-lab conformance -r FR1\n" in said
    assert main.run(["diff", str(a), str(b), "--server", "auto"]) == 2


@pytest.mark.parametrize("change", Change)
@pytest.mark.parametrize("word", ["PASS", "DEVIATES", "FIXED", "FAILED", "DIED", "ERROR", ""])
def test_only_a_failure_that_run_b_does_not_have_contradicts_it(change: Change, word: str) -> None:
    line = Line(change=change, subject="s", requirement="FR1", case="c", before=None, after=None)
    assert Rechecked(line, word, "").contradicts is (word in ("FAILED", "DIED") and change is not Change.NEW)


@pytest.mark.live
@pytest.mark.nightly
def test_cases_that_fail_in_one_run_are_run_again_as_the_other_judges_them(tmp_path: Path) -> None:
    strict, listed = tmp_path / "strict", tmp_path / "listed"
    words = ("conformance", "-r", "W1b", "--updates", "100", "--seed", "7", "--report")
    assert lab(*words, strict, "--no-deviations").code == 1
    assert lab(*words, listed).code == 0
    done = lab("diff", strict, listed, "--recheck")
    assert (done.code, done.out.count("\n  DEVIATES "), done.out.count("\n  FAILED ")) == (0, 4, 0), done.text
    done = lab("diff", listed, strict, "--recheck")
    assert (done.code, done.out.count("\n  DEVIATES "), done.out.count("\n  FAILED ")) == (1, 0, 4), done.text
