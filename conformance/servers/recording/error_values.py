"""Errors of servers as values of a recording: the name of the class and its fields, never a pickle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.servers import errors
from conformance.servers.errors import ServerError
from conformance.servers.recording.values import DamagedValue

if TYPE_CHECKING:
    from conformance.servers.recording.values import Value

_CLASSES: Final = {
    name: found for name, found in vars(errors).items() if isinstance(found, type) and issubclass(found, ServerError)
}
# The fields that each class adds to those of its bases, with the value for a recording that lacks the field.
_FIELDS: Final[dict[str, dict[str, str | int | None]]] = {
    "ServerUnavailable": {"missing": "", "remedy": "", "detail": ""},
    "ServerDied": {"status": None, "reason": "", "log_tail": ""},
    "SpecError": {"text": "", "problem": ""},
    "SqlError": {"number": 0, "sqlstate": "", "message": "", "statement": "", "position": 0},
}


def _fields(found: type[ServerError]) -> dict[str, str | int | None]:
    return {name: value for base in found.__mro__ for name, value in _FIELDS.get(base.__name__, {}).items()}


def dump_error(error: ServerError) -> Value:
    """An error as a value. An error of a class that :mod:`..errors` lacks is stored as its nearest base there."""
    known = next(base for base in type(error).__mro__ if base.__name__ in _CLASSES)
    fields = {name: getattr(error, name) for name in _fields(known)}
    return {
        "class": known.__name__,
        "text": str(error),
        "fields": fields,
        "timeout": _is_timeout(error),
    }


def _is_timeout(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, TimeoutError):
        error = error.__cause__
    return error is not None


def load_error(value: Value) -> ServerError:
    """The error of a value. Raises :class:`DamagedValue`."""
    match value:
        case {"class": str(name), "text": str(text), "fields": dict(fields), "timeout": bool(timeout)}:
            found = _CLASSES.get(name)
            if found is None:
                raise DamagedValue(f"expected the name of an error, got {name!r}")
            error = found.__new__(found)
            Exception.__init__(error, text)
            for field, default in _fields(found).items():
                given = fields.get(field)
                wanted = int if field in ("number", "position", "status") else str
                setattr(error, field, given if isinstance(given, wanted) else default)
            if timeout:
                error.__cause__ = TimeoutError("in the recorded run")
            return error
    raise DamagedValue("expected the parts of an error")
