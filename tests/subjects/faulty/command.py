"""Faulty one-shot commands: ``python -m tests.subjects.faulty.command FAULT FILE``."""

from __future__ import annotations

import json
import os
import sys

from tests.subjects.faulty.reading import Reader


def main(fault: str, path: str) -> None:
    """Print the changes of a log with the fault."""
    changes = list(Reader().decode(path))
    if fault == "last_change_unwritten":
        changes.pop()
    for change in changes:
        sys.stdout.write(json.dumps(change) + "\n")
    sys.stdout.flush()
    if fault == "status_without_words":
        os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
