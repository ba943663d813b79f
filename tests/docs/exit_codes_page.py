"""The part of docs/reference/exit-codes.md that comes from the table behind ``--help``.

    python -m tests.docs.exit_codes_page

writes it again after a change of ``conformance/cli/commands.toml``; a test compares both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cli.helpful import entry, kinds, table
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = ROOT / "docs/reference/exit-codes.md"
BEGIN: Final = "<!-- From here: written by python -m tests.docs.exit_codes_page -->\n"
END: Final = "<!-- Until here -->\n"


def written() -> str:
    """The tables of kinds, and of the commands with meanings of their own."""
    return "\n".join([*_kinds(), "", *_commands()]) + "\n"


def replaced(page: str) -> str:
    """The page with the tables in their place."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}{written()}{END}{rest.partition(END)[2]}"


def _kinds() -> Iterator[str]:
    titles = {name: kind["title"] for name, kind in table()["kinds"].items()}
    codes = kinds()
    yield f"| exit code | {' | '.join(titles.values())} |"
    yield "|---" * (1 + len(titles)) + "|"
    for code in sorted({code for kind in codes.values() for code in kind}):
        yield f"| {code} | {' | '.join(kind.get(code, '') for kind in codes.values())} |"


def _commands() -> Iterator[str]:
    yield "| of | one of the | in words of its own |"
    yield "|---|---|---|"
    for name in table()["commands"]:
        mine = entry(name)
        if mine.codes is None:
            continue
        own = "; ".join(f"**{code}** {mine.codes[code]}" for code in sorted(mine.own))
        yield f"| `{name}` | {table()['kinds'][mine.kind]['title']} | {own} |"


if __name__ == "__main__":
    PAGE.write_text(replaced(PAGE.read_text("utf-8")), "utf-8")
