"""The same run as an application of ``spark-submit``, or without our command line on the driver.

``binlog-lab matrix zip lab.zip`` writes the zip and the script that calls :func:`main`.
"""

from __future__ import annotations

import argparse
import sys

from conformance.report.directory import DirectoryInUseError, ReportError
from scenarios.costs import words
from scenarios.manifest import ManifestError
from scenarios.matrix import MatrixError
from scenarios.runs import run_matrix
from scenarios.spark.session import SparkUnavailable, session


def main(arguments: list[str] | None = None) -> None:
    """Run a matrix, and exit with the exit code of the run."""
    parser = argparse.ArgumentParser(prog="lab.py", description="Run a scenario matrix of binlog-lab.")
    parser.add_argument("name")
    parser.add_argument("--scenarios", type=int)
    parser.add_argument("--master", help="left to spark-submit if not given")
    parser.add_argument("--report", default="report")
    parser.add_argument("--rows", help="where the Parquet goes: a place that the executors reach")
    options = parser.parse_args(arguments)

    def narrate(text: str) -> None:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()

    try:
        with session(options.master) as spark:
            ran = run_matrix(
                options.name,
                spark=spark,
                report=options.report,
                scenarios=options.scenarios,
                rows=options.rows,
                narrate=narrate,
                command=" ".join(sys.argv),
            )
    except (MatrixError, DirectoryInUseError) as problem:
        narrate(f"error: {problem}")
        sys.exit(2)
    except (SparkUnavailable, ReportError, ManifestError) as problem:
        narrate(f"error: {problem}")
        sys.exit(3)
    except KeyboardInterrupt:
        narrate("interrupted; the same command goes on from here")
        sys.exit(4)
    for line in words(ran.facts.costs, ran.facts.memory):
        narrate(line)
    sys.stdout.write(f"{ran.results['digest']}\n")
    sys.exit(ran.results["run"]["exit_code"])
