"""The text about a finding that its vendor gets: stand-alone, with the log whole, and nothing of the lab's in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from fuzz.runner.findings import Finding
    from fuzz.runner.targets import Target

_ROW: Final = 32  # bytes of a line


def report(finding: Finding, target: Target, log: bytes, file: str) -> str:
    """A report that the user can send to the vendor of a decoder, by hand: the lab sends it to nobody.

    ``log``: what the decoder read; ``file``: the name under which it is attached.
    """
    lines: Any = getattr(target.module(), "vendor_lines", lambda *_: None)(log, file)
    rule = finding.signature.split(" < ")[0]
    return (
        f"# {finding.peer}: {rule}\n\n"
        f"{_what(finding, rule)}\n\n"
        f"- software: {finding.peer}\n- first seen: {finding.first_seen}\n"
        f"- found by: fuzzing with binlog-lab {finding.kit}; until you have answered we keep it to ourselves\n\n"
        f"{_steps(lines)}"
        f"## The log\n\n`{file}`, attached, {len(log):,} bytes. These are all of them; `xxd -r -p` makes the file:\n\n"
        f"```text\n{_dump(log)}\n```\n"
    )


def _what(finding: Finding, rule: str) -> str:
    """The sentence about what is wrong: what an error says, without its place in the lab."""
    told = finding.message.removeprefix(rule).removeprefix(": ")
    return f"What happens: {told or finding.kind}."


def _steps(lines: Any) -> str:
    if lines is None:
        return ""
    needs = f"Needed: {lines.needs}.\n\n" if lines.needs else ""
    note = f"{lines.note}\n\n" if lines.note else ""
    return f"## To see it\n\n{needs}{note}```{lines.language}\n{lines.code}```\n\n"


def _dump(log: bytes) -> str:
    return "\n".join(log[at : at + _ROW].hex() for at in range(0, len(log), _ROW))
