"""The package archive that this machine already uses, read from its apt configuration.

The module reads both formats of sources.list(5): one line per source, and deb822 stanzas. Nothing here names a host:
the bundle comes from the mirror that the machine's configuration chose.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORD = re.compile(r"\[[^\]]*\]|\S+")
_DATES = ("Check-Valid-Until", "Valid-Until-Min", "Valid-Until-Max", "Check-Date", "Date-Max-Future")
_SCHEMES = ("http", "https", "file", "copy", "mirror", "mirror+http", "mirror+https", "mirror+file", "tor+http", "ftp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One archive with one list of suites. ``signed_by`` is a keyring path, a key block, or empty: apt's own keys.

    ``dates``: apt's options of this source about the age of its index, as fields of deb822 with their values.
    """

    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...] = ()
    signed_by: str = ""
    dates: tuple[tuple[str, str], ...] = ()

    def joined(self, other: Source) -> Source:
        """This archive with the suites and components of another line of it."""
        return replace(
            self,
            suites=tuple(dict.fromkeys((*self.suites, *other.suites))),
            components=tuple(dict.fromkeys((*self.components, *other.components))),
        )

    def stanza(self, suites: tuple[str, ...], components: tuple[str, ...]) -> str:
        """A deb822 stanza for other suites of the same archive."""
        # With file: apt reads packages in place and leaves nothing in its archive directory, so the method that copies.
        uri = f"copy:{self.uri[5:]}" if self.uri.startswith("file:") else self.uri
        lines = [
            "Types: deb",
            f"URIs: {uri}",
            f"Suites: {' '.join(suites)}",
            f"Components: {' '.join(components)}",
            *(f"{name}: {value}" for name, value in self.dates),
        ]
        if self.signed_by:
            # A path stands on the line; a key block begins on the next one, its empty lines written as a dot.
            first, *rest = ["", *self.signed_by.splitlines()] if "\n" in self.signed_by else [self.signed_by]
            lines.append(f"Signed-By: {first}".rstrip())
            lines.extend(f" {line or '.'}" for line in rest)
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """The lines of os-release(5) that decide which archive is ours.

    ``codename`` is a suite of that archive: Ubuntu's or Debian's, not a derivative's own name for its release.
    """

    id: str
    codename: str = ""
    like: tuple[str, ...] = ()  # ID_LIKE, nearest relative first

    @property
    def family(self) -> str:
        """Whose archive it uses: ``ubuntu`` for Ubuntu and what is made of it (Mint, Pop!_OS), else ``debian``."""
        return "ubuntu" if "ubuntu" in (self.id, *self.like) else "debian"


def parse_one_line(text: str) -> list[Source]:
    """``deb [options] uri suite component...``; a comment runs from ``#`` to the end of the line."""
    sources = []
    for line in text.splitlines():
        words = _WORD.findall(line.partition("#")[0])
        if not words or words[0] != "deb":
            continue
        options: dict[str, str] = {}
        if len(words) > 1 and words[1].startswith("["):
            for option in words.pop(1)[1:-1].split():
                name, _, value = option.partition("=")
                options[name.lower()] = value
        if len(words) >= 3:
            signed_by = options.get("signed-by", "")
            sources.append(
                Source(
                    uri=words[1],
                    suites=(words[2],),
                    components=tuple(words[3:]),
                    signed_by=signed_by,
                    dates=_dates(options),
                )
            )
    return sources


def _dates(options: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Options of sources.list(5) about the age of the index; no other option may weaken apt's checks."""
    return tuple((field, options[field.lower()]) for field in _DATES if field.lower() in options)


def _stanzas(text: str) -> list[dict[str, str]]:
    """Fields of each deb822 stanza by lower-case name. Comment lines vanish; continuation lines begin with a blank."""
    stanzas: list[dict[str, str]] = [{}]
    name = ""
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if not line.strip():
            stanzas.append({})
            name = ""
        elif line[0] in " \t":
            if name:
                content = line[1:]
                stanzas[-1][name] += "\n" + ("" if content.strip() == "." else content)
        else:
            field, colon, value = line.partition(":")
            name = field.strip().lower() if colon else ""
            if name:
                stanzas[-1][name] = value.strip()
    return [stanza for stanza in stanzas if stanza]


def parse_deb822(text: str) -> list[Source]:
    """Stanzas with Types, URIs, Suites, Components, Signed-By and Enabled."""
    sources: list[Source] = []
    for stanza in _stanzas(text):
        if "deb" not in stanza.get("types", "").split():
            continue
        if stanza.get("enabled", "yes").strip().lower() in ("no", "false", "0", "off", "without", "disable"):
            continue
        signed_by = stanza.get("signed-by", "").strip("\n")
        sources.extend(
            Source(
                uri=uri,
                suites=tuple(stanza.get("suites", "").split()),
                components=tuple(stanza.get("components", "").split()),
                signed_by=signed_by,
                dates=_dates(stanza),
            )
            for uri in stanza.get("uris", "").split()
        )
    return sources


def read_sources(directory: Path = Path("/etc/apt")) -> list[Source]:
    """All enabled binary sources, in apt's order."""
    sources: list[Source] = []
    parts = directory / "sources.list.d"
    files = [directory / "sources.list", *sorted(parts.iterdir() if parts.is_dir() else ())]
    for path in files:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if path.suffix == ".sources":
            sources.extend(parse_deb822(text))
        elif path.suffix == ".list":
            sources.extend(parse_one_line(text))
    return [source for source in sources if source.uri.partition(":")[0] in _SCHEMES]


def parse_os_release(text: str) -> Distribution:
    """ID, ID_LIKE and the codename of os-release(5).

    Derivatives have a VERSION_CODENAME of their own (Linux Mint 22: ``wilma``), and name the archive's release in
    UBUNTU_CODENAME, or DEBIAN_CODENAME (LMDE).
    """
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith("#"):
            words = shlex.split(value)
            values[name] = words[0] if words else ""
    named = (values.get(name) for name in ("UBUNTU_CODENAME", "DEBIAN_CODENAME", "VERSION_CODENAME"))
    codename = next(filter(None, named), "")
    return Distribution(id=values.get("ID", ""), codename=codename, like=tuple(values.get("ID_LIKE", "").split()))


def distribution() -> Distribution:
    """This machine's distribution; an empty id if os-release has none."""
    for path in (Path("/etc/os-release"), Path("/usr/lib/os-release")):
        try:
            return parse_os_release(path.read_text(encoding="utf-8", errors="replace"))
        except (OSError, ValueError):
            continue
    return Distribution(id="")


def archives(sources: list[Source], here: Distribution) -> list[Source]:
    """The distribution's own archive among the sources, best first; ``BINLOG_LAB_MIRROR`` alone if it is set.

    A main archive serves the distribution's codename (or a name every Debian has) as suite and ``main`` as component.
    Lines and stanzas of one archive count together, with all their suites and components. Other vendors' archives often
    have such a suite as well; the security archive has other suites.
    """
    names = {here.codename} - {""}
    if here.family == "debian":
        names |= {"stable", "testing", "unstable", "sid", "oldstable"}
    main, together = set(), dict[tuple[str, str], Source]()
    for source in sources:
        key = (source.uri.rstrip("/"), source.signed_by)
        if "main" in source.components and not names.isdisjoint(source.suites):
            main.add(key)
        known = together.get(key)
        together[key] = source if known is None else known.joined(source)
    found = [source for key, source in together.items() if key in main]

    def unlike_the_main_one(source: Source) -> tuple[bool, bool]:
        # Vendors and PPAs have no updates beside their release; their paths end in "ubuntu" or "debian" as well.
        return f"{here.codename}-updates" not in source.suites, not source.uri.rstrip("/").endswith(f"/{here.family}")

    found.sort(key=unlike_the_main_one)
    mirror = os.environ.get("BINLOG_LAB_MIRROR")
    if mirror:
        signed_by = found[0].signed_by if found else ""
        return [Source(uri=mirror, suites=(), components=(), signed_by=signed_by)]
    return found
