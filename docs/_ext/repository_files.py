"""Links between the site and files of the repository's root.

A page of the site may include a root file such as CHANGELOG.md, whose links lead from the root. Other pages link to
root files so that the links work on a code host. On the site, both kinds lead to the page that shows the file.
A line ``?NAME`` in a list of pages counts only if that page exists.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT: Final = Path(__file__).resolve().parents[2]
DOCS: Final = ROOT / "docs"
# File of the repository, and the page that shows it.
PAGES: Final = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing/index.md",
    "SECURITY.md": "security.md",
    "docker/README.md": "tasks/container-images.md",
    "fuzz/README.md": "contributing/fuzz-folders.md",
}
_OPTIONAL: Final = re.compile(r"^\?([\w/-]+)\n", re.MULTILINE)
_LINK: Final = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the hooks of the extension."""
    app.connect("include-read", included)
    app.connect("source-read", read)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def included(_app: Sphinx, path: Path, _page: str, content: list[str]) -> None:
    """Rewrite the links of a root file that a page includes."""
    file = (DOCS / path).resolve()
    page = PAGES.get(file.relative_to(ROOT).as_posix())
    if page is not None:
        content[0] = links(content[0], file.parent, (DOCS / page).parent)


def read(app: Sphinx, name: str, content: list[str]) -> None:
    """Rewrite the links of a Markdown page that lead out of the site."""
    file = Path(app.env.doc2path(name))
    if file.suffix == ".md":
        text = links(content[0], file.parent, file.parent)
        content[0] = _OPTIONAL.sub(lambda line: _if_it_exists(file.parent, line[1]), text)
        if text != content[0]:
            app.env.note_reread()  # the page may be there at the next build


def _if_it_exists(folder: Path, name: str) -> str:
    return f"{name}\n" if (folder / f"{name}.md").exists() else ""


def links(text: str, origin: Path, page: Path) -> str:
    """The text with links that led from one folder made to lead from another."""

    def leads(match: re.Match[str]) -> str:
        target = (origin / match[1]).resolve()
        name = target.relative_to(ROOT).as_posix() if target.is_relative_to(ROOT) else ""
        if name in PAGES:
            target = DOCS / PAGES[name]
        elif origin == page:
            return match[1]
        return Path(os.path.relpath(target, page)).as_posix()

    return _LINK.sub(leads, text)
