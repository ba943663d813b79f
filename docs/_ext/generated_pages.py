"""Writes two folders of pages before each build: ``docs/commands`` from the click commands, ``docs/api`` from the
modules of ``conformance.reference`` and from what users of Python import. Git ignores both folders.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from conformance.cli.helpful import OPTIONS, entry, grouped, path_of, said
from conformance.cli.main import PROGRAM
from conformance.cli.plugin import OPTIONS as PLUGIN_OPTIONS
from conformance.cli.program import COMMANDS, cli
from conformance.verdict import DEFINITIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

    from conformance.cli.helpful import Entry

REFERENCE: Final = "conformance.reference"
SPARK: Final = ("scenarios.spark.binlogs.register", "scenarios.spark.session.session")
# Anchors of the specification sheets, and how docstrings cite them: ``partial-update 6.2``.
LABELS: Final = {
    label
    for sheet in (Path(__file__).parents[1] / "spec").glob("*.md")
    for label in re.findall(r"^\(([a-z0-9-]+)\)=$", sheet.read_text("utf-8"), re.MULTILINE)
}
_CITATION: Final = re.compile(r"(?<![-\w/`])([a-z]+(?:-[a-z]+)*) ([A-Z]*\d*(?:\.\d+)*)(?!\.?\w)")
_ALIAS: Final = re.compile(r"^(\w+): TypeAlias = ", re.MULTILINE)
_SPECIAL: Final = re.compile(r"([\\`*_<>\[\]$#|{}])")
_CODE: Final = re.compile(
    r"(?<![\w-])(--?[a-z][\w-]*|[a-z_]+_[a-z_]+|mysql://[^\s,]+|[A-Z]+_[A-Z_]+|\w+\.(?:html|jsonl?|xml|md))"
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the hooks of the extension."""
    app.add_directive("verdicts", Verdicts)
    app.connect("builder-inited", write_pages)
    app.connect("builder-inited", name_type_aliases)
    app.connect("autodoc-process-docstring", plain_docstring)
    app.connect("autodoc-skip-member", without_words)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def write_pages(app: Sphinx) -> None:
    """Write the pages that changed, and remove those of commands and packages that are gone."""
    for folder, pages in (("commands", dict(command_pages())), ("api", {**dict(api_pages()), **dict(user_pages())})):
        directory = Path(app.srcdir) / folder
        directory.mkdir(exist_ok=True)
        for path in directory.iterdir():
            if path.name not in pages:
                path.unlink()
        for name, text in pages.items():
            path = directory / name
            if not path.exists() or path.read_text("utf-8") != text:
                path.write_text(text, "utf-8")


class Verdicts(SphinxDirective):
    """The list of verdicts with their definitions, worst first."""

    def run(self) -> list[nodes.Node]:
        """Build a definition list from the one vocabulary of verdicts."""
        found = nodes.definition_list()
        for verdict, meaning in DEFINITIONS.items():
            term = nodes.term("", "", nodes.literal(text=str(verdict)))
            found += nodes.definition_list_item("", term, nodes.definition("", nodes.paragraph(text=meaning)))
        return [found]


# --- commands --------------------------------------------------------------------------------------------------------


def command_pages() -> Iterator[tuple[str, str]]:
    """File name and text of each page of the command reference."""
    listed = "\n".join(
        f"`{PROGRAM} {name}`\n: {prose(line)} See [{name}]({name}.md).\n" for name, line in COMMANDS.items()
    )
    toctree = "\n".join(COMMANDS)
    intro = (
        f"# Commands\n\nThis reference comes from the commands themselves, as `{PROGRAM} COMMAND --help` prints it.\n"
        "[Exit codes](../reference/exit-codes.md) and [formats](../reference/formats.md) have pages of their own.\n"
    )
    yield "index.md", f"{intro}\n{listed}\n```{{toctree}}\n:hidden:\n\n{toctree}\n```\n"
    with click.Context(cli, info_name=PROGRAM, **cli.context_settings) as top:
        for name in COMMANDS:
            command = cli.get_command(top, name)
            assert command is not None
            yield f"{name}.md", "\n".join(_command(command, name, top, level=1)) + "\n"


def _command(command: click.Command, name: str, parent: click.Context, *, level: int) -> Iterator[str]:
    with click.Context(command, info_name=name, parent=parent) as context:
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        yield from (
            f"{'#' * level} {context.command_path}",
            "",
            *_help(command.help or ""),
            "```text",
            usage,
            "```",
            "",
        )
        yield from _options(command, context)
        yield from _examples(entry(path_of(context)))
        if isinstance(command, click.Group):
            for child in command.list_commands(context):
                found = command.get_command(context, child)
                if found is not None and not found.hidden:
                    yield from _command(found, child, context, level=level + 1)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    """The options by group, without --help."""
    shown = [one for one in command.get_params(context) if isinstance(one, click.Option) and "--help" not in one.opts]
    for group, options in grouped(shown).items():
        if group != OPTIONS:
            yield from (f"**{group}**", "")
        for option in options:
            record = option.get_help_record(context)
            if record is not None:
                yield from (f"`{record[0]}`", f": {prose(' '.join(record[1].split())) or 'No value.'}", "")


def _examples(mine: Entry) -> Iterator[str]:
    """The examples, and the exit codes."""
    lines = [line for example, words in mine.examples for line in (f"# {words}", example)]
    yield from ("```sh", *lines, "```", "")
    for title, codes in said(mine):
        yield from (f"{title}:", "", *(f"- {code}: {prose(words)}" for code, words in codes.items()), "")


def _help(text: str) -> Iterator[str]:
    """The paragraphs of a help text; click keeps the lines of a paragraph that begins with ``\\b``."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            yield from ("```text", paragraph.removeprefix("\b").strip("\n"), "```", "")
        else:
            yield from (prose(" ".join(paragraph.split())), "")


def prose(text: str) -> str:
    """Plain text as Markdown: options, variables and file names as code, all other characters as they are."""
    parts = _CODE.split(text)
    return "".join(f"`{part}`" if number % 2 else _SPECIAL.sub(r"\\\1", part) for number, part in enumerate(parts))


# --- API -------------------------------------------------------------------------------------------------------------


def api_pages() -> Iterator[tuple[str, str]]:
    """File name and text of each page of the API reference: one for each package, one for the modules above them."""
    root = import_module(REFERENCE)
    modules = list(pkgutil.iter_modules(root.__path__, f"{REFERENCE}."))
    packages = [found.name for found in modules if found.ispkg]
    names = [name.rpartition(".")[2] for name in packages]
    intro = (
        "The reference implementation reads and writes bytes and does no input or output.\n"
        "It needs the standard library only; ``zstandard`` is imported where a compressed transaction is met.\n"
        ":doc:`../architecture` says how the packages depend on each other."
    )
    toctree = "\n".join(f"   {name}" for name in ["base", *names])
    yield "index.rst", f"{_title('API of conformance.reference', '=')}\n{intro}\n\n.. toctree::\n\n{toctree}\n"
    alone = [found.name for found in modules if not found.ispkg]
    yield "base.rst", "\n".join([_title("errors, cursor, dialect", "="), *map(_module, alone)])
    for package, name in zip(packages, names, strict=True):
        below = pkgutil.walk_packages(import_module(package).__path__, f"{package}.")
        head = f"{_title(name, '=')}\n.. automodule:: {package}\n   :no-members:\n"
        yield f"{name}.rst", "\n".join([head, *(_module(found.name) for found in below if not found.ispkg)])


def user_pages() -> Iterator[tuple[str, str]]:
    """File name and text of each page of what users import: the face, the strategies, Spark, the pytest plugin."""
    everything = "   :members:\n   :imported-members:\n"
    yield "face.rst", f"{_title('The names of import conformance', '=')}\n.. automodule:: conformance\n{everything}"
    strategies = "generators.strategies"
    sizes = ".. autoclass:: generators.documents.Size\n   :members:\n   :undoc-members:\n"
    yield "strategies.rst", f"{_title('Strategies', '=')}\n.. automodule:: {strategies}\n{everything}\n{sizes}"
    functions = "".join(f"\n.. autofunction:: {name}\n" for name in SPARK)
    also = ":doc:`../tasks/query-with-spark` has the options of the source."
    yield "spark.rst", f"{_title('Functions for Spark', '=')}\n{also}\n{functions}"
    yield "plugin.md", "\n".join(_plugin()) + "\n"


def _plugin() -> Iterator[str]:
    yield from (
        "# The pytest plugin",
        "",
        "The plugin comes with the package; [a task](../tasks/pytest.md) shows a run.",
        "",
    )
    yield from ("| option | default | sets |", "|---|---|---|")
    for name, metavar, default, words in PLUGIN_OPTIONS:
        shown = "" if default in ("", None) else f"`{default}`"
        yield f"| `--binlog-lab-{name} {metavar}` | {shown} | {prose(words.partition(' (default')[0])} |"
    yield from ("", "The fixture `binlog_lab`, of the session, gives the server under test and what the checks share.")


def _module(name: str) -> str:
    return f"{_title(name.removeprefix(f'{REFERENCE}.'), '-')}\n.. automodule:: {name}\n"


def name_type_aliases(app: Sphinx) -> None:
    """Signatures name a type alias of the reference instead of what it stands for."""
    sources = Path(import_module(REFERENCE).__path__[0]).rglob("*.py")
    names = {name for source in sources for name in _ALIAS.findall(source.read_text("utf-8"))}
    app.config.autodoc_type_aliases = {name: name for name in names}


def _title(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n"


def without_words(_app: Sphinx, _what: str, _name: str, obj: object, _skip: object, _options: object) -> bool | None:
    """Leave out what has only Python's own docstring: fields of named tuples, and bound functions of ``struct``."""
    own = getattr(obj, "__doc__", None) or ""
    return True if own.startswith("Alias for field number") or inspect.isbuiltin(obj) else None


def plain_docstring(_app: Sphinx, _what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Docstrings of the project are prose with ``code`` and roles; lists and indented blocks are markup as well."""
    lines[:] = [line for paragraph in "\n".join(lines).split("\n\n") for line in _blocks(paragraph.split("\n"))]


def _blocks(lines: list[str]) -> Iterator[str]:
    """One paragraph as reStructuredText: prose, items of a list, and indented lines as they are."""
    lines = [line for line in lines if line.strip()]
    while lines:
        first = lines[0]
        item = first.startswith(("- ", "* "))
        size = 1
        while size < len(lines) and _same_block(lines[size], first, item=item):
            size += 1
        block, lines = lines[:size], lines[size:]
        if first.startswith(" "):
            yield from ("::", "", *(f"   {line}" for line in block), "")
        else:
            text = " ".join(line.strip() for line in block)
            yield from ("- " + _prose(text[2:]) if item else _prose(text), "")


def _cited(match: re.Match[str]) -> str:
    """A sheet and a section become a link, where the sheet has that section."""
    label = f"{match[1]}-{match[2].lower().replace('.', '-')}"
    return f":ref:`{match[0]} <{label}>`" if label in LABELS else match[0]


def _same_block(line: str, first: str, *, item: bool) -> bool:
    if line.startswith(("- ", "* ")):
        return False
    return line.startswith(" ") == (item or first.startswith(" "))


def _prose(text: str) -> str:
    parts = re.split(r"(``.+?``|:\w+:`[^`]+`)", text)
    plain = (part if number % 2 else re.sub(r"([\\*|`]|_\b)", r"\\\1", part) for number, part in enumerate(parts))
    joined = _CITATION.sub(_cited, "".join(plain))
    return f"\\{joined}" if re.match(r":\w|\d+[.)] |\(\w+\) |\.\. |[-+] ", joined) else joined
