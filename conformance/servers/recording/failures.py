"""The errors of servers as values of a recording: by the name of their class, never by anything that could be run."""

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
_FIELDS: Final[dict[str, type]] = {
    "missing": str, "remedy": str, "detail": str, "status": int, "reason": str, "log_tail": str, "number": int,
    "sqlstate": str, "message": str, "statement": str, "position": int, "text": str, "problem": str,
}  # fmt: skip


def dump_error(error: ServerError) -> Value:
    """An error as a value; one of a class that only some module knows becomes the family's own."""
    known = next(base for base in type(error).__mro__ if base.__name__ in _CLASSES)
    fields = {name: value for name, value in vars(error).items() if isinstance(value, _FIELDS.get(name, ()))}
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
            for field, kind in _FIELDS.items():
                given = fields.get(field)
                if isinstance(given, kind):
                    setattr(error, field, given)
                elif field == "status":
                    error.__dict__.setdefault("status", None)
            if timeout:
                error.__cause__ = TimeoutError("in the recorded run")
            return error
    raise DamagedValue("expected the parts of an error")
