"""The estimate of what partial JSON saves in binary logs, with Spark or without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from conformance.console import narrate
from conformance.keyring_file import read_keyring
from conformance.logs.refusals import hint_of
from conformance.user_errors import CouldNotRun, InputCorrupt, Usage

if TYPE_CHECKING:
    from pathlib import Path

    from scenarios.estimate.questions import Trouble


def print_estimate(
    *, paths: tuple[str, ...], form: str, master: str | None, keyring: Path | None, limit: int | None, jobs: int
) -> None:
    """Print the estimate. Raises at the end if a log is damaged or none."""
    import json

    from conformance.logs.paths import find_logs
    from conformance.logs.rows.options import OptionError
    from scenarios.estimate.choice import spark_for
    from scenarios.estimate.report import as_data, as_text
    from scenarios.spark.session import SparkUnavailable

    try:
        files = sorted({file for path in paths for file in find_logs(path)})
    except OptionError as problem:
        raise Usage(str(problem).removeprefix("option path: ")) from problem
    keys = read_keyring(keyring)
    if keys is not None and master not in (None, "none"):
        raise Usage("--keyring reads logs without Spark", hint="--master none")
    if jobs > 1 and master not in (None, "none"):
        raise Usage("--jobs reads logs without Spark", hint=f"on Spark: --master 'local[{jobs}]'")
    master = spark_for(files, "none" if keys is not None or jobs > 1 else master)
    try:
        if master is None:
            from scenarios.estimate.inline import estimate as by_loop

            found = by_loop(files, limit, keys, jobs)
        else:
            from scenarios.spark.estimates import estimate as by_spark
            from scenarios.spark.session import require_packages, session

            require_packages()
            narrate(f"{len(files)} files on {master}" if len(files) > 1 else f"{files[0]} on {master}")
            with session(master) as spark:
                found = by_spark(spark, files, limit=limit)
    except SparkUnavailable as problem:
        raise CouldNotRun(str(problem), hint="without Spark: --master none") from problem
    if form == "json":
        click.echo(json.dumps(as_data(found, engine=master or "none"), indent=1))
    else:
        for line in as_text(found):
            click.echo(line)
    _end_of_estimate([problem for problem in found.troubles if problem.damage])


def _end_of_estimate(damage: list[Trouble]) -> None:
    """The exit of a file command: 1 if a log is corrupt, truncated or encrypted, 2 if a file is no log. The result is
    printed first.
    """
    from conformance.logs.part_events import NO_LOG

    corrupt = [problem for problem in damage if problem.code not in NO_LOG]
    for problem in corrupt or damage:
        raise (InputCorrupt if corrupt else Usage)(f"{problem.file}: {problem.message}", hint=hint_of(problem.code))
