"""An update Case as a script: statements on the source, the log they leave, and a replica that applies it.

On one server the log goes to the replica by ``mysqlbinlog | mysql``; a Case with a topology has replicas that follow
(:mod:`.pair`). The script expects what is right, not what is known of a server: the listed deviations are faults here.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from conformance.cases.case_sql import insert_statement, trigger_statement, where_clause
from conformance.cases.script import TRIGGER_SWITCHES, Control, ReadBack, Statement, build_script
from conformance.harness.scripts.checked_sql import (
    BEFORE,
    CHANGED,
    SUCCEEDED,
    document,
    ended,
    refused_with,
    same_document,
)
from conformance.harness.scripts.shell import head, sql, tell, variable
from conformance.reference.dialect import MYSQL, flipped
from conformance.reference.errors import CodecError
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import create_table
from conformance.reference.text.pseudo_sql import row_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.cases.predict import StepPrediction
    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase

_SHOWN: Final = 4000  # characters of pseudo-SQL
RIGHT: Final = flipped(MYSQL, *TRIGGER_SWITCHES, "nests_without_limit")
SCHEMA: Final = "lab"
_LOG: Final = r"""
# --- The log: each event group as mysqlbinlog gives it, in hex, and as pseudo-SQL ---
$READ_LOG -v "$log" > "$work/log"
awk -v q="'" -v work="$work" '
  $0 == "BINLOG " q { on = 1; groups++; next }
  on && index($0, q) == 1 { on = 0; next }
  on { print > (work "/event." groups) }
  /^###/ && groups { printf "%s", substr($0, 4) > (work "/text." groups) }
' "$work/log"
# In their order, without the format description; the first is that of the INSERT.
groups=()
for file in $(ls -v "$work"/event.*); do
  base64 --decode "$file" | od -An -v -tx1 | tr -d ' \n' > "$file.hex"
  [ "$(head -c 10 "$file.hex" | tail -c 2)" = 0f ] || groups+=("$file")
done
logged() {  # number of the group behind that of the INSERT; checked; expected text; fields in hex are read
  local file="${groups[$1]}" verdict="as expected" field
  rm -f "$work"/field.*; split -l 1 -a 6 - "$work/field."
  for field in "$work"/field.*; do
    awk 'NR == FNR { field = $0; next } index($0, field) { found = 1 } END { exit !found }' \
      "$field" "$file.hex" 2> /dev/null || verdict=FAULT
  done
  local expected="$3 (fields $(cat "$work"/field.* | tr '\n' ' ' | head -c 4000))"
  local got="$(head -c 4000 "${file/event./text.}" 2> /dev/null) (event $(head -c 4000 "$file.hex" 2> /dev/null))"
  tell "$2" "$expected" "$got" "$verdict"
}
"""


def update_script(case: UpdateCase) -> str:
    """A shell script for one server, and for a second one that may get its log."""
    script = build_script(case, dialect=RIGHT)
    about = [
        f"Case {case.id}{f', seed {case.seed}' if case.seed else ''}; requirements: {', '.join(case.requirements)}",
        "Expected values are the predictions of binlog-lab. READ_LOG prints a log of the source as mysqlbinlog does;",
        "REPLICA, if you name one, is another server: it is given the source's log.",
    ]
    lines = [
        *head(about, [variable("SOURCE"), variable("READ_LOG"), variable("REPLICA", optional=True)]),
        *sql("SOURCE", ["FLUSH BINARY LOGS;"]),
        'log="$(end_of_log $SOURCE | cut -f1)"',
        *sql("SOURCE", [*starting(case), *_updates(script)]),
        *log_checks(script),
        "# --- A replica that is given this log ---",
        'if [ -n "$REPLICA" ]; then',
        'said="$($READ_LOG "$log" | run $REPLICA --binary-mode)"',
        'verdict=FAULT; [ -z "$said" ] && verdict="as expected"',
        tell("the replica takes the log", "no message", '"$said"', '"$verdict"'),
        *sql("REPLICA", replica_checks(script)),
        "fi",
    ]
    return "\n".join(lines) + "\n"


def starting(case: UpdateCase) -> list[str]:
    """The statements that make the session, the table and its start rows."""
    table = case.table
    return [
        *session(case),
        f"DROP TABLE IF EXISTS {quote_identifier(table.name)};",
        f"{create_table(table)};",
        *([f"{trigger_statement(table, case.trigger)};"] if case.trigger else []),
        f"{insert_statement(table, case.rows)};",
    ]


def session(case: UpdateCase) -> list[str]:
    """The statements that make a session as the Case has it."""
    return [
        f"CREATE SCHEMA IF NOT EXISTS {SCHEMA} DEFAULT CHARACTER SET utf8mb4;",
        f"USE {SCHEMA};",
        *(f"{text};" for text in case.session.statements()),
    ]


def _updates(script: Script) -> Iterator[str]:
    for item in script.items:
        if isinstance(item, Control):
            yield f"{item.sql};"
        elif isinstance(item, Statement):
            yield from statement(script, item)
        else:
            yield from read_back(script, item)


def statement(script: Script, item: Statement) -> list[str]:
    """An UPDATE, and how it must end."""
    prediction = script.predictions[item.step]
    error = prediction.error
    if error is None:
        words, condition = f"rows changed: {prediction.changed}", f"{SUCCEEDED} AND @changed = {prediction.changed}"
    else:
        words, condition = f"error {error.number} ({error.symbol})", refused_with(error.number)
    return [BEFORE, f"{item.sql};", *ended(f"statement {item.step + 1}", words, condition, more=CHANGED)]


def read_back(script: Script, item: ReadBack) -> Iterator[str]:
    """Read the documents of the changed rows."""
    case = script.case
    for index, step, values in item.rows:
        for name in script.model.columns.json:
            what = f"row {index + 1}, column {name}, after statement {step + 1}"
            yield document(what, quote_identifier(name), values[name], _from(case, values))


def _from(case: UpdateCase, values: object) -> str:
    where = where_clause(case.table, case.selector, [values[case.selector]])  # type: ignore[index]
    return f"FROM {SCHEMA}.{quote_identifier(case.table.name)} WHERE {where}"


def log_checks(script: Script) -> list[str]:
    """Check what the source logged: for each UPDATE the fields of its JSON columns."""
    if script.case.session.compression:
        return ["# The Case has its transactions compressed: their events are not compared here."]
    lines = [_LOG]
    groups = 0
    for number, prediction in enumerate(script.predictions, 1):
        if not prediction.events:
            continue
        groups += 1
        fields = [
            field.hex()
            for row in prediction.rows
            if row.change.logged
            for decision in row.decisions.values()
            if (field := decision.field) is not None
        ]
        words = shlex.quote(_pseudo_sql(prediction)[:_SHOWN])
        lines += [f"logged {groups} 'log of statement {number}' {words} <<END_OF_FIELDS", *fields, "END_OF_FIELDS"]
    got = '"$((${#groups[@]} - 1))"'
    lines.append(f'verdict=FAULT; [ {got} = {groups} ] && verdict="as expected"')
    lines.append(tell("UPDATE statements in the log", str(groups), got, '"$verdict"'))
    return lines


def _pseudo_sql(prediction: StepPrediction) -> str:
    try:
        lines = [line for event in prediction.events for line in row_lines(event)]
    except CodecError as error:
        return str(error)
    text = b"".join(lines).decode("utf-8", "replace")
    return "".join(line.removeprefix("###") for line in text.splitlines())


def replica_checks(script: Script) -> Iterator[str]:
    """Check the replica's documents at the end."""
    yield "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci;"
    for index, values in enumerate(script.model.rows):
        for name in script.model.columns.json:
            what = f"the replica's row {index + 1}, column {name}"
            yield same_document(what, quote_identifier(name), values[name], _from(script.case, values))
