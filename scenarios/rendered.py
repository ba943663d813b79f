"""The files of a matrix run for people, rendered from ``results.json``: by the run, and again from a directory.

Rendering needs neither Spark nor the rows. It changes no file of results: the same content gives the same files.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from conformance.report.directory import INDEX, RESULTS, ReportError, held
from scenarios.digest import CellTally, digest
from scenarios.manifest import MANIFEST, ManifestError, finished
from scenarios.page import page
from scenarios.summary import summary

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SUMMARY: Final = "summary.md"


class NoResults(ReportError):
    """A directory without the results of a complete matrix run; the message names its content instead."""


class BrokenOff(NoResults):
    """A run that has not reached its end."""


def write(directory: Path, content: Mapping[str, Any]) -> None:
    """Write page, summary and, last, the results: if the results exist, all files are complete."""
    # In the form that a reader of the file gets: lists for tuples, strings for keys.
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    found = json.loads(text)
    files = {INDEX: page(found), SUMMARY: summary(found), RESULTS: text}
    for name, whole in files.items():
        beside = directory / f".{name}.new"
        beside.write_text(whole, "utf-8")
        beside.replace(directory / name)


def render_again(directory: Path) -> dict[str, Any]:
    """Render the page and the summary of a finished run again; return the content of ``results.json``."""
    content = read(directory)
    with held(directory):
        try:
            write(directory, content)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise NoResults(
                f"{directory / RESULTS}: not what this version writes ({type(error).__name__}: {error}):"
                " run the matrix again"
            ) from error
    return content


def read(directory: Path) -> dict[str, Any]:
    """The results in a directory, if they belong to a finished matrix run and match its manifest."""
    path = directory / RESULTS
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise _nothing(directory) from None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NoResults(f"{path}: not JSON: {error}") from error
    if not isinstance(content, dict) or "matrix" not in content:
        raise NoResults(
            f"{path}: expected the results of a matrix run, got other ones: binlog-lab report {directory} renders those"
        )
    _compare(directory, content)
    return content


def _nothing(directory: Path) -> NoResults:
    manifest = directory / MANIFEST
    if not manifest.exists():
        return NoResults(f"{directory}: no matrix run has its report here (no {RESULTS}, no {MANIFEST})")
    head, cells = finished(manifest)
    return BrokenOff(
        f"{directory}: a run of {head['matrix']} with {head['scenarios']:,} scenarios was broken off: {len(cells)} of"
        f" {head['cells']} cells are done. The same command goes on from there"
    )


def _compare(directory: Path, content: Mapping[str, Any]) -> None:
    """Require that the digest is that of the manifest's finished cells."""
    manifest = directory / MANIFEST
    if not manifest.exists() or not content["run"]["complete"]:
        return
    head, cells = finished(manifest)
    mine = digest(str(head["digest"]), cells)
    if mine != content["digest"]:
        raise ManifestError(
            f"{manifest}: its cells come to the digest {mine}, {RESULTS} says {content['digest']}:"
            " they are not of one run"
        )
    known = {entry["cell"]: CellTally(entry["rows"], entry["scenarios"], entry["xor"]) for entry in content["cells"]}
    if known != cells:
        raise ManifestError(f"{manifest}: its cells are not those of {RESULTS}")
