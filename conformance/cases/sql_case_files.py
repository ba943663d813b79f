"""sql Cases as JSON data, without the fields that hold their default."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from conformance.cases.sql_case import VERDICTS, Outcome, SqlCase, SqlStatement, WarningText
from conformance.cases.update_case import Hazard
from conformance.reference.errors import DecodeError
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping


def dump_sql_case(case: SqlCase) -> dict[str, Any]:
    """A Case as JSON data, without the frame that all kinds share (``files``)."""
    return {"kind": case.kind, **_dump(case)}


def load_sql_case(data: Mapping[str, Any]) -> SqlCase:
    """The Case of JSON data. Raises :class:`DecodeError`, or what a malformed value makes Python raise."""
    known = {name: value for name, value in data.items() if name not in ("format", "kind")}
    statements = tuple(_load_statement(item, number) for number, item in enumerate(known.pop("statements")))
    if not statements or not known.get("requirements"):
        raise DecodeError("case-format", "a sql Case has at least one statement and one requirement")
    return SqlCase(
        **{
            **known,
            "id": str(known["id"]),
            "requirements": _texts(known.get("requirements", ())),
            "needs": _texts(known.get("needs", ())),
            "hazard": Hazard(known.get("hazard", "none")),
            "globals": _texts(known.get("globals", ())),
            "accounts": tuple((str(label), str(account)) for label, account in known.get("accounts", ())),
            "statements": statements,
        }
    )


def _load_statement(data: Mapping[str, Any], number: int) -> SqlStatement:
    known = dict(data)
    if ("sql" in known) == ("start" in known):
        raise DecodeError("case-statement", "expected either sql or start", path=(f"statements[{number}]",))
    for key in {"start", "file"} & set(known):
        known[key] = tuple((str(name), None if value is None else str(value)) for name, value in known[key])
    path = (f"statements[{number}]",)
    if "outcomes" in known:
        known["outcomes"] = tuple(_load_outcome(item, path) for item in known["outcomes"])
    if "texts" in known:
        texts = ({**item, "number": int(item["number"])} for item in known["texts"])
        known["texts"] = tuple(WarningText(**_with_verdict(item, "verdict", path)) for item in texts)
    return SqlStatement(**_with_verdict(known, "otherwise", path))


def _with_verdict(known: dict[str, Any], name: str, path: tuple[str, ...]) -> dict[str, Any]:
    if name not in known:
        return known
    if known[name] not in VERDICTS:
        expected = tuple(map(str, VERDICTS))
        raise DecodeError("case-verdict", "no such verdict", expected=expected, got=known[name], path=path)
    return {**known, name: Verdict(known[name])}


def _load_outcome(data: Mapping[str, Any], path: tuple[str, ...]) -> Outcome:
    known = dict(data)
    if known.get("error") not in (None, "any"):
        known["error"] = int(known["error"])
    if "warnings" in known:
        known["warnings"] = tuple(int(number) for number in known["warnings"])
    if "notes" in known:
        known["notes"] = tuple(int(number) for number in known["notes"])
    if "rows" in known:
        known["rows"] = tuple(tuple(None if cell is None else str(cell) for cell in row) for row in known["rows"])
    return Outcome(**_with_verdict(known, "verdict", path))


def _texts(data: Any) -> tuple[str, ...]:
    if isinstance(data, str):
        raise DecodeError("case-format", "expected a list of texts", got=data)
    return tuple(map(str, data))


def _dump(value: Any) -> dict[str, Any]:
    return {
        item.name: _plain(getattr(value, item.name))
        for item in fields(value)
        if item.default is MISSING or getattr(value, item.name) != item.default
    }


def _plain(value: Any) -> Any:
    if isinstance(value, SqlStatement | Outcome | WarningText):
        return _dump(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Hazard | Verdict) else value
