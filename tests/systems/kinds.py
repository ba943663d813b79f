"""Kinds of inputs, and what the reference, the Cases, the judge and the generators say of each: the same everywhere.

A kind is a function that yields one answer for each input. An answer is ASCII text: the value's ``ascii()``, or the
whole text of the error. The inputs depend on nothing but the files of the checkout.
"""

from __future__ import annotations

import gzip
import json
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.cases.files import dump_case, load_any_case
from conformance.judge.decoding import exact_json, moments, numbers
from conformance.judge.decoding.binary import bytes_of_form
from conformance.judge.pseudo_sql_reader import parse_rows
from conformance.reference.encryption.keyring import Keyring
from fuzz.targets import target_names
from generators.cases import update_case
from generators.draw import Stream
from generators.strategies import advance
from tests.builds.answers import COMMANDS, FOLDERS, answer, damaged
from tests.reference.jsonb.mutated_texts import mutated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

from tests.cases.modelled import predictions
from tests.systems.depth import deep
from tests.systems.fuzzed import target
from tests.systems.said import changed, said
from tests.systems.texts import code_points, definitions, expressions, identifiers, json_texts, paths, words

DATA: Final = Path(__file__).parents[1] / "data"


def cases(full: bool) -> Iterator[str]:
    """Generated Cases with what is predicted of them; and their files with mutations."""
    for number in range(300 if full else 12):
        case = update_case(Stream("systems", number), case_id="x", steps=4, advance=advance)
        text = json.dumps(dump_case(case))
        yield ascii(text)
        yield said(predictions, case)
        for form in changed(text.encode(), 5, "case"):
            try:
                data = json.loads(form)
            except ValueError:
                continue
            if isinstance(data, dict):
                yield said(load_any_case, data)


def judged(full: bool) -> Iterator[str]:
    """Answers to texts that other decoders may have printed: JSON, base64, numbers, moments, rows of pseudo SQL."""
    draw = random.Random("judged")
    for text in mutated(20_000 if full else 1000):
        yield said(exact_json.parse, text, declared=ValueError)
    for _ in range(20_000 if full else 1000):
        yield said(_bytes, "".join(draw.choice("AAAQZz+/==\n -_é") for _ in range(draw.randrange(14))))
        text = "".join(draw.choice("0123456789.-+eE:: TZ\u0663x") for _ in range(draw.randrange(20)))
        yield said(numbers.number_in, text)
        yield " ".join(said(moments.moment_of, kind, text) for kind in ("DATE", "TIME", "DATETIME", "TIMESTAMP"))
    rows = (DATA / "mysqlbinlog" / "07-all-types-metadata-full.v.txt").read_bytes()
    for form in changed(rows, 100 if full else 5, "rows"):
        yield said(parse_rows, form, declared=Exception)


def _bytes(text: str) -> bytes | None:
    return bytes_of_form({"base64": text})


def keyrings(full: bool) -> Iterator[str]:
    """Mutated files of the keyring."""
    data = (DATA / "encrypted-binlogs" / "keyring.json").read_bytes()
    for form in (*changed(data, 5000 if full else 300, "keyring"), *(b"[" * n + b"]" * n for n in (99, 500, 5000))):
        yield said(Keyring.parse, form)


# --- files, through the commands ------------------------------------------------------------------------------------


def logs(full: bool) -> Iterator[str]:
    """The output of the commands for recorded logs, whole and damaged (:mod:`tests.builds.answers`)."""
    every = sorted(path for folder in FOLDERS for path in (DATA.parents[1] / folder).glob("*.binlog"))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "log"
        for number, path in enumerate(every):
            data = path.read_bytes()
            for form in (data, *damaged(data, 10 if full else 1)):
                copy.write_bytes(form)
                for command in COMMANDS if full else (COMMANDS[number % len(COMMANDS)],):
                    yield said(answer, command, str(copy))


def data_files(full: bool) -> Iterator[str]:
    """The output of ``sdi`` for recorded data files, whole and damaged."""
    every = sorted((DATA / "innodb").glob("*.ibd.gz"))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "t.ibd"
        for path in every if full else every[:2]:
            data = gzip.decompress(path.read_bytes())
            for form in (data, *damaged(data, 10 if full else 2)):
                copy.write_bytes(form)
                yield said(answer, ("sdi", "--no-check"), str(copy))
                yield said(answer, ("sdi", "--no-check", "--create"), str(copy))


KINDS: Final[dict[str, Callable[[bool], Iterator[str]]]] = {
    "JSON texts": json_texts,
    "JSON paths": paths,
    "identifiers": identifiers,
    "code points": code_points,
    "SQL expressions": expressions,
    "table definitions": definitions,
    "words and tokens": words,
    "Cases": cases,
    "answers of decoders": judged,
    "keyrings": keyrings,
    "depth": deep,
    "logs": logs,
    "data files": data_files,
    **{f"fuzz target {name}": target(name) for name in target_names()},
}
