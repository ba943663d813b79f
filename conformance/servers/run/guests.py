"""Guests: servers at an address, which belong to somebody else.

Only Cases of hazard ``none`` run there unless the caller allows more. The lab works in schemas it made itself and
removes them. It changes no GLOBAL variable and never restarts or kills the server. It refuses a source that has
replicas, and a replica that already has a source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from conformance.requirements.versions import dialect_of, parse_version
from conformance.servers.base import Server
from conformance.servers.errors import ConnectionLost, GuestRefused, ServerUnavailable, SqlError
from conformance.servers.settings.rights import NEEDED, OF_SCHEMAS, SCHEMA_PREFIX, lacking
from conformance.servers.wire.connection import Connection, version_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.servers.install.cache import Narrate
    from conformance.servers.specs import ServerSpec

Role = Literal["source", "replica"]
_MADE = re.compile(rf"{SCHEMA_PREFIX}[0-9a-f]{{12}}")  # see Server.schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The capabilities that a guest allows. ``missing`` names privileges; ``notes`` are sentences for the report."""

    version: str
    log_bin: bool
    binlog_format: str
    gtid_mode: str
    row_image_settable: bool
    row_value_options_settable: bool
    row_metadata: str
    checksum: str
    can_capture: bool
    missing: tuple[str, ...]
    notes: tuple[str, ...]


class GuestServer(Server):
    """A server that was running before the lab came."""

    started_by_us = False

    def __init__(self, spec: ServerSpec, *, allow: Iterable[str] = (), role: Role = "source") -> None:
        self.spec = spec
        self.address = spec.login()
        self.id = str(spec)
        self.role: Role = role
        self._allow = frozenset(allow) | {"none"}
        with self.connect() as connection:
            self.version = connection.variable("version") or connection.server_version
            self.number = version_number(self.version)
            self.capabilities = probe(connection)
            refuse_if_in_use(connection, role)

    def hazards(self) -> frozenset[str]:
        """``none``, and the hazards that the user allowed explicitly."""
        return self._allow

    def alive(self) -> bool:
        """Whether a login succeeds now."""
        try:
            self.connect().close()
        except (ConnectionLost, ServerUnavailable):
            return False
        return True

    def close(self) -> None:
        """Close nothing: the lab did not start the server, and the makers of schemas remove them."""

    def describe(self) -> str:
        """One line for people: the kind of server, its version, its place."""
        return f"MySQL {self.version} at {self.spec}"


def open_guest(
    spec: ServerSpec, *, allow: Iterable[str] = (), role: Role = "source", narrate: Narrate | None = None
) -> GuestServer:
    """Log in, probe the server, and refuse one that the lab must not touch."""
    guest = GuestServer(spec, allow=allow, role=role)
    require_known(guest.version, guest.id)
    if narrate is not None:
        for note in guest.capabilities.notes:
            narrate(f"{guest.id}: {note}")
        if left := ", ".join(item.name for item in leftovers(guest)):
            narrate(f"{guest.id}: a killed run left {left}: binlog-lab servers clean '{guest.id}' drops such schemas")
    return guest


def require_known(version: str, name: str) -> None:
    """Refuse a server that the table of versions does not cover: its terms and formats would be guesses."""
    try:
        dialect_of(parse_version(version))
    except ValueError as error:
        raise ServerUnavailable(f"{name}: {error}", "the lab knows MySQL from 5.6 on") from None


def probe(connection: Connection) -> Capabilities:
    """Ask the server for its capabilities; change only this session's own variables."""
    notes: list[str] = []
    lacks = lacking(connection, NEEDED)
    missing = [name for name in lacks if name in OF_SCHEMAS]
    notes.extend(f"the account lacks {name}, which the lab needs to {NEEDED[name]}" for name in missing)
    log_bin = connection.variable("log_bin") == "1"
    can_capture = log_bin and "REPLICATION SLAVE" not in lacks
    if not log_bin:
        notes.append("the server writes no binary log (log_bin is OFF): nothing can be captured")
    elif not can_capture:
        notes.append("the account lacks REPLICATION SLAVE: the binary log cannot be read")
    image = _settable(connection, "binlog_row_image", "FULL")
    partial = _settable(connection, "binlog_row_value_options", "PARTIAL_JSON")
    if partial == "unknown":
        notes.append("the server does not know binlog_row_value_options: no partial JSON (needs MySQL 8.0.3 or later)")
    elif partial == "refused":
        notes.append(
            "the account may not SET SESSION binlog_row_value_options "
            "(SESSION_VARIABLES_ADMIN or SYSTEM_VARIABLES_ADMIN): partial JSON cannot be switched on"
        )
    return Capabilities(
        version=connection.variable("version") or "",
        log_bin=log_bin,
        binlog_format=connection.variable("binlog_format") or "ROW",  # a version without the variable uses row format
        gtid_mode=connection.variable("gtid_mode") or "OFF",
        row_image_settable=image == "yes",
        row_value_options_settable=partial == "yes",
        row_metadata=connection.variable("global.binlog_row_metadata") or "",
        checksum=connection.variable("global.binlog_checksum") or "NONE",
        can_capture=can_capture,
        missing=tuple(missing),
        notes=tuple(notes),
    )


def _settable(connection: Connection, name: str, value: str) -> Literal["yes", "refused", "unknown"]:
    """Whether this session may set a variable; the old value is restored at once."""
    before = connection.variable(name)
    if before is None:
        return "unknown"
    try:
        connection.execute(f"SET SESSION {name} = '{value}'")
        connection.execute(f"SET SESSION {name} = '{before}'")
    except SqlError:
        return "refused"
    return "yes"


def refuse_if_in_use(connection: Connection, role: Role) -> None:
    """Refuse a source with replicas and a replica with a source: they are somebody's production."""
    if role == "replica":
        rows = _first_that_works(connection, ("SHOW REPLICA STATUS", "SHOW SLAVE STATUS"))
        if rows:
            raise GuestRefused(f"{connection.address} already replicates from a source; the lab will not touch it")
        return
    readers = len(_first_that_works(connection, ("SHOW REPLICAS", "SHOW SLAVE HOSTS")) or ())
    dumps = connection.execute(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%'"
    ).scalar()
    readers = max(readers, int(dumps or 0))
    if readers:
        raise GuestRefused(
            f"{connection.address} has {readers} connected replica(s) or readers of its binary log; "
            "the lab will not write events that they would receive"
        )


def _first_that_works(connection: Connection, statements: tuple[str, ...]) -> list[tuple[str | None, ...]] | None:
    """Rows of the first statement that this version knows; None if the account may not ask."""
    for statement in statements:
        try:
            return connection.execute(statement).texts()
        except SqlError as error:
            if error.number == 1227:
                return None
            if error.number != 1064:
                raise
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """A schema of the lab whose maker is gone. ``created``: its oldest table, by the server's clock; else empty."""

    name: str
    tables: int
    created: str


def leftovers(server: Server) -> list[Leftover]:
    """Schemas with the lab's names whose maker is no longer connected. A run only reports them."""
    with server.connect() as connection:
        rows = connection.execute(
            "SELECT SCHEMA_NAME, COUNT(TABLE_NAME), MIN(CREATE_TIME) FROM information_schema.SCHEMATA"
            " LEFT JOIN information_schema.TABLES ON TABLE_SCHEMA = SCHEMA_NAME"
            " WHERE SCHEMA_NAME REGEXP '^binlog_lab_[0-9a-f]{12}$' AND IS_FREE_LOCK(SCHEMA_NAME) = 1"
            " GROUP BY SCHEMA_NAME ORDER BY SCHEMA_NAME"
        ).texts()
    return [
        Leftover(name=name, tables=int(tables or 0), created=made or "")
        for name, tables, made in rows
        if name and _MADE.fullmatch(name)  # the data dictionary compares names case-insensitively
    ]


def drop_leftover(server: Server, name: str) -> bool:
    """Drop a schema that :func:`leftovers` found, under its lock; false if a running lab holds the lock."""
    with server.connect() as connection:
        if connection.execute(f"SELECT GET_LOCK('{name}', 0)").scalar() != "1":
            return False
        connection.execute(f"DROP SCHEMA IF EXISTS {name}")
    return True
