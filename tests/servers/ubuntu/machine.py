"""A machine with Ubuntu's files: os-release and apt's sources in a directory, in place of this machine's own.

``python -m tests.servers.ubuntu.machine DIRECTORY ARGUMENTS...`` is ``binlog-lab ARGUMENTS...`` on that machine. What
this machine has of MySQL on its ``PATH`` is not there.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.servers import auto, survey
from conformance.servers.install import apt_sources, bundle

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Machine:
    """``etc`` holds ``os-release`` and ``apt``."""

    etc: Path

    def __post_init__(self) -> None:
        (self.etc / "apt/sources.list.d").mkdir(parents=True, exist_ok=True)

    def is_called(self, os_release: str) -> None:
        """Write os-release."""
        (self.etc / "os-release").write_text(os_release, encoding="utf-8")

    def has(self, name: str, text: str) -> None:
        """Write a file of apt's sources: ``sources.list`` or ``sources.list.d/…``."""
        (self.etc / "apt" / name).write_text(text, encoding="utf-8")

    def stands_in(self, replace: Callable[[Any, str, Any], None]) -> None:
        """Let the kit see this machine; ``replace`` sets an attribute."""

        def sources() -> list[apt_sources.Source]:
            return apt_sources.read_sources(self.etc / "apt")

        def distribution() -> apt_sources.Distribution:
            return apt_sources.parse_os_release((self.etc / "os-release").read_text(encoding="utf-8"))

        for module in (bundle, survey):
            replace(module, "read_sources", sources)
            replace(module, "distribution", distribution)
        for other in (auto, survey):
            replace(other, "on_path", lambda: None)


def one_line(uri: str, codename: str, keyring: Path | None, security: str = "") -> str:
    """``sources.list`` as 22.04 has it, with the key named in each line where there is one to name."""
    options = f"[signed-by={keyring}] " if keyring else ""
    deb = f"deb {options}{uri} {codename}"
    far = f"deb {options}{security or uri} {codename}-security"
    return (
        "# See http://help.ubuntu.com/community/UpgradeNotes for how to upgrade to\n"
        f"{deb} main restricted\n# deb-src {uri} {codename} main restricted\n\n"
        f"## Major bug fix updates produced after the final release of the\n{deb}-updates main restricted\n"
        f"{deb} universe\n{deb}-updates universe\n{deb} multiverse\n{deb}-updates multiverse\n"
        f"{deb}-backports main restricted universe multiverse\n"
        f"{far} main restricted\n{far} universe\n{far} multiverse\n"
    )


def deb822(uri: str, codename: str, keyring: Path, security: str = "") -> str:
    """``ubuntu.sources`` as 24.04 has it."""
    rest = f"Components: main universe restricted multiverse\nSigned-By: {keyring}\n"
    return (
        f"# See http://help.ubuntu.com/community/UpgradeNotes\nTypes: deb\nURIs: {uri}\n"
        f"Suites: {codename} {codename}-updates {codename}-backports\n{rest}\n"
        f"## Ubuntu security updates.\nTypes: deb\nURIs: {security or uri}\nSuites: {codename}-security\n{rest}"
    )


if __name__ == "__main__":
    from conformance.cli.main import main

    Machine(Path(sys.argv[1])).stands_in(setattr)
    sys.argv[:] = ["binlog-lab", *sys.argv[2:]]
    sys.exit(main())
