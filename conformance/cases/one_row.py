"""Predictions for updates of one row, without a server: ``UPDATE t SET j = EXPR``, one after the other.

The table is ``lab.t``: InnoDB, the key ``id``, the document ``j``, the columns that the caller gives, and ``other``.
The session has ``binlog_row_image = FULL``, the default ``sql_mode`` and the time zone UTC.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeVar

from conformance.cases.predict import Model
from conformance.cases.session import Session
from conformance.cases.update_case import Step
from conformance.reference.dialect import MYSQL, checked_dialect
from conformance.reference.errors import CodecError, EncodeError, MysqlError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.partial.expression import Assignment, Increment
from conformance.reference.partial.reasons import why_whole
from conformance.reference.partial.rewriting import diff_form
from conformance.reference.sql.formatting import format_expression
from conformance.reference.sql.row_expressions import RowFacts, read_expression, read_value
from conformance.reference.sql.values import SqlType
from conformance.reference.tables.definitions import Column, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.reference.dialect import Dialect, JsonForms
    from conformance.reference.partial.decision import Decision
    from conformance.reference.partial.reasons import Reason
    from conformance.reference.partial.update import ColumnChange
    from conformance.reference.sql.row_expressions import ReadExpression
    from conformance.reference.sql.values import SqlValue

_T = TypeVar("_T")
_COLUMN: Final = "j"
_OTHER: Final = "other"
_KEY: Final = "id"
INTERNAL: Final = (_OTHER, _KEY)  # columns of the table that no caller names


@dataclass(frozen=True, slots=True)
class PredictedUpdate:
    """One statement: its outcome, or the error that MySQL returns.

    ``stored``: the stored bytes of the document after it. ``decision``: whether the log has diffs; none where nothing
    is logged. ``why_whole``: the reason for a whole document. ``as_diffs``: a right-hand side that makes the same
    document and is logged as diffs, ``general`` if that holds for other rows too. ``assumed``: functions of the moment,
    when that was not given. ``column``: the document's column.
    """

    sql: str
    error: MysqlError | None = None
    change: ColumnChange | None = None
    decision: Decision | None = None
    stored: bytes | None = None
    why_whole: Reason | None = None
    as_diffs: str | None = None
    general: bool = False
    assumed: tuple[str, ...] = ()
    column: str = _COLUMN

    @property
    def event(self) -> bool:
        """Whether the statement writes a row event."""
        return self.decision is not None


class UnreadableSqlError(ValueError):
    """SQL outside of the grammar that the model reads. ``offset``: the character, where it is known."""

    def __init__(self, sql: str, error: CodecError) -> None:
        super().__init__(str(error))
        self.sql = sql
        self.offset = error.offset


def predict(
    document: str | bytes,
    *updates: str,
    columns: Mapping[str, str] | None = None,
    now: datetime | None = None,
    partial_json: bool = True,
    row_changes: bool = False,
    dialect: Dialect = MYSQL,
    column: str = _COLUMN,
) -> list[PredictedUpdate]:
    """Predict what a server stores and logs for ``UPDATE t SET j = EXPR``, for one right-hand side after the other.

    ``document``: JSON text, or stored bytes (JSONB). Each update starts from the document that the one before left,
    with its holes. ``columns``: further columns of the row that an expression may read, by name, their values as SQL.
    ``now``: the moment of ``NOW()`` in UTC, else the present one. ``partial_json``: whether the session's
    ``binlog_row_value_options`` has ``PARTIAL_JSON``. ``row_changes``: another column of the row changes too.
    ``column``: the document's column, as expressions name it.

    Raises :class:`MysqlError` for a document that MySQL refuses, and :class:`DecodeError` for bytes that are no JSONB.
    Raises :class:`UnreadableSqlError`, and :class:`ValueError` for a name in ``columns`` that is taken. An update that
    MySQL refuses is no exception: its ``error`` is set. Raises TypeError for arguments of another kind.
    """
    for text in updates:
        if not isinstance(text, str):
            raise TypeError(f"an update is the text of a right-hand side, not {text!r}")
    if not isinstance(document, str | bytes):
        raise TypeError(f"a document is JSON text or stored bytes, not {type(document).__name__}")
    before = stored_document(document, checked_dialect(dialect).json)
    taken = tuple(map(str.lower, (column, *INTERNAL)))
    if taken[0] in INTERNAL:
        raise ValueError(f"the document's column needs another name than {' and '.join(INTERNAL)}")
    others = _row(columns or {}, now, dialect.json, taken)
    documents = [Column(name=name, type="JSON") for name in (column, *others.documents)]
    table = Table(
        schema="lab",
        name="t",
        columns=(Column(name=_KEY, type="INT"), *documents, Column(name=_OTHER, type="INT")),
        primary_key=((0, 0),),
    )
    start = {_KEY: 1, column: before, **others.documents, _OTHER: 0}
    model = Model(table, _KEY, Session(partial_json=partial_json), [start], dialect=dialect, literals_are_sql=False)
    beside = (Assignment(_OTHER, Increment(_OTHER, 1)),) if row_changes else ()
    return [_step(model, sql, others, beside, dialect, column, known_moment=now is not None) for sql in updates]


def stored_document(document: str | bytes, forms: JsonForms) -> bytes:
    """Return the stored bytes of a document, of bytes those themselves.

    In-place updates can nest a document deeper than any text has it; such bytes are taken.
    """
    if isinstance(document, str):
        return encode(parse_text(document, forms))
    try:
        decode(document)
    except MysqlError as error:
        if error.number != 3157:
            raise
    return document


def _row(columns: Mapping[str, str], now: datetime | None, forms: JsonForms, taken: tuple[str, ...]) -> RowFacts:
    """The columns beside the document, and the moment."""
    documents: dict[str, bytes | None] = {}
    values: dict[str, SqlValue] = {}
    for name, sql in columns.items():
        if name.lower() in {*taken, *map(str.lower, documents), *map(str.lower, values)}:
            raise ValueError(f"a column needs a name of its own, not {name}")
        value = _read(sql, lambda sql=sql: read_value(sql, RowFacts({}), forms))  # type: ignore[misc]
        if value.type is SqlType.JSON:
            documents[name] = encode(value.json)
        else:
            values[name] = value
    moment = now or datetime.now(UTC)
    return RowFacts(documents, values, moment.replace(tzinfo=None))


def _step(
    model: Model,
    sql: str,
    others: RowFacts,
    beside: tuple[Assignment, ...],
    dialect: Dialect,
    column: str,
    *,
    known_moment: bool,
) -> PredictedUpdate:
    """Predict one update, and let the model go on from it."""
    now = model.rows[0][column]
    assert now is None or isinstance(now, bytes)
    parsed = _parse(sql, replace(others, documents={column: now, **others.documents}), dialect.json)
    refused = parsed if isinstance(parsed, MysqlError) else None
    expression = parsed.decoded if isinstance(parsed, MysqlError) else parsed.expression
    if expression is None:
        return PredictedUpdate(sql, refused)
    prediction = model.predict(Step((Assignment(column, expression), *beside), (0,)))
    if prediction.error is not None:
        return PredictedUpdate(sql, prediction.error)
    (row,) = prediction.rows
    change = row.change.columns[column]
    if refused is not None and change.after is not None:  # the server reaches the value that it refuses
        return PredictedUpdate(sql, refused)
    stored = row.change.after[column]
    assert stored is None or isinstance(stored, bytes)
    decision = row.decisions[column] if row.change.logged else None
    update = PredictedUpdate(sql, None, change, decision, stored, column=column)
    if not isinstance(parsed, MysqlError):
        update = _advised(update, parsed, model.rows[0], dialect, column, known_moment=known_moment)
    model.advance(prediction)
    return update


def _advised(
    update: PredictedUpdate,
    parsed: ReadExpression,
    row: Mapping[str, object],
    dialect: Dialect,
    column: str,
    *,
    known_moment: bool,
) -> PredictedUpdate:
    """The update with the reason why it is logged whole, the form that would not be, and what was assumed."""
    if update.decision is None:
        return update
    update = replace(update, assumed=() if known_moment else parsed.moments)
    assert update.change is not None
    assert update.decision is not None
    reason = why_whole(parsed.expression, column, update.change, update.decision, dialect)
    if reason is None:
        return update
    update = replace(update, why_whole=reason)
    form = None
    if update.stored is not None and reason.code not in ("option-off", "version"):
        form = diff_form(parsed.expression, column, row, update.stored, dialect)
    if form is None:
        return update
    try:
        return replace(update, as_diffs=format_expression(form.expression), general=form.general)
    except EncodeError:
        return update  # a value that no literal makes


def _parse(sql: str, row: RowFacts, forms: JsonForms) -> ReadExpression | MysqlError:
    """The expression, or the error with which MySQL refuses it."""
    try:
        return _read(sql, lambda: read_expression(sql, row, forms))
    except MysqlError as error:
        return error


def _read(sql: str, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except MysqlError:
        raise
    except CodecError as error:
        raise UnreadableSqlError(sql, error) from error
