"""Generated updates of partitioned tables: every method, rows that move, Cases that can be stored."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from conformance.cases.files import dump_case, load_case, validate
from conformance.cases.script import build_script
from conformance.checks.triggers import generate, partitions
from conformance.checks.triggers.run import _harmful as harmful
from conformance.reference.binlog.rows import PartitionInfo
from conformance.reference.dialect import MYSQL
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.cases.update_case import UpdateCase


@cache
def cases() -> list[UpdateCase]:
    return [partitions.case(Stream("partitions", "7", number), number, MYSQL) for number in range(48)]


def test_methods_and_kinds_of_moves_are_all_there() -> None:
    counts: Counter[object] = Counter()
    for case in cases():
        divided = case.table.partitions
        assert divided is not None
        counts[divided.method] += 1
        counts["divided again"] += divided.sub is not None
        for prediction in build_script(case).predictions:
            assert prediction.error is None
            for event in prediction.events:
                (info,) = event.extra
                assert isinstance(info, PartitionInfo)
                counts["moved" if info.partition != info.source else "stayed"] += 1
            for one, other in pairwise(prediction.events):
                counts["runs"] += one.extra != other.extra
    assert all(counts[method] == 8 for method in partitions.METHODS)
    assert all(counts[word] > 8 for word in ("moved", "stayed", "runs")), counts
    assert counts["divided again"] > 3


def test_no_case_without_a_trigger_is_left_out_and_few_with_one_are() -> None:
    assert not [case for case in cases() if harmful(build_script(case))]
    with_trigger = [generate.case(Stream("triggers", "7", number)) for number in range(120)]
    assert sum(harmful(build_script(case)) for case in with_trigger) <= 2


def test_a_case_can_be_stored() -> None:
    for case in cases()[:12]:
        data = json.loads(json.dumps(dump_case(case)))
        validate(data)
        assert load_case(data) == case


def test_the_same_seed_gives_the_same_case() -> None:
    assert partitions.case(Stream("partitions", "7", 5), 5, MYSQL) == cases()[5]
