"""Errors that stop the kit amid what a server, a client or a decoder said: told in words, with the place in the kit.

An answer that nobody foresaw costs the check or the block of updates that asked for it, and never the run.
"""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Final

from conformance.servers.errors import (
    CaptureError,
    ConnectionLost,
    GuestRefused,
    ServerError,
    ServerUnavailable,
    SpecError,
    StartFailed,
    UnreadableLog,
)

_KIT: Final = Path(__file__).parent.parent


def ends_all(error: BaseException) -> bool:
    """Whether nothing else can go on either: no server is left, or the lab may not use it as it must.

    So are errors that name an exit code of their own and are not about servers, as those of the report are.
    """
    if isinstance(error, ConnectionLost | GuestRefused | SpecError | ServerUnavailable | CaptureError):
        return not isinstance(error, StartFailed | UnreadableLog)
    return not isinstance(error, Exception) or (hasattr(error, "exit_code") and not isinstance(error, ServerError))


def said(error: BaseException) -> str:
    """Say what stopped the kit. Errors without words of their own get the place in the kit that they come from."""
    if hasattr(error, "exit_code"):
        return f"it cannot go on with what it was told: {error}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(_KIT)]
    place = f" ({Path(frames[-1].filename).relative_to(_KIT)}:{frames[-1].lineno})" if frames else ""
    return f"it cannot go on with what it was told: {type(error).__name__}: {error}{place}"
