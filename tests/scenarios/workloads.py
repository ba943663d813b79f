"""Updates of a table, run twice on a real server: with partial JSON off, and with it on. What the second log takes is
what an estimate from the first must say."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from conformance.cases.case_sql import insert_statement, update_statement
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.encode import encode, encoded_size
from conformance.reference.jsonb.values import LARGE_ARRAY
from conformance.reference.jsonb.view import open_document
from conformance.reference.partial.expression import Assignment, Call, Columns, Constant, Function, Increment, Literal
from conformance.reference.partial.expression import Column as Name
from conformance.reference.partial.paths import Cell, Path
from conformance.reference.partial.update import update_row
from conformance.reference.tables.definitions import Column, Table, create_table
from generators import documents, path_targets, scalars, updates
from generators.draw import Stream
from tests.scenarios.leaf_updates import leaf_update

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.reference.jsonb.values import JsonValue
    from conformance.reference.partial.expression import Expression
    from conformance.servers.base import Server
    from generators.draw import Draw

KINDS: Final = ("leaves", "subtrees", "arrays", "unchanged", "grown", "columns", "keys", "whole", "anything", "mixed")
_ROWS: Final = 100
_REFILLED: Final = 40  # updates of a row until it begins anew: documents would grow and grow
_JSON: Final = Columns(("j", "k"))
TABLE: Final = Table(
    schema="lab",
    name="t",
    columns=(
        Column(name="id", type="INT", nullable=False),
        Column(name="n", type="INT"),
        Column(name="j", type="JSON"),
        Column(name="note", type="TEXT"),
        Column(name="k", type="JSON"),
    ),
    primary_key=((0, 0),),
)


@dataclass(frozen=True, slots=True)
class Workload:
    """``statements`` in their order; REPLACE statements begin a row anew and are no updates for an estimate."""

    first: str
    statements: tuple[str, ...]
    updates: int


def workload(kind: str, updates_wanted: int, seed: str = "estimate") -> Workload:
    """So many updates of rows that change something, of one kind."""
    draw = Stream(f"{seed}/{kind}", 0)
    rows = {key: _fresh(draw, key) for key in range(1, _ROWS + 1)}
    first = insert_statement(TABLE, [tuple(row.values()) for row in rows.values()])
    ages = dict.fromkeys(rows, 0)
    statements: list[str] = []
    done = 0
    while done < updates_wanted:
        chosen = draw.choice(KINDS[:-1]) if kind == "mixed" else kind
        keys = sorted({1 + draw.below(_ROWS) for _ in range(1 if draw.below(8) else 1 + draw.below(12))})
        old = [key for key in keys if ages[key] >= _REFILLED]
        for key in old:
            rows[key], ages[key] = _fresh(draw, key), 0
        if old:
            statements.append(f"DELETE FROM t WHERE id IN ({', '.join(map(str, old))})")
            statements.append(insert_statement(TABLE, [tuple(rows[key].values()) for key in old]))
        assignments = list(_assignments(draw, chosen, rows[keys[0]]))
        try:
            changes = [update_row(rows[key], assignments, _JSON, log_diffs=False) for key in keys]
        except MysqlError:
            continue
        if any(
            len(bytes_) > 30_000 for change in changes for bytes_ in change.after.values() if isinstance(bytes_, bytes)
        ):
            ages[keys[0]] = _REFILLED
            continue
        statements.append(update_statement(TABLE, "id", assignments, keys))
        for key, change in zip(keys, changes, strict=True):
            rows[key] = dict(change.after)
            ages[key] += 1
            done += change.logged
    return Workload(first, tuple(statements), done)


def _fresh(draw: Draw, key: int) -> dict[str, object]:
    j, k = (encode(_document(draw)) for _ in range(2))
    return {"id": key, "n": draw.below(1000), "j": j, "note": scalars.string(draw).encode(), "k": k}


def _document(draw: Draw) -> JsonValue:
    """An object or array with something in it, in most cases of some hundred bytes."""
    while True:
        value = documents.medium(draw) if draw.below(3) else documents.small(draw)
        if isinstance(value, (dict, list)) and value and encoded_size(value) < 6000:
            return value


def _assignments(draw: Draw, kind: str, row: Mapping[str, object]) -> Iterator[Assignment]:
    """SET clauses, made for a row. Those that are to be logged whatever the document does change ``n`` too."""
    j, k = row["j"], row["k"]
    assert isinstance(j, bytes)
    assert isinstance(k, bytes)
    match kind:
        case "leaves":
            yield Assignment("j", leaf_update(draw, "j", j))
        case "subtrees":
            yield Assignment("j", _subtree(draw, j))
        case "arrays":
            yield Assignment("j", _array_edit(draw, j))
        case "unchanged":
            place = path_targets.existing(draw, open_document(j))
            value = place.value.value() if place.value is not None else 1
            yield Assignment("n", Increment("n", 1))
            if place.legs:
                yield Assignment("j", Call(Function.JSON_SET, Name("j"), ((str(Path(place.legs)), Literal(value)),)))
        case "grown":
            yield Assignment("j", _grown(draw, j))
        case "columns":
            yield Assignment("j", leaf_update(draw, "j", j))
            yield Assignment("k", _subtree(draw, k) if draw.below(2) else leaf_update(draw, "k", k))
            if draw.below(2):
                yield Assignment("note", Constant(scalars.string(draw).encode()))
        case "keys":
            yield Assignment("j", updates._remove_and_set(updates.Scene(draw, "j", open_document(j), ())))
        case "whole":
            yield Assignment("n", Increment("n", 1))
            yield Assignment("j", updates.whole(draw, "j", j, nullable=False))
        case _:
            yield Assignment("j", updates.partial(draw, "j", j, sources=("n",), nullable=False))


def _subtree(draw: Draw, stored: bytes) -> Expression:
    """Set a whole container, changed a little or altogether."""
    document = open_document(stored)
    trail = [place for place in path_targets.trail(draw, document) if place.legs and place.value is not None]
    containers = [place for place in trail if place.value is not None and place.value.kind <= LARGE_ARRAY]
    place = draw.choice(containers or trail or [path_targets.new_member(draw, document)])
    value: JsonValue = place.value.value() if place.value is not None else {}
    if isinstance(value, dict) and draw.below(3):
        value = {**value, draw.choice(sorted(value) or ["a"]): scalars.scalar(draw)}
    elif isinstance(value, list) and value and draw.below(3):
        value = [*value[:-1], scalars.scalar(draw)]
    else:
        value = documents.value(draw)
    return Call(Function.JSON_SET, Name("j"), ((str(Path(place.legs)), Literal(value)),))


def _array_edit(draw: Draw, stored: bytes) -> Expression:
    """Append, put in front, remove or insert cells."""
    document = open_document(stored)
    found = [place for _ in range(6) for place in path_targets.trail(draw, document) if place.value is not None]
    arrays = [place for place in found if place.value is not None and place.value.is_array]
    if not arrays:
        return Call(Function.JSON_SET, Name("j"), (("$.list", Literal([1, "two", {"three": 3}, [4]])),))
    place = draw.choice(arrays)
    count = place.value.count if place.value is not None else 0
    value = scalars.scalar(draw) if draw.below(2) else documents.value(draw)

    def path(cell: Cell) -> str:
        return str(Path((*place.legs, cell)))

    match draw.below(6):
        case 0:
            return Call(Function.JSON_SET, Name("j"), ((path(Cell(count)), Literal(value)),))
        case 1:
            return Call(Function.JSON_SET, Name("j"), ((path(Cell(count + 1, from_end=True)), Literal(value)),))
        case 2:
            return Call(Function.JSON_ARRAY_INSERT, Name("j"), ((path(Cell(draw.below(count + 1))), Literal(value)),))
        case 3:
            return Call(Function.JSON_ARRAY_APPEND, Name("j"), ((str(Path(place.legs)), Literal(value)),))
        case 4 if count > 1:
            removed = Call(Function.JSON_REMOVE, Name("j"), ((path(Cell(0)), None),))
            return Call(Function.JSON_SET, removed, ((path(Cell(count - 1)), Literal(value)),))
        case _:
            some = sorted({draw.below(max(count, 1)) for _ in range(1 + draw.below(3))}, reverse=True)
            return Call(Function.JSON_REMOVE, Name("j"), tuple((path(Cell(index)), None) for index in some))


def _grown(draw: Draw, stored: bytes) -> Expression:
    """A string in place of a value, longer than there is room for."""
    place = path_targets.existing(draw, open_document(stored))
    path = str(Path(place.legs or (Cell(0),)))
    return Call(Function.JSON_SET, Name("j"), ((path, Literal(scalars.text(draw, 20 + draw.below(400)))),))


def run(server: Server, made: Workload, *, partial_json: bool, image: str = "FULL", metadata: str = "MINIMAL") -> bytes:
    """The log of one run, as a file."""
    option = "PARTIAL_JSON" if partial_json else ""
    with server.connect() as connection, server.schema(connection):
        before = connection.variable("global.binlog_row_metadata") or "MINIMAL"
        capture = server.capture()
        try:
            connection.execute_many(
                [
                    f"SET SESSION binlog_row_image='{image}', binlog_row_value_options='{option}'",
                    f"SET GLOBAL binlog_row_metadata='{metadata}'",
                    create_table(TABLE),
                ]
            ).check()
            start = capture.mark(connection)
            connection.execute(made.first)
            statements = iter(made.statements)
            while batch := list(islice(statements, 200)):
                connection.execute_many(["BEGIN", *batch, "COMMIT"]).check()
            return capture.since(start, capture.mark(connection)).file_bytes()
        finally:
            connection.execute(f"SET GLOBAL binlog_row_metadata='{before}'")
            capture.close()
