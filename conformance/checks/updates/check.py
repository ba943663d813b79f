"""Generated updates, predicted and compared byte for byte (requirements FR1).

One campaign runs the blocks once; each item answers for the mismatches of its kind (``UPDATE_CHECKS``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.updates.campaign import UpdateCampaign

if TYPE_CHECKING:
    from conformance.harness.check import Check
    from conformance.harness.session import Lab


@pytest.fixture(scope="module")
def campaign(lab: Lab) -> UpdateCampaign:
    """The updates of this run, judged when the first item asks."""
    return UpdateCampaign(lab)


@pytest.mark.check("event-bytes")
def test_event_bytes(check: Check, campaign: UpdateCampaign) -> None:
    """Every event, and every statement's changed rows or error, are as predicted."""
    campaign.judge(check)


@pytest.mark.check("decode")
def test_decode(check: Check, campaign: UpdateCampaign) -> None:
    """Every captured event decodes, and its typed form encodes to the same bytes."""
    campaign.judge(check)


@pytest.mark.check("apply")
def test_apply(check: Check, campaign: UpdateCampaign) -> None:
    """The captured diffs, applied to the document before the statement, give the document after it."""
    campaign.judge(check)


@pytest.mark.check("storage")
def test_storage(check: Check, campaign: UpdateCampaign) -> None:
    """JSON_STORAGE_SIZE and JSON_STORAGE_FREE are as predicted after every update."""
    campaign.judge(check)


@pytest.mark.check("text")
def test_text(check: Check, campaign: UpdateCampaign) -> None:
    """The document's text is as predicted after every update."""
    campaign.judge(check)
