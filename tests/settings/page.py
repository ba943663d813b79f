"""docs/reference/settings.md, made of the list of settings, the needs of checks, and the accounts that were tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.harness.experiments.manifests import experiments
from conformance.servers.settings.listed import OPTION, PREDICTED, REFUSED, SESSION, of
from conformance.servers.settings.rights import NEEDED
from tests.live import ROOT
from tests.settings.plan import accounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.servers.settings.listed import Setting

PAGE: Final = ROOT / "docs/reference/settings.md"

_BEGIN: Final = """\
# Settings and rights

A server's own settings and a guest's rights are no departures from the specification.
The lab asks for them before the first check.
It fixes a setting for its sessions, predicts what it changes, or refuses the server in words.

`python -m tests.settings --page` makes this page of the lists that the lab works with.
`python -m tests.settings` runs the kit under each value in the column *tried*.
`docs/records/settings.jsonl` has runs at 9.7.4 of 2026-11-28 to 2026-11-30, each with what it was asked to judge.
Servers before 8.0 keep their settings: the list has the values of 8.0 and later.
"""

_SESSION: Final = """
## Fixed for the lab's sessions

Every session of the lab begins with these values, whatever the server gives to sessions.
The account needs SESSION_VARIABLES_ADMIN for many of them; one that it may not set is refused in words.
A check that is about a variable's global value lets its sessions inherit that variable.

Servers that the lab starts beside the one under test are started without these options.
Their appliers have no session that the lab could set.
"""

_PREDICTED: Final = """
## Predicted

The lab asks for these values, and predicts the log that they lead to.
Servers that it starts beside the one under test are started without them.
"""

_REFUSED: Final = """
## Refused in words

With another value the lab judges nothing: exit code 3.
A sentence has the setting, its value and what is expected.
"""

_OPTION: Final = """
## Set by the lab

`--server-option` takes none of these, with exit code 2.
The lab also sets the directories, files and addresses of its servers, their user and their id.
"""

_RIGHTS: Final = """
## Rights of an account

Every check at an address needs these rights.
Where one is missing the lab judges nothing: exit code 3, and the `GRANT` that is missing.
SYSTEM_VARIABLES_ADMIN or SUPER stand for SESSION_VARIABLES_ADMIN, and SUPER for REPLICATION CLIENT.
On a server with `partial_revokes` a pattern of schemas is a name, so the rights are needed for `*.*`.
"""

_MORE_RIGHTS: Final = """
Some checks need more.
Without the right they are not applicable, and their reason has the `GRANT`.
Of a Case of SQL statements the lab knows what each statement needs, such as ALTER, CREATE VIEW or LOCK TABLES.
"""

_ACCOUNTS: Final = """
These accounts were tried at a sound 9.7.4, and no row turned red.
"""


def page() -> str:
    """The whole text."""
    told = [(run.name, f"refused: `{run.words}`" if run.words else "judged") for run in accounts()]
    parts = (
        (_BEGIN, ""),
        (_SESSION, _table(SESSION, "in the lab's sessions", lambda one: _word(one.value))),
        (_PREDICTED, _table(PREDICTED)),
        (_REFUSED, _table(REFUSED, "expected", _expected)),
        (_OPTION, _table(OPTION)),
        (_RIGHTS, _rows(("right", "to"), NEEDED.items())),
        (_MORE_RIGHTS, _rows(("right", "checks"), _of_checks())),
        (_ACCOUNTS, _rows(("account", "what the kit says"), told)),
    )
    return "".join(text for part in parts for text in part)


def _table(treatment: str, head: str = "", cell: Callable[[Setting], str] | None = None) -> str:
    heads = ["setting", "concerns", *([head] if head else []), "another value changes", "tried"]
    rows = [(f"`{one.name}`", one.area, *((cell(one),) if cell else ()), one.why, _tried(one)) for one in of(treatment)]
    return _rows(heads, rows)


def _tried(setting: Setting) -> str:
    return ", ".join(map(_word, setting.tried)) or "-"


def _word(value: str) -> str:
    return f"`{value}`" if value else "empty"


def _rows(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *(map(str, row) for row in rows)]
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _expected(setting: Setting) -> str:
    if setting.least:
        return f"at least {setting.least:,}"
    return " or ".join(map(_word, setting.wanted))


_KINDS: Final = {"right": "", "creator": "SUPER, or log_bin_trust_function_creators", "reads": "SELECT on "}


def _of_checks() -> list[tuple[str, str]]:
    """The rights that some checks need, and the checks or rooms of checks."""
    found: dict[str, list[str]] = {}
    for room, experiment in experiments().items():
        shared = set.intersection(*(set(facts.needs) for facts in experiment.checks.values()))
        own = {facts.id: set(facts.needs) - shared for facts in experiment.checks.values()}
        for name, needs in {room: shared, **own}.items():
            for need in needs:
                kind, _, right = need.partition(" ")
                if kind in _KINDS:
                    found.setdefault(_KINDS[kind] + right, []).append(f"`{name}`")
    return [(right, ", ".join(names)) for right, names in sorted(found.items())]
