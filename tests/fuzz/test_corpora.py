"""Corpora: the committed ones are small, few and harmless, and a merge keeps what matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fuzz.runner.corpora import (
    COMMITTED,
    LARGEST,
    MOST_FILES,
    REGRESSIONS,
    archive,
    committed,
    read_archive,
    too_long,
    write_archive,
    write_inputs,
)
from fuzz.runner.merge import merge, merge_for_commit
from fuzz.runner.regressions import may_crash_others
from fuzz.runner.targets import find, own_targets

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fuzz.runner.targets import Target

CORPORA = sorted(COMMITTED.iterdir())


@pytest.mark.parametrize("path", CORPORA, ids=lambda path: path.stem)
def test_committed_inputs_hold_and_are_few_small_and_harmless(path: Path) -> None:
    (target,) = find([path.stem])
    check = target.module().check
    contents = read_archive(path)
    assert 0 < len(contents) <= MOST_FILES
    assert len(contents) == len(set(contents))
    assert max(map(len, contents)) <= min(LARGEST, target.max_len)
    for data in contents:
        assert not may_crash_others(data)
        check(data)


def test_only_targets_have_a_committed_corpus() -> None:
    assert {path.name for path in CORPORA} <= {f"{target.name}.zip" for target in own_targets()}


def test_the_same_inputs_give_the_same_archive(tmp_path: Path) -> None:
    for path in CORPORA:
        write_archive(tmp_path / path.name, reversed(read_archive(path)))
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


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
    write_archive(tmp_path / "long.zip", [b"TOYB"])
    assert merge_for_commit(toy("long"), [large], tmp_path / "long.zip").left_out == 1
    assert large not in read_archive(tmp_path / "long.zip")


def test_inputs_that_would_be_cut_are_counted(tmp_path: Path) -> None:
    (target,) = find(["jsonb-decode"])
    (tmp_path / target.name).mkdir()
    for size in (target.max_len, target.max_len + 1):
        (tmp_path / target.name / str(size)).write_bytes(bytes(size))
    assert too_long(target, tmp_path) == 1
    assert too_long(target, tmp_path / "none") == 0


def test_committed_inputs_come_with_the_regressions(tmp_path: Path) -> None:
    regressions = {path.parent.name: path.read_bytes() for path in REGRESSIONS.glob("*/*.bin")}
    for target in own_targets():
        found = committed(target)
        assert {*read_archive(archive(target)), regressions.get(target.name, found[0])} <= {*found}
        paths = write_inputs(target, tmp_path / target.name)
        assert {*found} <= {path.read_bytes() for path in paths}
