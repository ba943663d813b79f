"""Known deviations of real servers: data in ``deviations.toml``, or in a file of the user's in the same form.

An entry names the dialect switch that models it. Where no model can, its witness is a sql Case: it has the known
outcome under the entry's id, and the entry explains nothing else. The end of a program has a signature (``crash``:
when, at which damage of the input, with which signal). It also has a place: ``frames``, for each build that it was
observed on, or ``no_frames``, why there are none. Its witness is a generator, because an input that crashes other
people's software is stored nowhere.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from conformance.reference.dialect import ServerBehaviour
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.requirements.crashes import DAMAGES, MOMENTS, Crash
from conformance.requirements.versions import applies, parse_ranges, parse_version

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Places: TypeAlias = "Mapping[str, tuple[tuple[str, ...], ...]]"  # build -> upper frames of each place, innermost first

PACKAGE = "conformance.requirements"
DATA = "deviations.toml"
WITNESSES = "witnesses"
_NEEDED = frozenset({"id", "requirements", "versions", "reason"})
_LISTS: Final = frozenset({"requirements", "observed"})
_OF_CRASHES: Final = frozenset({"crash", "frames", "no_frames"})
_BUILD: Final = re.compile(r"[0-9a-f]{12}")
_SIGNATURE: Final = ("during", "damage", "signal")


class DeviationError(Exception):
    """An unusable list of deviations: it is unreadable, or it names something unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """One entry. ``witness`` is the JSON text of a Case; without one there is a ``switch`` or a ``crash``, whose places
    are ``frames``; ``no_frames`` says why there can be none. A crash with a ``switch``: that is what the program does
    with the same damage where it lives.

    ``versions``: where it is expected. ``observed``: the versions on which it was seen.
    """

    id: str
    requirements: tuple[str, ...]
    switch: str | None = None
    crash: Crash | None = None
    frames: Places = field(default_factory=dict)
    no_frames: str = ""
    versions: str
    observed: tuple[str, ...] = ()
    reason: str
    witness: str | None = None


def load_deviations(path: Path | None = None) -> tuple[Deviation, ...]:
    """The list of the kit, or that of a file. Raises :class:`DeviationError`."""
    return _of_kit() if path is None else _load(path)


@cache  # each server that is judged asks for it
def _of_kit() -> tuple[Deviation, ...]:
    return _load(None)


def _load(path: Path | None) -> tuple[Deviation, ...]:
    try:
        if path is None:
            text = files(PACKAGE).joinpath(DATA).read_text(encoding="utf-8")
        else:
            text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise DeviationError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DeviationError(f"{path or DATA}: not TOML: {error}") from None
    unknown = set(data) - {"deviation"}
    if unknown:
        raise DeviationError(f"{path or DATA}: unknown keys {sorted(unknown)}, expected [[deviation]] tables")
    items = data.get("deviation", [])
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise DeviationError(f"{path or DATA}: deviation is no list of tables, expected [[deviation]]")
    entries = tuple(_entry(item, path) for item in items)
    twice = sorted(name for name, count in Counter(entry.id for entry in entries).items() if count > 1)
    if twice:
        raise DeviationError(f"{path or DATA}: deviation {', '.join(twice)} is listed twice")
    return entries


def _entry(item: dict[str, Any], path: Path | None) -> Deviation:
    where = f"{path or DATA}: deviation {item.get('id', '?')!r}"
    missing = _NEEDED - set(item)
    if not {"switch", "witness", "crash"} & set(item):
        missing = missing | {"switch, crash or witness"}
    if missing:
        raise DeviationError(f"{where}: {', '.join(sorted(missing))} missing")
    unknown = set(item) - _NEEDED - {"switch", "witness", "observed"} - _OF_CRASHES
    if unknown:
        raise DeviationError(f"{where}: unknown keys {sorted(unknown)}")
    if "crash" in item and "witness" in item:
        raise DeviationError(f"{where}: a crash has no witness, its signature is all that is known")
    if "crash" not in item and _OF_CRASHES & set(item):
        raise DeviationError(f"{where}: frames are those of a crash, and there is none")
    for name, value in item.items():
        if name in ("crash", "frames"):
            continue
        if not (_is_texts(value) if name in _LISTS else isinstance(value, str)):
            raise DeviationError(f"{where}: {name} is no {'list of texts' if name in _LISTS else 'text'}")
    switches = {each.name for each in fields(ServerBehaviour)}
    if item.get("switch", next(iter(switches))) not in switches:
        raise DeviationError(f"{where}: no dialect switch {item['switch']!r}, expected one of {sorted(switches)}")
    for requirement in item["requirements"]:
        if requirement not in REQUIREMENTS:
            raise DeviationError(f"{where}: no requirement {requirement!r}")
    try:
        parse_ranges(item["versions"])
    except ValueError as error:
        raise DeviationError(f"{where}: versions: {error}, expected 8.0.3.. or 8.0.3..8.4.99, 9.7.0..") from None
    for seen in item.get("observed", ()):
        try:
            inside = applies(item["versions"], parse_version(seen))
        except ValueError as error:
            raise DeviationError(f"{where}: observed: {error}") from None
        if not inside:
            raise DeviationError(f"{where}: observed: {seen} is not in {item['versions']}")
    witness = None
    if "witness" in item:
        try:
            if path is None:
                witness = files(PACKAGE).joinpath(WITNESSES, item["witness"]).read_text(encoding="utf-8")
            else:
                witness = (path.parent / item["witness"]).read_text(encoding="utf-8")
        except OSError as error:
            raise DeviationError(f"{where}: witness {item['witness']}: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise DeviationError(f"{where}: witness {item['witness']}: not a text file") from None
    return Deviation(
        id=item["id"],
        requirements=tuple(item["requirements"]),
        switch=item.get("switch"),
        crash=_crash(item["crash"], where) if "crash" in item else None,
        frames=_places(item, where),
        no_frames=item.get("no_frames", ""),
        versions=item["versions"],
        observed=tuple(item.get("observed", ())),
        reason=item["reason"].strip(),
        witness=witness,
    )


def _crash(item: object, where: str) -> Crash:
    """``crash = { during = "applying", damage = "member-in-diff", signal = 6 }``."""
    if not isinstance(item, dict) or set(item) != set(_SIGNATURE):
        raise DeviationError(f"{where}: crash needs {', '.join(_SIGNATURE)}, and nothing else")
    for name, words in (("during", MOMENTS), ("damage", DAMAGES)):
        if item[name] not in words:
            raise DeviationError(f"{where}: crash: {name} {item[name]!r} is none of {', '.join(words)}")
    if not isinstance(item["signal"], int) or isinstance(item["signal"], bool) or item["signal"] < 1:
        raise DeviationError(f"{where}: crash: signal {item['signal']!r} is no number of a signal")
    return Crash(**item)


def _places(item: dict[str, Any], where: str) -> Places:
    """``frames = { "9.7.4-2 cc8a18826385" = [["a", "b"]] }``: version and build, and the upper frames of each place.

    The build is the first digits of the program's identity in the report of a crash; people and the lab read it.
    """
    frames = item.get("frames", {})
    if not isinstance(frames, dict):
        raise DeviationError(f"{where}: frames is no table of builds")
    if frames and "no_frames" in item:
        raise DeviationError(f"{where}: frames and no_frames exclude each other")
    places: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name, listed in frames.items():
        build = name.rpartition(" ")[2]
        if _BUILD.fullmatch(build) is None:
            raise DeviationError(f"{where}: frames: {name!r} does not end with the first twelve digits of a build")
        if not isinstance(listed, list) or not listed or not all(_is_texts(place) for place in listed):
            raise DeviationError(f"{where}: frames of {name}: no list of places, each a list of functions")
        places[build] = tuple(map(tuple, listed))
    return places


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)
