"""Sphinx configuration: ``sphinx-build -W --keep-going -b html docs docs/_build/html`` from the repository's root."""

from __future__ import annotations

import gc
import sys
from importlib.metadata import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from pygments.lexers.special import TextLexer

if TYPE_CHECKING:
    from sphinx.application import Sphinx

gc.set_threshold(200_000, 50, 100)  # what a build makes stays to its end: visiting it took a seventh of the time

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]

from conformance.version import __version__  # noqa: E402 - the path comes first

source = next(
    (url.partition(", ")[2] for url in metadata("binlog-lab").get_all("Project-URL", ()) if url.startswith("Source,")),
    "",
)  # the repository that built what is installed; hatch_build.py puts it there

project = "binlog-lab"
author = "The binlog-lab contributors"
copyright = "The binlog-lab contributors, Apache-2.0"  # noqa: A001 - Sphinx gives the name
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "generated_pages", "repository_files"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_ext", "_static", "changes"]
suppress_warnings = ["ref.python"]  # two modules may define the same short name

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_mock_imports = ["hypothesis", "pandas", "psutil", "pyarrow", "pyspark"]  # of extras: the site needs none
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "exclude-members": "__weakref__"}
autodoc_preserve_defaults = True
autodoc_use_type_comments = False  # there are none, and looking for them takes a twentieth of the time
add_module_names = False
maximum_signature_line_length = 90

html_theme = "furo"
html_title = f"binlog-lab {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options: dict[str, object] = {
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#7ab7ff", "color-brand-content": "#7ab7ff"},
}
if source:  # a link to it on each page, and "edit this page"
    html_theme_options |= {"source_repository": f"{source}/", "source_branch": "main", "source_directory": "docs/"}
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def setup(app: Sphinx) -> None:
    """Diagrams for Mermaid, which code hosts draw, stay text on the site: nothing is fetched."""
    app.add_lexer("mermaid", TextLexer)
