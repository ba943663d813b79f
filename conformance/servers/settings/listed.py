"""The list of settings, ``settings.toml``: what the lab does about each, and the options for servers of the lab's own.

A setting is a system variable. Its treatment says who deals with another value than the lab's: every session of the lab
(:mod:`.sessions`), the predictions, or a refusal in words (:mod:`.asked`).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

SESSION: Final = "session"
PREDICTED: Final = "predicted"
REFUSED: Final = "refused"
OPTION: Final = "option"
_PREFIXES: Final = ("skip_", "loose_", "disable_", "enable_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One system variable. ``value`` is that of the lab's sessions; ``wanted`` and ``least`` what the lab can judge.

    ``why``: what another value changes. ``tried``: other values, for ``tests.settings``. ``alias``: its former name.
    """

    name: str
    area: str
    treatment: str
    why: str
    value: str = ""
    wanted: tuple[str, ...] = ()
    least: int = 0
    tried: tuple[str, ...] = ()
    alias: str = ""


def _read() -> tuple[Setting, ...]:
    data = tomllib.loads(Path(__file__).with_name("settings.toml").read_text(encoding="utf-8"))
    return tuple(
        _setting(name, area, treatment, entry)
        for treatment, areas in data.items()
        for area, entries in areas.items()
        for name, entry in entries.items()
    )


def _setting(name: str, area: str, treatment: str, entry: dict[str, Any]) -> Setting:
    fields: dict[str, Any] = {key: tuple(given) if isinstance(given, list) else given for key, given in entry.items()}
    return Setting(name=name, area=area, treatment=treatment, **fields)


SETTINGS: Final = _read()


def of(treatment: str) -> tuple[Setting, ...]:
    """The settings with this treatment."""
    return tuple(setting for setting in SETTINGS if setting.treatment == treatment)


def listed(option: str) -> Setting | None:
    """The setting that a server option is about, under any of its spellings; ``None``: it is not in the list."""
    name = _variable(option)
    return _NAMES.get(name)


def beside(options: Mapping[str, str | None]) -> dict[str, str | None]:
    """The options of a server under test, for one that the lab starts beside it, without those about sessions and logs.

    An applier has no session of the lab. What a replica logs by itself is judged under the values that nobody chose.
    """
    return {name: value for name, value in options.items() if not _left_out(listed(name))}


def _left_out(setting: Setting | None) -> bool:
    return setting is not None and setting.treatment in (SESSION, PREDICTED)


def _variable(option: str) -> str:
    name = option.strip().lstrip("-").replace("-", "_").lower()
    for prefix in _PREFIXES:
        if name.startswith(prefix) and name not in _NAMES:
            name = name.removeprefix(prefix)
    return name


_NAMES: Final = {name: setting for setting in SETTINGS for name in (setting.name, setting.alias) if name}
