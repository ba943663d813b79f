"""A server that answers what settings and rights are asked by, without a server: variables, grants, and errors."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from conformance.servers.errors import SqlError

UNLIMITED = dict.fromkeys(("sql_select_limit", "max_join_size"), "18446744073709551615") | {"max_execution_time": "0"}


@dataclass(slots=True)
class Rows:
    """The rows of an answer, with the columns of SHOW BINARY LOG STATUS."""

    rows: list[tuple[str | None, ...]]

    def texts(self) -> list[tuple[str | None, ...]]:
        return self.rows

    def named(self) -> list[dict[str, str | None]]:
        heads = ("File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB")
        return [dict(zip(heads, row, strict=True)) for row in self.rows]

    def scalar(self) -> str | None:
        return self.rows[0][0] if self.rows else None


@dataclass(slots=True)
class FakeSession:
    """One session: ``variables`` as SHOW VARIABLES prints them; ``forbidden`` ones cannot be set."""

    variables: dict[str, str] = field(default_factory=dict)
    grants: tuple[str, ...] = ("GRANT ALL PRIVILEGES ON *.* TO `guest`@`%`",)
    forbidden: frozenset[str] = frozenset()
    filters: tuple[str, str] = ("", "")
    server_version: str = "9.7.4"
    said: list[str] = field(default_factory=list)

    def execute(self, statement: str) -> Any:
        self.said.append(statement)
        if statement.startswith("SHOW GRANTS"):
            return Rows([(grant,) for grant in self.grants])
        if "Variable_name IN" in statement:
            names = re.findall(r"'(\w+)'", statement)
            return Rows([(name, self.variables[name]) for name in names if name in self.variables])
        if statement.startswith("SELECT @@session."):
            names = re.findall(r"@@session\.(\w+)", statement)
            return Rows([tuple(self.variables.get(name, UNLIMITED[name]) for name in names)])
        if statement == "SELECT CURRENT_USER()":
            return Rows([("guest@%",)])
        if statement == "SELECT CURRENT_ROLE()":
            return Rows([("NONE",)])
        if statement == "SHOW LOG":
            return Rows([("binlog.000001", "157", *self.filters)])
        if statement.startswith("SET "):
            for name in re.findall(r"SESSION (\w+) =", statement):
                if name in self.forbidden:
                    raise SqlError(1227, "42000", "Access denied; you need (at least one of) the X privilege(s)")
            return Rows([])
        raise AssertionError(statement)

    def variable(self, name: str) -> str | None:
        value = self.variables.get(name.removeprefix("global."))
        return {"ON": "1", "OFF": "0"}.get(value or "", value)

    def close(self) -> None:
        self.said.append("closed")
