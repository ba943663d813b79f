"""``python -m tests.settings``: the kit under forty settings and more, and by accounts with fewer rights.

``--results FILE`` keeps a line of JSON for each run, and goes on where it was broken off;
``docs/records/settings.jsonl`` is such a file. ``--only WORD`` takes runs whose name has the word, ``--list`` prints
the runs. ``--page`` writes docs/reference/settings.md. Exit status 1 if a run ended otherwise than the list says, or if
nothing ran. Words behind ``--`` go to each run: ``-- -r FR1 -r D5`` makes them short.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.settings.page import PAGE, page
from tests.settings.plan import runs
from tests.settings.runs import take

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIZE = ("--updates", "200", "--seed", "3")


def main(arguments: Sequence[str]) -> int:
    """Run them all, or those that are left."""
    own, more = list(arguments), []
    if "--" in own:
        more = own[own.index("--") + 1 :]
        del own[own.index("--") :]
    parser = argparse.ArgumentParser(prog="python -m tests.settings", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--results", type=Path, metavar="FILE")
    parser.add_argument("--reports", type=Path, metavar="DIR", help="keep the reports of runs that surprise")
    options = parser.parse_args(own)
    if options.page:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    chosen = [run for run in runs() if not options.only or any(word in run.name for word in options.only)]
    if options.list:
        sys.stdout.write("".join(f"{run.place:10}{run.code}  {run.name}\n" for run in chosen))
        return 0
    known: dict[str, dict[str, Any]] = {}
    if options.results is not None and options.results.exists():
        rows = map(json.loads, options.results.read_text("utf-8").splitlines())
        known = {row["run"]: row for row in rows}
    surprises = 0
    for number, run in enumerate(chosen):
        row = known.get(run.name)
        if row is None:
            with TemporaryDirectory(prefix="settings-") as place:
                report = Path(place) / "report"
                row = take(run, report, more or _SIZE)
                if not row["as_expected"] and options.reports is not None:
                    shutil.copytree(report, options.reports / f"run-{number}", dirs_exist_ok=True)
            if options.results is not None:
                with options.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
        surprises += not row["as_expected"]
        word = "ok" if row["as_expected"] else "SURPRISE"
        red = f", red: {' '.join(row['red'])}" if row.get("red") else ""
        sys.stdout.write(f"{word:10}exit {row['exit_code']}, {row['seconds']:4} s  {run.name}{red}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(chosen)} runs, {surprises} ended otherwise than expected\n")
    return int(bool(surprises) or not chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
