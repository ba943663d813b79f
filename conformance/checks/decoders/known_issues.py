"""Public reports of defects of other people's decoders, from ``known_issues.toml``: links, no verdicts."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from conformance.stream import KnownIssue

if TYPE_CHECKING:
    from collections.abc import Collection


@lru_cache(maxsize=1)
def known_issues() -> tuple[KnownIssue, ...]:
    """Every public report, once for each subject that it is about."""
    content = tomllib.loads((files(__package__) / "known_issues.toml").read_text(encoding="utf-8"))
    return tuple(
        KnownIssue(
            subject=subject, issue=item["issue"], requirements=tuple(item.get("requirements", ())),
            signatures=tuple(item.get("signatures", ())), note=item.get("note", ""),
        )
        for item in content["issue"]
        for subject in item["subjects"]
    )  # fmt: skip


def issues_of(names: Collection[str]) -> list[KnownIssue]:
    """The public reports about a subject that has one of these names."""
    return [issue for issue in known_issues() if issue.subject in names]
