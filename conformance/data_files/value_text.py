"""Values of a data file, as text and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def plain(value: int | str | bytes | None) -> int | str | dict[str, str] | None:
    """A key's value as JSON has it."""
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def key_text(key: dict[str, Any]) -> str:
    """The key of a row: its columns with their values."""
    words = (f"{name}={'0x' + part['hex'] if isinstance(part, dict) else part}" for name, part in key.items())
    return ",".join(words)


def title(entry: dict[str, Any]) -> str:
    """The name of a value in messages: table, key and column, or the page of a LOB without a row."""
    if "table" not in entry:
        return f"LOB at page {entry['first_page']}"
    part = "" if entry["partition"] is None else f" partition {entry['partition']}"
    return f"{entry['schema']}.{entry['table']}{part} {key_text(entry['key'])} {entry['column']}"


def text_lines(
    entry: dict[str, Any], versions: Sequence[dict[str, Any]], states: Sequence[dict[str, Any]]
) -> Iterator[str]:
    """The value, its versions, and the older states of its row."""
    words = [entry["type"]] if "type" in entry else []
    if "length" in entry:
        words.append(f"{entry['length']} bytes")
    if entry["stored"] in {"inline", "null"}:
        words.append("in the record" if entry["stored"] == "inline" else "NULL")
    if "format" in entry:
        words.append(f"{entry['format']} at page {entry['first_page']}")
        if entry["lob_version"] is not None:
            words.append(f"version {entry['lob_version']}")
    if entry.get("prefix"):
        words.append(f"the first {entry['prefix']} in the record")
    if entry.get("record", {}).get("deleted"):
        words.append("row deleted")
    words += entry.get("flags", [])
    yield f"{title(entry)}: {', '.join(words)}"
    for version in versions:
        where = "" if "pages" not in version else f"pages {' '.join(map(str, version['pages']))}"
        head = " ".join(["  version", str(version["version"])] if version.get("version") is not None else [" "])
        told = [part for part in (where, version.get("file"), version.get("document")) if part]
        if "error" in version:
            told.append(f"error: {version['error']}")
        yield f"{head}{', ' if where and version.get('version') is not None else ' '}{': '.join(told)}"
    yield from map(_state_line, states)
    if entry.get("end") is not None:
        yield f"  before: {entry['end']}"


def _state_line(state: dict[str, Any]) -> str:
    """An older version of the row: who made it and how, and what the value was then."""
    made = "change unknown" if state["change"] is None else state["change"].replace("_", " ")
    head = f"  transaction {state['transaction']}, {made}{', not committed' if 'open' in state else ''}"
    words = [word for word, told in (("unchanged", "unchanged"), ("NULL", "null")) if told in state]
    if "length" in state:
        words.append(f"{state['length']} bytes")
    if "lob_version" in state:
        words.append(f"LOB at page {state['first_page']} version {state['lob_version']}")
    told = [", ".join(words), state.get("file"), state.get("document")]
    if "error" in state:
        told.append(f"error: {state['error']}")
    return ": ".join(part for part in (head, *told) if part)


def json_line(entry: dict[str, Any], lists: dict[str, list[dict[str, Any]]]) -> str:
    """The value as one JSON object on a line. Documents keep MySQL's text."""
    parts = [json.dumps(entry, ensure_ascii=False)[:-1]]
    for name, items in lists.items():
        objects = [
            ", ".join([f"{json.dumps(key)}: {part if key == 'document' else json.dumps(part)}"
                       for key, part in item.items()]) for item in items
        ]  # fmt: skip
        parts.append(f"{json.dumps(name)}: [{', '.join(f'{{{text}}}' for text in objects)}]")
    return f"{', '.join(parts)}}}"
