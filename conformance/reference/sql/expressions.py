"""SQL text of the right-hand side of ``UPDATE t SET j = EXPR`` to the reference's expressions, and back.

:func:`parse_expression` reads the grammar of ``predict`` and nothing else:

* the whole: ``j``, ``NULL``, a call chain, CAST(... AS JSON), JSON_OBJECT, JSON_ARRAY;
* a call chain: JSON_SET, JSON_REPLACE and JSON_REMOVE, nested in their first argument down to one of the others;
* paths and values: ``j`` (values only), strings, numbers, TRUE, FALSE, NULL, DATE, TIME and TIMESTAMP literals, ``x''``
  and ``b''``, CAST(... AS JSON, UNSIGNED, SIGNED, DECIMAL or DATETIME), JSON_OBJECT, JSON_ARRAY, REPEAT, CONCAT.

Text outside this grammar raises :class:`Unsupported` (``outside-grammar``), with its place and the expected words. Text
that MySQL refuses raises :class:`MysqlError` with the server's number. This module evaluates all values. The server
reaches a value only if the document is not NULL and the paths before the value are right. So ``decoded`` of a value's
error holds the chain up to the value, with NULL in its place. If that chain evaluates to another error or to NULL, the
server answers that.

The reverse direction, in :mod:`.formatting`, writes SQL that makes exactly a given expression or value.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeVar

from conformance.reference.errors import CodecError, MysqlError
from conformance.reference.jsonb.members import stored_order
from conformance.reference.jsonb.sql_times import scalar_of_sql
from conformance.reference.partial.expression import (
    Call,
    Column,
    Expression,
    Function,
    Literal,
    SqlNull,
    Wrapped,
    Wrapper,
)
from conformance.reference.portable import capitals, folded, room_for
from conformance.reference.sql import values as sql_values
from conformance.reference.sql.formatting import format_document, format_expression, format_sql
from conformance.reference.sql.quoting import quote_identifier, quote_string
from conformance.reference.sql.tokens import Token, TokenKind, outside, tokenize
from conformance.reference.sql.values import NULL, Origin, SqlType, SqlValue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.reference.dialect import JsonForms
    from conformance.reference.errors import Unsupported
    from conformance.reference.jsonb.values import JsonValue

__all__ = [
    "EVALUATION",
    "ExpressionParser",
    "format_document",
    "format_expression",
    "format_sql",
    "parse_expression",
    "phase",
    "quote_identifier",
    "quote_string",
    "wrong_count",
]

_T = TypeVar("_T")
_CHAIN: Final = {
    function.value: function for function in (Function.JSON_SET, Function.JSON_REPLACE, Function.JSON_REMOVE)
}
# Errors of the server's parser and of name resolution; all others come from evaluation.
_PHASES: Final = {1367: 0, 1425: 0, 1426: 0, 1427: 0, 1525: 1, 1582: 1}
EVALUATION: Final = 2
_MAX_NESTING: Final = 200  # of brackets in the SQL text; the documents themselves stop at 100
_FRAMES: Final = 20  # of Python, for the words between two brackets inside each other
_SHALLOW: Final = 15  # brackets and signs for which any stack has room
_OPENING: Final = frozenset("(+-")
_VALUES: Final = "a literal, j, CAST, JSON_OBJECT, JSON_ARRAY, REPEAT or CONCAT"
_DOCUMENTS: Final = "j, NULL, JSON_SET, JSON_REPLACE, JSON_REMOVE, CAST(... AS JSON), JSON_OBJECT or JSON_ARRAY"


# --- reading ---------------------------------------------------------------------------------------------------------


def parse_expression(sql: str, column: str = "j", forms: JsonForms | None = None) -> Expression:
    """The expression of a right-hand side.

    ``column`` is the JSON column that the expression may use. ``forms``: how the server reads JSON text, if it is not
    the newest version. Raises :class:`Unsupported` for text outside the grammar, and :class:`MysqlError` for text that
    MySQL refuses.
    """
    parser = ExpressionParser(tokenize(sql), column, forms)
    return parser.read(parser.whole)


def phase(error: MysqlError) -> int:
    return _PHASES.get(error.number, EVALUATION)


@dataclass(slots=True)
class ExpressionParser:
    """Recursive descent. Errors of MySQL wait in ``errors`` until the whole text is known to be in the grammar."""

    tokens: list[Token]
    column: str
    forms: JsonForms | None = None
    position: int = 0
    nesting: int = 0
    errors: list[MysqlError] = field(default_factory=list)
    before_error: Call | None = None
    cut_times: bool = False  # a TIME that was made into JSON lost hours, as versions before 9.7 have it

    def read(self, rule: Callable[[], _T]) -> _T:
        """Apply a rule of the grammar to the tokens, with room for all nesting that is permitted."""
        openings = sum(token.kind is TokenKind.SYMBOL and token.text in _OPENING for token in self.tokens)
        if openings < _SHALLOW:
            return rule()
        with room_for(_FRAMES * _MAX_NESTING):
            return rule()

    def whole(self) -> Expression:
        """The expression of the whole text. Raises the first of the errors that the server meets."""
        expression = self.document("the expression")
        self.expect_end()
        if self.errors:
            # The text is in the grammar. The server meets errors of its parser first, then those of resolving names
            # and literals, then those of evaluation (observed on 9.7.4).
            error = min(self.errors, key=phase)
            if phase(error) == EVALUATION:
                error.decoded = self.before_error
            raise error
        return expression

    # Words and symbols.

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def next(self) -> Token:
        token = self.tokens[self.position]
        self.position += 1
        return token

    def in_json(self, value: SqlValue) -> JsonValue:
        """The JSON value that the version makes of a SQL value."""
        made = value.json if self.forms is None else scalar_of_sql(value.json, self.forms)
        self.cut_times = self.cut_times or made is not value.json
        return made

    def refused(self, message: str, expected: str, token: Token | None = None) -> Unsupported:
        token = token or self.token
        return outside(message, offset=token.offset, expected=expected, got=str(token))

    def accept(self, symbol: str) -> bool:
        if self.token.kind is TokenKind.SYMBOL and self.token.text == symbol:
            self.position += 1
            return True
        return False

    def expect(self, symbol: str, where: str) -> None:
        if not self.accept(symbol):
            raise self.refused(f"{where} is not complete", repr(symbol))
        if symbol == "(":
            self.nesting += 1
            if self.nesting > _MAX_NESTING:
                raise self.refused("too many brackets inside each other", f"at most {_MAX_NESTING}")
        elif symbol == ")":
            self.nesting -= 1

    def expect_end(self) -> None:
        if self.token.kind is not TokenKind.END:
            raise self.refused("something follows the expression", "the end")

    def word(self) -> str:
        """The next word in capitals, or an empty text."""
        return self.token.text.upper() if self.token.kind is TokenKind.WORD else ""

    def accept_word(self, word: str) -> bool:
        if self.word() == word:
            self.position += 1
            return True
        return False

    def is_column(self) -> bool:
        kind, text = self.token.kind, self.token.text
        return kind in (TokenKind.WORD, TokenKind.QUOTED_NAME) and folded(text) == folded(self.column)

    def arguments(self, function: str) -> list[SqlValue]:
        """The parenthesised arguments of a function that takes only values."""
        values: list[SqlValue] = []
        self.expect("(", function)
        if not self.accept(")"):
            self.argument(function, values)
            while self.accept(","):
                self.argument(function, values)
            self.expect(")", function)
        else:
            self.nesting -= 1
        return values

    def argument(self, function: str, values: list[SqlValue]) -> None:
        """One more argument, and what the server checks before it evaluates the next."""
        known = len(self.errors)
        value = self.value(f"an argument of {function}")
        if function == "CONCAT" and any(one.type is SqlType.NULL for one in values):
            self.taken_back(known)  # the server does not evaluate what stands behind NULL
        if function == "JSON_OBJECT" and not len(values) % 2:
            try:
                sql_values.member_name(value)
            except MysqlError as error:
                self.errors.append(error)
        values.append(value)

    def taken_back(self, known: int) -> MysqlError | None:
        """The first error of evaluation since there were so many errors: the server may never come to it."""
        late = [error for error in self.errors[known:] if phase(error) == EVALUATION]
        self.errors[known:] = [error for error in self.errors[known:] if phase(error) != EVALUATION]
        return late[0] if late else None

    # Documents: the whole expression, and first arguments.

    def document(self, where: str) -> Expression:
        token = self.token
        if token.kind is TokenKind.SYMBOL and token.text == "(":
            self.expect("(", where)
            inner = self.document(where)
            self.expect(")", where)
            return inner
        if self.is_column():
            self.next()
            return Column(self.column)
        word = self.word()
        if word in _CHAIN:
            return self.chain(_CHAIN[word])
        if word == "NULL":
            self.next()
            return SqlNull()
        if word == "CAST":
            return self.cast_document()
        if word in ("JSON_OBJECT", "JSON_ARRAY"):
            return Literal(self.value(where).json)
        if token.kind is TokenKind.WORD and self.tokens[self.position + 1].text == "(":
            raise self.refused(f"{word} is outside predict's grammar", _DOCUMENTS)
        raise self.refused(f"{where} cannot start like this", _DOCUMENTS)

    def chain(self, function: Function) -> Call:
        name = function.value
        start = self.next()
        self.expect("(", name)
        document = self.document(f"the first argument of {name}")
        before = len(self.errors)
        pairs: list[tuple[str | None, Expression | None]] = []
        while self.accept(","):
            path = self.path(name)
            if function is Function.JSON_REMOVE:
                pairs.append((path, None))
                continue
            if not self.accept(","):
                if self.token.text == ")":
                    self.errors.append(wrong_count(name, start))
                    break
                raise self.refused(f"{name} is not complete", "','")
            known = len(self.errors)
            pairs.append((path, self.pair_value(name)))
            if self.before_error is None and any(phase(error) == EVALUATION for error in self.errors[known:]):
                self.before_error = Call(function, document, tuple(pairs))
        if self.token.text == ")" and not pairs:
            self.errors.append(wrong_count(name, start))
        self.expect(")", name)
        self.settle(document, start, before)
        return Call(function, document, tuple(pairs))

    def settle(self, document: Expression, token: Token, known: int) -> None:
        """Settle the errors of pairs, which came behind ``known`` others: here the caller looks at them."""

    def path(self, name: str) -> str | None:
        token = self.token
        value = self.value(f"a path of {name}")
        if value.type is SqlType.NULL:
            return None
        if value.type is SqlType.STRING:
            return str(value.json)
        raise self.refused(f"{value.type.value} as a path of {name}", "a string or NULL", token)

    def pair_value(self, name: str) -> Expression:
        if self.is_column():
            self.next()
            return Column(self.column)
        word = self.word()
        if word in _CHAIN:
            raise self.refused(f"{word} as a value of {name} is outside predict's grammar", _VALUES)
        return Literal(self.in_json(self.value(f"a value of {name}")))

    def cast_document(self) -> Expression:
        """CAST(... AS JSON) as a document: of a column or a chain too, which makes the column ineligible."""
        mark = self.position
        self.cast_bracket(self.next())
        if self.is_column() or self.word() in _CHAIN:
            inner = self.document("CAST")
            if self.cast_type() != ("JSON",):
                raise self.refused("only CAST(... AS JSON) makes a document", "JSON", self.tokens[self.position - 1])
            self.expect(")", "CAST")
            return Wrapped(Wrapper.CAST, inner)
        self.position = mark
        self.nesting -= 1
        start = self.token
        value = self.value("CAST")
        if value.type is SqlType.NULL:
            return SqlNull()  # also where an error was kept
        if value.type is not SqlType.JSON:
            raise self.refused("only CAST(... AS JSON) makes a document", "JSON", start)
        return Literal(value.json)

    # Values.

    def value(self, where: str) -> SqlValue:
        token = self.next()
        kind = token.kind
        if kind is TokenKind.STRING:
            text = token.text
            while self.token.kind is TokenKind.STRING:
                text += self.next().text
            return SqlValue(SqlType.STRING, text, origin=Origin.LITERAL)
        if kind in (TokenKind.INTEGER, TokenKind.DECIMAL, TokenKind.FLOAT):
            return self.number(token, "")
        if kind is TokenKind.BINARY:
            return sql_values.binary_literal(token.data)
        if kind is TokenKind.SYMBOL and token.text in "+-":
            if self.token.kind not in (TokenKind.INTEGER, TokenKind.DECIMAL, TokenKind.FLOAT):
                raise self.refused("a sign stands before something that is no number", "a number")
            return self.number(self.next(), token.text)
        if kind is TokenKind.SYMBOL and token.text == "(":
            self.position -= 1
            self.expect("(", where)
            inner = self.value(where)
            self.expect(")", where)
            return inner
        if kind is TokenKind.WORD:
            maker = _WORDS.get(token.text.upper())
            if maker is not None:
                try:
                    return maker(self, token)
                except MysqlError as error:
                    self.errors.append(error)
                    return SqlValue(SqlType.NULL, null_of=_TYPES.get(token.text.upper()))
                except CodecError as error:
                    if error.offset is None:
                        error.offset = token.offset
                    raise
        self.position -= 1
        if self.is_column():
            raise self.refused(f"{self.column} inside {where} is outside predict's grammar", "a value without columns")
        if kind is TokenKind.WORD and self.tokens[self.position + 1].text == "(":
            raise self.refused(f"{capitals(token.text)} is outside predict's grammar", _VALUES)
        raise self.refused(f"{where} is missing or outside predict's grammar", _VALUES)

    def number(self, token: Token, sign: str) -> SqlValue:
        if token.kind is TokenKind.INTEGER:
            return sql_values.integer_literal(token.text, negative=sign == "-")
        if token.kind is TokenKind.DECIMAL:
            return sql_values.decimal_literal(sign + token.text)
        try:
            return sql_values.double_literal(sign + token.text)
        except MysqlError as error:
            self.errors.append(error)
            return NULL

    def constant(self, token: Token) -> SqlValue:
        word = token.text.upper()
        return NULL if word == "NULL" else SqlValue(SqlType.BOOLEAN, word == "TRUE")

    def temporal(self, token: Token) -> SqlValue:
        word = token.text.upper()
        literal = self.token
        if literal.kind is not TokenKind.STRING:
            raise self.refused(f"{word} is not followed by its literal", "a string")
        self.next()
        return _TEMPORAL[word](literal.text)

    def json_array(self, _token: Token) -> SqlValue:
        return SqlValue(SqlType.JSON, [*map(self.in_json, self.arguments("JSON_ARRAY"))])

    def json_object(self, token: Token) -> SqlValue:
        values = self.arguments("JSON_OBJECT")
        if len(values) % 2:
            raise wrong_count("JSON_OBJECT", token)
        pairs = zip(values[::2], values[1::2], strict=True)
        members = {sql_values.member_name(name): self.in_json(value) for name, value in pairs}
        return SqlValue(SqlType.JSON, stored_order(members))

    def repeat(self, token: Token) -> SqlValue:
        values = self.arguments("REPEAT")
        if len(values) != 2:
            raise self.refused(f"REPEAT with {len(values)} arguments", "two", token)
        return sql_values.repeat(*values)

    def concat(self, token: Token) -> SqlValue:
        values = self.arguments("CONCAT")
        if not values:
            raise wrong_count("CONCAT", token)
        return sql_values.concat(values)

    def cast(self, token: Token) -> SqlValue:
        self.cast_bracket(token)
        value = self.value("the argument of CAST")
        target, *numbers = self.cast_type()
        self.expect(")", "CAST")
        return self.converted(value, target, numbers)

    def converted(self, value: SqlValue, target: str, numbers: Sequence[str]) -> SqlValue:
        """CAST(value AS target(numbers))."""
        if target == "JSON":
            made = sql_values.cast_json(value, self.forms)
            return made if value.type in (SqlType.STRING, SqlType.JSON) else replace(made, json=self.in_json(value))
        if target in ("SIGNED", "UNSIGNED"):
            return sql_values.cast_integer(value, unsigned=target == "UNSIGNED")
        if target == "DATETIME":
            return sql_values.cast_datetime(value, int(numbers[0]) if numbers else 0)
        precision = int(numbers[0]) if numbers else 10
        return sql_values.cast_decimal(value, precision, int(numbers[1]) if len(numbers) > 1 else 0)

    def cast_bracket(self, token: Token) -> None:
        if self.token.offset != token.offset + len("CAST"):
            raise self.refused("CAST and its bracket are apart, which makes it another function", "'(' at once")
        self.expect("(", "CAST")

    def cast_type(self) -> tuple[str, ...]:
        """``AS type``: the type in capitals and its numbers as written."""
        if not self.accept_word("AS"):
            raise self.refused("CAST is not complete", "AS")
        word = self.word()
        if word not in ("JSON", "SIGNED", "UNSIGNED", "DECIMAL", "DATETIME"):
            raise self.refused("CAST to another type", "JSON, UNSIGNED, SIGNED, DECIMAL or DATETIME")
        self.next()
        if word in ("SIGNED", "UNSIGNED") and self.word() in ("INTEGER", "INT"):
            self.next()
        most = {"DECIMAL": 2, "DATETIME": 1}.get(word, 0)
        if not most or self.token.text != "(":
            return (word,)
        self.expect("(", word)
        numbers = [self.size(word)]
        while len(numbers) < most and self.accept(","):
            numbers.append(self.size(word))
        self.expect(")", word)
        return (word, *numbers)

    def size(self, word: str) -> str:
        if self.token.kind is not TokenKind.INTEGER or len(self.token.text) > 4:
            raise self.refused(f"the size of {word} is not complete", "a small integer")
        return self.next().text


def wrong_count(name: str, token: Token) -> MysqlError:
    return MysqlError(
        1582, "ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT", f"incorrect parameter count for {name}", offset=token.offset
    )


_TEMPORAL: Final = {
    "DATE": sql_values.date_literal,
    "TIME": sql_values.time_literal,
    "TIMESTAMP": sql_values.timestamp_literal,
}
_TYPES: Final = {
    "JSON_ARRAY": SqlType.JSON,
    "JSON_OBJECT": SqlType.JSON,
    "REPEAT": SqlType.STRING,
    "CONCAT": SqlType.STRING,
    **dict.fromkeys(_TEMPORAL, SqlType.TEMPORAL),
}
_WORDS: Final[dict[str, Callable[[ExpressionParser, Token], SqlValue]]] = {
    **dict.fromkeys(("NULL", "TRUE", "FALSE"), ExpressionParser.constant),
    **dict.fromkeys(_TEMPORAL, ExpressionParser.temporal),
    "JSON_ARRAY": ExpressionParser.json_array,
    "JSON_OBJECT": ExpressionParser.json_object,
    "REPEAT": ExpressionParser.repeat,
    "CONCAT": ExpressionParser.concat,
    "CAST": ExpressionParser.cast,
}
