"""The expression that applications write behind ``UPDATE t SET j =``: it reads the row, and is evaluated for it.

The rules are those of partial-update 2.4.

The grammar is that of :mod:`.expressions`, and besides: other columns, ``->`` and ``->>``, JSON_EXTRACT, JSON_UNQUOTE,
JSON_LENGTH, JSON_INSERT, JSON_ARRAY_APPEND, JSON_ARRAY_INSERT, JSON_MERGE_PATCH, JSON_MERGE_PRESERVE, IFNULL and
COALESCE, arithmetic, and the functions of the present moment. Paths may be such values too.

The chain of functions over the column stays an expression, as its form decides what is logged. Everything else is
evaluated while it is read, as the row is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from conformance.reference.errors import CodecError, MysqlError
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import JsonValue, Opaque, UInt
from conformance.reference.partial.evaluation import evaluate_tree
from conformance.reference.partial.expression import (
    Column,
    Columns,
    Computed,
    Expression,
    Function,
    Known,
    Literal,
    SqlNull,
    Wrapped,
    Wrapper,
)
from conformance.reference.partial.merging import MERGES
from conformance.reference.partial.selecting import extract, length
from conformance.reference.portable import folded
from conformance.reference.sql import arithmetic, moments
from conformance.reference.sql import values as sql_values
from conformance.reference.sql.expressions import ExpressionParser, wrong_count
from conformance.reference.sql.tokens import Token, TokenKind, tokenize
from conformance.reference.sql.values import NULL, Origin, SqlType, SqlValue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.reference.dialect import JsonForms
    from conformance.reference.partial.document import Document

Term: TypeAlias = "SqlValue | Expression"
_A = TypeVar("_A")
_B = TypeVar("_B")

_CALLS: Final = {function.value: function for function in Function}
_NULL_JSON: Final = SqlValue(SqlType.NULL, null_of=SqlType.JSON)
_NULL_STRING: Final = SqlValue(SqlType.NULL, null_of=SqlType.STRING)
_NULL_INTEGER: Final = SqlValue(SqlType.NULL, null_of=SqlType.INTEGER)
_DOCUMENTS: Final = frozenset((None, SqlType.JSON, SqlType.STRING, SqlType.BINARY))  # types that may be documents
_CASTS: Final = {
    "JSON": SqlType.JSON, "SIGNED": SqlType.INTEGER, "UNSIGNED": SqlType.INTEGER, "DECIMAL": SqlType.DECIMAL,
    "DATETIME": SqlType.TEMPORAL,
}  # fmt: skip
_ADDITIVE: Final = ("+", "-")
_MULTIPLICATIVE: Final = ("*", "/", "%")


@dataclass(frozen=True, slots=True)
class RowFacts:
    """The row that an UPDATE reads, and when: documents of JSON columns, values of others, the session's local time."""

    documents: Mapping[str, bytes | None]
    values: Mapping[str, SqlValue] = field(default_factory=dict)
    moment: datetime = datetime(1970, 1, 1)  # noqa: DTZ001 - the session's time zone is UTC


@dataclass(frozen=True, slots=True)
class ReadExpression:
    """An expression, and the functions in it whose values depend on the moment."""

    expression: Expression
    moments: tuple[str, ...]


def read_value(sql: str, row: RowFacts, forms: JsonForms | None = None) -> SqlValue:
    """Read a single value, of a column for instance."""
    parser = RowParser(tokenize(sql), "", forms, row=row, sql=sql)
    value = parser.read(partial(parser.value, "the value"))
    parser.expect_end()
    if parser.errors:
        raise parser.errors[0]
    return value


def read_expression(sql: str, row: RowFacts, forms: JsonForms | None = None) -> ReadExpression:
    """Read a right-hand side for one row. Raises as :func:`parse_expression`."""
    parser = RowParser(tokenize(sql), "", forms, row=row, sql=sql)
    expression = parser.read(parser.whole)
    return ReadExpression(expression, tuple(dict.fromkeys(parser.present_used)))


@dataclass(slots=True)
class RowParser(ExpressionParser):
    """The larger grammar. A term is a SQL value, or an expression whose form still matters."""

    row: RowFacts = field(default_factory=lambda: RowFacts({}))
    sql: str = ""
    present_used: list[str] = field(default_factory=list)
    reads: int = 0  # columns and moments so far

    # What the inherited grammar asks for.

    def is_column(self) -> bool:
        return self.column_name() is not None

    def column_name(self) -> str | None:
        """The name of the column at this place, as the table writes it."""
        token = self.token
        if token.kind is TokenKind.WORD and self.tokens[self.position + 1].text == "(":
            return None
        if token.kind not in (TokenKind.WORD, TokenKind.QUOTED_NAME):
            return None
        wanted = folded(token.text)
        return next((name for name in (*self.row.documents, *self.row.values) if folded(name) == wanted), None)

    def document(self, where: str) -> Expression:
        """A whole right-hand side, or an argument that is a document."""
        token, word, known = self.token, self.word(), len(self.errors)
        term = self.sum(where)
        if not isinstance(term, SqlValue):
            return term
        if where != "the expression" and _kind(term, term) not in _DOCUMENTS:
            self.taken_back(known)  # the server looks at the type first
            self.errors.append(_wrong_type(token.offset))
            return SqlNull()
        made = self.attempt(token, lambda: self.as_document(term, whole=where == "the expression"), SqlNull())
        return Computed(word, Known(made.value)) if word in _FUNCTIONS and isinstance(made, Literal) else made

    def as_document(self, value: SqlValue, *, whole: bool) -> Expression:
        """A SQL value where a JSON document is wanted: text is parsed."""
        if value.type is SqlType.NULL:
            return SqlNull()
        if value.type is SqlType.STRING and whole:
            return Literal(parse_text(str(value.json), self.forms))
        if value.type in (SqlType.STRING, SqlType.JSON):
            return Literal(sql_values.cast_json(value, self.forms).json)
        if value.type is SqlType.BINARY:
            raise MysqlError(3144, "ER_INVALID_JSON_CHARSET", "a binary string makes no JSON value")
        if whole:
            raise MysqlError(3140, "ER_INVALID_JSON_TEXT", "not a JSON text, may need CAST")
        raise _wrong_type()  # of a column

    def pair_value(self, name: str) -> Expression:
        start, reads, known = self.token.offset, self.reads, len(self.errors)
        term = self.sum(f"a value of {name}")
        if isinstance(term, Column):
            return term
        text = self.sql[start : self.token.offset].strip()
        error: MysqlError | None = None
        made: Expression
        try:
            if isinstance(term, Computed):
                made = replace(term, sql=text)
            else:
                value = self.sql_value(term)
                known_value = self.in_json(value)
                made = Literal(known_value) if reads == self.reads else Computed("", Known(known_value), text)
        except MysqlError as refused:
            error = refused
        error = self.taken_back(known) or error
        return made if error is None else Computed("", None, text, error)

    def value(self, where: str) -> SqlValue:
        return self.sql_value(self.sum(where))

    def arguments(self, function: str) -> list[SqlValue]:
        token = self.token
        values = ExpressionParser.arguments(self, function)
        if function != "CONCAT":
            return values
        if {SqlType.BINARY, SqlType.JSON} <= {_kind(value, value) for value in values}:
            raise self.refused("CONCAT of bytes and a JSON value", "strings, or bytes", token)
        return [self.as_text(value) for value in values]

    def as_text(self, value: SqlValue) -> SqlValue:
        """A JSON value as its text, for functions of strings."""
        return SqlValue(SqlType.STRING, self.text_of(value.json)) if value.type is SqlType.JSON else value

    def text_of(self, value: JsonValue) -> str:
        """The text of a JSON value. One that this statement made of a TIME shows fewer hours than are stored."""
        if self.cut_times:
            raise self.refused("the text of JSON beside a TIME of 32 hours or more", "a shorter TIME")
        return format_text(value, self.forms)

    # Arithmetic.

    def sum(self, where: str) -> Term:
        left = self.product(where)
        while self.token.kind is TokenKind.SYMBOL and self.token.text in _ADDITIVE:
            sign = self.next()
            left = self.combined(sign, sign.text, left, lambda: self.product(where))
        return left

    def product(self, where: str) -> Term:
        left = self.signed(where)
        while True:
            sign = self.token
            if sign.kind is TokenKind.SYMBOL and sign.text in _MULTIPLICATIVE:
                operation = sign.text
            elif self.word() in ("DIV", "MOD"):
                operation = "DIV" if self.word() == "DIV" else "%"
            else:
                return left
            self.next()
            left = self.combined(sign, operation, left, lambda: self.signed(where))

    def combined(self, token: Token, sign: str, left: Term, right: Callable[[], Term]) -> SqlValue:
        given = self.operand(left)
        one = self.attempt(token, lambda: arithmetic.converted(sign, given), arithmetic.null_of(sign, given))
        known = len(self.errors)
        other = self.operand(right())
        null = arithmetic.null_of(sign, given, other)
        if one.type is SqlType.NULL and (sign == "DIV" or null.null_of is SqlType.DECIMAL):
            self.taken_back(known)  # exact numbers: the server does not evaluate the second
        return self.attempt(token, lambda: arithmetic.combine(sign, one, other), null)

    def operand(self, term: Term) -> SqlValue:
        """The SQL value of a term that becomes a number: a JSON value from IFNULL or COALESCE is read as its text."""
        value = self.sql_value(term)
        chosen = isinstance(term, Wrapped) and term.wrapper is not Wrapper.CAST
        return replace(self.as_text(value), origin=Origin.CHOICE) if chosen and value.type is SqlType.JSON else value

    def signed(self, where: str) -> Term:
        token = self.token
        if token.kind is TokenKind.SYMBOL and token.text in _ADDITIVE:
            following = self.tokens[self.position + 1].kind
            if following in (TokenKind.INTEGER, TokenKind.DECIMAL, TokenKind.FLOAT):
                return ExpressionParser.value(self, where)
            self.next()
            self.nesting += 1
            if self.nesting > 200:
                raise self.refused("too many signs before each other", "at most 200")
            reads, term = self.reads, self.signed(where)
            self.nesting -= 1
            if token.text == "+":
                return self.sql_value(term)
            inner = self.operand(term)
            constant = reads == self.reads
            return self.attempt(
                token, lambda: arithmetic.negate(inner, constant=constant), arithmetic.null_of("-", inner)
            )
        return self.primary(where)

    # Single terms.

    def primary(self, where: str) -> Term:
        token = self.token
        if token.kind is TokenKind.SYMBOL and token.text == "(":
            self.expect("(", where)
            inner = self.sum(where)
            self.expect(")", where)
            return inner
        name = self.column_name()
        if name is not None:
            return self.column_term(name)
        word = self.word()
        if word in _CALLS:
            return self.chain(_CALLS[word])
        if word == "CAST":
            return self.cast_term()
        if word in MERGES:
            return self.merge(word)
        maker = _FUNCTIONS.get(word)
        if maker is not None and self.tokens[self.position + 1].text == "(":
            token = self.next()
            return maker(self, token)
        if word in moments.FUNCTIONS:
            return self.present(self.next())
        if word and self.tokens[self.position + 1].text == "(" and word not in _VALUE_FUNCTIONS:
            raise self.refused(f"{word} is outside predict's grammar", _KNOWN, token)
        return ExpressionParser.value(self, where)

    def settle(self, document: Expression, token: Token, known: int) -> None:
        """Without a document, the server comes to no path."""
        late = self.taken_back(known)
        if late is not None and self.attempt(token, lambda: self.document_of(document), None) is not None:
            self.errors.append(late)

    def column_term(self, name: str) -> Term:
        """A column, with the path behind it if there is one."""
        self.next()
        self.reads += 1
        if str(self.token) not in ("'->'", "'->>'"):
            return Column(name) if name in self.row.documents else replace(self.row.values[name], origin=Origin.COLUMN)
        arrow = self.next()
        if self.token.kind is not TokenKind.STRING:
            raise self.refused(f"{arrow.text} is not followed by a path", "a string")
        path = self.next().text
        value = self.row.values.get(name)
        document = (
            Column(name)
            if value is None
            else self.attempt(arrow, lambda: self.as_document(value, whole=False), SqlNull())
        )
        found = self.extracted(arrow, document, [path])
        return found if arrow.text == "->" else self.unquoted(arrow, found)

    def sql_value(self, term: Term) -> SqlValue:
        """The SQL value of a term; an error of its evaluation is kept, and NULL stands for it."""
        if isinstance(term, SqlValue):
            return term

        def evaluated() -> SqlValue:
            document = self.document_of(term)
            return _NULL_JSON if document is None else SqlValue(SqlType.JSON, document.value())

        return self.attempt(self.token, evaluated, NULL)

    def document_of(self, expression: Expression) -> Document | None:
        """The value that a document expression has for this row."""
        return evaluate_tree(expression, self.row.documents, Columns(tuple(self.row.documents)))

    def extracted(self, token: Token, document: Expression, paths: Sequence[str | None]) -> Term:
        def found() -> Term:
            value = self.document_of(document)
            texts = [path for path in paths if path is not None]
            whole = len(texts) == len(paths)
            return Computed("JSON_EXTRACT", extract(value, texts) if value is not None and whole else None)

        return self.attempt(token, found, SqlNull())

    def unquoted(self, token: Token, term: Term) -> SqlValue:
        value = self.sql_value(term)
        return self.attempt(token, lambda: self.without_quotes(value), _NULL_STRING)

    def without_quotes(self, value: SqlValue) -> SqlValue:
        """JSON_UNQUOTE."""
        if value.type is SqlType.NULL:
            return _NULL_STRING
        if value.type is SqlType.JSON:
            text = value.json if isinstance(value.json, str) else self.text_of(value.json)
        elif value.type is SqlType.STRING:
            text = str(value.json)
        elif value.type is SqlType.BINARY:
            raise MysqlError(3144, "ER_INVALID_JSON_CHARSET", "JSON_UNQUOTE takes no binary string")
        else:
            raise MysqlError(3064, "ER_INCORRECT_TYPE", "JSON_UNQUOTE takes a string or a JSON value")
        quoted = len(text) > 1 and text[0] == text[-1] == '"' and not isinstance(value.json, str)
        if quoted or (value.type is SqlType.STRING and len(text) > 1 and text[0] == text[-1] == '"'):
            text = str(parse_text(text, self.forms))
        return SqlValue(SqlType.STRING, text)

    def attempt(self, token: Token, evaluate: Callable[[], _A], otherwise: _B) -> _A | _B:
        """Evaluate; keep an error of MySQL and go on, so that the whole text is read."""
        try:
            return evaluate()
        except MysqlError as error:
            if error.offset is None:
                error.offset = token.offset
            self.errors.append(error)
            return otherwise
        except CodecError as error:
            if error.offset is None:
                error.offset = token.offset
            raise

    # Functions.

    def cast_term(self) -> Term:
        start = self.next()
        self.cast_bracket(start)
        term = self.sum("the argument of CAST")
        if self.is_cast_to_char():
            value = self.sql_value(term)
            self.expect(")", "CAST")
            if _kind(value, value) is SqlType.BINARY:
                raise self.refused("CAST of bytes to CHAR", "a string, a number or a JSON value", start)
            return self.attempt(start, lambda: sql_values.concat([self.as_text(value)]), _NULL_STRING)
        target, *numbers = self.cast_type()
        self.expect(")", "CAST")
        if target == "JSON" and not isinstance(term, SqlValue):
            return term if isinstance(term, Literal | SqlNull) else Wrapped(Wrapper.CAST, term)
        value = self.sql_value(term) if target == "JSON" else self.operand(term)

        def converted() -> SqlValue:
            known = {"SIGNED": "INTEGER", "UNSIGNED": "INTEGER"}.get(target, target)
            return self.converted(value if target == "JSON" else arithmetic.scalar(value, known), target, numbers)

        made = self.attempt(start, converted, NULL)
        return made if made.type is not SqlType.NULL else SqlValue(SqlType.NULL, null_of=_CASTS[target])

    def is_cast_to_char(self) -> bool:
        """Take ``AS CHAR``, if it stands here."""
        if self.word() == "AS" and self.tokens[self.position + 1].text.upper() == "CHAR":
            self.position += 2
            return True
        return False

    def listed(self, function: str) -> list[Known | None]:
        """The bracketed arguments of a function that takes documents."""
        found: list[Known | None] = []
        self.expect("(", function)
        while True:
            token, known = self.token, len(self.errors)
            document = self.document(f"an argument of {function}")
            value = self.attempt(token, partial(self.document_of, document), None)
            if None in found and function != "JSON_MERGE_PATCH":
                self.taken_back(known)  # the server does not evaluate what stands behind NULL
            found.append(None if value is None else Known(value.value()))
            if not self.accept(","):
                break
        self.expect(")", function)
        return found

    def merge(self, function: str) -> Term:
        token = self.next()
        documents = self.listed(function)
        if len(documents) < 2:
            self.errors.append(wrong_count(function, token))
            return NULL
        return self.attempt(token, lambda: Computed(function, MERGES[function](documents)), NULL)

    def json_extract(self, token: Token) -> Term:
        self.expect("(", "JSON_EXTRACT")
        document = self.document("the first argument of JSON_EXTRACT")
        paths = []
        while self.accept(","):
            paths.append(self.path("JSON_EXTRACT"))
        self.expect(")", "JSON_EXTRACT")
        if not paths:
            self.errors.append(wrong_count("JSON_EXTRACT", token))
            return NULL
        return self.extracted(token, document, paths)

    def json_unquote(self, token: Token) -> Term:
        values = self.arguments("JSON_UNQUOTE")
        if len(values) != 1:
            self.errors.append(wrong_count("JSON_UNQUOTE", token))
            return NULL
        return self.unquoted(token, values[0])

    def json_length(self, token: Token) -> Term:
        self.expect("(", "JSON_LENGTH")
        document = self.document("the first argument of JSON_LENGTH")
        paths = [self.path("JSON_LENGTH")] if self.accept(",") else ["$"]
        self.expect(")", "JSON_LENGTH")
        value = self.sql_value(self.extracted(token, document, paths))
        known = value.type is not SqlType.NULL
        return SqlValue(SqlType.INTEGER, length(value.json)) if known else _NULL_INTEGER

    def first_known(self, token: Token) -> Term:
        """IFNULL and COALESCE. A JSON value beside one of another type becomes text."""
        function = token.text.upper()
        terms: list[Term] = []
        values: list[SqlValue] = []
        chosen: int | None = None
        self.expect("(", function)
        while True:
            known = len(self.errors)
            term = self.sum(f"an argument of {function}")
            value = self.sql_value(term)
            if chosen is not None:
                self.taken_back(known)  # the server does not evaluate what stands behind
            elif value.type is not SqlType.NULL:
                chosen = len(values)
            terms.append(term)
            values.append(value)
            if not self.accept(","):
                break
        self.expect(")", function)
        if function == "IFNULL" and len(terms) != 2:
            self.errors.append(wrong_count(function, token))
            return NULL
        kinds = {_kind(term, value) for term, value in zip(terms, values, strict=True)} - {None}
        kinds = {SqlType.INTEGER if kind is SqlType.BOOLEAN else kind for kind in kinds}
        kind = _common(kinds)
        forms = {_form(value) for value in values} - {None} if kind in (SqlType.INTEGER, SqlType.TEMPORAL) else ()
        if (kind is None and len(kinds) > 1) or len(forms) > 1:
            raise self.refused(f"{function} of values of these types", "JSON values, strings and integers", token)
        if chosen is None:
            return SqlValue(SqlType.NULL, null_of=kind)
        if kind is SqlType.JSON:
            term = terms[chosen]
            inner = term if not isinstance(term, SqlValue) else Literal(term.json)
            return Wrapped(Wrapper.IFNULL if function == "IFNULL" else Wrapper.COALESCE, inner)
        if kind is SqlType.STRING:
            text = self.attempt(token, lambda: sql_values.concat([self.as_text(values[chosen])]), NULL)
            return replace(text, origin=Origin.CHOICE)
        found = values[chosen]
        return SqlValue(SqlType.INTEGER, int(found.json)) if isinstance(found.json, bool) else found

    def present(self, token: Token) -> SqlValue:
        """NOW and its like."""
        word = token.text.upper()
        digits = 0
        bracket = self.token
        if word not in moments.WITHOUT_BRACKETS and (
            bracket.text != "(" or bracket.offset != token.offset + len(token.text)
        ):
            raise self.refused(f"{word} and its bracket are apart", "'(' at once")
        if bracket.kind is TokenKind.SYMBOL and bracket.text == "(":
            self.expect("(", word)
            if moments.takes_digits(word) and self.tokens[self.position].kind is TokenKind.INTEGER:
                digits = int(self.size(word))
            self.expect(")", word)
        self.reads += 1
        self.present_used.append(word)
        return self.attempt(token, lambda: moments.value_at(word, self.row.moment, digits), NULL)


_VALUE_FUNCTIONS: Final = frozenset(("JSON_OBJECT", "JSON_ARRAY", "REPEAT", "CONCAT"))


def _wrong_type(offset: int | None = None) -> MysqlError:
    return MysqlError(3146, "ER_INVALID_TYPE_FOR_JSON", "neither a JSON value nor its text", offset=offset)


def _kind(term: Term, value: SqlValue) -> SqlType | None:
    """The type that a term has whatever the row holds; ``None`` of NULL."""
    if not isinstance(term, SqlValue):
        return SqlType.JSON
    return value.type if value.type is not SqlType.NULL else value.null_of


def _form(value: SqlValue) -> object:
    """Return the form that integers, or dates and times, must share for IFNULL to give one of them as it is."""
    if value.type in (SqlType.INTEGER, SqlType.BOOLEAN):
        return isinstance(value.json, UInt)
    return value.json.field_type if value.type is SqlType.TEMPORAL and isinstance(value.json, Opaque) else None


def _common(kinds: set[SqlType | None]) -> SqlType | None:
    """The type of IFNULL and COALESCE over values of these types, if it is known."""
    if len(kinds) == 1:
        return next(iter(kinds))
    texts = {SqlType.JSON, SqlType.STRING}
    numbers = {SqlType.INTEGER, SqlType.DECIMAL, SqlType.BOOLEAN}
    return SqlType.STRING if kinds & texts and kinds <= texts | numbers else None


_FUNCTIONS: Final[dict[str, Callable[[RowParser, Token], Term]]] = {
    "JSON_EXTRACT": RowParser.json_extract,
    "JSON_UNQUOTE": RowParser.json_unquote,
    "JSON_LENGTH": RowParser.json_length,
    "IFNULL": RowParser.first_known,
    "COALESCE": RowParser.first_known,
}
_KNOWN: Final = "a column, a literal, CAST, " + ", ".join(
    sorted({*_CALLS, *MERGES, *_FUNCTIONS, *_VALUE_FUNCTIONS, "NOW"} - {"JSON_MERGE"})
)
