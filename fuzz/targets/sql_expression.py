"""The right-hand side of an UPDATE in SQL: parsed, evaluated on a document, and applied again as a replica does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.compare import equal
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.layout import decode_strict, storage_free
from conformance.reference.partial.apply import apply_field
from conformance.reference.partial.decision import decide
from conformance.reference.partial.expression import Assignment, Columns
from conformance.reference.partial.rewriting import diff_form
from conformance.reference.partial.update import eligible_columns, update_row
from conformance.reference.sql.expressions import parse_expression
from conformance.reference.sql.formatting import format_expression
from conformance.reference.sql.row_expressions import RowFacts, read_expression
from conformance.reference.tables.columns import PartialJson
from fuzz import documents
from fuzz.mutators.calls import call
from fuzz.mutators.draw import SeedDraw
from fuzz.mutators.framing import edited
from fuzz.mutators.trees import mutate_document
from fuzz.naive import expressions as naive
from fuzz.naive.documents import holds_decimal, identical
from fuzz.naive.documents import read as naive_document
from fuzz.naive.pieces import Refused
from fuzz.naive.terms import NULL, NoOpinion
from fuzz.prefixed import join, mutate_one, split
from fuzz.violation import attempt, require
from generators.damaged_events import STORED
from generators.draw import Stream
from generators.updates import partial, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.errors import CodecError
    from conformance.reference.partial.expression import Expression

INVARIANT: Final = (
    "An expression that is parsed is written as SQL that parses to the same expression; what the model says an UPDATE"
    " makes of a sound document is what the naive evaluator makes, where it has an opinion, and a document that can be"
    " read; its diffs lead a replica to an equal one."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.sql.expressions",
    "conformance.reference.sql.quoting",
    "conformance.reference.sql.tokens",
    "conformance.reference.sql.values",
    "conformance.reference.sql.arithmetic",
    "conformance.reference.sql.decimals",
    "conformance.reference.sql.row_expressions",
    "conformance.reference.partial.decision",
    "conformance.reference.partial.document",
    "conformance.reference.partial.evaluation",
    "conformance.reference.partial.in_place",
    "conformance.reference.partial.merging",
    "conformance.reference.partial.update",
)
MAX_LEN: Final = 768
DICTIONARY: Final = (
    b"JSON_SET(", b"JSON_REPLACE(", b"JSON_REMOVE(", b"JSON_OBJECT(", b"JSON_ARRAY(", b"CAST(", b" AS JSON)",
    b" AS UNSIGNED)", b" AS SIGNED)", b" AS DECIMAL(5,2))", b" AS DATETIME(6))", b"REPEAT(", b"CONCAT(", b"TRUE",
    b"NULL", b"DATE'2024-02-29'", b"TIME'-838:59:59'", b"TIMESTAMP'2024-02-29 12:34:56'", b"x'00ff'", b"b'101'",
    b"JSON_INSERT(", b"JSON_ARRAY_APPEND(", b"JSON_ARRAY_INSERT(", b"JSON_MERGE_PATCH(", b"JSON_MERGE_PRESERVE(",
    b"'null'", b"'{\"a\": null}'", b"'[1, {\"a\": 2}]'",
    b"'$.a'", b"'$[0]'", b"'$[last]'", b"0x0a", b"1e0", b".5", b"18446744073709551616", b"j,",
)  # fmt: skip
_COLUMNS: Final = Columns(json=("j",))
# REPEAT makes large strings, for which a fuzzer should not wait.
_LONGEST: Final = b"REPEAT"


def check(data: bytes) -> None:
    """Check a document with its length in front, then the text of an expression."""
    stored, sql = split(data, 2)
    if _LONGEST.lower() in sql.lower() and any(len(word) > 3 for word in _numbers(sql)):
        return
    if attempt(decode_strict, stored)[1] is None:
        _over_a_row(stored, sql.decode("utf-8", "surrogateescape"))
    expression, refused = attempt(parse_expression, sql.decode("utf-8", "surrogateescape"))
    if attempt(decode_strict, stored)[1] is None and isinstance(refused, MysqlError | None):
        _compare(stored, sql.decode("utf-8", "surrogateescape"), expression, refused)
    if expression is None:
        require(refused, "an expression is parsed or refused")
        return
    text, unwritten = attempt(format_expression, expression)
    if text is not None:
        again, unread = attempt(parse_expression, text)
        require(repr(again) == repr(expression), "what was written parses the same", text, str(unread))
    require(text is not None or unwritten, "an expression is written or refused")
    if attempt(decode_strict, stored)[1] is None:
        _evaluated(stored, expression)


def _over_a_row(stored: bytes, sql: str) -> None:
    """Check an expression over the row, as applications write it, and the form proposed for what is logged whole."""
    read, refused = attempt(read_expression, sql, RowFacts({"j": stored}))
    _compare(stored, sql, None if read is None else read.expression, refused)
    if read is None:
        require(refused, "an expression over a row is read or refused")
        return
    _evaluated(stored, read.expression)
    change, _ = attempt(update_row, {"j": stored}, [Assignment("j", read.expression)], _COLUMNS, log_diffs=True)
    after = None if change is None else change.after["j"]
    if change is None or not isinstance(after, bytes) or not change.logged:
        return
    form, failed = attempt(diff_form, read.expression, "j", {"j": stored}, after)
    require(form is not None or failed is None or isinstance(failed, MysqlError), "a form is proposed or not", failed)
    if form is None:
        return
    again, _ = attempt(update_row, {"j": stored}, [Assignment("j", form.expression)], _COLUMNS, log_diffs=True)
    require(again is not None and again.columns["j"].diffs, "a proposed form is logged as diffs", form)


def _compare(stored: bytes, sql: str, expression: Expression | None, refused: CodecError | None) -> None:
    """Evaluate the text a second time, and compare."""
    column = naive_document(stored)
    if holds_decimal(column):
        return  # a server writes one anew, as the target of the applier knows
    try:
        wanted = naive.evaluate(sql, column)
    except NoOpinion:
        return
    except Refused as reason:
        if expression is not None:
            _, refused = attempt(update_row, {"j": stored}, [Assignment("j", expression)], _COLUMNS, log_diffs=True)
        require(refused, "what the naive evaluator refuses is refused", str(reason))
        return
    change = None
    if expression is not None:
        change, refused = attempt(update_row, {"j": stored}, [Assignment("j", expression)], _COLUMNS, log_diffs=True)
    if change is None:
        deep = isinstance(refused, MysqlError) and refused.number == 3157
        require(deep, "what the naive evaluator takes is taken", wanted, str(refused))
        return
    after = change.columns["j"].after
    require((after is None) == (wanted is NULL), "both evaluate to NULL, or to a document", wanted, after)
    if after is not None:
        require(identical(naive_document(after), wanted.value), "both make the same document", wanted, decode(after))


def _numbers(sql: bytes) -> list[bytes]:
    return "".join(chr(byte) if chr(byte).isdigit() else " " for byte in sql).encode().split()


def _evaluated(stored: bytes, expression: Expression) -> None:
    assignments = [Assignment("j", expression)]
    change, refused = attempt(update_row, {"j": stored}, assignments, _COLUMNS, log_diffs=True)
    if change is None:
        require(isinstance(refused, MysqlError), "what MySQL refuses has a number", str(refused))
        return
    after = change.after["j"]
    if not isinstance(after, bytes):
        require(after is None, "a document is bytes or NULL", after)
        return
    value, unread = attempt(decode, after)
    deep = isinstance(unread, MysqlError) and unread.number == 3157  # no count of levels in place (deviation 3)
    require(unread is None or deep, "the document after can be read", str(unread))
    if unread is not None:
        return
    require(storage_free(after) <= len(after), "free space is a part of the document")
    made = change.columns.get("j")
    if made is None or not change.logged:
        return
    eligible = "j" in eligible_columns(assignments, ["j"])
    decision = decide(stored, after, made, partial_json=True)
    require(not decision.partial or eligible, "only eligible columns are logged as diffs", decision)
    if not decision.partial or decision.data is None:
        return
    require(
        len(decision.data) + 4 < len(after) or not decision.data, "diffs are logged when they are smaller", decision
    )
    applied, unapplied = attempt(apply_field, stored, PartialJson(decision.data).diffs)
    require(applied is not None, "a replica takes what its source writes", str(unapplied))
    if applied is None:
        return
    # A source that wraps a scalar goes on with the tree, where its replica finds room in place: other bytes.
    require(equal(decode(applied), value), "a replica's document is equal to its source's", applied, after)
    elsewhere, _ = attempt(apply_field, encode(decode(stored)), decision.data)
    if elsewhere is not None:
        require(equal(decode(elsewhere), value), "holes do not change what diffs do", elsewhere)


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Change the document as a tree, or the text by bytes and words; or take a call of its own."""
    draw = SeedDraw(seed)
    if draw.below(4) == 0:
        return join(split(data, 2)[0], call(draw).encode())[:max_size]
    if draw.below(3) == 0:
        stored, sql = split(data, 2)
        place = draw.below(len(sql) + 1)
        return join(stored, sql[:place] + draw.choice(DICTIONARY) + sql[place:])[:max_size]
    return mutate_one(draw, data, max_size, (mutate_document, _edited))


def _edited(data: bytes, max_size: int, seed: int) -> bytes:
    return edited(SeedDraw(seed), data, max_size)


_TEXTS: Final = (
    "j", "NULL", "JSON_SET(j, '$.n', 2)",
    "JSON_SET(JSON_REMOVE(JSON_REPLACE(j, '$.s', 'zz'), '$.arr[1]'), '$.new', 'n')",
    "JSON_REPLACE(j, '$.s', CAST('[1]' AS JSON), '$.n', 1.50)", "JSON_REMOVE(j, '$.o.x', '$.arr[last]')",
    "JSON_SET(j, '$.d', DATE'2024-02-29', '$.t', TIME'12:34:56.5')", "JSON_SET(j, NULL, 1)",
    "JSON_SET(j, '$.a[1]', 9)",
    "CAST('{\"a\": 1}' AS JSON)", "JSON_OBJECT('k', 1, 'l', JSON_ARRAY(TRUE, NULL))", "JSON_SET(j, '$.b', x'00ff')",
    "JSON_SET(j, '$.s', REPEAT('ab', 9))", "JSON_SET(j, '$.s', CONCAT('a', 1))",
    "JSON_SET(j, '$.n', CAST(7 AS UNSIGNED))",
    "JSON_SET(j, '$.n', CAST('1.5' AS DECIMAL(10,2)))", "JSON_SET(j, '$[last]', j)", "JSON_SET(j, '$', 1)",
    "JSON_REMOVE(j, '$')", "JSON_SET(j, '$.*', 1)", "JSON_SET(j)", "JSON_INSERT(j, '$.a', 1)", "(j)",
    "JSON_MERGE_PATCH(j, '{\"n\": null, \"o\": {\"y\": 2}}')", "JSON_ARRAY_APPEND(j, '$.arr', j->'$.n' + 1)",
    "JSON_SET(j, '$.x', j->>'$.s', '$.y', JSON_EXTRACT(j, '$.arr[*]'), '$.z', 7 / 2 * 1.5 - 3 DIV 2 % 2)",
    "JSON_SET(IFNULL(j, '{}'), '$.t', NOW(6), '$.l', JSON_LENGTH(j))",
    "JSON_SET(j, '$.n', IFNULL('7x', 0) + 1)", "'{\"n\": 3}'", "1 +", "'",
)  # fmt: skip


# Of these the naive evaluator has an opinion.
_CALLS: Final = (
    """JSON_MERGE_PATCH('{"a": 1, "b": [2]}', '{"a": null, "c": {"d": null}}')""",
    """JSON_MERGE_PATCH(NULL, '{}', '[1]')""",
    """JSON_MERGE_PATCH('{}', NULL, '{}')""",
    """JSON_MERGE_PRESERVE('[1]', '{"a": 1}', '2', 'null')""",
    """JSON_MERGE_PRESERVE('{"a": 1}', '{"a": [2], "b": 3}')""",
    """JSON_ARRAY_APPEND('{"a": 1, "b": []}', '$.a', 2, '$.b', NULL)""",
    """JSON_REPLACE('[1, [2]]', '$[1][0]', 'x', '$[5]', 1)""",
    """JSON_ARRAY_INSERT('[1, 2]', '$[1]', 'x', '$[9]', TRUE, '$[last-9]', 0)""",
    """JSON_SET('{"a": 1}', '$.a[3]', 2)""",
    """JSON_INSERT('{"a": [1]}', '$.a', 0, '$.b', 'x', '$.a[1]', 2)""",
    """JSON_SET('1', '$[last-1]', 2, '$[0]', j)""",
    """JSON_REMOVE('{"a": {"b": 1}, "c": [1, 2]}', '$.a.b', '$.c[last]', '$.x')""",
    """JSON_SET(j, '$.1a', 1)""",
    """JSON_ARRAY_INSERT('{"a": [1]}', '$[0].a[0]', 2)""",
)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Every form of the grammar, and generated updates."""
    for number, text in enumerate((*_TEXTS, *_CALLS)):
        yield f"text-{number}", join(STORED, text.encode())
    for name in ("objects", "nested", "array-placed", "object-of-strings"):
        stored = encode(documents.SMALL[name])
        for number in range(6):
            draw = Stream("fuzz", "update", name, number)
            made = partial(draw, "j", stored) if number < 5 else whole(draw, "j", stored)
            written, _ = attempt(format_expression, made)
            if written is not None and len(written.encode()) < 500:
                yield f"{name}-{number}", join(stored, written.encode())
