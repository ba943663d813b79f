"""The rights of an account: which it has for the lab's schemas and the whole server, and the GRANT of what is missing.

Facts: the reference manual on privileges. Since 8.0 SHOW GRANTS spells out every privilege of an account that has all.
With ``partial_revokes`` the name in a grant is a name, and no pattern.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.servers.wire.connection import Connection

SCHEMA_PREFIX: Final = "binlog_lab_"
ALL: Final = "ALL PRIVILEGES"
# What every judged server needs of its account, and what for.
NEEDED: Final = {
    "CREATE": "make its schemas",
    "DROP": "remove its schemas",
    "INSERT": "fill its tables",
    "UPDATE": "change documents",
    "DELETE": "change rows",
    "SELECT": "read rows back",
    "REPLICATION SLAVE": "read the binary log",
    "REPLICATION CLIENT": "ask for the position of the log",
    "SESSION_VARIABLES_ADMIN": "choose what its sessions log",
}
# Privileges that a schema can have; all others are the whole server's.
OF_SCHEMAS: Final = frozenset(
    {
        "ALTER", "ALTER ROUTINE", "CREATE", "CREATE ROUTINE", "CREATE TEMPORARY TABLES", "CREATE VIEW", "DELETE",
        "DROP", "EVENT", "EXECUTE", "INDEX", "INSERT", "LOCK TABLES", "REFERENCES", "SELECT", "SHOW VIEW", "TRIGGER",
        "UPDATE",
    }
)  # fmt: skip
_IMPLIED_BY: Final = {
    "BINLOG_ADMIN": {"REPLICATION_APPLIER", "SUPER"},  # for BINLOG, by the words of error 1227 on 9.7.4
    "CONNECTION_ADMIN": {"SUPER"},
    "REPLICATION CLIENT": {"SUPER"},
    "SESSION_VARIABLES_ADMIN": {"SYSTEM_VARIABLES_ADMIN", "SUPER"},
}
_DYNAMIC: Final = 8  # the first major version with privileges that have an underscore; before, SUPER is all of them
_GRANT: Final = re.compile(r"(GRANT|REVOKE) (.*?) ON (?:PROCEDURE |FUNCTION )?(.*?) (?:TO|FROM) ")


def held(connection: Connection) -> frozenset[str]:
    """Privileges, upper case, that hold for every schema or for the lab's schemas."""
    found: set[str] = set()
    roles = None
    if connection.variable("activate_all_roles_on_login") is not None:  # a server with roles: count the active ones
        roles = connection.execute("SELECT CURRENT_ROLE()").scalar()
    literal = connection.variable("global.partial_revokes") == "1"
    using = f" FOR CURRENT_USER() USING {roles}" if roles and roles != "NONE" else ""
    for (grant,) in connection.execute(f"SHOW GRANTS{using}").texts():
        match = _GRANT.match(grant or "")
        if match is None:  # of a role
            continue
        names = {word.strip().upper() for word in re.sub(r"\([^)]*\)", "", match[2]).split(",")}
        target = match[3].replace("`", "").replace("\\", "")
        if match[1] == "GRANT" and target == "*.*":
            found |= names
        elif match[1] == "GRANT" and not literal and _covers_lab_schemas(target):
            found |= OF_SCHEMAS if ALL in names else names
    return frozenset(found)


def lacking(connection: Connection, names: Iterable[str]) -> list[str]:
    """The privileges among ``names`` that the account has not got, in this order."""
    has = held(connection)
    old = int(connection.server_version.partition(".")[0] or 0) < _DYNAMIC
    return [name for name in names if not _has(has, "SUPER" if old and "_" in name else name)]


def missing_grants(connection: Connection, names: Iterable[str]) -> list[str]:
    """The GRANT statements that give the account what it lacks of ``names``; empty: it lacks nothing."""
    missing = lacking(connection, names)
    if not missing:
        return []
    literal = connection.variable("global.partial_revokes") == "1"
    schemas = "*.*" if literal else f"`{SCHEMA_PREFIX}%`.*".replace("_", r"\_")
    of_schemas = [name for name in missing if name in OF_SCHEMAS]
    others = [name for name in missing if name not in OF_SCHEMAS]
    return [
        grant_of(", ".join(group), target, connection)
        for group, target in ((of_schemas, schemas), (others, "*.*"))
        if group
    ]


def grant_of(privileges: str, target: str, connection: Connection) -> str:
    """The statement that gives privileges to this session's account."""
    user, _, host = (connection.execute("SELECT CURRENT_USER()").scalar() or "").rpartition("@")
    return f"GRANT {privileges} ON {target} TO '{user}'@'{host}'"


def _has(has: frozenset[str], name: str) -> bool:
    return bool(has & {ALL, name, *_IMPLIED_BY.get(name, ())})


def _covers_lab_schemas(target: str) -> bool:
    """``binlog_lab_%.*`` in any spelling of the pattern."""
    schema, dot, table = target.rpartition(".")
    return bool(dot) and table == "*" and schema.endswith("%") and SCHEMA_PREFIX.startswith(schema[:-1])
