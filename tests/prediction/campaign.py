"""``predict`` on what applications write, held against a real server: ``python -m tests.prediction --updates 3000``.

For each generated update the server and ``predict`` do the same, from the same document. Compared are:

- the bytes of the JSON column's field in the log, or that there is no event, or the number of the error;
- the stored size, the free space and the text, as the server tells them;
- whether the *statement* could have been logged as diffs, with the columns that the optimizer trace calls eligible;
- the form that ``predict`` proposes: run on a copy of the row it must be logged as diffs, and make the same document.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.binlog.files import decode_file
from conformance.reference.binlog.rows import LazyRows, RowsBody
from conformance.reference.sql.quoting import quote_string
from conformance.reference.tables.columns import PartialJson
from conformance.servers.errors import SqlError
from generators.draw import Stream
from tests.in_process import lab_here as lab
from tests.prediction.statements import application_update

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw
    from tests.prediction.statements import ApplicationUpdate

_MOMENT: Final = "2023-11-14 22:13:20.123456"
_OTHERS: Final = ('k=CAST(\'{"q": 1, "r": [1, 2]}\' AS JSON)', "n=5", "s='text'", "d=2.50")
_ELIGIBLE_REASONS: Final = frozenset(("root-replaced", "no-document", "not-smaller"))


class Seen(NamedTuple):
    """The outcome of one UPDATE on the server."""

    error: int
    eligible: bool
    stored: tuple[str | None, ...]  # size, free space, text


@dataclass(slots=True)
class Result:
    """The counts of what was compared, and every difference."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def run_updates(
    server: ProcessServer,
    *,
    seed: str,
    updates: int,
    make: Callable[[Draw], ApplicationUpdate] = application_update,
    alter: Callable[[dict[str, Any]], dict[str, Any]] = lambda step: step,
    form: Callable[[str], str] = str,
    narrate: Callable[[str], None] = lambda _: None,
) -> Result:
    """Run made updates in blocks. ``alter`` and ``form`` change what ``predict`` says: planted faults do."""
    result = Result()
    with server.connect() as connection, server.schema(connection):
        prepare(connection)
        for first in range(0, updates, 250):
            numbers = range(first, min(first + 250, updates))
            _block(
                connection,
                {number: make(Stream(seed, number)) for number in numbers},
                result,
                alter,
                form,
            )
            narrate(f"{numbers.stop} updates: {len(result.problems)} differences, {dict(result.counts)}")
    return result


def prepare(connection: Connection) -> None:
    """The session and the table that ``predict`` is told of."""
    connection.execute_many(
        [
            "SET binlog_row_value_options = PARTIAL_JSON",
            "SET binlog_row_image = FULL",
            "SET time_zone = '+00:00'",
            "SET timestamp = 1700000000.123456",
            "SET optimizer_trace = 'enabled=on'",
            "CREATE TABLE t (id INT PRIMARY KEY, j JSON, k JSON, n BIGINT, s VARCHAR(50), d DECIMAL(3,2))",
        ]
    ).check()


def _block(
    connection: Connection,
    block: dict[int, ApplicationUpdate],
    result: Result,
    alter: Callable[[dict[str, Any]], dict[str, Any]],
    form: Callable[[str], str],
) -> None:
    predicted = {number: _predict(update, result) for number, update in block.items()}
    connection.execute("DELETE FROM t")
    for number, update in block.items():
        for row in (2 * number, 2 * number + 1):
            values = f"{row}, {quote_string(update.document)}, '{{\"q\": 1, \"r\": [1, 2]}}', 5, 'text', 2.50"
            connection.execute(f"INSERT INTO t VALUES ({values})")
    connection.execute("FLUSH BINARY LOGS")
    name = str(connection.execute("SHOW BINARY LOG STATUS").texts()[0][0])
    seen: dict[tuple[int, int], Seen] = {}
    forms: dict[int, str] = {}
    for number, update in block.items():
        steps = predicted[number]
        if steps is None:
            continue
        for place, sql in enumerate(update.updates):
            seen[number, place] = _run(connection, sql, 2 * number)
            last = place == len(update.updates) - 1
            proposed = steps[place].get("as_diffs") if last else None
            _run(connection, sql if proposed is None else form(proposed), 2 * number + 1)
            if proposed is not None:
                forms[number] = proposed
    connection.execute("FLUSH BINARY LOGS")
    path = Path(str(connection.variable("log_bin_basename"))).parent / name
    fields = _logged(path.read_bytes())
    for number, update in block.items():
        steps = predicted[number]
        if steps is None:
            continue
        waiting = list(fields.get(2 * number, ()))
        for place, step in enumerate(steps):
            there = seen[number, place]
            logged = waiting.pop(0) if waiting and not there.error and alter(step).get("event") else None
            problem = _difference(alter(step), there, logged, result.counts)
            if problem:
                result.problems.append(
                    f"update {number}.{place} of {update.document}: {update.updates[: place + 1]}: {problem}"
                )
                break
        else:
            if waiting:
                result.problems.append(f"update {number}: the log has {len(waiting)} more events: {update}")
        if number in forms:
            result.counts["forms as diffs"] += 1
            complaint = _judge_form(connection, number, fields)
            if complaint:
                result.problems.append(f"update {number}: {update}: the form {forms[number]}: {complaint}")


def _predict(update: ApplicationUpdate, result: Result) -> list[dict[str, Any]] | None:
    """The steps that ``predict`` prints; ``None`` for what is outside its grammar."""
    words: list[str] = ["predict", "--document", update.document, "--now", _MOMENT, "--format", "json"]
    for other in _OTHERS:
        words += ["--column", other]
    for number, sql in enumerate(update.updates):
        words += ["--then" if number else "--update", sql]
    done = lab(*words)
    if done.code == 2:
        result.counts["outside the grammar"] += 1
        result.counts["outside: " + done.err.strip().split("\n")[0][:70]] += 1
        return None
    assert done.code == 0, (update, done.err)
    loaded: list[dict[str, Any]] = json.loads(done.out)
    result.counts["updates"] += 1
    return loaded


def _run(connection: Connection, sql: str, row: int) -> Seen:
    try:
        connection.execute(f"UPDATE t SET j = {sql} WHERE id = {row}")
    except SqlError as error:
        return Seen(error.number, False, ())
    trace = str(connection.execute("SELECT TRACE FROM information_schema.optimizer_trace").texts()[0][0])
    stored = connection.execute(f"SELECT JSON_STORAGE_SIZE(j), JSON_STORAGE_FREE(j), j FROM t WHERE id = {row}")
    return Seen(0, '"json_partial_update"' in trace, tuple(stored.texts()[0]))


def _logged(data: bytes) -> dict[int, list[tuple[bool, bytes | None]]]:
    """By row, the column's field after each update that was logged, and whether it holds diffs."""
    found: dict[int, list[tuple[bool, bytes | None]]] = {}
    for event in decode_file(data, expand=True):
        if isinstance(event.body, LazyRows | RowsBody):
            rows = event.body.rows() if isinstance(event.body, LazyRows) else event.body.rows
            for row in rows:
                assert row.after is not None
                identity, value = row.after[0], row.after[1]
                partial = isinstance(value, PartialJson)
                raw = value.diffs if isinstance(value, PartialJson) else value
                found.setdefault(identity, []).append((partial, None if raw is None else bytes(raw)))  # type: ignore[arg-type]
    return found


def _difference(
    step: dict[str, Any], there: Seen, logged: tuple[bool, bytes | None] | None, counts: Counter[str]
) -> str:
    """The first difference between ``predict`` and the server; empty when all agree."""
    expected = step.get("error", {}).get("number", 0)
    if expected != there.error:
        return f"error {expected} predicted, the server's is {there.error}"
    if expected:
        counts["errors"] += 1
        return ""
    text = there.stored[2]
    size, free = (None if item is None else int(item) for item in there.stored[:2])
    if (step["storage_size"], step["storage_free"]) != (size, free):
        return f"size and free space {step['storage_size']}/{step['storage_free']}, the server's are {size}/{free}"
    if step["text"] != text:
        return f"text {step['text']!r}, the server's is {text!r}"
    if not step["event"]:
        counts["without event"] += 1
        return ""
    if logged is None:
        return "an event is predicted, the log has none"
    partial, data = logged
    field_hex = None if data is None else (len(data).to_bytes(4, "little") + data).hex()
    if (step["partial"], step["field_hex"]) != (partial, field_hex):
        forms = {True: "diffs", False: "whole"}
        return f"{forms[step['partial']]} {step['field_hex']}, the log has {forms[partial]} {field_hex}"
    counts["diffs" if partial else "whole" if data is not None else "SQL NULL"] += 1
    why = step["why_whole"]
    if (why is None) != (partial or data is None):
        return f"the reason is {why}"
    if why is not None:
        counts[f"reason {why['code']}"] += 1
        if (why["code"] in _ELIGIBLE_REASONS) != there.eligible:
            return (
                f"the reason is {why}, the server calls the column {'eligible' if there.eligible else 'not eligible'}"
            )
    return ""


def _judge_form(connection: Connection, number: int, fields: dict[int, list[tuple[bool, bytes | None]]]) -> str:
    """The fault of a proposed form, which the second row of an update got; empty if there is none."""
    first, second = 2 * number, 2 * number + 1
    if not fields.get(second) or not fields[second][-1][0]:
        return "it is not logged as diffs"
    asked = f"SELECT (SELECT CAST(j AS CHAR) FROM t WHERE id = {first}) = CAST(j AS CHAR) FROM t WHERE id = {second}"
    return "" if connection.execute(asked).texts()[0][0] == "1" else "it makes another document"
