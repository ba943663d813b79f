"""Targets in the layout of OSS-Fuzz and ClusterFuzzLite: an entry, a dictionary, options and seeds for each.

``fuzz_TARGET.py`` imports the target's check and gives it to atheris. Beside it lie ``fuzz_TARGET.dict``,
``fuzz_TARGET.options`` and ``fuzz_TARGET_seed_corpus.zip``, under the names by which those services find them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fuzz.runner import libfuzzer
from fuzz.runner.corpora import first_inputs, write_archive

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fuzz.runner.targets import Target

# The module is imported by a statement, so that packers find it. Its code and no other is instrumented.
_ENTRY: Final = '''\
"""{invariant}"""

import sys

import atheris

from fuzz.runner.child import mixed, not_instrumented

INSTRUMENT = {instrument!r}
ROOTS = {roots!r}

with atheris.instrument_imports(include=ROOTS, exclude=not_instrumented(ROOTS, INSTRUMENT)):
    import {module} as target

if __name__ == "__main__":
    mutate = getattr(target, "mutate", None)
    options = {{}} if mutate is None else {{"custom_mutator": mixed(mutate)}}
    atheris.Setup(sys.argv, target.check, **options)
    atheris.Fuzz()
'''


def export(targets: Iterable[Target], directory: Path) -> list[Path]:
    """Write the files of each target; returns the entries. Files of the same names are replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    return [_export(target, directory) for target in targets]


def _export(target: Target, directory: Path) -> Path:
    stem = f"fuzz_{target.name.replace('-', '_')}"
    write_archive(directory / f"{stem}_seed_corpus.zip", first_inputs(target))
    (directory / f"{stem}.options").write_text(f"[libfuzzer]\nmax_len = {target.max_len}\n", "ascii")
    tokens = libfuzzer.dictionary(tuple(target.module().DICTIONARY))
    if tokens:
        (directory / f"{stem}.dict").write_text(tokens, "ascii")
    entry = directory / f"{stem}.py"
    instrument = list(target.instrument)
    entry.write_text(
        _ENTRY.format(
            invariant=target.invariant,
            instrument=instrument,
            roots=sorted({name.split(".")[0] for name in instrument}),
            module=target.module_name,
        ),
        "utf-8",
    )
    return entry
