"""Page, terminal, ``summary.md``, ``junit.xml`` and ``results.json`` say the same numbers, counted here by hand."""

from __future__ import annotations

import dataclasses
import io
import re
from typing import TYPE_CHECKING, Any

import pytest

from conformance.report import junit, markdown
from conformance.report.html import page
from conformance.report.results import Summary
from conformance.report.terminal import Detail, print_summary
from conformance.stream import Block, CaseVerdict, RequirementInfo, Subject
from conformance.verdict import Verdict
from tests.report.synthetic_stream import FAILURE, RUN, SERVER

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.report.kinds import Figures

SUBJECT = Subject(id=SERVER, role="source", version="9.7.4")
REQUIREMENTS = {f"R{number}": RequirementInfo(title=f"The rule {number}.") for number in range(12)}
FAILING = {"R2": 3, "R5": 1, "R7": 40}  # cases of each
DIED = {"the server": 2, "a replica": 1}
TRUTH = {
    "requirements_judged": 10,
    "requirements_passed": 6,
    "requirements_failed": 4,
    "kinds_failed": 6,
    "cases_failed": 47,
    "updates_compared": 300,
    "updates_differing": 3,
}


def failure(requirement: str, signature: str, **fields: Any) -> CaseVerdict:
    return dataclasses.replace(
        FAILURE, case=f"{requirement}/{signature}", requirement=requirement, check=requirement, block=0,
        signature=f"{requirement}:{signature}", **fields,
    )  # fmt: skip


def block(requirement: str, **verdicts: int) -> Block:
    return Block(
        check=requirement, subject=SERVER, requirements=(requirement,), block=0, cases=sum(verdicts.values()),
        verdicts=verdicts, mismatches=sum(count for verdict, count in verdicts.items() if verdict != "pass"),
        updates_compared=300 if requirement == "R2" else 0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def summary() -> Summary:
    """Ten judged requirements, of which three fail in a kind each, and one in three kinds that end programs."""
    blocks = [block(f"R{number}", **{"pass": 100, "fail": FAILING.get(f"R{number}", 0)}) for number in range(9)]
    failures = [failure(name, "a") for name in FAILING]
    dying = [(program, number) for program, count in DIED.items() for number in range(count)]
    deaths = [
        failure("R9", f"{program} {number}", verdict=Verdict.CRASH, ends=program, evidence=())
        for program, number in dying
    ]
    run = dataclasses.replace(RUN, requirements=REQUIREMENTS, deviations={}, selected=10)
    out = Summary([run, SUBJECT, *blocks, block("R9", crash=3), *failures, *deaths])
    out.add(out.conclude(seconds=1))
    return out


def lying(summary: Summary, figure: str) -> Summary:
    """The same run with one figure that is one too high."""

    class Lying(Summary):
        @property
        def figures(self) -> Figures:
            true = super().figures
            return dataclasses.replace(true, **{figure: getattr(true, figure) + 1})

    out = Lying()
    out.__dict__.update(summary.__dict__)
    return out


HEADLINE = re.compile(
    r"(?P<requirements_failed>\d+) of (?P<judged>\d+) judged requirements fail: "
    r"(?P<kinds_failed>\d+) kinds of failure, "
    r"(?P<cases_failed>\d+) cases failed; the server died in 2, a replica in 1\. "
    r"(?P<updates_compared>\d+) updates compared byte for byte with MySQL 9\.7\.4: (?P<updates_differing>\d+) differ"
)
COVERAGE = re.compile(r"(?P<requirements_passed>\d+) of (?P<requirements_judged>\d+) judged requirements passed")


def of_text(text: str) -> dict[str, int]:
    """The figures of a report's two sentences."""
    flat = " ".join(text.replace("\\", "").split())
    head, coverage = HEADLINE.search(flat), COVERAGE.search(flat)
    assert head is not None, flat
    assert coverage is not None, flat
    found = {name: int(value) for name, value in (head.groupdict() | coverage.groupdict()).items()}
    assert found.pop("judged") == found["requirements_judged"]
    return found


def of_terminal(summary: Summary, detail: Detail = Detail.BRIEF) -> dict[str, int]:
    file = io.StringIO()
    print_summary(summary, file, detail=detail)
    return of_text(file.getvalue())


def of_page(summary: Summary) -> dict[str, int]:
    """The sentences of the page; its tiles must say the same."""
    text = page(summary)
    found = of_text(re.sub("<[^>]*>", "", text))
    for pattern, names in (
        (r"<b>(\d+) of (\d+)</b><span>judged requirements passed", ("requirements_passed", "requirements_judged")),
        (
            r"<b>(\d+)</b><span>failed, (\d+) kinds, (\d+) cases",
            ("requirements_failed", "kinds_failed", "cases_failed"),
        ),
        (r"<b>(\d+) of (\d+)</b><span>updates differ", ("updates_differing", "updates_compared")),
    ):
        tile = re.search(pattern, text)
        assert tile is not None
        assert [int(number) for number in tile.groups()] == [found[name] for name in names]
    return found


def of_junit(summary: Summary) -> dict[str, int]:
    told = {item.get("name", ""): item.get("value", "") for item in junit.build(summary).iter("property")}
    return {name: int(told[name.replace("_", "-")]) for name in TRUTH}


def of_results(summary: Summary) -> dict[str, int]:
    return {name: summary.to_results()["figures"][name] for name in TRUTH}


REPORTS: dict[str, Callable[[Summary], dict[str, int]]] = {
    "terminal": of_terminal,
    "terminal -v": lambda summary: of_terminal(summary, Detail.VERBOSE),
    "page": of_page,
    "summary.md": lambda summary: of_text("\n".join(markdown.build(summary))),
    "junit.xml": of_junit,
    "results.json": of_results,
}


@pytest.mark.parametrize("report", REPORTS)
def test_each_report_says_what_was_counted(summary: Summary, report: str) -> None:
    assert REPORTS[report](summary) == TRUTH


@pytest.mark.parametrize("figure", TRUTH)
@pytest.mark.parametrize("report", REPORTS)
def test_a_wrong_count_in_one_report_is_seen(summary: Summary, report: str, figure: str) -> None:
    try:
        told = REPORTS[report](lying(summary, figure))
    except AssertionError:
        return  # two places of one report do not agree
    assert told != TRUTH


def test_rows_and_kinds_add_up_to_the_figures(summary: Summary) -> None:
    text = page(summary)
    results = summary.to_results()["requirements"].values()
    assert len(re.findall('class="kind"', text)) == TRUTH["kinds_failed"]
    assert len(re.findall('class="of-requirement"', text)) == TRUTH["requirements_failed"]
    assert sum(row["failed"] > 0 for row in results) == TRUTH["requirements_failed"]
    assert sum(row["failed"] for row in results) == TRUTH["cases_failed"]
    file = io.StringIO()
    print_summary(summary, file)
    shown = len(re.findall(r"(?m)^✗ (?:crash|fail) R\d+/", file.getvalue()))
    (more,) = re.findall(r"and (\d+) more kinds of failure", file.getvalue())
    assert shown + int(more) == TRUTH["kinds_failed"]


def test_the_worst_kinds_are_of_different_requirements(summary: Summary) -> None:
    worst = page(summary).partition('<ol class="worst">')[2].partition("</ol>")[0]
    assert re.findall(r'href="#requirement-(R\d+)"', worst) == ["R9", "R2", "R5", "R7", "R9"]


def test_a_failure_of_a_requirement_that_the_catalogue_lacks_is_shown_last(summary: Summary) -> None:
    kinds = summary.kinds([failure("of an older kit", "a"), failure("R7", "a")])
    assert [kind.requirement for kind in kinds] == ["R7", "of an older kit"]
