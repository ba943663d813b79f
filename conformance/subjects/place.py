"""Where a subject of one's own was started: its folder, and where its Python modules are.

A command such as ``./decoder`` and a module of Python are found from there alone, so whatever repeats a verdict needs
both.
"""

from __future__ import annotations

import os
import shlex
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MODULES: Final = "PYTHONPATH"


@dataclass(frozen=True, slots=True)
class Place:
    """A folder, and the value of PYTHONPATH with whole paths; empty where it does not matter."""

    folder: str = ""
    modules: str = ""

    @classmethod
    def here(cls) -> Place:
        """The place of this process."""
        found = os.environ.get(MODULES, "")
        return cls(
            str(Path.cwd()), os.pathsep.join(str(Path(part).absolute()) for part in found.split(os.pathsep) if part)
        )

    def command(self, words: Sequence[str]) -> str:
        """A command for a shell in any folder."""
        before = [f"--chdir={self.folder}"] if self.folder else []
        before += [f"{MODULES}={self.modules}"] if self.modules else []
        return shlex.join([*(["env", *before] if before else ()), *words])

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Be there for a while; raises :class:`OSError` where the folder is gone."""
        if not self.folder:
            yield
            return
        before = os.environ.get(MODULES)
        with chdir(self.folder):
            os.environ[MODULES] = os.pathsep.join(filter(None, (self.modules, before)))
            try:
                yield
            finally:
                if before is None:
                    del os.environ[MODULES]
                else:
                    os.environ[MODULES] = before
