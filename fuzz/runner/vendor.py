"""The text about a finding that its vendor gets: stand-alone, with the log whole, and nothing of the lab's in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fuzz.runner.targets import Target

_ROW: Final = 32  # bytes of a line


def report(facts: Mapping[str, Any], target: Target, log: bytes, file: str) -> str:
    """A report that the user can send to the vendor of a decoder, by hand: the lab sends it to nobody.

    ``facts``: those of the finding; ``log``: what the decoder read; ``file``: the name under which it is attached.
    """
    lines: Any = getattr(target.module(), "vendor_lines", lambda *_: None)(log, file)
    software, rule = facts["peer"], facts["signature"].split(" < ")[0]
    return (
        f"# {software}: {rule}\n\n"
        f"{_what(facts, rule)}\n\n"
        f"- software: {software}\n- first seen: {facts['first_seen']}\n"
        f"- found by: fuzzing with binlog-lab {facts['kit']}; until you have answered we keep it to ourselves\n\n"
        f"{_steps(lines)}"
        f"## The log\n\n`{file}`, attached, {len(log):,} bytes. These are all of them; `xxd -r -p` makes the file:\n\n"
        f"```text\n{_dump(log)}\n```\n"
    )


def _what(facts: Mapping[str, Any], rule: str) -> str:
    """The sentence about what is wrong: what an error says, without its place in the lab."""
    told = str(facts["message"]).removeprefix(rule).removeprefix(": ")
    return f"What happens: {told or facts['kind']}."


def _steps(lines: Any) -> str:
    if lines is None:
        return ""
    needs = f"Needed: {lines.needs}.\n\n" if lines.needs else ""
    note = f"{lines.note}\n\n" if lines.note else ""
    return f"## To see it\n\n{needs}{note}```{lines.language}\n{lines.code}```\n\n"


def _dump(log: bytes) -> str:
    return "\n".join(log[at : at + _ROW].hex() for at in range(0, len(log), _ROW))
