"""The files of the repository by licence and origin: ``python -m tests.builds.bundled``.

``REUSE.toml`` says both for every file, in the form of the REUSE specification: the last pattern that matches counts.
``--page`` writes ``docs/reference/bundled-files.md``.
"""

from __future__ import annotations

import re
import sys
import tomllib
from typing import Final, NamedTuple

from tests.repository import ROOT, tracked

PAGE: Final = ROOT / "docs/reference/bundled-files.md"
_HEAD: Final = """# Bundled files

`REUSE.toml` gives each file of the repository its licence and its origin, and every archive has that file.
`reuse lint` holds it complete, in each run of CI.
This list comes from it, by `python -m tests.builds.bundled --page`.

"""


class Group(NamedTuple):
    """Files of one licence and origin. ``paths``: their patterns."""

    paths: tuple[str, ...]
    licence: str
    origin: str
    files: list[str]

    def matches(self, name: str) -> bool:
        """Whether one of the patterns is for this file."""
        return any(re.fullmatch(_expression(path), name) for path in self.paths)


def _expression(path: str) -> str:
    """A pattern as a regular expression: ``**`` is anything, ``*`` anything within a folder."""
    parts = re.split(r"(\*\*|\*)", path)
    return "".join({"**": ".*", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts)


def groups() -> list[Group]:
    """The groups with their files, that of all other files first."""
    listed = tomllib.loads((ROOT / "REUSE.toml").read_text("utf-8"))["annotations"]
    found = [
        Group(
            (each["path"],) if isinstance(each["path"], str) else tuple(each["path"]),
            each["SPDX-License-Identifier"], each["SPDX-FileComment"], [],
        )
        for each in listed
    ]  # fmt: skip
    for name in tracked():
        next(group for group in reversed(found) if group.matches(name)).files.append(name)
    return found


def page() -> str:
    """The page about all groups."""
    rows = []
    for group in groups():
        size = sum((ROOT / name).stat().st_size for name in group.files)
        places = ", ".join(f"`{path}`" for path in group.paths) if group.paths != ("**",) else "All others"
        rows.append(f"- {places}\n  ({group.licence}, {size / 1e6:.1f} MB).\n  {group.origin}\n")
    return _HEAD + "".join(rows)


def main(arguments: list[str]) -> None:
    """Print the page, or write it."""
    if arguments == ["--page"]:
        PAGE.write_text(page(), "utf-8")
    else:
        sys.stdout.write(page())


if __name__ == "__main__":
    main(sys.argv[1:])
