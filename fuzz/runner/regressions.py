"""Regressions: inputs that once broke a target; the repository keeps them and every test run executes them.

They lie in ``tests/regressions/<target>/<name>.bin``; the README there gives the reason for each in a line. Inputs that
may crash other people's released software are excluded: everybody can read a repository.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.judge.damage.crashes import damage_of_log, damage_of_values
from conformance.reference.binlog.header import MAGIC
from fuzz.runner.corpora import REGRESSIONS
from fuzz.runner.errors import Unfit
from fuzz.runner.findings import read
from fuzz.runner.targets import find

if TYPE_CHECKING:
    from pathlib import Path

SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def may_crash_others(data: bytes) -> bool:
    """Whether the data are a log, an event or a row image with a damage that is known to crash released software."""
    return bool(damage_of_values(data) or damage_of_log(data) or damage_of_log(MAGIC + data))


def keep(path: Path, *, name: str = "", note: str = "", directory: Path = REGRESSIONS) -> Path:
    """Keep the finding whose input is ``path``. Raises :class:`Unfit`, which gives the reason for a refusal."""
    finding = read(path)
    if finding is None:
        raise Unfit(f"{path}: no finding of a fuzz run (what the runner knows of it stands in a .json beside it)")
    data = path.read_bytes()
    if finding.peer or find([finding.target])[0].peer or may_crash_others(data):
        raise Unfit(
            f"{path}: this input may crash other people's software, and such inputs are kept in no repository;"
            " SECURITY.md says what to do with it"
        )
    name = name or path.stem
    if not SLUG.fullmatch(name):
        raise Unfit(f"{name!r} is no id: lower case letters and digits, words joined by single hyphens")
    place = directory / finding.target
    for other in sorted(place.glob("*.bin")):
        if other.read_bytes() == data:
            raise Unfit(f"it is kept already: {other}")
    kept = place / f"{name}.bin"
    if kept.exists():
        raise Unfit(f"{kept} is another input: choose another name")
    place.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(data)
    told = (note or finding.signature).replace("|", "/").replace("\n", " ")
    with (directory / "README.md").open("a", encoding="utf-8") as file:
        file.write(f"| `{finding.target}/{kept.name}` | {told} |\n")
    return kept
