"""Every citation of a rule leads to a section of ``docs/spec``, and no rule is cited in another form."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.citations import (
    SHEETS,
    SPEC,
    Citation,
    citations,
    cited_rows,
    files,
    labels,
    old_forms,
)
from tests.repository import ROOT

HERE = Path(__file__)
LABELS = labels()
ROWS = sorted((ROOT / "conformance/requirements/rows").glob("*.toml"))


def unresolved(text: str) -> list[Citation]:
    return [citation for citation in citations(text) if citation.label not in LABELS]


def test_every_citation_resolves() -> None:
    texts = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in files() if path != HERE}
    assert {name: lost for name, text in texts.items() if (lost := unresolved(text))} == {}


def test_rows_of_the_catalogue_resolve() -> None:
    rows = [row for path in ROWS for row in cited_rows(path.read_text("utf-8"))]
    assert len(rows) > 40
    assert [(name, *cited) for name, cited in rows if cited.label not in LABELS] == []


def test_one_form_of_citation() -> None:
    others = {
        str(path.relative_to(ROOT)): found
        for path in files()
        if path not in ROWS and path.parent != HERE.parent
        if (found := old_forms(path.read_text("utf-8")))
    }
    assert others == {}


def test_hundreds_of_places_cite() -> None:
    """A search that found nothing would prove nothing."""
    found = [cited for path in files() if path.parent != SPEC for cited in citations(path.read_text("utf-8"))]
    assert len(found) > 250
    assert {cited.sheet for cited in found} >= {"jsonb", "partial-update", "binlog-events", "requirements", "versions"}


@pytest.mark.parametrize(
    "text",
    [
        "(jsonb 4.9)", "partial-update 8.6, of course", "requirements FR17", "binlog-events 9.1, binlog-events 19",
        "binlog-events 12 to 19", "transaction-boundaries A.19", "innodb-sdi E", "partial-update 3.4c",
    ],
)  # fmt: skip
def test_a_wrong_citation_is_found(text: str) -> None:
    assert list(citations(text))
    assert unresolved(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(jsonb 4.2)", ["jsonb-4-2"]),
        ("See partial-update 3.4b. It is", ["partial-update-3-4b"]),
        ("jsonb 1 to 3; requirements FR6.1", ["jsonb-1", "jsonb-3", "requirements-fr6-1"]),
        ("transaction-boundaries A.10 and innodb-sdi B", ["transaction-boundaries-a-10", "innodb-sdi-b"]),
        ("requirements checklist", ["requirements-checklist"]),
        ("versions 8.0.30 and 9.7.4, servers A and B, docs/spec/jsonb.md, reports-jsonb 4", []),
    ],
)
def test_citations_are_read(text: str, found: list[str]) -> None:
    assert [cited.label for cited in citations(text)] == found


@pytest.mark.parametrize(
    "text",
    [
        "(jsonb sheet, section 4.2)", "(binlog-events sheet, 9.1 and 10.2)", "(sheet, 0.3)", "sheet 3.1",
        "(requirements\nsheet, FR5)", "the sheet's section 11", "the boundaries sheet", "see `jsonb.md` section 8",
        "(partial-update\n5.2)", "(table-map-metadata\n# 3.2)", "(design, section 6)",
    ],
)  # fmt: skip
def test_another_form_is_found(text: str) -> None:
    assert old_forms(text)


@pytest.mark.parametrize("text", ["(jsonb 4.2)", "one clause of a sheet of docs/spec", "transaction-boundaries A.6"])
def test_the_one_form_is_left_alone(text: str) -> None:
    assert not old_forms(text)


def test_a_row_that_names_no_section_is_found() -> None:
    row = 'document = "jsonb sheet"\n[[requirement]]\nid = "Z1"\nsection = "{}"\n'
    assert [cited.label in LABELS for _, cited in cited_rows(row.format("section 4.2, numbers"))] == [True]
    assert [cited.label in LABELS for _, cited in cited_rows(row.format("section 4.9"))] == [False]
    assert [cited.label in LABELS for _, cited in cited_rows(row.format("somewhere"))] == [False]


@pytest.mark.parametrize("sheet", SHEETS)
def test_every_numbered_section_has_its_target(sheet: str) -> None:
    text = re.sub(r"^```.*?^```$", "", (SPEC / f"{sheet}.md").read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^(?:\((\S+)\)=\n)?#{2,4} (?:Part )?(N?FR\d+(?:\.\d)?|[A-E](?:\.\d+)?\b|\d+(?:\.\d+)?b?)",
                          text, re.MULTILINE)  # fmt: skip
    assert headings
    assert [number for label, number in headings if not label] == []
    assert [number for _, number in headings if Citation(sheet, number).label not in LABELS] == []


def test_the_index_lists_every_sheet() -> None:
    listed = re.search(r"^```\{toctree\}\n(.*?)^```$", (SPEC / "index.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert listed is not None
    assert sorted(line for line in listed[1].split("\n") if line and line[0] != ":") == list(SHEETS)
