"""Corpora: the committed ones are small, few and harmless, and a merge keeps what matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fuzz.runner.corpora import COMMITTED, LARGEST, MOST_FILES, committed, inputs
from fuzz.runner.merge import merge
from fuzz.runner.reach import reach
from fuzz.runner.regressions import may_crash_others
from fuzz.runner.targets import find, own_targets

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fuzz.runner.targets import Target

CORPORA = sorted(path for path in COMMITTED.glob("*") if path.is_dir())


@pytest.mark.parametrize("folder", CORPORA, ids=lambda path: path.name)
def test_committed_inputs_hold_and_are_few_small_and_harmless(folder: Path) -> None:
    (target,) = find([folder.name])
    check = target.module().check
    contents = [path.read_bytes() for path in sorted(folder.iterdir())]
    assert 0 < len(contents) <= MOST_FILES
    assert len(contents) == len(set(contents))
    assert max(map(len, contents)) <= min(LARGEST, target.max_len)
    for data in contents:
        assert not may_crash_others(data)
        check(data)


def test_only_targets_have_a_committed_corpus() -> None:
    assert {folder.name for folder in CORPORA} <= {target.name for target in own_targets()}


@pytest.mark.usefixtures("atheris")
def test_a_merge_keeps_one_input_for_each_that_reaches_the_same(toy: Callable[[str], Target], tmp_path: Path) -> None:
    same = [b"TOY\1" + bytes(length) for length in range(20)]
    other = [b"TOYB", b"TOYE", b"x", b"T", b"TO"]
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "old").write_bytes(b"TOYH")
    merged = merge(toy("clean"), [*same, *other], tmp_path / "kept")
    kept = {path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    assert merged.kept == len(kept)
    assert {b"TOYB", b"TOYE", b"TOYH"} <= kept
    assert len(kept & set(same)) == 1
    assert merged.edges is not None
    large = b"TOYM" + bytes(1500)
    merge(toy("long"), [large], tmp_path / "kept")
    assert large in {path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    assert merge(toy("long"), [large], tmp_path / "kept", for_commit=True).left_out == 1


def test_the_reach_of_a_corpus_is_counted_without_the_fuzzer(tmp_path: Path) -> None:
    (target,) = find(["jsonb-decode"])
    number, modules = reach([target], tmp_path)
    assert number == len(list(inputs(target, tmp_path))) > 20
    found = {item.module: item for item in modules}
    assert set(found) == set(target.instrument)
    decode = found["conformance.reference.jsonb.decode"]
    assert 0.8 * decode.lines < decode.lines_reached <= decode.lines
    assert decode.branches_reached <= decode.branches
    assert len(decode.missing) == decode.lines - decode.lines_reached


def test_committed_inputs_come_with_the_regressions() -> None:
    for target in own_targets():
        assert all(path.is_file() for path in committed(target))
