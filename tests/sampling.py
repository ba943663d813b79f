"""Tests of many equal cases, of which only some run with every change: ``@pytest.mark.sampled(4)``.

A case that starts a server takes seconds, and shows the same as its neighbours do. The others are ``nightly``. Where
only some cases are asked for by name, the sample is one of these: so a single case always runs.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence


def leave_samples(items: Sequence[pytest.Item]) -> None:
    """Mark all cases of sampled tests ``nightly`` but for the samples."""
    cases: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled") and not item.get_closest_marker("nightly"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for same in cases.values():
        mark = same[0].get_closest_marker("sampled")
        assert mark is not None
        often = spread(mark.args[0], len(same))
        for number, item in enumerate(same):
            if number not in often:
                item.add_marker(pytest.mark.nightly)


def spread(count: int, total: int) -> set[int]:
    """So many of the numbers below ``total``, evenly spread, from the first on."""
    return {number * total // count for number in range(count)} if count < total else set(range(total))
