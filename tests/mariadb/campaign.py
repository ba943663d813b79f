"""Generated changes on a real MariaDB, read by ``decode`` and ``apply``: ``python -m tests.mariadb changes``.

Three things are compared for each part of the log, none of them with anything that the kit computed:

- the tables that ``apply`` gives, with those of SELECT;
- the tables that the row changes of ``decode --format jsonl`` give, put together here, with those of SELECT;
- the text of ``decode -vv``, byte for byte with that of ``mariadb-binlog -vv``.
"""

from __future__ import annotations

import ipaddress
import json
import os
import subprocess
import sys
import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from conformance.servers.errors import SqlError
from generators.draw import Stream
from tests.mariadb import captures, workload
from tests.mariadb.server import Running, running

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

OPTIONS: Final = (
    "--log-bin=log", "--binlog-format=ROW", "--log-bin-compress", "--log-bin-compress-min-len=10",
    "--binlog-row-metadata=FULL", "--binlog-annotate-row-events=ON", "--innodb-buffer-pool-size=64M",
)  # fmt: skip
_SHOWN: Final = 300  # characters of a difference


@dataclass(slots=True)
class Result:
    """The counts of what was compared, and every difference."""

    version: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def run(changes: int, seed: str, directory: Path, narrate: Callable[[str], None] = lambda _: None) -> Result:
    """Run blocks of statements, each block on a server of its own, until the number of row changes is reached."""
    result = Result()
    number = 0
    while result.counts["row changes"] < changes:
        with running(OPTIONS) as server:
            result.version = str(server.session.execute("SELECT VERSION()").scalar())
            wanted = min(2500, max(500, changes - result.counts["row changes"]))
            result.problems += [
                f"block {number}: {text}" for text in _block(server, seed, number, wanted, result.counts, directory)
            ]
        narrate(f"block {number}: {dict(result.counts)}, {len(result.problems)} differences")
        number += 1
    return result


def _block(server: Running, seed: str, number: int, wanted: int, counts: Counter[str], directory: Path) -> list[str]:
    session = server.session
    session.execute("SET time_zone = '+00:00', NAMES utf8mb4, sql_mode = ''")
    session.execute("RESET MASTER")
    session.execute("CREATE DATABASE s CHARACTER SET utf8mb4")
    session.execute("USE s")
    done = 0
    draw = Stream("mariadb", seed, str(number))
    for statement in workload.statements(draw):
        try:
            affected = session.execute(statement).affected
        except SqlError as error:
            counts[f"statements refused with {error.number}"] += 1
            continue
        counts["statements"] += 1
        done += affected if statement.startswith(("INSERT", "UPDATE", "DELETE", "REPLACE")) else 0
        if done >= wanted:
            break
    session.execute("COMMIT")
    tables = [str(row[0]) for row in session.execute("SHOW TABLES").texts()]
    shown = {f"s.{table}": captures.selected(session, table) for table in tables}
    kinds = _kinds(session)
    session.execute("FLUSH BINARY LOGS")
    names = [str(row[0]) for row in session.execute("SHOW BINARY LOGS").texts()][:-1]
    files = []
    for name in names:
        file = directory / f"{number}-{name}"
        file.write_bytes((server.directory / name).read_bytes())
        files.append(file)
        counts["bytes of logs"] += file.stat().st_size
    counts["log files"] += len(files)
    counts["rows"] += sum(len(table["rows"]) for table in shown.values())  # type: ignore[arg-type, misc]
    return [*applied(files, shown), *decoded(files, shown, kinds, counts, _effects(files)), *printed(files, counts)]


def _kinds(session: Any) -> dict[tuple[str, str], str]:
    found = session.execute(
        "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 's'"
    ).texts()
    return {(str(table), str(column)): str(kind) for table, column, kind in found}


def _lab(*words: str | Path) -> tuple[int, bytes, str]:
    done = subprocess.run(
        [sys.executable, "-m", "conformance", *map(str, words)], capture_output=True, check=False,
        env=os.environ | {"TZ": "UTC"},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def applied(files: Sequence[Path], shown: dict[str, Any]) -> list[str]:
    code, out, err = _lab("apply", "--format", "json", *files)
    if code:
        return [f"apply: {err}"]
    return [f"apply: {text}" for text in _differences(json.loads(out), shown)]


def _differences(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    if found == wanted:
        return []
    problems = []
    for name in sorted(found.keys() | wanted.keys()):
        mine, theirs = found.get(name), wanted.get(name)
        if mine is None or theirs is None or mine["columns"] != theirs["columns"]:
            problems.append(f"{name}: the tables or columns differ")
            continue
        pairs = [pair for pair in zip(mine["rows"], theirs["rows"], strict=False) if pair[0] != pair[1]]
        for one, other in pairs[:1]:
            cells = [f"{c}: {a!r} for {b!r}" for c, a, b in zip(mine["columns"], one, other, strict=True) if a != b]
            problems.append(f"{name}: {len(pairs)} rows differ, {'; '.join(cells)[:_SHOWN]}")
        if len(mine["rows"]) != len(theirs["rows"]):
            problems.append(f"{name}: {len(mine['rows'])} rows for {len(theirs['rows'])}")
    return problems


# --- decode ----------------------------------------------------------------------------------------------------------


def decoded(
    files: Sequence[Path],
    shown: dict[str, Any],
    kinds: dict[tuple[str, str], str],
    counts: Counter[str],
    effects: dict[tuple[str, int], str],
) -> list[str]:
    """Put the tables together from the row changes. ``effects``: the statements of events that are no row changes."""
    code, out, err = _lab("decode", "--format", "jsonl", "--events", "all", *files)
    if code:
        return [f"decode --format jsonl: {err}"]
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in shown}
    undo: list[Any] = []
    prepared: dict[str, Any] = {}
    for line in out.splitlines():
        change = json.loads(line)
        counts[change["event"]] += 1 if not change["row"] else 0
        name = f"{change['schema']}.{change['table']}"
        if change["operation"] is None:
            effect = effects.get((change["file"], change["position"]))
            _transaction(change, effect, tables, undo, prepared)
            continue
        counts["row changes"] += 1
        if not change["gtid"]:
            return [f"no GTID at {change['file']} {change['position']}"]
        transactional = name != "s.t3"  # a MyISAM table
        _row(tables[name], change, undo if transactional else None)
    found = {}
    for name, rows in tables.items():
        columns = shown[name]["columns"]
        listed = [[_told(kinds, name, column, row.get(column)) for column in columns] for row in rows]
        listed.sort(key=lambda row: [(value is not None, value or "") for value in row])
        found[name] = {"columns": columns, "rows": listed}
    wanted = {name: _canonical(kinds, name, table) for name, table in shown.items()}
    return [f"decode --format jsonl: {text}" for text in _differences(found, wanted)]


def _effects(files: Sequence[Path]) -> dict[tuple[str, int], str]:
    """The statements of QUERY events by their places, as mariadb-binlog prints them."""
    effects = {}
    for file in files:
        out, _ = captures.printed(file)
        place, inside = 0, False
        for line in out.decode("utf-8", "replace").splitlines():
            if line.startswith("# at "):
                place, inside = int(line[5:]), False
            elif "\tQuery" in line:
                inside = True
            elif inside and line.startswith(("TRUNCATE", "ROLLBACK", "XA ", "COMMIT")):
                effects[str(file), place] = line
    return effects


def _transaction(
    change: dict[str, Any], effect: str | None, tables: dict[str, Any], undo: list[Any], prepared: dict[str, Any]
) -> None:
    kind = change["event"]
    if kind == "XID_EVENT" or effect == "COMMIT":
        undo.clear()
    elif kind == "XA_PREPARE_LOG_EVENT":
        prepared["last"] = list(undo)
        undo.clear()
    elif effect is not None and effect.startswith("XA ROLLBACK"):
        _take_back(prepared.pop("last", []))
    elif effect == "ROLLBACK":
        _take_back(undo)
    elif effect is not None and effect.startswith("TRUNCATE"):
        tables["s." + effect.split()[-1]].clear()


def _take_back(undo: list[Any]) -> None:
    while undo:
        rows, old, new = undo.pop()
        if new is not None:
            _remove(rows, new)
        if old is not None:
            rows.append(old)


def _remove(rows: list[dict[str, Any]], row: dict[str, Any]) -> None:
    for place, each in enumerate(rows):
        if each is row:
            del rows[place]
            return
    raise AssertionError("a row that is not there")


def _row(rows: list[dict[str, Any]], change: dict[str, Any], undo: list[Any] | None) -> None:
    before, after = change["before"], change["after"]
    old = None
    if before is not None:
        old = next(row for row in rows if all(row.get(key) == value for key, value in before.items()))
        _remove(rows, old)
    new = None
    if after is not None:
        new = {**(old or {}), **after}
        rows.append(new)
    if undo is not None:
        undo.append((rows, old, new))


def _told(kinds: dict[tuple[str, str], str], table: str, column: str, value: Any) -> str | None:
    """A value of a line in the form of SELECT."""
    if value is None:
        return None
    kind = kinds[table.removeprefix("s."), column]
    if isinstance(value, dict):
        return str(int(value["hex"], 16)) if kind == "bit" else str(value["hex"]).upper()
    if kind in ("float", "double"):
        return repr(float(value))
    return str(value)


def _canonical(kinds: dict[tuple[str, str], str], table: str, found: dict[str, Any]) -> dict[str, Any]:
    """The table of SELECT with addresses and UUIDs as bytes, which is all that the log says of them."""
    forms: dict[str, Callable[[str], str]] = {
        "uuid": lambda text: uuid.UUID(text).hex.upper(),
        "inet4": lambda text: ipaddress.IPv4Address(text).packed.hex().upper(),
        "inet6": lambda text: ipaddress.IPv6Address(text).packed.hex().upper(),
        "float": lambda text: repr(float(text)),
        "double": lambda text: repr(float(text)),
    }
    chosen = [forms.get(kinds[table.removeprefix("s."), column], str) for column in found["columns"]]
    rows = [
        [None if value is None else form(value) for form, value in zip(chosen, row, strict=True)]
        for row in found["rows"]
    ]
    rows.sort(key=lambda row: [(value is not None, value or "") for value in row])
    return {"columns": found["columns"], "rows": rows}


def printed(files: Sequence[Path], counts: Counter[str]) -> list[str]:
    theirs, complaint = captures.printed(*files)
    code, mine, err = _lab("decode", "-vv", "--base64-output=auto", *files)
    counts["lines of mariadb-binlog"] += theirs.count(b"\n")
    if not code and not complaint and mine == theirs:
        return []
    pairs = zip(mine.split(b"\n"), theirs.split(b"\n"), strict=False)
    one, other = next((pair for pair in pairs if pair[0] != pair[1]), (b"", b""))
    return [f"decode -vv: {complaint}{err[-200:]} {one[:_SHOWN]!r} for {other[:_SHOWN]!r}"]
