# ruff: noqa: E501 - Markdown has one sentence a line
"""``python -m tests.checks.decoders.accusations_page`` (from the repository's root) writes ``docs/reference/accusations.md``:
what scripts have shown of other people's decoders, from ``records.json``."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import group_of
from conformance.checks.decoders.accusations.proof import State
from conformance.checks.decoders.accusations.records import load_records
from conformance.checks.decoders.data_files import file_requirements
from conformance.checks.decoders.suite import load_requirements
from conformance.subjects.builtin.catalogue import catalogue
from conformance.verdict import SEVERITY, Verdict
from tests.live import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = ROOT / "docs" / "reference" / "accusations.md"
_HEAD: Final = """# What is said of other people's decoders

This page is written by `python -m tests.checks.decoders.accusations_page` from `conformance/checks/decoders/accusations/records.json`; a test compares the two.
Each Case that a [built-in subject](subjects.md) does not pass became a script that calls its library alone.
Nothing is said of a program that no script has shown.

```sh
python -m conformance.checks.decoders.accusations python-mysql-replication --scripts scripts
```

| state | meaning |
|---|---|
| reproduced | the script shows the fault: the library is at fault |
| adapter's fault | the library alone is right: the lab's adapter, or a wrapper of others, is at fault |
| not reproduced | there is no script, or it decides nothing |
"""


_MATRIX: Final = (
    "## Groups of Cases by subject",
    "",
    "How many Cases of each group a script has shown to go wrong; a dot for none.",
    "",
)


def page() -> str:
    """The whole page."""
    parts = [_HEAD, *_counts(), "", *_MATRIX, *_matrix(), "", "## Reproduced", "", *_reproduced()]
    return "\n".join(parts) + "\n"


def _counts() -> Iterator[str]:
    yield "| subject | version | reproduced | adapter's fault | not reproduced |"
    yield "|---|---|---:|---:|---:|"
    records = load_records()
    for name, entry in catalogue().items():
        if name == "reference":
            continue
        if name not in records:
            yield f"| `{name}` | {entry.version} | none tried | | |"
            continue
        counts = Counter(known["state"] for known in records[name]["cases"].values())
        yield f"| `{name}` | {entry.version} | {' | '.join(str(counts[state]) for state in (State.REPRODUCED, State.ADAPTER, State.NOT_REPRODUCED))} |"


def _matrix() -> Iterator[str]:
    records = load_records()
    names = [name for name in catalogue() if name in records]
    yield f"| group | Cases | {' | '.join(f'`{name}`' for name in names)} |"
    yield f"|---|---:|{'---:|' * len(names)}"
    sizes = Counter(map(group_of, (*load_requirements(), *file_requirements())))
    shown = Counter(
        (group_of(case), name)
        for name in names
        for case, known in records[name]["cases"].items()
        if known["state"] == State.REPRODUCED
    )
    for group, size in sizes.items():
        yield f"| {group} | {size} | {' | '.join(str(shown[group, name] or '·') for name in names)} |"


def _reproduced() -> Iterator[str]:
    yield "| program at fault | verdict | difference | Cases | the first |"
    yield "|---|---|---|---:|---|"
    grouped: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for about in load_records().values():
        for case, known in about["cases"].items():
            if known["state"] == State.REPRODUCED:
                grouped[known["program"], known["verdict"], known["signature"]].append(case)
    for (program, verdict, signature), cases in sorted(
        grouped.items(), key=lambda item: (item[0][0], SEVERITY.index(Verdict(item[0][1])), item[0][2])
    ):
        words = signature.replace("|", "/").replace("`", "'")
        yield f"| {program} | {verdict} | `{words}` | {len(cases)} | `{cases[0]}` |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
