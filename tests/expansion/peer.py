"""The answers of python-mysql-replication to a log, event by event: its row changes, or the error that it raises.

The program runs in the environment of the subject of that name. An event that the library cannot read is a line with
its error, and the program goes on with the next one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PEER = "python-mysql-replication"


def lines_of(log: Path) -> list[str]:
    """A line for each row change of a log; the library comes from the cache of subjects."""
    from conformance.subjects.builtin.install import installed

    there = installed(PEER)
    assert there is not None, f"binlog-lab subjects install {PEER}"
    python, adapter = there.command()
    done = subprocess.run(
        [python, __file__, str(Path(adapter).parent), str(log)], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def main(adapters: str, log: str) -> None:
    """Print the lines of a log."""
    sys.path.insert(0, adapters)
    from mysql_replication_log import events_of
    from mysql_replication_values import changes_of
    from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent

    with Path(log).open("rb") as file:
        for event in events_of(file, [WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent]):
            try:
                found = [json.dumps(change, sort_keys=True) for change in changes_of(event)]
            except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
                found = [f"{type(error).__name__}: {error}"]
            print(*found, sep="\n")  # noqa: T201 - a program of its own


if __name__ == "__main__":
    main(*sys.argv[1:])
