"""Generated updates, predicted and compared byte for byte: one campaign, one item for each thing that is judged
(requirements FR1).

The campaign's blocks are run once; each item answers for the mismatches of its kind (``lab.UPDATE_CHECKS``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.harness.lab import Lab


@pytest.mark.requirement("FR1", "D2", "D5", "D6", "D7", "F3")
def test_event_bytes(lab: Lab) -> None:
    """Every event of every transaction, and the rows changed or the error of every statement, are as predicted."""
    lab.require("updates/event-bytes")


@pytest.mark.requirement("F3")
def test_decode(lab: Lab) -> None:
    """Every captured event decodes, and its typed form encodes to the same bytes."""
    lab.require("updates/decode")


@pytest.mark.requirement("FR2")
def test_apply(lab: Lab) -> None:
    """The captured diffs, applied to the document before the statement, give the document after it."""
    lab.require("updates/apply")


@pytest.mark.requirement("IP1")
def test_storage(lab: Lab) -> None:
    """JSON_STORAGE_SIZE and JSON_STORAGE_FREE are as predicted after every update."""
    lab.require("updates/storage")


@pytest.mark.requirement("IP2")
def test_text(lab: Lab) -> None:
    """The document's text is as predicted after every update."""
    lab.require("updates/text")
