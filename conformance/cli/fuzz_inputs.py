"""``binlog-lab fuzz replay|minimize|merge|coverage``: single inputs and whole corpora, most of it without a fuzzer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from conformance.cli.helpful import LabCommand

TARGET = click.option("--target", "name", metavar="TARGET", help="Target of a file outside its target's folder.")
TIMEOUT = click.option(
    "--timeout", type=click.IntRange(min=1), metavar="N", default=10, show_default=True, help="Seconds for one input."
)
CORPORA = click.option(
    "--corpora", type=click.Path(path_type=Path), metavar="DIR", help="Directory of the inputs [default: the cache]."
)


@click.command(cls=LabCommand)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@TARGET
@TIMEOUT
def replay(files: tuple[Path, ...], name: str | None, timeout: int) -> int:
    """Run stored inputs again: FIXED (no fault any more), FAILED or ERROR (could not run).

    FILE is an input, or a folder of inputs. The folder of an input, or the file beside it, names its target. Each input
    runs in a process of its own. This command needs no fuzzer.

    Findings of 'fuzz server' below a folder run again too, as 'replay' does it: on a server that the lab starts.
    """
    from conformance.runs.fuzz_inputs import replay_inputs

    return replay_inputs(files, name, timeout)


@click.command(cls=LabCommand)
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE")
@TARGET
@click.option("--seconds", type=click.FloatRange(min=1), default=60.0, show_default=True, metavar="N")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="[default: FILE; the original is kept beside it]",
)
@TIMEOUT
def minimize(**options: Any) -> int:
    """Make an input smaller that still fails in the same way."""
    from conformance.runs.fuzz_inputs import minimize_input

    return minimize_input(**options)


@click.command(cls=LabCommand)
@click.argument("names", nargs=-1, metavar="[TARGET]…")
@click.option("-a", "--all", "everything", is_flag=True, help="All targets of the lab's own decoders.")
@CORPORA
@click.option(
    "--into", type=click.Path(path_type=Path), metavar="DIR", help="[default: the cache, whose inputs are replaced]"
)
def merge(**options: Any) -> int:
    """Keep the smallest inputs that reach everything the committed inputs, the seeds and your own inputs reach.

    With --into fuzz/corpora the committed archives are written anew: below 200 inputs of less than 1 KB each. Needs
    atheris.
    """
    from conformance.runs.fuzz_inputs import merge_corpora

    return merge_corpora(**options)


@click.command(cls=LabCommand)
@click.argument("names", nargs=-1, metavar="[TARGET]…")
@click.option("-a", "--all", "everything", is_flag=True, help="All targets of the lab's own decoders.")
@click.option("--missing", is_flag=True, help="Also print the lines that no input reaches.")
@CORPORA
def coverage(**options: Any) -> int:
    """Print the code that the corpora reach: lines and branches of each module that the targets call."""
    from conformance.runs.fuzz_inputs import print_coverage

    return print_coverage(**options)


@click.command(cls=LabCommand)
@click.argument("directory", type=click.Path(path_type=Path), metavar="DIR")
@click.argument("names", nargs=-1, metavar="[TARGET]…")
def export(directory: Path, names: tuple[str, ...]) -> int:
    """Write targets in the layout of OSS-Fuzz and ClusterFuzzLite into DIR: all of the lab's own ones, or those named.

    Each target gets an entry (fuzz_TARGET.py), a dictionary, options and an archive of seeds.
    """
    from conformance.runs.fuzz_inputs import write_targets

    return write_targets(directory, names)
