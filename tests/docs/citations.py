"""Citations of the rules in ``docs/spec``: ``partial-update 6.2`` is section 6.2 of ``docs/spec/partial-update.md``.

``python -m tests.docs.citations SEED`` (from the repository's root) draws ten rules of the sheets that code cites. For
each it shows the search and the files that it finds, those of the packages first.
"""

from __future__ import annotations

import random
import re
import sys
import tomllib
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.repository import ROOT, tracked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SPEC: Final = ROOT / "docs/spec"
SHEETS: Final = tuple(sorted(path.stem for path in SPEC.glob("*.md") if path.stem != "index"))
# The catalogue has names of its own for three sheets.
_DOCUMENTS: Final = {f"{sheet} sheet": sheet for sheet in SHEETS} | {"boundaries sheet": "transaction-boundaries"}
_NAME: Final = "|".join(sorted(SHEETS, key=len, reverse=True))
_LETTERED: Final = ("transaction-boundaries", "innodb-sdi")  # sheets whose parts have letters
_SECTION: Final = r"(?:N?FR\d+(?:\.\d)?|NR\d|[A-E](?:\.\d+)?|\d+(?:\.\d+)?[a-z]?|checklist)(?!\.?\w)"
_CITATION: Final = re.compile(rf"(?<![-\w/])({_NAME}) ({_SECTION})(?: to ({_SECTION}))?")
_LABEL: Final = re.compile(r"^\(([a-z0-9-]+)\)=$", re.MULTILINE)
_OLD: Final = re.compile(
    rf"\bsheets?(?:'s)?\b[,:]?\s+(?:sections?\s+|parts?\s+)?(?:N?FR\d|NR\d|[A-E]\.\d|\d)"  # sheet, section 4
    rf"|\b(?:{_NAME}|table-map|boundaries|events)\s+sheet\b"  # the jsonb sheet
    r"|\bdesign,? section \d"  # a document that is not of the repository
    rf"|\b(?:{_NAME})\.md`?,?\s+(?:section\s+)?\d"  # jsonb.md section 4
    rf"|\b(?:{'|'.join(name for name in SHEETS if '-' in name)})\n\W*{_SECTION}"  # a citation over two lines
)


class Citation(NamedTuple):
    """A sheet and a section of it."""

    sheet: str
    section: str

    @property
    def label(self) -> str:
        """The target in the sheet."""
        return f"{self.sheet}-{self.section.lower().replace('.', '-')}"


def labels() -> dict[str, Path]:
    """Every target of every sheet, with its file."""
    return {label: path for path in sorted(SPEC.glob("*.md")) for label in _LABEL.findall(path.read_text("utf-8"))}


def citations(text: str) -> Iterator[Citation]:
    """The citations in a text; both ends of ``jsonb 1 to 3``."""
    for sheet, first, last in _CITATION.findall(text):
        for section in (first, last):
            if section and (sheet in _LETTERED or section[0] not in "ABCDE"):
                yield Citation(sheet, section)


def cited_rows(text: str) -> Iterator[tuple[str, Citation]]:
    """The sections that rows of the catalogue name, with the ids of the rows."""
    data = tomllib.loads(text)
    for row in data.get("requirement", ()):
        sheet = _DOCUMENTS.get(row.get("document", data.get("document", "")))
        if sheet is not None:
            words = re.split(r"[,;]", row["section"], maxsplit=1)[0]
            for section in re.findall(rf"(?<![\w.]){_SECTION}", words) or ["?"]:
                yield row["id"], Citation(sheet, section)


def old_forms(text: str) -> list[str]:
    """The words of a text that cite a sheet in another form than ``partial-update 6.2``."""
    return [match[0] for match in _OLD.finditer(text)]


def files() -> Iterator[Path]:
    """Yield the files that may cite a sheet: all Python, TOML and Markdown files of the repository."""
    yield from (ROOT / name for name in tracked() if name.endswith((".py", ".toml", ".md")))


def places(citation: Citation, paths: Iterable[Path]) -> list[Path]:
    """The files that cite a section by itself, as ``git grep`` with its words would find them."""
    return [path for path in paths if citation in _of(path)]


def _of(path: Path) -> set[Citation]:
    return set(citations(path.read_text("utf-8")))


def rules(sheet: str) -> list[Citation]:
    """The sections of a sheet that say something: not those that only hold others, or list what is not known."""
    parts = re.split(r"^#{2,4} (?:Part )?", (SPEC / f"{sheet}.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    heads = [(re.match(rf"{_SECTION}", part), *part.partition("\n")[::2]) for part in parts]
    return [
        Citation(sheet, number[0])
        for number, title, body in heads
        if number and not re.search(r" (?:Not (?:observed|known)|How to read)$", title)
        if re.sub(r"^(?:\*\[.*\]\*|\(.*\)=)$", "", body, flags=re.MULTILINE).strip()
    ]


def draw(seed: int, count: int) -> list[Citation]:
    """Rules drawn from the sheets that the packages cite."""
    cited = {one.sheet for path in files() if path.is_relative_to(ROOT / "conformance") for one in _of(path)}
    return random.Random(seed).sample([rule for sheet in sorted(cited) for rule in rules(sheet)], count)


def main() -> None:
    """Print ten sections, each with its search and what it finds."""
    paths = sorted(files(), key=lambda path: (path.relative_to(ROOT).parts[0] in ("docs", "tests"), path))
    for citation in draw(int(sys.argv[1]), 10):
        print(rf"git grep -P '{citation.sheet} {citation.section}(?!\.?\w)'")  # noqa: T201 - what the command is for
        for path in places(citation, paths):
            print(f"    {path.relative_to(ROOT)}")  # noqa: T201


if __name__ == "__main__":
    main()
