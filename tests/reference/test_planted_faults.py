"""The vectors kill every planted fault, and a faulty copy never leaks into the modules in use."""

from __future__ import annotations

import sys
from collections import Counter

import pytest

from conformance.reference.jsonb import decode, encode
from conformance.reference.jsonb.encode import encode as used
from tests.reference.kit import COPIED, PACKAGE, Fault, original, planted
from tests.reference.planted_faults import FAULTS, killer


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_planted_fault_is_killed(fault: Fault) -> None:
    assert killer(fault), f"no vector notices that this no longer holds: {fault.breaks}"


def test_faults_are_many_and_everywhere() -> None:
    modules = Counter(fault.module for fault in FAULTS)
    assert len(FAULTS) >= 90
    assert len({fault.id for fault in FAULTS}) == len(FAULTS)
    for module in ("encode", "decode", "layout", "view"):
        assert modules[f"jsonb.{module}"] >= 3
    for module in (
        "partial.in_place",
        "partial.document",
        "partial.update",
        "partial.apply",
        "partial.paths",
        "partial.diffs",
        "cursor",
    ):
        assert modules[module] >= 2


def test_a_fault_whose_text_is_gone_or_doubled_is_an_error() -> None:
    for old in ("no such text anywhere", "return"):
        with (
            pytest.raises(AssertionError, match=r"stands \d+ times"),
            planted(Fault("x", "jsonb.encode", old, "", "nothing")),
        ):
            pass


def test_a_faulty_copy_is_another_module_and_leaves_the_originals() -> None:
    before = {name: sys.modules[f"{PACKAGE}.{name}"] for name in COPIED}
    fault = next(fault for fault in FAULTS if fault.id == "true-is-2")
    with planted(fault) as kit:
        assert kit.encode.encode(True) == b"\x04\x02"
        assert used(True) == b"\x04\x01"
    assert {name: sys.modules[f"{PACKAGE}.{name}"] for name in COPIED} == before
    assert original().encode is encode
    assert sys.modules[f"{PACKAGE}.jsonb"].decode is decode
