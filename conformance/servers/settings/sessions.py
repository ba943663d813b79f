"""Every session of the lab begins alike: with the values of the list, whatever values the server gives to sessions.

The first session of a server shows what differs, and later ones set the same variables without asking. What an account
may not set is kept, for the question whether the lab can judge the server at all (:mod:`.asked`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.servers.errors import SqlError
from conformance.servers.settings.listed import SESSION, of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from conformance.servers.wire.connection import Connection

_VALUES: Final = {setting.name: setting.value for setting in of(SESSION)}
_LIMITS: Final = ("sql_select_limit", "max_join_size", "max_execution_time")  # of queries
_TOO_LONG: Final = 3024  # the error of a query that max_execution_time ends
_FIRST: Final = 8  # the major version from which on the values of the list are those that nobody chose


class Beginning:
    """The variables with which the sessions of one server and account begin.

    ``differing``: the server's own values of those that the sessions set otherwise. ``refused``: which of them the
    account may not set.
    """

    def __init__(self, connection: Connection) -> None:
        self.differing: Mapping[str, str] = differing(connection)
        self.refused: dict[str, SqlError] = {}
        for name in self.differing:
            try:
                connection.execute(_set([name]))
            except SqlError as error:
                self.refused[name] = error
        self._settable = [name for name in self.differing if name not in self.refused]

    def put(self, connection: Connection, inherits: AbstractSet[str] = frozenset()) -> None:
        """Set a new session's variables, but for those that it ``inherits`` from the server."""
        if statement := self.statement(inherits):
            connection.execute(statement)

    def statement(self, inherits: AbstractSet[str] = frozenset()) -> str:
        """The statement that does so; empty: there is nothing to set."""
        names = [name for name in self._settable if name not in inherits]
        return _set(names) if names else ""


def differing(connection: Connection) -> dict[str, str]:
    """The variables of the list that have another value in this session: name and value.

    SHOW is a query of the server's own (observed on 9.7.4), so the limits of queries are looked at and lifted first.
    """
    if int(connection.server_version.partition(".")[0] or 0) < _FIRST:
        return {}
    limits = {name: value for name, value in _limits(connection).items() if value != _VALUES[name]}
    if limits:
        connection.execute(_set(list(limits)))
    rows = connection.execute(f"SHOW SESSION VARIABLES WHERE Variable_name IN ({', '.join(map(repr, _VALUES))})")
    return limits | {str(name): value or "" for name, value in rows.texts() if value != _VALUES[str(name)]}


def _limits(connection: Connection) -> dict[str, str]:
    try:
        values = connection.execute(f"SELECT {', '.join(f'@@session.{name}' for name in _LIMITS)}").texts()[0]
    except SqlError as error:
        # Another server's product has other limits; it is refused by its version later.
        return dict.fromkeys(_LIMITS, "too small for a query") if error.number == _TOO_LONG else {}
    return {name: value or "" for name, value in zip(_LIMITS, values, strict=True)}


def _set(names: list[str]) -> str:
    return "SET " + ", ".join(f"SESSION {name} = {_literal(_VALUES[name])}" for name in names)


def _literal(value: str) -> str:
    return value if value.isdigit() else f"'{value}'"
