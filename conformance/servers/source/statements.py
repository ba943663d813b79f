"""MySQL's SELECT in sqlite: variables, functions and literals are rewritten; sqlite evaluates the rest.

Nothing but SELECT reaches sqlite, and an authorizer lets it only read. What sqlite does not know is an error for the
client, as it would be of a server.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from typing import TYPE_CHECKING, Final

from conformance.servers.source.packets import Refused, Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from conformance.servers.source.packets import Value

    Function = Callable[..., Value]

SCHEMAS: Final = ("information_schema", "performance_schema", "mysql", "sys")
_TOKEN: Final = re.compile(
    r"""(?P<text>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")|(?P<name>`(?:[^`]|``)*`)|(?P<comment>/\*(?!!).*?\*/|\#[^\n]*)"""
    r"""|(?P<version>/\*!\d*|\*/)|@@(?P<system>(?:\w+|`\w+`)(?:\.(?:\w+|`\w+`))?)|@(?P<user>[\w.$]+|'[^']*'|`[^`]*`)""",
    re.DOTALL,
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}
_DUAL: Final = re.compile(r"\s+FROM\s+DUAL\b", re.IGNORECASE)
_HINTS: Final = re.compile(r"^(\s*SELECT)\s+(?:SQL_\w+\s+)+", re.IGNORECASE)
_LOCKING: Final = re.compile(r"\s+(?:FOR\s+(?:UPDATE|SHARE)|LOCK\s+IN\s+SHARE\s+MODE)\s*$", re.IGNORECASE)
_READING: Final = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION))
_STEPS: Final = 20_000_000  # instructions of one SELECT
_ROWS: Final = 1_000_000
_CASES_APART: Final = ("_SCHEMA", "SCHEMA_NAME", "TABLE_NAME", "EVENT_OBJECT_TABLE")
_VARIABLE: Final = "lab_variable"


class Database:
    """Tables in memory: fill it with :meth:`table`, then :meth:`select`. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._base = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._base.execute("PRAGMA case_sensitive_like = OFF")
        for schema in SCHEMAS:
            self._base.execute(f"ATTACH ':memory:' AS {schema}")
        self._variable: Callable[[str], Value] = lambda _: None
        self._base.create_function(_VARIABLE, 1, self._ask)
        for name, count, function in _FUNCTIONS:
            self._base.create_function(name, count, function, deterministic=True)
        self._refused: Refused | None = None

    def table(self, schema: str, name: str, columns: Iterable[str], rows: Iterable[Iterable[Value]] = ()) -> None:
        """Make a table anew."""
        listed = list(columns)
        with self._lock:
            self._base.set_authorizer(None)
            self._base.execute(f"DROP TABLE IF EXISTS {schema}.{name}")
            self._base.execute(f"CREATE TABLE {schema}.{name} ({', '.join(map(_column, listed))})")
            marks = ", ".join("?" * len(listed))
            self._base.executemany(f"INSERT INTO {schema}.{name} VALUES ({marks})", [tuple(row) for row in rows])

    def select(self, sql: str, variable: Callable[[str], Value], functions: Mapping[str, Function]) -> Rows:
        """The result of a SELECT. ``variable``: the value of ``@@name`` or ``@name``. Raises :class:`Refused`."""
        rewritten, names = rewrite(sql)
        with self._lock:
            self._refused = None
            self._variable = self._watched(variable)
            for name, function in functions.items():
                self._base.create_function(name, -1, function)
            self._base.set_authorizer(_authorize)
            self._base.set_progress_handler(_stopper(), _STEPS // 100)
            try:
                cursor = self._base.execute(rewritten)
                rows = cursor.fetchmany(_ROWS)
                columns = tuple(_shown(str(each[0]), names) for each in cursor.description or ())
            except sqlite3.Error as error:
                raise self._why(sql, error) from error
            finally:
                self._base.set_progress_handler(None, 0)
        return Rows(columns, tuple(tuple(_number(value) for value in row) for row in rows))

    def _why(self, sql: str, error: sqlite3.Error) -> Refused:
        return self._refused or _refusal(sql, error)

    def _ask(self, name: str) -> Value:
        return self._variable(name)

    def _watched(self, variable: Callable[[str], Value]) -> Callable[[str], Value]:
        def ask(name: str) -> Value:
            try:
                return variable(name)
            except Refused as error:
                self._refused = error
                raise

        return ask

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._base.close()


def _column(name: str) -> str:
    # Names of schemas and tables tell cases apart, as with lower_case_table_names = 0; other texts do not.
    return f"{name} COLLATE {'BINARY' if name.endswith(_CASES_APART) else 'NOCASE'}"


def _authorize(action: int, table: str | None, *_: object) -> int:
    own = action == sqlite3.SQLITE_READ and str(table).startswith("sqlite_")
    return sqlite3.SQLITE_OK if action in _READING and not own else sqlite3.SQLITE_DENY


def _number(value: object) -> Value:
    return repr(value) if isinstance(value, float) else value  # type: ignore[return-value]


def _stopper() -> Callable[[], int]:
    calls = iter(range(100))
    return lambda: int(next(calls, None) is None)


def _refusal(sql: str, error: sqlite3.Error) -> Refused:
    text = str(error)
    if text.startswith("no such table"):
        return Refused(1146, "42S02", f"Table '{text.partition(': ')[2]}' doesn't exist")
    if text.startswith("no such column"):
        return Refused(1054, "42S22", f"Unknown column '{text.partition(': ')[2].partition(' - ')[0]}'")
    if text.startswith("no such function"):
        return Refused(1305, "42000", f"FUNCTION {text.partition(': ')[2]} does not exist")
    return Refused(1064, "42000", f"You have an error in your SQL syntax near '{sql[:80]}'")


def rewrite(sql: str) -> tuple[str, dict[str, str]]:
    """The statement for sqlite, and what each rewritten variable was called."""
    names: dict[str, str] = {}

    def change(found: re.Match[str]) -> str:
        if found["text"]:
            return "'" + unquoted(found["text"]).replace("'", "''").replace("\0", "") + "'"
        if found["name"]:
            return '"' + found["name"][1:-1].replace("``", "`").replace('"', '""') + '"'
        if found["comment"] or found["version"]:
            return " "
        key = f"@@{found['system']}" if found["system"] else f"@{found['user']}"
        called = f"{_VARIABLE}('{key.replace('`', '').replace(chr(39), '')}')"
        names[called] = key
        return called

    text = _TOKEN.sub(change, sql).strip().rstrip(";")
    text = _HINTS.sub(r"\1 ", _LOCKING.sub("", _DUAL.sub("", text)))
    return text, names


def unquoted(text: str) -> str:
    """The value of a string literal of MySQL."""
    mark = text[0]
    inner = text[1:-1].replace(mark * 2, mark)
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0] if found[1] in "%_" else found[1]), inner,
                  flags=re.DOTALL)  # fmt: skip


def _shown(name: str, names: Mapping[str, str]) -> str:
    for called, key in names.items():
        name = name.replace(called, key)
    return name


def like(pattern: Value, value: Value) -> Value:
    """MySQL's LIKE, with a backslash that escapes."""
    if pattern is None or value is None:
        return None
    out = []
    letters = iter(str(pattern))
    for letter in letters:
        if letter == "\\":
            out.append(re.escape(next(letters, "\\")))
        else:
            out.append({"%": ".*", "_": "."}.get(letter) or re.escape(letter))
    return int(re.fullmatch("".join(out), str(value), re.IGNORECASE | re.DOTALL) is not None)


def _concat(*values: Value) -> Value:
    return None if None in values else "".join(map(str, values))


def _choose(condition: Value, one: Value, other: Value) -> Value:
    return one if condition and condition != "0" else other


def _regexp(pattern: Value, value: Value) -> Value:
    return (
        None
        if pattern is None or value is None
        else int(re.search(str(pattern), str(value), re.IGNORECASE) is not None)
    )


_FUNCTIONS: Final[tuple[tuple[str, int, Function], ...]] = (
    ("like", 2, like),
    ("concat", -1, _concat),
    ("if", 3, _choose),
    ("regexp", 2, _regexp),
)
