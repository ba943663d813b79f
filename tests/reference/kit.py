"""The modules of the reference that vectors run, as one object."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

MODULES: Final = (
    "cursor",
    "jsonb.members",
    "jsonb.text",
    "jsonb.opaque",
    "jsonb.encode",
    "jsonb.decode",
    "jsonb.view",
    "jsonb.layout",
    "jsonb.compare",
    "partial.paths",
    "partial.diffs",
    "partial.in_place",
    "partial.document",
    "partial.apply",
    "partial.evaluation",
    "partial.update",
    "partial.decision",
)


def outcome(call: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, CodecError | None]:
    """The value of a call, or the declared error that it raises; any other error is not caught."""
    try:
        return call(*arguments, **options), None
    except CodecError as error:
        return None, error


def number(error: CodecError | None) -> int:
    """The number that MySQL gives the error; 0 for no error, -1 for one that is not MySQL's."""
    return 0 if error is None else getattr(error, "number", -1)


class Kit:
    """The modules, by the last part of their names."""

    def __init__(self, modules: dict[str, ModuleType]) -> None:
        for name, module in modules.items():
            setattr(self, name.rpartition(".")[2], module)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)  # for the type checker: every module is an attribute


def original() -> Kit:
    """The reference as it is."""
    return Kit({name: import_module(f"conformance.reference.{name}") for name in MODULES})
