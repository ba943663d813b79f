"""Known deviations of real servers: data in ``deviations.toml``, or in a file of the user's in the same form."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from conformance.reference.dialect import ServerBehaviour
from conformance.requirements.catalogue import REQUIREMENTS

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = "conformance.requirements"
DATA = "deviations.toml"
WITNESSES = "witnesses"


class DeviationError(Exception):
    """A list of deviations that cannot be used: unreadable, or it names what nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """One entry. ``witness`` is the JSON text of a Case, or ``None`` where the list gives none."""

    id: str
    requirements: tuple[str, ...]
    switch: str
    versions: str
    reason: str
    witness: str | None = None


def load_deviations(path: Path | None = None) -> tuple[Deviation, ...]:
    """The list of the kit, or that of a file. Raises :class:`DeviationError`."""
    try:
        if path is None:
            text = files(PACKAGE).joinpath(DATA).read_text(encoding="utf-8")
        else:
            text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise DeviationError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DeviationError(f"{path or DATA}: not TOML: {error}") from None
    unknown = set(data) - {"deviation"}
    if unknown:
        raise DeviationError(f"{path or DATA}: unknown keys {sorted(unknown)}, expected [[deviation]] tables")
    return tuple(_entry(item, path) for item in data.get("deviation", ()))


def _entry(item: dict[str, Any], path: Path | None) -> Deviation:
    where = f"{path or DATA}: deviation {item.get('id', '?')!r}"
    missing = {"id", "requirements", "switch", "versions", "reason"} - set(item)
    if missing:
        raise DeviationError(f"{where}: {', '.join(sorted(missing))} missing")
    switches = {each.name for each in fields(ServerBehaviour)}
    if item["switch"] not in switches:
        raise DeviationError(f"{where}: no dialect switch {item['switch']!r}, expected one of {sorted(switches)}")
    for requirement in item["requirements"]:
        if requirement not in REQUIREMENTS:
            raise DeviationError(f"{where}: no requirement {requirement!r}")
    witness = None
    if "witness" in item:
        try:
            if path is None:
                witness = files(PACKAGE).joinpath(WITNESSES, item["witness"]).read_text(encoding="utf-8")
            else:
                witness = (path.parent / item["witness"]).read_text(encoding="utf-8")
        except OSError as error:
            raise DeviationError(f"{where}: witness {item['witness']}: {error.strerror or error}") from None
    return Deviation(
        id=item["id"],
        requirements=tuple(item["requirements"]),
        switch=item["switch"],
        versions=item["versions"],
        reason=item["reason"].strip(),
        witness=witness,
    )
