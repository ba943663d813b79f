"""JSON text read character by character, in the server's order: which place is refused, and for what.

:mod:`.parse` leaves texts to Python's own reader, which is fast. What that one refuses is read again here, because its
positions and words change from version to version. A text that Python has no stack for is read here too: this reader
keeps its own. Each place is that of 9.7.4 (``tests/data/json-refusals-9.7.4.json``): of a number that is too big, its
first character; of a bad escape, its backslash; otherwise the first character that cannot stand where it stands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.errors import MysqlError, too_deep
from conformance.reference.jsonb.values import MAX_DEPTH, JsonValue

if TYPE_CHECKING:
    from collections.abc import Callable

WHITE: Final = " \t\n\r"
_SPACE: Final = re.compile(f"[{WHITE}]*")
_WHOLE: Final = re.compile("0|[1-9][0-9]*|")
_DIGITS: Final = re.compile("[0-9]*")
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]*')
_HEX: Final = re.compile("[0-9a-fA-F]{4}")
_ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: Final[dict[str, tuple[str, JsonValue]]] = {"n": ("null", None), "t": ("true", True), "f": ("false", False)}
# In the strings of sound JSON: a pair of surrogates, half of one (group 1), another escape.
_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F])|.)", re.DOTALL
)
_GOT: Final = 20  # characters of the text that an error shows


class Hooks(NamedTuple):
    """The functions that make values of the pieces that are read; as those of :class:`json.JSONDecoder`."""

    members: Callable[[list[tuple[str, JsonValue]]], dict[str, JsonValue]]
    integer: Callable[[str], JsonValue]
    fraction: Callable[[str], JsonValue]  # of numbers with a point or an exponent


def invalid_text(message: str, *, offset: int | None = None, got: object = None) -> MysqlError:
    """3140: text that is not JSON. As a function's argument the server calls the same fault 3141."""
    return MysqlError(3140, "ER_INVALID_JSON_TEXT", message, offset=offset, got=got)


def bytes_before(text: str, position: int) -> int:
    """The bytes of UTF-8 before a character."""
    return len(text[:position].encode("utf-8", "surrogateescape"))


def refusal(text: str, position: int, message: str) -> MysqlError:
    """3140 at a character."""
    return invalid_text(message, offset=bytes_before(text, position), got=text[position : position + _GOT])


def half_pair(text: str, stop: int) -> bool:
    """Whether the strings of the sound JSON before ``stop`` have half a pair of surrogates in an escape."""
    return "\\u" in text and any(match[1] for match in _ESCAPE.finditer(text, 0, stop))


def read(text: str, start: int, hooks: Hooks) -> tuple[JsonValue, int]:
    """The value that begins at a character, or behind white space there, and where it ends.

    Raises :class:`MysqlError` 3140 with the place in bytes, or 3157 at the 101st container inside the others.
    """
    return _Reader(text, hooks).document(start)


def place_of_fault(text: str) -> int | None:
    """The byte at which a text stops being JSON, for whatever numbers; ``None`` where it is only too deep."""
    hooks = Hooks(dict, str, str)
    try:
        _, stop = read(text, 0, hooks)
    except MysqlError as error:
        return error.offset
    return bytes_before(text, stop)


class _Open(NamedTuple):
    """A container whose end is not read yet. ``names`` is None for an array."""

    values: list[JsonValue]
    names: list[str] | None


class _Reader:
    """One pass over a text."""

    def __init__(self, text: str, hooks: Hooks) -> None:
        self.text = text
        self.hooks = hooks

    def document(self, start: int) -> tuple[JsonValue, int]:
        place = self.past_space(start)
        if self.text[place : place + 1] in ("", "\0"):
            raise refusal(self.text, place, "there is no JSON value")
        inside: list[_Open] = []
        while True:
            value, place = self.value(place, inside)
            while value is not _UNFINISHED:
                if not inside:
                    return value, place
                inside[-1].values.append(value)
                value, place = self.behind_value(place, inside)

    def past_space(self, place: int) -> int:
        found = _SPACE.match(self.text, place)
        assert found is not None
        return found.end()

    def value(self, place: int, inside: list[_Open]) -> tuple[JsonValue, int]:
        """A scalar or an empty container; of another one only its begin, and ``_UNFINISHED``."""
        char = self.text[place : place + 1]
        if char in ("[", "{") and char:
            return self.container(place, inside)
        if char == '"':
            return self.string(place)
        if char in _WORDS:
            word, value = _WORDS[char]
            for index, letter in enumerate(word):
                if self.text[place + index : place + index + 1] != letter:
                    raise refusal(self.text, place + index, "no JSON value is spelled like this")
            return value, place + len(word)
        return self.number(place)

    def container(self, place: int, inside: list[_Open]) -> tuple[JsonValue, int]:
        if len(inside) == MAX_DEPTH:
            raise too_deep()
        is_object = self.text[place] == "{"
        place = self.past_space(place + 1)
        if self.text[place : place + 1] == ("}" if is_object else "]"):
            return self.hooks.members([]) if is_object else [], place + 1
        inside.append(_Open([], [] if is_object else None))
        return _UNFINISHED, self.name(place, inside[-1])

    def name(self, place: int, container: _Open) -> int:
        """Where the value begins whose name may stand here."""
        if container.names is None:
            return place
        if self.text[place : place + 1] != '"':
            raise refusal(self.text, place, "a member begins with its name in double quotes")
        name, place = self.string(place)
        container.names.append(name)
        place = self.past_space(place)
        if self.text[place : place + 1] != ":":
            raise refusal(self.text, place, "a colon follows the name of a member")
        return self.past_space(place + 1)

    def behind_value(self, place: int, inside: list[_Open]) -> tuple[JsonValue, int]:
        """The innermost container if it ends here; otherwise ``_UNFINISHED``, and where its next value begins."""
        place = self.past_space(place)
        char = self.text[place : place + 1]
        values, names = inside[-1]
        if char == ",":
            return _UNFINISHED, self.name(self.past_space(place + 1), inside[-1])
        if char != ("]" if names is None else "}"):
            end = "] follows an element" if names is None else "} follows a member"
            raise refusal(self.text, place, f"a comma or {end}")
        inside.pop()
        return (values if names is None else self.hooks.members(list(zip(names, values, strict=True)))), place + 1

    def number(self, start: int) -> tuple[JsonValue, int]:
        text = self.text
        first = start + text.startswith("-", start)
        end = self.digits(_WHOLE, first, "no JSON value begins like this")
        hook = self.hooks.integer
        if text.startswith(".", end):
            hook = self.hooks.fraction
            end = self.digits(_DIGITS, end + 1, "digits follow the point of a number")
        if text.startswith(("e", "E"), end):
            hook = self.hooks.fraction
            end += 1 + text.startswith(("+", "-"), end + 1)
            end = self.digits(_DIGITS, end, "digits follow the e of a number")
        try:
            return hook(text[start:end]), end
        except MysqlError as error:
            error.offset = bytes_before(text, start)
            raise

    def digits(self, pattern: re.Pattern[str], place: int, message: str) -> int:
        found = pattern.match(self.text, place)
        assert found is not None
        if not found[0]:
            raise refusal(self.text, place, message)
        return found.end()

    def string(self, start: int) -> tuple[str, int]:
        text = self.text
        parts = []
        place = start + 1
        while True:
            found = _PLAIN.match(text, place)
            assert found is not None
            parts.append(found[0])
            place = found.end()
            char = text[place : place + 1]
            if char == '"':
                return "".join(parts), place + 1
            if char in ("", "\0"):
                raise refusal(text, place, "a string ends with a double quote")
            if char != "\\":
                raise refusal(text, place, "a control character in a string is an escape")
            piece, place = self.escape(place)
            parts.append(piece)

    def escape(self, start: int) -> tuple[str, int]:
        letter = self.text[start + 1 : start + 2]
        if letter in _ESCAPES:
            return _ESCAPES[letter], start + 2
        if letter != "u":
            raise refusal(self.text, start, "no escape begins like this")
        unit = self.unit(start, start)
        if not 0xD800 <= unit < 0xE000:
            return chr(unit), start + 6
        if unit < 0xDC00 and self.text.startswith("\\u", start + 6):
            second = self.unit(start + 6, start)
            if 0xDC00 <= second < 0xE000:
                return chr(0x10000 + ((unit - 0xD800) << 10) + second - 0xDC00), start + 12
        raise refusal(self.text, start, "a surrogate pair is incomplete")

    def unit(self, place: int, start: int) -> int:
        """The sixteen bits of the ``\\u`` at ``place``; ``start``: where the pair begins."""
        found = _HEX.match(self.text, place + 2)
        if found is None:
            raise refusal(self.text, start, r"four hexadecimal digits follow \u")
        return int(found[0], 16)


_UNFINISHED: Final[JsonValue] = []  # told apart by identity: a container of which only the begin is read
