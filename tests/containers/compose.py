"""The compose files, read in the two ways there are: by Docker Compose where it is here, and by their schema."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

DIRECTORY = Path(__file__).parents[2] / "docker" / "compose"
FILES = sorted(DIRECTORY.glob("*.yaml"))
# The Compose Specification's own schema (Apache-2.0), as Docker Compose 2.40.3 carries it.
SCHEMA = json.loads(Path(__file__).with_name("compose-spec.json").read_text("utf-8"))
Document = dict[str, Any]


class _Loader(yaml.SafeLoader):
    """YAML with the one tag of Compose that the files use."""


def _reset(loader: yaml.SafeLoader, node: yaml.Node) -> None:
    """``!reset`` takes away what was inherited, whatever is written behind it."""


_Loader.add_constructor("!reset", _reset)


def load(path: Path) -> Document:
    """A file as it stands, nothing inherited or filled in."""
    document: Document = yaml.load(path.read_text("utf-8"), Loader=_Loader)
    return document


def validate(document: Document) -> None:
    """Raise what the schema has against a document; a reset entry is as good as none."""
    services = {
        name: {key: value for key, value in service.items() if value is not None}
        for name, service in document["services"].items()
    }
    jsonschema.Draft7Validator(SCHEMA).validate({**document, "services": services})


@cache
def program() -> tuple[str, ...] | None:
    """Docker Compose 2 or later: the plugin, or the program of its own."""
    for words in (("docker", "compose"), ("docker-compose",)):
        if shutil.which(words[0]):
            answer = subprocess.run([*words, "version", "--short"], capture_output=True, text=True, check=False)
            major = answer.stdout.strip().removeprefix("v").partition(".")[0]
            if answer.returncode == 0 and major.isdigit() and int(major) >= 2:
                return words
    return None


def run(words: tuple[str, ...], path: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """One command on one file, with variables of its own."""
    keep = {name: value for name, value in os.environ.items() if not name.endswith(("_IMAGE", "_PORT"))}
    return subprocess.run(
        [*words, "--file", str(path), *arguments],
        env={**keep, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
