"""The requirements that checks refer to, as data in ``rows/*.toml``: one row for each sentence that can hold or not.

FR, NFR, NR and Def are the ids of WL#2955; its other sentences have ids of the kit:

- SQL: the variable (S as observed); W: warnings, with the trigger's place in the worklog;
- D: conditions for logging diffs; DC: what diffs hold; C: capture of diffs; A: applier steps;
- F: format; P: mysqlbinlog; SC: safety checks; RL: relay logs; RA: rejected alternatives;
- X: cross-version; FX: future; U: user stories; LLD: its low-level design, by step.

IP rows stand for the in-place update of JSON columns, which has no worklog of its own here. TM rows and those that
begin with TM are of WL#4618, and the other T rows of WL#4162. SDI rows are of WL#7053, LOB rows of the article on large
objects.

The checks marked with a row's id judge the row. Otherwise it is part of another row (``within``), or a ``reason`` says
why no check judges it. The reason goes when a check comes, and stays for the profiles in which that check does not run.
The report shows which of these holds, so that no row is missing silently. A quick run judges a row by at least
:data:`QUICK` generated Cases and a full one by :data:`FULL`. Otherwise the row says why there are only so many
(``finite``).

Not every judged row is a verdict about a server of today (``judged_on``): some need an old one. Most of WL#4162 is
judged on markers that the kit itself puts into real logs. Much of WL#7053 is judged on a model of its design.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from typing import Any, Final

PACKAGE: Final = "conformance.requirements"
DIRECTORY: Final = "rows"
LEVELS: Final = ("must", "should", "may", "info")
BASES: Final = ("worklog", "documentation", "article", "observed on 9.7.4")
# One server, a source and a replica, a chain of three, a server that predates the event, a decoder.
NEEDS: Final = ("1S", "2S", "3S", "OLD", "SUBJECT")
# The server under test; one of an older version; one with a feature that was never released; the kit's own model, on
# what a server wrote.
SERVER, OLD_SERVER, UNRELEASED, MODEL, DECODER = "server", "old server", "unreleased server", "model", "decoder"
JUDGED_ON: Final = (SERVER, OLD_SERVER, UNRELEASED, MODEL, DECODER)
QUICK, FULL = 50, 1_000
_FILE_KEYS: Final = {"title", "document", "documents", "features", "defaults", "requirement"}


class CatalogueError(Exception):
    """Unusable rows: a key is missing or unknown, an id stands twice, or a word is not in the vocabulary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One sentence. ``allowed``: the outcomes that satisfy it, as text. ``needs``: servers, see :data:`NEEDS`.
    ``finite``: why its Cases are listed and not generated. ``judged_on``: the subject of its verdicts, see
    :data:`JUDGED_ON`; a row within another one has that row's subject. ``feature``: the row of the table of versions
    that says since when its document means something; empty where there is none."""

    id: str
    group: str
    statement: str
    document: str
    revision: str
    section: str
    allowed: str
    level: str = "must"
    basis: str = "worklog"
    needs: tuple[str, ...] = ("1S",)
    within: str | None = None
    reason: str | None = None
    finite: str | None = None
    judged_on: str = SERVER
    feature: str = ""

    @property
    def explanation(self) -> str | None:
        """The reason why no check is marked with it; ``None`` for a row with checks of its own."""
        return self.reason or (f"judged as part of {self.within}" if self.within else None)


def load_catalogue() -> dict[str, Requirement]:
    """All rows in their order. Raises :class:`CatalogueError`."""
    texts = [item for item in files(PACKAGE).joinpath(DIRECTORY).iterdir() if item.name.endswith(".toml")]
    return parse_rows({item.name: item.read_text(encoding="utf-8") for item in texts})


def parse_rows(texts: dict[str, str]) -> dict[str, Requirement]:
    """The rows of some files, in the order of their names. Raises :class:`CatalogueError`."""
    parsed: dict[str, dict[str, Any]] = {}
    revisions: dict[str, str] = {}
    features: dict[str, str] = {}
    for name, text in sorted(texts.items()):
        try:
            data = parsed[name] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise CatalogueError(f"{name}: not TOML: {error}") from None
        unknown = set(data) - _FILE_KEYS
        if unknown or "title" not in data:
            raise CatalogueError(f"{name}: unknown keys {sorted(unknown)}, or no title")
        revisions.update(data.get("documents", {}))
        features.update(data.get("features", {}))
    out: dict[str, Requirement] = {}
    for name, data in parsed.items():
        common = {"group": data["title"], "document": data.get("document"), **data.get("defaults", {})}
        for item in data.get("requirement", ()):
            row = _row(name, {"feature": features.get(common["document"], ""), **common, **item}, revisions)
            if row.id in out:
                raise CatalogueError(f"{name}: {row.id} is listed twice")
            out[row.id] = row
    return {name: _resolved(row, out) for name, row in out.items()}


def _resolved(row: Requirement, rows: dict[str, Requirement]) -> Requirement:
    """The row with the reason and the subject of the row that it is part of."""
    if row.within is None:
        return row
    whole = rows.get(row.within)
    if whole is None or whole.within is not None:
        raise CatalogueError(f"{row.id}: part of {row.within}, which is no row with checks of its own")
    reason = None if whole.reason is None else f"part of {row.within}: {whole.reason}"
    return replace(row, reason=reason, judged_on=whole.judged_on)


def _row(name: str, item: dict[str, Any], revisions: dict[str, str]) -> Requirement:
    where = f"{name}: {item.get('id', '?')}"
    known = {field.name for field in fields(Requirement)} - {"revision"}
    missing = {"id", "statement", "document", "section", "allowed"} - {key for key, value in item.items() if value}
    if missing or set(item) - known:
        raise CatalogueError(f"{where}: missing {sorted(missing)}, unknown {sorted(set(item) - known)}")
    needs = item.get("needs", ["1S"])
    if not isinstance(needs, list) or not needs or not all(isinstance(need, str) for need in needs):
        raise CatalogueError(f"{where}: needs is no list of texts")
    for key, value in item.items():
        if key != "needs" and not isinstance(value, str):
            raise CatalogueError(f"{where}: {key} is no text")
    if item["document"] not in revisions:
        raise CatalogueError(f"{where}: document {item['document']!r} is none of {', '.join(revisions)}")
    row = Requirement(**{**item, "needs": tuple(needs), "revision": revisions[item["document"]]})
    words_of_row = ((row.level, LEVELS), (row.basis, BASES), (row.judged_on, JUDGED_ON))
    for word, words in (*words_of_row, *((need, NEEDS) for need in needs)):
        if word not in words:
            raise CatalogueError(f"{where}: {word!r} is none of {', '.join(words)}")
    if row.within and row.reason:
        raise CatalogueError(f"{where}: part of {row.within}, and a reason of its own")
    return row


REQUIREMENTS: Final = load_catalogue()
