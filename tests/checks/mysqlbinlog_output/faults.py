"""Faults of the text: written down from mysqlbinlog-output 3 and mysqlbinlog-output 4."""

from __future__ import annotations

from typing import Final

from tests.checks.fault import Fault, swap

# --- FR7: the worklog's example with seven diffs, as mysqlbinlog -v prints it ----------------------------------------

TEXT_FAULTS: Final = [
    Fault(
        id="text/lost-diff",
        requirement="FR7",
        sentence="Every diff of the list is printed.",
        change=swap(b",\n###      '$.b[1]', 'bb')", b")"),
    ),
    Fault(
        id="text/lost-last-run",
        requirement="FR7",
        sentence="Every diff of the list is printed, the last one too.",
        change=lambda text: swap(b",\n###      '$.g', 'gg')", b"")(swap(b"JSON_INSERT(\n###      ", b"")(text)),
    ),
    Fault(
        id="text/order-of-diffs",
        requirement="FR7",
        sentence="Diffs are printed in the order of the list.",
        change=lambda text: swap(b"'$.X'", b"'$.d[0]'")(
            swap(b"'$.d[0]'", b"'$.c'")(swap(b"'$.c'", b"'$.X'")(text)),
        ),
    ),
    Fault(
        id="text/order-of-functions",
        requirement="FR7",
        sentence="Functions are printed in the reverse order of their runs.",
        change=lambda text: swap(b"X(", b"JSON_REMOVE(")(
            swap(b"JSON_REMOVE(", b"JSON_REPLACE(")(swap(b"JSON_REPLACE(", b"X(")(text))
        ),
    ),
    Fault(
        id="text/array-insert",
        requirement="FR7",
        sentence="An INSERT whose path ends in an array cell is JSON_ARRAY_INSERT.",
        change=swap(b"JSON_ARRAY_INSERT(", b"JSON_INSERT("),
    ),
    Fault(
        id="text/value",
        requirement="FR7",
        sentence="The value of a diff is the value in the event.",
        change=swap(b"'$.a', 7", b"'$.a', 8"),
    ),
    Fault(
        id="text/type-of-value",
        requirement="FR7",
        sentence="Numbers are bare, strings are quoted.",
        change=swap(b"'$.a', 7", b"'$.a', '7'"),
    ),
    Fault(
        id="text/path",
        requirement="FR7",
        sentence="The path stands as it is in the event.",
        change=swap(b"'$.f[1]'", b"'$.f[3]'"),
    ),
    Fault(
        id="text/comma",
        requirement="FR7",
        sentence="A comma stands between two diffs of a run.",
        change=swap(b"'$.c',\n", b"'$.c'\n"),
    ),
    Fault(
        id="text/indentation",
        requirement="FR7",
        sentence="Continuation lines begin with ### and six spaces.",
        change=swap(b"\n###      '$.e'", b"\n###        '$.e'"),
    ),
    Fault(
        id="text/lost-row",
        requirement="FR7",
        sentence="There is one block for each row.",
        change=lambda _: b"",
    ),
    Fault(
        id="text/column-number",
        requirement="FR7",
        sentence="Columns are numbered over all columns of the table.",
        change=swap(b"###   @2=", b"###   @3="),
    ),
]

# --- FR7: the examples of the executed pseudo-SQL --------------------------------------------------------------------

EXECUTED_FAULTS: Final = [
    Fault(id=f"executed/{name}", requirement="FR7", sentence=sentence, change=change)
    for name, sentence, change in (
        ("value", "The text has the value of the diff.", swap(b"'$.b[7]', 8", b"'$.b[7]', 9")),
        ("type", "A number is not quoted.", swap(b"'$.b[7]', 8", b"'$.b[7]', '8'")),
        ("path", "The text has the path of the diff.", swap(b"'$.b[7]'", b"'$.b[0]'")),
        ("function", "The text has the operation of the diff.", swap(b"JSON_ARRAY_INSERT(", b"JSON_REPLACE(")),
        (
            "function-dropped",
            "Every run of diffs is a function.",
            swap(b"JSON_REMOVE(@2, '$.b[0]',\n###      '$.b[1]')", b"@2"),
        ),
        (
            "order",
            "Diffs stand in their order.",
            swap(b"'$.b[0]',\n###      '$.b[1]'", b"'$.b[1]',\n###      '$.b[0]'"),
        ),
        (
            "nesting",
            "The last function is the outermost.",
            swap(b"JSON_INSERT(\n###      JSON_REMOVE(", b"JSON_REMOVE(\n###      JSON_INSERT("),
        ),
        ("quoting", "A quote in a string is escaped.", swap(rb"'it\'s'", b"'its'")),
        ("lost-type", "Of a DATE the text has its day.", swap(b"'2024-01-02'", b"'2024-01-03'")),
        ("another-loss", "A DATE is a string in the text, and nothing else.", swap(b"'2024-01-02'", b"20240102")),
        ("column", "The text is about the column itself.", swap(b"ARRAY_INSERT(@2", b"ARRAY_INSERT(@1")),
        ("lost-row", "Each row is printed.", lambda text: text[: text.rindex(b"### UPDATE ")]),
    )
]
