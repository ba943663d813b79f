"""One error family for the whole reference implementation.

Every error has a stable ``code`` (part of the public interface; texts may change), an ``offset`` and a ``path`` of
field names. The offset is that of the offending byte inside the innermost value. Inner functions raise with their own
offset only. Each caller that catches an error adds its part with :meth:`CodecError.at`: reading sound bytes costs
nothing for the path.

``DecodeError`` the bytes are wrong; ``EncodeError`` our caller asked for bytes that cannot exist; ``Unsupported`` the
bytes are fine, we do not know how to read them; ``MysqlError`` the statement or event is one that MySQL itself refuses,
with the number it answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

from conformance.reference.portable import shown

if TYPE_CHECKING:
    from conformance.reference.dialect import ServerTerms


class CodecError(Exception):
    """Root of the family. Code raises only its subclasses."""

    __slots__ = ("code", "decoded", "expected", "got", "message", "offset", "path")

    def __init__(
        self,
        code: str,
        message: str,
        *,
        offset: int | None = None,
        expected: object = None,
        got: object = None,
        path: tuple[str, ...] = (),
        decoded: Any = None,
    ) -> None:
        if type(self) is CodecError:
            raise TypeError("CodecError is abstract: raise DecodeError, EncodeError, Unsupported or MysqlError")
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.offset = offset
        self.expected = expected
        self.got = got
        self.path = path
        self.decoded = decoded

    def at(self, part: str, base: int = 0) -> Self:
        """Add an outer part of the path, and ``base``, the position of the inner value inside the outer one."""
        self.path = (part, *self.path)
        if self.offset is not None:
            self.offset += base
        return self

    def __str__(self) -> str:
        text = self.message
        if self.path:
            text = f"{'.'.join(self.path)}: {text}"
        if self.offset is not None:
            text += f" at offset {self.offset}"
        if self.expected is not None:
            text += f", expected {_words(self.expected)}"
        if self.got is not None:
            text += f", got {_words(self.got)}"
        return f"{text} [{self.code}]"


def _words(value: object) -> str:
    return shown(value) if isinstance(value, (tuple, list, dict)) else str(value) or "nothing"


class DecodeError(CodecError):
    """The bytes are not a valid encoding."""


class EncodeError(CodecError):
    """The value has no valid encoding; nothing was produced."""


class Unsupported(CodecError):
    """The bytes may be valid, but this implementation does not know their meaning and must not guess."""


class ReplayError(CodecError):
    """The log is sound, but its effect is unknown: a statement that the replay does not follow, or a missing row."""


class MysqlError(CodecError):
    """MySQL refuses this input too. ``number`` and ``symbol`` are those of the server's message list."""

    __slots__ = ("number", "symbol")

    def __init__(
        self,
        number: int,
        symbol: str,
        message: str,
        *,
        offset: int | None = None,
        expected: object = None,
        got: object = None,
    ) -> None:
        super().__init__(f"mysql-{number}", message, offset=offset, expected=expected, got=got)
        self.number = number
        self.symbol = symbol

    def symbol_in(self, terms: ServerTerms) -> str:
        """The symbol in another version: numbers never change, one symbol has changed (versions 3)."""
        return terms.corrupt_event_symbol if self.number == 1610 else self.symbol


# Error numbers that partial JSON updates can meet (requirements 0.4; numbers are the same in all versions).
def replica_corrupt_event(message: str, **where: Any) -> MysqlError:
    """1610: the frame of a row is damaged (value_options, a length beyond the row)."""
    return MysqlError(1610, "ER_REPLICA_CORRUPT_EVENT", message, **where)


def could_not_apply_diff(message: str, **where: Any) -> MysqlError:
    """3648: a well-formed diff does not fit the document."""
    return MysqlError(3648, "ER_COULD_NOT_APPLY_JSON_DIFF", message, **where)


def corrupted_diff(message: str, **where: Any) -> MysqlError:
    """3649: a diff cannot be read."""
    return MysqlError(3649, "ER_CORRUPTED_JSON_DIFF", message, **where)


_TEXTS: Final = {
    1610: "Corrupted replication event was detected",
    3648: "Could not apply JSON diff in table {table}, column {column}.",
    3649: "Corrupted JSON diff for table {table}, column {column}.",
}


def text_of(number: int, table: str, column: str) -> str:
    """Return the words that the server's text for an error must contain (requirements 0.4).

    They are empty where the sheets have no text.
    """
    return _TEXTS.get(number, "").format(table=table, column=column)


def cannot_be_written(message: str) -> MysqlError:
    """1032: the applier's error where a write fails without a number of its own (observed on 9.7.4)."""
    return MysqlError(1032, "ER_KEY_NOT_FOUND", message)


def too_deep() -> MysqlError:
    """3157: more than 100 nested containers."""
    return MysqlError(3157, "ER_JSON_DOCUMENT_TOO_DEEP", "the JSON document exceeds the maximum depth of 100")
