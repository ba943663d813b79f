"""The parts of a report that the tests of the main job read, and those that every whole report has."""

from __future__ import annotations

import json
import subprocess
import time
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import jsonschema

from tests.live import PATIENCE, Ended

if TYPE_CHECKING:
    from pathlib import Path


FILES = {"index.html", "results.json", "run.jsonl", "junit.xml", "summary.md"}


def records(report: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (report / "run.jsonl").read_text("utf-8").splitlines()]


def results(report: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((report / "results.json").read_text("utf-8"))
    return data


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    """Made once: to check the schema itself for each of thousands of lines takes minutes."""
    schemas = resources.files("conformance.report").joinpath("schemas")
    schema = json.loads(schemas.joinpath(f"{name}.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def digests(report: Path) -> list[str]:
    return [record["digest"] for record in records(report) if record.get("digest")]


def ended(program: subprocess.Popen[str], place: Path) -> Ended:
    """The end of a program, which is given up when it has said nothing for long: a busy machine may take an hour."""
    said, since = -1, 0.0
    while program.poll() is None:
        now, size = time.monotonic(), sum((place / name).stat().st_size for name in ("out", "err"))
        if size != said:
            said, since = size, now
        if now - since > PATIENCE:
            program.kill()
            program.wait()
            raise subprocess.TimeoutExpired(program.args, PATIENCE)
        time.sleep(0.02)
    return Ended(program.wait(), (place / "out").read_text("utf-8"), (place / "err").read_text("utf-8"))


def assert_whole(report: Path, code: int) -> None:
    """The stream begins with its run and ends with its end, and everything fits its schema."""
    lines = records(report)
    assert lines[0]["type"] == "run"
    assert lines[-1]["type"] == "end"
    data = results(report)
    assert lines[-1]["exit_code"] == code == data["run"]["exit_code"], str(data["failures"])[:4000]
    assert [line["type"] for line in lines].count("end") == 1
    validator("results").validate(data)
    for line in lines:
        validator("stream").validate(line)
    assert {item.name for item in report.iterdir()} >= FILES
