"""Which statements depend on the time zone, so that the BEGIN in front of them names it (observed on 9.7.4).

``TIMESTAMP'...'`` literals do, wherever they stand. So do a DATETIME or TIMESTAMP column that is set from text, and a
TIMESTAMP column that is read. DATE and TIME literals do not, nor does reading a DATETIME column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.jsonb.values import DATETIME, Opaque
from conformance.reference.partial.expression import Call, Expression, Literal, Wrapped

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

ZONED_TYPES: Final = frozenset(("DATETIME", "TIMESTAMP"))  # columns whose setting needs the time zone


def needs_time_zone(expression: Expression) -> bool:
    """Whether a literal in the expression is written with ``TIMESTAMP'...'``."""
    while isinstance(expression, Wrapped):
        expression = expression.inner
    if isinstance(expression, Literal):
        return has_datetime(expression.value)
    if isinstance(expression, Call):
        return needs_time_zone(expression.document) or any(
            value is not None and needs_time_zone(value) for _, value in expression.arguments
        )
    return False


def has_datetime(value: JsonValue) -> bool:
    """Whether a JSON value is or holds a DATETIME."""
    layer: list[Any] = [value] if isinstance(value, dict | list | Opaque) else []
    while layer:
        inner: list[Any] = []
        for item in layer:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
            elif isinstance(item, Opaque) and item.field_type == DATETIME:
                return True
        layer = inner
    return False
