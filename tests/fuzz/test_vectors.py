"""Every target on all boundary vectors and captures, also those that are too long for a corpus."""

from __future__ import annotations

import pytest

from fuzz.targets import load
from tests.seeds import VECTORS

LONGEST = 120_000  # bytes; the few longer documents differ from these in their length alone


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", VECTORS)
def test_the_invariant_holds_for_all_vectors(name: str) -> None:
    target = load(name)
    seen = {data for make in VECTORS[name] for data in make() if len(data) <= LONGEST}
    assert len(seen) >= (10 if name != "payload" else 1)
    for data in seen:
        target.check(data)
