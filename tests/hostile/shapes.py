"""All shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.hostile.documents import DOCUMENTS, TEXTS
from tests.hostile.events import EVENTS
from tests.hostile.files import FILES, PAYLOADS

if TYPE_CHECKING:
    from tests.hostile.shape import Shape

SHAPES: Final[tuple[Shape, ...]] = (*DOCUMENTS, *TEXTS, *EVENTS, *PAYLOADS, *FILES)
