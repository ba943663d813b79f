"""Faults of the text: written down from mysqlbinlog-output 3 and mysqlbinlog-output 4."""

from __future__ import annotations

from typing import Final

from tests.faults.fault import Fault, swap

# --- FR7: the worklog's example with seven diffs, as mysqlbinlog -v prints it ----------------------------------------

TEXT_FAULTS: Final = [
    Fault("text/lost-diff", "FR7", "Every diff of the list is printed.", swap(b",\n###      '$.b[1]', 'bb')", b")")),
    Fault("text/lost-last-run", "FR7", "Every diff of the list is printed, the last one too.",
          lambda text: swap(b",\n###      '$.g', 'gg')", b"")(swap(b"JSON_INSERT(\n###      ", b"")(text))),
    Fault("text/order-of-diffs", "FR7", "Diffs are printed in the order of the list.",
          lambda text: swap(b"'$.X'", b"'$.d[0]'")(swap(b"'$.d[0]'", b"'$.c'")(swap(b"'$.c'", b"'$.X'")(text)))),
    Fault("text/order-of-functions", "FR7", "Functions are printed in the reverse order of their runs.",
          lambda text: swap(b"X(", b"JSON_REMOVE(")(
              swap(b"JSON_REMOVE(", b"JSON_REPLACE(")(swap(b"JSON_REPLACE(", b"X(")(text))
          )),
    Fault("text/array-insert", "FR7", "An INSERT whose path ends in an array cell is JSON_ARRAY_INSERT.",
          swap(b"JSON_ARRAY_INSERT(", b"JSON_INSERT(")),
    Fault("text/value", "FR7", "The value of a diff is the value in the event.", swap(b"'$.a', 7", b"'$.a', 8")),
    Fault("text/type-of-value", "FR7", "Numbers are bare, strings are quoted.", swap(b"'$.a', 7", b"'$.a', '7'")),
    Fault("text/path", "FR7", "The path stands as it is in the event.", swap(b"'$.f[1]'", b"'$.f[3]'")),
    Fault("text/comma", "FR7", "A comma stands between two diffs of a run.", swap(b"'$.c',\n", b"'$.c'\n")),
    Fault("text/indentation", "FR7", "Continuation lines begin with ### and six spaces.",
          swap(b"\n###      '$.e'", b"\n###        '$.e'")),
    Fault("text/lost-row", "FR7", "There is one block for each row.", lambda _: b""),
    Fault("text/column-number", "FR7", "Columns are numbered over all columns of the table.",
          swap(b"###   @2=", b"###   @3=")),
]  # fmt: skip

# --- FR7: the examples of the executed pseudo-SQL --------------------------------------------------------------------

EXECUTED_FAULTS: Final = [
    Fault(f"executed/{name}", "FR7", sentence, change)
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
