"""The terminal that README shows: ``python tests/report/terminal.py PICTURE COMMAND [COMMAND...]``.

Each COMMAND is a command line of the lab, which runs here, on a terminal of 100 columns; PICTURE is an SVG, such as
docs/terminal.svg. The part of a long output that ``--first`` and ``--last`` leave out is shown as ``…``.
"""

from __future__ import annotations

import argparse
import io
import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 100
_FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)  # rich fetches its font; the reader's own will do


def main(arguments: list[str]) -> int:
    """Run the commands and write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", type=Path)
    parser.add_argument("commands", nargs="+")
    parser.add_argument("--first", type=int, default=9)
    parser.add_argument("--last", type=int, default=7)
    given = parser.parse_args(arguments)
    console = Console(width=COLUMNS, record=True, file=io.StringIO(), force_terminal=True)
    with tempfile.TemporaryDirectory() as directory:
        for command in given.commands:
            console.print(Text.assemble(("$ ", "bold green"), command))
            lines = printed(shlex.split(command), Path(directory))
            if len(lines) > given.first + given.last + 1:
                lines = [*lines[: given.first], "…", *lines[-given.last :]]
            for line in lines:
                console.print(Text.from_ansi(line))
            console.print()
    given.picture.write_text(_FONTS.sub("", console.export_svg(title="binlog-lab")), "utf-8")
    return 0


def printed(command: list[str], directory: Path) -> list[str]:
    """Run a command, and return the lines that it writes to stdout, a terminal. Progress, on stderr, is left out."""
    ours, its = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    with subprocess.Popen(command, cwd=directory, env=environment, stdout=its, stderr=subprocess.DEVNULL) as process:
        os.close(its)
        output = b""
        while True:
            try:
                output += (read := os.read(ours, 65536))
            except OSError:  # the end of a terminal
                break
            if not read:
                break
    os.close(ours)
    if process.returncode:
        raise SystemExit(f"{shlex.join(command)}: exit code {process.returncode}")
    return output.decode("utf-8").replace("\r\n", "\n").rstrip("\n").split("\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
