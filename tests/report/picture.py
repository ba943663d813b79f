"""The picture of a report that README shows: ``python tests/report/picture.py [DIR [PICTURE]]``.

DIR is the report of a run (default ``report``), PICTURE a PNG (default ``docs/report.png``). Chromium draws the page
with a profile of its own that is thrown away, and without any network.
"""

# A program that prints: that is its job.
# ruff: noqa: T201

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, HEIGHT = 1280, 1130
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
)


def main(directory: Path, picture: Path) -> int:
    """Draw the page; exit code 3 where there is no browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"none of {', '.join(BROWSERS)} is on the PATH", file=sys.stderr)
        return 3
    page = (directory / "index.html").resolve(strict=True)
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, *FLAGS, f"--user-data-dir={profile}", f"--window-size={WIDTH},{HEIGHT}"]
        subprocess.run(
            [*command, f"--screenshot={picture.resolve()}", page.as_uri()],
            check=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    print(f"{picture}: {WIDTH} by {HEIGHT}, {picture.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[1:]]
    sys.exit(main(*given, *(Path("report"), Path("docs/report.png"))[len(given) :]))
