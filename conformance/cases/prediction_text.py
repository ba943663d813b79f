"""Predicted updates as text, or as objects for JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from conformance.cases.one_row import PredictedUpdate
    from conformance.reference.dialect import Dialect, JsonForms
    from conformance.reference.partial.diffs import Diff

_SHOWN: Final = 64  # bytes of hex in the text output
_UNCHANGED: Final = "unchanged"  # not a rule of the decision: the row compares equal (partial-update 1.1)


def _storage(stored: bytes | None, forms: JsonForms) -> tuple[int | None, int | None, str | None]:
    """JSON_STORAGE_SIZE, JSON_STORAGE_FREE and the text; no text when the server could not print it."""
    from conformance.reference.errors import CodecError
    from conformance.reference.jsonb.decode import decode
    from conformance.reference.jsonb.layout import storage_free
    from conformance.reference.jsonb.text import format_text

    if stored is None:
        return None, None, None
    try:
        text: str | None = format_text(decode(stored), forms)
        if text is not None:
            text.encode()
    except (CodecError, UnicodeEncodeError):
        text = None
    return len(stored), storage_free(stored), text


def _diffs(step: PredictedUpdate) -> tuple[Diff, ...] | None:
    """The collected diffs. For a partial event: the diffs that it carries, none if the bytes did not change."""
    assert step.change is not None
    decision = step.decision
    if step.change.diffs and decision is not None and decision.partial and not decision.data:
        return ()
    return step.change.diffs


def _value(diff: Diff) -> str | None:
    """The value of a diff in MySQL's text; ``None`` for REMOVE, which has none."""
    from conformance.reference.jsonb.text import format_text
    from conformance.reference.partial.diffs import Operation

    return None if diff.operation is Operation.REMOVE else format_text(diff.value)


def as_json(step: PredictedUpdate, dialect: Dialect) -> str:
    """The JSON object that the documentation of ``predict`` describes. Values in diffs keep MySQL's text."""
    if step.error is not None:
        return json.dumps({"error": {"number": step.error.number, "symbol": step.error.symbol_in(dialect.terms)}})
    change, decision = step.change, step.decision
    assert change is not None
    size, free, text = _storage(step.stored, dialect.json)
    field = None if decision is None or decision.field is None else decision.field.hex()
    members: list[tuple[str, Any]] = [
        ("event", step.event),
        ("partial", decision is not None and decision.partial),
        ("reason", _UNCHANGED if decision is None else decision.reason),
        ("field_hex", field),
        ("diffs", None),
        ("in_place", change.in_place),
        ("binary_diffs", _ranges(step)),
        ("jsonb_hex", None if step.stored is None else step.stored.hex()),
        ("storage_size", size),
        ("storage_free", free),
        ("text", text),
        ("why_whole", None),
        ("as_diffs", step.as_diffs),
        ("general", step.general if step.as_diffs is not None else None),
        ("assumed", list(step.assumed)),
    ]
    if step.why_whole is not None:
        members[-4] = ("why_whole", {"code": step.why_whole.code, "text": step.why_whole.text})
    diffs = _diffs(step)
    parts = []
    for name, value in members:
        if name == "diffs" and diffs is not None:
            rendered = "[" + ", ".join(map(_json_diff, diffs)) + "]"
        else:
            rendered = json.dumps(value, ensure_ascii=False)
        parts.append(f'"{name}": {rendered}')
    return "{" + ", ".join(parts) + "}"


def _json_diff(diff: Diff) -> str:
    text = f'"operation": "{diff.operation.name}", "path": {json.dumps(str(diff.path), ensure_ascii=False)}'
    value = _value(diff)
    return "{" + text + (f', "value": {value}' if value is not None else "") + "}"


def _ranges(step: PredictedUpdate) -> list[dict[str, int]] | None:
    """The byte ranges that the server reports to the storage engine: none when the row is not written."""
    if step.change is None or step.change.ranges is None or not step.change.in_place:
        return None
    return [{"offset": offset, "length": length} for offset, length in step.change.ranges] if step.event else []


def as_text(number: int, step: PredictedUpdate, dialect: Dialect) -> str:
    lines = [f"step {number}: {step.sql}"]
    if step.error is not None:
        return "\n".join((*lines, f"  refused    {step.error.number} {step.error.symbol}: {step.error.message}"))
    change, decision = step.change, step.decision
    assert change is not None
    if decision is None:
        lines.append("  event      none: the row does not change")
    else:
        kind = "SQL NULL" if decision.field is None else "partial" if decision.partial else "full"
        lines.append(f"  event      {kind}" + (f" ({decision.reason})" if decision.field is not None else ""))
        if decision.field is not None:
            lines.append(f"  field      {_hex(decision.field)}")
    lines += _advice(step)
    diffs = _diffs(step)
    if diffs is None:
        lines.append("  diffs      none collected")
    else:
        for position, diff in enumerate(diffs):
            value = _value(diff)
            rest = "" if value is None else f" {value}"
            lines.append(f"  {'diffs' if position == 0 else '':11}{diff.operation.name} {diff.path}{rest}")
        if not diffs:
            lines.append("  diffs      empty")
    ranges = _ranges(step)
    if ranges is None:
        lines.append("  in place   no")
    else:
        written = " ".join(f"{item['offset']}+{item['length']}" for item in ranges)
        lines.append(f"  in place   yes, {f'bytes written: {written}' if written else 'nothing written'}")
    size, free, text = _storage(step.stored, dialect.json)
    if size is None:
        lines.append("  document   SQL NULL")
    else:
        lines.append(f"  document   {size} bytes, {free} of them free")
        lines.append(f"  text       {text if text is not None else '(cannot be printed)'}")
    return "\n".join(lines)


def _advice(step: PredictedUpdate) -> list[str]:
    lines = []
    if step.why_whole is not None:
        lines.append(f"  whole      because {step.why_whole.text}")
    if step.as_diffs is not None:
        lines.append(
            f"  as diffs   {step.column} = {step.as_diffs}" + ("" if step.general else "  (for this document)")
        )
    if step.assumed:
        lines.append(f"  assumed    the moment of {', '.join(step.assumed)}: see --now")
    return lines


def _hex(data: bytes) -> str:
    if len(data) <= _SHOWN:
        return f"{data.hex()} ({len(data)} bytes)"
    return f"{data[:_SHOWN].hex()}... ({len(data)} bytes)"
