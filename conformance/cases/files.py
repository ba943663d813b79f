"""Cases as JSON files: the published format, its reader and its writer.

``schema/case.schema.json`` describes it for other programs. The reader checks the data itself, and its errors have a
path, so that a plain install needs no schema library; :func:`validate` uses ``jsonschema`` where that is installed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import MISSING, fields, replace
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from conformance.cases.by_hand.event_case import EVENT_KEYS, EventCase, dump_event_case, load_event_case
from conformance.cases.bytes_case import BYTES_KEYS, BytesCase, dump_bytes_case, load_bytes_case
from conformance.cases.row_images import RowImage
from conformance.cases.session import Session
from conformance.cases.sql_case import SqlCase
from conformance.cases.sql_case_files import dump_sql_case, load_sql_case
from conformance.cases.topology_files import dump_topology, load_topology
from conformance.cases.update_case import Hazard, Step, UpdateCase
from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.jsonb.tagged import from_tagged, to_tagged
from conformance.reference.partial.expression import (
    Assignment,
    Call,
    Column,
    Constant,
    Expression,
    Function,
    Increment,
    Literal,
    Old,
    SqlNull,
    Wrapped,
    Wrapper,
)
from conformance.reference.portable import shown, what_lacks
from conformance.reference.tables.definitions import Column as TableColumn
from conformance.reference.tables.definitions import Table
from conformance.reference.tables.partitions import Partitions
from conformance.reference.tables.temporal import Date, Datetime, Time, Timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

AnyCase: TypeAlias = UpdateCase | SqlCase | EventCase | BytesCase

SCHEMA_NAME: Final = "lab"  # the schema of a stored Case; a run puts its own in its place
FORMAT: Final = 1

_MALFORMED: Final = (
    KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError,
)  # fmt: skip
_TEMPORAL: Final[dict[str, Callable[..., Any]]] = {
    "date": Date,
    "time": Time,
    "datetime": Datetime,
    "timestamp": Timestamp,
}


def case_schema() -> dict[str, Any]:
    """The JSON Schema of a Case file."""
    text = files("conformance.cases").joinpath("schema/case.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def validate(data: object) -> None:
    """Check data against the published schema; needs the package ``jsonschema``."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator().iter_errors(data))
    if error is not None:
        raise error


@cache  # to prepare it takes longer than to check a Case
def _validator() -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(case_schema())


def dump_case(case: AnyCase) -> dict[str, Any]:
    """A Case as JSON data. Fields that hold their default are left out."""
    if isinstance(case, SqlCase):
        return {"format": FORMAT, **dump_sql_case(case)}
    head = {
        "format": FORMAT,
        "kind": case.kind,
        "id": case.id,
        "rev": case.rev,
        "requirements": list(case.requirements),
        "seed": case.seed,
        "needs": list(case.needs),
        "hazard": str(case.hazard),
    }
    note = {"note": case.note} if case.note else {}
    if isinstance(case, EventCase):
        return {**head, **dump_event_case(case), **note}
    if isinstance(case, BytesCase):
        return {**head, **dump_bytes_case(case), **note}
    return {
        **head,
        **note,
        "table": _dump_table(case.table),
        "selector": case.selector,
        "session": _dump_plain(case.session),
        "rows": [
            [_dump_value(value, is_json=column.is_json) for column, value in zip(case.table.columns, row, strict=True)]
            for row in case.rows
        ],
        **({"trigger": _dump_assignments(case.trigger)} if case.trigger else {}),
        "steps": [_dump_step(step) for step in case.steps],
        **({} if case.topology is None else {"topology": dump_topology(case.topology)}),
    }


def load_any_case(data: Mapping[str, Any]) -> AnyCase:
    """The Case of JSON data, of any kind; :class:`DecodeError` with the path of what is wrong."""
    try:
        if data.get("format") == FORMAT and data.get("kind") == SqlCase.kind:
            return load_sql_case(data)
        if data.get("format") == FORMAT and data.get("kind") == EventCase.kind:
            return load_event_case(_only(data, EVENT_KEYS), _frame(data))
        if data.get("format") == FORMAT and data.get("kind") == BytesCase.kind:
            return load_bytes_case(_only(data, BYTES_KEYS), _frame(data))
        return load_case(data)
    except _MALFORMED as error:
        raise DecodeError("case-format", f"the Case is incomplete or malformed{what_lacks(error)}") from None


_HEAD: Final = frozenset(("format", "kind", "id", "rev", "requirements", "seed", "needs", "hazard", "note"))


def _only(data: Mapping[str, Any], keys: frozenset[str]) -> Mapping[str, Any]:
    """The same data; :class:`DecodeError` if it has a key that is neither in the frame nor one of ``keys``."""
    unknown = sorted(set(data) - _HEAD - keys)
    if unknown:
        raise DecodeError("case-format", "unknown keys", got=unknown)
    return data


def _frame(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that all kinds share, without the hazard."""
    return {
        "id": str(data["id"]),
        "rev": int(data.get("rev", 1)),
        "requirements": tuple(map(str, data.get("requirements", ()))),
        "seed": str(data.get("seed", "")),
        "needs": tuple(map(str, data.get("needs", ()))),
        "note": str(data.get("note", "")),
    }


def load_case(data: Mapping[str, Any]) -> UpdateCase:
    """The update Case of JSON data; :class:`DecodeError` with the path of what is wrong."""
    try:
        if data.get("format") != FORMAT:
            raise DecodeError("case-format", "unknown Case format", expected=FORMAT, got=data.get("format"))
        if data.get("kind") != UpdateCase.kind:
            raise DecodeError("case-kind", "unknown kind of Case", expected=UpdateCase.kind, got=data.get("kind"))
        table = _at("table", lambda: _load_table(data["table"]))
        rows = tuple(
            _at(f"rows[{number}]", lambda row=row: _load_row(table, row))  # type: ignore[misc]
            for number, row in enumerate(data["rows"])
        )
        steps = tuple(
            _at(f"steps[{number}]", lambda step=step: _load_step(step))  # type: ignore[misc]
            for number, step in enumerate(data["steps"])
        )
        trigger = _at("trigger", lambda: _load_assignments(data.get("trigger", ())))
        _check(table, data["selector"], rows, steps, trigger)
        return UpdateCase(
            **_frame(data),
            hazard=_at("hazard", lambda: Hazard(data.get("hazard", "none"))),
            table=table,
            selector=data["selector"],
            session=_at("session", lambda: _load_session(data.get("session", {}))),
            rows=rows,
            trigger=trigger,
            steps=steps,
            topology=_at("topology", lambda: load_topology(data["topology"], len(steps)))
            if "topology" in data
            else None,
        )
    except _MALFORMED as error:
        raise DecodeError("case-format", f"the Case is incomplete or malformed{what_lacks(error)}") from None


def case_id(case: UpdateCase) -> str:
    """The id of a generated Case: a hash of what it does, independent of its name."""
    data = dump_case(replace(case, id="", seed="", table=replace(case.table, schema=SCHEMA_NAME)))
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"u-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"


def _at(part: str, load: Callable[[], Any]) -> Any:
    """Add the path to an error."""
    try:
        return load()
    except DecodeError as error:
        raise error.at(part) from None
    except CodecError as error:  # a typed value that has no encoding
        raise DecodeError(error.code, error.message, got=error.got, path=(part, *error.path)) from None
    except _MALFORMED as error:
        raise DecodeError("case-format", f"incomplete or malformed{what_lacks(error)}", path=(part,)) from None


def _check(
    table: Table,
    selector: str,
    rows: tuple[tuple[object, ...], ...],
    steps: tuple[Step, ...],
    trigger: tuple[Assignment, ...],
) -> None:
    for assignment in trigger:
        if assignment.column not in table.index_of:
            raise DecodeError("case-column", "no such column", got=assignment.column, path=("trigger",))
    if selector not in table.index_of:
        raise DecodeError("case-selector", "the selector is no column of the table", got=selector, path=("selector",))
    for number, step in enumerate(steps):
        for row in step.rows:
            if not 0 <= row < len(rows):
                raise DecodeError("case-rows", "no such start row", got=row, path=(f"steps[{number}]", "rows"))
        for assignment in step.assignments:
            if assignment.column not in table.index_of:
                raise DecodeError(
                    "case-column", "no such column", got=assignment.column, path=(f"steps[{number}]", "set")
                )


# --- tables and sessions ---------------------------------------------------------------------------------------------


def _dump_plain(value: Any) -> dict[str, Any]:
    """A flat dataclass, defaults left out."""
    out: dict[str, Any] = {}
    for item in fields(value):
        content = getattr(value, item.name)
        if item.default is MISSING or content != item.default:
            out[item.name] = list(content) if isinstance(content, tuple) else content
    return out


def _dump_table(table: Table) -> dict[str, Any]:
    out = _dump_plain(table)
    out["columns"] = [_dump_plain(column) for column in table.columns]
    if table.partitions is not None:
        out["partitions"] = _dump_partitions(table.partitions)
    return out


def _dump_partitions(partitions: Partitions) -> dict[str, Any]:
    out = _dump_plain(partitions)
    if partitions.values:
        out["values"] = [list(values) for values in partitions.values]
    if partitions.sub is not None:
        out["sub"] = _dump_partitions(partitions.sub)
    return out


def _load_partitions(data: Mapping[str, Any]) -> Partitions:
    return Partitions(
        **{
            **data,
            "bounds": tuple(data.get("bounds", ())),
            "values": tuple(map(tuple, data.get("values", ()))),
            "sub": _load_partitions(data["sub"]) if "sub" in data else None,
        }
    )


def _load_table(data: Mapping[str, Any]) -> Table:
    columns = tuple(TableColumn(**{**item, "members": tuple(item.get("members", ()))}) for item in data["columns"])
    known = {
        **data,
        "columns": columns,
        "primary_key": _key(data.get("primary_key", ())),
        "unique_keys": tuple(_key(key) for key in data.get("unique_keys", ())),
        "other_keys": tuple(map(str, data.get("other_keys", ()))),
        "partitions": _load_partitions(data["partitions"]) if "partitions" in data else None,
    }
    return Table(**known)


def _key(data: Any) -> tuple[tuple[int, int], ...]:
    return tuple((int(index), int(prefix)) for index, prefix in data)


def _load_session(data: Mapping[str, Any]) -> Session:
    known = dict(data)
    if "row_image" in known:
        known["row_image"] = RowImage(known["row_image"])
    return Session(**known)


# --- values ----------------------------------------------------------------------------------------------------------


def _dump_value(value: Any, *, is_json: bool = False) -> Any:
    if value is None or isinstance(value, int | float | bool):
        return value
    if isinstance(value, bytes):
        return {"jsonb" if is_json else "hex": value.hex()}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    for name, kind in _TEMPORAL.items():
        if type(value) is kind:
            return {name: list(value)}
    raise TypeError(f"not a column value: {value!r}")


def _load_value(data: Any) -> Any:
    if data is None or isinstance(data, int | float):
        return data
    ((name, content),) = data.items()
    if name in ("jsonb", "hex"):
        return bytes.fromhex(content)
    if name == "decimal":
        return Decimal(content)
    return _TEMPORAL[name](*content)


def _load_row(table: Table, data: Any) -> tuple[object, ...]:
    if len(data) != len(table.columns):
        raise DecodeError("case-row", "a row has one value per column", expected=len(table.columns), got=len(data))
    return tuple(map(_load_value, data))


# --- steps and expressions -------------------------------------------------------------------------------------------


def _dump_step(step: Step) -> dict[str, Any]:
    return {
        "set": _dump_assignments(step.assignments),
        "rows": list(step.rows),
        "commit": step.commit,
    }


def _load_step(data: Mapping[str, Any]) -> Step:
    return Step(
        _load_assignments(data["set"]),
        tuple(int(row) for row in data["rows"]),
        bool(data.get("commit", True)),
    )


def _dump_assignments(assignments: tuple[Assignment, ...]) -> list[Any]:
    return [[item.column, _dump_expression(item.expression)] for item in assignments]


def _load_assignments(data: Any) -> tuple[Assignment, ...]:
    return tuple(Assignment(column, _load_expression(expression)) for column, expression in data)


def _dump_expression(expression: Expression) -> Any:
    match expression:
        case Column(name):
            return {"column": name}
        case Old(name):
            return {"old": name}
        case Literal(value):
            return {"value": to_tagged(value)}
        case SqlNull():
            return {"null": True}
        case Call(function, document, arguments):
            return {
                "call": str(function),
                "document": _dump_expression(document),
                "arguments": [[path, None if value is None else _dump_expression(value)] for path, value in arguments],
            }
        case Wrapped(wrapper, inner):
            return {"wrapped": str(wrapper), "inner": _dump_expression(inner)}
        case Increment(column, by):
            return {"increment": column, "by": by}
        case Constant(value):
            return {"constant": _dump_value(value)}
    raise TypeError(f"not an expression: {expression!r}")


def _load_expression(data: Any) -> Expression:
    match data:
        case {"column": name}:
            return Column(name)
        case {"old": name}:
            return Old(name)
        case {"value": value}:
            return Literal(from_tagged(value))
        case {"null": True}:
            return SqlNull()
        case {"call": function, "document": document, "arguments": arguments}:
            pairs = tuple((path, None if value is None else _load_expression(value)) for path, value in arguments)
            return Call(Function(function), _load_expression(document), pairs)
        case {"wrapped": wrapper, "inner": inner}:
            return Wrapped(Wrapper(wrapper), _load_expression(inner))
        case {"increment": column, "by": by}:
            return Increment(column, by)
        case {"constant": value}:
            return Constant(_load_value(value))
    raise DecodeError("case-expression", "not an expression", got=shown(data)[:200])
