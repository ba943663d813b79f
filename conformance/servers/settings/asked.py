"""Whether the lab can judge a server as its owner set it up: settings and rights are asked before the first check.

A setting that the lab can neither set for its sessions nor predict is refused in words. So are missing rights: the
words have the GRANT that gives them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.servers.errors import NotJudgeable, SqlError
from conformance.servers.settings.listed import REFUSED, of
from conformance.servers.settings.rights import NEEDED, lacking, missing_grants

if TYPE_CHECKING:
    from conformance.servers.settings.listed import Setting
    from conformance.servers.settings.sessions import Beginning
    from conformance.servers.wire.connection import Connection

_NO_RIGHT: Final = 1227
_WRITES_ALL_THE_SAME: Final = "CONNECTION_ADMIN"
_FILTERS: Final = {"Binlog_Do_DB": "binlog_do_db", "Binlog_Ignore_DB": "binlog_ignore_db"}


def require_fit(connection: Connection, beginning: Beginning, show_log: str) -> None:
    """Raise :class:`NotJudgeable` where the lab cannot judge the server. ``show_log``: the version's statement
    for the position of its log."""
    grants = missing_grants(connection, NEEDED)
    if grants:
        lacks = ", ".join(f"{name} (to {NEEDED[name]})" for name in lacking(connection, NEEDED))
        raise NotJudgeable(f"the account lacks {lacks}: {'; '.join(grants)}")
    reasons = [*unfit(connection, show_log), *_refused(beginning)]
    if reasons:
        raise NotJudgeable(f"the server is set up otherwise than the lab can judge: {'; '.join(reasons)}")


def _refused(beginning: Beginning) -> list[str]:
    """Variables that the account may not set for its sessions."""
    return [
        f"{name} is {beginning.differing[name]}, and the account may not set it for its session: {error.message}"
        for name, error in beginning.refused.items()
    ]


def unfit(connection: Connection, show_log: str) -> list[str]:
    """Why the lab cannot judge this server, a sentence for each setting."""
    settings = of(REFUSED)
    names = ", ".join(repr(setting.name) for setting in settings)
    rows = connection.execute(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})").texts()
    values = {str(name): value or "" for name, value in rows} | _filters(connection, show_log)
    reasons = [
        f"{setting.name} is {values[setting.name]}, expected {_expected(setting)}: {setting.why}"
        for setting in settings
        if setting.name in values and not _fits(setting, values[setting.name])
    ]
    if values.get("super_read_only") == "OFF" and connection.variable("global.read_only") == "1":
        grants = missing_grants(connection, [_WRITES_ALL_THE_SAME])
        reasons += [f"read_only is ON: the account needs {grant}" for grant in grants]
    return reasons


def _filters(connection: Connection, show_log: str) -> dict[str, str]:
    """The schemas that the log has, or leaves out: options, which are no variables."""
    try:
        rows = connection.execute(show_log).named()
    except SqlError as error:
        if error.number == _NO_RIGHT:
            return {}
        raise
    return {name: rows[0].get(column) or "" for column, name in _FILTERS.items()} if rows else {}


def _fits(setting: Setting, value: str) -> bool:
    return int(value) >= setting.least if setting.least else value in setting.wanted


def _expected(setting: Setting) -> str:
    if setting.least:
        return f"at least {setting.least:,}"
    return " or ".join(word or "none" for word in setting.wanted)
