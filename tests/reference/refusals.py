"""Refusals of a reader, and where they are: code, byte and path of an error, which a message shows to a user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Callable


def refused(call: Callable[..., Any], *arguments: Any, **options: Any) -> CodecError:
    """The declared error that a call must raise."""
    with pytest.raises(CodecError) as caught:
        call(*arguments, **options)
    return caught.value


def where(error: CodecError) -> tuple[str, int | None, str]:
    """Its code, the offset, the names of the fields from the outside in."""
    return error.code, error.offset, ".".join(error.path)
