"""Files that a report leaves on the disk, and those that it must never touch."""

from __future__ import annotations

import base64
import dataclasses
import errno
import hashlib
import io
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from conformance.report import directory as directory_module
from conformance.report import junit, markdown
from conformance.report.directory import DirectoryInUseError, ReportDirectory, ReportError, render_again
from conformance.report.evidence import align, rows
from conformance.report.html import page
from conformance.report.results import Summary
from conformance.report.terminal import Detail, PlainProgress, print_summary
from conformance.report.wording import amount_of_bytes, duration, headline, plural, share
from conformance.stream import Block, CaseVerdict, Progress, RequirementInfo
from conformance.verdict import Verdict
from tests.report.synthetic_stream import END, FAILURE, FINDING, RUN, SERVER, SUBJECTS, green, records

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.stream import AnyRecord

FILES = {"index.html", "junit.xml", "summary.md", "results.json", "run.jsonl", ".binlog-lab-report"}


def run_into(path: Path, stream: Sequence[AnyRecord]) -> None:
    with ReportDirectory(path) as report:
        for record in stream:
            report.write(record)
        report.render()


# -- the directory --------------------------------------------------------------------------------------------


def test_a_run_leaves_exactly_the_files_of_the_contract(tmp_path: Path) -> None:
    run_into(tmp_path / "deep" / "report", records())
    assert {path.name for path in (tmp_path / "deep" / "report").iterdir()} == FILES


def test_an_empty_directory_is_taken_and_an_earlier_report_replaced(tmp_path: Path) -> None:
    run_into(tmp_path, records())
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "old.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("mine")
    run_into(tmp_path, green())
    assert {path.name for path in tmp_path.iterdir()} == FILES | {"notes.txt"}
    assert json.loads((tmp_path / "results.json").read_text())["run"]["exit_code"] == 0


def test_a_directory_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text("precious")
    with pytest.raises(DirectoryInUseError, match="left alone"):
        ReportDirectory(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]
    assert (tmp_path / "results.json").read_text() == "precious"


def test_a_file_in_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "report").write_text("x")
    with pytest.raises(DirectoryInUseError, match="not a directory"):
        ReportDirectory(tmp_path / "report")


def test_the_earlier_result_is_gone_before_the_new_run_begins(tmp_path: Path) -> None:
    run_into(tmp_path, green())
    report = ReportDirectory(tmp_path)
    report.write(RUN)
    assert {path.name for path in tmp_path.iterdir()} == {"run.jsonl", ".binlog-lab-report"}
    report.close()


def test_two_runs_cannot_write_into_one_directory(tmp_path: Path) -> None:
    with ReportDirectory(tmp_path) as report:
        report.write(RUN)
        with pytest.raises(DirectoryInUseError, match="another run"):
            ReportDirectory(tmp_path)
        assert (tmp_path / "run.jsonl").stat().st_size
    ReportDirectory(tmp_path).close()


def test_a_crash_while_rendering_leaves_the_old_files_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_into(tmp_path, green())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def crash(_summary: Summary, path: Path) -> None:
        path.write_text("half")
        raise RuntimeError

    monkeypatch.setitem(directory_module.RENDERED, "results.json", crash)
    with pytest.raises(RuntimeError):
        render_again(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_no_space_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_summary: Summary, path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setitem(directory_module.RENDERED, "index.html", full)
    with pytest.raises(ReportError, match="no space left"):
        run_into(tmp_path, green())
    assert not (tmp_path / "results.json").exists()


def test_progress_is_thinned_and_its_end_kept(tmp_path: Path) -> None:
    with ReportDirectory(tmp_path) as report:
        report.write(RUN)
        for done in range(1001):
            report.write(Progress(label="updates", done=done, total=1000))
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()[1:]]
    assert lines[-1]["done"] == 1000
    assert len(lines) < 20


def test_a_broken_off_run_is_rendered_again_as_incomplete(tmp_path: Path) -> None:
    run_into(tmp_path, green())
    stream = tmp_path / "run.jsonl"
    stream.write_bytes(stream.read_bytes()[:-10])
    summary = render_again(tmp_path)
    assert not summary.complete
    assert "Incomplete" in (tmp_path / "index.html").read_text()
    assert json.loads((tmp_path / "results.json").read_text())["run"]["complete"] is False


# -- junit ----------------------------------------------------------------------------------------------------


def test_junit_keeps_failure_error_and_skipped_apart() -> None:
    root = junit.build(Summary(records()))
    kinds = {
        case.get("name"): [child.tag for child in case if child.tag != "properties"] for case in root.iter("testcase")
    }
    assert kinds == {
        "checks/predict.py::partial_updates": ["failure"],
        "checks/sizes.py::storage": ["skipped"],
        "checks/decode.py::captured": ["failure"],
    }
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3", "failures": "2", "errors": "0", "skipped": "1",
    }  # fmt: skip


def test_junit_names_the_requirements_as_properties() -> None:
    root = junit.build(Summary(records()))
    case = next(case for case in root.iter("testcase") if case.get("name") == "checks/predict.py::partial_updates")
    named = [item.get("value") for item in case.iter("property") if item.get("name") == "requirement"]
    assert named == ["FR1", "FR2"]


def test_an_incomplete_run_has_an_error_in_junit() -> None:
    root = junit.build(Summary(green()[:-1]))
    assert root.get("errors") == "1"


def test_junit_is_well_formed_whatever_the_messages_hold(tmp_path: Path) -> None:
    ugly = dataclasses.replace(FAILURE, message="\x00\x1b[31m <&> \ud800 \uffff", block=None, check="\x01check")
    summary = Summary([RUN, ugly, END])
    junit.write_junit(summary, tmp_path / "junit.xml")
    assert ET.parse(tmp_path / "junit.xml").getroot().get("failures") == "1"


@pytest.mark.planted("FR1")
def test_a_text_that_is_none_ends_no_report(tmp_path: Path) -> None:
    """A program may print bytes that are no UTF-8; Python holds them as lone surrogates, which no file can have."""
    odd = dataclasses.replace(FAILURE, message="prints \udcff\ud800", got="\udcff" * 70_000)
    with ReportDirectory(tmp_path) as report:
        for record in (RUN, *SUBJECTS, odd, END):
            report.write(record)
        report.render()
    content = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert [failure["message"] for failure in content["failures"]] == ["prints \\udcff\\ud800"]
    assert "Prints \\udcff\\ud800." in (tmp_path / "index.html").read_text("utf-8")
    assert ET.parse(tmp_path / "junit.xml").getroot().tag == "testsuites"
    assert [record.message for record in render_again(tmp_path).failures] == ["prints \\udcff\\ud800"]


def test_terminal_page_json_junit_and_markdown_agree_about_listed_deviations() -> None:
    block = Block(
        check="updates/apply", subject=SERVER, requirements=("FR2",), block=0, cases=100, verdicts={"pass": 40},
        deviating=60, deviations={"noop-replace-refused": 60}, updates_compared=100,
    )  # fmt: skip
    summary = Summary([RUN, SUBJECTS[0], block])
    summary.add(summary.conclude(seconds=1))
    said = "Conformant except 1 known deviation. 100 updates compared byte for byte"
    terminal, html = summary_text(summary, Detail.VERBOSE), page(summary)
    text = "\n".join(markdown.build(summary))
    assert "≈ CONFORMANT EXCEPT KNOWN DEVIATIONS" in terminal
    assert "≈ deviates" in terminal
    for shown in (terminal, html, text):
        assert said in shown
    assert '<header class="top warn">' in html
    assert "40 of 100 · 60 deviates" in html
    assert "| ≈ | **FR2** " in text
    assert "| deviates | 40 of 100 · 60 deviates |" in text
    results = summary.to_results()
    assert results["run"]["exit_code"] == 0
    assert results["requirements"]["FR2"]["verdict"] == "deviates"
    (case,) = junit.build(summary).iter("testcase")
    assert [child.tag for child in case] == ["properties", "system-out"]
    assert case.findtext("system-out") == "deviates 60, pass 40"


def test_markdown_reads_texts_of_servers_as_text() -> None:
    ugly = dataclasses.replace(FAILURE, message="<b>|*`\n# [x](y)", signature="x")
    text = "\n".join(markdown.build(Summary([RUN, ugly, END])))
    assert r"\<b\>\|\*\` # \[x\](y)" in text
    assert FAILURE.replay is not None
    assert FAILURE.replay in text


# -- the page -------------------------------------------------------------------------------------------------


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_every_report_names_what_is_taken_on_trust() -> None:
    run = dataclasses.replace(RUN, trust={"times of commits": "which <microsecond>"})
    summary = Summary(run if record is RUN else record for record in records())
    assert summary.to_results()["trust"] == {"times of commits": "which <microsecond>"}
    assert "taken on trust, for lack of a rule: times of commits (results.json says which part)" in summary_text(
        summary
    )
    assert 'times of commits <span class="soft">which &lt;microsecond&gt;</span>' in page(summary)
    assert "trust" not in Summary([run, *SUBJECTS, END]).to_results()  # nothing was compared


def test_the_page_needs_no_network() -> None:
    text = page(Summary(records()))
    tags = Tags(text).tags
    assert not [attributes for _, attributes in tags if "src" in attributes or "style" in attributes]
    assert [attributes["href"] for tag, attributes in tags if tag == "link"] == ["data:,"]
    assert all((attributes["href"] or "").startswith("#") for tag, attributes in tags if tag == "a")


def test_the_policy_allows_only_the_style_and_the_script_by_their_hashes() -> None:
    text = page(Summary(records()))
    policy = next(a["content"] or "" for t, a in Tags(text).tags if t == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    for tag in ("style", "script"):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_without_its_script_the_page_hides_nothing_for_good() -> None:
    """Only ``details`` folds, and the target of a link stands inside, so that a browser opens it."""
    tags = Tags(page(Summary(records()))).tags
    assert not [attributes for tag, attributes in tags if tag == "details" and "id" in attributes]
    assert {"hidden", "onclick"}.isdisjoint({name for _, attributes in tags for name in attributes})


def test_anchors_are_case_ids_and_every_link_has_its_target_once() -> None:
    tags = Tags(page(Summary(records()))).tags
    ids = [attributes["id"] for _, attributes in tags if attributes.get("id")]
    links = {(attributes["href"] or "")[1:] for tag, attributes in tags if tag == "a"}
    assert FAILURE.case in ids
    assert len(ids) == len(set(ids))
    assert links <= set(ids)


def test_the_same_case_of_two_subjects_has_two_anchors() -> None:
    other = dataclasses.replace(FAILURE, subject="reference")
    ids = [attributes.get("id") for _, attributes in Tags(page(Summary([RUN, FAILURE, other, END]))).tags]
    assert FAILURE.case in ids
    assert f"{FAILURE.case}--reference" in ids


def test_what_subjects_say_is_shown_as_text() -> None:
    evil = dataclasses.replace(
        FAILURE, message="<script>alert(1)</script>", case='"><img src=x onerror=1>', statements=("</pre><b>",)
    )
    text = page(Summary([RUN, evil, END]))
    assert text.count("<script") == 1
    assert "<img" not in text
    assert "&lt;script&gt;" in text


def test_the_page_marks_rules_that_were_not_exercised() -> None:
    text = page(Summary(records()))
    assert text.count("not exercised</span></td>") == 2
    assert "Every rule was exercised" in page(Summary(green()))


def test_the_page_lists_every_requirement_with_source_servers_outcomes_and_why_it_is_not_judged() -> None:
    more = RequirementInfo(
        title="A part of it.", group="Parts", source="Document 7, section 4", allowed="Only this.", needs=("1S", "OLD"),
        within="FR1", reason="judged as part of FR1",
    )  # fmt: skip
    run = dataclasses.replace(RUN, requirements={**RUN.requirements, "FR1.1": more})
    text = page(Summary((run, *records()[1:])))
    coverage = text.partition('id="coverage"')[2].partition("</details>")[0]
    for name in run.requirements:
        assert f'<span class="id">{name}</span>' in coverage
    for words in (
        "<h3>Parts</h3>",
        "OLD a server older than the feature",
        "SUBJECT a decoder.",
        "Document 7, section 4",
        "1S, OLD",
        "Allowed: Only this.",
        "needs a second server",
    ):
        assert words in coverage
    assert '<a href="#requirement-FR1">judged as part of FR1</a>' in coverage
    assert "of all 8 requirements, 1 judged as part of these, 3 not judged" in text


def test_every_kind_of_failure_is_shown_although_one_is_frequent() -> None:
    many = [dataclasses.replace(FAILURE, case=f"many/{number}") for number in range(300)]
    rare = dataclasses.replace(FAILURE, case="rare", signature="another")
    text = page(Summary([RUN, *many, rare, END]))
    assert 'id="rare"' in text
    assert text.count('class="failure"') == 6
    assert "301 failing cases" in text


def test_a_stream_of_only_a_run_record_gives_a_page() -> None:
    assert "Incomplete" in page(Summary([RUN]))


# -- evidence -------------------------------------------------------------------------------------------------


def text_of(side: tuple[object, ...] | None) -> str:
    return "".join(getattr(piece, "text", "") for piece in side or ())


def test_hex_is_compared_by_byte_and_the_first_difference_marked() -> None:
    expected, got = align("00a1b2c3", "00a1ffc4")
    assert text_of(expected) == "00 a1 b2 c3"
    assert [(piece.text, piece.mark) for piece in got or () if piece.mark] == [("ff", "first"), ("c4", "more")]


def test_long_equal_parts_are_counted_instead_of_shown() -> None:
    expected, _ = align("00" * 1000 + "01" * 100, "00" * 1000 + "02" * 100)
    assert text_of(expected).startswith("(988 equal) … 00 00")
    assert text_of(expected).endswith("(48 more bytes)")


def test_a_side_that_ends_early_says_so() -> None:
    _, got = align("a102", "a1")
    assert text_of(got) == "a1 (ends here)"


@pytest.mark.parametrize(
    ("expected", "got", "first", "more"),
    [
        ('{"a": 1}', '{"b": 1}', ["a", "b"], []),
        ("the setting will be ignored", "the option will be ignored", ["setting", "option"], []),
        # What one side has more is marked there alone; the rest is not shifted against it.
        ("[true, 12, 3]", "[true, 456, 12, 3]", ["456, "], []),
        ("[1, 2", "[1, 2, 3]", ["(ends here)", ", 3]"], []),
        ("see 3648 at 1, column j", "see 3648 at 12, column k", ["1", "12"], ["j", "k"]),
        ("the same", "the same", [], []),
        ("one sentence", "another one", [], []),  # their words say enough
        ("x" * 99 + "y", "x" * 99 + "z", ["y", "z"], []),
    ],
)
def test_text_is_compared_by_word(expected: str, got: str, first: list[str], more: list[str]) -> None:
    sides = align(expected, got)
    pieces = [piece for side in sides for piece in side or ()]
    assert [piece.text.strip() for piece in pieces if piece.mark == "first"] == [text.strip() for text in first]
    assert [piece.text for piece in pieces if piece.mark == "more"] == more
    for side, whole in zip(sides, (expected, got), strict=True):
        assert text_of(side).replace(" (ends here)", "") in (whole, f"(63 equal) … {whole[63:]}")


def test_fields_keep_their_order_and_only_the_first_difference_is_first() -> None:
    found = rows(FAILURE)
    assert [row.first for row in found] == [False, False, True, False, False, False]
    assert [row.differs for row in found] == [False, False, True, False, True, True]


def test_a_verdict_without_values_has_no_evidence() -> None:
    assert rows(CaseVerdict(case="x", requirement="FR1", verdict=Verdict.CRASH, subject=SERVER, check="c")) == []


# -- the terminal ---------------------------------------------------------------------------------------------


def summary_text(summary: Summary, detail: Detail = Detail.BRIEF) -> str:
    out = io.StringIO()
    print_summary(summary, out, detail=detail)
    return out.getvalue()


def many_rows() -> Summary:
    """A run of 300 requirements: most pass, 40 deviate, 12 fail."""
    verdicts = {f"R{number}": "fail" if number % 25 == 7 else "deviates" if number % 7 == 3 else "pass"
                for number in range(300)}  # fmt: skip
    blocks = [
        Block(check="updates/apply", subject=SERVER, requirements=(name,), block=0, cases=100,
              verdicts={"pass": 90, word: 10} if word != "pass" else {"pass": 100})
        for name, word in verdicts.items()
    ]  # fmt: skip
    run = dataclasses.replace(RUN, requirements={name: RequirementInfo(title="t" * 200) for name in verdicts})
    summary = Summary([run, SUBJECTS[0], *blocks])
    summary.add(summary.conclude(seconds=1))
    return summary


@pytest.mark.parametrize("columns", ["", "80", "200", "no number"])
def test_a_summary_of_many_requirements_has_few_lines_and_verbose_names_all(
    columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    summary, width = many_rows(), int(columns) if columns.isdecimal() else 120
    lines = summary_text(summary).splitlines()
    assert len(lines) <= 25
    assert lines[0].startswith("✗ R7      fail, 90 of 100 · 10 fail: ttt")
    assert lines[5].startswith("✗ 7 more fail: R132 R157 ")
    assert any(line.startswith("≈ deviates") and " R3 R10 " in line for line in lines)
    whole = summary_text(summary, Detail.VERBOSE).splitlines()
    assert {line.split()[0] for line in whole if re.match(r"R\d+ ", line)} == {f"R{number}" for number in range(300)}
    for line in (*lines, *whole):
        assert len(line) <= width
        assert line == line.rstrip()


def test_a_quiet_summary_has_the_outcome_alone() -> None:
    assert summary_text(many_rows(), Detail.QUIET).splitlines()[0] == "✗ NONCONFORMANT"
    assert len(summary_text(many_rows(), Detail.QUIET).splitlines()) <= 3


def test_the_summary_is_plain_where_there_is_no_terminal() -> None:
    text = summary_text(Summary(records()), Detail.VERBOSE)
    assert "\x1b" not in text
    assert FAILURE.replay is not None
    assert FAILURE.replay in text
    assert "NONCONFORMANT" in text
    assert "evaluation/remove, type/TIMESTAMP" in text
    assert "seed 20240607" in text
    assert "set-replaces 40,100 (83 %) · set-inserts 8,000 (17 %)" in text


def test_terminal_page_and_json_say_who_owns_the_bytes() -> None:
    summary = Summary(records())
    assert "bytes: 101,000,000 predicted, 20,234,546 checked by rule, 132 taken on trust" in summary_text(summary)
    shown = page(summary)
    for text in (
        "<b>101.0 MB</b><span>predicted",
        "<b>20.2 MB</b><span>checked by rule",
        "<b>132 bytes</b><span>taken on trust",
    ):
        assert text in shown
    totals = summary.to_results()["totals"]
    owners = (totals["bytes_predicted"], totals["bytes_by_rule"], totals["bytes_on_trust"])
    assert sum(owners) == totals["bytes_compared"] == 121_234_678


def test_the_summary_shows_where_the_sides_part_and_never_an_unknown_place() -> None:
    text = summary_text(Summary(records()))
    assert "First difference: after.j.diffs[1].data, offset 17." in text
    assert 'expected  {"a": 1, "b": "[ä]"}' in text
    assert 'got       {"a": 1, "b": "[a]"}' in text
    no_offset = dataclasses.replace(FAILURE, offset=None)
    assert "None" not in summary_text(Summary([RUN, no_offset, END]))


def test_the_summary_names_the_smallest_case_before_the_one_that_was_met() -> None:
    smaller = dataclasses.replace(FINDING, replay="binlog-lab replay report/cases/small.json")
    lines = summary_text(Summary([RUN, FAILURE, smaller, END])).splitlines()
    commands = [line.strip() for line in lines if "binlog-lab replay" in line]
    assert commands == ["binlog-lab replay report/cases/small.json   (the smallest case)", FAILURE.replay]


def test_a_listed_deviation_is_explained_in_summary_and_page() -> None:
    text = summary_text(Summary(records()), Detail.VERBOSE)
    assert "listed deviation noop-replace-refused: explains 1 case (FR2, versions 8.0.3..)" in text
    assert "A replica refuses a REPLACE that changes no byte." in text
    assert "A replica refuses a REPLACE that changes no byte." in page(Summary(records()))


def test_the_mix_says_what_is_missing_for_a_representative_run() -> None:
    text = summary_text(Summary(records()), Detail.VERBOSE)
    assert "✓   83 %  JSON_SET replaces an existing member. (≥ 50 %)" in text
    assert "○   17 %  JSON_SET inserts a missing member. (≥ 25 %)" in text
    html = page(Summary(records()))
    assert html.count("not reached</span>") == 1


def test_a_run_that_judged_nothing_says_why_and_no_more() -> None:
    end = Summary([RUN]).conclude(
        seconds=0.1, could_not_run="/bin/true is not a MySQL server\n  | [ERROR] a line of its log"
    )
    text = summary_text(Summary([RUN, end]))
    assert "/bin/true is not a MySQL server." in text
    assert "[ERROR]" not in text  # on stderr, in the page and in run.jsonl
    assert "[ERROR] a line of its log</code></pre>" in page(Summary([RUN, end]))
    assert "census" not in text
    assert "Until then" not in text


def test_an_incomplete_run_is_never_called_conformant() -> None:
    text = summary_text(Summary(green()[:-1]))
    assert "INCOMPLETE" in text
    assert "CONFORMANT" not in text


def test_a_failed_and_incomplete_run_says_both() -> None:
    text = summary_text(Summary(records()[:-1]))
    assert "NONCONFORMANT" in text
    assert "INCOMPLETE" in text


def test_plain_progress_writes_the_beginning_and_the_end_of_each_job() -> None:
    out = io.StringIO()
    sink = PlainProgress(out, seconds=1e9)
    for done in range(0, 2**21 + 1, 2**18):
        sink(Progress(label="download", done=done, total=2**21, unit="bytes"))
    sink(Progress(label="index", done=7, total=100, unit="%"))
    sink(Progress(label="updates", done=5, unit="updates", note="block 1"))
    assert out.getvalue().splitlines() == [
        "download 0.0 MiB of 2.0 MiB (0 %)",
        "download 2.0 MiB of 2.0 MiB (100 %)",
        "index 7 %",
        "updates 5  block 1",
    ]


def test_plain_progress_of_jobs_side_by_side_writes_no_line_for_each_change_between_them() -> None:
    out = io.StringIO()
    sink = PlainProgress(out, seconds=1e9)
    for done in range(1, 5):
        sink(Progress(label="checks", done=done, total=4))
        sink(Progress(label="updates", done=done, total=9))
    assert out.getvalue().splitlines() == ["checks 1 of 4 (25 %)", "updates 1 of 9 (11 %)", "checks 4 of 4 (100 %)"]


# -- words ----------------------------------------------------------------------------------------------------


def test_the_headline_says_what_came_out() -> None:
    captures = dataclasses.replace(SUBJECTS[0], version="9.7.4", capabilities=("recorded",))
    assert "byte for byte with recorded captures of MySQL 9.7.4:" in headline(Summary([RUN, captures, *green()[2:]]))
    assert headline(Summary(green())) == "100,000 updates compared byte for byte with MySQL 9.7.4: 0 differ."
    assert headline(Summary(records())).startswith(
        "2 of 4 judged requirements fail: 2 kinds of failure, 2 cases failed."
    )
    asked = dataclasses.replace(RUN, options={"updates_of_profile": 2_000_000})
    assert headline(Summary([asked, *green()[1:]])) == (
        "100,000 updates compared byte for byte with MySQL 9.7.4: 0 differ."
        f" Only 100,000 of the 2,000,000 updates of the profile {RUN.profile} were looked at."
    )
    enough = dataclasses.replace(RUN, options={"updates_of_profile": 100_000})
    assert "Only" not in headline(Summary([enough, *green()[1:]]))
    assert headline(Summary([RUN])).startswith("The run was broken off before its last record.")


def test_numbers_are_said_in_words() -> None:
    assert [plural(count, "mismatch") for count in (0, 1, 1234)] == ["0 mismatches", "1 mismatch", "1,234 mismatches"]
    assert [amount_of_bytes(count) for count in (1, 999, 1000, 12_345_678)] == [
        "1 byte",
        "999 bytes",
        "1.0 kB",
        "12.3 MB",
    ]
    assert [share(part) for part in (0, 0.25, 0.1, 0.0142, 0.0001, 1)] == [
        "0 %",
        "25 %",
        "10 %",
        "1.4 %",
        "0.01 %",
        "100 %",
    ]
    assert [duration(s) for s in (0.84, 42, 59.7, 252, 3599.9, 3780)] == [
        "0.8 s", "42 s", "1 min 00 s", "4 min 12 s", "1 h 00 min", "1 h 03 min",
    ]  # fmt: skip
