"""Diffs that meet documents they were not made for (requirements FR5): its matrix, and generated groups.

A generated group combines every diff with every document. The diffs are those that a source logged for its document,
and made-up ones. The documents have diverged: by other updates (holes included), by rebuilding without holes, or in
shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import Injection, partial_image
from conformance.reference.errors import CodecError, MysqlError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.opaque import decimal_from_text
from conformance.reference.jsonb.view import open_document
from conformance.reference.partial.apply import apply_diffs
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.expression import Assignment, Columns
from conformance.reference.partial.paths import Path, parse_path
from conformance.reference.partial.update import update_row
from generators import documents, path_targets, updates
from generators.documents import Size
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.jsonb.values import JsonValue
    from generators.draw import Draw

DiffList = tuple[Diff, ...]

REPLACE: Final = Operation.REPLACE
INSERT: Final = Operation.INSERT
REMOVE: Final = Operation.REMOVE

SOURCE: Final[dict[str, JsonValue]] = {"a": 1, "b": [1, 2, 3], "c": {"d": "x"}, "e": None, "n": 5}


def _diff(operation: Operation, path: str, value: JsonValue = None) -> Diff:
    return Diff(operation, parse_path(path), value)


def _with(**members: JsonValue) -> dict[str, JsonValue]:
    return {**SOURCE, **members}


def _without(*names: str) -> dict[str, JsonValue]:
    return {name: value for name, value in SOURCE.items() if name not in names}


def _changed(*diffs: Diff) -> bytes:
    """The source's document after more diffs, with the holes that they leave."""
    stored = apply_diffs(encode(SOURCE), diffs)
    assert stored is not None
    return stored


# The rows of the matrix of requirements FR5, and what stands beside it in the text.
MATRIX_DIFFS: Final[dict[str, DiffList]] = {
    "replace-a": (_diff(REPLACE, "$.a", 2),),
    "remove-a": (_diff(REMOVE, "$.a"),),
    "insert-z": (_diff(INSERT, "$.z", 9),),
    "insert-existing": (_diff(INSERT, "$.a", 9),),
    "replace-c-d": (_diff(REPLACE, "$.c.d", "y"),),
    "remove-c-d": (_diff(REMOVE, "$.c.d"),),
    "insert-c-k": (_diff(INSERT, "$.c.k", True),),
    "replace-b-1": (_diff(REPLACE, "$.b[1]", 7),),
    "remove-b-2": (_diff(REMOVE, "$.b[2]"),),
    "replace-b-last": (_diff(REPLACE, "$.b[last]", 7),),
    "remove-b-last": (_diff(REMOVE, "$.b[last]"),),
    "insert-b-3": (_diff(INSERT, "$.b[3]", 4),),
    "insert-b-7": (_diff(INSERT, "$.b[7]", 4),),
    "insert-b-last": (_diff(INSERT, "$.b[last]", 4),),
    "insert-b-last-9": (_diff(INSERT, "$.b[last-9]", 4),),
    "empty": (),
    "unchanging-in-place": (_diff(REPLACE, "$.a", 1),),
    "unchanging-after-insert": (_diff(INSERT, "$.new", 1), _diff(REPLACE, "$.a", 1)),
    "unchanging-without-room": (_diff(REPLACE, "$.e", "long " * 9), _diff(REPLACE, "$.a", 1)),
    "unchanging-twice": (_diff(REPLACE, "$.a", 2), _diff(REPLACE, "$.a", 2)),
    "equal-of-other-type": (_diff(REPLACE, "$.a", decimal_from_text("1.0")),),
    "no-auto-wrap": (_diff(REPLACE, "$.a[0]", 2),),
    "second-fails": (_diff(REPLACE, "$.a", 3), _diff(REMOVE, "$.missing")),
    "second-fails-on-tree": (_diff(INSERT, "$.q", 3), _diff(REMOVE, "$.missing")),
    "two-levels-missing": (_diff(INSERT, "$.x.y", 3),),
    "root-replace": (_diff(REPLACE, "$", 1),),
    "root-remove": (_diff(REMOVE, "$"),),
    "element-of-root": (_diff(REPLACE, "$[0]", 2),),
    "insert-into-root": (_diff(INSERT, "$[0]", 2),),
}
MATRIX_DOCUMENTS: Final[dict[str, bytes | None]] = {
    "source": encode(SOURCE),
    "empty-object": encode({}),
    "empty-array": encode([]),
    "array": encode([1, 2]),
    "array-of-source": encode([SOURCE]),
    "integer": encode(1),
    "string": encode("a"),
    "boolean": encode(True),
    "json-null": encode(None),
    "sql-null": None,
    "no-a": encode(_without("a")),
    "a-array": encode(_with(a=[1])),
    "a-object": encode(_with(a={"a": 1})),
    "a-double": encode(_with(a=1.0)),
    "b-short": encode(_with(b=[1])),
    "b-empty": encode(_with(b=[])),
    "b-long": encode(_with(b=[1, 2, 3, 4, 5, 6, 7, 8, 9])),
    "b-scalar": encode(_with(b="b")),
    "b-object": encode(_with(b={"1": 1})),
    "no-c": encode(_without("c")),
    "c-scalar": encode(_with(c=1)),
    "c-array": encode(_with(c=[{"d": 1}])),
    "c-without-d": encode(_with(c={"k": 1})),
    "z-present": encode(_with(z=1, new=1)),
    "x-present": encode(_with(x={})),
    "hole-for-e": _changed(_diff(REMOVE, "$.b")),
    "hole-in-b": _changed(_diff(REMOVE, "$.b[1]"), _diff(REPLACE, "$.c.d", "")),
    "large": encode(_with(pad="p" * 40_000)),
    "large-format": encode(_with(pad="p" * 70_000)),
}


def matrix() -> Iterator[Injection]:
    """Every diff on every document of requirements FR5; and on a row that is not there."""
    for diffs_name, diffs in MATRIX_DIFFS.items():
        image = partial_image(encode_diffs(diffs))
        for document_name, stored in MATRIX_DOCUMENTS.items():
            yield Injection(name=f"{diffs_name}/{document_name}", stored=stored, image=image)
        yield Injection(
            name=f"{diffs_name}/missing-row", stored=MATRIX_DOCUMENTS["source"], image=image, row_exists=False
        )


_SIZES: Final = mix((Size.TINY, 15), (Size.SMALL, 65), (Size.TUNED, 10), (Size.MEDIUM, 10))
_SHAPES: Final[tuple[bytes | None, ...]] = (encode({}), encode([]), encode("s"), encode(0), encode(None), None)
_COLUMNS: Final = Columns(("j",))
_LOGGED: Final = 4  # lists of diffs of a group that a source logged
_MADE: Final = 4  # lists of a group that are made up, each for another of its documents
_OPERATIONS: Final = mix((REPLACE, 45), (INSERT, 30), (REMOVE, 25))


def group(draw: Draw) -> list[Injection]:
    """About a hundred injections around one document of a source."""
    stored = encode(documents.document(draw.fork("source"), sizes=_SIZES))
    targets: list[bytes | None] = [stored, encode(decode(stored))]
    for number in range(4):
        diverged = logged(draw.fork("diverged", number), targets[-1] if number % 2 else stored)
        targets.append(diverged[1])
    targets.append(encode(documents.document(draw.fork("other"), sizes=_SIZES)))
    lists = [logged(draw.fork("logged", number), stored)[0] for number in range(_LOGGED)]
    lists += [made(draw.fork("made", number), targets[number % len(targets)]) for number in range(_MADE)]
    images = dict.fromkeys(partial_image(encode_diffs(diffs)) for diffs in lists)
    return [
        Injection(name="generated", stored=target, image=image)
        for image in images
        for target in dict.fromkeys([*targets, *_SHAPES])
    ]


def logged(draw: Draw, stored: bytes | None) -> tuple[DiffList, bytes | None]:
    """The diffs that a source collects for an update of its document, and its document afterwards."""
    if stored is None:
        return (), None
    for attempt in range(3):
        expression = updates.partial(draw.fork(attempt), "j", stored, nullable=False)
        try:
            change = update_row({"j": stored}, [Assignment("j", expression)], _COLUMNS, log_diffs=True)
        except MysqlError:
            continue
        column = change.columns["j"]
        if column.diffs:
            return column.diffs, column.after
    return (), stored


def made(draw: Draw, stored: bytes | None) -> DiffList:
    """Diffs that no source logged: any operation at any kind of place of a document, independent of each other."""
    document = open_document(stored or b"")
    diffs = []
    for _ in range(draw.choice((1, 1, 2, 3))):
        operation = draw.choice(_OPERATIONS)
        place = (
            path_targets.missing(draw, document)
            if operation is INSERT and draw.below(3)
            else path_targets.aim(draw, document)
        )
        value = None if operation is REMOVE else documents.value(draw)
        diffs.append(Diff(operation, Path(place.legs), value))
    try:
        encode_diffs(diffs)
    except CodecError:  # too deep a value
        return ()
    return tuple(diffs)
