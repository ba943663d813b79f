"""The answers of a source to the statements of its clients, session by session."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Final

from conformance.servers.source.packets import Refused, Rows
from conformance.servers.source.show import show
from conformance.servers.source.statements import unquoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.servers.source.facts import Facts
    from conformance.servers.source.packets import Value
    from conformance.servers.source.session import SessionState

_COMMENT: Final = re.compile(r"\A(?:\s|/\*.*?\*/|--\s[^\n]*\n|#[^\n]*\n)+", re.DOTALL)
_ASSIGNMENT: Final = re.compile(
    r"(?:(?:GLOBAL|SESSION|LOCAL|PERSIST)\s+)?(?P<name>@{0,2}[\w.`]+)\s*:?=\s*"
    r"(?P<value>'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|[^,]+)",
    re.IGNORECASE,
)
_DONE: Final = frozenset(
    (
        "ALTER", "ANALYZE", "BEGIN", "COMMIT", "DO", "FLUSH", "KILL", "LOCK", "RELEASE", "ROLLBACK", "SAVEPOINT",
        "START", "STOP", "UNLOCK",
    )
)  # fmt: skip


def answer(facts: Facts, state: SessionState, sql: str) -> Rows | None:
    """The result of a statement, ``None`` for a bare OK. Raises :class:`Refused`."""
    text = _COMMENT.sub("", sql).strip().rstrip(";").strip()
    word = re.match(r"\(?\s*(\w*)", text)
    head = word[1].upper() if word else ""
    if head in ("SELECT", "WITH"):
        return _select(facts, state, text)
    if head in ("SHOW", "DESC", "DESCRIBE", "EXPLAIN"):
        return show(facts, state, text)
    if head == "SET":
        _set(facts, state, text[3:])
        return None
    if head == "USE":
        state.database = text[3:].strip().strip("`")
        return None
    if head in _DONE:
        return None
    if head in ("INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "REPLACE", "TRUNCATE", "RENAME", "GRANT"):
        raise Refused(1290, "HY000", "The source only serves logs, so it cannot execute this statement")
    raise Refused(1064, "42000", f"You have an error in your SQL syntax near '{text[:80]}'")


def _select(facts: Facts, state: SessionState, text: str) -> Rows:
    return facts.database().select(text, lambda name: _variable(facts, state, name), _functions(facts, state))


def _functions(facts: Facts, state: SessionState) -> dict[str, Callable[..., Value]]:
    return {
        "version": lambda *_: facts.version,
        "database": lambda *_: state.database or None,
        "schema": lambda *_: state.database or None,
        "user": lambda *_: f"{state.user}@localhost",
        "current_user": lambda *_: f"{state.user}@localhost",
        "session_user": lambda *_: f"{state.user}@localhost",
        "connection_id": lambda *_: state.number,
        "unix_timestamp": lambda *_: int(time.time()),
        "now": lambda *_: time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime()),
        "sleep": lambda *_: 0,
        "gtid_subset": lambda one, other: int(facts.gtids(other).covers(facts.gtids(one))),
    }


def _variable(facts: Facts, state: SessionState, name: str) -> Value:
    if name.startswith("@@"):
        facts.variables.follow(moving := facts.moving())
        return facts.variables.value({**state.variables, **moving}, name[2:])
    return state.own.get(name.lower())


def _set(facts: Facts, state: SessionState, text: str) -> None:
    """SET: user variables and session variables keep their values; NAMES and the rest change nothing here."""
    for found in _ASSIGNMENT.finditer(text):
        name, value = found["name"].replace("`", "").lower(), found["value"].strip()
        known: Value = unquoted(value) if value[:1] in "'\"" else value
        if value.startswith("@"):
            known = _variable(facts, state, value.replace("`", ""))
        elif re.fullmatch(r"-?\d+", value):
            known = int(value)
        if name.startswith("@@"):
            name = name[2:]
        elif name.startswith("@"):
            state.own[name] = known
            continue
        plain = name.rpartition(".")[2]
        if plain in state.variables:
            state.variables[plain] = known
        elif plain != "names":
            facts.variables.value(state.variables, plain)  # unknown: 1193, as a server says
