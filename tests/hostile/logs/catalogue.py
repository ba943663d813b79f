"""All hostile logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.hostile.logs import payloads, rows, shapes, statements

if TYPE_CHECKING:
    from tests.hostile.logs.log import HostileLog

LOGS: Final[tuple[HostileLog, ...]] = (*shapes.LOGS, *rows.LOGS, *payloads.LOGS, *statements.LOGS)
