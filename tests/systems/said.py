"""One answer as ASCII text, the same under every Python and for both builds; and changed inputs."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# Forms that say nothing: of an enumeration's number (compiled code has the number alone), of functions, of places.
_NUMBER: Final = re.compile(r"<\w+\.\w+: ([0-9]+)>")
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")
_FUNCTION: Final = re.compile(r"<(?:[\w.]*function|built-in|bound|[\w.]*generator object)(?:[^<>]|<\w+>)*>")


def said(function: Callable[..., object], *arguments: object, declared: type[Exception] = CodecError) -> str:
    """The value, or the text of a declared error; another error by its kind, as its words are Python's."""
    try:
        value = function(*arguments)
    except declared as error:
        return f"{getattr(error, 'code', '')} {str(error)!a}"
    except Exception as error:  # noqa: BLE001 - some readers raise what their callers catch
        return f"not declared: {type(error).__name__}"
    return form_of(value)


def form_of(value: object) -> str:
    """``ascii()`` of a value, the same for both builds."""
    return _ADDRESS.sub("", _FUNCTION.sub("<a function>", _NUMBER.sub(r"\1", ascii(value))))


def changed(data: bytes, count: int, key: str) -> Iterator[bytes]:
    """``count`` forms of some bytes with a few of them changed, left out or repeated."""
    draw = random.Random(f"{key} {len(data)} {data[:64].hex()}")
    for _ in range(count):
        place, form = draw.randrange(len(data) + 1), data
        match draw.randrange(6):
            case 0 | 1 | 2 if place < len(data):
                form = data[:place] + bytes((data[place] ^ 1 << draw.randrange(8),)) + data[place + 1 :]
            case 3:
                form = data[:place]
            case 4:
                form = data[:place] + data[draw.randrange(len(data) + 1) :]
            case _:
                form = (
                    data[:place]
                    + draw.choice((b"\xff", b"\0", b"\xc3\xa9", b"\xd9\xa3", b"\xe0\xa2\x97"))
                    + data[place:]
                )
        yield form
