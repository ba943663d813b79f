"""Decoders in a report: the matrices, the page and badge of each subject, and what a reader must find there."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from conformance.report import markdown
from conformance.report.directory import ReportDirectory, render_again
from conformance.report.html import page
from conformance.report.results import Summary
from conformance.report.subjects import badge
from conformance.report.subjects import markdown as subjects_markdown
from conformance.report.subjects import page as subject_page
from conformance.report.terminal import print_summary
from conformance.stream import (
    DECODER,
    CaseInfo,
    CaseVerdict,
    End,
    Finding,
    KnownIssue,
    Run,
    StreamError,
    Subject,
    read_stream,
)
from conformance.verdict import Verdict
from tests.report import decoder_stream
from tests.report.synthetic_stream import BLOCKS, SUBJECTS
from tests.report.test_files import Tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.stream import AnyRecord

RUN = Run(kit="0.1.0", seed=1, profile="quick", started="2026-11-07T08:09:10Z", command="x", selected=1)
UNSEEN = (
    Verdict.DIFFERS, Verdict.DEVIATES, Verdict.FIXED, Verdict.INCONCLUSIVE, Verdict.INFO, Verdict.NOT_RUN,
)  # fmt: skip
PEER = "python-mysql-replication-1.24"


def info(name: str, *requirements: str, size: int = 0) -> CaseInfo:
    return CaseInfo(id=name, title=f"title of {name}", why=f"why {name}", group=name.partition("/")[0],
                    requirements=requirements, size=size)  # fmt: skip


def verdict(case: str, found: Verdict, subject: str = "tool-1.0", **more: Any) -> CaseVerdict:
    return CaseVerdict(case=case, verdict=found, subject=subject, check="d/c", **{"requirement": "DEC1", **more})


def tool(version: str = "1.0", **more: Any) -> Subject:
    return Subject(id=f"tool-{version}", role=DECODER, version=version, **more)


def summary_of(*records: AnyRecord) -> Summary:
    return Summary((RUN, *records, End(exit_code=0, seconds=1)))


@pytest.fixture(scope="module")
def whole() -> Summary:
    return Summary(decoder_stream.records(90))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report")
    with ReportDirectory(path) as directory:
        for record in decoder_stream.records(90):
            directory.write(record)
        directory.render()
    return path


# -- what the matrix counts -----------------------------------------------------------------------------------


def test_rows_begin_with_the_worst_verdict_and_then_with_what_most_subjects_have() -> None:
    cases = [info(name, "DEC1") for name in ("a/pass", "b/refused", "c/one-loss", "d/two-losses", "e/excluded")]
    two = tool("2.0")
    found = [
        verdict("a/pass", Verdict.PASS), verdict("b/refused", Verdict.REFUSED),
        verdict("c/one-loss", Verdict.SILENT_LOSS), verdict("d/two-losses", Verdict.SILENT_LOSS),
        verdict("e/excluded", Verdict.NOT_APPLICABLE), verdict("d/two-losses", Verdict.CRASH, two.id),
    ]  # fmt: skip
    rows = summary_of(*cases, tool(), two, *found).matrix.rows()
    assert [row.info.id for row in rows] == ["d/two-losses", "c/one-loss", "b/refused", "e/excluded", "a/pass"]
    assert [row.anomalies for row in rows] == [2, 1, 1, 0, 0]


def test_a_failed_case_counts_under_the_requirement_of_its_verdict_alone() -> None:
    cases = [info("a/both", "DEC1", "DEC10"), info("a/too", "DEC1", "DEC10"), info("a/nine", "DEC9")]
    found = [
        verdict("a/both", Verdict.SILENT_LOSS, requirement="DEC10"),
        verdict("a/too", Verdict.PASS),
        verdict("a/nine", Verdict.LENIENT, requirement="DEC9"),
    ]
    summary = summary_of(*cases, tool(), *found)
    cells = {name: (own["tool-1.0"].cases, own["tool-1.0"].failed) for name, own in summary.matrix.cells().items()}
    assert cells == {"DEC1": (1, 0), "DEC9": (1, 0), "DEC10": (2, 1)}
    assert list(cells) == ["DEC1", "DEC9", "DEC10"]
    results = summary.to_results()["requirements"]
    assert results["DEC10"]["subjects"]["tool-1.0"]["verdict"] == "silent-loss"
    assert results["DEC1"]["verdict"] == "pass"


def test_of_several_verdicts_about_a_case_the_worst_counts() -> None:
    records = (info("a/a"), tool(), verdict("a/a", Verdict.REFUSED), verdict("a/a", Verdict.CRASH))
    assert summary_of(*records, verdict("a/a", Verdict.PASS)).matrix.counts("tool-1.0") == {Verdict.CRASH: 1}


def test_a_defect_begins_with_its_smallest_log_and_passes_are_none() -> None:
    cases = [info("a/big", size=900), info("a/small", size=90), info("b/fine"), info("b/excluded")]
    same = "DEC1/silent-loss/missing change"
    found = [
        verdict("a/big", Verdict.SILENT_LOSS, signature=same), verdict("a/small", Verdict.SILENT_LOSS, signature=same),
        verdict("b/fine", Verdict.PASS), verdict("b/excluded", Verdict.NOT_APPLICABLE),
    ]  # fmt: skip
    (defect,) = summary_of(*cases, tool(), *found).matrix.defects("tool-1.0")
    assert (defect.first.case, len(defect.cases), defect.info.why) == ("a/small", 2, "why a/small")


@pytest.mark.parametrize(
    ("issue", "shown"),
    [
        (KnownIssue(subject="tool", issue="o/r#1", requirements=("DEC1",)), True),
        (KnownIssue(subject="tool", issue="o/r#1", requirements=("DEC2",)), False),
        (KnownIssue(subject="other", issue="o/r#1", requirements=("DEC1",)), False),
        (KnownIssue(subject="tool", issue="o/r#1", signatures=("DEC1/silent-loss",)), True),
        (KnownIssue(subject="tool", issue="o/r#1", requirements=("DEC1",), signatures=("DEC1/crash",)), False),
        (KnownIssue(subject="tool", issue="o/r#1"), False),
    ],
)
def test_a_public_report_belongs_to_a_defect_by_signature_or_else_by_requirement(
    issue: KnownIssue, shown: bool
) -> None:
    found = verdict("a/a", Verdict.SILENT_LOSS, signature="DEC1/silent-loss/missing change")
    (defect,) = summary_of(info("a/a"), tool(), issue, found).matrix.defects("tool-1.0")
    assert bool(defect.issues) is shown


def test_names_drop_the_version_unless_two_subjects_share_the_name() -> None:
    def names(*subjects: Subject) -> list[str]:
        return list(summary_of(info("a/a"), *subjects).matrix.names().values())

    assert names(tool(), Subject(id="cmd:./my tool {file}", role=DECODER)) == ["tool", "cmd-.-my-tool-file"]
    assert names(tool("1.0"), tool("2.0")) == ["tool-1.0", "tool-2.0"]
    assert names(tool(name="Tool"), tool("2.0", name="tool")) == ["tool-1.0", "tool-2.0"]
    assert names(Subject(id="../..", role=DECODER)) == ["subject"]


def test_a_run_without_decoder_cases_has_no_matrix() -> None:
    assert not Summary([RUN, *SUBJECTS, *BLOCKS]).matrix
    assert 'id="cases"' not in page(Summary([RUN, *SUBJECTS, *BLOCKS]))


# -- the pages ------------------------------------------------------------------------------------------------


def test_every_cell_that_is_no_pass_opens_to_its_place_on_the_page_of_the_subject(report: Path) -> None:
    index = Tags((report / "index.html").read_text()).tags
    links = [attributes["href"] or "" for tag, attributes in index if tag == "a"]
    cells = Counter(link.partition("#")[0] for link in links if link.startswith("subjects/") and "/some-shape" in link)
    summary = Summary(decoder_stream.records(90))
    for subject, name in summary.matrix.names().items():
        counts = summary.matrix.counts(subject)
        assert cells[f"subjects/{name}.html"] == counts.total() - counts[Verdict.PASS]
    ids: dict[str, set[str | None]] = {}
    for link in links:
        file, _, anchor = link.partition("#")
        if file and anchor:
            if file not in ids:
                ids[file] = {a.get("id") for _, a in Tags((report / file).read_text()).tags}
            assert anchor in ids[file], link


def pages(report: Path) -> Iterator[tuple[str, str]]:
    yield from (
        (path.name, path.read_text()) for path in [report / "index.html", *(report / "subjects").glob("*.html")]
    )


def test_pages_have_no_picture_and_each_id_once(report: Path) -> None:
    for name, text in pages(report):
        tags = Tags(text).tags
        assert not {tag for tag, _ in tags} & {"img", "iframe"}, name
        assert not [a for _, a in tags if "style" in a or "src" in a or any(key.startswith("on") for key in a)], name
        ids = [a["id"] for _, a in tags if a.get("id")]
        assert len(ids) == len(set(ids)), name
        inside = {(a["href"] or "")[1:] for tag, a in tags if tag == "a" and (a["href"] or "").startswith("#")}
        assert inside <= set(ids), name
        assert "default-src 'none'" in next(a["content"] or "" for t, a in tags if t == "meta" and "http-equiv" in a)


def test_rows_that_all_pass_are_behind_show_all(whole: Summary) -> None:
    text = page(whole)
    open_part, _, closed = text.partition("<details><summary>Show all:")
    calm = [row.info.id for row in whole.matrix.rows() if not row.anomalies]
    assert calm
    for case in calm:
        assert f'<tr id="{case}">' not in open_part
        assert f'<tr id="{case}">' in closed


def test_failures_of_decoders_stand_on_their_pages_and_not_among_the_failures_of_servers(whole: Summary) -> None:
    assert 'id="failures"' not in page(whole)
    assert 'id="not-passed"' not in page(whole)
    together = Summary((*decoder_stream.records(90)[:-1], *SUBJECTS, *BLOCKS))
    assert 'id="requirement-FR1"' in page(together)
    assert 'id="requirement-DEC1"' in page(together)


def test_the_page_of_a_subject_shows_why_expected_observed_bytes_words_and_command(whole: Summary) -> None:
    text = subject_page.page(whole, whole.subjects[PEER])
    for words in (
        "Of several diffs of one column only the first arrives.",  # of the finding
        "412 bytes instead of 2.3 kB",
        "Why it matters:</b> An order&#39;s status changes in the source and never in the warehouse.",
        'href="https://github.com/julien-duponchelle/python-mysql-replication/issues/521"',
        "First difference: <b>changes[1].after.j</b>",
        "rows[0].after.j.diffs[1].data",
        "binlog-lab conformance --subject python-mysql-replication --case diffs/some-shape-0",
        "unknown event type 39",
        "struct.error: short read",
        'id="loses"', 'id="alters"', 'id="crashes"', 'id="refuses"',
    ):  # fmt: skip
        assert words in text
    assert 'id="fails"' not in text


@pytest.mark.parametrize(
    ("found", "sort"),
    [
        (verdict("a", Verdict.SILENT_LOSS, kind="missing change"), "loses"),
        (verdict("a", Verdict.SILENT_LOSS, kind="absent column as NULL", got="null"), "alters"),
        (verdict("a", Verdict.SILENT_LOSS, got="1"), "alters"),
        (verdict("a", Verdict.TIMEOUT), "crashes"),
        (verdict("a", Verdict.FAIL), "fails"),
        (verdict("a", Verdict.REFUSED), "refuses"),
        (verdict("a", Verdict.INCONCLUSIVE), "unshown"),
        (verdict("a", Verdict.INFO), "other"),
    ],
)
def test_defects_are_sorted_by_what_users_suffer(found: CaseVerdict, sort: str) -> None:
    assert subject_page.sort_of(found) == sort


def test_what_subjects_say_is_text_on_every_page(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    with ReportDirectory(tmp_path) as directory:
        for record in (
            RUN, info("a/a", "DEC1"), tool(note=evil, language=evil, spec=evil, url="javascript:alert(1)"),
            verdict("a/a", Verdict.CRASH, message=evil, stderr=evil, error=evil, got=evil, expected="x", replay=evil,
                    signature=evil),
        ):  # fmt: skip
            directory.write(record)
        directory.render()
    for name, text in pages(tmp_path):
        assert text.count("<script") == (name == "index.html")
        assert "javascript:" not in text
    written = (tmp_path / "subjects.md").read_text()
    assert written.count("<script") == written.count("\\<script") > 0


def test_a_subject_that_could_not_be_had_says_why(whole: Summary) -> None:
    assert "no Java 17 on this machine" in page(whole)
    assert "not available: no Java 17 on this machine" in "\n".join(subjects_markdown.build(whole))
    (canal,) = [subject for subject in whole.to_results()["subjects"] if subject["id"] == "canal"]
    assert canal["unavailable"] == "no Java 17 on this machine"


# -- the other files ------------------------------------------------------------------------------------------


def test_a_report_is_rendered_again_with_the_same_files_and_a_new_run_takes_them_away(report: Path) -> None:
    before = {path.relative_to(report): path.read_bytes() for path in report.rglob("*") if path.is_file()}
    render_again(report)
    assert before == {path.relative_to(report): path.read_bytes() for path in report.rglob("*") if path.is_file()}
    names = {path.name for path in (report / "subjects").iterdir()}
    assert names == {
        f"{name}.{suffix}" for name in decoder_stream.HABITS for suffix in ("html", "svg", "badge.json")
    }  # fmt: skip


def test_a_run_without_decoders_leaves_none_of_their_files(tmp_path: Path) -> None:
    for stream in (decoder_stream.records(9, 2), (RUN, End(exit_code=0, seconds=1))):
        with ReportDirectory(tmp_path) as directory:
            for record in stream:
                directory.write(record)
            directory.render()
    assert not (tmp_path / "subjects").exists()
    assert not (tmp_path / "subjects.md").exists()
    with pytest.raises(StreamError):
        read_stream(tmp_path / "subjects")


@pytest.mark.parametrize(
    ("counts", "words", "colour"),
    [
        ({Verdict.PASS: 280}, "supports 280 of 280", badge.GREEN),
        ({Verdict.PASS: 200, Verdict.NOT_APPLICABLE: 80}, "supports 200 of 280", badge.GREEN),
        ({Verdict.PASS: 200, Verdict.LENIENT: 80}, "supports 280 of 280", badge.GREEN),
        ({Verdict.PASS: 200, Verdict.REFUSED: 80}, "supports 200 of 280", badge.AMBER),
        ({Verdict.PASS: 200, Verdict.INCONCLUSIVE: 80}, "supports 200 of 280", badge.GREY),
        ({Verdict.PASS: 1, Verdict.REFUSED: 8, Verdict.CRASH: 1}, "supports 1 of 10, crashes on 1", badge.RED),
        (
            {Verdict.SILENT_LOSS: 12, Verdict.CRASH: 3, Verdict.PASS: 1_000},
            "supports 1,000 of 1,015, loses 12",
            badge.RED,
        ),
        ({Verdict.NOT_APPLICABLE: 3}, "no case applies", badge.GREY),
        ({}, "no case applies", badge.GREY),
    ],
)
def test_a_badge_says_the_worst(counts: dict[Verdict, int], words: str, colour: str) -> None:
    data = json.loads(badge.endpoint(counts))
    assert data == {"schemaVersion": 1, "label": "binlog-lab", "message": words, "color": colour}
    picture = ET.fromstring(badge.svg(counts))
    assert picture.get("aria-label") == f"binlog-lab: {words}"


def test_markdown_has_the_matrix_and_every_defect(whole: Summary) -> None:
    text = "\n".join(markdown.build(whole))
    assert "| requirement | reference | mysqlbinlog | python-mysql-replication |" in text
    assert "| DEC2 | ✓ pass 10 of 10 | ✓ pass 10 of 10 | ✗ silent-loss 0 of 10 |" in text
    full = "\n".join(subjects_markdown.build(whole))
    for defect in whole.matrix.defects(PEER):
        assert f"smallest `{defect.first.case}`" in full
    assert "[julien-duponchelle/python-mysql-replication#521]" in full


def test_the_terminal_has_a_line_for_each_decoder(whole: Summary) -> None:
    out = io.StringIO()
    print_summary(whole, out, directory=Path("report"))
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["decoder", "supports", *(v for v in Verdict if v not in UNSEEN), "defects"] in lines
    assert ["✗", "python-mysql-replication", "52/90", "24", "4", "0", "0", "0", "10", "0", "52", "5"] in lines
    assert "○ canal: no Java 17 on this machine" in out.getvalue()
    assert "census" not in out.getvalue()
    assert "Its defects" not in out.getvalue()
    out = io.StringIO()
    print_summary(summary_of(info("a/a"), tool(), verdict("a/a", Verdict.FAIL)), out, directory=Path("report"))
    assert "Its defects: report/subjects/tool.html" in out.getvalue()


def test_results_name_the_suite_the_verdicts_and_the_defects_of_a_decoder(whole: Summary) -> None:
    results = whole.to_results()
    assert results["suite"] == {"version": "1.0", "digest": "4f1d22c07a91be03", "cases": 90}
    (peer,) = [subject for subject in results["subjects"] if subject["id"] == PEER]
    assert peer["verdicts"]["silent-loss"] == 24
    assert peer["defects"][0] == {
        "signature": "DEC16/silent-loss/missing", "verdict": "silent-loss", "requirement": "DEC16", "cases": 10,
        "smallest": "payload/some-shape-0",
    }  # fmt: skip


def test_each_number_of_a_decoder_is_the_same_wherever_it_stands(tmp_path: Path) -> None:
    cases = [info(f"a/{number}", "DEC1", size=100 + number) for number in range(9)]
    found = [verdict(f"a/{n}", Verdict.SILENT_LOSS, signature=f"s{n}", kind="missing change") for n in range(3)]
    found += [verdict(f"a/{n}", Verdict.REFUSED, signature="refused: x", error="x") for n in range(3, 6)]
    found += [verdict(f"a/{n}", Verdict.PASS) for n in range(6, 9)]
    of_tool: dict[str, Any] = {"subject": "tool-1.0", "case_file": "f", "replay": "r"}
    causes = [
        Finding(signature="Every DELETE is lost", message="Every DELETE is lost.", requirement="DEC24", case="a/1",
                cases=("a/0", "a/1", "a/2"), reason="In common: a DELETE.", why="Rows stay.", behind=1, **of_tool),
        Finding(signature="It stops at A", message="It stops at A.", requirement="DEC1", case="a/3",
                cases=("a/3", "a/4"), **of_tool),
        Finding(signature="It stops at B", message="It stops at B.", requirement="DEC20", case="a/5", cases=("a/5",),
                **of_tool),
        Finding(signature="Text is cut", message="Text is cut.", requirement="DEC12", case="shrunk/x", behind=2,
                verdict=Verdict.SILENT_LOSS, title="t", **of_tool),
    ]  # fmt: skip
    with ReportDirectory(tmp_path) as directory:
        records: list[AnyRecord] = [RUN, *cases, tool(), *found, *causes, End(exit_code=1, seconds=1)]
        for record in records:
            directory.write(record)
        summary = directory.summary
        directory.render()
    defects = summary.matrix.defects("tool-1.0")
    counts = summary.matrix.counts("tool-1.0")
    assert [(one.requirement, one.counted, one.behind) for one in defects] == [
        ("DEC24", 3, 1), ("DEC12", 0, 2), ("DEC1", 2, 0), ("DEC20", 1, 0),
    ]  # fmt: skip
    assert defects[0].first.case == "a/1"  # the Case that the finding was made of
    failing = counts.total() - counts[Verdict.PASS]
    assert sum(one.counted for one in defects) == failing == 6
    cells = {name: own["tool-1.0"] for name, own in summary.matrix.cells().items()}
    assert {name: cell.cases - cell.verdicts[Verdict.PASS] for name, cell in cells.items()} == {
        "DEC1": 2, "DEC20": 1, "DEC24": 3,
    }  # fmt: skip
    (stored,) = [one for one in summary.to_results()["subjects"] if one["id"] == "tool-1.0"]
    assert [(one["requirement"], one["cases"]) for one in stored["defects"]] == [
        (one.requirement, one.counted) for one in defects
    ]
    assert stored["support"] == {"supported": 3, "unsupported": 3, "wrong": 3, "undecided": 0}
    assert json.loads((tmp_path / "subjects" / "tool.badge.json").read_text())["message"] == "supports 3 of 9, loses 3"
    out = io.StringIO()
    print_summary(summary, out, directory=tmp_path)
    assert ["✗", "tool", "3/9", "3", "3", "3", "4"] in [line.split() for line in out.getvalue().splitlines()]
    said = "Of 9 Cases it passes 3, loses or alters 3, refuses 3: 4 distinct defects."
    for text in ((tmp_path / "subjects" / "tool.html").read_text(), (tmp_path / "subjects.md").read_text()):
        assert said in text
        assert [text.count(one.finding.message) > 0 for one in defects if one.finding] == [True] * 4
    assert "3 cases and 1 behind another defect" in (tmp_path / "subjects" / "tool.html").read_text()


def test_two_thousand_cases_and_six_subjects_keep_to_two_megabytes(tmp_path: Path) -> None:
    with ReportDirectory(tmp_path) as directory:
        for record in decoder_stream.records(2_000, 6):
            directory.summary.add(record)
        directory.render()
    sizes = {path.name: path.stat().st_size for path in tmp_path.rglob("*.html")}
    assert sizes["index.html"] < 1_000_000
    assert max(sizes.values()) < 1_000_000
