"""Row changes of a binary log: what decode --format jsonl prints, as objects."""

from conformance import read_rows

for row in read_rows("orders.binlog"):
    if row["operation"] == "update":
        details = row["after"].get("details", {})
        print(row["table"], row["before"]["id"], details.get("diffs", "no diffs"))
