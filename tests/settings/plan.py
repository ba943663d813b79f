"""The runs: which settings and which account each has, and how it must end.

A run with many settings answers for each of them, as none may turn a row red. What is refused needs a run of its own.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.servers.settings.listed import OPTION, PREDICTED, REFUSED, SESSION, Setting, of

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFORMANT: Final = 0
USAGE: Final = 2
REFUSED_IN_WORDS: Final = 3
OWN, ADDRESS, PERSISTED = "own", "address", "persisted"
# Variables that no option sets, as SHOW VARIABLES and mysqld's help have them.
NO_OPTIONS: Final = frozenset(
    {"default_collation_for_utf8mb4", "rbr_exec_mode", "sql_auto_is_null", "sql_big_selects", "sql_buffer_result"}
    | {"sql_notes", "sql_quote_show_create", "sql_safe_updates", "sql_select_limit", "sql_warnings", "unique_checks"}
    | {"foreign_key_checks", "default_week_format"}
    | {"collation_server"}  # beside the lab's own character set a server refuses another one's collation
)
_SETTINGS_OF_ACCOUNTS: Final = Path(__file__).with_name("accounts.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the kit. ``grants``: rights of an account at an address; ``None``: all rights.

    ``code``: its exit code. ``words``: what it says where it refuses the server.
    """

    name: str
    place: str = OWN
    settings: dict[str, str] = field(default_factory=dict)
    grants: tuple[str, ...] | None = None
    code: int = CONFORMANT
    words: str = ""


def runs() -> Iterator[Run]:
    """All runs, those that end at once first."""
    for setting in of(OPTION):
        yield from _alone(setting, USAGE, f"the lab sets {setting.name.replace('_', '-')} itself")
    for setting in of(REFUSED):
        yield from _alone(setting, REFUSED_IN_WORDS, setting.name)
    yield from accounts()
    session = {setting.name: setting.tried[0] for setting in of(SESSION) if setting.tried}
    yield Run(name="session settings, persisted", place=PERSISTED, settings=session)
    yield Run(name="session settings, global", place=ADDRESS, settings=session)
    yield Run(name="session settings, options", settings={n: v for n, v in session.items() if n not in NO_OPTIONS})
    for setting in of(SESSION):
        for value in setting.tried[1:]:
            yield Run(name=f"{setting.name}={value}", settings={setting.name: value})
    for setting in of(PREDICTED):
        yield from _alone(setting, CONFORMANT, "")


def _alone(setting: Setting, code: int, words: str) -> Iterator[Run]:
    for value in setting.tried:
        yield Run(name=f"{setting.name}={value}", settings={setting.name: value}, code=code, words=words)


def accounts() -> Iterator[Run]:
    """The accounts, ``accounts.toml``."""
    data = tomllib.loads(_SETTINGS_OF_ACCOUNTS.read_text(encoding="utf-8"))
    for name, entry in data.items():
        yield Run(
            name=name,
            place=ADDRESS,
            settings=entry.get("settings", {}),
            grants=tuple(entry["grants"]),
            code=REFUSED_IN_WORDS if entry.get("words") else CONFORMANT,
            words=entry.get("words", ""),
        )
